//! The `cargo amdinst` command: argument parsing, toolchain set-up, builds, progress, exit codes.
//!
//! A binary's inside rather than a library for others: it is a library so that tests reach its parts. What it
//! does to code objects is all in `amdinst_core`, what it does with kernels in `amdinst_emu`, and the link
//! step in `amdinst_llvm`.

// What `clippy.toml` says of the ways by which text leaves the process.
#![cfg_attr(not(test), warn(clippy::disallowed_macros, clippy::disallowed_methods))]

pub mod build;
pub mod cli;
pub mod commands;
pub mod context;
pub mod exit;
mod gpus;
mod incremental;
mod instrumenting;
mod interrupted;
pub mod output;
mod panics;
mod parent;
pub mod runtime;
pub mod setup;
pub mod shell;
pub mod together;

use std::ffi::OsString;
use std::process::ExitCode;

use amdinst_runtime::stopping;
use clap::Parser as _;

use crate::cli::Cli;
use crate::context::Context;
use crate::exit::Exit;

/// The link step, if rustc calls this program as its linker. rustc shows an error as a note of its own.
fn link_if_called(argv: &[OsString]) -> Option<ExitCode> {
    Some(match amdinst_llvm::link_if_called(argv)? {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            shell::tell(&format!("{error}\n"));
            ExitCode::FAILURE
        }
    })
}

/// Runs the command line and returns the process's exit code. Data goes to stdout, everything else to stderr.
pub fn main(argv: impl IntoIterator<Item = OsString>) -> ExitCode {
    let argv: Vec<OsString> = argv.into_iter().collect();
    panics::report();
    if let Some(code) = incremental::run_if_called(&argv).or_else(|| link_if_called(&argv)) {
        return code;
    }
    let cli = match Cli::try_parse_from(cli::without_subcommand_name(argv)) {
        Ok(cli) => cli,
        Err(error) => {
            // `--help` and `--version` arrive here too; clap prints those to stdout and the rest to stderr.
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Success };
            let _ = error.print();
            return exit.into();
        }
    };
    let mut context = Context::new(&cli.global);
    let ended = commands::run(&mut context, &cli.command);
    if let Err(failure) = &ended {
        context.shell.failure(failure);
    }
    // What a signal has stopped has been told.
    stopping::end_if_asked();
    ended.unwrap_or_else(|failure| failure.exit).into()
}
