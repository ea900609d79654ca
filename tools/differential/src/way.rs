//! Ways of instrumenting.

use std::fmt;

use amdinst_core::instrument::{Abi, Counters, Level, Probe};

/// A way of instrumenting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The subject of the measurement.
    pub probe: Probe,
    /// Where the buffer's address is.
    pub abi: Abi,
    /// The counters' home.
    pub counters: Counters,
    /// The level of their counts.
    pub level: Level,
    /// How many unused registers the instrumenter may take, if that is limited.
    pub spare: Option<Spare>,
}

/// Unused registers that may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spare {
    /// VGPRs.
    pub vgprs: u8,
    /// SGPRs, if they are limited as well.
    pub sgprs: Option<u8>,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = format!("{:?} {:?}", self.counters, self.level).to_lowercase();
        if self.probe == Probe::Blocks {
            text.push_str(" blocks");
        }
        if self.abi == Abi::Global {
            text.push_str(" by variable");
        }
        f.write_str(&text)?;
        let Some(Spare { vgprs, sgprs }) = self.spare else { return Ok(()) };
        write!(f, ", {vgprs} spare VGPRs")?;
        match sgprs {
            Some(sgprs) => write!(f, " and {sgprs} SGPRs"),
            None => Ok(()),
        }
    }
}
