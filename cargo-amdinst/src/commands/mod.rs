//! One module a command. Each takes its parsed arguments and a [`Context`], and returns how the process ends.

pub mod bench;
pub mod build;
pub mod completions;
pub mod disasm;
pub mod doctor;
pub mod exec;
pub mod files;
pub mod input;
pub mod inspect;
pub mod instrument;
pub mod isa;
pub mod man;
mod mapped;
pub mod new;
pub mod replay;
pub mod report;
pub mod run;
pub mod setup;
pub mod show_env;
mod shrunk;
mod source;
pub mod test;

use crate::cli::Command;
use crate::context::Context;
use crate::exit::CommandResult;

/// Runs one command.
pub fn run(context: &mut Context, command: &Command) -> CommandResult {
    command.renamed().iter().for_each(|renamed| context.shell.note(renamed));
    match command {
        Command::New(args) => new::run(context, args),
        Command::Setup(args) => setup::run(context, args),
        Command::Doctor(args) => doctor::run(context, args),
        Command::Build(args) => build::run(context, args),
        Command::Test(args) => test::run(context, args),
        Command::Report(args) => report::run(context, args),
        Command::Inspect(args) => inspect::run(context, args),
        Command::Disasm(args) => disasm::run(context, args),
        Command::Instrument(args) => instrument::run(context, args),
        Command::Run(args) => run::run(context, args),
        Command::Replay(args) => replay::run(context, args),
        Command::Exec(args) => exec::run(context, args),
        Command::Bench(args) => bench::run(context, args),
        Command::ShowEnv(args) => show_env::run(context, args),
        Command::Isa(args) => isa::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(context, args),
    }
}
