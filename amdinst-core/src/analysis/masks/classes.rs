//! Equivalence classes of instructions for the data flow of masks.
//!
//! Two instructions are in one class if the data flow cannot tell them apart. Of most instructions it sees no
//! more than which registers have a new value.

use amdgpu_isa::{Access, Families, Op, Operand, ScalarSet};
use rustc_hash::FxHashMap;

use super::made::Made;
use super::operations::has_rule;
use crate::analysis::program::{Program, Scalars};

/// Classes of the instructions of a processor, each with a number.
#[derive(Debug, Default)]
pub(super) struct Classes {
    numbers: FxHashMap<Class, u32>,
    /// By distinct instruction: the number of its class, plus one, once it was asked for.
    of_forms: Vec<u32>,
}

/// All that the data flow sees of an instruction.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Class {
    kind: Kind,
    /// The scalar registers that it wholly writes.
    writes: ScalarSet,
    /// The operands that matter to the data flow.
    operands: Box<[Operand]>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// There is a rule for it, or may be one.
    Ruled { op: Op, reads: ScalarSet, offset: i32, is_plain: bool },
    /// It writes a new value. A comparison's mask has only active lanes.
    New { compares: bool, made: Made },
}

impl Classes {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Forgets everything, but not the room that it took.
    pub(super) fn clear(&mut self) {
        self.numbers.clear();
        self.forget_forms();
    }

    /// From now on, forms have other numbers.
    pub(super) fn forget_forms(&mut self) {
        self.of_forms.clear();
    }

    /// The number of the class of an instruction.
    pub(super) fn number(&mut self, program: &Program, index: usize) -> u32 {
        let form = program.insts[index].form();
        if let Some(known) = self.of_forms.get(form).and_then(|number| number.checked_sub(1)) {
            return known;
        }
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(Class::of(program, index)).or_insert(next);
        self.of_forms.resize(program.forms(), 0);
        self.of_forms[form] = number + 1;
        number
    }
}

impl Class {
    fn of(program: &Program, index: usize) -> Self {
        let (located, inst) = (&program.insts[index], program.inst(index));
        let &Scalars { reads, writes } = program.scalars(located);
        if located.touches_exec || has_rule(inst.op, program.wave_size()) {
            let is_plain = inst.mods.sdwa.is_none() && inst.mods.dpp.is_none();
            let kind = Kind::Ruled { op: inst.op, reads, offset: inst.mods.offset, is_plain };
            return Self { kind, writes, operands: inst.operands.as_slice().into() };
        }
        let kind = Kind::New {
            compares: inst.op.is_of(Families::COMPARE),
            made: Made::by(inst, program.wave_size()),
        };
        let written = inst.operands.iter().filter(|operand| operand.access != Access::Read);
        Self { kind, writes, operands: written.copied().collect() }
    }
}
