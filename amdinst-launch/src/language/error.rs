//! What is wrong in a value, and where.

use std::fmt;
use std::ops::Range;

/// Characters of the value that an error shows on each side of the fault.
const SHOWN: usize = 40;

/// A value of the command line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct SyntaxError {
    /// The whole value.
    text: String,
    /// The bytes of it that are wrong; empty where something is missing.
    at: Range<usize>,
    /// What is wrong.
    what: String,
    /// What could stand there.
    accepted: String,
}

impl SyntaxError {
    /// Something wrong in `text`, in the bytes `at`.
    pub(super) fn new(text: &str, at: Range<usize>, what: String, accepted: String) -> Self {
        Self { text: text.to_owned(), at, what, accepted }
    }

    /// The problem, without the place.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// The first byte that is wrong, from 0.
    pub fn position(&self) -> usize {
        self.at.start
    }
}

impl fmt::Display for SyntaxError {
    /// What is wrong, the value with marks under the place, what is accepted there.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, rest) = self.text.split_at(self.at.start);
        let (wrong, after) = rest.split_at(self.at.len());
        let skipped = before.chars().count().saturating_sub(SHOWN);
        let before: String = before.chars().skip(skipped).collect();
        let before = if skipped > 0 { format!("…{before}") } else { before };
        let cut = |text: &str| {
            let mut shown: String = text.chars().take(SHOWN).collect();
            if text.chars().nth(SHOWN).is_some() {
                shown.push('…');
            }
            shown
        };
        let (wrong, after) = (cut(wrong), cut(after));
        // What was cut inside ends the line.
        let after = if wrong.ends_with('…') { "" } else { after.as_str() };
        let visible = |text: &str| text.replace(|c: char| c.is_control(), "\u{fffd}");
        writeln!(f, "{}", self.what)?;
        writeln!(f, "  {}{}{}", visible(&before), visible(&wrong), visible(after))?;
        writeln!(f, "  {}{}", " ".repeat(before.chars().count()), "^".repeat(wrong.chars().count().max(1)))?;
        write!(f, "accepted here: {}", self.accepted)
    }
}
