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

/// Libraries that are loaded before all others, separated by spaces or colons.
const PRELOADED: &str = "LD_PRELOAD";

/// The processor of a GPU that nobody has said anything about.
const DEFAULT_CPU: &str = "gfx90a";

/// Tools of the runtime, separated by spaces.
const TOOLS: &str = "HSA_TOOLS_LIB";

/// What sets ROCm's tools up with the runtime by itself otherwise, and leaves out those that are named.
const ALL_TOOLS: &str = "HSA_TOOLS_ROCPROFILER_V1_TOOLS";

/// What has the runtime make each allocation on its own.
const ONE_EACH: &str = "HSA_DISABLE_FRAGMENT_ALLOCATOR";

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

/// The library that stands in for the GPU's driver.
fn library() -> CommandResult<OsString> {
    let library = crate::runtime::file()?;
    let is_one = !library.as_os_str().as_encoded_bytes().iter().any(|byte| b" :".contains(byte));
    if !is_one {
        let message = format!("{}: a library cannot be preloaded from such a path", library.display());
        let help = "put it where no space and no colon is in the path, and set AMDINST_RUNTIME to that";
        return Err(Failure::msg(Exit::Usage, message).help(help));
    }
    Ok(library.into_os_string())
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
    let library = library()?;
    runtime::check(context, program, arch)?;
    let mut command = Command::new(program);
    command.args(rest);
    command.env(amdinst_hsakmt::FILES, crate::runtime::gpu_files()?);
    // It stands before the C library, and the runtime's interface for tools lets it see code objects before
    // they are loaded.
    for name in [PRELOADED, TOOLS] {
        let mut all = library.clone();
        if let Some(others) = std::env::var_os(name).filter(|others| !others.is_empty()) {
            all.push(" ");
            all.push(others);
        }
        command.env(name, all);
    }
    command.env(ALL_TOOLS, "1");
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
    let asked = args.limits.checks.asked().unwrap_or_default();
    for (is_asked, what) in [(asked.uninitialised, "uninitialized values"), (asked.nan, "NaNs")] {
        if is_asked {
            let why = "each launch runs once, on the program's own memory";
            context.shell.warn(format_args!("`exec` does not look for {what}: {why}"));
        }
    }
    command.envs(args.limits.variables());
    // Every allocation on its own, so that an access that leaves one is noticed.
    if std::env::var_os(ONE_EACH).is_none() {
        command.env(ONE_EACH, "1");
    }
    Ok(command)
}
