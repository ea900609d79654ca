//! `cargo amdinst`: see [`cargo_amdinst`].

use std::process::ExitCode;

fn main() -> ExitCode {
    cargo_amdinst::main(std::env::args_os())
}
