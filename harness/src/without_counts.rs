//! Tests that ask for counts of a kernel whose processor's code is not instrumented.

use std::cell::RefCell;

thread_local! {
    /// The message with which the test on this thread was told that it cannot have the counts it asked for.
    static MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Ends the running test, for it asked for such counts. The runner ignores it, as `message` says: what it
/// asserted before has held, and what the counts would be is not known.
#[track_caller]
pub(crate) fn end(message: String) -> ! {
    MESSAGE.set(Some(message.clone()));
    panic!("{message}");
}

/// The message of the last such end on this thread, which is then forgotten.
pub(crate) fn take() -> Option<String> {
    MESSAGE.take()
}
