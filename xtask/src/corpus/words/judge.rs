//! LLVM's answers held against ours.

use amdinst_core::isa::{DecodeError, Encoding, Inst, Mods, Value, decode};
use anyhow::Result;

use super::referee::{Assembly, Disassembly, Referee};
use super::report::{Class, Report};

/// One step of a block: the same bytes to both decoders.
struct Step<'a> {
    /// Index of the block.
    block: usize,
    /// The dwords that are left.
    words: &'a [u32],
    ours: Result<Inst, DecodeError>,
    /// Our text.
    text: String,
    /// LLVM's text, if it is an instruction.
    theirs: Option<&'a str>,
}

/// Judges every block. The first instruction of a block is the word that was drawn, and is counted; those behind it
/// are compared too, which also compares lengths.
pub(super) fn judge(referee: &Referee, blocks: &[Vec<u32>], examples: usize) -> Result<Report> {
    let answers = referee.disassemble(blocks)?;
    let mut report = Report::default();
    let mut steps = Vec::with_capacity(blocks.len() * 5 / 4);
    for (index, (words, answer)) in blocks.iter().zip(&answers).enumerate() {
        match answer {
            Disassembly::Lines(lines) => walk(referee, index, words, lines, &mut steps),
            Disassembly::Crash if decodes_throughout(referee, words) => report.differ(
                "we decode what LLVM's disassembler crashes on".to_owned(),
                || hex(words),
                examples,
            ),
            Disassembly::Crash => report.count(Class::Crash),
        }
    }
    let lines: Vec<&str> = steps.iter().filter_map(|step| step.theirs).collect();
    let mut assemblies = referee.assemble(&lines)?.into_iter();
    let mut last = None;
    for step in &steps {
        let assembly = step.theirs.and_then(|_| assemblies.next());
        match verdict(referee, step, assembly.as_ref()) {
            Ok(class) if last != Some(step.block) => report.count(class),
            Ok(_) => {}
            Err(kind) => report.differ(kind, || example(step), examples),
        }
        last = Some(step.block);
    }
    Ok(report)
}

/// Decodes a block up to where the two part or both stop. The dword that ends every block is not looked at.
fn walk<'a>(
    referee: &Referee,
    block: usize,
    words: &'a [u32],
    lines: &'a [String],
    steps: &mut Vec<Step<'a>>,
) {
    let mut lines = lines.iter();
    let mut rest = words;
    while rest.len() > 1 || rest.len() == words.len() {
        let ours = decode(referee.arch, &bytes(rest));
        let text = ours.as_ref().map(|inst| inst.text(referee.arch)).unwrap_or_default();
        let theirs = lines.next().map(String::as_str);
        let size = ours.as_ref().map_or(0, |inst| usize::from(inst.size) / 4);
        let same = ours.is_ok() && theirs == Some(&text);
        steps.push(Step { block, words: rest, ours, text, theirs });
        if !same {
            return;
        }
        rest = &rest[size..];
    }
}

/// What a step shows: its class, or the kind of difference.
fn verdict(referee: &Referee, step: &Step<'_>, assembly: Option<&Assembly>) -> Result<Class, String> {
    let inst = match (&step.ours, step.theirs, assembly) {
        (Err(_), None, _) => return Ok(Class::Refused),
        (Err(_), Some(text), _) if text.contains("/*") => return Ok(Class::IllegalForm),
        (Err(_), Some(_), Some(Assembly::Refused(_))) => return Ok(Class::IllegalForm),
        (Err(error), Some(text), _) => {
            let why = match error {
                DecodeError::IllegalOperand { reason, .. } => format!("{reason}"),
                DecodeError::ReservedBits { bits, .. } => format!("reserved bits {bits:#x}"),
                DecodeError::UnknownOpcode { encoding, opcode, .. } => {
                    format!("{encoding:?} opcode {opcode}")
                }
                other => format!("{other}"),
            };
            return Err(format!("only LLVM decodes {}*: {why}", family(text)));
        }
        (Ok(inst), None, _) => return Err(format!("only we decode {}", name(inst))),
        (Ok(inst), Some(text), _) if text != step.text => return Err(format!("text of {}", name(inst))),
        (Ok(inst), Some(_), Some(Assembly::Refused(message))) => {
            return Err(format!("LLVM's assembler refuses {:?}: {message}", inst.encoding));
        }
        (Ok(inst), Some(_), None) => return Err(format!("LLVM was not asked to assemble {}", inst.op)),
        (Ok(inst), Some(_), Some(Assembly::Bytes(bytes))) => (inst, bytes),
    };
    let (inst, theirs) = inst;
    match inst.encode(referee.arch) {
        Ok(words) if words.as_slice() == &step.words[..words.len()] => {}
        Ok(_) => return Err(format!("encode(decode(x)) is not x: {}", name(inst))),
        Err(_) => return Err(format!("what decodes does not encode: {}", name(inst))),
    }
    let ours = bytes(&step.words[..usize::from(inst.size) / 4]);
    if ours == theirs[..] {
        return Ok(Class::Same);
    }
    let mut plain = inst.clone();
    plain.mods.ignored = 0;
    match plain.encode(referee.arch) {
        Ok(words) if bytes(&words) == theirs[..] => return Ok(Class::Ignored),
        _ => {}
    }
    match decode(referee.arch, theirs) {
        Ok(other) if is_respelled(&plain, &other) => Ok(Class::Respelled),
        _ => Err(format!("LLVM assembles other bytes: {}", name(inst))),
    }
}

/// Whether two instructions differ in nothing but where a value is written: a constant inline or as a literal, SMEM's
/// register offset in SOFFSET or in OFFSET.
fn is_respelled(one: &Inst, other: &Inst) -> bool {
    let mods = |inst: &Inst| Mods { soffset_en: false, ..inst.mods };
    let is_constant = |value| matches!(value, Value::Inline(_) | Value::Literal(_));
    let pairs = || one.operands.iter().zip(&other.operands);
    one.op == other.op
        && one.encoding == other.encoding
        && mods(one) == mods(other)
        && one.operands.len() == other.operands.len()
        && pairs().all(|(a, b)| {
            a.dwords == b.dwords && (a.value == b.value || (is_constant(a.value) && is_constant(b.value)))
        })
}

fn decodes_throughout(referee: &Referee, words: &[u32]) -> bool {
    let mut rest = words;
    while !rest.is_empty() {
        match decode(referee.arch, &bytes(rest)) {
            Ok(inst) => rest = &rest[usize::from(inst.size) / 4..],
            Err(_) => return false,
        }
    }
    true
}

fn name(inst: &Inst) -> String {
    let encoding: Encoding = inst.encoding;
    format!("{encoding:?} {}", inst.op)
}

/// The first two words of a mnemonic: what differs seldom does so for one opcode alone.
fn family(text: &str) -> String {
    let mnemonic = text.split_whitespace().next().unwrap_or_default();
    mnemonic.split('_').take(2).collect::<Vec<_>>().join("_")
}

fn example(step: &Step<'_>) -> String {
    let theirs = step.theirs.unwrap_or("-");
    match &step.ours {
        Ok(_) => format!("{}  LLVM: {theirs}  ours: {}", hex(step.words), step.text),
        Err(error) => format!("{}  LLVM: {theirs}  ours: {error}", hex(step.words)),
    }
}

fn hex(words: &[u32]) -> String {
    words.iter().map(|word| format!("{word:08x}")).collect::<Vec<_>>().join(" ")
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
