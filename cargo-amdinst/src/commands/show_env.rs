//! `cargo amdinst show-env`: Print how to build by hand.

use std::fmt::Write as _;
use std::process::Command;

use crate::build::{cargo, executable, flags, package};
use crate::cli::ShowEnvArgs;
use crate::context::Context;
use crate::exit::{CommandResult, Exit, OrExit as _};
use crate::output;
use crate::setup::{self, Consent};
use crate::shell::command_line;

/// Prints, for a POSIX shell, the variables that `build` sets and the cargo command that it runs, one a
/// processor.
///
/// # Errors
/// No toolchain, no package.
pub fn run(context: &mut Context, args: &ShowEnvArgs) -> CommandResult {
    let packages = package::find(context, &args.package)?;
    let toolchain = setup::ready(context, args.package.toolchain.toolchain.as_deref(), Consent::Ask)?;
    let executable = executable()?;
    let directory = std::env::current_dir().or_exit_with(Exit::BuildFailed, || "the current directory")?;
    let user_flags = flags::of_user(&toolchain, &directory);
    let mut text = String::new();
    for package in &packages {
        for cpu in &package.cpus {
            let flags = user_flags.with(&package.flags(cpu));
            let command = cargo::command(package, cpu, &toolchain, &executable, &flags);
            let _ = writeln!(text, "# {} for {cpu}", package.name);
            for (name, value) in command.get_envs() {
                match value {
                    Some(value) => {
                        let assignment =
                            Command::new(format!("{}={}", name.to_string_lossy(), value.to_string_lossy()));
                        let _ = writeln!(text, "export {}", command_line(&assignment));
                    }
                    None => _ = writeln!(text, "unset {}", name.to_string_lossy()),
                }
            }
            let mut words = Command::new(command.get_program());
            words.args(command.get_args());
            let _ = writeln!(text, "{}", command_line(&words));
        }
    }
    output::print(&text)?;
    Ok(Exit::Success)
}
