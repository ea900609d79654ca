//! Where each counter lives while the kernel runs, and the registers the probes use.

use super::options::Level;

/// Where the counters of one site are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CounterPlace {
    /// In SGPRs.
    Sgprs(SgprCounters),
    /// In five consecutive lanes of a VGPR.
    Lanes {
        /// The VGPR.
        vgpr: u8,
        /// The lane of `executions`.
        first: u32,
    },
    /// In the record in memory.
    Memory,
}

/// The SGPRs of one site. `some` counts executions with NEW ≠ 0, which SCC gives for nothing; `none` is their difference
/// from `executions`, formed when the record is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SgprCounters {
    pub(super) executions: u8,
    pub(super) all: u8,
    pub(super) some: u8,
    /// `lanes_in`, `lanes_taken`; absent at level `basic`.
    pub(super) lanes: Option<[u8; 2]>,
}

impl SgprCounters {
    /// How many SGPRs a site takes.
    pub(super) const fn count(level: Level) -> usize {
        match level {
            Level::Basic => 3,
            Level::Lanes => 5,
        }
    }

    pub(super) fn new(registers: &[u8]) -> Self {
        Self {
            executions: registers[0],
            all: registers[1],
            some: registers[2],
            lanes: registers.get(3..5).map(|lanes| [lanes[0], lanes[1]]),
        }
    }
}

/// Sites whose counters share one VGPR: five lanes each.
pub(super) const SITES_PER_VGPR: usize = 12;

/// Registers that the probes own in a whole component: nothing else in it uses them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Owned {
    /// First SGPR of the pair that holds the address of the wave's record.
    pub(super) record: u8,
    /// Counter SGPRs to be zeroed at entry.
    pub(super) counters: Vec<u8>,
    /// VGPRs whose lanes are counters.
    pub(super) counter_vgprs: Vec<u8>,
    /// VGPR with four times its lane's number in each lane, from the prologue on (`global`), or for use at the end.
    pub(super) offsets: u8,
    /// VGPR for increments, or for data on their way to memory.
    pub(super) data: u8,
    /// SGPRs for what a site holds for a moment.
    pub(super) spare: Vec<u8>,
}

/// SGPRs a site uses for a moment; dead before and after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Temps {
    /// Pair for OLD, when the instruction does not save it.
    pub(super) old: Option<u8>,
    /// Pair for NEW while EXEC is something else, or for OLD made unequal to an empty NEW.
    pub(super) pair: Option<u8>,
    /// Single registers.
    pub(super) singles: [Option<u8>; 3],
    /// Single register for SCC.
    pub(super) scc: Option<u8>,
}
