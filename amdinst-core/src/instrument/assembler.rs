//! The instructions that are inserted, each distinct one once.
//!
//! Sites, prologues and epilogues repeat themselves but for registers and offsets, and there are few of those. So each
//! distinct instruction is assembled, encoded and looked through for hazards once a plan.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::ops::Deref;
use std::rc::Rc;

use arrayvec::ArrayVec;

use super::hazards::Facts;
use crate::Arch;
use crate::analysis::Mixer;
use crate::isa::{EncodeError, Encoding, Inst, Mods, Op, Value, Words, assemble_legal};

/// An instruction to be inserted.
#[derive(Clone, Debug)]
pub(super) struct Assembled(Rc<Contents>);

#[derive(Debug)]
struct Contents {
    inst: Inst,
    words: Result<Words, EncodeError>,
    facts: OnceCell<Facts>,
}

impl Assembled {
    /// Its dwords.
    pub(super) fn words(&self) -> Result<&Words, EncodeError> {
        self.0.words.as_ref().map_err(EncodeError::clone)
    }

    /// What the rules of hazards ask about it, on the processor that it was assembled for.
    pub(super) fn facts(&self, arch: Arch) -> &Facts {
        self.0.facts.get_or_init(|| Facts::new(&self.0.inst, &self.0.inst.effects(arch)))
    }
}

impl Deref for Assembled {
    type Target = Inst;

    fn deref(&self) -> &Inst {
        &self.0.inst
    }
}

/// Assembles instructions that are legal by construction. Copies share what they know.
#[derive(Clone, Debug)]
pub(super) struct Assembler {
    arch: Arch,
    known: Rc<RefCell<HashMap<Source, Assembled, BuildHasherDefault<Mixer>>>>,
}

impl Assembler {
    pub(super) fn new(arch: Arch) -> Self {
        Self { arch, known: Rc::default() }
    }

    /// The instruction with these operands.
    ///
    /// # Errors
    /// As of [`assemble_legal`]. What has no encoding after all is told by [`Assembled::words`].
    pub(super) fn assemble(
        &self,
        op: Op,
        encoding: Encoding,
        values: &[Value],
        mods: Mods,
    ) -> Result<Assembled, EncodeError> {
        let source = values.try_into().ok().map(|values| Source { op, encoding, values, mods });
        if let Some(known) = source.as_ref().and_then(|source| self.known.borrow().get(source).cloned()) {
            return Ok(known);
        }
        let inst = assemble_legal(self.arch, op, encoding, values, mods)?;
        let words = inst.encode_assembled(self.arch);
        let assembled = Assembled(Rc::new(Contents { inst, words, facts: OnceCell::new() }));
        if let Some(source) = source {
            self.known.borrow_mut().insert(source, assembled.clone());
        }
        Ok(assembled)
    }
}

/// What an instruction is assembled from.
#[derive(Debug, PartialEq, Eq)]
struct Source {
    op: Op,
    encoding: Encoding,
    values: ArrayVec<Value, 4>,
    mods: Mods,
}

impl Hash for Source {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.op as u32).hash(state);
        self.values.hash(state);
        // Of all modifiers, the one that most instructions with the same operands differ in.
        self.mods.offset.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Reg;

    #[test]
    fn what_differs_is_told_apart_and_the_same_is_assembled_once() {
        let assembler = Assembler::new(Arch::Gfx90a);
        let add = |to: u8, offset: i32| {
            let values = [Value::Vgpr(0), Value::Vgpr(to), Value::Scalar(4)];
            let mods = Mods { offset, ..Mods::default() };
            assembler.assemble(Op::global_atomic_add, Encoding::Global, &values, mods).expect("an atomic")
        };
        let [first, other, far, again] = [add(1, 8), add(2, 8), add(1, 12), add(1, 8)];
        assert!(Rc::ptr_eq(&first.0, &again.0));
        for different in [&other, &far] {
            assert_ne!(first.words(), different.words());
        }
        assert_eq!(first.words().expect("words"), &first.encode(Arch::Gfx90a).expect("words"));
        assert!(first.effects(Arch::Gfx90a).reads.contains(Reg::vgpr(1)));
    }
}
