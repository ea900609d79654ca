//! Handlers of the emulator's fast layer are safe code: `unsafe` stands in the files that have a reason of
//! their own, and in no other.

#[path = "support/files.rs"]
mod files;

use std::collections::BTreeSet;
use std::path::Path;

use files::sources;

/// The files, or directories of them, and their reasons.
const UNSAFE: [&str; 5] = [
    // Functions for hosts with certain extensions, as pointers.
    "handler.rs",
    // The host's instructions, where a value proves that it has them; rows as vectors.
    "level.rs",
    "level/",
    // The address of another step.
    "pair.rs",
    // Bytes of memory that have been looked at for all lanes together.
    "places/",
];

/// Whether the word stands in code, comments aside.
fn is_unsafe(source: &str) -> bool {
    let mut code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.any(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe"))
}

#[test]
fn handlers_of_the_fast_layer_are_safe() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    let room = root.join("amdinst-emu/src/fast");
    let files = sources(&room);
    assert!(files.len() > 20, "{} files", files.len());
    let (mut wrong, mut found) = (Vec::new(), BTreeSet::new());
    for (path, _) in files.iter().filter(|(_, source)| is_unsafe(source)) {
        let name = path.strip_prefix(&room).expect("in the room").to_string_lossy();
        match UNSAFE.iter().find(|file| name.starts_with(**file)) {
            Some(file) => drop(found.insert(*file)),
            None => wrong.push(name),
        }
    }
    assert!(wrong.is_empty(), "a row, a place or a level's value does it without `unsafe`: {wrong:?}");
    assert_eq!(found, UNSAFE.into(), "the files that have it");
}

#[test]
fn the_word_is_noticed() {
    assert!(is_unsafe("fn f() {\n    unsafe { g() }\n}\n"));
    assert!(!is_unsafe("// unsafe\n//! `unsafe`\nfn unsafely() {}\n"));
}
