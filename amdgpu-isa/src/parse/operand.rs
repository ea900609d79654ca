//! Operands: registers, constants, and the signs around them.

use super::ParseError;
use crate::registers::{Naming, Registers};
use crate::signature::{Class, ImmKind, Spec, Ty};
use crate::text::immediate::{
    CHANNELS, DELAY_ALU, PARAMS, VERSION_FLAGS, VERSIONS, dependencies_at_rest, dependency_counts,
    exp_targets, hardware_registers, messages, operations,
};
use crate::value::{inline_f16, inline_float};
use crate::{Arch, Generation, Special, Value, waits};

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
pub(super) fn value(arch: Arch, word: &str, spec: Spec) -> Result<Value, ParseError> {
    let bad = || ParseError::Operand(word.to_owned());
    let field = |value: i64| i32::try_from(value).ok().map(Value::Imm);
    if word == "off" {
        return Ok(Value::Off);
    }
    // `null` is a target of exports, too.
    if let Class::Imm(kind) = spec.class {
        return immediate(arch, word, kind).and_then(field).ok_or_else(bad);
    }
    if let Some(register) = register(arch.generation().registers(), word) {
        // `null` as an offset of scalar memory: none.
        if spec.class == Class::SmemOffset && register == Value::Special(Special::Null) {
            return Ok(Value::Imm(0));
        }
        return Ok(register);
    }
    match spec.class {
        Class::SmemOffset => integer(word).and_then(field).ok_or_else(bad),
        Class::Literal => literal(word).map(Value::Literal).ok_or_else(bad),
        _ => constant(word, spec.ty).ok_or_else(bad),
    }
}

/// `v7`, `v[8:9]`, `a[0:15]`; `s3`, `ttmp2`, `vcc`, `exec_lo`, `src_scc` as the generation has them.
fn register(registers: &Registers, word: &str) -> Option<Value> {
    let special = registers.specials.iter().find(|(.., name)| *name == word);
    if let Some(&(special, ..)) = special {
        return Some(Value::Special(special));
    }
    let named = registers.runs.iter().filter(|run| run.naming != Naming::Numbered);
    for run in named {
        match word.strip_prefix(run.name) {
            Some("" | "_lo") => return Some(Value::Scalar(run.first)),
            Some("_hi") if run.naming == Naming::Halves => return Some(Value::Scalar(run.first + 1)),
            _ => {}
        }
    }
    let digits = word.find(|letter: char| !letter.is_ascii_alphabetic())?;
    let (file, rest) = word.split_at(digits);
    let first = match rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(range) => range.split_once(':').map_or(range, |(first, _)| first),
        None => rest,
    };
    let number: u8 = first.trim().parse().ok()?;
    match file {
        "v" => return Some(Value::Vgpr(number)),
        "a" => return Some(Value::Agpr(number)),
        _ => {}
    }
    let run = registers.runs.iter().find(|run| run.naming == Naming::Numbered && run.name == file)?;
    (number < run.count).then(|| Value::Scalar(run.first + number))
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
fn immediate(arch: Arch, word: &str, kind: ImmKind) -> Option<i64> {
    if let Some(value) = integer(word) {
        let signed = matches!(kind, ImmKind::SignedHex | ImmKind::Target);
        // As the text has it: 16 bits.
        return Some(if signed { i64::from(value as u16 as i16) } else { value });
    }
    match kind {
        ImmKind::Waitcnt => waitcnt(arch, word),
        ImmKind::Version => word.split('|').try_fold(0, |raw, part| {
            let part = part.trim_matches(['(', ')']);
            let names = VERSIONS.iter().chain(&VERSION_FLAGS);
            let named = names.clone().find(|(_, name)| *name == part).map(|(bits, _)| i64::from(*bits));
            Some(raw | named.or_else(|| integer(part))?)
        }),
        ImmKind::Sendmsg => sendmsg(arch, word),
        ImmKind::DelayAlu => delay_alu(word),
        ImmKind::DepCtr => depctr(arch, word),
        ImmKind::Hwreg => hwreg(arch, word),
        ImmKind::GprIdx => gpr_idx(word),
        ImmKind::ExpTarget => exp_target(arch, word),
        ImmKind::Param => PARAMS.iter().position(|name| *name == word).map(|index| index as i64),
        ImmKind::Attribute => attribute(word),
        _ => None,
    }
}

/// `name(arguments)`.
fn call<'a>(word: &'a str, name: &str) -> Option<&'a str> {
    word.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')
}

/// `vmcnt(0) lgkmcnt(1)`.
fn waitcnt(arch: Arch, words: &str) -> Option<i64> {
    let generation = arch.generation();
    let mut words = words.split_whitespace();
    let raw = words.try_fold(waits::at_rest(generation), |raw, word| {
        let (name, _) = word.split_once('(')?;
        waits::with_count(generation, raw, name, integer(call(word, name)?)?)
    })?;
    Some(raw.into())
}

/// `instid0(VALU_DEP_1) | instskip(NEXT)`.
fn delay_alu(words: &str) -> Option<i64> {
    words.split('|').map(str::trim).try_fold(0, |raw, word| {
        let (name, _) = word.split_once('(')?;
        let (_, lsb, _, names) = DELAY_ALU.into_iter().find(|(known, ..)| *known == name)?;
        let argument = call(word, name)?;
        let value = names.iter().position(|known| *known == argument)?;
        Some(raw | (value as i64) << lsb)
    })
}

/// `depctr_va_vcc(0) depctr_sa_sdst(0)`.
fn depctr(arch: Arch, words: &str) -> Option<i64> {
    words.split_whitespace().try_fold(i64::from(dependencies_at_rest(arch)), |raw, word| {
        let (name, _) = word.split_once('(')?;
        let (_, lsb, mask) = dependency_counts(arch).iter().find(|(known, ..)| *known == name)?;
        let mask = i64::from(*mask);
        let count = integer(call(word, name)?).filter(|count| (0..=mask).contains(count))?;
        Some(raw & !(mask << lsb) | count << lsb)
    })
}

/// A message, its operation and its stream, by names or numbers.
fn sendmsg(arch: Arch, word: &str) -> Option<i64> {
    let generation = arch.generation();
    let mut parts = call(word, "sendmsg")?.split(',').map(str::trim);
    let first = parts.next()?;
    let named = messages(generation).iter().find(|(_, name)| *name == first);
    let message = named.map(|(message, _)| i64::from(*message)).or_else(|| integer(first))?;
    let operation = parts.next().map_or(Some(0), |part| {
        let names = operations(u16::try_from(message).ok()?);
        let named = names.iter().position(|name| !name.is_empty() && *name == part);
        named.map(|operation| operation as i64).or_else(|| integer(part))
    })?;
    let stream = parts.next().map_or(Some(0), integer)?;
    if parts.next().is_some() {
        return None;
    }
    match (generation, message, operation, stream) {
        (Generation::Gfx11 | Generation::Gfx12, 0..256, 0, 0) => Some(message),
        (Generation::Gfx8 | Generation::Gfx9 | Generation::Gfx10, 0..16, 0..8, 0..4) => {
            Some(message | operation << 4 | stream << 8)
        }
        _ => None,
    }
}

fn hwreg(arch: Arch, word: &str) -> Option<i64> {
    let mut parts = call(word, "hwreg")?.split(',').map(str::trim);
    let first = parts.next()?;
    let named = hardware_registers(arch).find(|(_, name)| *name == first);
    let id =
        named.map(|(id, _)| i64::from(id)).or_else(|| integer(first).filter(|id| (0..64).contains(id)))?;
    let (offset, size) = match (parts.next(), parts.next(), parts.next()) {
        (None, ..) => (0, 32),
        (Some(offset), Some(size), None) => (integer(offset)?, integer(size)?),
        _ => return None,
    };
    ((0..32).contains(&offset) && (1..=32).contains(&size)).then(|| id | offset << 6 | (size - 1) << 11)
}

fn exp_target(arch: Arch, word: &str) -> Option<i64> {
    exp_targets(arch.generation()).iter().find_map(|(numbers, name)| {
        let number = match word.strip_prefix(name)? {
            "" if numbers.len() == 1 => numbers.start,
            number if numbers.len() > 1 => numbers.start + number.parse::<u8>().ok().map(u16::from)?,
            _ => return None,
        };
        numbers.contains(&number).then_some(number.into())
    })
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
