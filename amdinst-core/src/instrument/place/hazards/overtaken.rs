//! Hazards of RDNA 1, which no wait states resolve: an instruction overtakes an earlier one of another kind.
//!
//! Four concern what is inserted (LLVM's `GCNHazardRecognizer`). Each processor has those of its
//! [`Feature`]s:
//!
//! * [`MemoryReadHazard`](Feature::MemoryReadHazard): a scalar instruction writes what a memory instruction
//!   still reads, EXEC mostly.
//! * [`ScalarLoadHazard`](Feature::ScalarLoadHazard): a vector instruction writes an SGPR that a scalar load
//!   still reads.
//! * [`CompareExecHazard`](Feature::CompareExecHazard): `v_cmpx` writes EXEC, which an instruction that is no
//!   vector ALU still reads.
//! * [`LdsBranchHazard`](Feature::LdsBranchHazard): memory and LDS are accessed one after the other with a
//!   branch between.
//!
//! The other errata of GFX10 that LLVM knows concern no inserted instruction. None permutes lanes behind
//! `v_cmpx`, none is an image or a buffer instruction, none is FLAT with an offset (GLOBAL is), and none
//! accesses several dwords of LDS that lie at an odd one. RDNA 1's branches over 63 dwords are a matter of
//! [`relocate`](crate::instrument::place::relocate).
//!
//! What is pending is followed through the blocks of a function. An inserted instruction waits for all that
//! is, one of the program for what is inserted: for the rest it waits already. As in LLVM, what lies on the
//! other side of a call or a return is not looked at.

use std::collections::VecDeque;

use amdgpu_isa::{
    Arch, Effects, EncodeError, Encoding, Feature, Flow, Generation, Inst, Op, RegSet, ScalarSet, Special,
    Value, Waits,
};

use crate::analysis::program::{Function, Program};
use crate::instrument::emit::assembler::{Assembled, Assembler, Modifiers};
use crate::instrument::place::hazards::waits;
use crate::instrument::place::patches::Patches;

/// The counter of `s_waitcnt_depctr` of memory instructions that have not read their registers: bits 4:2
/// (LLVM's `DepCtr`; the manuals leave it out).
const VM_VSRC: i32 = 0b1_1100;

/// The one of scalar instructions that are not done.
const SA_SDST: i32 = 1;

/// The immediate of `s_waitcnt_depctr` that waits until a counter is zero: the others are at rest, all their
/// bits set.
const fn until_zero(counter: i32) -> i32 {
    0xffff & !counter
}

/// Adds the waits that the patches of one function need.
pub(super) fn settle(
    program: &Program,
    assembler: &Assembler,
    function: &Function,
    patches: &mut Patches,
) -> Result<(), EncodeError> {
    let rules = Rules::of(program.arch);
    if rules.is_empty() {
        return Ok(());
    }
    let code = Code { program, function, rules };
    let starts = code.starts(patches);
    for (block, mut pending) in function.blocks.iter().zip(starts) {
        for index in block.insts.clone() {
            let mut patch = patches.get(index).cloned().unwrap_or_default();
            let was = patch.size();
            let mut entered = Pending::default();
            code.wait_in(&mut patch.entry, &mut entered, assembler)?;
            pending.join(&entered);
            code.wait_in(&mut patch.before, &mut pending, assembler)?;
            let step = Step::new(program.inst(index), program.effects(index), program.arch.generation());
            for wait in rules.needed(&step, &pending.of_inserted).each() {
                patch.before.push(wait.assemble(assembler)?);
                pending.wait(wait);
            }
            pending.pass(&step, false);
            code.wait_in(&mut patch.after, &mut pending, assembler)?;
            if patch.size() != was {
                *patches.entry(index) = patch;
            }
        }
    }
    Ok(())
}

/// The rules of a processor.
#[derive(Clone, Copy)]
struct Rules(Set);

/// Rules, or the waits by which they are kept.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Set(u8);

#[derive(Clone, Copy)]
#[repr(u8)]
enum Wait {
    MemoryReads,
    ScalarLoad,
    ExecReads,
    Stores,
}

impl Wait {
    const ALL: [(Self, Feature); 4] = [
        (Self::MemoryReads, Feature::MemoryReadHazard),
        (Self::ScalarLoad, Feature::ScalarLoadHazard),
        (Self::ExecReads, Feature::CompareExecHazard),
        (Self::Stores, Feature::LdsBranchHazard),
    ];

    fn assemble(self, assembler: &Assembler) -> Result<Assembled, EncodeError> {
        const NULL: Value = Value::Special(Special::Null);
        let (op, encoding, values) = match self {
            Self::MemoryReads => return waits::wait(assembler, until_zero(VM_VSRC)),
            // Any scalar instruction that has a result: it stands behind the load's reads.
            Self::ScalarLoad => (Op::s_mov_b32, Encoding::Sop1, [NULL, Value::int(0)]),
            Self::ExecReads => return waits::wait(assembler, until_zero(SA_SDST)),
            Self::Stores => (Op::s_waitcnt_vscnt, Encoding::Sopk, [NULL, Value::Imm(0)]),
        };
        assembler.assemble(op, encoding, &values, Modifiers::None)
    }
}

impl Set {
    fn add(&mut self, wait: Wait) {
        self.0 |= 1 << wait as u8;
    }

    fn has(self, wait: Wait) -> bool {
        self.0 >> wait as u8 & 1 != 0
    }

    fn each(self) -> impl Iterator<Item = Wait> {
        Wait::ALL.into_iter().map(|(wait, _)| wait).filter(move |&wait| self.has(wait))
    }
}

impl Rules {
    fn of(arch: Arch) -> Self {
        let mut all = Set::default();
        for (wait, _) in Wait::ALL.into_iter().filter(|&(_, feature)| arch.has(feature)) {
            all.add(wait);
        }
        Self(all)
    }

    fn is_empty(self) -> bool {
        self.0 == Set::default()
    }

    /// What must be waited for before an instruction.
    fn needed(self, step: &Step, under_way: &UnderWay) -> Set {
        let mut needed = Set::default();
        for wait in self.0.each() {
            let is_needed = match wait {
                Wait::MemoryReads => {
                    matches!(step.kind, Kind::Scalar | Kind::ScalarLoad)
                        && step.changes.intersects(under_way.memory_reads)
                }
                Wait::ScalarLoad => {
                    step.kind == Kind::Vector && step.changes.intersects(under_way.load_reads)
                }
                Wait::ExecReads => {
                    let writes_exec = step.changes.intersects(ScalarSet::EXEC);
                    step.kind == Kind::Vector && writes_exec && under_way.reads_exec
                }
                Wait::Stores => match step.kind {
                    Kind::Memory { .. } => under_way.accesses & Access::BehindBranch.of(Access::LDS) != 0,
                    Kind::Lds => under_way.accesses & Access::BehindBranch.of(Access::MEMORY) != 0,
                    _ => false,
                },
            };
            if is_needed {
                needed.add(wait);
            }
        }
        needed
    }
}

/// What the rules ask about an instruction.
struct Step {
    kind: Kind,
    /// Scalar registers that may be read, and that may change; SCC is none.
    reads: ScalarSet,
    changes: ScalarSet,
    /// What has been waited for, or has come by itself, once it is issued.
    ends: Set,
    branches: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Scalar,
    ScalarLoad,
    Vector,
    /// `FLAT` instructions may access LDS as well.
    Memory {
        may_be_lds: bool,
    },
    Lds,
    /// Exports.
    Other,
}

impl Kind {
    fn of(encoding: Encoding) -> Self {
        use Encoding as E;
        match encoding {
            E::Smem => Self::ScalarLoad,
            E::Ds => Self::Lds,
            E::Flat => Self::Memory { may_be_lds: true },
            E::Global | E::Scratch | E::Mubuf | E::Mtbuf => Self::Memory { may_be_lds: false },
            _ if encoding.is_image() => Self::Memory { may_be_lds: false },
            _ if encoding.is_vector_alu() => Self::Vector,
            _ if encoding.is_scalar() => Self::Scalar,
            _ => Self::Other,
        }
    }
}

impl Step {
    fn new(inst: &Inst, effects: &Effects, generation: Generation) -> Self {
        let scalars = |set: &RegSet| ScalarSet::of(set).without(ScalarSet::SCC);
        let kind = Kind::of(inst.encoding);
        let changes = scalars(&effects.changes());
        let branches = matches!(inst.flow(), Flow::Branch { .. } | Flow::CondBranch { .. } | Flow::Jump);
        let mut step = Self { kind, reads: scalars(&effects.reads), changes, ends: Set::default(), branches };
        step.ends = step.ends(inst, generation);
        step
    }

    fn ends(&self, inst: &Inst, generation: Generation) -> Set {
        let mut ends = Set::default();
        let immediate = || match inst.operands.last().map(|operand| operand.value) {
            Some(Value::Imm(immediate)) => Some(immediate),
            _ => None,
        };
        match (self.kind, inst.op) {
            (Kind::Vector, op) => {
                ends.add(Wait::MemoryReads);
                // LLVM does not count on those that write an SGPR as their only result.
                let is_read = matches!(op, Op::v_readlane_b32 | Op::v_readfirstlane_b32);
                if !self.changes.is_empty() && !is_read {
                    ends.add(Wait::ExecReads);
                }
            }
            (Kind::Scalar, Op::s_waitcnt) => {
                let waits = Waits::of(inst, generation).unwrap_or_default();
                if waits == Waits::ALL {
                    ends.add(Wait::MemoryReads);
                }
                if waits.scalar == Some(0) {
                    ends.add(Wait::ScalarLoad);
                }
            }
            (Kind::Scalar, Op::s_waitcnt_depctr) => {
                if immediate().is_some_and(|counters| counters & VM_VSRC == 0) {
                    ends.add(Wait::MemoryReads);
                }
                if immediate().is_some_and(|counters| counters & SA_SDST == 0) {
                    ends.add(Wait::ExecReads);
                }
            }
            (Kind::Scalar, Op::s_waitcnt_vscnt) => {
                let is_null = inst.operands.first().map(|operand| operand.value);
                if is_null == Some(Value::Special(Special::Null)) && immediate() == Some(0) {
                    ends.add(Wait::Stores);
                }
            }
            (
                Kind::Scalar,
                Op::s_waitcnt_vmcnt | Op::s_waitcnt_expcnt | Op::s_waitcnt_lgkmcnt | Op::s_version,
            ) => {}
            (Kind::Scalar, _) if inst.encoding != Encoding::Sopp => ends.add(Wait::ScalarLoad),
            _ => {}
        }
        ends
    }
}

/// What later instructions might overtake.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct UnderWay {
    /// Scalar registers that memory instructions may still read.
    memory_reads: ScalarSet,
    /// Those that scalar loads may still read.
    load_reads: ScalarSet,
    /// An instruction that is no vector ALU may still read EXEC.
    reads_exec: bool,
    /// What may have been the last access, and whether a branch came behind it.
    accesses: u8,
}

/// Where the last access stands.
#[derive(Clone, Copy)]
enum Access {
    HereOn,
    BehindBranch,
}

impl Access {
    const LDS: u8 = 0b01;
    const MEMORY: u8 = 0b10;

    const fn of(self, accesses: u8) -> u8 {
        match self {
            Self::HereOn => accesses,
            Self::BehindBranch => accesses << 2,
        }
    }
}

impl UnderWay {
    fn wait(&mut self, wait: Wait) {
        match wait {
            Wait::MemoryReads => self.memory_reads = ScalarSet::EMPTY,
            Wait::ScalarLoad => self.load_reads = ScalarSet::EMPTY,
            Wait::ExecReads => self.reads_exec = false,
            Wait::Stores => self.accesses = 0,
        }
    }

    /// Goes by an instruction, which counts itself or only ends what is under way.
    fn pass(&mut self, step: &Step, counts: bool) {
        for wait in step.ends.each() {
            self.wait(wait);
        }
        if step.branches {
            self.accesses |= Access::BehindBranch.of(self.accesses & (Access::LDS | Access::MEMORY));
        }
        let (access, replaces) = match step.kind {
            Kind::Lds => (Access::LDS, true),
            Kind::Memory { may_be_lds: false } => (Access::MEMORY, true),
            Kind::Memory { may_be_lds: true } => (Access::MEMORY, false),
            _ => (0, false),
        };
        if replaces {
            self.accesses = 0;
        }
        if !counts {
            return;
        }
        self.accesses |= Access::HereOn.of(access);
        match step.kind {
            Kind::Memory { .. } | Kind::Lds => self.memory_reads = self.memory_reads.union(step.reads),
            Kind::ScalarLoad => self.load_reads = self.load_reads.union(step.reads),
            Kind::Scalar | Kind::Vector | Kind::Other => {}
        }
        self.reads_exec |= step.kind != Kind::Vector && step.reads.intersects(ScalarSet::EXEC);
    }

    fn join(&mut self, other: &Self) {
        self.memory_reads = self.memory_reads.union(other.memory_reads);
        self.load_reads = self.load_reads.union(other.load_reads);
        self.reads_exec |= other.reads_exec;
        self.accesses |= other.accesses;
    }
}

/// What is under way at a place: in all, and of what is inserted.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Pending {
    of_all: UnderWay,
    of_inserted: UnderWay,
}

impl Pending {
    fn pass(&mut self, step: &Step, is_inserted: bool) {
        self.of_all.pass(step, true);
        self.of_inserted.pass(step, is_inserted);
    }

    fn wait(&mut self, wait: Wait) {
        self.of_all.wait(wait);
        self.of_inserted.wait(wait);
    }

    fn join(&mut self, other: &Self) {
        self.of_all.join(&other.of_all);
        self.of_inserted.join(&other.of_inserted);
    }
}

/// A function, with the rules that hold for it.
struct Code<'a> {
    program: &'a Program,
    function: &'a Function,
    rules: Rules,
}

impl Code<'_> {
    fn inserted(&self, inst: &Assembled) -> Step {
        Step::new(inst, &inst.effects(self.program.target()), self.program.arch.generation())
    }

    /// What may be under way where each block begins, without the waits that are added.
    fn starts(&self, patches: &Patches) -> Vec<Pending> {
        let blocks = &self.function.blocks;
        let mut starts = vec![Pending::default(); blocks.len()];
        let mut open: VecDeque<usize> = (0..blocks.len()).collect();
        while let Some(number) = open.pop_front() {
            let mut pending = starts[number];
            for index in blocks[number].insts.clone() {
                let patch = patches.get(index);
                let pass = |pending: &mut Pending, part: &[Assembled]| {
                    part.iter().for_each(|inst| pending.pass(&self.inserted(inst), true));
                };
                if let Some(patch) = patch {
                    let mut entered = Pending::default();
                    pass(&mut entered, &patch.entry);
                    pending.join(&entered);
                    pass(&mut pending, &patch.before);
                }
                let (inst, effects) = (self.program.inst(index), self.program.effects(index));
                pending.pass(&Step::new(inst, effects, self.program.arch.generation()), false);
                if let Some(patch) = patch {
                    pass(&mut pending, &patch.after);
                }
            }
            for &next in &blocks[number].successors {
                let mut joined = starts[next];
                joined.join(&pending);
                if joined != starts[next] {
                    starts[next] = joined;
                    if !open.contains(&next) {
                        open.push_back(next);
                    }
                }
            }
        }
        starts
    }

    /// Adds the waits that a part of what is inserted needs.
    fn wait_in(
        &self,
        part: &mut Vec<Assembled>,
        pending: &mut Pending,
        assembler: &Assembler,
    ) -> Result<(), EncodeError> {
        let mut at = 0;
        while let Some(inst) = part.get(at) {
            let step = self.inserted(inst);
            for wait in self.rules.needed(&step, &pending.of_all).each() {
                part.insert(at, wait.assemble(assembler)?);
                pending.wait(wait);
                at += 1;
            }
            pending.pass(&step, true);
            at += 1;
        }
        Ok(())
    }
}
