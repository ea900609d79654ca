//! An instruction from text: the inverse of [`Inst::text`](super::Inst::text), for tests and tools that write
//! a few instructions by hand. It takes LLVM's syntax as `llvm-objdump` prints it; it is no assembler (no
//! labels, no expressions, no directives).

mod modifiers;
mod operand;

use super::{EncodeError, Encoding, Inst, Mods, Op, Slot, Value, assemble};
use crate::encoding::table::{Entry, Specs, Tables};
use crate::signature::{Class, ImmKind, MIX, Spec};
use crate::{Arch, Target};

/// Why a line is no instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// No such mnemonic on the processor.
    #[error("{arch} has no instruction `{mnemonic}`")]
    UnknownMnemonic {
        /// The processor.
        arch: Arch,
        /// The line's first word.
        mnemonic: String,
    },
    /// An operand that cannot be read.
    #[error("`{0}` is no operand that can stand here")]
    Operand(String),
    /// A modifier that cannot be read.
    #[error("`{0}` is no modifier")]
    Modifier(String),
    /// More operands than the instruction has.
    #[error("{op} takes {expected} operands at most, not {given}")]
    OperandCount {
        /// The mnemonic.
        op: Op,
        /// How many it takes.
        expected: usize,
        /// How many there are.
        given: usize,
    },
    /// The instruction that was read has no encoding.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// Reads one instruction: `v_add_f32_e64 v0, |v1|, -s2 clamp mul:2`.
///
/// A mnemonic without its encoding's suffix takes the shortest encoding that can hold the operands and
/// modifiers. Implied VCC operands are written, as in the text. Whole numbers from -16 to 64 and the floats
/// 0.5, 1.0, 2.0, 4.0, their negatives and 0.15915494 are inline constants; other numbers, and `lit(n)`, are
/// literals: the literal's 32 bits.
///
/// # Errors
/// [`ParseError`] names the word that is wrong.
pub fn parse(target: impl Into<Target>, line: &str) -> Result<Inst, ParseError> {
    let target = target.into();
    let arch = target.arch;
    let line = line.trim();
    if let Some((first, second)) = line.split_once(" :: ") {
        return parse_pair(target, first, second);
    }
    let (mnemonic, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let (mut operands, modifier_words) = modifiers::split(arch.generation(), rest);
    if let ("exp" | "export", Some((target, source))) =
        (mnemonic, operands.first().and_then(|first| first.split_once(' ')))
    {
        operands.splice(0..1, [target, source.trim()]);
    }
    // The registers of an image's address, where each is named: an operand each.
    let operands: Vec<&str> = operands.into_iter().flat_map(modifiers::listed).collect();
    let mut mods = Mods::default();
    let mut packed = modifiers::Packed::default();
    for word in &modifier_words {
        modifiers::apply(arch.generation(), &mut mods, &mut packed, word)
            .ok_or_else(|| ParseError::Modifier((*word).to_owned()))?;
    }
    let mut failure = ParseError::UnknownMnemonic { arch, mnemonic: mnemonic.to_owned() };
    for entry in candidates(target, mnemonic, &mods) {
        match read(target, entry, &operands, mods, packed) {
            Ok(inst) => return Ok(inst),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// The entries that a mnemonic can stand for, the short encodings first.
fn candidates<'a>(target: Target, mnemonic: &str, mods: &Mods) -> Vec<&'a Entry> {
    let entries = Tables::of(target).entries();
    let is = |entry: &&Entry, name: &str| entry.name == name && entry.dual.is_none();
    let exact = entries
        .iter()
        .filter(|entry| mnemonic.strip_suffix(entry.suffix).is_some_and(|name| is(entry, name)));
    let mut found: Vec<&Entry> = exact.collect();
    let bare = entries.iter().filter(|entry| is(entry, mnemonic) && !entry.suffix.is_empty());
    found.extend(bare.filter(|entry| match entry.encoding {
        Encoding::Vop1Sdwa | Encoding::Vop2Sdwa | Encoding::VopcSdwa => mods.sdwa.is_some(),
        encoding if encoding.is_dpp() => mods.dpp.is_some(),
        encoding if encoding.is_dpp8() => mods.dpp8.is_some(),
        _ => mods.sdwa.is_none() && mods.dpp.is_none() && mods.dpp8.is_none(),
    }));
    found.retain(|entry| {
        !(mods.dpp.is_some() && entry.encoding.is_dpp8() || mods.dpp8.is_some() && entry.encoding.is_dpp())
    });
    found.sort_by_key(|entry| entry.encoding);
    found
}

/// Reads the operands as one opcode has them.
fn read(
    target: Target,
    entry: &Entry,
    operands: &[&str],
    mods: Mods,
    packed: modifiers::Packed,
) -> Result<Inst, ParseError> {
    let arch = target.arch;
    let mut mods = mods;
    modifiers::complete(&mut mods, packed, entry);
    let specs: Specs = entry
        .specs
        .iter()
        .copied()
        .filter(|&spec| crate::encoding::operand::is_present(entry, spec, &mods))
        .collect();
    let mut values: Vec<Value> = Vec::new();
    let mut words = operands.iter().copied().peekable();
    for spec in &specs {
        let Some(word) = words.next() else {
            if spec.class == Class::Imm(ImmKind::Optional) {
                values.push(Value::Imm(0));
                continue;
            }
            break;
        };
        if spec.class == Class::SmemOffset {
            // Besides a register, the immediate is written as a modifier.
            let offset = operand::value(arch, word, *spec)?;
            values.push(offset);
            let names_zero = arch.generation().model().bits.smem_names_zero;
            if matches!(offset, Value::Scalar(_)) && (mods.offset != 0 || names_zero) {
                values.push(Value::Imm(mods.offset));
                mods.offset = 0;
                mods.soffset_en = true;
            }
            // Without a bit of its own, a register stands in SOFFSET.
            mods.soffset_en |=
                matches!(offset, Value::Scalar(_)) && arch.generation().model().bits.smem_imm.width == 0;
            continue;
        }
        if matches!(spec.class, Class::ImageAddresses(_)) && spec.slot != Slot::Vaddr {
            values.push(named_registers(arch, word, &mut words, *spec)?);
            continue;
        }
        let source = match spec.slot {
            Slot::Src0 => Some(0),
            Slot::Src1 => Some(1),
            Slot::Src2 => Some(2),
            _ => None,
        };
        let (word, changes) = operand::strip(word);
        // Which half of a register it is.
        let half = source.map_or(8, |source| 1 << source);
        let word = match word.strip_suffix(".h") {
            Some(register) if entry.halves & half != 0 => {
                mods.op_sel |= half;
                register
            }
            _ => word.strip_suffix(".l").filter(|_| entry.halves & half != 0).unwrap_or(word),
        };
        values.push(operand::value(arch, word, *spec)?);
        if changes == operand::Changes::default() {
            continue;
        }
        let Some(source) = source else { return Err(ParseError::Operand(word.to_owned())) };
        mods.neg |= u8::from(changes.neg) << source;
        if entry.flags.has(MIX) {
            mods.neg_hi |= u8::from(changes.abs) << source;
        } else {
            mods.abs |= u8::from(changes.abs) << source;
        }
        if changes.sext {
            match mods.sdwa.get_or_insert_default().sext.get_mut(source) {
                Some(sext) => *sext = true,
                None => return Err(ParseError::Operand(word.to_owned())),
            }
        }
    }
    if words.next().is_some() {
        let (op, expected, given) = (entry.op, specs.len(), operands.len());
        return Err(ParseError::OperandCount { op, expected, given });
    }
    mods.dual = entry.dual;
    Ok(assemble(target, entry.op, entry.encoding, &values, mods)?)
}

/// Reads vector registers that an operand names one by one, up to four of them.
fn named_registers<'a>(
    arch: Arch,
    first: &'a str,
    more: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
    spec: Spec,
) -> Result<Value, ParseError> {
    let mut registers = [0; 4];
    let mut word = Some(first);
    for register in &mut registers {
        let Some(name) = word.take().or_else(|| more.next_if(|next| next.starts_with('v'))) else { break };
        match operand::value(arch, name, spec)? {
            Value::Vgpr(number) => *register = number,
            _ => return Err(ParseError::Operand(name.to_owned())),
        }
    }
    Ok(Value::Vgprs(registers))
}

/// Reads the two operations of VOPD.
fn parse_pair(target: Target, first: &str, second: &str) -> Result<Inst, ParseError> {
    let split = |half: &'_ str| {
        let half = half.trim();
        let (mnemonic, rest) = half.split_once(char::is_whitespace).unwrap_or((half, ""));
        (mnemonic.to_owned(), rest.to_owned())
    };
    let ((mnemonic, of_first), (other, of_second)) = (split(first), split(second));
    let entries = Tables::of(target).entries();
    let entry = entries
        .iter()
        .find(|entry| entry.dual.is_some() && entry.name == mnemonic && entry.dual_name == other);
    let Some(entry) = entry else {
        return Err(ParseError::UnknownMnemonic { arch: target.arch, mnemonic });
    };
    let operands = |half| modifiers::split(target.arch.generation(), half).0;
    let (of_first, of_second) = (operands(&of_first), operands(&of_second));
    let mut words = of_first.into_iter().chain(of_second);
    let mut values: Vec<Value> = Vec::new();
    for spec in &entry.specs {
        if spec.class == Class::Vcc {
            values.push(Value::VCC);
            continue;
        }
        let Some(word) = words.next() else { break };
        values.push(operand::value(target.arch, word, *spec)?);
    }
    if words.next().is_some() {
        let (op, expected) = (entry.op, entry.specs.len());
        return Err(ParseError::OperandCount { op, expected, given: expected + 1 });
    }
    let mods = Mods { dual: entry.dual, ..Mods::default() };
    Ok(assemble(target, entry.op, entry.encoding, &values, mods)?)
}

/// The OP_SEL_HI bits of an opcode that the text leaves out.
fn op_sel_hi_at_rest(entry: &Entry) -> u8 {
    if entry.flags.has(MIX) { 0 } else { entry.op_sel_hi() }
}
