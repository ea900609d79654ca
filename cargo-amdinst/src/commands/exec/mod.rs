//! `cargo amdinst exec`: run a HIP or HSA program with the emulator as its GPU.
//!
//! This process becomes the program, so that its exit code, its signals and its terminal are its own, and
//! nothing is left of it that could outlive the program, or that the program could outlive. What the emulated
//! GPU is goes to the library through the environment.

mod runtime;

use std::ffi::{OsStr, OsString};
use std::os::unix::process::{CommandExt as _, parent_id};
use std::process::Command;

use amdgpu_isa::Arch;
use amdinst_core::instrument::Home;

use crate::cli::ExecArgs;
use crate::context::Context;
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};
use crate::parent::die_with;

/// Variables that say where libraries are looked for first.
const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// The processor of a GPU that nobody has said anything about.
const DEFAULT_CPU: &str = "gfx90a";

/// Tools of the runtime, separated by spaces.
const TOOLS: &str = "HSA_TOOLS_LIB";

/// Runs the command. It comes back only when the program could not be started.
///
/// # Errors
/// No such program, a processor that the runtime does not know, a runtime that the emulator cannot stand
/// under, or no library.
pub fn run(context: &mut Context, args: &ExecArgs) -> CommandResult {
    let parent = parent_id();
    let command = command(context, args)?;
    context.shell.command(&command);
    let mut command = command;
    if args.die_with_parent {
        die_with(parent).or_exit_with(Exit::Usage, || "--die-with-parent")?;
    }
    let error = command.exec();
    Err(cannot_start(command.get_program(), &error))
}

fn cannot_start(program: &OsStr, error: &dyn std::error::Error) -> Failure {
    Failure::msg(Exit::Usage, format!("{} cannot be started: {error}", program.to_string_lossy()))
}

/// The program's command line and environment.
fn command(context: &Context, args: &ExecArgs) -> CommandResult<Command> {
    let cpu = args.target_cpu.as_deref().unwrap_or(DEFAULT_CPU);
    let known = Arch::from_name(cpu);
    let Some(arch) = known.filter(|arch| amdinst_hsakmt::processors().contains(arch)) else {
        let names: Vec<&str> = amdinst_hsakmt::processors().into_iter().map(Arch::name).collect();
        // A GPU of another generation is one that may be emulated one day; no name is a mistake.
        let has_some =
            |generation| amdinst_hsakmt::processors().into_iter().any(|one| one.generation() == generation);
        let is_other = known.is_some_and(|arch| !has_some(arch.generation()));
        let exit = if is_other { Exit::Unsupported } else { Exit::Usage };
        let message = format!("the ROCm runtime cannot be run on {cpu}: it is one of {}", names.join(", "));
        return Err(Failure::msg(exit, message));
    };
    let (program, rest) =
        args.program.split_first().ok_or_else(|| Failure::msg(Exit::Usage, "no program"))?;
    which::which(program).map_err(|error| cannot_start(program, &error))?;
    let directory = crate::runtime::driver_directory()?;
    let mut command = Command::new(program);
    command.args(rest);

    // The runtime's interface for tools lets the library see code objects before they are loaded.
    let mut tools = directory.join(amdinst_hsakmt::NAME).into_os_string();
    if let Some(others) = std::env::var_os(TOOLS).filter(|tools| !tools.is_empty()) {
        tools.push(" ");
        tools.push(others);
    }
    command.env(TOOLS, tools);
    let name = directory.join(amdinst_hsakmt::NAME);
    let mut paths = directory.into_os_string();
    if let Some(others) = std::env::var_os(LIBRARY_PATH).filter(|paths| !paths.is_empty()) {
        paths.push(":");
        paths.push(others);
    }
    runtime::check(context, program, &name, &paths)?;
    command.env(LIBRARY_PATH, paths);
    command.env("AMDINST_TARGET_CPU", arch.name()).env("AMDINST_GPUS", args.gpus.to_string());
    // `cargo amdinst test` sets the first variable to what it tests; the GPU that was asked for stays as it
    // is.
    if args.target_cpu.is_some() {
        command.env("AMDINST_EMULATED_CPU", arch.name());
    }
    let instrument = match (args.instrument, args.report) {
        (_, true) => "report",
        (true, false) => "1",
        (false, false) => "0",
    };
    command.env("AMDINST_INSTRUMENT", instrument);
    if args.instrument || args.report {
        let home = args.counters.unwrap_or_default().home();
        command.env("AMDINST_COUNTERS", home.map_or("auto", Home::name));
    }
    if args.limits.checks.asked().is_some_and(|asked| asked.uninitialised) {
        context.shell.warn(
            "`exec` does not look for uninitialized values: each launch runs once, on the program's own memory",
        );
    }
    command.envs(args.limits.variables());
    // Every allocation on its own, so that an access that leaves one is noticed.
    for (name, value) in [("HSA_DISABLE_FRAGMENT_ALLOCATOR", "1")] {
        if std::env::var_os(name).is_none() {
            command.env(name, OsString::from(value));
        }
    }
    Ok(command)
}
