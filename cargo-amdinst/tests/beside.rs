//! `run --with`: a kernel that calls functions of another code object.

mod support;

use std::path::Path;

/// The words of a command on the two code objects of `fixtures/beside.cl`.
fn words(kernel: &str, more: &str) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let (kernels, functions) = (fixtures.join("beside.elf"), fixtures.join("beside.functions.elf"));
    format!(
        "run --quiet {} --with {} --kernel {kernel} --grid 1 --block 64 {more}",
        kernels.display(),
        functions.display()
    )
}

#[test]
fn functions_and_variables_of_another_code_object() {
    let directory = tempfile::tempdir().unwrap();
    for (function, factor) in [("twice", 2.0), ("half_of", 0.5)] {
        let arguments = format!("--arg out:f32[64]:result --arg symbol:{function}");
        support::stdout(directory.path(), &words("call", &arguments));
        let result = std::fs::read(directory.path().join("result")).unwrap();
        let expected: Vec<u8> = (0..64).flat_map(|i| (i as f32 * factor).to_le_bytes()).collect();
        assert_eq!(result, expected, "{function}");
    }
    let text = support::stdout(directory.path(), &words("read", "--arg f32[1] --arg symbol:scale --print 1"));
    assert!(text.contains("0:  3.0\n"), "{text}");
    let traced = words("call", "--arg f32[64] --arg symbol:twice --trace");
    let traced = support::stdout(directory.path(), &traced);
    assert!(traced.contains("v_add_f32"), "{traced}");
}

#[test]
fn what_cannot_be_is_said() {
    let directory = tempfile::tempdir().unwrap();
    for (more, said) in [
        (
            "--arg symbol:thrice",
            "symbol:thrice: no code object of --with has it\nnote: they have half_of, scale, twice\n",
        ),
        ("--arg symbol:", "the symbol's name is missing"),
        ("--arg symbol:twice --report", "'--with <FILE>' cannot be used with '--report'"),
        // No code is there.
        ("--arg symbol:scale", "kernel `call`: "),
    ] {
        let output = support::amdinst(directory.path(), &words("call", &format!("--arg f32[64] {more}")));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && stderr.contains(said), "{more}: {stderr}");
    }
    let without = words("call", "--arg f32[64] --arg symbol:twice");
    let without: Vec<&str> = without.split(' ').collect();
    let at = without.iter().position(|word| *word == "--with").unwrap();
    let without = [&without[..at], &without[at + 2..]].concat().join(" ");
    let output = support::amdinst(directory.path(), &without);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("help: name the file with the function or variable: --with FILE"), "{stderr}");
}
