//! What the code of a site or a block needs to hold for a moment, wherever its counters are.

use amdgpu_isa::{Access, Inst, Logic, MaskOp, Reg, Value, WaveSize};

use super::layout::CounterPlace;
use crate::instrument::find::points::{Point, What};
use crate::instrument::find::survey::Survey;
use crate::instrument::options::Level;

/// What the code at a point depends on wherever its counters are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Counted {
    Site(SiteFacts),
    Block { scc_is_live: bool },
}

impl Counted {
    /// At a point of a function.
    pub(crate) fn at(survey: &Survey, function: usize, point: Point) -> Self {
        let (before, after) = survey.liveness.around(&survey.program, function, point.block, point.inst);
        match point.what {
            What::Block(_) => Self::Block { scc_is_live: before.contains(Reg::SCC) },
            What::Site(site) => {
                let found = &survey.masks[function].sites[site];
                Self::Site(SiteFacts {
                    saved: found.saves_old,
                    scc_is_some: scc_tells_new(survey.program.inst(found.inst), survey.program.wave_size()),
                    scc_is_live: after.contains(Reg::SCC),
                    old_is_nonzero: found.old_is_nonzero,
                })
            }
        }
    }

    /// What the code needs to hold for a moment, with counters in a place like this.
    pub(crate) fn needs(&self, place: CounterPlace, level: Level) -> Needs {
        match *self {
            Self::Site(facts) => facts.needs(place, level),
            Self::Block { scc_is_live } => block_needs(place, level, scc_is_live),
        }
    }
}

/// What the code of a site depends on wherever its counters are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SiteFacts {
    /// Pair into which the instruction saves OLD.
    pub(crate) saved: Option<u8>,
    /// SCC tells NEW ≠ 0 right after the instruction.
    pub(crate) scc_is_some: bool,
    /// SCC is read later.
    pub(crate) scc_is_live: bool,
    /// OLD cannot be zero.
    pub(crate) old_is_nonzero: bool,
}

/// What a site's code needs to hold for a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    pub(crate) old: bool,
    pub(crate) pair: bool,
    pub(crate) singles: u8,
    pub(crate) scc: bool,
    /// Pair for the record's address, single registers for lanes of borrowed VGPRs: which depends on what
    /// registers there are.
    pub(crate) record: bool,
    pub(crate) lanes: u8,
    /// The pair must not be a borrowed one: it holds EXEC before anything can be spilled.
    pub(crate) pair_at_once: bool,
    /// Single register for an address in scratch memory, no borrowed one either.
    pub(crate) address: bool,
}

impl SiteFacts {
    /// With counters in a place like this.
    fn needs(self, place: CounterPlace, level: Level) -> Needs {
        match place {
            CounterPlace::Masks { .. } => Needs::default(),
            CounterPlace::Sgprs(_) | CounterPlace::BlockSgprs { .. } => Needs {
                old: self.saved.is_none(),
                pair: !self.old_is_nonzero,
                singles: u8::from(level == Level::Lanes),
                scc: self.scc_is_live,
                ..Needs::default()
            },
            CounterPlace::Lanes { .. } | CounterPlace::Lds | CounterPlace::Memory => Needs {
                old: self.saved.is_none(),
                pair: true,
                singles: if level == Level::Lanes { 2 } else { 0 },
                scc: self.scc_is_live,
                ..Needs::default()
            },
        }
    }
}

/// What the code of a block needs to hold for a moment, with counters in a place like this.
fn block_needs(place: CounterPlace, level: Level, scc_is_live: bool) -> Needs {
    let in_sgprs = matches!(place, CounterPlace::BlockSgprs { .. });
    Needs {
        old: false,
        pair: !in_sgprs,
        singles: u8::from(level == Level::Lanes),
        scc: scc_is_live && (level == Level::Lanes || in_sgprs),
        ..Needs::default()
    }
}

/// Whether an instruction leaves SCC = (NEW ≠ 0).
fn scc_tells_new(inst: &Inst, wave: WaveSize) -> bool {
    let writes_exec_itself =
        inst.operands.first().is_some_and(|o| o.value == Value::EXEC && o.access != Access::Read);
    match inst.op.mask_op(wave) {
        Some(MaskOp::Saveexec(Logic::And | Logic::NotAnd) | MaskOp::Wrexec(Logic::NotAnd)) => true,
        Some(MaskOp::Combine(Logic::And | Logic::AndNot | Logic::Or | Logic::Xor)) => writes_exec_itself,
        _ => false,
    }
}
