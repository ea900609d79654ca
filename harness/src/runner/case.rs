//! One kernel test.

use std::any::Any;
use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::recorder::Ending;
use crate::Checks;
use crate::device::Device;
use crate::without_counts;

/// What a kernel test may return, besides nothing.
pub type TestResult = Result<(), Box<dyn std::error::Error>>;

/// A kernel test, registered by `#[harness::test]`.
#[derive(Clone, Copy)]
pub struct TestCase {
    /// The function's name.
    pub name: &'static str,
    /// Its module's path, which begins with the crate.
    pub module: &'static str,
    /// The file that it stands in.
    pub file: &'static str,
    /// Its line.
    pub line: u32,
    /// Why it is ignored, if it is; empty for no reason.
    pub ignored: Option<&'static str>,
    /// What may be looked for in it, if that is said (`#[harness::test(check = "barriers")]`).
    pub check: Option<Checks>,
    /// Runs it; the error is the message.
    pub run: fn(&Device) -> Result<(), String>,
}

inventory::collect!(TestCase);

impl TestCase {
    /// Its name as libtest writes it: the path within the crate.
    pub fn full_name(&self) -> String {
        match self.module.split_once("::") {
            Some((_, path)) => format!("{path}::{}", self.name),
            None => self.name.to_owned(),
        }
    }

    /// Runs it on `device` and tells how it ended, with the place where it failed.
    pub(super) fn run(&self, device: &Device) -> Ending {
        without_counts::take();
        match catch_unwind(AssertUnwindSafe(|| begin_of_the_test(|| (self.run)(device)))) {
            Ok(Ok(())) => Ending::Passed,
            Ok(Err(message)) => Ending::Failed(format!(
                "{message}\n  test `{}` at {}:{}",
                self.full_name(),
                self.file,
                self.line
            )),
            Err(payload) => of_panic(&*payload),
        }
    }
}

/// How a test ended that panicked.
fn of_panic(payload: &(dyn Any + Send)) -> Ending {
    let told = PANIC.take();
    if let Some(why) = without_counts::take()
        && told.as_ref().is_some_and(|told| told.starts_with(&why))
    {
        return Ending::Ignored(Some(why));
    }
    Ending::Failed(told.unwrap_or_else(|| {
        // A payload without a message went through the hook too, unless the hook was replaced.
        let text = payload.downcast_ref::<String>().map(String::as_str);
        text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("the test panicked").to_owned()
    }))
}

thread_local! {
    /// The message and place of this thread's last panic.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps a panic's message and place for the failure's report instead of printing it while other tests run.
pub(super) fn report_panics_to_tests() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|place| format!("\n  at {place}")).unwrap_or_default();
        let message = info.payload_as_str().unwrap_or("the test panicked");
        let mut text = format!("{message}{place}");
        match std::env::var_os("RUST_BACKTRACE") {
            Some(value) if value == "full" => text.push_str(&format!("\n{}", Backtrace::force_capture())),
            Some(value) if value != "0" => {
                text.push('\n');
                text.push_str(&of_the_test(&Backtrace::force_capture().to_string()));
            }
            _ => {}
        }
        PANIC.set(Some(text));
    }));
}

/// Only a name on the stack, below which are the runner's own frames.
#[inline(never)]
fn begin_of_the_test<T>(run: impl FnOnce() -> T) -> T {
    let result = run();
    // Not a tail call, which would leave nothing on the stack.
    std::hint::black_box(());
    result
}

/// The user's frames of a backtrace between the panic's own and the runner's; all, where their names are not
/// known.
fn of_the_test(backtrace: &str) -> String {
    let is_frame = |line: &str| {
        let (number, symbol) = line.trim_start().split_once(": ").unwrap_or_default();
        number.parse::<u32>().is_ok() && !symbol.is_empty()
    };
    let mut frames: Vec<String> = Vec::new();
    for line in backtrace.lines() {
        match frames.last_mut() {
            Some(frame) if !is_frame(line) => *frame += &format!("{line}\n"),
            _ => frames.push(format!("{line}\n")),
        }
    }
    let found = |name: &str| frames.iter().position(|frame| frame.contains(name));
    let first = found("__rust_end_short_backtrace").map_or(0, |frame| frame + 1);
    let end = found("begin_of_the_test").filter(|&end| end > first).unwrap_or(frames.len());
    let frames = &frames[first..end];
    let own: Vec<&str> = frames.iter().map(String::as_str).filter(|frame| is_own(frame)).collect();
    if own.is_empty() { frames.concat() } else { own.concat() }.trim_end().to_owned()
}

/// What frames of Rust's library and of this crate begin with.
const LIBRARIES: [&str; 5] =
    ["core::", "std::", "alloc::", "__rustc::", concat!(env!("CARGO_CRATE_NAME"), "::")];

/// The name in the frame of what `#[test]` lists a test by.
const LISTED: &str = "::__INVENTORY::";

/// Whether a frame of a backtrace is neither of these.
fn is_own(frame: &str) -> bool {
    let symbol = frame.trim_start().split_once(": ").map_or(frame, |(_, symbol)| symbol);
    // `<core::option::Option<T> as …>::f`, or `<A as core::ops::FnOnce>::call_once`.
    let symbol = symbol.trim_start_matches(['<', '&']);
    let is_library = |text: &str| LIBRARIES.iter().any(|library| text.starts_with(library));
    !(symbol.contains(LISTED)
        || is_library(symbol)
        || symbol.split_once(" as ").is_some_and(|(_, of)| is_library(of)))
}

/// What a test function may return.
pub trait IntoTestResult {
    /// The message of a failure.
    ///
    /// # Errors
    /// When the test failed.
    fn into_test_result(self) -> Result<(), String>;
}

impl IntoTestResult for () {
    fn into_test_result(self) -> Result<(), String> {
        Ok(())
    }
}

impl<E: Display> IntoTestResult for Result<(), E> {
    fn into_test_result(self) -> Result<(), String> {
        self.map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use super::*;

    /// Panics are told to tests as long as this lives. The hook is the whole process's, so one test at a time
    /// has it.
    struct Hook(#[expect(dead_code, reason = "a lock")] MutexGuard<'static, ()>);

    impl Drop for Hook {
        fn drop(&mut self) {
            // A thread that panics may not.
            if !std::thread::panicking() {
                let _ = std::panic::take_hook();
            }
        }
    }

    fn panics_to_tests() -> Hook {
        static ONE: Mutex<()> = Mutex::new(());
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        report_panics_to_tests();
        Hook(one)
    }

    #[test]
    fn a_backtrace_is_the_tests_own() {
        let whole = "   0: harness::hook\n             at case.rs:75:44\n   1: std::sys::backtrace::__rust_end_short_backtrace\n\
                     \x20  2: core::panicking::panic_fmt\n             at panicking.rs:80:14\n   3: kernels::my_test\n\
                     \x20            at ./tests/kernels.rs:58:29\n   4: harness::runner::case::begin_of_the_test\n\
                     \x20            at case.rs:1:1\n   5: main\n";
        assert_eq!(of_the_test(whole), "   3: kernels::my_test\n             at ./tests/kernels.rs:58:29");
        let closure = "   4: <kernels::f as core::ops::function::FnOnce<()>>::call_once\n   5: kernels::f\n   6: std::x\n";
        assert_eq!(of_the_test(closure), "   5: kernels::f");
        let listed = "   4: __rustc::rust_begin_unwind\n   5: kernels::f\n   6: kernels::_::__INVENTORY::{{closure}}\n";
        assert_eq!(of_the_test(listed), "   5: kernels::f");
        assert_eq!(of_the_test("   0: <unknown>\n   1: <unknown>\n"), "   0: <unknown>\n   1: <unknown>");
    }

    #[test]
    fn a_test_has_a_name_on_the_stack() {
        let backtrace = begin_of_the_test(|| Backtrace::force_capture().to_string());
        assert!(backtrace.contains("begin_of_the_test"), "{backtrace}");
    }

    /// The place of a failure is the test's line, not one of this crate.
    #[test]
    fn a_branch_that_is_not_there_is_told_at_the_line_that_asks() {
        let report = r#"{"schema":1,"kernel":"k","target":"gfx90a","counter_storage":"register","grid":[1,1,1],"block":[64,1,1],
            "waves":1,"memory_equal":true,"oracle_equal":true,"sites":[],"probes":[]}"#;
        let report = crate::report::Report::new(serde_json::from_str(report).unwrap());
        let _hook = panics_to_tests();
        let asked = line!() + 1;
        for failed in [catch_unwind(|| drop(report.branch("x"))), catch_unwind(|| drop(report.line(7)))] {
            assert!(failed.is_err());
        }
        let told = PANIC.take().unwrap_or_default();
        assert!(told.contains(&format!("at {}:{asked}:", file!())), "{told}");
    }
    /// Who chose other kernels hears of it: a test that asks for branches of this one fails.
    #[test]
    fn a_test_that_asks_for_counts_of_a_kernel_that_was_not_selected_fails() {
        let report = r#"{"schema":1,"kernel":"k","target":"gfx90a","counter_storage":"none","grid":[1,1,1],"block":[64,1,1],
            "waves":1,"memory_equal":null,"oracle_equal":null,"sites":[],"probes":[],"not_selected":true}"#;
        let report = crate::report::Report::new(serde_json::from_str(report).unwrap());
        let _hook = panics_to_tests();
        let asks: [&dyn Fn(); 2] = [&|| drop(report.branch("x")), &|| drop(report.every_site())];
        for ask in asks {
            let payload = catch_unwind(AssertUnwindSafe(ask)).unwrap_err();
            let Ending::Failed(told) = of_panic(&*payload) else { panic!("it failed") };
            let why = "kernel `k` has no counts: it was not selected; `--kernel` chose others";
            assert!(told.starts_with(why), "{told}");
        }
    }

    /// What asks for counts of a kernel that has none for its processor's sake ends the test, and is no
    /// failure; what fails otherwise is.
    #[test]
    fn a_test_that_asks_for_counts_that_cannot_be_is_ignored() {
        let report = r#"{"schema":1,"kernel":"k","target":"gfx1100","counter_storage":"none","grid":[1,1,1],"block":[64,1,1],
            "waves":2,"memory_equal":null,"oracle_equal":null,"sites":[],"probes":[],
            "not_instrumented":"code for gfx1100 is not instrumented yet","refusals":["code for gfx1100 is not instrumented yet"]}"#;
        let report = crate::report::Report::new(serde_json::from_str(report).unwrap());
        let asks: [&dyn Fn(); 4] =
            [&|| drop(report.branch("x")), &|| drop(report.line(7)), &|| drop(report.every_site()), &|| {
                drop(report.probe("x").outcome.clone())
            }];
        let why = "kernel `k` has no counts of branches: code for gfx1100 is not instrumented yet";
        let _hook = panics_to_tests();
        for ask in asks {
            let payload = catch_unwind(AssertUnwindSafe(ask)).unwrap_err();
            assert_eq!(of_panic(&*payload), Ending::Ignored(Some(why.to_owned())));
        }
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _ = catch_unwind(AssertUnwindSafe(asks[0]));
            panic!("something else");
        }));
        let Ending::Failed(told) = of_panic(&*caught.unwrap_err()) else { panic!("it failed") };
        assert!(told.starts_with("something else"), "{told}");
    }
}
