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
use crate::isa::{EncodeError, Encoding, Inst, Mods, Op, Reg, Value, Words, assemble_legal};
use crate::{Arch, Mixer};

/// An instruction to be inserted.
#[derive(Clone, Debug)]
pub(super) struct Assembled(Rc<Contents>);

#[derive(Debug)]
struct Contents {
    inst: Inst,
    words: Result<Words, EncodeError>,
    facts: OnceCell<Facts>,
    highest: HighestRegisters,
}

/// The highest registers that instructions use, plus one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HighestRegisters {
    pub(super) sgprs: u32,
    pub(super) vgprs: u32,
}

impl HighestRegisters {
    /// Nothing that is inserted touches SGPRs or VGPRs that its operands do not name.
    fn of(inst: &Inst) -> Self {
        let mut highest = Self::default();
        for operand in &inst.operands {
            let dwords = u32::from(operand.dwords);
            match operand.value {
                Value::Scalar(first) if Reg::scalar(first).as_sgpr().is_some() => {
                    highest.sgprs = highest.sgprs.max(u32::from(first) + dwords);
                }
                Value::Vgpr(first) => highest.vgprs = highest.vgprs.max(u32::from(first) + dwords),
                _ => {}
            }
        }
        highest
    }

    /// Takes in what further instructions use.
    pub(super) fn see<'a>(&mut self, insts: impl IntoIterator<Item = &'a Assembled>) {
        for inst in insts {
            self.sgprs = self.sgprs.max(inst.0.highest.sgprs);
            self.vgprs = self.vgprs.max(inst.0.highest.vgprs);
        }
    }
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
    known: Rc<RefCell<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    /// Those that a number tells: most of a site's.
    numbered: HashMap<u64, Assembled, BuildHasherDefault<Mixer>>,
    others: HashMap<Source, Assembled, BuildHasherDefault<Mixer>>,
}

impl Assembler {
    pub(super) fn new(arch: Arch) -> Self {
        Self { arch, known: Rc::default() }
    }

    /// The instruction with these operands and modifiers, if it has any.
    ///
    /// # Errors
    /// As of [`assemble_legal`]. What has no encoding after all is told by [`Assembled::words`].
    pub(super) fn assemble(
        &self,
        op: Op,
        encoding: Encoding,
        values: &[Value],
        mods: Option<Mods>,
    ) -> Result<Assembled, EncodeError> {
        let number = if mods.is_none() { number(op, encoding, values) } else { None };
        if let Some(number) = number {
            if let Some(known) = self.known.borrow().numbered.get(&number) {
                return Ok(known.clone());
            }
            let assembled = self.anew(op, encoding, values, None)?;
            self.known.borrow_mut().numbered.insert(number, assembled.clone());
            return Ok(assembled);
        }
        let Ok(operands) = values.try_into() else { return self.anew(op, encoding, values, mods) };
        let source = Source { op, encoding, values: operands, mods };
        if let Some(known) = self.known.borrow().others.get(&source) {
            return Ok(known.clone());
        }
        let assembled = self.anew(op, encoding, values, mods)?;
        self.known.borrow_mut().others.insert(source, assembled.clone());
        Ok(assembled)
    }

    fn anew(
        &self,
        op: Op,
        encoding: Encoding,
        values: &[Value],
        mods: Option<Mods>,
    ) -> Result<Assembled, EncodeError> {
        let inst = assemble_legal(self.arch, op, encoding, values, mods.unwrap_or_default())?;
        let words = inst.encode_assembled(self.arch);
        let highest = HighestRegisters::of(&inst);
        Ok(Assembled(Rc::new(Contents { inst, words, facts: OnceCell::new(), highest })))
    }
}

/// A number for an instruction without modifiers, another for each. Only those have one that have three operands at most, each
/// of which a byte tells.
fn number(op: Op, encoding: Encoding, values: &[Value]) -> Option<u64> {
    if values.len() > 3 {
        return None;
    }
    // Opcode and encoding take 24 bits, behind which there are 11 for each operand: 0 for one that is not there.
    let mut number = (op as u64) << 8 | encoding as u64;
    for at in 0..3 {
        let (kind, byte) = match values.get(at) {
            None => (0, 0),
            Some(&Value::Scalar(code)) => (1, code),
            Some(&Value::Vgpr(code)) => (2, code),
            Some(&Value::Agpr(code)) => (3, code),
            Some(&Value::Inline(code)) => (4, code),
            Some(&Value::Special(code)) => (5, code),
            Some(Value::Off) => (6, 0),
            Some(Value::Literal(_) | Value::Imm(_)) => return None,
        };
        number = number << 11 | kind << 8 | u64::from(byte);
    }
    Some(number)
}

/// What an instruction is assembled from.
#[derive(Debug, PartialEq, Eq)]
struct Source {
    op: Op,
    encoding: Encoding,
    values: ArrayVec<Value, 4>,
    /// Most have none: these are soon compared.
    mods: Option<Mods>,
}

impl Hash for Source {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.op as u32).hash(state);
        self.values.hash(state);
        // Of all modifiers, the one that most instructions with the same operands differ in.
        self.mods.as_ref().map(|mods| mods.offset).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_told_apart_and_the_same_is_assembled_once() {
        let assembler = Assembler::new(Arch::Gfx90a);
        let add = |to: u8, offset: i32| {
            let values = [Value::Vgpr(0), Value::Vgpr(to), Value::Scalar(4)];
            let mods = Mods { offset, ..Mods::default() };
            assembler
                .assemble(Op::global_atomic_add, Encoding::Global, &values, Some(mods))
                .expect("an atomic")
        };
        let [first, other, far, again] = [add(1, 8), add(2, 8), add(1, 12), add(1, 8)];
        assert!(Rc::ptr_eq(&first.0, &again.0));
        for different in [&other, &far] {
            assert_ne!(first.words(), different.words());
        }
        assert_eq!(first.words().expect("words"), &first.encode(Arch::Gfx90a).expect("words"));
        assert!(first.effects(Arch::Gfx90a).reads.contains(Reg::vgpr(1)));
    }

    #[test]
    fn no_two_instructions_have_the_same_number() {
        let mut seen = HashMap::new();
        for &op in Op::ALL {
            for encoding in [Encoding::Sop2, Encoding::Sopp, Encoding::Global, Encoding::Exp] {
                for code in 0..28 {
                    let operands = [Value::Scalar(code), Value::Vgpr(code), Value::Off];
                    for values in [&operands[..0], &operands[..1], &operands[1..2], &operands[1..], &operands]
                    {
                        let one = (op, encoding, values.to_vec());
                        let other = seen.entry(number(op, encoding, values)).or_insert_with(|| one.clone());
                        assert_eq!(*other, one);
                    }
                }
            }
        }
    }
}
