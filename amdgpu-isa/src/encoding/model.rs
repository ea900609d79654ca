//! What a generation's encodings are.

use std::sync::OnceLock;

use arrayvec::ArrayVec;

use super::format::{Field, Format, ModifierList};
use super::modifiers::ModifierBits;
use super::table::{Archs, Entry, Row, Tables};
use crate::signature::{Class, Flags, Spec};
use crate::{Arch, Encoding, Generation, Illegal, Mods, Operands, Slot};
use crate::{gcn, gfx10, gfx11, gfx12};

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
    /// The second operations of VOPD, which go with each of the rows of its table.
    pub(crate) vopd_second: &'static [Row],
    /// Encodings of more than one dword that take a literal.
    pub(crate) long_literals: &'static [Encoding],
    /// What operands of 16 bits are.
    pub(crate) halves: Halves,
    /// What prints without a suffix has one where lanes are permuted.
    pub(crate) names_permutations: bool,
    /// Comparisons in SDWA print without a suffix.
    pub(crate) unnamed_sdwa_comparisons: bool,
    /// What a comparison in VOP3 may write.
    pub(crate) comparison_result: Class,
    /// How images name the registers of their address.
    pub(crate) addresses: Addresses,
    /// What the numbers of VOPC, VOP2 and VOP1 are counted from among those of VOP3.
    pub(crate) vop3_numbers: [u16; 3],
    /// The modifiers that an opcode takes, and where.
    pub(crate) modifiers: fn(Arch, Encoding, &[Spec], Flags) -> ModifierList,
    /// The bits of the first two dwords that an opcode gives a meaning to.
    pub(crate) used: fn(Arch, Encoding, &[Spec], &[ModifierBits]) -> u64,
    /// Bits beside those that LLVM's disassembler passes over. Others make the instruction illegal.
    pub(crate) ignored: fn(Arch, Encoding, &[Spec], Flags) -> u64,
    /// Bits of a third dword that mean nothing.
    pub(crate) ignored_control: fn(Encoding, &[Spec]) -> u32,
    /// What ignored bits are when assembled.
    pub(crate) rest: fn(Encoding, &[Spec], Flags) -> u64,
    /// Judges an instruction whose operands and modifiers are legal each.
    pub(crate) check: Rules,
    /// The part of that which even a disassembler keeps, for it has no text for what breaks it.
    pub(crate) check_fields: Rules,
    /// Whether an opcode has a form at all.
    pub(crate) has_form: fn(Arch, &Entry) -> bool,
    /// The encoding that takes the place of the one that the first dword's prefix tells: a shorter one where
    /// the mark of a longer one means nothing, a longer one where a mark stands elsewhere.
    pub(crate) instead: fn(&Tables, Encoding, u32, Option<u32>) -> Option<Encoding>,
    /// Whether a first dword's mark may mean nothing, as the second tells.
    pub(crate) is_mark: fn(u32) -> bool,
    /// Instructions of four dwords, where the generation has them.
    pub(crate) scaled: Option<&'static Scaled>,
}

/// What operands of 16 bits are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halves {
    /// Registers, of which they take the lower half.
    Whole,
    /// Halves of registers, which LLVM's text names: `v1.h`.
    Named,
    /// Halves of registers. LLVM's text names none unless it is asked for that (`+real-true16`), and has then
    /// none for the upper ones but where it prints OP_SEL: there, and where a mnemonic has no other text,
    /// they are named.
    Quiet,
}

/// Bits beside the slots that say what an operand is.
pub(crate) struct OperandBits {
    /// The bit that makes an operand an accumulation register.
    pub(crate) acc: fn(Encoding, Slot) -> Field,
    /// VOP3P-MAI's ACC_CD: D and C are accumulation registers.
    pub(crate) acc_cd: Field,
    /// SMEM's IMM: OFFSET holds an immediate. Without the bit it always does, and SOFFSET is a register or
    /// NULL.
    pub(crate) smem_imm: Field,
    /// SMEM's immediate has no sign.
    pub(crate) smem_unsigned: bool,
    /// SMEM's text has an immediate of zero, too.
    pub(crate) smem_names_zero: bool,
    /// Low bits that a field lacks of the number of the first scalar register of a resource.
    pub(crate) resource_shift: fn(Encoding) -> u8,
    /// SCRATCH's bit for a vector address.
    pub(crate) scratch_sve: Field,
    /// Whether every processor has it.
    pub(crate) always_sve: bool,
    /// SADDR's code for `off`.
    pub(crate) saddr_off: u32,
    /// That of SCRATCH where there is no vector address either, if it is another.
    pub(crate) scratch_off: Option<u32>,
    /// SDWA: the first and the second source are scalar.
    pub(crate) sdwa_scalar: [Field; 2],
    /// SDWA comparisons: SDST is used instead of VCC.
    pub(crate) sdwa_sdst: Field,
    /// EXP's EN bit of a source: it is exported.
    pub(crate) exp_en: fn(Slot) -> Field,
    /// EXP's COMPR.
    pub(crate) exp_compr: Field,
    /// The highest bit of an opcode, where it stands apart.
    pub(crate) opcode_high: fn(Encoding) -> Field,
    /// The opcode of VOPD's second operation.
    pub(crate) vopd_opcode_y: Field,
}

impl OperandBits {
    /// Whether the text of SMEM has NULL for an offset of zero.
    pub(crate) const fn has_null_offset(&self) -> bool {
        self.smem_imm.width == 0 && !self.smem_names_zero
    }
}

/// How an image instruction names the registers of its address, where it names each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Addresses {
    /// An operand a register, the last of which takes all that is left.
    OneEach,
    /// One register, and up to three dwords of four.
    FourEach,
    /// An operand a register, the last of which takes all that is left, in every encoding of images.
    Always,
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
            Self::Gfx8 => &gcn::GFX8,
            Self::Gfx9 => &gcn::GFX9,
            Self::Gfx10 => &gfx10::MODEL,
            Self::Gfx11 => &gfx11::MODEL,
            Self::Gfx12 => &gfx12::MODEL,
        }
    }
}

/// The highest bits of a first dword that a look-up goes by; no prefix begins below them and ends above.
const LOOKED_AT: u32 = 9;

/// The bits of a first dword.
const FIRST: u64 = u32::MAX as u64;

/// The encodings that a first dword with certain highest bits may have, the most specific first.
type Candidates = ArrayVec<(Encoding, Format), 6>;

impl Model {
    /// The encoding that a first dword has, and its format.
    pub(crate) fn encoding_of(&self, generation: Generation, word: u32) -> Option<(Encoding, Format)> {
        static CANDIDATES: [OnceLock<Vec<Candidates>>; Generation::COUNT] =
            [const { OnceLock::new() }; Generation::COUNT];
        let candidates = CANDIDATES[generation as usize].get_or_init(|| self.candidates());
        let word_bits = u64::from(word);
        let of_word = &candidates[(word >> (u32::BITS - LOOKED_AT)) as usize];
        let found =
            of_word.iter().find(|(_, format)| (word_bits ^ format.prefix) & format.prefix_mask & FIRST == 0);
        found.copied()
    }

    fn candidates(&self) -> Vec<Candidates> {
        let of_top = |top: u64| {
            let word = top << (u32::BITS - LOOKED_AT);
            let looked_at = u64::MAX << (u32::BITS - LOOKED_AT);
            let formats = self.encodings.iter().map(|&encoding| (encoding, (self.format)(encoding)));
            let mut found: Vec<_> = formats
                .filter(|(_, format)| (word ^ format.prefix) & format.prefix_mask & looked_at & FIRST == 0)
                .collect();
            found.sort_by_key(|(_, format)| std::cmp::Reverse(format.prefix_mask.count_ones()));
            found.into_iter().collect()
        };
        (0..1 << LOOKED_AT).map(of_top).collect()
    }
}
