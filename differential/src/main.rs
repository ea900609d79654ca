//! The program behind `cargo xtask corpus differential`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use differential::campaign::{self, Options};

fn main() -> ExitCode {
    match campaign::run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
