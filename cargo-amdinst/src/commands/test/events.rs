//! What happens, for programs: a JSON line a test, and one at the end, beside cargo's and the test runner's.

use amdinst_core::report::run::{Ending, FaultReport, Run};
use serde::Serialize;

use crate::exit::{CommandResult, Exit};
use crate::output;

/// A test that ended, or was not run.
#[derive(Serialize)]
struct TestEvent<'a> {
    reason: &'static str,
    /// The same for the same test in each run: package, program, test, GPU.
    id: String,
    package: &'a str,
    program: &'a str,
    test: &'a str,
    gpu: &'a str,
    ending: Ending,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    /// Mistakes of its kernels, each with its kind, its place and what mends it.
    faults: &'a [FaultReport],
    /// What may be mistakes.
    doubts: &'a [FaultReport],
}

/// The end of the command.
#[derive(Serialize)]
struct EndEvent {
    reason: &'static str,
    success: bool,
    /// The exit code.
    code: u8,
}

/// Prints a line for each test of a run. `gpu_of` names the GPU of a processor.
///
/// # Errors
/// A standard output that cannot be written.
pub(super) fn tests(run: &Run, gpu_of: impl Fn(&str) -> String) -> CommandResult<()> {
    for (program, test) in run.tests() {
        let gpu = &gpu_of(&program.cpu);
        let event = TestEvent {
            reason: "amdinst-test",
            id: format!("{}/{}/{}@{gpu}", run.package, program.name, test.name),
            package: &run.package,
            program: &program.name,
            test: &test.name,
            gpu,
            ending: test.ending,
            message: test.message.as_deref(),
            faults: &test.faults,
            doubts: &test.doubts,
        };
        output::print_json_line(&event)?;
    }
    Ok(())
}

/// Prints the last line.
///
/// # Errors
/// A standard output that cannot be written.
pub(super) fn end(exit: Exit) -> CommandResult<()> {
    let success = exit == Exit::Success;
    output::print_json_line(&EndEvent { reason: "amdinst-finished", success, code: exit.code() })
}
