//! The README's commands parse, and its table of exit codes is the program's.
//! That its outputs are what is printed is checked by `cargo xtask readme`, which needs built kernels.

use cargo_amdinst::cli::{Cli, Command};
use cargo_amdinst::exit::Exit;
use clap::{CommandFactory as _, Parser as _};

fn readme() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).unwrap()
}

#[test]
fn every_command_parses() {
    let readme = readme();
    let commands: Vec<_> = readme.lines().filter_map(|line| line.strip_prefix("$ cargo amdinst ")).collect();
    assert!(!commands.is_empty());
    for command in commands {
        // Pipes and redirections are the shell's.
        let words = command.split_whitespace().take_while(|word| !["|", ">", "2>&1", "&&"].contains(word));
        let words: Vec<_> = words.map(|word| word.trim_matches('\'')).collect();
        let parsed = Cli::try_parse_from(["cargo-amdinst"].into_iter().chain(words));
        assert!(parsed.is_ok(), "`{command}`: {}", parsed.err().unwrap());
    }
}

#[test]
fn every_exit_code_is_listed() {
    let readme = readme();
    for exit in Exit::ALL {
        let row = format!("| {} | {} |", exit.code(), exit.meaning());
        assert!(readme.lines().any(|line| line == row), "missing: {row}");
    }
}

#[test]
fn every_command_is_listed() {
    let readme = readme();
    for command in Cli::command().get_subcommands().filter(|command| command.get_name() != "help") {
        let name = command.get_name();
        assert!(readme.contains(&format!("| `cargo amdinst {name}` |")), "missing: {name}");
    }
    // The enumeration has no command that clap does not know.
    assert!(matches!(Cli::try_parse_from(["x", "show-env"]).unwrap().command, Command::ShowEnv(_)));
}
