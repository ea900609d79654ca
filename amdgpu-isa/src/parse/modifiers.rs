//! Modifiers: the words after the operands.

use super::operand::integer;
use crate::encoding::modifiers::Modifier;
use crate::encoding::table::Entry;
use crate::signature::image::{DIMENSIONS, Dimension};
use crate::signature::{ATOMIC, BITOP3, BLGP_NEG, BYTE_SOURCE, FROM_LDS, GDS_ONLY, SWAPS_ROWS};
use crate::text::modifiers::{DEFAULT_FORMAT, HintKind, SCOPES, buffer_formats, hint_name};
use crate::{DppCtrl, Encoding, Generation, Mods, SdwaSel, SdwaUnused, Slot};

/// Modifiers whose place in [`Mods`] depends on the opcode.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packed {
    op_sel: Option<Bits>,
    op_sel_hi: Option<Bits>,
    neg: Option<Bits>,
    bitop3: u8,
    format: Option<u8>,
    hint: Option<u8>,
    byte: Option<u8>,
}

/// A list of bits, the first in bit 0.
#[derive(Clone, Copy, Debug)]
struct Bits {
    bits: u8,
    count: u32,
}

/// Splits what follows the mnemonic into operands and modifiers.
pub(super) fn split(generation: Generation, rest: &str) -> (Vec<&str>, Vec<&str>) {
    let mut operands: Vec<&str> = pieces(rest, |at| at == ',').into_iter().map(str::trim).collect();
    let last = operands.pop().unwrap_or("");
    let words = pieces(last, char::is_whitespace);
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let first = words.iter().position(|word| is_modifier(generation, word)).unwrap_or(words.len());
    // What stands before the first modifier is one operand, though there may be spaces in it (`s_waitcnt`).
    let end = words.get(first).map_or(last.len(), |word| word.as_ptr() as usize - last.as_ptr() as usize);
    let operand = last[..end].trim();
    if !operand.is_empty() {
        operands.push(operand);
    }
    (operands, words[first..].to_vec())
}

/// The operands of a list in brackets, `[v0, v[2:3]]`, or the operand that there is.
pub(super) fn listed(operand: &str) -> Vec<&str> {
    match operand.strip_prefix('[').and_then(|list| list.strip_suffix(']')) {
        Some(list) => pieces(list, |at| at == ',').into_iter().map(str::trim).collect(),
        None => vec![operand],
    }
}

/// The parts of a text between separators that stand outside brackets.
fn pieces(text: &str, is_separator: impl Fn(char) -> bool) -> Vec<&str> {
    let mut depth = 0_i32;
    text.split(move |letter| {
        depth += match letter {
            '[' | '(' => 1,
            ']' | ')' => -1,
            _ => 0,
        };
        depth == 0 && is_separator(letter)
    })
    .collect()
}

fn is_modifier(generation: Generation, word: &str) -> bool {
    apply(generation, &mut Mods::default(), &mut Packed::default(), word).is_some()
}

/// Takes one modifier in; `None` if it is none.
pub(super) fn apply(generation: Generation, mods: &mut Mods, packed: &mut Packed, word: &str) -> Option<()> {
    let (name, argument) = word.split_once(':').unwrap_or((word, ""));
    let number = |limit: i64| integer(argument).filter(|value| (0..limit).contains(value));
    match name {
        "clamp" => mods.clamp = true,
        "mul" => mods.omod = if argument == "2" { 1 } else { (argument == "4").then_some(2)? },
        "div" => mods.omod = (argument == "2").then_some(3)?,
        "op_sel" => packed.op_sel = Some(bits(argument)?),
        "op_sel_hi" => packed.op_sel_hi = Some(bits(argument)?),
        "neg_lo" => mods.neg = bits(argument)?.bits,
        "neg_hi" => mods.neg_hi = bits(argument)?.bits,
        "neg" => packed.neg = Some(bits(argument)?),
        "bitop3" => packed.bitop3 = number(256)? as u8,
        "dst_sel" => mods.sdwa.get_or_insert_default().dst_sel = sel(argument)?,
        "dst_unused" => mods.sdwa.get_or_insert_default().dst_unused = unused(argument)?,
        "src0_sel" => mods.sdwa.get_or_insert_default().src_sel[0] = sel(argument)?,
        "src1_sel" => mods.sdwa.get_or_insert_default().src_sel[1] = sel(argument)?,
        "row_mask" => dpp(mods).row_mask = number(16)? as u8,
        "bank_mask" => dpp(mods).bank_mask = number(16)? as u8,
        // Both spellings set the bit: older assemblers wrote `0`.
        "bound_ctrl" => dpp(mods).bound_ctrl = number(2).is_some().then_some(true)?,
        "offset" | "offset0" => mods.offset = i32::try_from(integer(argument)?).ok()?,
        "offset1" => mods.offset1 = number(256)? as u8,
        "glc" | "sc0" => mods.glc = true,
        "slc" | "nt" => mods.slc = true,
        "scc" | "sc1" => mods.scc = true,
        "dlc" => mods.dlc = true,
        "scope" => {
            let name = argument.strip_prefix("SCOPE_")?;
            mods.scope = SCOPES.iter().position(|known| *known == name)? as u8;
        }
        // An atomic's lowest bit is its GLC; the opcode tells that.
        "th" => packed.hint = Some(hint(argument)?),
        "byte_sel" => packed.byte = Some(number(4)? as u8),
        "index_key" => mods.op_sel = number(4)? as u8,
        "wait_va_vdst" => mods.wait = number(16)? as u8,
        "wait_vm_vsrc" => mods.wait_vsrc = number(2)? == 1,
        "wait_exp" | "wait_vdst" => mods.wait = number(16)? as u8,
        "dpp8" => mods.dpp8 = Some(lanes(argument)?),
        "fi" => mods.fi = number(2)? == 1,
        "lds" => mods.lds = true,
        "gds" => mods.gds = true,
        "idxen" => mods.idxen = true,
        "offen" => mods.offen = true,
        "tfe" => mods.tfe = true,
        "unorm" => mods.unorm = true,
        "da" => mods.da = true,
        "a16" => mods.a16 = true,
        "d16" => mods.d16 = true,
        "lwe" => mods.lwe = true,
        "r128" => mods.r128 = true,
        "row_en" => mods.row_en = true,
        "dim" => mods.dim = dimension(argument)?,
        "high" => mods.high = true,
        "compr" => mods.compr = true,
        "done" => mods.done = true,
        "vm" => mods.vm = true,
        "dmask" => mods.dmask = number(16)? as u8,
        "format" => {
            packed.format =
                Some(buffer_format(generation, argument).or_else(|| number(128).map(|value| value as u8))?)
        }
        "cbsz" => mods.cbsz = number(8)? as u8,
        "abid" => mods.abid = number(16)? as u8,
        "blgp" => mods.blgp = number(8)? as u8,
        _ => dpp(mods).ctrl = permutation(name, argument)?,
    }
    Some(())
}

fn dpp(mods: &mut Mods) -> &mut DppCtrl {
    mods.dpp.get_or_insert(DppCtrl { ctrl: 0xe4, row_mask: 0xf, bank_mask: 0xf, bound_ctrl: false })
}

/// `SQ_RSRC_IMG_2D`, or `2D`.
fn dimension(name: &str) -> Option<u8> {
    let is = |known: &Dimension| known.name == name || known.name.strip_prefix("SQ_RSRC_IMG_") == Some(name);
    DIMENSIONS.iter().position(is).map(|number| number as u8)
}

/// `TH_LOAD_NT`, or a number, with or without what stands before names. Scopes that have other names do not
/// matter here.
fn hint(name: &str) -> Option<u8> {
    if let Some(number) = integer(name) {
        return u8::try_from(number).ok().filter(|hint| *hint < 8);
    }
    HintKind::ALL.into_iter().find_map(|kind| {
        let name = name.strip_prefix(kind.prefix())?;
        let is_name = |hint: &u8| (0..4).any(|scope| hint_name(kind, *hint, scope) == Some(name));
        (0..8).find(is_name).or_else(|| integer(name).map(|number| number as u8).filter(|hint| *hint < 8))
    })
}

/// `[BUF_FMT_32_FLOAT]`.
fn buffer_format(generation: Generation, name: &str) -> Option<u8> {
    let name = name.strip_prefix("[BUF_FMT_")?.strip_suffix(']')?;
    buffer_formats(generation).iter().position(|known| *known == name).map(|number| number as u8)
}

/// `[1,0,1]`.
fn bits(list: &str) -> Option<Bits> {
    let list = list.strip_prefix('[')?.strip_suffix(']')?;
    let mut all = Bits { bits: 0, count: 0 };
    for bit in list.split(',') {
        let bit = match bit.trim() {
            "0" => 0,
            "1" => 1,
            _ => return None,
        };
        all.bits |= u8::checked_shl(bit, all.count)?;
        all.count += 1;
    }
    Some(all)
}

/// `[7,6,5,4,3,2,1,0]`.
fn lanes(list: &str) -> Option<[u8; 3]> {
    let list = list.strip_prefix('[')?.strip_suffix(']')?;
    let lane = |lane: &str| lane.trim().parse::<u32>().ok().filter(|lane| *lane < 8);
    let lanes: Vec<u32> = list.split(',').map(lane).collect::<Option<_>>()?;
    if lanes.len() != 8 {
        return None;
    }
    let all = lanes.iter().enumerate().fold(0, |all, (index, lane)| all | lane << (3 * index));
    let [a, b, c, _] = all.to_le_bytes();
    Some([a, b, c])
}

fn sel(name: &str) -> Option<SdwaSel> {
    Some(match name {
        "BYTE_0" => SdwaSel::Byte0,
        "BYTE_1" => SdwaSel::Byte1,
        "BYTE_2" => SdwaSel::Byte2,
        "BYTE_3" => SdwaSel::Byte3,
        "WORD_0" => SdwaSel::Word0,
        "WORD_1" => SdwaSel::Word1,
        "DWORD" => SdwaSel::Dword,
        _ => return None,
    })
}

fn unused(name: &str) -> Option<SdwaUnused> {
    Some(match name {
        "UNUSED_PAD" => SdwaUnused::Pad,
        "UNUSED_SEXT" => SdwaUnused::Sext,
        "UNUSED_PRESERVE" => SdwaUnused::Preserve,
        _ => return None,
    })
}

/// The 9-bit DPP_CTRL of a permutation (Vega ISA manual, "DPP_CTRL Enumeration").
fn permutation(name: &str, argument: &str) -> Option<u16> {
    let number = |low: u16, high: u16| argument.parse::<u16>().ok().filter(|n| (low..=high).contains(n));
    Some(match name {
        "quad_perm" => {
            let lanes = argument.strip_prefix('[')?.strip_suffix(']')?;
            let lanes: Vec<u16> = lanes
                .split(',')
                .map(|lane| lane.trim().parse().ok().filter(|lane| *lane < 4))
                .collect::<Option<_>>()?;
            let [a, b, c, d] = *lanes else { return None };
            a | b << 2 | c << 4 | d << 6
        }
        "row_shl" => 0x100 | number(1, 15)?,
        "row_shr" => 0x110 | number(1, 15)?,
        "row_ror" => 0x120 | number(1, 15)?,
        "wave_shl" => number(1, 1).map(|_| 0x130)?,
        "wave_rol" => number(1, 1).map(|_| 0x134)?,
        "wave_shr" => number(1, 1).map(|_| 0x138)?,
        "wave_ror" => number(1, 1).map(|_| 0x13c)?,
        "row_mirror" => 0x140,
        "row_half_mirror" => 0x141,
        "row_bcast" => {
            if argument == "15" {
                0x142
            } else {
                (argument == "31").then_some(0x143)?
            }
        }
        "row_xmask" => 0x160 | number(0, 15)?,
        "row_newbcast" | "row_share" => 0x150 | number(0, 15)?,
        _ => return None,
    })
}

/// Puts the modifiers in place that depend on the opcode, and sets those that the text leaves out.
pub(super) fn complete(mods: &mut Mods, packed: Packed, entry: &Entry) {
    let flags = entry.flags;
    let vop3p = entry.encoding.is_vop3p() || entry.encoding == Encoding::Vop3px;
    mods.op_sel_hi = packed.op_sel_hi.map_or(super::op_sel_hi_at_rest(entry), |list| {
        // Sources that do not exist have their bit at rest.
        list.bits | super::op_sel_hi_at_rest(entry) & !((1_u16 << list.count) - 1) as u8
    });
    if let Some(list) = packed.op_sel {
        // VOP3 writes the bit of the result last, wherever the sources end.
        let sources =
            entry.specs.iter().filter(|spec| matches!(spec.slot, Slot::Src0 | Slot::Src1 | Slot::Src2));
        let has_result = list.count as usize > sources.count() || !entry.encoding.is_vop3();
        let result =
            if vop3p || list.count == 0 || !has_result { 0 } else { list.bits >> (list.count - 1) & 1 };
        let sources = if vop3p { list.bits } else { list.bits & !(result << (list.count - 1)) };
        mods.op_sel = sources | result << 3;
    }
    if let Some(list) = packed.neg {
        if flags.has(BLGP_NEG) {
            mods.blgp = list.bits;
        } else {
            mods.neg = list.bits;
        }
    }
    if flags.has(BITOP3) {
        let table = packed.bitop3;
        (mods.omod, mods.abs, mods.neg) = (table >> 6, table >> 3 & 7, table & 7);
    }
    if let Some(hint) = packed.hint {
        let of_atomic = if flags.has(ATOMIC) { hint & 1 } else { 0 };
        mods.th = hint & !of_atomic;
        mods.glc = of_atomic != 0;
    }
    if let Some(byte) = packed.byte {
        // The byte of a source has its bits in the other order.
        mods.op_sel = if flags.has(BYTE_SOURCE) { byte >> 1 | (byte & 1) << 1 } else { byte << 2 };
    }
    if entry.encoding == Encoding::Mtbuf {
        mods.format = packed.format.unwrap_or(DEFAULT_FORMAT);
    }
    if flags.has(SWAPS_ROWS)
        && entry.encoding == Encoding::Vop3
        && let Some(dpp) = mods.dpp.take()
    {
        mods.bound_ctrl = dpp.bound_ctrl;
    }
    if entry.is_ray() {
        mods.fix_for_ray(entry.has(Modifier::Unorm));
    }
    mods.lds |= flags.has(FROM_LDS);
    mods.gds |= flags.has(GDS_ONLY);
}
