//! Where each counter lives while the kernel runs (its *home*), and the registers the probes use.
//!
//! * `register`: SGPRs that nothing in the kernel and its functions uses, else lanes of such a VGPR. The
//!   epilogue writes them to memory before `s_endpgm`.
//! * `lds`: an image of the wave's record at the end of the workgroup's LDS ([`lds`](super::lds)). A site
//!   adds to it with `ds_add_u32`, its counters being lanes of one VGPR. This home takes two VGPRs and no
//!   SGPR.
//! * `global`: the record in memory, to which sites add.

use amdgpu_isa::{RegSet, ScalarSet, WaveSize};
use arrayvec::ArrayVec;

use super::deferred::Deferred;
use crate::counters::{RECORD_HEADER_WORDS, SiteForm, WORDS_PER_SITE};
use crate::instrument::options::{Level, Probe};

/// Where the counters of one site are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CounterPlace {
    /// In SGPRs.
    Sgprs(SgprCounters),
    /// No counters, but masks, of a site that runs once at most.
    Masks {
        /// Pair for NEW.
        new: u8,
        /// Pair for OLD, where that is not known otherwise.
        old: Option<u8>,
    },
    /// A block's, in SGPRs; the sum of lanes is absent at level `basic`.
    BlockSgprs {
        /// `executions`.
        executions: u8,
        /// `lanes`.
        lanes: Option<u8>,
    },
    /// In consecutive lanes of a VGPR: five of a site, two of a block.
    Lanes {
        /// The VGPR.
        vgpr: u8,
        /// The lane of `executions`.
        first: u32,
    },
    /// In the image of the record in LDS.
    Lds,
    /// In the record in memory.
    Memory,
}

impl CounterPlace {
    /// What is there must be zero before a wave comes by.
    pub(crate) const fn starts_at_zero(&self) -> bool {
        !matches!(self, Self::Masks { old: None, .. })
    }
}

/// The SGPRs of one site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SgprCounters {
    pub(crate) executions: u8,
    pub(crate) all: u8,
    pub(crate) none: u8,
    /// `lanes_in`, `lanes_taken`; absent at level `basic`.
    pub(crate) lanes: Option<[u8; 2]>,
}

impl SgprCounters {
    /// How many SGPRs a site takes.
    pub(crate) const fn count(level: Level) -> usize {
        match level {
            Level::Basic => 3,
            Level::Lanes => 5,
        }
    }

    pub(crate) fn new(registers: &[u8]) -> Self {
        Self {
            executions: registers[0],
            all: registers[1],
            none: registers[2],
            lanes: registers.get(3..5).map(|lanes| [lanes[0], lanes[1]]),
        }
    }
}

/// Sites, or blocks, whose counters share one VGPR.
pub(crate) const fn points_per_vgpr(probe: Probe, wave: WaveSize) -> usize {
    match probe.words() {
        0 => 1,
        words => (wave.lanes() / words) as usize,
    }
}

/// Byte offset in the record of the first counter of a point.
pub(crate) const fn counter_offset(probe: Probe, point: u32) -> u32 {
    4 * (RECORD_HEADER_WORDS + probe.words() * point)
}

/// Registers that are reserved for the probes in a whole component: nothing else in it uses them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reserved {
    /// Where the address of the wave's record is.
    pub(crate) record: RecordPlace,
    /// Counter SGPRs to be zeroed at entry.
    pub(crate) counters: Vec<u8>,
    /// VGPRs whose lanes are counters.
    pub(crate) counter_vgprs: Vec<u8>,
    /// VGPR with an offset in each lane, four bytes apart: in the record, from the prologue on
    /// (`adds_to_memory`) or for use at the end; in LDS (`lds`), where only the lowest lanes keep theirs and
    /// it is the spill VGPR besides.
    pub(crate) offsets: u8,
    /// VGPR for increments, or for data on their way to memory. Lanes of counters other than sums of lanes
    /// are always one, unless it is borrowed.
    pub(crate) data: u8,
    /// Sites add to the record in memory, some or all: these two are theirs from the prologue on.
    pub(crate) adds_to_memory: bool,
    /// Which of these two the program uses itself.
    pub(crate) borrowed_vgprs: BorrowedVgprs,
    /// Where the spill VGPR goes if the program uses that, too.
    pub(crate) scratch: Option<ScratchSlots>,
    /// SGPRs for what a site holds for a moment.
    pub(crate) spare: Vec<u8>,
    /// Where the time of entry is, if that is what is measured.
    pub(crate) begin: Option<BeginPlace>,
    /// Pair for the time at the end, and whether a scalar load may still write to it then.
    pub(crate) end: (u8, bool),
    /// VGPR whose lanes hold what has no SGPR: [`SPILLED_RECORD`] and what sites borrow, from
    /// [`SPILLED_SGPRS`] on. Lanes below these are not touched.
    pub(crate) spill: Option<u8>,
    /// Registers from which the record's address follows, where the prologue does not work that out.
    pub(crate) deferred: Option<Deferred>,
    /// What is written for each site; empty if all have counters.
    pub(crate) site_forms: Vec<SiteForm>,
    /// Records are packed, and written by one lane.
    pub(crate) packed: bool,
    /// VGPRs that cost no occupancy, and that no load may still write to when a wave ends.
    pub(crate) free_vgprs: RegSet,
    /// SGPRs that vector instructions read as masks, where writing these is a hazard: nothing that is
    /// inserted does, not even where a wave ends and all is dead.
    pub(crate) lane_masks: ScalarSet,
}

impl Reserved {
    /// Whether a pair of SGPRs may be written where a wave ends, as far as hazards go.
    pub(crate) fn may_end_with(&self, pair: u8) -> bool {
        let both = ScalarSet::register(pair).union(ScalarSet::register(pair + 1));
        !self.lane_masks.intersects(both)
    }
}

/// Which of the two VGPRs of sites in LDS and memory are in use, so that a site must leave them as they were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BorrowedVgprs {
    /// Neither.
    #[default]
    Neither,
    /// `data` with counters in LDS, `offsets` with counters in memory. The other one is the spill VGPR, whose
    /// lanes from [`BORROWED_LANES`] on keep as many of its lowest meanwhile.
    One,
    /// Both VGPRs, with counters in memory. Only the first lane of each is used; an SGPR keeps its value
    /// meanwhile.
    Both,
}

impl BorrowedVgprs {
    /// How many VGPRs that is.
    pub(crate) const fn vgprs(self) -> u32 {
        match self {
            Self::Neither => 0,
            Self::One => 1,
            Self::Both => 2,
        }
    }
}

/// Two dwords of each work-item's private memory, by their byte offset. There the lowest [`SPILL_LANES`] of a
/// spill VGPR that the program uses, too, change places: a site saves the program's and loads the probes',
/// and puts the program's back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScratchSlots {
    /// The program's lanes, while a site runs.
    pub(crate) kept: u32,
    /// Bytes of private memory a work-item, with these.
    pub(crate) end: u32,
    /// Instructions have the address of `kept` in an SGPR: where they must have one, and behind what their
    /// offsets reach.
    pub(crate) by_register: bool,
    /// The prologue sets FLAT_SCRATCH: where hardware does not.
    pub(crate) is_set_up: bool,
}

impl ScratchSlots {
    /// Bytes of both.
    pub(crate) const BYTES: u32 = 8;

    /// The probes' lanes as the prologue left them. Sites change none that they do not set first.
    pub(crate) const fn image(&self) -> u32 {
        self.kept + 4
    }
}

/// Lanes of the spill VGPR that anything uses.
pub(crate) const SPILL_LANES: u32 = 32;
const _: () = assert!(SPILLED_SGPRS + MOST_BORROWED as u32 <= SPILL_LANES);
/// SGPRs that a site borrows at most.
pub(crate) const MOST_BORROWED: usize = 12;

/// Lanes of a borrowed VGPR that the spill VGPR keeps, and the first of its own that it keeps them in: half a
/// row each, which a shift within the row moves at once.
pub(crate) const BORROWED_LANES: u32 = 8;
const _: () = assert!(WORDS_PER_SITE <= BORROWED_LANES);

/// Word of a record with the low half of the time of entry.
pub(crate) const BEGIN_WORD: u32 = RECORD_HEADER_WORDS;

/// Where the time of a wave's entry is while the kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BeginPlace {
    /// In the pair of SGPRs that starts here.
    Sgprs(u8),
    /// In the lanes of the data VGPR that will be stored as its words of the record.
    DataLanes,
    /// In the record.
    Memory,
}

/// Where the address of the wave's record is while the kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordPlace {
    /// In the pair of SGPRs that starts here.
    Sgprs(u8),
    /// In lanes [`SPILLED_RECORD`] and the next of the spill VGPR.
    Spilled,
}

impl Default for RecordPlace {
    fn default() -> Self {
        Self::Sgprs(0)
    }
}

/// Lane of the spill VGPR with the low half of the record's address; the high half stands in the next.
pub(crate) const SPILLED_RECORD: u32 = 2 * BORROWED_LANES;
/// First lane of the spill VGPR for SGPRs that a site borrows.
pub(crate) const SPILLED_SGPRS: u32 = SPILLED_RECORD + 2;

/// SGPRs a site uses for a moment: dead before and after it, or borrowed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Temps {
    /// Pair for OLD, when the instruction does not save it.
    pub(crate) old: Option<u8>,
    /// Pair for NEW while EXEC is something else, or for OLD made unequal to an empty NEW; before the site
    /// for EXEC while the spill VGPR is exchanged.
    pub(crate) pair: Option<u8>,
    /// Single registers.
    pub(crate) singles: [Option<u8>; 3],
    /// Single register for SCC.
    pub(crate) scc: Option<u8>,
    /// Pair for the address of the record, when that is spilled.
    pub(crate) record: Option<u8>,
    /// Single registers for the first lanes of `offsets` and `data`, when both are borrowed.
    pub(crate) lanes: [Option<u8>; 2],
    /// Single register for the address of scratch memory, where that is addressed by one.
    pub(crate) address: Option<u8>,
    /// That register is the program's: M0, which is not, keeps its value meanwhile.
    pub(crate) m0_keeps_address: bool,
    /// SGPRs of the above that are in use around the site: saved before it, restored after it.
    pub(crate) borrowed: ArrayVec<u8, MOST_BORROWED>,
    /// A scalar load may still write to a borrowed one: wait before it is spilled.
    pub(crate) wait: bool,
}
