//! Modifiers after the operands.

use std::fmt::{self, Write as _};

use crate::encoding::modifiers::Modifier;
use crate::encoding::table::Entry;
use crate::signature::image::DIMENSIONS;
use crate::signature::{
    ACCVGPR, ATOMIC, BITOP3, BLGP_NEG, BYTE_RESULT, BYTE_SOURCE, Class, FROM_LDS, GDS_ONLY, HIGH, MAI, MIX,
    NAMES_BYTE, NO_DST_SEL, NO_OPSEL, SILENT_OP_SEL, SPARSE, STORE, SWAPS_ROWS, SWIZZLE, TWO_OFFSETS,
};
use crate::{Access, Arch, Feature, Generation};
use crate::{DppCtrl, Encoding, Inst, Mods, Sdwa, SdwaSel, SdwaUnused, Slot};

/// Writes every modifier of an instruction.
pub(super) fn write(out: &mut String, arch: Arch, inst: &Inst, entry: &Entry) -> fmt::Result {
    let mods = &inst.mods;
    match inst.encoding {
        Encoding::Smem => {
            flag(out, "glc", mods.glc);
            flag(out, "dlc", mods.dlc);
            write_hint(out, entry, mods)?;
        }
        encoding if encoding.is_vop3() => {
            write_vop3(out, entry, mods)?;
            write_permutation(out, arch, mods)?;
        }
        encoding if encoding.is_vop3p() => {
            write_vop3p(out, arch, entry, mods)?;
            write_permutation(out, arch, mods)?;
        }
        Encoding::Vinterp => {
            flag(out, "clamp", mods.clamp);
            if mods.op_sel != 0 {
                write_bits(out, "op_sel", mods.op_sel, 3, Some(3))?;
            }
            write!(out, " wait_exp:{}", mods.wait)?;
        }
        Encoding::Ldsdir if entry.has(Modifier::WaitVsrc) => {
            write!(out, " wait_va_vdst:{} wait_vm_vsrc:{}", mods.wait, u8::from(mods.wait_vsrc))?;
        }
        Encoding::Ldsdir => write!(out, " wait_vdst:{}", mods.wait)?,
        Encoding::Vop3px => {
            // The bits of a third source, which there is not, are shown.
            if mods.op_sel != 0 {
                write_bits(out, "op_sel", mods.op_sel, 3, None)?;
            }
            write_bits(out, "op_sel_hi", mods.op_sel_hi, 3, None)?;
            write_vop3p(out, arch, entry, mods)?;
        }
        Encoding::Vop1Sdwa | Encoding::Vop2Sdwa | Encoding::VopcSdwa => {
            if let (Some(sdwa), false) = (mods.sdwa, entry.specs.is_empty()) {
                write_clamp_omod(out, mods);
                write_sdwa(out, inst, entry, &sdwa)?;
            }
        }
        encoding if encoding.is_dpp() || encoding.is_dpp8() => write_permutation(out, arch, mods)?,
        Encoding::Ds => write_ds(out, arch, entry, mods)?,
        Encoding::Flat | Encoding::Global | Encoding::Scratch => {
            write_offset(out, mods.offset)?;
            write_cache_policy(out, arch, entry, mods)?;
            flag(out, "lds", mods.lds);
        }
        Encoding::Mubuf => {
            write_buffer_address(out, mods)?;
            // Where it is always set, LDS stands first.
            flag(out, "lds", entry.flags.has(FROM_LDS));
            write_cache_policy(out, arch, entry, mods)?;
            flag(out, "lds", mods.lds && !entry.flags.has(FROM_LDS));
            flag(out, "tfe", mods.tfe);
        }
        Encoding::Mtbuf => {
            write_format(out, arch, mods.format)?;
            write_buffer_address(out, mods)?;
            write_cache_policy(out, arch, entry, mods)?;
            flag(out, "tfe", mods.tfe);
        }
        // The rest is fixed.
        encoding if encoding.is_image() && entry.is_ray() => flag(out, "a16", mods.a16),
        encoding if encoding.is_image() => {
            if mods.dmask != 0 {
                write!(out, " dmask:{:#x}", mods.dmask)?;
            }
            if entry.has(Modifier::Dim) {
                write!(out, " dim:{}", DIMENSIONS[usize::from(mods.dim & 7)].name)?;
            }
            flag(out, "unorm", mods.unorm);
            write_cache_policy(out, arch, entry, mods)?;
            flag(out, "r128", mods.r128);
            flag(out, "a16", mods.a16);
            flag(out, "tfe", mods.tfe);
            flag(out, "lwe", mods.lwe);
            flag(out, "da", mods.da);
            flag(out, "d16", mods.d16);
        }
        Encoding::Exp => {
            flag(out, "done", mods.done);
            flag(out, "compr", mods.compr);
            flag(out, "vm", mods.vm);
            flag(out, "row_en", mods.row_en);
        }
        _ => {}
    }
    Ok(())
}

/// GFX12's temporal hint and scope.
fn write_hint(out: &mut String, entry: &Entry, mods: &Mods) -> fmt::Result {
    let is_atomic = entry.flags.has(ATOMIC);
    let hint = mods.th | u8::from(is_atomic && mods.glc);
    if hint != 0 && entry.has(Modifier::Scope) {
        let kind = HintKind::of(entry);
        match hint_name(kind, hint, mods.scope) {
            Some(name) => write!(out, " th:{}{name}", kind.prefix())?,
            None if is_atomic => write!(out, " th:{}{hint:#x}", kind.prefix())?,
            None => write!(out, " th:{hint:#x}")?,
        }
    }
    if mods.scope != 0 {
        write!(out, " scope:SCOPE_{}", SCOPES[usize::from(mods.scope & 3)])?;
    }
    Ok(())
}

/// RDNA 4 ISA, table "SCOPE": LLVM's names.
pub(crate) const SCOPES: [&str; 4] = ["CU", "SE", "DEV", "SYS"];

/// What a temporal hint is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HintKind {
    Load,
    Store,
    Atomic,
}

impl HintKind {
    pub(crate) const ALL: [Self; 3] = [Self::Load, Self::Store, Self::Atomic];

    pub(crate) fn of(entry: &Entry) -> Self {
        match () {
            () if entry.flags.has(ATOMIC) => Self::Atomic,
            () if entry.flags.has(STORE) => Self::Store,
            () => Self::Load,
        }
    }

    /// What LLVM puts before the name of a hint.
    pub(crate) const fn prefix(self) -> &'static str {
        match self {
            Self::Load => "TH_LOAD_",
            Self::Store => "TH_STORE_",
            Self::Atomic => "TH_ATOMIC_",
        }
    }
}

/// RDNA 4 ISA, tables "TH Policies": LLVM's names of hints, without what stands before each.
pub(crate) fn hint_name(kind: HintKind, hint: u8, scope: u8) -> Option<&'static str> {
    const DEVICE: u8 = 2;
    const SYSTEM: u8 = 3;
    Some(match (kind, hint) {
        (HintKind::Atomic, 0) => "RT",
        (HintKind::Atomic, 1) => "RETURN",
        (HintKind::Atomic, 2) => "NT",
        (HintKind::Atomic, 3) => "NT_RETURN",
        (HintKind::Atomic, 4 | 5) if scope >= DEVICE => "CASCADE_RT",
        (HintKind::Atomic, 6 | 7) if scope >= DEVICE => "CASCADE_NT",
        (HintKind::Atomic, _) => return None,
        (_, 0) => "RT",
        (_, 1) => "NT",
        (_, 2) => "HT",
        (_, 3) if scope == SYSTEM => "BYPASS",
        (HintKind::Load, 3) => "LU",
        (HintKind::Store, 3) => "WB",
        (_, 4) => "NT_RT",
        (_, 5) => "RT_NT",
        (_, 6) => "NT_HT",
        (HintKind::Store, 7) => "NT_WB",
        _ => return None,
    })
}

fn flag(out: &mut String, name: &str, set: bool) {
    if set {
        out.push(' ');
        out.push_str(name);
    }
}

fn write_offset(out: &mut String, offset: i32) -> fmt::Result {
    if offset != 0 { write!(out, " offset:{offset}") } else { Ok(()) }
}

fn write_clamp_omod(out: &mut String, mods: &Mods) {
    flag(out, "clamp", mods.clamp);
    write_omod(out, mods);
}

fn write_omod(out: &mut String, mods: &Mods) {
    out.push_str(["", " mul:2", " mul:4", " div:2"][usize::from(mods.omod & 3)]);
}

/// gfx940 renamed the cache bits.
fn write_cache_policy(out: &mut String, arch: Arch, entry: &Entry, mods: &Mods) -> fmt::Result {
    if entry.has(Modifier::Scope) {
        return write_hint(out, entry, mods);
    }
    let [glc, slc, scc] =
        if arch.has(Feature::ScopedCachePolicy) { ["sc0", "nt", "sc1"] } else { ["glc", "slc", "scc"] };
    flag(out, glc, mods.glc);
    flag(out, slc, mods.slc);
    flag(out, scc, mods.scc);
    flag(out, "dlc", mods.dlc);
    Ok(())
}

/// ` name:[a,b,…]` of the first `count` bits and, if `last` is given, of that one.
fn write_bits(out: &mut String, name: &str, bits: u8, count: u32, last: Option<u32>) -> fmt::Result {
    write!(out, " {name}:[")?;
    for (index, bit) in (0..count).chain(last).enumerate() {
        write!(out, "{}{}", if index == 0 { "" } else { "," }, bits >> bit & 1)?;
    }
    out.push(']');
    Ok(())
}

/// How many sources an opcode has.
fn sources(entry: &Entry) -> u32 {
    let sources = entry.specs.iter().filter(|spec| matches!(spec.slot, Slot::Src0 | Slot::Src1 | Slot::Src2));
    // The half that is added to is the third.
    let accumulates = entry.halves != 0
        && entry.specs.iter().any(|spec| spec.slot == Slot::Vdst && spec.access == Access::ReadWrite);
    sources.count() as u32 + u32::from(accumulates)
}

fn write_vop3(out: &mut String, entry: &Entry, mods: &Mods) -> fmt::Result {
    flag(out, "high", mods.high);
    flag(out, "bound_ctrl:1", mods.bound_ctrl);
    flag(out, "fi:1", mods.fi && mods.dpp.is_none() && mods.dpp8.is_none());
    if entry.flags.has(BITOP3) {
        let table = mods.omod << 6 | mods.abs << 3 | mods.neg;
        if table != 0 {
            // LLVM writes hexadecimal from 11 on.
            match table {
                0..=10 => write!(out, " bitop3:{table}")?,
                _ => write!(out, " bitop3:{table:#x}")?,
            }
        }
    }
    // Interpolations have it before OP_SEL.
    flag(out, "clamp", mods.clamp && entry.flags.has(HIGH));
    if entry.flags.has(NAMES_BYTE) {
        let byte = match () {
            () if entry.flags.has(BYTE_SOURCE) => mods.op_sel >> 1 & 1 | (mods.op_sel & 1) << 1,
            () => mods.op_sel >> 2,
        };
        if byte != 0 {
            write!(out, " byte_sel:{byte}")?;
        }
    } else if entry.flags.has(SWAPS_ROWS) && mods.op_sel != 0 {
        // FI and BOUND_CTRL alone.
        write_bits(out, "op_sel", mods.op_sel, 2, None)?;
    } else if mods.op_sel != 0 && !entry.flags.has(SILENT_OP_SEL) {
        // An attribute counts as a source.
        let whole = entry.flags.has(BYTE_RESULT) || entry.flags.has(HIGH);
        let sources = if whole { 3 } else { sources(entry) };
        // Comparisons write a mask, and show its bit but where lanes are permuted.
        let is_permuted = mods.dpp.is_some() || mods.dpp8.is_some();
        let has_result = entry
            .specs
            .iter()
            .any(|spec| spec.slot == Slot::Vdst && !(spec.class == Class::Mask && is_permuted));
        write_bits(out, "op_sel", mods.op_sel, sources, has_result.then_some(3))?;
    }
    if entry.flags.has(BITOP3) {
        return Ok(());
    }
    if entry.flags.has(HIGH) {
        write_omod(out, mods);
    } else {
        write_clamp_omod(out, mods);
    }
    Ok(())
}

fn write_vop3p(out: &mut String, arch: Arch, entry: &Entry, mods: &Mods) -> fmt::Result {
    if entry.flags.has(ACCVGPR) {
        return Ok(());
    }
    if entry.flags.has(MAI) && arch.has(Feature::AccumulationVgprs) {
        for (name, value) in [("cbsz", mods.cbsz), ("abid", mods.abid)] {
            if value != 0 {
                write!(out, " {name}:{value}")?;
            }
        }
        return match mods.blgp {
            0 => Ok(()),
            blgp if entry.flags.has(BLGP_NEG) => write_bits(out, "neg", blgp, 3, None),
            blgp => write!(out, " blgp:{blgp}"),
        };
    }
    if entry.flags.has(SPARSE) && mods.op_sel != 0 {
        write!(out, " index_key:{}", mods.op_sel)?;
    }
    let count = sources(entry);
    let all = (1 << count) - 1;
    let mixes = entry.flags.has(MIX);
    if !entry.flags.has(NO_OPSEL) {
        if mods.op_sel != 0 {
            write_bits(out, "op_sel", mods.op_sel, count, None)?;
        }
        // Packed math takes the high halves unless told otherwise; mixed math takes singles.
        let at_rest = if mixes { 0 } else { all };
        if mods.op_sel_hi & all != at_rest {
            write_bits(out, "op_sel_hi", mods.op_sel_hi, count, None)?;
        }
    }
    if !mixes {
        for (name, bits) in [("neg_lo", mods.neg), ("neg_hi", mods.neg_hi)] {
            if bits != 0 {
                write_bits(out, name, bits, count, None)?;
            }
        }
    }
    flag(out, "clamp", mods.clamp);
    Ok(())
}

fn write_sdwa(out: &mut String, inst: &Inst, entry: &Entry, sdwa: &Sdwa) -> fmt::Result {
    let name = |sel: SdwaSel| match sel {
        SdwaSel::Byte0 => "BYTE_0",
        SdwaSel::Byte1 => "BYTE_1",
        SdwaSel::Byte2 => "BYTE_2",
        SdwaSel::Byte3 => "BYTE_3",
        SdwaSel::Word0 => "WORD_0",
        SdwaSel::Word1 => "WORD_1",
        SdwaSel::Dword => "DWORD",
    };
    if inst.encoding != Encoding::VopcSdwa && !entry.flags.has(NO_DST_SEL) {
        let unused = match sdwa.dst_unused {
            SdwaUnused::Pad => "UNUSED_PAD",
            SdwaUnused::Sext => "UNUSED_SEXT",
            SdwaUnused::Preserve => "UNUSED_PRESERVE",
        };
        write!(out, " dst_sel:{} dst_unused:{unused}", name(sdwa.dst_sel))?;
    }
    for (source, sel) in sdwa.src_sel.into_iter().enumerate().take(sources(entry) as usize) {
        write!(out, " src{source}_sel:{}", name(sel))?;
    }
    Ok(())
}

/// DPP's or DPP8's lanes.
fn write_permutation(out: &mut String, arch: Arch, mods: &Mods) -> fmt::Result {
    if let Some(dpp) = mods.dpp {
        write_dpp(out, arch, &dpp)?;
    }
    if let Some([a, b, c]) = mods.dpp8 {
        let lanes = u32::from_le_bytes([a, b, c, 0]);
        out.push_str(" dpp8:[");
        for lane in 0..8 {
            write!(out, "{}{}", if lane == 0 { "" } else { "," }, lanes >> (3 * lane) & 7)?;
        }
        out.push(']');
    }
    flag(out, "fi:1", mods.fi && (mods.dpp.is_some() || mods.dpp8.is_some()));
    Ok(())
}

fn write_dpp(out: &mut String, arch: Arch, dpp: &DppCtrl) -> fmt::Result {
    let count = dpp.ctrl & 0xf;
    match dpp.ctrl {
        0..=0xff => {
            let lane = |index: u16| dpp.ctrl >> (2 * index) & 3;
            write!(out, " quad_perm:[{},{},{},{}]", lane(0), lane(1), lane(2), lane(3))?;
        }
        0x100..=0x10f => write!(out, " row_shl:{count}")?,
        0x110..=0x11f => write!(out, " row_shr:{count}")?,
        0x120..=0x12f => write!(out, " row_ror:{count}")?,
        0x130 => out.push_str(" wave_shl:1"),
        0x134 => out.push_str(" wave_rol:1"),
        0x138 => out.push_str(" wave_shr:1"),
        0x13c => out.push_str(" wave_ror:1"),
        0x140 => out.push_str(" row_mirror"),
        0x141 => out.push_str(" row_half_mirror"),
        0x142 => out.push_str(" row_bcast:15"),
        0x143 => out.push_str(" row_bcast:31"),
        0x150..=0x15f if arch.has(Feature::DppPairs) => write!(out, " row_newbcast:{count}")?,
        0x150..=0x15f => write!(out, " row_share:{count}")?,
        0x160..=0x16f => write!(out, " row_xmask:{count}")?,
        _ => out.push_str(" /*reserved*/"),
    }
    write!(out, " row_mask:{:#x} bank_mask:{:#x}", dpp.row_mask, dpp.bank_mask)?;
    flag(out, "bound_ctrl:1", dpp.bound_ctrl);
    Ok(())
}

fn write_ds(out: &mut String, arch: Arch, entry: &Entry, mods: &Mods) -> fmt::Result {
    if entry.flags.has(TWO_OFFSETS) {
        for (name, offset) in [("offset0", mods.offset), ("offset1", mods.offset1.into())] {
            if offset != 0 {
                write!(out, " {name}:{offset}")?;
            }
        }
    } else if entry.flags.has(SWIZZLE) {
        write_swizzle(out, arch, mods.offset as u16)?;
    } else {
        write_offset(out, mods.offset)?;
    }
    flag(out, "gds", mods.gds || entry.flags.has(GDS_ONLY));
    Ok(())
}

/// Lane patterns of `ds_swizzle_b32` (Vega ISA, DS_SWIZZLE_B32).
fn write_swizzle(out: &mut String, arch: Arch, offset: u16) -> fmt::Result {
    if offset == 0 {
        return Ok(());
    }
    out.push_str(" offset:");
    match offset {
        0xc000.. if !arch.has(Feature::SwizzleModes) => return write!(out, "{offset}"),
        0xe000.. => return write!(out, "swizzle(FFT,{})", offset & 0x1f),
        0xc000..0xe000 => return write!(out, "swizzle(ROTATE,{},{})", offset >> 10 & 1, offset >> 5 & 0x1f),
        0x8000..0x8100 => {
            let lane = |index: u16| offset >> (2 * index) & 3;
            return write!(out, "swizzle(QUAD_PERM,{},{},{},{})", lane(0), lane(1), lane(2), lane(3));
        }
        0x8100..0xc000 => return write!(out, "{offset}"),
        _ => {}
    }
    let (and, or, xor) = (offset & 0x1f, offset >> 5 & 0x1f, offset >> 10);
    let group = 32 - and;
    if and == 0x1f && or == 0 && xor.is_power_of_two() {
        write!(out, "swizzle(SWAP,{xor})")
    } else if and == 0x1f && or == 0 && xor > 0 && (xor + 1).is_power_of_two() {
        write!(out, "swizzle(REVERSE,{})", xor + 1)
    } else if group > 1 && group.is_power_of_two() && or < group && xor == 0 {
        write!(out, "swizzle(BROADCAST,{group},{or})")
    } else {
        out.push_str("swizzle(BITMASK_PERM,\"");
        for bit in (0..5).rev() {
            let of_zero = (or ^ xor) >> bit & 1;
            let of_one = ((and | or) ^ xor) >> bit & 1;
            out.push(match (of_zero, of_one) {
                (0, 0) => '0',
                (1, 1) => '1',
                (0, _) => 'p',
                _ => 'i',
            });
        }
        out.push_str("\")");
        Ok(())
    }
}

fn write_buffer_address(out: &mut String, mods: &Mods) -> fmt::Result {
    flag(out, "idxen", mods.idxen);
    flag(out, "offen", mods.offen);
    write_offset(out, mods.offset)
}

/// MTBUF's format. 8 and UNORM are LLVM's defaults.
fn write_format(out: &mut String, arch: Arch, format: u8) -> fmt::Result {
    let names = buffer_formats(arch.generation());
    match names.get(usize::from(format)) {
        _ if names.is_empty() => write_split_format(out, format),
        _ if format == DEFAULT_FORMAT => Ok(()),
        Some(name) => write!(out, " format:[BUF_FMT_{name}]"),
        None => write!(out, " format:{format}"),
    }
}

/// As that: data format in the low four bits, number format above.
fn write_split_format(out: &mut String, format: u8) -> fmt::Result {
    const DATA: [&str; 16] = [
        "INVALID",
        "8",
        "16",
        "8_8",
        "32",
        "16_16",
        "10_11_11",
        "11_11_10",
        "10_10_10_2",
        "2_10_10_10",
        "8_8_8_8",
        "32_32",
        "16_16_16_16",
        "32_32_32",
        "32_32_32_32",
        "RESERVED_15",
    ];
    const NUMBER: [&str; 8] = ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED_6", "FLOAT"];
    let data = DATA[usize::from(format & 0xf)];
    let number = NUMBER[usize::from(format >> 4 & 7)];
    match (format & 0xf, format >> 4) {
        (1, 0) => Ok(()),
        (1, _) => write!(out, " format:[BUF_NUM_FORMAT_{number}]"),
        (_, 0) => write!(out, " format:[BUF_DATA_FORMAT_{data}]"),
        _ => write!(out, " format:[BUF_DATA_FORMAT_{data},BUF_NUM_FORMAT_{number}]"),
    }
}

/// The format that is left out of the text: one byte, from 0 to 1.
pub(crate) const DEFAULT_FORMAT: u8 = 1;

/// The formats of typed buffers that have one number, without what LLVM puts before each. GFX8
/// and GFX9 have two numbers.
pub(crate) const fn buffer_formats(generation: Generation) -> &'static [&'static str] {
    match generation {
        Generation::Gfx8 | Generation::Gfx9 => &[],
        Generation::Gfx10 => &GFX10_FORMATS,
        Generation::Gfx11 | Generation::Gfx12 => &GFX11_FORMATS,
    }
}

/// RDNA 2 ISA, table "Buffer image formats".
#[rustfmt::skip]
const GFX10_FORMATS: [&str; 78] = [
    "INVALID", "8_UNORM", "8_SNORM", "8_USCALED", "8_SSCALED", "8_UINT", "8_SINT", "16_UNORM", "16_SNORM",
    "16_USCALED", "16_SSCALED", "16_UINT", "16_SINT", "16_FLOAT", "8_8_UNORM", "8_8_SNORM", "8_8_USCALED",
    "8_8_SSCALED", "8_8_UINT", "8_8_SINT", "32_UINT", "32_SINT", "32_FLOAT", "16_16_UNORM", "16_16_SNORM",
    "16_16_USCALED", "16_16_SSCALED", "16_16_UINT", "16_16_SINT", "16_16_FLOAT", "10_11_11_UNORM",
    "10_11_11_SNORM", "10_11_11_USCALED", "10_11_11_SSCALED", "10_11_11_UINT", "10_11_11_SINT",
    "10_11_11_FLOAT", "11_11_10_UNORM", "11_11_10_SNORM", "11_11_10_USCALED", "11_11_10_SSCALED",
    "11_11_10_UINT", "11_11_10_SINT", "11_11_10_FLOAT", "10_10_10_2_UNORM", "10_10_10_2_SNORM",
    "10_10_10_2_USCALED", "10_10_10_2_SSCALED", "10_10_10_2_UINT", "10_10_10_2_SINT", "2_10_10_10_UNORM",
    "2_10_10_10_SNORM", "2_10_10_10_USCALED", "2_10_10_10_SSCALED", "2_10_10_10_UINT", "2_10_10_10_SINT",
    "8_8_8_8_UNORM", "8_8_8_8_SNORM", "8_8_8_8_USCALED", "8_8_8_8_SSCALED", "8_8_8_8_UINT", "8_8_8_8_SINT",
    "32_32_UINT", "32_32_SINT", "32_32_FLOAT", "16_16_16_16_UNORM", "16_16_16_16_SNORM",
    "16_16_16_16_USCALED", "16_16_16_16_SSCALED", "16_16_16_16_UINT", "16_16_16_16_SINT", "16_16_16_16_FLOAT",
    "32_32_32_UINT", "32_32_32_SINT", "32_32_32_FLOAT", "32_32_32_32_UINT", "32_32_32_32_SINT",
    "32_32_32_32_FLOAT",
];

/// RDNA 3 ISA, table "Buffer image formats".
#[rustfmt::skip]
const GFX11_FORMATS: [&str; 64] = [
    "INVALID", "8_UNORM", "8_SNORM", "8_USCALED", "8_SSCALED", "8_UINT", "8_SINT", "16_UNORM", "16_SNORM",
    "16_USCALED", "16_SSCALED", "16_UINT", "16_SINT", "16_FLOAT", "8_8_UNORM", "8_8_SNORM", "8_8_USCALED",
    "8_8_SSCALED", "8_8_UINT", "8_8_SINT", "32_UINT", "32_SINT", "32_FLOAT", "16_16_UNORM", "16_16_SNORM",
    "16_16_USCALED", "16_16_SSCALED", "16_16_UINT", "16_16_SINT", "16_16_FLOAT", "10_11_11_FLOAT",
    "11_11_10_FLOAT", "10_10_10_2_UNORM", "10_10_10_2_SNORM", "10_10_10_2_UINT", "10_10_10_2_SINT",
    "2_10_10_10_UNORM", "2_10_10_10_SNORM", "2_10_10_10_USCALED", "2_10_10_10_SSCALED", "2_10_10_10_UINT",
    "2_10_10_10_SINT", "8_8_8_8_UNORM", "8_8_8_8_SNORM", "8_8_8_8_USCALED", "8_8_8_8_SSCALED", "8_8_8_8_UINT",
    "8_8_8_8_SINT", "32_32_UINT", "32_32_SINT", "32_32_FLOAT", "16_16_16_16_UNORM", "16_16_16_16_SNORM",
    "16_16_16_16_USCALED", "16_16_16_16_SSCALED", "16_16_16_16_UINT", "16_16_16_16_SINT", "16_16_16_16_FLOAT",
    "32_32_32_UINT", "32_32_32_SINT", "32_32_32_FLOAT", "32_32_32_32_UINT", "32_32_32_32_SINT",
    "32_32_32_32_FLOAT",
];
