//! A hazard of RDNA 4: what is written into an SGPR that vector instructions read is read too soon.
//!
//! Once a vector instruction has read one register of an even pair, each later value of either must be waited
//! for before it is read (RDNA 4 ISA, section 5.7, "S_WAIT_ALU"; LLVM's `AMDGPUWaitSGPRHazards`):
//!
//! * what a scalar instruction writes, by any but memory instructions: `s_wait_alu depctr_sa_sdst(0)`;
//! * what a vector instruction writes, by vector instructions: `depctr_va_sdst(0)`, or `depctr_va_vcc(0)` for
//!   VCC.
//!
//! A scalar instruction that reads such a register waits for vector instructions by itself, if a vector
//! instruction has read it on each way there, and scalar memory for everything. EXEC, M0 and SCC are no such
//! registers. A function that others call takes it that all registers have been read, and so does code behind
//! a call; before calls and returns everything is waited for.
//!
//! What vector instructions have read, and what is pending, is followed through the blocks of a function: as
//! the program has it, and with what is inserted. An inserted instruction waits for all that it needs. One of
//! the program waits for what inserted ones have written, and for what it would not need without them: for
//! the rest it waits already, or is at fault without us, too.
//!
//! Sites take SGPRs that no vector instruction reads, where there are some ([`FunctionSummary`]'s
//! `read_by_vectors`).
//!
//! [`FunctionSummary`]: crate::instrument::find::summary::FunctionSummary

use amdgpu_isa::{
    Access, Arch, Effects, EncodeError, Encoding, Feature, Flow, Inst, Op, Reg, ScalarSet, Value,
};

use super::pending::{Hazard, Owner};
use super::waits;
use crate::analysis::program::Function;
use crate::instrument::emit::assembler::{Assembled, Assembler};

/// Registers of which there is no such hazard.
const SAFE: ScalarSet =
    ScalarSet::EXEC.union(ScalarSet::SCC).union(ScalarSet::register(amdgpu_isa::scalar::M0));

/// Both halves of VCC: LLVM takes them for one register.
const VCC: ScalarSet =
    ScalarSet::register(amdgpu_isa::scalar::VCC).union(ScalarSet::register(amdgpu_isa::scalar::VCC + 1));

/// The hazard of values in scalar registers that vector instructions have read.
pub(super) struct ScalarReads;

impl ScalarReads {
    /// It, if a processor has it.
    pub(super) fn of(arch: Arch) -> Option<Self> {
        arch.has(Feature::ScalarReadHazard).then_some(Self)
    }
}

/// What is waited for: results of scalar instructions, of vector instructions in SGPRs, and of those in VCC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Waits {
    scalar: bool,
    vector: bool,
    vcc: bool,
}

impl Waits {
    /// The counters of `s_wait_alu` (RDNA 4 ISA, S_WAIT_ALU): SA_SDST is bit 0, VA_SDST bits 11:9, VA_VCC bit
    /// 1.
    const COUNTERS: [i32; 3] = [0x0001, 0x0e00, 0x0002];

    /// What an `s_wait_alu` with these counters waits for.
    fn of(counters: i32) -> Self {
        let [scalar, vector, vcc] = Self::COUNTERS.map(|counter| counters & counter == 0);
        Self { scalar, vector, vcc }
    }

    fn assemble(self, assembler: &Assembler) -> Result<Assembled, EncodeError> {
        /// Every counter at its most: nothing is waited for. Bits 6:5 belong to none.
        const AT_REST: i32 = 0xff9f;
        let waits = [self.scalar, self.vector, self.vcc].into_iter().zip(Self::COUNTERS);
        let counters = waits.filter(|&(is_waited_for, _)| is_waited_for);
        waits::wait(assembler, counters.fold(AT_REST, |all, (_, counter)| all & !counter))
    }
}

/// What the rule asks about an instruction.
pub(super) struct Step {
    kind: Kind,
    /// Registers that it may read, and that it may change.
    reads: ScalarSet,
    writes: ScalarSet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Scalar,
    Vector,
    /// A call, a return, or another jump through registers.
    Jump {
        calls: bool,
    },
    /// Waits for everything: scalar memory, buffers and images.
    Settles,
    Waits(Waits),
    /// Of no concern.
    Other,
}

impl Kind {
    fn of(inst: &Inst) -> Self {
        match (inst.op, inst.encoding) {
            (Op::s_waitcnt_depctr, _) => match inst.operands.first().map(|operand| operand.value) {
                Some(Value::Imm(counters)) => Self::Waits(Waits::of(counters)),
                _ => Self::Other,
            },
            (_, Encoding::Smem | Encoding::Mubuf | Encoding::Mtbuf) => Self::Settles,
            (_, encoding) if encoding.is_image() => Self::Settles,
            (_, encoding) if encoding.is_vector_alu() => Self::Vector,
            (_, encoding) if encoding.is_scalar() => match inst.flow() {
                Flow::Call { .. } => Self::Jump { calls: true },
                Flow::Jump => Self::Jump { calls: false },
                _ => Self::Scalar,
            },
            _ => Self::Other,
        }
    }
}

impl Step {
    fn new(inst: &Inst, effects: &Effects) -> Self {
        let mut reads = ScalarSet::EMPTY;
        for operand in inst.operands.iter().filter(|operand| operand.access != Access::Write) {
            reads = reads.union(ScalarSet::named_by(std::slice::from_ref(operand)));
        }
        // What status registers show of VCC is no read of it.
        if effects.reads.contains(Reg::VCC_LO) && inst.op != Op::s_getreg_b32 {
            reads = reads.union(VCC);
        }
        let relevant = |set: ScalarSet| {
            let set = set.without(SAFE);
            if set.intersects(VCC) { set.union(VCC) } else { set }
        };
        let writes = relevant(ScalarSet::of(&effects.changes()));
        Self { kind: Kind::of(inst), reads: relevant(reads), writes }
    }
}

/// What is known at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct State {
    /// Whole pairs of registers that vector instructions may have read, and those that they have read on each
    /// way there.
    read: ScalarSet,
    surely_read: ScalarSet,
    /// Those of them that a scalar instruction has written, and that a vector instruction has, since all were
    /// waited for.
    by_scalar: ScalarSet,
    by_vector: ScalarSet,
}

impl State {
    /// Where everything may have been read. LLVM takes it that it has been.
    const CALLED: Self = Self {
        read: ScalarSet::ALL.without(SAFE),
        surely_read: ScalarSet::ALL.without(SAFE),
        by_scalar: ScalarSet::EMPTY,
        by_vector: ScalarSet::EMPTY,
    };

    fn wait(&mut self, waits: Waits) {
        if waits.scalar {
            self.by_scalar = ScalarSet::EMPTY;
        }
        if waits.vector {
            self.by_vector = self.by_vector.intersection(VCC);
        }
        if waits.vcc {
            self.by_vector = self.by_vector.without(VCC);
        }
    }

    /// Comes to an instruction. The values that must be waited for before it.
    fn come_to(&mut self, step: &Step) -> Awaited {
        let seen = match step.kind {
            Kind::Other => return Awaited::default(),
            Kind::Waits(waits) => {
                self.wait(waits);
                return Awaited::default();
            }
            Kind::Settles => {
                (self.by_scalar, self.by_vector) = (ScalarSet::EMPTY, ScalarSet::EMPTY);
                return Awaited::default();
            }
            Kind::Jump { .. } => self.read,
            Kind::Scalar | Kind::Vector => step.reads.intersection(self.read),
        };
        if step.kind == Kind::Scalar {
            // It waits for vector instructions by itself.
            let seen = seen.intersection(self.surely_read);
            self.wait(Waits {
                scalar: false,
                vector: !seen.without(VCC).is_empty(),
                vcc: seen.intersects(VCC),
            });
        }
        Awaited { by_scalar: seen.intersection(self.by_scalar), by_vector: seen.intersection(self.by_vector) }
    }

    /// Goes by an instruction.
    fn go_by(&mut self, step: &Step) {
        match step.kind {
            Kind::Jump { calls: true } => {
                (self.read, self.surely_read) = (Self::CALLED.read, Self::CALLED.surely_read);
            }
            Kind::Vector => {
                self.read = self.read.union(step.reads.with_pairs());
                self.surely_read = self.surely_read.union(step.reads.with_pairs());
            }
            _ => {}
        }
        let written = step.writes.intersection(self.read);
        match step.kind {
            Kind::Vector => self.by_vector = self.by_vector.union(written),
            Kind::Scalar | Kind::Jump { .. } => self.by_scalar = self.by_scalar.union(written),
            Kind::Settles | Kind::Waits(_) | Kind::Other => {}
        }
    }

    fn join(&mut self, other: &Self) {
        self.read = self.read.union(other.read);
        self.surely_read = self.surely_read.intersection(other.surely_read);
        self.by_scalar = self.by_scalar.union(other.by_scalar);
        self.by_vector = self.by_vector.union(other.by_vector);
    }
}

/// The registers whose values an instruction must wait for, by what writes them.
#[derive(Clone, Copy, Debug, Default)]
struct Awaited {
    by_scalar: ScalarSet,
    by_vector: ScalarSet,
}

impl Awaited {
    const fn without(self, other: Self) -> Self {
        Self {
            by_scalar: self.by_scalar.without(other.by_scalar),
            by_vector: self.by_vector.without(other.by_vector),
        }
    }

    const fn union(self, other: Self) -> Self {
        Self {
            by_scalar: self.by_scalar.union(other.by_scalar),
            by_vector: self.by_vector.union(other.by_vector),
        }
    }

    /// What waits for them.
    fn waits(self) -> Waits {
        Waits {
            scalar: !self.by_scalar.is_empty(),
            vector: !self.by_vector.without(VCC).is_empty(),
            vcc: self.by_vector.intersects(VCC),
        }
    }
}

/// What is known at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pending {
    /// In the program as it was.
    original: State,
    /// With what is inserted, and of that only what inserted instructions have written.
    all: State,
    inserted: State,
}

impl Pending {
    const CALLED: Self = Self { original: State::CALLED, all: State::CALLED, inserted: State::CALLED };

    /// Goes by an instruction of the program. What must be waited for before it, for what is inserted.
    fn pass(&mut self, step: &Step) -> Waits {
        let (all, own) = (self.all.come_to(step), self.original.come_to(step));
        let waits = all.without(own).union(self.inserted.come_to(step)).waits();
        self.wait(waits);
        self.all.go_by(step);
        self.original.go_by(step);
        self.inserted.go_by(&Step { writes: ScalarSet::EMPTY, ..*step });
        waits
    }

    /// Goes by an inserted instruction. What must be waited for before it.
    fn pass_inserted(&mut self, step: &Step) -> Waits {
        let waits = self.all.come_to(step).waits();
        self.inserted.come_to(step);
        self.wait(waits);
        self.all.go_by(step);
        self.inserted.go_by(step);
        waits
    }

    /// Goes by an inserted wait.
    fn wait(&mut self, waits: Waits) {
        self.all.wait(waits);
        self.inserted.wait(waits);
    }

    fn join(&mut self, other: &Self) {
        self.original.join(&other.original);
        self.all.join(&other.all);
        self.inserted.join(&other.inserted);
    }
}

impl Hazard for ScalarReads {
    type Step = Step;
    type Pending = Pending;
    type Waits = Waits;

    fn step(&self, inst: &Inst, effects: &Effects) -> Step {
        Step::new(inst, effects)
    }

    fn entered(&self, function: &Function, is_entry: bool) -> Option<Pending> {
        is_entry.then_some(if function.kernel.is_some() { Pending::default() } else { Pending::CALLED })
    }

    fn pass(&self, pending: &mut Pending, step: &Step, owner: Owner) -> Waits {
        match owner {
            Owner::Program => pending.pass(step),
            Owner::Inserted => pending.pass_inserted(step),
        }
    }

    fn join(&self, pending: &mut Pending, other: &Pending) {
        pending.join(other);
    }

    fn assemble(&self, waits: Waits, assembler: &Assembler) -> Result<Vec<Assembled>, EncodeError> {
        let is_needed = waits != Waits::default();
        is_needed.then(|| waits.assemble(assembler)).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use amdgpu_isa::{Arch, Target, WaveSize, parse};

    use super::*;

    const NONE: Waits = Waits { scalar: false, vector: false, vcc: false };
    const SCALAR: Waits = Waits { scalar: true, ..NONE };
    const VECTOR: Waits = Waits { vector: true, ..NONE };
    const IN_VCC: Waits = Waits { vcc: true, ..NONE };

    /// What each instruction of a straight line needs, from a state on.
    fn check(mut pending: Pending, wave: WaveSize, lines: &[(&str, Waits)]) {
        check_from(&mut pending, wave, lines);
    }

    fn check_from(pending: &mut Pending, wave: WaveSize, lines: &[(&str, Waits)]) {
        let target = Target { arch: Arch::Gfx1201, wave };
        for &(text, waits) in lines {
            let inst = parse(target, text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let needed = pending.pass_inserted(&Step::new(&inst, &inst.effects(target)));
            assert_eq!(needed, waits, "{text} in {lines:?}");
        }
    }

    #[test]
    fn values_of_registers_that_vector_instructions_have_read_are_waited_for() {
        check(
            Pending::default(),
            WaveSize::Wave32,
            &[
                ("s_mov_b32 s4, 1", NONE),
                ("s_mov_b32 s6, s4", NONE),
                ("v_mov_b32_e32 v0, s4", NONE),
                // The other one of the pair counts as well.
                ("s_mov_b32 s5, 1", NONE),
                ("s_add_co_u32 s6, s5, 2", SCALAR),
                ("s_add_co_u32 s7, s5, 2", NONE),
                ("v_readfirstlane_b32 s4, v1", NONE),
                ("v_mov_b32_e32 v0, s4", VECTOR),
                ("v_mov_b32_e32 v0, s4", NONE),
                // Scalar instructions wait for vector instructions by themselves.
                ("v_readfirstlane_b32 s4, v1", NONE),
                ("s_mov_b32 s6, s4", NONE),
                ("v_mov_b32_e32 v0, s4", NONE),
                // Scalar memory waits for everything, memory of other kinds for nothing.
                ("s_mov_b32 s4, 1", NONE),
                ("s_load_b32 s8, s[10:11], 0x0", NONE),
                ("s_mov_b32 s6, s4", NONE),
                ("s_mov_b32 s4, 1", NONE),
                ("global_load_b32 v2, v3, s[4:5]", NONE),
                ("ds_load_b32 v2, v3", NONE),
                ("s_wait_alu depctr_va_sdst(0)", NONE),
                ("s_mov_b32 s6, s4", SCALAR),
            ],
        );
    }

    #[test]
    fn a_scalar_read_waits_for_vector_instructions_if_they_have_read_the_register_on_each_way() {
        let lines = |last| {
            [
                ("v_readlane_b32 s2, v1, 3", NONE),
                ("s_and_b32 vcc_lo, exec_lo, s12", NONE),
                ("v_writelane_b32 v1, s2, 3", last),
            ]
        };
        let mut read = Pending::default();
        check_from(&mut read, WaveSize::Wave32, &[("v_add_nc_u32_e64 v0, s12, s2", NONE)]);
        check(read, WaveSize::Wave32, &lines(NONE));
        let mut other = Pending::default();
        check_from(&mut other, WaveSize::Wave32, &[("v_mov_b32_e32 v0, s2", NONE)]);
        read.join(&other);
        check(read, WaveSize::Wave32, &lines(VECTOR));
    }

    #[test]
    fn vcc_is_one_register_and_exec_and_m0_are_none() {
        let lines = |vcc: &'static str| {
            [
                (format!("v_cndmask_b32_e32 v0, v1, v2, {vcc}"), NONE),
                (format!("v_cmp_lt_u32_e32 {vcc}, v0, v1"), NONE),
                (format!("v_cndmask_b32_e32 v0, v1, v2, {vcc}"), IN_VCC),
                (format!("v_cmp_lt_u32_e32 {vcc}, v0, v1"), NONE),
                ("s_cbranch_vccz 4".to_owned(), NONE),
                (format!("v_cndmask_b32_e32 v0, v1, v2, {vcc}"), NONE),
                ("s_mov_b32 vcc_lo, 1".to_owned(), NONE),
                ("s_wait_alu depctr_va_vcc(0) depctr_va_sdst(0)".to_owned(), NONE),
                ("s_cbranch_vccz 4".to_owned(), SCALAR),
                ("v_mov_b32_e32 v0, m0".to_owned(), NONE),
                ("v_mov_b32_e32 v0, exec_lo".to_owned(), NONE),
                ("s_mov_b32 m0, 1".to_owned(), NONE),
                ("s_mov_b32 exec_lo, 1".to_owned(), NONE),
                ("s_add_co_u32 s0, m0, exec_lo".to_owned(), NONE),
            ]
        };
        for (wave, vcc) in [(WaveSize::Wave32, "vcc_lo"), (WaveSize::Wave64, "vcc")] {
            let lines = lines(vcc);
            let lines: Vec<(&str, Waits)> = lines.iter().map(|(text, waits)| (&text[..], *waits)).collect();
            check(Pending::default(), wave, &lines);
        }
    }

    #[test]
    fn calls_and_returns_wait_for_everything_and_calls_may_have_read_all() {
        let lines = [
            ("s_mov_b32 s40, 1", NONE),
            ("v_readfirstlane_b32 s42, v1", NONE),
            ("v_cmp_lt_u32_e32 vcc_lo, v0, v1", NONE),
            ("s_setpc_b64 s[30:31]", Waits { scalar: true, vector: true, vcc: true }),
        ];
        check(Pending::CALLED, WaveSize::Wave32, &lines);
        let lines = [
            ("s_mov_b32 s40, 1", NONE),
            ("s_swappc_b64 s[30:31], s[4:5]", NONE),
            ("s_mov_b32 s42, s40", NONE),
            ("s_mov_b32 s42, s30", SCALAR),
            ("s_mov_b32 s43, s42", SCALAR),
        ];
        check(Pending::default(), WaveSize::Wave32, &lines);
    }

    #[test]
    fn waits_are_written_as_llvm_writes_them() {
        let assembler = Assembler::new(Arch::Gfx1201);
        for (waits, text) in [
            (SCALAR, "s_wait_alu depctr_sa_sdst(0)"),
            (VECTOR, "s_wait_alu depctr_va_sdst(0)"),
            (IN_VCC, "s_wait_alu depctr_va_vcc(0)"),
        ] {
            let inst = waits.assemble(&assembler).expect("a wait");
            assert_eq!(inst.text(Arch::Gfx1201), text);
            assert_eq!(Kind::of(&inst), Kind::Waits(waits));
        }
    }
}
