//! Crates without unsafe code say that they have none, so that none comes in unnoticed. Those with some have
//! a condition at each block, which a lint of the workspace asks for.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Whether a line has unsafe code of its own: not in a comment, a text, or what a macro makes.
fn is_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let outside: String = code.split('"').step_by(2).collect();
    ["unsafe {", "unsafe fn", "unsafe impl", "unsafe trait", "unsafe extern", "#[unsafe(", "#![unsafe("]
        .iter()
        .any(|what| outside.contains(what))
}

#[test]
fn crates_without_unsafe_code_forbid_it() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let manifest: toml::Table = fs::read_to_string(workspace.join("Cargo.toml")).unwrap().parse().unwrap();
    let members = manifest["workspace"]["members"].as_array().unwrap();
    let (mut forbidding, mut others) = (Vec::new(), Vec::new());
    for member in members.iter().map(|member| member.as_str().unwrap()) {
        let directory = workspace.join(member).join("src");
        // Kernels are unsafe by nature, and examples are what their users would write.
        if member.starts_with("test-kernels") || member.starts_with("examples") {
            continue;
        }
        let roots = ["lib.rs", "main.rs"].map(|name| directory.join(name));
        let texts = roots.iter().filter_map(|root| fs::read_to_string(root).ok());
        let forbids = texts.clone().count() > 0
            && texts.into_iter().all(|text| text.contains("#![forbid(unsafe_code)]"));
        let mut files = Vec::new();
        sources(&directory, &mut files);
        // What a macro expands to stands in its crate, and is code of others.
        let has = |path: &PathBuf| fs::read_to_string(path).unwrap().lines().any(is_unsafe);
        if forbids {
            forbidding.push(member);
        } else {
            assert!(files.iter().any(has), "{member} has no unsafe code: let it say #![forbid(unsafe_code)]");
            others.push(member);
        }
    }
    assert!(forbidding.len() > others.len(), "{forbidding:?} {others:?}");
    assert!(
        is_unsafe("    unsafe { x() }") && !is_unsafe("// unsafe { x() }") && !is_unsafe("\"unsafe fn\"")
    );
    let lints = &manifest["workspace"]["lints"]["clippy"]["undocumented_unsafe_blocks"];
    assert_eq!(lints.as_str(), Some("warn"), "clippy runs with warnings as errors");
}
