//! `run` with structures as arguments.

mod support;

use std::process::Command;

/// `out[0] = a.x * 100 + a.y + b`, with a structure of 12 bytes between the pointer and a number.
const SOURCE: &str = include_str!("sources/by_value.cl");

#[test]
fn structures_by_value() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("combine.cl");
    std::fs::write(&source, SOURCE).unwrap();
    if !support::compile(&source, &directory.path().join("combine.elf")) {
        return;
    }
    std::fs::write(directory.path().join("pair"), [7, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    let run = |argument: &str| {
        Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"))
            .current_dir(directory.path())
            .args(["run", "--quiet", "combine.elf", "--kernel", "combine", "--grid", "1", "--block", "1"])
            .args(["--arg", "out:4:result", "--arg", argument, "--arg", "u32:1000"])
            .output()
            .unwrap()
    };
    for argument in ["bytes:pair", "hex:07000000_05000000_00000000"] {
        let output = run(argument);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let result = std::fs::read(directory.path().join("result")).unwrap();
        assert_eq!(result, (7 * 100 + 5 + 1000u32).to_le_bytes(), "{argument}");
    }
    for (argument, words) in [
        ("hex:0700", "bytes (2 bytes) given; it is 12 bytes by value: give hex: or bytes:"),
        ("u32:7", "u32 (4 bytes) given; it is 12 bytes by value"),
        ("bytes:gone", "cannot read gone"),
    ] {
        let output = run(argument);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && stderr.contains(words), "{argument}: {stderr}");
    }
}
