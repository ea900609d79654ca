//! One kernel test.

use std::cell::RefCell;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::recorder::Ending;
use crate::device::Device;

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
        match catch_unwind(AssertUnwindSafe(|| (self.run)(device))) {
            Ok(Ok(())) => Ending::Passed,
            Ok(Err(message)) => Ending::Failed(format!(
                "{message}\n  test `{}` at {}:{}",
                self.full_name(),
                self.file,
                self.line
            )),
            Err(payload) => {
                let told = PANIC.take();
                Ending::Failed(told.unwrap_or_else(|| {
                    // A payload without a message went through the hook too, unless the hook was replaced.
                    let text = payload.downcast_ref::<String>().map(String::as_str);
                    text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("the test panicked").to_owned()
                }))
            }
        }
    }
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
        if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
            text.push_str(&format!("\n{}", std::backtrace::Backtrace::force_capture()));
        }
        PANIC.set(Some(text));
    }));
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
