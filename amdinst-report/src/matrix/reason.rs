//! Why a test failed or was ignored, in a line.

use amdinst_core::report::run::{Ending, FaultReport, Test};

use super::MatrixCell;

/// Characters of a reason, at most.
const LONGEST: usize = 200;

impl MatrixCell {
    /// How a test ended, and why.
    pub(super) fn of(test: &Test) -> Self {
        let fault = test.faults.first().filter(|_| test.ending == Ending::Failed);
        let location = fault.map(|fault| fault.location.clone()).filter(|place| place.file.is_some());
        Self { ending: test.ending, reason: reason(test), location }
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
            let mut lines =
                test.message.iter().flat_map(|message| message.lines()).map(|line| line.trim().to_owned());
            let first = lines.next();
            let parts = first.into_iter().chain(test.doubts.first().map(told)).chain(lines);
            parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
        }
        (Ending::Ignored, _) => test.message.clone()?,
    };
    let text = text.lines().next()?;
    match text.char_indices().nth(LONGEST) {
        None => Some(text.to_owned()),
        Some((end, _)) => Some(format!("{}…", &text[..end])),
    }
}
