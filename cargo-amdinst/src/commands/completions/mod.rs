//! `cargo amdinst completions`: Print a shell's completions.

use std::io::Write as _;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::cli::{Cli, CompletionsArgs, PROGRAM};
use crate::exit::{CommandResult, Exit};
use crate::output;

/// In bash, nobody but cargo's own function can complete a subcommand, so it is called from ours. Zsh's calls
/// ours.
const BASH_OF_CARGO: &str = include_str!("bash_cargo.sh");

/// Runs the command.
///
/// # Errors
/// Stdout that cannot be written.
pub fn run(args: &CompletionsArgs) -> CommandResult {
    let text = match args.shell {
        Shell::Bash => bash(),
        shell => generated(shell, PROGRAM),
    };
    let _ = output::stream(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Success)
}

fn generated(shell: Shell, program: &str) -> String {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), program, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// clap_complete 4.6 labels the cases of commands in another way than it looks for them if there is a hyphen
/// in the program's name. So it is given one without, and the function is registered for the program
/// afterwards.
fn bash() -> String {
    let name = PROGRAM.trim_start_matches("cargo-");
    let registered =
        generated(Shell::Bash, name).replace(&format!(" default {name}\n"), &format!(" default {PROGRAM}\n"));
    registered + BASH_OF_CARGO
}
