//! Memory instructions: from the mnemonic to what the access does.

use amdgpu_isa::{Encoding, Inst, Slot, Value};

use super::{Action, AtomicOp, MemoryAccess, Packing, Part, Space, Src, Typed};
use crate::wave::register_row;

/// The access of a vector memory or LDS instruction; `None` for others, and for those that only name caches.
///
/// Loads to one half of a register keep the other, but for registers that ECC protects: "16-bit memory loads write the
/// full 32-bit VGPR. Unused bits are set to zero" (CDNA ISA manuals, "16-bit Memory Operations"; the descriptions of the
/// single instructions leave that out). Libraries' kernels count on it: they join two such loads with `v_or_b32`.
pub(crate) fn access(inst: &Inst, sramecc: bool) -> Option<MemoryAccess> {
    let (space, rest) = match inst.encoding {
        Encoding::Flat => (Space::Flat, inst.op.name().strip_prefix("flat_")?),
        Encoding::Global => (Space::Global, inst.op.name().strip_prefix("global_")?),
        Encoding::Scratch => (Space::Scratch, inst.op.name().strip_prefix("scratch_")?),
        Encoding::Mubuf => (Space::Buffer, inst.op.name().strip_prefix("buffer_")?),
        Encoding::Mtbuf => (Space::Buffer, inst.op.name().strip_prefix("tbuffer_")?),
        Encoding::Ds => (Space::Lds, inst.op.name().strip_prefix("ds_")?),
        _ => return None,
    };
    let lds = space == Space::Lds;
    let typed = typed(inst, rest, sramecc);
    let (action, step) = match &typed {
        _ if lds => lds_action(rest)?,
        Some((action, _)) => (*action, None),
        None => (vector_action(rest, inst.mods.glc)?, None),
    };
    let action = if sramecc { whole_register(action) } else { action };
    let by_slot = |slot| inst.operands.iter().find(|operand| operand.slot == slot);
    let row = |slot| by_slot(slot).and_then(|operand| register_row(operand.value));
    let vaddr = row(Slot::Vaddr);
    let scalar = by_slot(Slot::Saddr).or_else(|| by_slot(Slot::Soffset)).map_or(Src::None, |operand| {
        match operand.value {
            // Code 0x7f in SADDR means "none"; it decodes as `off`.
            Value::Scalar(register) => Src::Scalar(register),
            Value::Inline(code @ 128..=192) => Src::Const(u64::from(code) - 128),
            Value::Inline(code @ 193..=208) => Src::Const((192 - i64::from(code)) as u32 as u64),
            Value::Literal(value) => Src::Const(u64::from(value)),
            Value::Special(special) => Src::Special(special),
            _ => Src::None,
        }
    });
    let resource = match by_slot(Slot::Srsrc).map(|operand| operand.value) {
        Some(Value::Scalar(register)) => register,
        _ => 0,
    };
    let data = if lds {
        let data =
            [row(Slot::Data0).or_else(|| row(Slot::Vdata)).unwrap_or(0), row(Slot::Data1).unwrap_or(0)];
        // What is compared with comes last; `ds_cmpst_*` has it first.
        if rest.starts_with("cmpstore") { [data[1], data[0]] } else { data }
    } else {
        [row(Slot::Vdata).or_else(|| row(Slot::Data0)).unwrap_or(0), 0]
    };
    let dst = row(Slot::Vdst).unwrap_or(data[0]);
    let scale = step.unwrap_or(1);
    Some(MemoryAccess {
        space,
        action,
        vaddr,
        scalar,
        resource,
        data,
        dst,
        offset: i64::from(inst.mods.offset) * scale,
        second: step.map(|scale| i64::from(inst.mods.offset1) * scale),
        idxen: inst.mods.idxen,
        offen: inst.mods.offen,
        lds_dma: inst.mods.lds || rest.starts_with("load_lds_") || rest.starts_with("store_lds_"),
        typed: typed.map(|(_, typed)| typed),
        adds_lane: rest.contains("_addtid_"),
        tfe: inst.mods.tfe,
    })
}

/// The action where registers are written as a whole.
fn whole_register(action: Action) -> Action {
    match action {
        Action::Load { bytes, signed, part: Part::Low } => {
            Action::Load { bytes, signed, part: Part::LowCleared }
        }
        Action::Load { bytes, signed, part: Part::High } => {
            Action::Load { bytes, signed, part: Part::HighCleared }
        }
        other => other,
    }
}

/// FLAT, GLOBAL, SCRATCH, MUBUF.
fn vector_action(rest: &str, glc: bool) -> Option<Action> {
    if let Some(atomic) = rest.strip_prefix("atomic_") {
        return atomic_action(atomic, glc);
    }
    let (store, what) = match (rest.strip_prefix("load_"), rest.strip_prefix("store_")) {
        (Some(what), _) => (false, what),
        (_, Some(what)) => (true, what),
        _ => return None,
    };
    let what = what.strip_prefix("lds_").unwrap_or(what);
    let (what, part) = match (what.strip_suffix("_d16_hi"), what.strip_suffix("_d16")) {
        (Some(what), _) => (what, Part::High),
        (_, Some(what)) => (what, Part::Low),
        _ => (what, Part::Whole),
    };
    let (bytes, signed) = match what {
        "ubyte" | "byte" => (1, false),
        "sbyte" => (1, true),
        "ushort" | "short" => (2, false),
        "sshort" => (2, true),
        "dword" | "addtid_dword" => (4, false),
        "dwordx2" => (8, false),
        "dwordx3" => (12, false),
        "dwordx4" => (16, false),
        _ => return None,
    };
    Some(if store { Action::Store { bytes, part } } else { Action::Load { bytes, signed, part } })
}

/// What an atomic does, by its name without the prefix.
pub(super) fn atomic_action(atomic: &str, glc: bool) -> Option<Action> {
    let (atomic, wide) = atomic.strip_suffix("_x2").map_or((atomic, false), |atomic| (atomic, true));
    let (op, bytes) = match atomic {
        "swap" => (AtomicOp::Swap, 4),
        "cmpswap" => (AtomicOp::CmpSwap, 4),
        "add" => (AtomicOp::Add, 4),
        "sub" => (AtomicOp::Sub, 4),
        "smin" => (AtomicOp::SMin, 4),
        "smax" => (AtomicOp::SMax, 4),
        "umin" => (AtomicOp::UMin, 4),
        "umax" => (AtomicOp::UMax, 4),
        "and" => (AtomicOp::And, 4),
        "or" => (AtomicOp::Or, 4),
        "xor" => (AtomicOp::Xor, 4),
        "inc" => (AtomicOp::Inc, 4),
        "dec" => (AtomicOp::Dec, 4),
        "add_f32" => (AtomicOp::FAdd, 4),
        "add_f64" => (AtomicOp::FAdd, 8),
        "min_f32" => (AtomicOp::FMin, 4),
        "max_f32" => (AtomicOp::FMax, 4),
        "cmpswap_f32" => (AtomicOp::FCmpSwap, 4),
        "cmpswap_f64" => (AtomicOp::FCmpSwap, 8),
        "csub" => (AtomicOp::SubClamped, 4),
        "cond_sub_u32" => (AtomicOp::SubIfNotLess, 4),
        "min_f64" => (AtomicOp::FMin, 8),
        "max_f64" => (AtomicOp::FMax, 8),
        "pk_add_f16" => (AtomicOp::PkAddF16, 4),
        "pk_add_bf16" => (AtomicOp::PkAddBf16, 4),
        _ => return None,
    };
    Some(Action::Atomic { op, bytes: if wide { 8 } else { bytes }, returns: glc })
}

/// Loads and stores that convert: what moves between registers and the converter, and how it is packed there.
fn typed(inst: &Inst, rest: &str, sramecc: bool) -> Option<(Action, Typed)> {
    let (verb, channels) = rest.split_once("_format_")?;
    let (packing, channels) = match channels.strip_prefix("d16_") {
        Some(channels) => match channels.strip_prefix("hi_") {
            Some(channels) => (Packing::HighHalf, channels),
            None => (Packing::Halves, channels),
        },
        None => (Packing::Dwords, channels),
    };
    let count = channels.len() as u8;
    let bytes = match packing {
        Packing::Dwords => 4 * count,
        Packing::Halves | Packing::HighHalf => 4 * count.div_ceil(2),
    };
    let action = match verb {
        "load" => Action::Load { bytes, signed: false, part: Part::Whole },
        _ => Action::Store { bytes, part: Part::Whole },
    };
    let format = (inst.encoding == Encoding::Mtbuf).then_some(inst.mods.format);
    Some((action, Typed { channels: count, packing, clears: sramecc, format }))
}

/// DS. The second value is the unit of the two offsets of the `2` and `2st64` forms.
fn lds_action(rest: &str) -> Option<(Action, Option<i64>)> {
    let bytes_of = |bits: &str| bits.parse::<u8>().ok().map(|bits| bits / 8);
    for (prefix, store) in [("read2", false), ("write2", true)] {
        if let Some(tail) = rest.strip_prefix(prefix) {
            let (tail, stride) = tail.strip_prefix("st64").map_or((tail, 1), |tail| (tail, 64));
            let bytes = bytes_of(tail.strip_prefix("_b")?)?;
            let action = if store {
                Action::Store { bytes, part: Part::Whole }
            } else {
                Action::Load { bytes, signed: false, part: Part::Whole }
            };
            return Some((action, Some(stride * i64::from(bytes))));
        }
    }
    if let Some(what) = rest.strip_prefix("read_") {
        let (what, part) = match (what.strip_suffix("_d16_hi"), what.strip_suffix("_d16")) {
            (Some(what), _) => (what, Part::High),
            (_, Some(what)) => (what, Part::Low),
            _ => (what, Part::Whole),
        };
        let what = what.split_once("_tr_").map_or(what, |(what, _)| what);
        let bytes = bytes_of(what.get(1..)?)?;
        return Some((Action::Load { bytes, signed: what.starts_with('i'), part }, None));
    }
    if let Some(what) = rest.strip_prefix("write_").filter(|what| !what.starts_with("src2_")) {
        let (what, part) =
            what.strip_suffix("_d16_hi").map_or((what, Part::Whole), |what| (what, Part::High));
        return Some((Action::Store { bytes: bytes_of(what.get(1..)?)?, part }, None));
    }
    let (name, bits) = rest.rsplit_once('_')?;
    let bytes = bytes_of(bits.trim_start_matches(|letter: char| letter.is_ascii_lowercase()))?;
    let signed = bits.starts_with('i');
    let float = bits.starts_with('f');
    let (name, returns) = name.strip_suffix("_rtn").map_or((name, false), |name| (name, true));
    let name = name.strip_suffix("_src2").unwrap_or(name);
    let op = match name {
        // `ds_write_src2_*`: what is exchanged is not returned.
        "write" => AtomicOp::Swap,
        "condxchg32" => AtomicOp::ConditionalSwap32,
        "add" if float => AtomicOp::FAdd,
        "add" => AtomicOp::Add,
        "sub" => AtomicOp::Sub,
        "rsub" => AtomicOp::Rsub,
        "inc" => AtomicOp::Inc,
        "dec" => AtomicOp::Dec,
        "min" if float => AtomicOp::FMin,
        "min" if signed => AtomicOp::SMin,
        "min" => AtomicOp::UMin,
        "max" if float => AtomicOp::FMax,
        "max" if signed => AtomicOp::SMax,
        "max" => AtomicOp::UMax,
        "and" => AtomicOp::And,
        "or" => AtomicOp::Or,
        "xor" => AtomicOp::Xor,
        "mskor" => AtomicOp::MaskOr,
        "cmpst" | "cmpstore" if float => AtomicOp::FCmpSwap,
        "cmpst" | "cmpstore" => AtomicOp::CmpSwap,
        "wrap" => AtomicOp::Wrap,
        "cond_sub" => AtomicOp::SubIfNotLess,
        "sub_clamp" => AtomicOp::SubClamped,
        "wrxchg" => AtomicOp::Swap,
        "wrxchg2" => {
            let action = Action::Atomic { op: AtomicOp::Swap, bytes, returns: true };
            return Some((action, Some(i64::from(bytes))));
        }
        "wrxchg2st64" => {
            let action = Action::Atomic { op: AtomicOp::Swap, bytes, returns: true };
            return Some((action, Some(64 * i64::from(bytes))));
        }
        "pk_add" if bits == "f16" => {
            return Some((Action::Atomic { op: AtomicOp::PkAddF16, bytes: 4, returns }, None));
        }
        "pk_add" if bits == "bf16" => {
            return Some((Action::Atomic { op: AtomicOp::PkAddBf16, bytes: 4, returns }, None));
        }
        _ => return None,
    };
    Some((Action::Atomic { op, bytes, returns }, None))
}
