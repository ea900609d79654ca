//! The program's sources, and faults in their terms.

use amdinst_explain::Explained;
use amdinst_report::Sources;

/// The message of a fault, for the user.
pub(crate) fn told(Explained { report, .. }: &Explained) -> String {
    amdinst_report::fault::text(report, &sources(), false)
}

/// The directory that the program runs in.
pub(crate) fn here() -> Option<String> {
    std::env::current_dir().ok()?.into_os_string().into_string().ok()
}

/// Sources, as the program's compiler named them.
pub(crate) fn sources() -> Sources {
    Sources::new(here().unwrap_or_default(), &[])
}
