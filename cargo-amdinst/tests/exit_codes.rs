//! Every exit code is reached: by a command that ends with it, or by the test that is named here.

mod support;

use std::path::Path;
use std::process::{Command, Output};

use cargo_amdinst::exit::Exit;

/// A kernel without branches, one with one, and one with an instruction that the emulator does not execute.
const SOURCE: &str = include_str!("sources/exit_codes.cl");

fn amdinst(directory: &Path, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    command.current_dir(directory).env("NO_COLOR", "1").env_remove("AMDINST_TOOLCHAIN");
    command.args(words.split_whitespace()).output().unwrap()
}

#[test]
fn every_code_is_reached() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let write = |name: &str, contents: &str| std::fs::write(directory.join(name), contents).unwrap();
    write("k.cl", SOURCE);
    if !support::compile(&directory.join("k.cl"), &directory.join("k.elf")) {
        return;
    }
    write("stays.cl", include_str!("sources/stays.cl"));
    support::compile(&directory.join("stays.cl"), &directory.join("stays.elf"));
    write("run.json", include_str!("fixtures/run.json"));
    write("text", "no code object");
    write("Cargo.toml", "[package]\nname = \"k\"\nversion = \"0.1.0\"\n[workspace]\n");
    std::fs::create_dir(directory.join("src")).unwrap();
    write("src/lib.rs", "#![no_std]\npub unsafe extern \"gpu-kernel\" fn k() {}\n");
    write("none", &"\0".repeat(256));
    let run = "run k.elf --grid 1 --block 64";
    let commands = [
        (Exit::Success, "inspect k.elf".to_owned()),
        (Exit::Mismatch, format!("{run} --kernel one --arg u32[64] --expect 1=none")),
        (Exit::Usage, "run".to_owned()),
        (Exit::ToolchainMissing, "build --toolchain /no/such/rustc".to_owned()),
        (Exit::BuildFailed, "build --manifest-path no/such/Cargo.toml".to_owned()),
        (Exit::BadInput, "inspect text".to_owned()),
        (Exit::NothingInstrumented, "instrument k.elf --kernel one -o out.elf".to_owned()),
        (Exit::SomeRefused, "instrument stays.elf -o stays.inst.elf".to_owned()),
        (Exit::LimitPassed, "report --run run.json --fail-on lost>1".to_owned()),
        (Exit::Unsupported, format!("{run} --kernel unknown --arg u32[64]")),
        (Exit::LaunchFailed, format!("{run} --kernel one --arg u32[10]")),
        (Exit::OutputFailed, "instrument k.elf -o no/such/directory/out.elf".to_owned()),
        (Exit::OutOfMemory, format!("{run} --kernel one --arg buf:40000000000000")),
    ];
    let mut reached: Vec<Exit> = Vec::new();
    for (exit, words) in commands {
        let output = amdinst(directory, &words);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(exit.code().into()), "{words}: {told}");
        reached.push(exit);
    }
    let elsewhere = [
        // `commands::doctor::tests` and `how_far_the_programs_came_decides_the_exit_code`.
        Exit::DeviceMissing,
        // `exit::tests::a_bug_asks_for_a_report`.
        Exit::Internal,
    ];
    let missing = Exit::ALL.into_iter().find(|exit| !reached.contains(exit) && !elsewhere.contains(exit));
    assert_eq!(missing, None, "a new exit code: reach it here");
}
