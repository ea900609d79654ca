//! Summaries of functions: the registers that each touches itself, without its callees, and what it does with
//! LDS.

use std::collections::VecDeque;

use amdgpu_isa::{Access, Effects, Families, Feature, Inst, Op, RegSet, ScalarSet, Target, Value, WaveSize};

use super::lds_use::{self, LdsUse};
use crate::analysis::hazards::Slow;
use crate::analysis::program::Observer;

/// The register of `s_getreg_b32` that tells how many SGPRs and VGPRs a wave has.
const HW_REG_GPR_ALLOC: i32 = 5;

/// What a function, without its callees, does with registers and LDS.
#[derive(Clone, Debug, Default)]
pub(crate) struct FunctionSummary {
    /// Every register that it reads or writes.
    pub(crate) used: RegSet,
    /// Every register that it writes, if only in part.
    changes: RegSet,
    /// Registers that an operation writes later, on its own (loads), or uses for long (matrix instructions).
    pub(crate) late: RegSet,
    /// VGPRs are addressed by number in a register.
    pub(crate) indexed: bool,
    /// SGPRs are addressed by number in a register.
    pub(crate) sgprs_by_number: bool,
    /// What it has of instructions that others must keep a distance from.
    pub(crate) slow: Slow,
    /// SGPRs that vector instructions read as lane masks, where that is a hazard.
    lane_masks: ScalarSet,
    /// Pairs of SGPRs that vector instructions read, where what is written into them later must be waited
    /// for.
    read_by_vectors: ScalarSet,
    lds: LdsUse,
    /// The function reads how many registers its wave has.
    reads_allotment: bool,
}

/// What an instruction adds to what its function does, beside its registers: most add nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Traits {
    slow: Slow,
    indexed: bool,
    sgprs_by_number: bool,
    lane_masks: ScalarSet,
    read_by_vectors: ScalarSet,
    lds: LdsUse,
    reads_allotment: bool,
}

impl Traits {
    fn of(inst: &Inst, effects: &Effects, target: Target) -> Self {
        Self {
            lane_masks: if masks_are_hazards(target) { lane_masks(inst) } else { ScalarSet::EMPTY },
            read_by_vectors: match target.arch.has(Feature::ScalarReadHazard) {
                true => read_by_vectors(inst),
                false => ScalarSet::EMPTY,
            },
            slow: Slow::of(inst),
            indexed: inst.op.is_of(Families::VGPRS_BY_NUMBER),
            sgprs_by_number: inst.op.is_of(Families::SGPRS_BY_NUMBER),
            lds: LdsUse::of(inst, effects),
            reads_allotment: inst.op == Op::s_getreg_b32
                && lds_use::hardware_register(inst) == Some(HW_REG_GPR_ALLOC),
        }
    }
}

/// Whether SGPRs that vector instructions read as masks must not be written soon after.
fn masks_are_hazards(target: Target) -> bool {
    target.wave == WaveSize::Wave64 && target.arch.has(Feature::MaskWriteHazard)
}

/// The SGPRs that a vector instruction reads as a lane mask: as a pair, whatever it takes that for.
fn lane_masks(inst: &Inst) -> ScalarSet {
    if !inst.encoding.is_vector_alu() {
        return ScalarSet::EMPTY;
    }
    let masks = inst.operands.iter().filter_map(|operand| match operand.value {
        Value::Scalar(first) if operand.access != Access::Write && operand.dwords > 1 => Some(first),
        _ => None,
    });
    masks.fold(ScalarSet::EMPTY, |all, first| {
        all.union(ScalarSet::register(first)).union(ScalarSet::register(first + 1))
    })
}

/// The pairs of SGPRs of which a vector instruction reads a register.
fn read_by_vectors(inst: &Inst) -> ScalarSet {
    if !inst.encoding.is_vector_alu() {
        return ScalarSet::EMPTY;
    }
    let read = inst.operands.iter().filter(|operand| operand.access != Access::Write);
    let named = read.map(|operand| ScalarSet::named_by(std::slice::from_ref(operand)));
    named.fold(ScalarSet::EMPTY, ScalarSet::union).with_pairs()
}

/// What is done to the registers of one word of [`RegSet`]. An instruction has few words with any.
#[derive(Clone, Copy, Debug)]
struct Touched {
    word: u8,
    used: u64,
    changes: u64,
    /// Written later, on their own (loads), or used for long (matrix instructions).
    late: u64,
}

/// What instructions do that functions may have, by form, and known kernels: both stand in many places.
#[derive(Debug, Default)]
pub(crate) struct Touches {
    /// Where the words of the next form begin, and what the form adds besides.
    forms: Vec<(u32, Option<Traits>)>,
    /// The words of all forms, one after the other.
    words: Vec<Touched>,
    /// By known kernel.
    kernels: VecDeque<FunctionSummary>,
}

impl Touches {
    /// Forgets everything, but not the room that it took.
    pub(crate) fn clear(&mut self) {
        self.forms.clear();
        self.words.clear();
        self.kernels.clear();
    }

    /// Forgets the first so many kernels.
    pub(crate) fn forget_kernels(&mut self, count: usize) {
        self.kernels.drain(..count);
    }
}

/// Collects what functions do themselves, while their instructions are found.
pub(crate) struct Collector {
    target: Target,
    summaries: Vec<FunctionSummary>,
    touches: Touches,
}

impl Collector {
    /// Of a program for a processor, whose first forms are those that others had.
    pub(crate) fn new(target: Target, touches: Touches) -> Self {
        Self { target, summaries: Vec::new(), touches }
    }

    /// By function what it does, of so many, and by form what that does.
    pub(crate) fn finish(mut self, functions: usize) -> (Vec<FunctionSummary>, Touches) {
        self.summaries.resize_with(functions, FunctionSummary::default);
        (self.summaries, self.touches)
    }
}

impl Observer for Collector {
    fn form(&mut self, inst: &Inst, effects: &Effects) {
        let Touches { forms, words, .. } = &mut self.touches;
        // Matrix instructions also read late, such as their addends.
        let (is_late, reads_late) = (inst.op.is_of(Families::LATE), inst.op.is_of(Families::MATRIX));
        let changes = effects.changes();
        let mut used = changes;
        used.union_with(&effects.reads);
        for (word, &used) in used.words().iter().enumerate() {
            if used != 0 {
                let (reads, changes) = (effects.reads.words()[word], changes.words()[word]);
                let late = if is_late { changes } else { 0 } | if reads_late { reads } else { 0 };
                words.push(Touched { word: word as u8, used, changes, late });
            }
        }
        let traits = Traits::of(inst, effects, self.target);
        forms.push((words.len() as u32, (traits != Traits::default()).then_some(traits)));
    }

    fn found(&mut self, function: usize, form: usize) {
        if self.summaries.len() <= function {
            self.summaries.resize_with(function + 1, FunctionSummary::default);
        }
        let Touches { forms, words, .. } = &self.touches;
        let first = form.checked_sub(1).map_or(0, |before| forms[before].0);
        let (end, traits) = forms[form];
        let summary = &mut self.summaries[function];
        summary.touch(&words[first as usize..end as usize]);
        if let Some(traits) = traits {
            summary.add(traits);
        }
    }

    fn learnt(&mut self, function: usize) {
        self.touches.kernels.push_back(self.summaries[function].clone());
    }

    fn known(&mut self, function: usize, kernel: usize) {
        self.summaries.resize_with(function, FunctionSummary::default);
        self.summaries.push(self.touches.kernels[kernel].clone());
    }
}

impl FunctionSummary {
    /// Every register that it writes, if only in part.
    pub(crate) fn changes(&self) -> &RegSet {
        &self.changes
    }

    /// SGPRs that its vector instructions read as lane masks, where writing these is a hazard.
    pub(crate) fn lane_masks(&self) -> ScalarSet {
        self.lane_masks
    }

    /// Pairs of SGPRs that its vector instructions read, where what is written into them later must be waited
    /// for.
    pub(crate) fn read_by_vectors(&self) -> ScalarSet {
        self.read_by_vectors
    }

    /// What it does with LDS.
    pub(crate) fn lds(&self) -> LdsUse {
        self.lds
    }

    /// Whether the function reads how many registers its wave has.
    pub(crate) fn reads_allotment(&self) -> bool {
        self.reads_allotment
    }

    fn touch(&mut self, touched: &[Touched]) {
        for touched in touched {
            let word = usize::from(touched.word);
            self.used.add_word(word, touched.used);
            self.changes.add_word(word, touched.changes);
            self.late.add_word(word, touched.late);
        }
    }

    fn add(&mut self, traits: Traits) {
        self.slow.add(traits.slow);
        self.indexed |= traits.indexed;
        self.sgprs_by_number |= traits.sgprs_by_number;
        self.lane_masks = self.lane_masks.union(traits.lane_masks);
        self.read_by_vectors = self.read_by_vectors.union(traits.read_by_vectors);
        self.lds.add(traits.lds);
        self.reads_allotment |= traits.reads_allotment;
    }
}
