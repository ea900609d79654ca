//! Preparing the kernel toolchain.
//!
//! [`ready`] is what every command that builds starts with: silent when a toolchain is there. Otherwise it
//! works through the [`plan`]'s ways to get one, looking again after each. A person at a terminal is asked
//! first; a CI machine is not.

pub mod plan;

use std::env;
use std::fmt::Write as _;
use std::io::{self, BufRead as _};
use std::process::{Command, Stdio};

use amdinst_llvm::toolchain::{Discovery, Places, Rejection, Toolchain, discover};
use xshell::{Shell, cmd};

use self::plan::Way;
use crate::context::Context;
use crate::exit::{CommandResult, Exit, Failure};
use crate::shell;

/// Set to `never`, nothing is installed, whoever asks.
pub const SETUP_VARIABLE: &str = "AMDINST_SETUP";

/// Whether installing needs a word from the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Ask at a terminal; in CI, or with no terminal to ask at, go ahead.
    Ask,
    /// Consent was given (`--yes`).
    Given,
}

/// A toolchain, prepared if need be.
///
/// # Errors
/// [`Exit::ToolchainMissing`], with every place tried, why it will not do, and the command that mends it.
pub fn ready(context: &mut Context, toolchain: Option<&str>, consent: Consent) -> CommandResult<Toolchain> {
    let places = Places::from_environment(toolchain);
    let mut discovery = discover(&places);
    if let Some(toolchain) = discovery.found.take() {
        return Ok(toolchain);
    }
    // What was asked for by name is for the user to mend.
    let ways = if places.asked.is_some() { Vec::new() } else { plan::ways(&places) };
    let forbidden = env::var(SETUP_VARIABLE).is_ok_and(|value| value == "never");
    if ways.is_empty() || forbidden {
        let mut failure = failure(&discovery, &ways);
        if forbidden {
            failure = failure.note(format!("{SETUP_VARIABLE}=never: nothing was installed"));
        }
        return Err(failure);
    }
    if consent == Consent::Ask && context.shell.can_ask() && !confirmed(&ways) {
        return Err(failure(&discovery, &ways));
    }

    for way in &ways {
        context.shell.status("Preparing", format_args!("the kernel toolchain: {}", way.name));
        if let Err(reason) = follow(context, way) {
            context.shell.warn(format_args!("{}: {reason}", way.name));
            discovery.rejected.push(Rejection { place: way.name.to_owned(), reason });
            continue;
        }
        let mut again = discover(&places);
        if let Some(toolchain) = again.found.take() {
            context.shell.status("Prepared", format_args!("{} ({})", toolchain.version, toolchain.origin));
            return Ok(toolchain);
        }
        discovery = again;
    }
    Err(failure(&discovery, &ways))
}

/// The missing parts, and how to get them.
pub fn failure(discovery: &Discovery, ways: &[Way]) -> Failure {
    let mut failure = Failure::msg(Exit::ToolchainMissing, "no toolchain here can build kernels");
    for Rejection { place, reason } in &discovery.rejected {
        failure = failure.note(format!("tried {place}: {reason}"));
    }
    let help = match ways.first() {
        Some(way) => format!("run `{}`", way.command_line()),
        None => "install rustup (https://rustup.rs), then run \
                 `rustup toolchain install nightly --component rust-src --component llvm-tools`"
            .to_owned(),
    };
    failure.help(help)
}

fn confirmed(ways: &[Way]) -> bool {
    let mut question =
        String::from("Kernels need a toolchain that is not here yet. It can be installed with\n");
    for way in ways {
        let _ = writeln!(question, "    {}", way.command_line());
    }
    question.push_str(if ways.len() > 1 {
        "(the next where one fails). Go ahead? [Y/n] "
    } else {
        "Go ahead? [Y/n] "
    });
    shell::tell(&question);
    let mut answer = String::new();
    // End of input is no consent.
    matches!(io::stdin().lock().read_line(&mut answer), Ok(count) if count > 0)
        && matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes")
}

/// Runs the commands of `way`. Their output goes to stderr: stdout is for data.
fn follow(context: &Context, way: &Way) -> Result<(), String> {
    let shell = Shell::new().map_err(|error| error.to_string())?;
    for words in &way.commands {
        let (program, arguments) = words.split_first().ok_or("a way without a program")?;
        let mut command = Command::from(cmd!(shell, "{program} {arguments...}"));
        command.envs(way.environment.iter().copied()).env_remove("RUSTUP_TOOLCHAIN").stdin(Stdio::null());
        context.shell.command(&command);
        let output = command.output().map_err(|error| format!("`{program}` cannot be started: {error}"))?;
        let text = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            let errors: Vec<_> = text
                .lines()
                .filter(|line| line.starts_with("error") || line.starts_with("E:"))
                .map(str::trim)
                .collect();
            let reason = errors.last().copied().or_else(|| text.lines().last()).unwrap_or("it said nothing");
            return Err(format!("`{}` failed: {reason}", words.join(" ")));
        }
    }
    Ok(())
}
