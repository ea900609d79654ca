//! GFX9's text of memory instructions, in the words of other generations (RDNA3 ISA and RDNA4 ISA, the opcode
//! tables of chapter 16).

use amdgpu_isa::{Feature, Generation, Target};

use crate::targets::{has_new_names, is_gcn, is_gfx12};

/// Lines of GFX9's text as a target's assembler wants them. What is spelled as that already stays.
pub(crate) fn of(target: Target, text: &str) -> String {
    text.lines().map(|line| spelled(target, line)).collect::<Vec<_>>().join("\n")
}

fn spelled(target: Target, line: &str) -> String {
    let line = line.trim();
    let (name, operands) = line.split_once(' ').unwrap_or((line, ""));
    let operands = if name.starts_with("ds_cmpst_") && has_new_names(target) {
        exchanged(operands)
    } else {
        operands.to_owned()
    };
    format!("{} {}", mnemonic(target, name), modifiers(target, name, &operands)).trim_end().to_owned()
}

/// The datum to store comes before what is compared with, as everywhere else but in LDS of GFX9 and GFX10.
fn exchanged(operands: &str) -> String {
    let (registers, rest) = operands
        .split_once(" offset")
        .map_or((operands, String::new()), |(first, rest)| (first, format!(" offset{rest}")));
    let mut parts: Vec<&str> = registers.split(", ").collect();
    if let [.., new, compare] = &mut parts[..] {
        std::mem::swap(new, compare);
    }
    parts.join(", ") + &rest
}

/// What tells of the cache, and the offset of a buffer.
fn modifiers(target: Target, name: &str, operands: &str) -> String {
    let is_gfx12 = is_gfx12(target);
    let returns = match is_gfx12 {
        true => " th:TH_ATOMIC_RETURN",
        false if target.arch.has(Feature::ScopedCachePolicy) => " sc0",
        false => " glc",
    };
    let operands = operands.replace(" glc", returns);
    // An offset of a buffer is a register there.
    if is_gfx12 && name.starts_with("buffer_") {
        let operands = operands.replace("], 0 ", "], null ");
        return operands.strip_suffix("], 0").map_or(operands.clone(), |start| format!("{start}], null"));
    }
    operands
}

fn mnemonic(target: Target, name: &str) -> String {
    if is_gcn(target) {
        return name.to_owned();
    }
    if !has_new_names(target) {
        return gfx10(name);
    }
    if let Some(rest) = name.strip_prefix("ds_") {
        return format!("ds_{}", in_lds(rest, is_gfx12(target)));
    }
    if let Some((start, width)) = name.split_once("_load_dword").filter(|_| name.starts_with("s_")) {
        let dwords = width.strip_prefix('x').map_or(Some(1), |count| count.parse::<u32>().ok());
        return format!("{start}_load_b{}", 32 * dwords.expect("a number"));
    }
    for space in ["flat", "global", "scratch", "buffer"] {
        let Some(rest) = name.strip_prefix(space).and_then(|rest| rest.strip_prefix('_')) else { continue };
        if let Some(atomic) = rest.strip_prefix("atomic_") {
            return format!("{space}_atomic_{}", self::atomic(target, atomic));
        }
        for verb in ["load", "store"] {
            if let Some(what) = rest.strip_prefix(verb).and_then(|what| what.strip_prefix('_')) {
                return format!("{space}_{verb}_{}", datum(what, verb));
            }
        }
    }
    name.to_owned()
}

/// GFX10 has float atomics in memory by names of its own.
fn gfx10(name: &str) -> String {
    for space in ["flat", "global", "buffer"] {
        let Some(atomic) = name.strip_prefix(&format!("{space}_atomic_")) else { continue };
        let atomic = match atomic {
            "min_f32" => "fmin",
            "max_f32" => "fmax",
            "cmpswap_f32" => "fcmpswap",
            "min_f64" => "fmin_x2",
            "max_f64" => "fmax_x2",
            "cmpswap_f64" => "fcmpswap_x2",
            other => other,
        };
        return format!("{space}_atomic_{atomic}");
    }
    match name {
        "global_load_addtid_dword" => "global_load_dword_addtid",
        "global_store_addtid_dword" => "global_store_dword_addtid",
        other => other,
    }
    .to_owned()
}

/// What is loaded or stored.
fn datum(what: &str, verb: &str) -> String {
    let (what, half) = match (what.strip_suffix("_d16_hi"), what.strip_suffix("_d16")) {
        (Some(what), _) => (what, "d16_hi_"),
        (_, Some(what)) => (what, "d16_"),
        _ => (what, ""),
    };
    let (what, lane) = what.strip_prefix("addtid_").map_or((what, ""), |what| (what, "addtid_"));
    let what = match what {
        "byte" if verb == "store" => "b8",
        "short" => "b16",
        "ubyte" => "u8",
        "sbyte" => "i8",
        "ushort" => "u16",
        "sshort" => "i16",
        "dword" => "b32",
        "dwordx2" => "b64",
        "dwordx3" => "b96",
        "dwordx4" => "b128",
        other => other,
    };
    format!("{half}{lane}{what}")
}

/// An atomic on memory.
fn atomic(target: Target, atomic: &str) -> String {
    let is_gfx12 = is_gfx12(target);
    match atomic {
        "csub" if is_gfx12 => return "sub_clamp_u32".to_owned(),
        "min_f32" if is_gfx12 => return "min_num_f32".to_owned(),
        "max_f32" if is_gfx12 => return "max_num_f32".to_owned(),
        _ => {}
    }
    let (name, bits) = atomic.strip_suffix("_x2").map_or((atomic, 32), |name| (name, 64));
    let (name, kind) = match name {
        "swap" | "cmpswap" | "and" | "or" | "xor" => (name, 'b'),
        "add" | "sub" | "inc" | "dec" | "csub" => (name, 'u'),
        "smin" | "smax" => (&name[1..], 'i'),
        "umin" | "umax" => (&name[1..], 'u'),
        // It tells its type.
        other => return other.to_owned(),
    };
    format!("{name}_{kind}{bits}")
}

/// An instruction of LDS without its prefix.
fn in_lds(rest: &str, is_gfx12: bool) -> String {
    for (old, new) in [
        ("read2st64_", "load_2addr_stride64_"),
        ("read2_", "load_2addr_"),
        ("read_", "load_"),
        ("write2st64_", "store_2addr_stride64_"),
        ("write2_", "store_2addr_"),
        ("write_", "store_"),
        ("wrxchg2st64_", "storexchg_2addr_stride64_"),
        ("wrxchg2_", "storexchg_2addr_"),
        ("wrxchg_", "storexchg_"),
        ("cmpst_", "cmpstore_"),
    ] {
        if let Some(tail) = rest.strip_prefix(old) {
            return format!("{new}{tail}");
        }
    }
    let is_float = rest.ends_with("_f32") || rest.ends_with("_f64");
    match rest.split_once('_') {
        Some((name @ ("min" | "max"), tail)) if is_gfx12 && is_float => format!("{name}_num_{tail}"),
        _ => rest.to_owned(),
    }
}

/// What immediate offsets of FLAT (not of its other forms) reach: below, and how many (the manuals' tables of
/// FLAT's fields).
pub(crate) fn flat_offsets(target: Target) -> (i64, u64) {
    match target.arch.generation() {
        Generation::Gfx8 => (0, 1),
        Generation::Gfx9 => (0, 1 << 12),
        Generation::Gfx10 => (0, 1 << 11),
        Generation::Gfx11 => (0, 1 << 12),
        Generation::Gfx12 => (-(1 << 23), 1 << 24),
    }
}

/// What immediate offsets of GLOBAL and SCRATCH reach.
pub(crate) fn global_offsets(target: Target) -> (i64, u64) {
    match target.arch.generation() {
        // There are none.
        Generation::Gfx8 => (0, 1),
        Generation::Gfx9 | Generation::Gfx11 => (-(1 << 12), 1 << 13),
        Generation::Gfx10 => (-(1 << 11), 1 << 12),
        Generation::Gfx12 => (-(1 << 23), 1 << 24),
    }
}
