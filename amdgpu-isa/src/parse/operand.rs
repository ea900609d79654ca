//! Operands: registers, constants, and the signs around them.

use super::ParseError;
use crate::Value;
use crate::table::{Class, ImmKind, Spec, Ty};
use crate::text::immediate::{CHANNELS, PARAMS};
use crate::value::{inline_f16, inline_float};

/// What stands around a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    pub(super) neg: bool,
    pub(super) abs: bool,
    pub(super) sext: bool,
}

/// Takes negation, bars and `sext()` off a source.
pub(super) fn strip(word: &str) -> (&str, Changes) {
    let mut changes = Changes::default();
    let mut word = word;
    let inside = |word: &str, name: &str| -> Option<usize> {
        (word.starts_with(name) && word.ends_with(')')).then_some(name.len())
    };
    if let Some(start) = inside(word, "sext(") {
        changes.sext = true;
        word = &word[start..word.len() - 1];
    }
    if let Some(start) = inside(word, "neg(") {
        changes.neg = true;
        word = &word[start..word.len() - 1];
    } else if let Some(rest) = word.strip_prefix('-')
        && rest.starts_with(|first: char| first == '|' || first.is_ascii_alphabetic())
    {
        changes.neg = true;
        word = rest;
    }
    if let Some(rest) = word.strip_prefix('|').and_then(|rest| rest.strip_suffix('|')) {
        changes.abs = true;
        word = rest;
    }
    (word, changes)
}

/// Reads an operand as the slot takes it.
pub(super) fn value(word: &str, spec: Spec) -> Result<Value, ParseError> {
    let bad = || ParseError::Operand(word.to_owned());
    let field = |value: i64| i32::try_from(value).ok().map(Value::Imm);
    if word == "off" {
        return Ok(Value::Off);
    }
    if let Some(register) = register(word) {
        return Ok(register);
    }
    match spec.class {
        Class::Imm(kind) => immediate(word, kind).and_then(field).ok_or_else(bad),
        Class::SmemOffset => integer(word).and_then(field).ok_or_else(bad),
        Class::Literal => literal(word).map(Value::Literal).ok_or_else(bad),
        _ => constant(word, spec.ty).ok_or_else(bad),
    }
}

fn register(word: &str) -> Option<Value> {
    let fixed = match word {
        "vcc" | "vcc_lo" => Value::Scalar(106),
        "vcc_hi" => Value::Scalar(107),
        "exec" | "exec_lo" => Value::Scalar(126),
        "exec_hi" => Value::Scalar(127),
        "flat_scratch" | "flat_scratch_lo" => Value::Scalar(102),
        "flat_scratch_hi" => Value::Scalar(103),
        "xnack_mask" | "xnack_mask_lo" => Value::Scalar(104),
        "xnack_mask_hi" => Value::Scalar(105),
        "m0" => Value::M0,
        "src_shared_base" => Value::Special(235),
        "src_shared_limit" => Value::Special(236),
        "src_private_base" => Value::Special(237),
        "src_private_limit" => Value::Special(238),
        "src_pops_exiting_wave_id" => Value::Special(239),
        "src_vccz" => Value::Special(251),
        "src_execz" => Value::Special(252),
        "src_scc" => Value::Special(253),
        "src_lds_direct" => Value::Special(254),
        _ => return numbered(word),
    };
    Some(fixed)
}

/// `v7`, `v[8:9]`, `s3`, `a[0:15]`, `ttmp2`.
fn numbered(word: &str) -> Option<Value> {
    let digits = word.find(|letter: char| !letter.is_ascii_alphabetic())?;
    let (file, rest) = word.split_at(digits);
    let first = match rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(range) => range.split_once(':').map_or(range, |(first, _)| first),
        None => rest,
    };
    let number: u8 = first.trim().parse().ok()?;
    match file {
        "v" => Some(Value::Vgpr(number)),
        "a" => Some(Value::Agpr(number)),
        "s" => (number < 102).then_some(Value::Scalar(number)),
        "ttmp" => (number < 16).then(|| Value::Scalar(108 + number)),
        _ => None,
    }
}

/// A whole number, decimal or hexadecimal.
pub(super) fn integer(word: &str) -> Option<i64> {
    let (sign, digits) = match word.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, word),
    };
    let magnitude = match digits.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(sign * magnitude)
}

fn literal(word: &str) -> Option<u32> {
    let digits = word.strip_prefix("lit(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(word);
    if let Some(value) = integer(digits) {
        return u32::try_from(value).ok().or_else(|| i32::try_from(value).ok().map(|value| value as u32));
    }
    inline_code(digits).and_then(|code| Value::Inline(code).as_u32())
}

/// An inline constant if there is one, else a literal.
fn constant(word: &str, ty: Ty) -> Option<Value> {
    if let Some(code) = inline_code(word) {
        return Some(Value::Inline(code));
    }
    if !word.starts_with("lit(")
        && let Some(number) = integer(word)
    {
        // A double's high half is written in hexadecimal, whatever its value.
        let is_high_half = ty == Ty::F64 && word.starts_with("0x");
        if let Ok(small @ -16..=64) = i32::try_from(number)
            && !is_high_half
        {
            return Some(Value::int(small));
        }
        // 16-bit integer operands have their inline floats printed as bits.
        let is_half = |code: &u8| inline_f16(*code).map(i64::from) == Some(number);
        if ty == Ty::I16
            && let Some(code) = (240..=248).find(is_half)
        {
            return Some(Value::Inline(code));
        }
    }
    literal(word).map(Value::Literal)
}

fn inline_code(word: &str) -> Option<u8> {
    if !word.contains('.') {
        return None;
    }
    if word.starts_with("0.15915494") {
        return Some(248);
    }
    let value: f64 = word.parse().ok()?;
    (240..=247).find(|&code| inline_float(code) == Some(value))
}

/// SIMM16 by number or by meaning.
fn immediate(word: &str, kind: ImmKind) -> Option<i64> {
    if let Some(value) = integer(word) {
        let signed = matches!(kind, ImmKind::SignedHex | ImmKind::Target);
        // As the text has it: 16 bits.
        return Some(if signed { i64::from(value as u16 as i16) } else { value });
    }
    match kind {
        ImmKind::Waitcnt => waitcnt(word),
        ImmKind::Sendmsg => sendmsg(word),
        ImmKind::Hwreg => hwreg(word),
        ImmKind::GprIdx => gpr_idx(word),
        ImmKind::ExpTarget => exp_target(word),
        ImmKind::Param => PARAMS.iter().position(|name| *name == word).map(|index| index as i64),
        ImmKind::Attribute => attribute(word),
        _ => None,
    }
}

/// `name(arguments)`.
fn call<'a>(word: &'a str, name: &str) -> Option<&'a str> {
    word.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')
}

fn waitcnt(words: &str) -> Option<i64> {
    let mut raw: i64 = 0xcf7f;
    for word in words.split_whitespace() {
        let count = |name| call(word, name).and_then(integer);
        if let Some(count @ 0..64) = count("vmcnt") {
            raw = raw & !0xc00f | count & 0xf | (count >> 4) << 14;
        } else if let Some(count @ 0..8) = count("expcnt") {
            raw = raw & !0x70 | count << 4;
        } else if let Some(count @ 0..16) = count("lgkmcnt") {
            raw = raw & !0xf00 | count << 8;
        } else {
            return None;
        }
    }
    Some(raw)
}

/// A message by its numbers; the names are not read.
fn sendmsg(word: &str) -> Option<i64> {
    let parts: Vec<i64> =
        call(word, "sendmsg")?.split(',').map(|part| integer(part.trim())).collect::<Option<_>>()?;
    match *parts {
        [message @ 0..16, operation @ 0..8, stream @ 0..4] => Some(message | operation << 4 | stream << 8),
        _ => None,
    }
}

fn hwreg(word: &str) -> Option<i64> {
    let mut parts = call(word, "hwreg")?.split(',').map(str::trim);
    let id = match parts.next()? {
        "HW_REG_MODE" => 1,
        "HW_REG_STATUS" => 2,
        "HW_REG_TRAPSTS" => 3,
        "HW_REG_HW_ID" => 4,
        "HW_REG_GPR_ALLOC" => 5,
        "HW_REG_LDS_ALLOC" => 6,
        "HW_REG_IB_STS" => 7,
        "HW_REG_SH_MEM_BASES" => 15,
        "HW_REG_TBA_LO" => 16,
        "HW_REG_TBA_HI" => 17,
        "HW_REG_TMA_LO" => 18,
        "HW_REG_TMA_HI" => 19,
        "HW_REG_XCC_ID" => 20,
        "HW_REG_SQ_PERF_SNAPSHOT_DATA" => 21,
        "HW_REG_SQ_PERF_SNAPSHOT_DATA1" => 22,
        "HW_REG_SQ_PERF_SNAPSHOT_PC_LO" => 23,
        "HW_REG_SQ_PERF_SNAPSHOT_PC_HI" => 24,
        number => integer(number).filter(|id| (0..64).contains(id))?,
    };
    let (offset, size) = match (parts.next(), parts.next(), parts.next()) {
        (None, ..) => (0, 32),
        (Some(offset), Some(size), None) => (integer(offset)?, integer(size)?),
        _ => return None,
    };
    ((0..32).contains(&offset) && (1..=32).contains(&size)).then(|| id | offset << 6 | (size - 1) << 11)
}

fn exp_target(word: &str) -> Option<i64> {
    let numbered = |name, count: i64| {
        word.strip_prefix(name).and_then(integer).filter(|number| (0..count).contains(number))
    };
    match word {
        "mrtz" => Some(8),
        "null" => Some(9),
        _ => numbered("mrt", 8)
            .or_else(|| numbered("pos", 4).map(|number| 12 + number))
            .or_else(|| numbered("param", 32).map(|number| 32 + number)),
    }
}

/// `attr3.y`.
fn attribute(word: &str) -> Option<i64> {
    let (number, channel) = word.strip_prefix("attr")?.split_once('.')?;
    let channel = CHANNELS.iter().position(|known| channel.chars().eq([*known]))?;
    let number = integer(number).filter(|number| (0..64).contains(number))?;
    Some(number << 2 | channel as i64)
}

fn gpr_idx(word: &str) -> Option<i64> {
    call(word, "gpr_idx")?.split(',').map(str::trim).filter(|name| !name.is_empty()).try_fold(
        0,
        |mode, name| {
            let bit = ["SRC0", "SRC1", "SRC2", "DST"].iter().position(|known| *known == name)?;
            Some(mode | 1 << bit)
        },
    )
}
