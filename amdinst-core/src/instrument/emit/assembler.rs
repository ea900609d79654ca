//! The instructions that are inserted, each distinct one once.
//!
//! Sites, prologues and epilogues repeat themselves but for registers and offsets, and there are few of
//! those. So each distinct instruction is assembled, encoded and looked through for hazards once a session,
//! and is bytes from then on. An instruction that differs from another one only in registers and inline
//! constants is made from that one.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;

use amdgpu_isa::{
    Arch, DppCtrl, EncodeError, Encoding, Generation, Inst, Mods, Op, Reg, Target, Value, WaveSize, Words,
    assemble_legal, with_values,
};
use rustc_hash::FxHashMap;

use crate::analysis::hazards::{Brief, Facts};
use crate::hash::FACTOR;

/// An instruction to be inserted.
#[derive(Clone, Debug)]
pub(crate) struct Assembled(Rc<Contents>);

#[derive(Debug)]
struct Contents {
    inst: Inst,
    words: Result<Words, EncodeError>,
    /// Of few it is asked.
    facts: OnceCell<Box<Facts>>,
    brief: Brief,
    highest: HighestRegisters,
}

/// The highest registers that instructions use, plus one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HighestRegisters {
    pub(crate) sgprs: u32,
    pub(crate) vgprs: u32,
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
    pub(crate) fn see<'a>(&mut self, insts: impl IntoIterator<Item = &'a Assembled>) {
        for inst in insts {
            self.sgprs = self.sgprs.max(inst.0.highest.sgprs);
            self.vgprs = self.vgprs.max(inst.0.highest.vgprs);
        }
    }
}

impl Assembled {
    fn new(inst: Inst, words: Result<Words, EncodeError>) -> Self {
        let (brief, highest) = (Brief::of(&inst), HighestRegisters::of(&inst));
        Self(Rc::new(Contents { inst, words, facts: OnceCell::new(), brief, highest }))
    }

    /// Its dwords.
    pub(crate) fn words(&self) -> Result<&Words, EncodeError> {
        self.0.words.as_ref().map_err(EncodeError::clone)
    }

    /// What the rules of hazards ask about any.
    pub(crate) fn brief(&self) -> Brief {
        self.0.brief
    }

    /// What the rules of hazards ask about it, on the processor that it was assembled for.
    pub(crate) fn facts(&self, arch: Arch) -> &Facts {
        self.0.facts.get_or_init(|| Box::new(Facts::new(&self.0.inst, &self.0.inst.effects(arch))))
    }
}

impl Deref for Assembled {
    type Target = Inst;

    fn deref(&self) -> &Inst {
        &self.0.inst
    }
}

/// The modifiers that inserted instructions have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Modifiers {
    None,
    /// Of an address.
    Offset(i32),
    /// Offset of an address that is written to past all caches.
    Through(i32),
    /// A sum too large becomes the largest number.
    Clamp,
    /// Of `v_pk_mov_b32`: the low half of the first source and the high half of the second.
    Halves,
    Dpp(DppCtrl),
}

impl Modifiers {
    fn mods(self, generation: Generation) -> Option<Mods> {
        let none = Mods::default();
        Some(match self {
            Self::None => return None,
            Self::Offset(offset) => Mods { offset, ..none },
            Self::Through(offset) => Mods { offset, ..generation.store_to_system() },
            Self::Clamp => Mods { clamp: true, ..none },
            Self::Halves => Mods { op_sel: 0b10, op_sel_hi: 0b11, ..none },
            Self::Dpp(control) => Mods { dpp: Some(control), ..none },
        })
    }
}

/// Assembles instructions that are legal by construction. Copies share what they know.
#[derive(Clone, Debug)]
pub(crate) struct Assembler {
    target: Target,
    known: Rc<RefCell<AssemblerCache>>,
}

#[derive(Debug)]
struct AssemblerCache {
    /// Instructions assembled last, by a few bits of their keys: most are asked for again soon.
    recent: Box<[Option<(Key, Assembled)>; RECENT]>,
    all: FxHashMap<Key, Assembled>,
    /// One instruction of all that differ in registers and inline constants alone.
    shapes: FxHashMap<Key, Assembled>,
}

/// Instructions that are kept at hand, a power of two.
const RECENT: usize = 1024;

impl Assembler {
    /// The processor that it assembles for.
    pub(crate) const fn arch(&self) -> Arch {
        self.target.arch
    }

    /// The size of the waves that run the code.
    pub(crate) const fn wave_size(&self) -> WaveSize {
        self.target.wave
    }

    pub(crate) fn new(target: impl Into<Target>) -> Self {
        let recent = Box::new([const { None }; RECENT]);
        let known = AssemblerCache { recent, all: HashMap::default(), shapes: HashMap::default() };
        Self { target: target.into(), known: Rc::new(RefCell::new(known)) }
    }

    /// The instruction with these operands and modifiers.
    ///
    /// # Errors
    /// As of [`assemble_legal`]. What has no encoding after all is told by [`Assembled::words`].
    // Callers know most of what goes into the key.
    #[inline(always)]
    pub(crate) fn assemble(
        &self,
        op: Op,
        encoding: Encoding,
        values: &[Value],
        modifiers: Modifiers,
    ) -> Result<Assembled, EncodeError> {
        let Some(key) = Key::of(op, encoding, values, modifiers) else {
            return self.anew(op, encoding, values, modifiers);
        };
        match &self.known.borrow().recent[key.place()] {
            Some((recent, assembled)) if *recent == key => return Ok(assembled.clone()),
            _ => {}
        }
        self.look_up(key, (op, encoding, values, modifiers))
    }

    #[inline(never)]
    fn look_up(
        &self,
        key: Key,
        (op, encoding, values, modifiers): (Op, Encoding, &[Value], Modifiers),
    ) -> Result<Assembled, EncodeError> {
        let known = &mut *self.known.borrow_mut();
        let assembled = match known.all.get(&key) {
            Some(assembled) => assembled.clone(),
            None => {
                let like = known.shapes.get(&key.shape()).and_then(|like| self.like(like, values));
                let assembled = match like {
                    Some(assembled) => assembled,
                    None => {
                        let assembled = self.anew(op, encoding, values, modifiers)?;
                        known.shapes.insert(key.shape(), assembled.clone());
                        assembled
                    }
                };
                known.all.insert(key, assembled.clone());
                assembled
            }
        };
        known.recent[key.place()] = Some((key, assembled.clone()));
        Ok(assembled)
    }

    /// An instruction with other registers and constants: most are made so, which takes less time than to
    /// make them anew.
    fn like(&self, like: &Assembled, values: &[Value]) -> Option<Assembled> {
        let (inst, words) = with_values(self.target, like, like.0.words.as_ref().ok()?, values)?;
        debug_assert_eq!(inst.encode(self.target).as_ref(), Ok(&words), "{}", inst.op);
        Some(Assembled::new(inst, Ok(words)))
    }

    fn anew(
        &self,
        op: Op,
        encoding: Encoding,
        values: &[Value],
        modifiers: Modifiers,
    ) -> Result<Assembled, EncodeError> {
        let mods = modifiers.mods(self.arch().generation());
        let (inst, words) = assemble_legal(self.target, op, encoding, values, mods)?;
        Ok(Assembled::new(inst, words))
    }
}

/// What an operand is, in three bits.
#[inline]
const fn kind(value: Value) -> u64 {
    // In the order of the variants: so it is no more than a look at which one it is.
    match value {
        Value::Scalar(_) => 0,
        Value::Vgpr(_) => 1,
        Value::Agpr(_) => 2,
        Value::Inline(_) => 3,
        Value::Special(_) => 4,
        Value::Literal(_) => 5,
        // Where registers are named one by one, there is no number.
        Value::Imm(_) | Value::Vgprs(_) => 6,
        Value::Off => 7,
    }
}

/// Its register, or its code.
#[inline]
const fn byte(value: Value) -> u8 {
    match value {
        Value::Scalar(code) | Value::Vgpr(code) | Value::Agpr(code) | Value::Inline(code) => code,
        Value::Special(special) => special as u8,
        Value::Literal(_) | Value::Imm(_) | Value::Off | Value::Vgprs(_) => 0,
    }
}

/// What has no room in a byte.
#[inline]
const fn wide(value: Value) -> u32 {
    match value {
        Value::Literal(value) => value,
        Value::Imm(value) => value as u32,
        Value::Vgprs(registers) => u32::from_le_bytes(registers),
        _ => 0,
    }
}

/// What an instruction is assembled from, in numbers: another for each, but for an offset of zero and none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    /// Opcode and encoding, and what a byte tells of each operand.
    operands: u64,
    /// How many operands there are, the modifiers, and a number of 32 bits that is one of these or an
    /// operand.
    modifiers: u64,
}

/// Operands that a key has room for.
const KEY_OPERANDS: usize = 4;
const _: () = assert!(Op::ALL.len() <= 1 << 15 && (Encoding::Exp as u64) < 1 << 5);

impl Key {
    /// The key of an instruction. Instructions with more operands, or with two numbers of 32 bits, have none;
    /// none of these is inserted.
    #[inline(always)]
    fn of(op: Op, encoding: Encoding, values: &[Value], modifiers: Modifiers) -> Option<Self> {
        if values.len() > KEY_OPERANDS {
            return None;
        }
        let (mut number, modifiers) = match modifiers {
            Modifiers::None => (None, 0),
            Modifiers::Offset(offset) => (Some(offset as u32), 0),
            Modifiers::Through(offset) => (Some(offset as u32), 4),
            Modifiers::Clamp => (None, 1),
            Modifiers::Halves => (None, 2),
            Modifiers::Dpp(DppCtrl { ctrl, row_mask, bank_mask, bound_ctrl }) => {
                let masks = u32::from(row_mask & 0xf) << 4 | u32::from(bank_mask & 0xf);
                (None, u32::from(ctrl & 0x1ff) << 16 | masks << 8 | u32::from(bound_ctrl) << 2 | 3)
            }
        };
        // Opcode and encoding take 20 bits, each operand 11.
        let mut operands = 0;
        for value in values {
            if let Value::Literal(_) | Value::Imm(_) = value
                && number.replace(wide(*value)).is_some()
            {
                return None;
            }
            operands = operands << 11 | kind(*value) << 8 | u64::from(byte(*value));
        }
        Some(Self {
            operands: operands << 20 | (op as u64) << 5 | encoding as u64,
            modifiers: (values.len() as u64) << 60
                | u64::from(modifiers) << 32
                | u64::from(number.unwrap_or(0)),
        })
    }

    /// The key without the bytes of operands.
    const fn shape(self) -> Self {
        const BYTES: u64 = 0xff << 20 | 0xff << 31 | 0xff << 42 | 0xff << 53;
        Self { operands: self.operands & !BYTES, modifiers: self.modifiers }
    }

    /// Where among recent ones.
    #[inline]
    const fn place(self) -> usize {
        let mixed = (self.operands ^ self.modifiers.rotate_left(32)).wrapping_mul(FACTOR);
        (mixed >> (64 - RECENT.ilog2())) as usize
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
            let modifiers = Modifiers::Offset(offset);
            assembler
                .assemble(Op::global_atomic_add, Encoding::Global, &values, modifiers)
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
    fn what_is_made_like_another_is_what_is_made_anew() {
        let assembler = Assembler::new(Arch::Gfx90a);
        let lane = |lane: i32| Value::int(lane);
        for values in [
            [Value::Vgpr(1), Value::Scalar(2), lane(3)],
            [Value::Vgpr(255), Value::Scalar(101), lane(63)],
            [Value::Vgpr(4), Value::Scalar(6), Value::M0],
            [Value::Vgpr(4), lane(-1), Value::M0],
        ] {
            let made = |assembler: &Assembler| {
                let made = assembler.assemble(Op::v_writelane_b32, Encoding::Vop3, &values, Modifiers::None);
                made.expect("an instruction")
            };
            let (like, anew) = (made(&assembler), made(&Assembler::new(Arch::Gfx90a)));
            assert_eq!((&*like, like.words()), (&*anew, anew.words()));
        }
        let shapes = assembler.known.borrow().shapes.len();
        assert_eq!(shapes, 3);
    }

    #[test]
    fn no_two_instructions_have_the_same_key() {
        let dpp = |ctrl, bank_mask| DppCtrl { ctrl, row_mask: 1, bank_mask, bound_ctrl: false };
        let modifiers = [
            Modifiers::None,
            Modifiers::Offset(8),
            Modifiers::Through(8),
            Modifiers::Clamp,
            Modifiers::Halves,
            Modifiers::Dpp(dpp(0x118, 12)),
            Modifiers::Dpp(dpp(0x118, 3)),
            Modifiers::Dpp(dpp(0x108, 3)),
        ];
        let mut seen = HashMap::new();
        let mut see = |op: Op, encoding: Encoding, values: &[Value], modifiers: Modifiers| {
            let one = (op, encoding, values.to_vec(), modifiers.mods(Generation::Gfx9));
            let key = Key::of(op, encoding, values, modifiers).expect("a key");
            assert_eq!(*seen.entry(key).or_insert_with(|| one.clone()), one);
        };
        for &op in Op::ALL {
            for encoding in [Encoding::Sop2, Encoding::Sopp, Encoding::Global, Encoding::Exp] {
                for code in 0..28 {
                    let operands = [Value::Scalar(code), Value::Vgpr(code), Value::Off, Value::Inline(code)];
                    for values in [&operands[..0], &operands[..1], &operands[1..2], &operands[1..], &operands]
                    {
                        see(op, encoding, values, Modifiers::None);
                    }
                }
            }
        }
        for number in [0, 1, 8] {
            for value in [Value::Literal(number), Value::Imm(number as i32)] {
                see(Op::s_add_u32, Encoding::Sop2, &[Value::Scalar(0), value], Modifiers::None);
            }
        }
        for modifiers in modifiers {
            see(Op::v_mov_b32, Encoding::Vop1, &[Value::Vgpr(0), Value::Vgpr(1)], modifiers);
        }
    }
}
