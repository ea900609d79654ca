//! Why a test failed or was ignored, in a line.

use amdinst_core::report::run::{Ending, FaultReport, Test};

use super::{MatrixCell, single_waves};

/// Characters of a reason, at most.
const LONGEST: usize = 200;

/// Characters of each line of a message but the first, at most: both sides of a comparison are to be seen.
const LONGEST_SIDE: usize = 60;

impl MatrixCell {
    /// How a test ended, and why.
    pub(super) fn of(test: &Test) -> Self {
        let fault = test.faults.first().filter(|_| test.ending == Ending::Failed);
        let location = fault.map(|fault| fault.location.clone()).filter(|place| place.file.is_some());
        let help = fault.map(|fault| fault.help.clone()).unwrap_or_default();
        // The word of `amdinst_emu::FaultKind::Race`.
        let raced = fault.filter(|fault| fault.kind == "race").map(|fault| fault.kernel.clone());
        Self {
            ending: test.ending,
            reason: reason(test),
            location,
            help,
            suspect: None,
            raced,
            single_waves: single_waves::of(test),
        }
    }
}

/// The fault of its kernel if there was one; else its message, and a doubt about its kernels.
fn reason(test: &Test) -> Option<String> {
    let told = |fault: &FaultReport| match fault.location.file.is_some() {
        true => format!("{} at {}", fault.message, fault.location.short()),
        false => fault.message.clone(),
    };
    let text = match (test.ending, test.faults.first()) {
        (Ending::Passed, _) => return None,
        (Ending::Failed, Some(fault)) => told(fault),
        (Ending::Failed, None) => {
            let mut lines = test.message.iter().flat_map(|message| message.lines()).map(str::trim);
            let first = lines.next().map(str::to_owned);
            let sides = lines.map(|line| cut(line, LONGEST_SIDE));
            let parts = first.into_iter().chain(test.doubts.first().map(told)).chain(sides);
            parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
        }
        (Ending::Ignored, _) => test.message.clone()?,
    };
    Some(cut(text.lines().next()?, LONGEST))
}

/// A text of so many characters, at most.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
