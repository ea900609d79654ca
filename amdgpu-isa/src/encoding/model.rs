//! What a generation's encodings are.

use std::sync::OnceLock;

use arrayvec::ArrayVec;

use super::format::{Field, Format, ModifierList};
use super::modifiers::{Modifier, ModifierBits};
use super::table::{Archs, Entry, Row, Tables};
use crate::gfx9;
use crate::signature::{Flags, Spec};
use crate::{Arch, Encoding, Generation, Illegal, Mods, Operands, Slot};

/// Rules for whole instructions.
pub(crate) type Rules = fn(Arch, &Entry, &Operands, &Mods) -> Result<(), Illegal>;

/// The encodings of a generation. What takes an [`Encoding`] is asked for those of `encodings` alone.
pub(crate) struct Model {
    /// Its encodings, those aside that a [`Scaled`] prefix announces.
    pub(crate) encodings: &'static [Encoding],
    /// How an encoding is told from the others, where its opcode is, and how long it is.
    pub(crate) format: fn(Encoding) -> Format,
    /// Where a slot of an encoding is.
    pub(crate) field: fn(Encoding, Slot) -> Field,
    /// Bits beside the slots that say what an operand is.
    pub(crate) bits: &'static OperandBits,
    /// The table of each encoding. Longer forms (VOP3 of VOP2, SDWA, DPP) are derived.
    pub(crate) tables: &'static [(Encoding, &'static [Row])],
    /// A processor as the rows' sets have it.
    pub(crate) version: fn(Arch) -> Archs,
    /// What the numbers of VOPC, VOP2 and VOP1 are counted from among those of VOP3.
    pub(crate) vop3_numbers: [u16; 3],
    /// The modifiers that an opcode takes, and where.
    pub(crate) modifiers: fn(Arch, Encoding, &[Spec], Flags) -> ModifierList,
    /// The bits of the first two dwords that an opcode gives a meaning to.
    pub(crate) used: fn(Arch, Encoding, &[Spec], &[ModifierBits]) -> u64,
    /// Bits beside those that LLVM's disassembler passes over. Others make the instruction illegal.
    pub(crate) ignored: fn(Arch, Encoding, &[Spec], Flags) -> u64,
    /// What ignored bits are when assembled.
    pub(crate) rest: fn(Encoding, Flags) -> u64,
    /// Judges an instruction whose operands and modifiers are legal each.
    pub(crate) check: Rules,
    /// The part of that which even a disassembler keeps, for it has no text for what breaks it.
    pub(crate) check_fields: Rules,
    /// Whether an opcode has a form at all.
    pub(crate) has_form: fn(Arch, &Entry) -> bool,
    /// The shorter encoding of an opcode for which the mark of a longer one, in the first dword, means nothing.
    pub(crate) unmarked: fn(&Tables, Encoding, u32, Option<u32>) -> Option<Encoding>,
    /// Whether a first dword's mark may mean nothing, as the second tells.
    pub(crate) is_mark: fn(u32) -> bool,
    /// Instructions of four dwords, where the generation has them.
    pub(crate) scaled: Option<&'static Scaled>,
}

/// Bits beside the slots that say what an operand is.
pub(crate) struct OperandBits {
    /// The bit that makes an operand an accumulation register.
    pub(crate) acc: fn(Encoding, Slot) -> Field,
    /// VOP3P-MAI's ACC_CD: D and C are accumulation registers.
    pub(crate) acc_cd: Field,
    /// SMEM's IMM: OFFSET holds an immediate.
    pub(crate) smem_imm: Field,
    /// SCRATCH's bit for a vector address.
    pub(crate) scratch_sve: Field,
    /// SDWA: the first and the second source are scalar.
    pub(crate) sdwa_scalar: [Field; 2],
    /// SDWA comparisons: SDST is used instead of VCC.
    pub(crate) sdwa_sdst: Field,
    /// EXP's EN bit of a source: it is exported.
    pub(crate) exp_en: fn(Slot) -> Field,
    /// EXP's COMPR.
    pub(crate) exp_compr: Field,
    /// The opcode's highest bit of MIMG.
    pub(crate) mimg_opcode_high: Field,
}

/// Two dwords in front of an instruction, with its scales.
pub(crate) struct Scaled {
    /// The encoding of the whole.
    pub(crate) encoding: Encoding,
    /// Whether bytes begin with the first dword of scales.
    pub(crate) may_be_prefix: fn(&[u8]) -> bool,
    /// The first two dwords, if four dwords of one instruction begin there.
    pub(crate) prefix_at: fn(&[u8]) -> Option<u64>,
    /// Whether each field of the last two of four dwords names operands of its width.
    pub(crate) names_operands: fn(&[u8]) -> bool,
    /// Set and idle bits of the first two dwords.
    pub(crate) idle_bits: fn(u64) -> u64,
    /// The fixed bits of the first two dwords, beside what is idle.
    pub(crate) prefix_with: fn(u64) -> u64,
}

/// Bytes of the dwords in front of an instruction with scales.
pub(crate) const PREFIX_BYTES: usize = 8;

impl Generation {
    /// Its encodings.
    pub(crate) const fn model(self) -> &'static Model {
        match self {
            Self::Gfx9 => &gfx9::MODEL,
        }
    }
}

/// The highest bits of a first dword that a look-up goes by; no prefix begins below them and ends above.
const LOOKED_AT: u32 = 9;

/// The encodings that a first dword with certain highest bits may have, the most specific first.
type Candidates = ArrayVec<(Encoding, Format), 6>;

impl Model {
    /// The encoding that a first dword has.
    pub(crate) fn encoding_of(&self, generation: Generation, word: u32) -> Option<Encoding> {
        static CANDIDATES: [OnceLock<Vec<Candidates>>; Generation::COUNT] =
            [const { OnceLock::new() }; Generation::COUNT];
        let candidates = CANDIDATES[generation as usize].get_or_init(|| self.candidates());
        let word_bits = u64::from(word);
        let of_word = &candidates[(word >> (u32::BITS - LOOKED_AT)) as usize];
        let found = of_word.iter().find(|(_, format)| word_bits & format.prefix_mask == format.prefix);
        found.map(|(encoding, _)| *encoding)
    }

    /// Whether a modifier's field is in the dwords in front of an instruction with scales.
    pub(crate) fn is_in_prefix(&self, encoding: Encoding, modifier: Modifier) -> bool {
        matches!(modifier, Modifier::OpSel | Modifier::OpSelHi)
            && self.scaled.is_some_and(|scaled| scaled.encoding == encoding)
    }

    fn candidates(&self) -> Vec<Candidates> {
        let of_top = |top: u64| {
            let word = top << (u32::BITS - LOOKED_AT);
            let looked_at = u64::MAX << (u32::BITS - LOOKED_AT);
            let formats = self.encodings.iter().map(|&encoding| (encoding, (self.format)(encoding)));
            let mut found: Vec<_> = formats
                .filter(|(_, format)| (word ^ format.prefix) & format.prefix_mask & looked_at == 0)
                .collect();
            found.sort_by_key(|(_, format)| std::cmp::Reverse(format.prefix_mask.count_ones()));
            found.into_iter().collect()
        };
        (0..1 << LOOKED_AT).map(of_top).collect()
    }
}
