//! The shape of the opcode tables, one row an opcode, and the look-up built from them.
//!
//! A table (`sop2.rs`, `vop1.rs`, …) is a `rows!` list. A row names its opcode, its [`Op`], its operands as pairs of
//! a slot and a type in the order of LLVM's text, the processors that have it, and its properties. Everything else
//! (decode, encode, text, effects) is derived.

use std::sync::OnceLock;

use arrayvec::ArrayVec;

use super::fields::{self, Field, ModifierList};
use super::modifiers::Modifier;
use super::{Access, Encoding, Op, Slot};
use crate::Arch;

/// What an operand's bits mean. It gives the width of a register tuple, how constants print, and whether source
/// modifiers mean negate/absolute (floats) or sign-extend (integers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    I16,
    F16,
    BF16,
    /// Two halves in one register, where a 32-bit literal stands for both.
    V2F16,
    V2BF16,
    I32,
    F32,
    I64,
    F64,
    /// Two floats in a register pair (packed math).
    V2F32,
    /// Plain tuples: memory data, resources, matrices.
    B96,
    B128,
    B192,
    B256,
    B512,
    B1024,
}

impl Ty {
    /// Registers the operand spans.
    pub(super) const fn dwords(self) -> u8 {
        match self {
            Self::I16 | Self::F16 | Self::BF16 | Self::V2F16 | Self::V2BF16 | Self::I32 | Self::F32 => 1,
            Self::I64 | Self::F64 | Self::V2F32 => 2,
            Self::B96 => 3,
            Self::B128 => 4,
            Self::B192 => 6,
            Self::B256 => 8,
            Self::B512 => 16,
            Self::B1024 => 32,
        }
    }

    /// Takes negate and absolute modifiers.
    pub(super) const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::BF16 | Self::V2F16 | Self::V2BF16 | Self::F32 | Self::F64)
    }
}

/// What a SIMM16 field means, which decides its sign and its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImmKind {
    /// Unsigned, decimal.
    Decimal,
    /// Unsigned, hexadecimal.
    Hex,
    /// Signed, printed as 16 bits in hexadecimal.
    SignedHex,
    /// Signed count of dwords from the next instruction, printed as unsigned decimal.
    Target,
    /// Wait counters.
    Waitcnt,
    /// A message.
    Sendmsg,
    /// A hardware register with offset and size.
    Hwreg,
    /// VGPR indexing mode.
    GprIdx,
    /// Unsigned, decimal, not printed when zero.
    Optional,
    /// What an export goes to.
    ExpTarget,
    /// A parameter of a triangle: P10, P20 or P0.
    Param,
    /// An attribute and its channel: four times the one plus the other.
    Attribute,
}

/// What values an operand's field can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A scalar register, 7 bits.
    Sgpr,
    /// SMEM's data: a scalar register, but M0 and EXEC.
    Sdata,
    /// A scalar result in VDST, 8 bits: not M0. LLVM takes special sources, too.
    ScalarDst,
    /// A scalar register or constant, 8 bits; 255 is a literal.
    Ssrc,
    /// A scalar register in an 8- or 9-bit source field.
    SsrcReg,
    /// A carry or selection mask in a 9-bit field: a scalar register pair or a special source.
    Mask,
    /// A scalar register or inline constant in a 9-bit field (lane selects).
    SsrcInline,
    /// A vector register, 8 bits.
    Vgpr,
    /// A vector register in a 9-bit source field.
    SrcVgpr,
    /// A vector register or LDS_DIRECT in a 9-bit source field.
    SrcLane,
    /// An accumulation register, 8 bits.
    Agpr,
    /// An accumulation register in a 9-bit source field.
    SrcAgpr,
    /// A vector register, or an accumulation register if the encoding's ACC bit says so (8 bits).
    VgprOrAgpr,
    /// As that, and at an even register from gfx90a on.
    GwsData,
    /// Anything, 9 bits; 255 is a literal in the 32-bit encodings.
    Src,
    /// Matrix source: vector or accumulation register by the ACC bit of its slot.
    MatrixAb,
    /// Matrix accumulator source: registers by ACC_CD, or an inline constant.
    MatrixC,
    /// Matrix result: registers by ACC_CD.
    MatrixD,
    /// gfx908's matrix accumulator source: accumulation registers or an inline constant.
    MatrixCAgpr,
    /// A scalar register tuple whose field drops the low bit (SBASE) or bits (SRSRC, SSAMP).
    SgprGroup,
    /// SMEM's offset: an immediate, a scalar register, or both.
    SmemOffset,
    /// FLAT's address: 64 bits.
    FlatAddr,
    /// GLOBAL's vector address: 64 bits, or a 32-bit offset when SADDR is used.
    GlobalAddr,
    /// SCRATCH's vector address, or `off`.
    ScratchAddr,
    /// GLOBAL's and SCRATCH's SADDR: 0x7f is `off`.
    Saddr,
    /// Buffer address: `off`, or one or two registers by IDXEN and OFFEN.
    BufferAddr,
    /// Buffer data: registers as the type says, one more when TFE is set.
    BufferData,
    /// Image data, as wide as DMASK says.
    ImageData,
    /// Image address.
    ImageAddr,
    /// SIMM16, or another field that is a number.
    Imm(ImmKind),
    /// The dword after the instruction.
    Literal,
    /// VCC, which the encoding implies.
    Vcc,
    /// Export data: a vector register, or `off` where EN's bit is clear.
    Export,
    /// SDWA source: a vector register, or anything scalar but a literal.
    SdwaSrc,
    /// SDWA comparison's result: VCC or a register pair.
    SdwaDst,
}

/// One operand of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spec {
    pub(super) slot: Slot,
    pub(super) class: Class,
    pub(super) ty: Ty,
    pub(super) access: Access,
}

/// Processors that share an instruction set, as a bit set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Archs(pub(super) u8);

/// gfx900, gfx902, gfx909, gfx90c.
pub(super) const V900: Archs = Archs(1);
// Bit 1 is gfx904 (as gfx900, with `v_fma_mix_*` instead of `v_mad_mix_*`), bit 2 gfx906.
/// gfx908.
pub(super) const V908: Archs = Archs(1 << 3);
/// gfx90a.
pub(super) const V90A: Archs = Archs(1 << 4);
/// gfx942.
pub(super) const V942: Archs = Archs(1 << 5);
/// gfx950.
pub(super) const V950: Archs = Archs(1 << 6);
/// Every processor.
pub(super) const ALL: Archs = Archs(0x7f);
/// Up to gfx908.
pub(super) const BEFORE_90A: Archs = Archs(0x0f);
/// Up to gfx90a.
pub(super) const BEFORE_942: Archs = Archs(0x1f);
/// gfx904 and all from gfx906 on.
pub(super) const SINCE_904: Archs = Archs(0x7e);
/// gfx906 and later.
pub(super) const SINCE_906: Archs = Archs(0x7c);
/// gfx908 and later.
pub(super) const SINCE_908: Archs = Archs(0x78);
/// gfx90a and later.
pub(super) const SINCE_90A: Archs = Archs(0x70);
/// gfx942 and later.
pub(super) const SINCE_942: Archs = Archs(0x60);

/// Number of bits in [`Archs`].
const VERSIONS: usize = 7;

impl Archs {
    /// Which bit a processor has.
    const fn index(arch: Arch) -> usize {
        match arch {
            Arch::Gfx900 | Arch::Gfx902 | Arch::Gfx909 | Arch::Gfx90c => 0,
            Arch::Gfx904 => 1,
            Arch::Gfx906 => 2,
            Arch::Gfx908 => 3,
            Arch::Gfx90a => 4,
            Arch::Gfx942 => 5,
            Arch::Gfx950 => 6,
        }
    }
}

/// Properties of a row, as a bit set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flags(pub(super) u64);

impl Flags {
    pub(super) const NONE: Self = Self(0);

    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// One line of each property: its name in the tables and its meaning.
macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident = $bit:literal;)*) => {
        $($(#[$doc])* pub(super) const $name: Flags = Flags(1 << $bit);)*
    };
}

flags! {
    /// Reads SCC.
    SCC_R = 0;
    /// Writes SCC.
    SCC_W = 1;
    /// Reads VCC without naming it.
    VCC_R = 2;
    /// Reads EXEC (scalar instructions; vector ones always do).
    EXEC_R = 3;
    /// Writes EXEC without naming it.
    EXEC_W = 4;
    /// Reads M0 without naming it.
    M0_R = 5;
    /// Writes M0 without naming it.
    M0_W = 6;
    /// Reads MODE or another hardware register.
    MODE_R = 7;
    /// Writes MODE or another hardware register.
    MODE_W = 8;
    /// Touches registers whose numbers are known only at run time.
    INDIRECT = 9;
    /// The destination keeps its old value under a condition (`s_cmov`).
    CONDITIONAL = 10;
    /// Takes CLAMP in VOP3.
    CLAMP = 11;
    /// Takes OMOD in VOP3.
    OMOD = 12;
    /// Takes OP_SEL in VOP3.
    OPSEL = 13;
    /// Has a VOP3 form (VOP1, VOP2, VOPC tables).
    E64 = 14;
    /// Has an SDWA form.
    SDWA = 15;
    /// Has a DPP form.
    DPP = 16;
    /// Prints without an encoding suffix.
    BARE = 17;
    /// Ignores EXEC (`v_readlane_b32`, `v_writelane_b32`, `v_readfirstlane_b32` with EXEC = 0).
    ANY_LANE = 18;
    /// Source modifiers are only negation (`v_div_scale_*`).
    NEG_ONLY = 19;
    /// Writes half of its destination (d16, `op_sel` results).
    HALF = 20;
    /// Reads memory.
    LOAD = 21;
    /// Writes memory.
    STORE = 22;
    /// Reads and writes memory in one step.
    ATOMIC = 23;
    /// An atomic that always returns the old value (DS `_rtn`).
    RETURNS = 24;
    /// May move data to LDS instead of registers.
    TO_LDS = 25;
    /// Has two one-byte offsets (`ds_read2_*`).
    TWO_OFFSETS = 26;
    /// Works on GDS or needs the GDS bit.
    GDS_ONLY = 27;
    /// Matrix instruction: CBSZ, ABID and BLGP instead of OP_SEL and NEG.
    MAI = 28;
    /// Packed: OP_SEL and OP_SEL_HI pick halves.
    PACKED = 29;
    /// VOP3P with the NEG and NEG_HI fields meaning absolute value (`v_fma_mix_*`).
    MIX = 30;
    /// Sources take no modifiers although they are floats.
    NO_SRC_MODS = 31;
    /// Message, barrier, trap, sleep: has an effect beyond registers and memory.
    SIDE_EFFECT = 32;
    /// BLGP negates instead of swizzling (f64 matrices on gfx940 and later).
    BLGP_NEG = 33;
    /// SDWA's DST_SEL and DST_UNUSED are not printed.
    NO_DST_SEL = 34;
    /// The truth table sits in the ABS, OMOD and NEG fields (`v_bitop3_*`).
    BITOP3 = 35;
    /// The offset is a lane pattern (`ds_swizzle_b32`).
    SWIZZLE = 36;
    /// Always moves data to LDS (`global_load_lds_*`).
    TO_LDS_ALWAYS = 37;
    /// Moves LDS data to memory (`buffer_store_lds_dword`): the LDS bit is always set.
    FROM_LDS = 38;
    /// Sparse matrix instruction: no BLGP.
    SPARSE = 39;
    /// Moves between register files: the OP_SEL_HI bits mean nothing but are kept.
    ACCVGPR = 40;
    /// Packed without OP_SEL (`v_dot4_*`, `v_dot8_*`).
    NO_OPSEL = 41;
    /// A float atomic: without SCC on gfx90a, and without result on gfx908.
    FLOAT = 42;
    /// Negation and absolute value of integer sources are passed over (VOP3, DPP).
    IDLE_MODS = 43;
    /// Works on neither LDS nor GDS (`ds_permute_b32`): the GDS bit is fixed.
    NO_GDS = 44;
    /// Cache control that passes over GLC and SCC where they mean nothing yet.
    ANY_POLICY = 45;
    /// OP_SEL's two highest bits say which byte of the result is written, however many sources there are.
    BYTE_RESULT = 46;
    /// A matrix of FP8, BF8, FP6, BF6 or FP4, as CBSZ (A) and BLGP (B) say, which also give the width.
    SMALL_FLOATS = 47;
    /// Hands two scales to the next matrix instruction.
    LD_SCALE = 48;
    /// Takes HIGH: interpolation of 16-bit attributes.
    HIGH = 49;
    /// An image instruction without 16-bit data.
    NO_D16 = 50;
    /// FI and BOUND_CTRL in the bits of OP_SEL.
    SWAPS_ROWS = 51;
    /// Its register tuple may begin anywhere, also on processors that align others.
    UNALIGNED = 52;
    /// VOP3 without OP_SEL that keeps the bit of a third source at zero.
    NO_THIRD = 53;
}

/// One opcode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) opcode: u16,
    pub(super) op: Op,
    pub(super) operands: &'static [Spec],
    pub(super) archs: Archs,
    pub(super) flags: Flags,
}

/// A table: `opcode mnemonic [slot type, …] processors [properties];`, one row a line.
macro_rules! rows {
    ($(#[$doc:meta])* $table:ident; $($opcode:literal $op:ident [$($slot:ident $ty:ident),*] $archs:ident [$($flag:ident)*];)*) => {
        $(#[$doc])*
        pub(super) const $table: &[$crate::table::Row] = &[$(
            $crate::table::Row {
                opcode: $opcode,
                op: $crate::Op::$op,
                operands: &[$($crate::slots::$slot($crate::table::Ty::$ty)),*],
                archs: $crate::table::$archs,
                flags: $crate::table::Flags::NONE$(.with($crate::table::$flag))*,
            },
        )*];
    };
}
pub(super) use rows;

/// The operands of one opcode in one encoding on one processor.
pub(super) type Specs = ArrayVec<Spec, 8>;

/// A row as one encoding of one processor has it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) op: Op,
    pub(super) opcode: u16,
    pub(super) encoding: Encoding,
    pub(super) specs: Specs,
    /// Where each of them stands.
    pub(super) places: ArrayVec<Field, 8>,
    pub(super) flags: Flags,
    pub(super) modifiers: ModifierList,
    /// Bits of the first 64 that may be set, the fixed ones of the encoding and opcode included.
    pub(super) used: u64,
    /// Bits beside those that may be set and mean nothing.
    pub(super) ignored: u64,
    /// What those bits are when assembled: ones where OP_SEL_HI belongs to no source, else zeros.
    pub(super) rest: u64,
    /// The suffix of the mnemonic in text.
    pub(super) suffix: &'static str,
}

impl Entry {
    /// The bits of OP_SEL_HI that belong to sources, as [`Mods`](super::Mods) has them.
    pub(super) fn op_sel_hi(&self) -> u8 {
        let bits = self.modifiers.iter().map(|bits| match bits.modifier {
            Modifier::OpSelHi => bits.mask,
            Modifier::OpSelHi2 => bits.mask << 2,
            _ => 0,
        });
        bits.fold(0, |all, bits| all | bits) as u8
    }
}

/// The table of each encoding. Longer forms (VOP3 of VOP2, SDWA, DPP) are derived.
const TABLE_OF: &[(Encoding, &[Row])] = &[
    (Encoding::Sop2, super::sop2::SOP2),
    (Encoding::Sopk, super::sopk::SOPK),
    (Encoding::Sop1, super::sop1::SOP1),
    (Encoding::Sopc, super::sopc::SOPC),
    (Encoding::Sopp, super::sopp::SOPP),
    (Encoding::Smem, super::smem::SMEM),
    (Encoding::Vop1, super::vop1::VOP1),
    (Encoding::Vop2, super::vop2::VOP2),
    (Encoding::Vopc, super::vopc::VOPC),
    (Encoding::Vop3, super::vop3::VOP3),
    (Encoding::Vop3p, super::vop3p::VOP3P),
    (Encoding::Vop3px, super::scaled::VOP3PX),
    (Encoding::Vintrp, super::vintrp::VINTRP),
    (Encoding::Ds, super::ds::DS),
    (Encoding::Flat, super::flat::FLAT),
    (Encoding::Global, super::flat::GLOBAL),
    (Encoding::Scratch, super::flat::SCRATCH),
    (Encoding::Mubuf, super::mubuf::MUBUF),
    (Encoding::Mtbuf, super::mtbuf::MTBUF),
    (Encoding::Mimg, super::mimg::MIMG),
    (Encoding::Exp, super::exp::EXP),
];

/// Marks an absent opcode.
const NONE: u16 = u16::MAX;

/// Number of encodings.
const ENCODINGS: usize = Encoding::Exp as usize + 1;

/// The look-up of one processor: encoding and opcode to entry, and op to entries.
#[derive(Debug)]
pub(super) struct Tables {
    entries: Vec<Entry>,
    by_opcode: [Vec<u16>; ENCODINGS],
    by_op: Vec<ArrayVec<(Encoding, u16), 4>>,
}

static TABLES: [OnceLock<Tables>; VERSIONS] = [const { OnceLock::new() }; VERSIONS];

impl Tables {
    /// The tables of a processor, built on first use.
    pub(super) fn of(arch: Arch) -> &'static Self {
        let index = Archs::index(arch);
        TABLES[index].get_or_init(|| Self::build(arch, Archs(1 << index)))
    }

    /// Every entry.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of an opcode.
    pub(super) fn by_opcode(&self, encoding: Encoding, opcode: u16) -> Option<&Entry> {
        let index = *self.by_opcode[encoding as usize].get(usize::from(opcode))?;
        self.entries.get(usize::from(index))
    }

    /// The entry of an op in an encoding.
    pub(super) fn by_op(&self, op: Op, encoding: Encoding) -> Option<&Entry> {
        let &(_, index) = self.by_op[op as usize].iter().find(|(other, _)| *other == encoding)?;
        self.entries.get(usize::from(index))
    }

    /// The entries of an op.
    pub(super) fn all_of(&self, op: Op) -> impl Iterator<Item = &Entry> {
        self.by_op[op as usize].iter().map(|&(_, index)| &self.entries[usize::from(index)])
    }

    fn build(arch: Arch, version: Archs) -> Self {
        let mut tables = Self {
            entries: Vec::with_capacity(2048),
            by_opcode: [const { Vec::new() }; ENCODINGS],
            by_op: vec![ArrayVec::new(); Op::ALL.len()],
        };
        for (encoding, rows) in TABLE_OF {
            for row in rows.iter().filter(|row| row.archs.0 & version.0 != 0) {
                tables.add(arch, *encoding, row.opcode, row, row.operands.iter().copied().collect());
                super::forms::derive(*encoding, row, |form, opcode, specs| {
                    tables.add(arch, form, opcode, row, specs);
                });
            }
        }
        tables
    }

    fn add(&mut self, arch: Arch, encoding: Encoding, opcode: u16, row: &Row, specs: Specs) {
        let index = u16::try_from(self.entries.len()).expect("fewer than 65535 opcodes");
        let modifiers = fields::modifiers_of(arch, encoding, &specs, row.flags);
        let used = fields::used_bits(arch, encoding, &specs, &modifiers);
        let ignored = fields::ignored_bits(arch, encoding, &specs, row.flags) & !used;
        let rest = fields::rest_bits(encoding, row.flags) & ignored;
        let suffix = match encoding {
            _ if row.flags.has(BARE) => "",
            Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc | Encoding::Vintrp => "_e32",
            Encoding::Vop3 if row.flags.has(E64) => "_e64",
            Encoding::Vop1Sdwa | Encoding::Vop2Sdwa | Encoding::VopcSdwa => "_sdwa",
            Encoding::Vop1Dpp | Encoding::Vop2Dpp => "_dpp",
            _ => "",
        };
        let by_opcode = &mut self.by_opcode[encoding as usize];
        let slot = usize::from(opcode);
        if by_opcode.len() <= slot {
            by_opcode.resize(slot + 1, NONE);
        }
        debug_assert_eq!(by_opcode[slot], NONE, "{encoding:?} opcode {opcode} stands twice in the tables");
        by_opcode[slot] = index;
        self.by_op[row.op as usize].push((encoding, index));
        let places = specs.iter().map(|spec| fields::field_of(encoding, spec.slot)).collect();
        self.entries.push(Entry {
            places,
            op: row.op,
            opcode,
            encoding,
            specs,
            flags: row.flags,
            modifiers,
            used,
            ignored,
            rest,
            suffix,
        });
    }
}
