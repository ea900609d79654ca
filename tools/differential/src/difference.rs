//! What a program did that it should not have done.

use std::fmt;

use crate::way::Way;

/// What a program did that it should not have done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The emulator stopped.
    Fault(String),
    /// Instrumented in this way it gives other results.
    Instrumented(Way, String),
    /// Bytes of the output differ.
    Bytes {
        /// The first of them.
        at: usize,
        /// How many.
        count: usize,
        /// The bytes of the one side from there on, at most eight.
        one: Vec<u8>,
        /// Those of the other.
        other: Vec<u8>,
    },
}

impl Difference {
    /// In words, with names for the two sides.
    pub(crate) fn between(&self, one_side: &str, other_side: &str) -> String {
        match self {
            Self::Fault(fault) => format!("the emulator stopped: {fault}"),
            Self::Instrumented(way, what) => format!("instrumented ({way}): {what}"),
            Self::Bytes { at, count, one, other } => format!(
                "{count} bytes differ, the first at {at:#x} (work-item {}, its byte {}): {one_side} {one:02x?}, {other_side} {other:02x?}",
                at / 256,
                at % 256
            ),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.between("emulator", "host"))
    }
}

/// The first bytes in which the `one` differs from the `other`.
pub(crate) fn first_difference(got: &[u8], expected: &[u8]) -> Option<Difference> {
    let at = got.iter().zip(expected).position(|(a, b)| a != b)?;
    let count = got.iter().zip(expected).filter(|(a, b)| a != b).count();
    let from = at & !3;
    let show = |bytes: &[u8]| bytes[from..(from + 8).min(bytes.len())].to_vec();
    Some(Difference::Bytes { at: from, count, one: show(got), other: show(expected) })
}
