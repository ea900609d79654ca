//! The program behind `cargo xtask corpus differential`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use differential::campaign::{self, Options};

fn main() -> ExitCode {
    differential::exit_code(campaign::run(&Options::parse()))
}
