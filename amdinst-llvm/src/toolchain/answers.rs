//! What tools say of themselves. A tool that is the same says the same, so it is asked once: starting one
//! costs more than all else does when there is nothing to build.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;

use crate::cache;
use crate::store::{Key, Store, stamp};

/// What a tool prints with these arguments.
///
/// # Errors
/// In words: it cannot be started, or fails.
pub fn answer(tool: &Path, arguments: &[&str]) -> Result<String, String> {
    let store = is_program(tool).then(cache::directory).and_then(Result::ok);
    let store = store.map(|directory| Store::within(directory.join("answers")));
    let (place, stamp) = (tool.display().to_string(), stamp(tool));
    let key = Key::of([place.as_str(), &stamp].into_iter().chain(arguments.iter().copied()));
    if let Some(known) = store.as_ref().and_then(|store| String::from_utf8(store.get(key)?).ok()) {
        return Ok(known);
    }
    let output = Command::new(tool)
        .args(arguments)
        // Set by an outer rustup proxy; a compiler of another toolchain must not be led by it.
        .env_remove("RUSTUP_TOOLCHAIN")
        .output()
        .map_err(|error| format!("cannot be started: {error}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(text.lines().next().unwrap_or("it failed without a word").to_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if let Some(store) = store {
        store.put(key, text.as_bytes());
    }
    Ok(text)
}

/// Whether a tool is no script, which may start another tool tomorrow.
fn is_program(tool: &Path) -> bool {
    let mut magic = [0; 2];
    let read = File::open(tool).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic != *b"#!"
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn scripts_are_asked_each_time() {
        let directory = tempfile::tempdir().unwrap();
        let tool = directory.path().join("tool");
        let said = directory.path().join("said");
        std::fs::write(&tool, format!("#!/bin/sh\ncat {}\n", said.display())).unwrap();
        std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
        for word in ["one", "two"] {
            std::fs::write(&said, word).unwrap();
            assert_eq!(answer(&tool, &[]).unwrap(), word);
        }
        std::fs::remove_file(&said).unwrap();
        assert!(answer(&tool, &[]).unwrap_err().contains("said"));
    }
}
