//! What is learnt of one code object that helps with the next.
//!
//! The code objects of a library are instances of the same templates. In rocSPARSE for gfx90a a quarter of
//! the code stands in functions that an earlier code object has, byte for byte, and more than half of the
//! distinct instructions of a code object occur in earlier ones.
//!
//! [`Session::plan`] gives for each code object what [`plan`](super::plan()) gives for it alone; a test
//! compares them, with every option. Per processor it remembers:
//!
//! * decoded instructions with what they do, and instructions that were inserted;
//! * kernels that call nothing and have no address in them: what they are made of, their masks and their
//!   plans;
//! * masks by what they depend on, which is less than the code: control flow, and the steps that the data
//!   flow looks at.
//!
//! A plan is reused for another kernel only if all is equal that it depends on: code, descriptor, metadata,
//! processor and options, and XNACK where it matters. (With XNACK the metadata tells of more SGPRs, which
//! does not matter if as many waves fit.) Code is compared as a whole; a hash only finds it. What is
//! remembered is bounded, and the oldest is forgotten first. Each thread of `instrument --whole` has a
//! session.

use amdgpu_isa::Arch;
use amdgpu_object::CodeObject;

use super::assembler::Assembler;
use super::hazards::FormFacts;
use super::options::Options;
use super::plan::{Plan, plan_with};
use super::recall::Recall;
use super::refusal::InstrumentError;
use super::summary::Touches;
use crate::analysis::program::Seen;

/// Plans code objects one after the other. Each plan is what [`plan`](super::plan()) makes of its code object alone.
#[derive(Debug, Default)]
pub struct Session {
    /// By processor.
    known: Vec<(Arch, ProcessorCache)>,
}

/// What is known of a processor's code.
#[derive(Debug)]
pub(super) struct ProcessorCache {
    /// Distinct instructions and kernels.
    pub(super) seen: Seen,
    /// What these do.
    pub(super) touches: Touches,
    /// What was found out and planned of the kernels.
    pub(super) recall: Recall,
    /// What rules of wait states ask about the instructions.
    pub(super) facts: FormFacts,
    /// Instructions that were inserted.
    pub(super) assembler: Assembler,
}

/// Distinct instructions that are remembered: about ten times as many as most code objects have, in about 25 MB.
const MOST_FORMS: usize = 1 << 16;

/// Bytes of code of the kernels that are remembered, which take about six times as much. Twice as many would find hardly more.
const MOST_BYTES: usize = 4 << 20;

impl ProcessorCache {
    fn new(arch: Arch) -> Self {
        Self {
            seen: Seen::new(arch),
            touches: Touches::default(),
            recall: Recall::default(),
            facts: FormFacts::default(),
            assembler: Assembler::new(arch),
        }
    }

    /// Forgets everything. The room that it took stays: it is soon filled again, and fresh memory takes time.
    fn clear(&mut self, arch: Arch) {
        let Self { seen, touches, recall, facts, assembler } = self;
        seen.clear();
        touches.clear();
        recall.clear();
        facts.clear();
        *assembler = Assembler::new(arch);
    }

    /// Kernels come again soon, if at all: those that have been known for longest go.
    fn forget_kernels(&mut self) {
        let count = self.seen.forget_kernels(MOST_BYTES);
        self.touches.forget_kernels(count);
        self.recall.forget_kernels(count);
    }
}

impl Session {
    /// Finds the sites of every kernel asked for, and plans their counters.
    ///
    /// # Errors
    /// As of [`plan`](super::plan()).
    pub fn plan(&mut self, object: &CodeObject, options: &Options) -> Result<Plan, InstrumentError> {
        let arch = object.target.arch.to_run()?;
        let place = self.known.iter().position(|(of, _)| *of == arch);
        let known = place.map(|place| self.known.swap_remove(place).1);
        let mut known = known.unwrap_or_else(|| ProcessorCache::new(arch));
        if known.seen.forms() > MOST_FORMS {
            known.clear(arch);
        }
        known.forget_kernels();
        let (plan, known) = plan_with(object, options, known)?;
        self.known.push((arch, known));
        Ok(plan)
    }
}
