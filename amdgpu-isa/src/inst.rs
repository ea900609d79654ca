//! The decoded form of an instruction, shared by every encoding.
//!
//! An [`Inst`] is what the tables decode to and encode from. Its operands stand in the order of LLVM's
//! assembly text, destinations first, **with implicit VCC operands made explicit**:
//! `v_add_co_u32_e32 v0, vcc, v1, v2` and its `_e64` form have the same operand list, and so have the two
//! forms of `v_cndmask_b32` and of every comparison. What is left implicit (EXEC, SCC, M0, MODE) is told by
//! `Inst::effects`.

use arrayvec::ArrayVec;

use super::{Op, Special, scalar};

/// The machine encoding of an instruction (Vega ISA manual, chapter "Microcode Formats").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the manual's own names")]
pub enum Encoding {
    Sop2,
    Sopk,
    Sop1,
    Sopc,
    Sopp,
    Smem,
    Vop1,
    Vop1Sdwa,
    Vop1Dpp,
    Vop2,
    Vop2Sdwa,
    Vop2Dpp,
    Vopc,
    VopcSdwa,
    /// VOP3A and VOP3B: opcodes below 0x140 are the 64-bit forms of VOPC, VOP2 and VOP1.
    Vop3,
    /// Packed math, and (as VOP3P-MAI) the matrix instructions.
    Vop3p,
    /// A matrix instruction with scales: four dwords.
    Vop3px,
    /// Parameter interpolation; its 64-bit forms are VOP3's.
    Vintrp,
    Ds,
    Flat,
    Global,
    Scratch,
    Mubuf,
    Mtbuf,
    Mimg,
    /// Exports.
    Exp,
    /// Comparisons with DPP.
    VopcDpp,
    /// DPP8: each lane of eight reads the lane that a selector names.
    Vop1Dpp8,
    Vop2Dpp8,
    VopcDpp8,
    /// VOP3 with a third dword of DPP or DPP8 control.
    Vop3Dpp,
    Vop3Dpp8,
    Vop3pDpp,
    Vop3pDpp8,
    /// Two vector operations in one instruction.
    Vopd,
    /// Interpolation of attributes that LDSDIR loaded.
    Vinterp,
    /// Loads of attributes and of one dword of LDS.
    Ldsdir,
    /// Images, with a dword that names more registers of the address (non-sequential address).
    MimgNsa,
    /// As that, with two such dwords.
    MimgNsa2,
    /// As that, with three.
    MimgNsa3,
    /// Images without a sampler, each register of the address named in the place of its own.
    Vimage,
    /// As that, with a sampler.
    Vsample,
}

impl Encoding {
    /// Vector ALU, in whichever form.
    pub const fn is_vector_alu(self) -> bool {
        matches!(
            self,
            Self::Vop1
                | Self::Vop1Sdwa
                | Self::Vop1Dpp
                | Self::Vop2
                | Self::Vop2Sdwa
                | Self::Vop2Dpp
                | Self::Vopc
                | Self::VopcSdwa
                | Self::Vop3
                | Self::Vop3p
                | Self::Vop3px
                | Self::Vintrp
                | Self::VopcDpp
                | Self::Vop1Dpp8
                | Self::Vop2Dpp8
                | Self::VopcDpp8
                | Self::Vop3Dpp
                | Self::Vop3Dpp8
                | Self::Vop3pDpp
                | Self::Vop3pDpp8
                | Self::Vopd
                | Self::Vinterp
        )
    }

    /// Images, their address in a row of registers or each register named.
    pub const fn is_image(self) -> bool {
        matches!(self, Self::Mimg) || self.is_named_image()
    }

    /// Images, each register of their address named.
    pub const fn is_named_image(self) -> bool {
        matches!(self, Self::MimgNsa | Self::MimgNsa2 | Self::MimgNsa3 | Self::Vimage | Self::Vsample)
    }

    /// Data-parallel primitives by DPP_CTRL.
    pub const fn is_dpp(self) -> bool {
        matches!(self, Self::Vop1Dpp | Self::Vop2Dpp | Self::VopcDpp | Self::Vop3Dpp | Self::Vop3pDpp)
    }

    /// Data-parallel primitives by a selector for each of eight lanes.
    pub const fn is_dpp8(self) -> bool {
        matches!(self, Self::Vop1Dpp8 | Self::Vop2Dpp8 | Self::VopcDpp8 | Self::Vop3Dpp8 | Self::Vop3pDpp8)
    }

    /// VOP3 and its forms with lane permutation.
    pub const fn is_vop3(self) -> bool {
        matches!(self, Self::Vop3 | Self::Vop3Dpp | Self::Vop3Dpp8)
    }

    /// VOP3P and its forms with lane permutation.
    pub const fn is_vop3p(self) -> bool {
        matches!(self, Self::Vop3p | Self::Vop3pDpp | Self::Vop3pDpp8)
    }

    /// Once a wave, not for each lane.
    pub const fn is_scalar(self) -> bool {
        matches!(self, Self::Sop2 | Self::Sopk | Self::Sop1 | Self::Sopc | Self::Sopp | Self::Smem)
    }

    /// Sub-dword addressing.
    pub const fn is_sdwa(self) -> bool {
        matches!(self, Self::Vop1Sdwa | Self::Vop2Sdwa | Self::VopcSdwa)
    }
}

/// What an operand stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A scalar register by its number: SGPRs from 0 on, the others as in [`scalar`]. The first of a tuple.
    Scalar(u8),
    /// The first vector register of a tuple.
    Vgpr(u8),
    /// The first accumulation register of a tuple.
    Agpr(u8),
    /// An inline constant by its operand code: 128-192 are 0..=64, 193-208 are -1..=-16, 240-248 the floats
    /// 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1/(2π).
    Inline(u8),
    /// A special source.
    Special(Special),
    /// A 32-bit literal that follows the instruction.
    Literal(u32),
    /// An immediate field, sign-extended where the field is signed (SIMM16, SMEM offset, hwreg, …).
    Imm(i32),
    /// An address or offset register that is absent (`off`).
    Off,
    /// Vector registers that stand anywhere, up to four: as many as the operand has dwords. The others are
    /// zero.
    Vgprs([u8; 4]),
}

impl Value {
    /// VCC (both halves when the operand is 64 bits wide).
    pub const VCC: Self = Self::Scalar(scalar::VCC);
    /// M0.
    pub const M0: Self = Self::Scalar(scalar::M0);
    /// EXEC (both halves when the operand is 64 bits wide).
    pub const EXEC: Self = Self::Scalar(scalar::EXEC);

    /// The inline constant for an integer from -16 to 64, else a literal.
    pub const fn int(value: i32) -> Self {
        match value {
            0..=64 => Self::Inline(128 + value as u8),
            -16..=-1 => Self::Inline((192 - value) as u8),
            _ => Self::Literal(value as u32),
        }
    }
}

/// How an instruction uses an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Read only.
    Read,
    /// Written only (for a vector register: the active lanes).
    Write,
    /// Read, then written (accumulators, `v_swap_b32`, SDWA preserve, d16 halves).
    ReadWrite,
}

/// The encoding field an operand came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the manual's own field names")]
pub enum Slot {
    Sdst,
    Ssrc0,
    Ssrc1,
    Simm16,
    Sbase,
    Sdata,
    Soffset,
    Vdst,
    Src0,
    Src1,
    Src2,
    /// The fourth register of an export.
    Src3,
    Vaddr,
    /// More registers of an image address.
    Vaddr1,
    Vaddr2,
    Vaddr3,
    Vaddr4,
    Saddr,
    Vdata,
    Data0,
    Data1,
    Srsrc,
    Ssamp,
    /// The scales of a matrix instruction's A and B.
    ScaleA,
    ScaleB,
    /// The immediate OFFSET of SMEM, as an operand.
    Offset,
    /// Attribute, channel and other fields that LLVM prints as operands.
    Other,
    /// VOPD's second operation: destination and sources.
    VdstY,
    Src0Y,
    Src1Y,
    /// Not in the encoding: an implied VCC made explicit.
    Implied,
}

/// One operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    /// Its kind.
    pub value: Value,
    /// Where it is encoded.
    pub slot: Slot,
    /// How many consecutive 32-bit registers it spans (1 for 32 bits and less, 2 for 64 …); 0 for immediates.
    pub dwords: u8,
    /// Read, written or both.
    pub access: Access,
}

/// The operands of one instruction, in the order of LLVM's text.
pub type Operands = ArrayVec<Operand, 8>;

/// Which part of a register an SDWA operand selects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the manual's own names")]
#[repr(u8)]
pub enum SdwaSel {
    Byte0 = 0,
    Byte1 = 1,
    Byte2 = 2,
    Byte3 = 3,
    Word0 = 4,
    Word1 = 5,
    #[default]
    Dword = 6,
}

/// What happens to the bits of an SDWA destination that are not selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SdwaUnused {
    /// Zero them.
    #[default]
    Pad = 0,
    /// Sign-extend into the bits above, zero those below.
    Sext = 1,
    /// Keep them: the destination is also read.
    Preserve = 2,
}

/// Sub-dword addressing of one instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sdwa {
    /// Destination part (not for comparisons).
    pub dst_sel: SdwaSel,
    /// Destination's other bits (not for comparisons).
    pub dst_unused: SdwaUnused,
    /// Part of each source.
    pub src_sel: [SdwaSel; 2],
    /// Sign-extend each source.
    pub sext: [bool; 2],
}

/// Data-parallel primitives: the lane permutation of the first source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DppCtrl {
    /// The 9-bit DPP_CTRL field (Vega ISA manual, "DPP_CTRL Enumeration").
    pub ctrl: u16,
    /// Rows that are written.
    pub row_mask: u8,
    /// Banks that are written.
    pub bank_mask: u8,
    /// BOUND_CTRL: lanes out of range read zero instead of being disabled.
    pub bound_ctrl: bool,
}

/// Modifiers, zero where the encoding has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mods {
    /// Absolute value of source n, bit n.
    pub abs: u8,
    /// Negate source n, bit n (VOP3P: low half).
    pub neg: u8,
    /// VOP3P: negate the high half of source n.
    pub neg_hi: u8,
    /// OP_SEL, bit n for source n, bit 3 for the destination (VOP3), or the low half's selection (VOP3P).
    pub op_sel: u8,
    /// VOP3P: selection for the high half.
    pub op_sel_hi: u8,
    /// Output modifier: 0 none, 1 ×2, 2 ×4, 3 ÷2.
    pub omod: u8,
    /// Clamp.
    pub clamp: bool,
    /// Immediate byte offset: FLAT/GLOBAL/SCRATCH (signed), MUBUF, DS (first), in bytes or as the field has
    /// it.
    pub offset: i32,
    /// DS instructions with two offsets (`ds_read2_*`): the second.
    pub offset1: u8,
    /// GLC (gfx940: SC0): return the old value of an atomic, or coherence.
    pub glc: bool,
    /// SLC (gfx940: NT).
    pub slc: bool,
    /// gfx90a: SCC of FLAT/MUBUF (gfx940: SC1).
    pub scc: bool,
    /// DLC: coherence beyond the first-level cache of a shader array.
    pub dlc: bool,
    /// GFX12's temporal hint (TH): how soon data is used again. Its lowest bit is an atomic's GLC, and not
    /// among these.
    pub th: u8,
    /// GFX12's scope of coherence: compute unit, shader engine, device, system.
    pub scope: u8,
    /// Data goes to LDS.
    pub lds: bool,
    /// DS: global data share.
    pub gds: bool,
    /// MUBUF: VADDR holds an index.
    pub idxen: bool,
    /// MUBUF: VADDR holds an offset.
    pub offen: bool,
    /// MUBUF, MIMG: texture fail enable.
    pub tfe: bool,
    /// MTBUF: data and number format; from GFX10 on the number of both together (7 bits).
    pub format: u8,
    /// SMEM: SOFFSET is used.
    pub soffset_en: bool,
    /// MFMA: broadcast control (CBSZ).
    pub cbsz: u8,
    /// MFMA: broadcast block (ABID).
    pub abid: u8,
    /// MFMA: lane group swizzle (BLGP).
    pub blgp: u8,
    /// MIMG: component mask.
    pub dmask: u8,
    /// MIMG: unnormalised coordinates, array, 16-bit addresses, 16-bit data.
    pub unorm: bool,
    #[expect(missing_docs, reason = "see `unorm`")]
    pub da: bool,
    #[expect(missing_docs, reason = "see `unorm`")]
    pub a16: bool,
    #[expect(missing_docs, reason = "see `unorm`")]
    pub d16: bool,
    #[expect(missing_docs, reason = "see `unorm`")]
    pub lwe: bool,
    /// MIMG: the dimension, where the encoding has one.
    pub dim: u8,
    /// MIMG: the resource is 128 bits wide.
    pub r128: bool,
    /// VOP3's interpolation: the high half of the attribute.
    pub high: bool,
    /// DPP, and VOP3's `v_permlane16_swap_b32` and its like: inactive lanes are read.
    pub fi: bool,
    /// `v_permlane16_swap_b32` and its like: lanes that are not read give zero.
    pub bound_ctrl: bool,
    /// EXP: data is 16 bits wide, two values a register.
    pub compr: bool,
    /// EXP: the last export to its target.
    pub done: bool,
    /// EXP: EXEC is the valid mask of the pixels.
    pub vm: bool,
    /// EXP: M0 names a row.
    pub row_en: bool,
    /// Bits of the first two dwords that mean nothing to the instruction but are set (assemblers leave them
    /// zero). They are kept so that encoding gives back the same bytes.
    pub ignored: u64,
    /// As that, of the last dword behind these.
    pub ignored_control: u32,
    /// Sub-dword addressing, for the SDWA encodings.
    pub sdwa: Option<Sdwa>,
    /// Lane permutation, for the DPP encodings.
    pub dpp: Option<DppCtrl>,
    /// Which of eight lanes each of eight lanes reads, three bits each, for the DPP8 encodings.
    pub dpp8: Option<[u8; 3]>,
    /// VINTERP and LDSDIR: the count of exports, or of vector operations under way, that is waited for.
    pub wait: u8,
    /// VDSDIR: reads of vector registers by memory instructions are not waited for.
    pub wait_vsrc: bool,
    /// The second operation of VOPD.
    pub dual: Option<Op>,
}

impl Mods {
    /// What an image instruction that follows a ray always has: all four channels, plain coordinates, a
    /// resource of 128 bits.
    pub(crate) fn fix_for_ray(&mut self, has_unorm: bool) {
        (self.dmask, self.unorm, self.r128) = (0xf, has_unorm, true);
    }
}

/// One decoded instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inst {
    /// The mnemonic without the suffix of its encoding (`v_add_f32` for `_e32`, `_e64`, `_sdwa` and `_dpp`
    /// alike).
    pub op: Op,
    /// Its encoding.
    pub encoding: Encoding,
    /// Bytes in memory: 4 to 20, a literal included.
    pub size: u8,
    /// Operands, destinations first, in the order of LLVM's text.
    pub operands: Operands,
    /// Everything else.
    pub mods: Mods,
}
