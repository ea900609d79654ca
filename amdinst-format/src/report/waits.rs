//! A wait that is missing in the text of a kernel.

use std::fmt;

use serde::Serialize;

use super::Location;

/// A register that is used before a load has surely brought it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissingWait {
    /// The wait that is missing before the use, as it is written.
    pub wait: String,
    /// It is missing on every path to the use. Else it is on some path, which may be none that is taken, or
    /// in some lanes.
    pub always: bool,
    /// The register.
    pub register: String,
    /// It is read; else it is written, and the load would replace that.
    pub reads: bool,
    /// Address of the use.
    pub pc: u64,
    /// The instruction there.
    pub instruction: String,
    /// Where that stands in the source.
    #[serde(flatten)]
    pub location: Location,
    /// Address of the load.
    pub load_pc: u64,
    /// The load.
    pub load: String,
}

impl fmt::Display for MissingWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wait, always, register, reads, pc, instruction, location, load_pc, load } = self;
        let on_some_path = if *always { "" } else { " on some path" };
        write!(f, "`{wait}` is missing{on_some_path} before {pc:#x} `{instruction}`")?;
        if location.file.is_some() {
            write!(f, " at {location}")?;
        }
        let uses = if *reads { "reads" } else { "writes" };
        write!(f, ", which {uses} {register} of {load_pc:#x} `{load}`")
    }
}
