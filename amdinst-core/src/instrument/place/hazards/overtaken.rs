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

use amdgpu_isa::{
    Arch, Effects, EncodeError, Encoding, Feature, Flow, Generation, Inst, Op, RegSet, ScalarSet, Special,
    Value, Waits,
};

use super::pending::{Hazard, Owner};
use super::waits;
use crate::analysis::program::Function;
use crate::instrument::emit::assembler::{Assembled, Assembler, Modifiers};

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

/// The rules of a processor.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    generation: Generation,
    waits: Set,
}

/// Rules, or the waits by which they are kept.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Set(u8);

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
    /// Those of a processor, if it has any.
    pub(super) fn of(arch: Arch) -> Option<Self> {
        let mut waits = Set::default();
        for (wait, _) in Wait::ALL.into_iter().filter(|&(_, feature)| arch.has(feature)) {
            waits.add(wait);
        }
        (waits != Set::default()).then(|| Self { generation: arch.generation(), waits })
    }

    /// What must be waited for before an instruction.
    fn needed(&self, step: &Step, under_way: &UnderWay) -> Set {
        let mut needed = Set::default();
        for wait in self.waits.each() {
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
pub(super) struct Step {
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
pub(super) struct Pending {
    of_all: UnderWay,
    of_inserted: UnderWay,
}

impl Pending {
    fn wait(&mut self, wait: Wait) {
        self.of_all.wait(wait);
        self.of_inserted.wait(wait);
    }
}

impl Hazard for Rules {
    type Step = Step;
    type Pending = Pending;
    type Waits = Set;

    fn step(&self, inst: &Inst, effects: &Effects) -> Step {
        Step::new(inst, effects, self.generation)
    }

    fn entered(&self, _: &Function, _: bool) -> Option<Pending> {
        Some(Pending::default())
    }

    fn pass(&self, pending: &mut Pending, step: &Step, owner: Owner) -> Set {
        let under_way = match owner {
            Owner::Program => &pending.of_inserted,
            Owner::Inserted => &pending.of_all,
        };
        let needed = self.needed(step, under_way);
        needed.each().for_each(|wait| pending.wait(wait));
        self.flow(pending, step, owner);
        needed
    }

    fn flow(&self, pending: &mut Pending, step: &Step, owner: Owner) {
        pending.of_all.pass(step, true);
        pending.of_inserted.pass(step, owner == Owner::Inserted);
    }

    fn join(&self, pending: &mut Pending, other: &Pending) {
        pending.of_all.join(&other.of_all);
        pending.of_inserted.join(&other.of_inserted);
    }

    fn assemble(&self, waits: Set, assembler: &Assembler) -> Result<Vec<Assembled>, EncodeError> {
        waits.each().map(|wait| wait.assemble(assembler)).collect()
    }
}
