//! What opcodes take and do, whatever generation has them and under which number: operands, in the order of
//! LLVM's text, and properties.
//!
//! A file an encoding holds `signatures!` lists: `mnemonic [slot type, …] [properties];`. The tables of a
//! generation (`gcn`) give those that it has a number, and say which longer forms there are. `slots` is the
//! vocabulary of operands.

mod actions;
pub(crate) mod ds;
pub(crate) mod exp;
pub(crate) mod flat;
pub(crate) mod image;
pub(crate) mod mimg;
pub(crate) mod mtbuf;
pub(crate) mod mubuf;
pub(crate) mod rdna;
pub(crate) mod rdna3;
pub(crate) mod rdna4;
mod slots;
pub(crate) mod smem;
pub(crate) mod sop1;
pub(crate) mod sop2;
pub(crate) mod sopc;
pub(crate) mod sopk;
pub(crate) mod sopp;
pub(crate) mod vintrp;
pub(crate) mod vop1;
pub(crate) mod vop2;
pub(crate) mod vop3;
pub(crate) mod vop3p;
pub(crate) mod vop3px;
pub(crate) mod vopc;

use crate::action::Action;
use crate::{Access, Op, Slot};
use image::ImageAddress;

/// What an operand's bits mean. It gives the width of a register tuple, how constants print, and whether
/// source modifiers mean negate/absolute (floats) or sign-extend (integers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    I16,
    /// An exponent of 16 bits, or bytes of small floats, whose constants are written as halves.
    Exponent16,
    F16,
    BF16,
    /// Two halves in one register, where a 32-bit literal stands for both.
    V2F16,
    /// As that, if an inline constant stands for both halves as well.
    V2F16Splat,
    V2BF16,
    /// Two halves of memory: a register, or one each ([`Feature::UnpackedHalves`](crate::Feature)): tables
    /// are built with I32 or I64 in its place.
    Halves2,
    /// Three: two registers or three.
    Halves3,
    /// Four: two registers or four.
    Halves4,
    I32,
    F32,
    I64,
    /// A bit a lane: carries, results of comparisons. A pair of registers, or one where waves have 32 lanes;
    /// tables are built with I64 or I32 in its place.
    Lanes,
    F64,
    /// A matrix's accumulator: eight registers, or four where waves have 64 lanes; tables are built with B256
    /// or B128 in its place.
    Matrix,
    /// As that, of half as many registers: B128 or I64.
    HalfMatrix,
    /// Of a quarter: I64 or I32.
    QuarterMatrix,
    /// Where the values of a sparse matrix stand, of one in so many parts of a register; tables are built
    /// with Keys16 or Keys8.
    Keys,
    /// As that, with I32 or Keys16.
    WideKeys,
    /// Half a register.
    Keys16,
    /// A quarter.
    Keys8,
    /// Two floats in a register pair (packed math).
    V2F32,
    /// Plain tuples: memory data, resources, matrices.
    B96,
    B128,
    B192,
    B256,
    B320,
    B512,
    B1024,
}

impl Ty {
    /// Registers the operand spans.
    pub(crate) const fn dwords(self) -> u8 {
        match self {
            Self::I16 | Self::Exponent16 | Self::F16 | Self::BF16 | Self::I32 | Self::F32 => 1,
            Self::V2F16 | Self::V2F16Splat | Self::V2BF16 => 1,
            Self::Halves2 => 1,
            Self::Halves3 | Self::Halves4 => 2,
            Self::Keys | Self::WideKeys | Self::Keys16 | Self::Keys8 => 1,
            Self::I64 | Self::Lanes | Self::F64 | Self::V2F32 | Self::QuarterMatrix => 2,
            Self::B96 => 3,
            Self::B128 | Self::HalfMatrix => 4,
            Self::B192 => 6,
            Self::B256 | Self::Matrix => 8,
            Self::B320 => 10,
            Self::B512 => 16,
            Self::B1024 => 32,
        }
    }

    /// One value of 16 bits.
    pub(crate) const fn is_half(self) -> bool {
        matches!(self, Self::I16 | Self::Exponent16 | Self::F16 | Self::BF16)
    }

    /// Takes negate and absolute modifiers.
    pub(crate) const fn is_float(self) -> bool {
        matches!(
            self,
            Self::F16 | Self::BF16 | Self::V2F16 | Self::V2F16Splat | Self::V2BF16 | Self::F32 | Self::F64
        )
    }
}

/// What a SIMM16 field means, which decides its sign and its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImmKind {
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
    /// The version of a code object.
    Version,
    /// A message.
    Sendmsg,
    /// A hardware register with offset and size.
    Hwreg,
    /// What `s_delay_alu` waits for.
    DelayAlu,
    /// What `s_waitcnt_depctr` waits for.
    DepCtr,
    /// VGPR indexing mode.
    GprIdx,
    /// Unsigned, decimal, not printed when zero.
    Optional,
    /// Bytes: signed, in hexadecimal.
    Bytes,
    /// What an export goes to.
    ExpTarget,
    /// A parameter of a triangle: P10, P20 or P0.
    Param,
    /// An attribute and its channel: four times the one plus the other.
    Attribute,
}

/// What values an operand's field can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// A scalar register, 7 bits.
    Sgpr,
    /// SMEM's data: a scalar register, but M0 and EXEC.
    Sdata,
    /// A scalar result in VDST, 8 bits: not M0. LLVM takes special sources as well.
    ScalarDst,
    /// A scalar register or constant, 8 bits; 255 is a literal.
    Ssrc,
    /// As that, or LDS_DIRECT.
    SsrcOrLds,
    /// A barrier: its number, or M0.
    Barrier,
    /// A scalar register in an 8- or 9-bit source field.
    SsrcReg,
    /// A carry or selection mask in a 9-bit field: a scalar register pair or a special source.
    Mask,
    /// A scalar register or inline constant in a 9-bit field (lane selects).
    SsrcInline,
    /// A vector register, 8 bits.
    Vgpr,
    /// VOPD's second destination: even where the first is odd, and odd where it is even.
    VgprY,
    /// A vector register in DPP's dword.
    DppVgpr,
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
    /// A vector register, or an accumulation register by ACC; at an even number from gfx90a on.
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
    /// Image address, where nothing tells its width.
    ImageAddr,
    /// Image address, as wide as the dimension and A16 say.
    ImageAddress(ImageAddress),
    /// As that, of an encoding that names every register: one in the first operand, up to four in each of the
    /// others.
    ImageAddresses(ImageAddress),
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
pub(crate) struct Spec {
    pub(crate) slot: Slot,
    pub(crate) class: Class,
    pub(crate) ty: Ty,
    pub(crate) access: Access,
}

/// Which operands are halves of vector registers: bits as OP_SEL has them. Scalar results and sources are
/// none.
pub(crate) fn halves(specs: &[Spec]) -> u8 {
    let is_vector = |spec: &&Spec| !matches!(spec.class, Class::ScalarDst | Class::SsrcOrLds);
    let bit = |spec: &Spec| match spec.slot {
        Slot::Src0 => 1,
        Slot::Src1 => 2,
        Slot::Src2 => 4,
        Slot::Vdst => 8,
        _ => 0,
    };
    specs.iter().filter(|spec| spec.ty.is_half()).filter(is_vector).fold(0, |all, spec| all | bit(spec))
}

/// Properties of an opcode, as a bit set: of its [`Signature`], and of its row in a generation's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flags(pub(crate) u128);

impl Flags {
    pub(crate) const NONE: Self = Self(0);

    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// One line of each property: its name in the tables and its meaning.
macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident = $bit:literal;)*) => {
        $($(#[$doc])* pub(crate) const $name: Flags = Flags(1 << $bit);)*
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
    /// Has a DPP8 form.
    DPP8 = 54;
    /// Has DPP and DPP8 forms of VOP3 or VOP3P.
    E64_DPP = 55;
    /// A dot product or matrix whose NEG says which sources are signed.
    SIGNED_BY_NEG = 56;
    /// Negation and absolute value of sources that have no use for them must be zero.
    STRICT_MODS = 57;
    /// Sources take negation and absolute value although they are whole numbers.
    SRC_MODS = 58;
    /// The text leaves OP_SEL out: the names of halves of registers say it.
    SILENT_OP_SEL = 59;
    /// OP_SEL's bits of sources that are whole registers mean nothing.
    IDLE_OP_SEL = 60;
    /// OP_SEL's two lowest bits say which byte of the source is read, the lowest the higher.
    BYTE_SOURCE = 61;
    /// A dot product or matrix of which the addend alone may be negated.
    NEGATES_ADDEND = 62;
    /// The text names the byte that OP_SEL says.
    NAMES_BYTE = 63;
    /// The text names halves of registers always: LLVM has none without.
    NAMES_HALVES = 64;
    /// OP_SEL's bits of whole registers are shown where halves are named, although they mean nothing.
    SHOWS_ALL = 65;
    /// Its two offsets count 64 elements each (`ds_read2st64_b32`).
    BY_64 = 66;
    /// What memory is compared with is the last operand (`ds_cmpstore_b32`).
    COMPARES_LAST = 67;
    /// The address has four times the lane's number added (`global_load_addtid_dword`).
    ADDS_LANE = 68;
    /// Runs in the unit for transcendental functions.
    TRANS = 69;
    /// A dot product.
    DOT = 70;
    /// Moves values between lanes by the hardware of LDS, without its memory.
    MOVES_LANES = 71;
    /// Has to do with a barrier.
    BARRIER = 72;
    /// Scalar memory that is scratch.
    SCRATCH = 73;
    /// Converts numbers from one format to another.
    CVT = 74;
    /// Takes its sources in the other order.
    REVERSED = 75;
    /// A literal is extended to 64 bits with its sign.
    SIGNED_64 = 76;
    /// An atomic whose operand lies in LDS as well.
    SOURCE_IN_LDS = 77;
    /// The result of its SDWA form is a whole register.
    SDWA_DWORD = 78;
}

/// What an opcode takes and does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signature {
    pub(crate) op: Op,
    /// In the order of LLVM's text.
    pub(crate) operands: &'static [Spec],
    pub(crate) flags: Flags,
    /// Its access to memory, or what matrices it multiplies.
    pub(crate) action: Option<Action>,
}

/// A list: `mnemonic [slot type, …] [properties];`, one opcode a line. Behind the properties stands its
/// action, if that is an access to memory, a product of matrices, a comparison or a conversion of small
/// floats, or the numbers that it takes, where the types of its operands do not tell: `load u8`,
/// `atomic add_b32`, `mfma (32 8 1 f16 f16 f32)`, `compare (lt f32)`, `convert (fp8 f32 pk scaled)`,
/// `numbers (f32 f16 f16 f32)`. `actions` has the words. Each becomes a constant of its name.
macro_rules! signatures {
    ($($op:ident [$($slot:ident $ty:ident),*] [$($flag:ident)*] $($verb:ident $what:tt)?;)*) => {
        $(
            #[expect(non_upper_case_globals, reason = "it is called by the mnemonic")]
            pub(crate) const $op: $crate::signature::Signature = $crate::signature::Signature {
                op: $crate::Op::$op,
                operands: &[$($crate::signature::slots::$slot($crate::signature::Ty::$ty)),*],
                flags: $crate::signature::Flags::NONE$(.with($crate::signature::$flag))*,
                action: $crate::signature::action!($($verb $what)?),
            };
        )*
    };
}
use signatures;

/// The action of a row, if it has one.
macro_rules! action {
    () => {
        None
    };
    ($verb:ident $what:ident) => {
        Some($crate::signature::actions::$verb($crate::signature::actions::$what))
    };
    (compare ($relation:ident $operands:ident)) => {{
        use $crate::signature::actions as words;
        Some(words::compare(words::relations::$relation, words::compared::$operands))
    }};
    (convert ($to:ident $from:ident $($manner:ident)*)) => {{
        use $crate::signature::actions as words;
        let conversion = words::one(words::small_floats::$to, words::small_floats::$from);
        $(let conversion = words::manners::$manner(conversion);)*
        Some($crate::action::Action::Convert(conversion))
    }};
    (numbers ($result:ident $a:ident $b:ident $c:ident)) => {{
        use $crate::signature::actions as words;
        Some(words::numbers(
            words::kinds::$result,
            [words::kinds::$a, words::kinds::$b, words::kinds::$c],
        ))
    }};
    ($verb:ident ($size:literal $depth:literal $blocks:literal $a:ident $b:ident $result:ident)) => {{
        use $crate::signature::actions as words;
        Some(words::$verb(
            [$size, $depth, $blocks],
            words::elements::$a,
            words::elements::$b,
            words::accumulators::$result,
        ))
    }};
}
use action;
