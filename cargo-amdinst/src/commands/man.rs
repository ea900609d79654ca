//! `cargo amdinst man`: Write the manual's pages.
//!
//! They are what `--help` says. `man cargo-amdinst-report`, `cargo help amdinst` and `man cargo amdinst` find
//! them under these names.

use std::fs;

use clap::CommandFactory as _;
use clap_mangen::Man;

use crate::cli::{Cli, ManArgs, PROGRAM};
use crate::context::Context;
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};
use crate::output;

/// Runs the command.
///
/// # Errors
/// Files that cannot be written.
pub fn run(context: &mut Context, args: &ManArgs) -> CommandResult {
    // clap asks for one of the two options.
    let directory = args.directory().ok_or_else(|| Failure::internal(anyhow::anyhow!("no directory")))?;
    let told = || directory.display().to_string();
    fs::create_dir_all(directory).or_exit_with(Exit::OutputFailed, told)?;
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let commands = program.get_subcommands().cloned().map(|command| {
        let name = format!("{PROGRAM}-{}", command.get_name());
        (name, command)
    });
    let mut pages: Vec<_> = commands.collect();
    pages.insert(0, (PROGRAM.to_owned(), program));
    for (name, command) in &pages {
        let mut page = Vec::new();
        // The date is left out, so that the same program writes the same pages.
        let man = Man::new(command.clone()).title(name.clone()).date("").manual("cargo amdinst");
        man.render(&mut page).or_exit_with(Exit::OutputFailed, told)?;
        output::write_file(&directory.join(format!("{name}.1")), &page)?;
    }
    context.shell.status("Wrote", format_args!("{} to {}", amdinst_text::count(pages.len(), "page"), told()));
    Ok(Exit::Success)
}
