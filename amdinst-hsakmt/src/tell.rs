//! What the user is told, on stderr. Telling cannot fail: the packet processor must tell the runtime of a
//! fault even if stderr takes nothing.

use std::fmt::Display;
use std::io::Write as _;

use amdinst_text::shown_lines;

/// Print a message, in one piece. A stderr that takes nothing (closed, a full disk) changes nothing else:
/// what went wrong is still told to the runtime.
pub(crate) fn tell(message: impl Display) {
    let message = format!("amdinst: {message}\n");
    let _ = std::io::stderr().write_all(shown_lines(&message).as_bytes());
}
