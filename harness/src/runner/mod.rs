//! The program that a test target with `harness = false` becomes.
//!
//! Output, filters and `--list` are libtest's, by libtest-mimic, so `cargo test` and `cargo nextest run`
//! drive it as any other test program. A device is opened when a test starts, one for each test.

mod arguments;
mod case;
mod junit;
mod kept;
mod parent;
pub(crate) mod recorder;
mod timeline;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock, mpsc};
use std::time::{Duration, Instant};

use libtest_mimic::{Completion, Failed, Trial};

pub use case::{IntoTestResult, TestCase, TestResult};
use recorder::{Ending, Finished, Launches, Results};

use crate::device::Device;
use crate::{Checks, Settings};

/// The exit code when the device that was asked for is not there; that of `cargo amdinst` for the same.
const DEVICE_MISSING: u8 = 10;
/// The exit code when the results could not be written; that of `cargo amdinst` for the same.
const OUTPUT_FAILED: u8 = 11;

/// Runs the kernel tests of this program as its arguments and the environment ask. [`crate::main`] calls
/// [`run_tests_of`] instead.
///
/// The exit code is libtest's, 0 when all passed and 101 when one failed; or 10 when the device is not there,
/// and 11 when the results could not be written.
pub fn run_tests() -> ExitCode {
    // A workspace has kernels of one package, or none of them is this program's more than others'.
    run(None)
}

/// Runs the kernel tests of a program of `package` as [`run_tests`] does. Where no processor is asked for,
/// the emulator has the one that this package's kernels are built for.
pub fn run_tests_of(package: &'static str) -> ExitCode {
    run(Some(package))
}

fn run(package: Option<&'static str>) -> ExitCode {
    if let Some(package) = package {
        // The first call is the only one: `main` makes it.
        PACKAGE.get_or_init(|| package);
    }
    // Wrong arguments end the program: it is here, and not started.
    tell("begun");
    let (mut arguments, filters) = arguments::parse(std::env::args());
    let results = Results::default();
    let mut cases: Vec<&'static TestCase> = inventory::iter::<TestCase>.into_iter().collect();
    // Link order is no order.
    cases.sort_by_key(|case| (case.file, case.line, case.name));
    if is_started_by_the_command() {
        parent::die_with_it();
    }
    case::report_panics_to_tests();
    let trials: Vec<Trial> = cases.iter().map(|case| trial(case, &results)).collect();
    arguments::choose(&mut arguments, &filters, &trials);
    if arguments.list {
        return libtest_mimic::run(&arguments, trials).exit_code();
    }
    let anything =
        trials.iter().any(|trial| !arguments.is_ignored(trial) && !arguments.is_filtered_out(trial));
    if let Some(status) = status(anything) {
        return status;
    }
    if let Some(directory) = std::env::var_os("AMDINST_RUN").filter(|path| !path.is_empty()) {
        match kept::Kept::begin(directory.as_ref(), &junit::program()) {
            Ok(kept) => results.keep(kept),
            Err(error) => return unwritten(&error),
        }
    }
    for (case, trial) in cases.iter().zip(&trials) {
        if arguments.is_ignored(trial) && !arguments.is_filtered_out(trial) {
            results.add(Finished {
                name: case.full_name(),
                time: Duration::ZERO,
                ending: Ending::Ignored(case.ignored.map(str::to_owned)),
                launches: Launches::default(),
            });
        }
    }
    let started = Instant::now();
    let conclusion = libtest_mimic::run(&arguments, trials);
    let (results, kept) = results.take();
    recorder::print(&results);
    recorder::warn(&results);
    let timelines = TIMELINES.get().cloned().map_or(Ok(()), Err);
    let written = kept.map_or(Ok(()), kept::Kept::end).and(timelines).and_then(|()| {
        let junit = std::env::var_os("AMDINST_JUNIT").filter(|path| !path.is_empty());
        junit.map_or(Ok(()), |path| junit::write(path.as_ref(), &results, started.elapsed()))
    });
    match written {
        Ok(()) => conclusion.exit_code(),
        Err(error) => unwritten(&error),
    }
}

/// Why the first timeline that could not be written was not.
static TIMELINES: OnceLock<String> = OnceLock::new();

/// Tells that results could not be written. What was written of them is not whole.
fn unwritten(error: &str) -> ExitCode {
    eprintln!("error: {error}");
    tell("unwritten");
    ExitCode::from(OUTPUT_FAILED)
}

/// Opens the device once before any test does, so that a missing one is told once, and writes to the file
/// that `AMDINST_STATUS` names how far this program came. `Some` ends the program.
fn status(anything: bool) -> Option<ExitCode> {
    let opened = if anything { open(None).map(drop) } else { Ok(()) };
    tell(if opened.is_ok() { "started" } else { "device-missing" });
    let message = opened.err()?;
    eprintln!("error: {message}");
    Some(ExitCode::from(DEVICE_MISSING))
}

/// Whether `cargo amdinst test` has started this.
fn is_started_by_the_command() -> bool {
    std::env::var_os("AMDINST_STATUS").is_some_and(|path| !path.is_empty())
}

/// Adds a word to the file that `AMDINST_STATUS` names, if there is one.
fn tell(word: &str) {
    if let Some(path) = std::env::var_os("AMDINST_STATUS").filter(|path| !path.is_empty()) {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
        if let Err(error) = file.and_then(|mut file| writeln!(file, "{word}")) {
            eprintln!("error: {}: {error}", path.display());
        }
    }
}

/// The package of this program, if `main` has said it.
static PACKAGE: OnceLock<&'static str> = OnceLock::new();

/// How long a test may run before it is told that it does, as libtest has it.
const SLOW: Duration = Duration::from_secs(60);

/// Runs `test`, and calls `tell` if it has not ended after `limit`.
fn watched<T>(limit: Duration, tell: impl FnOnce() + Send + 'static, test: impl FnOnce() -> T) -> T {
    let (running, ended) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        if ended.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
            tell();
        }
    });
    let result = test();
    drop(running);
    result
}

/// A test case as libtest-mimic runs it.
fn trial(case: &'static TestCase, results: &Results) -> Trial {
    let results = results.clone();
    let run = move || {
        let started = Instant::now();
        let name = case.full_name();
        let slow = move || eprintln!("test {name} has been running for over {} seconds", SLOW.as_secs());
        let ending = watched(SLOW, slow, || run_case(case));
        let mut launches = recorder::take();
        let directory = settings().ok().and_then(|settings| settings.timeline.clone());
        let written =
            directory.map(|directory| timeline::write(&directory, &case.full_name(), &mut launches.timings));
        if let Some(Err(message)) = written {
            let _ = TIMELINES.set(message);
        }
        // A wrong expectation is about figures: show them, with the source lines that they belong to.
        let ending = match ending {
            Ending::Failed(message) => {
                let help = recorder::help(&message, &launches.reports);
                Ending::Failed(message + help + &recorder::launches(&launches.reports))
            }
            other => other,
        };
        let ended = match &ending {
            Ending::Failed(message) => Err(Failed::from(message)),
            Ending::Passed => Ok(Completion::Completed),
            Ending::Ignored(reason) => {
                Ok(reason.as_ref().map_or_else(Completion::ignored, Completion::ignored_with))
            }
        };
        results.add(Finished { name: case.full_name(), time: started.elapsed(), ending, launches });
        ended
    };
    Trial::ignorable_test(case.full_name(), run).with_ignored_flag(case.ignored.is_some())
}

fn run_case(case: &TestCase) -> Ending {
    let device = match open(case.check) {
        Ok(device) => device,
        Err(message) => return Ending::Failed(message),
    };
    case.run(&device)
}

/// What the environment asks for, read once.
fn settings() -> Result<Arc<Settings>, String> {
    static SETTINGS: OnceLock<Result<Arc<Settings>, String>> = OnceLock::new();
    let read = || Settings::from_env().map(Arc::new).map_err(|error| error.to_string());
    SETTINGS.get_or_init(read).clone()
}

/// A device for a test, in which this may be looked for. Which one is taken is told once.
fn open(most: Option<Checks>) -> Result<Device, String> {
    static TOLD: OnceLock<()> = OnceLock::new();
    let settings = settings()?;
    let most = most.unwrap_or(Checks::EVERY);
    let settings = Settings {
        check: settings.check.map(|asked| asked.and(most)),
        check_by_default: most.and(Checks::ALL),
        package: PACKAGE.get().map(|&package| package.to_owned()),
        ..Settings::clone(&settings)
    };
    let (device, why) = Device::open(&settings).map_err(|error| error.to_string())?;
    TOLD.get_or_init(|| {
        let choice = match is_started_by_the_command() {
            _ if !device.is_emulator() => "",
            true => "; --target-cpu emulates another GPU",
            false => "; AMDINST_TARGET_CPU chooses another GPU that the kernels are built for",
        };
        eprintln!("device: {why}{choice}");
    });
    Ok(device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_does_not_end_is_told() {
        let (told, telling) = mpsc::channel();
        let from_a_quick_one = told.clone();
        assert_eq!(watched(SLOW, move || from_a_quick_one.send("quick").unwrap(), || 5), 5);
        // It ends only because it is told.
        let slow = watched(Duration::from_millis(10), move || told.send("slow").unwrap(), || telling.recv());
        assert_eq!(slow, Ok("slow"));
    }
}
