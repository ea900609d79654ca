//! LLVM's answers held against ours.

use amdgpu_isa::{
    DecodeError, Encoding, Generation, Inst, Mods, Op, Target, Value, decode, decode_for_listing,
};
use anyhow::Result;

use super::cause::{self, Evidence};
use super::referee::{Assembly, Disassembly, Halves, Referee, is_suspect};
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
    /// Both decode the word, to the same text.
    agrees: bool,
}

impl Step<'_> {
    /// Whether both sides decode the word, to different texts.
    fn has_two_texts(&self) -> bool {
        self.ours.is_ok() && self.theirs.is_some() && !self.agrees
    }

    /// What LLVM's assembler makes of our text may settle it.
    fn hangs_on_our_text(&self) -> bool {
        self.ours.is_ok() && !self.agrees
    }
}

/// Judges every block by all that LLVM can be asked.
pub(super) fn by_all(target: Target, blocks: &[Vec<u32>], examples: usize) -> Result<Report> {
    let mut all = Report::default();
    for referee in Referee::all(target) {
        all.merge(judge(&referee, blocks, examples)?, examples);
    }
    Ok(all)
}

/// Judges every block. The first instruction of a block is the word that was drawn, and is counted; those
/// behind it are compared too, which also compares lengths.
fn judge(referee: &Referee, blocks: &[Vec<u32>], examples: usize) -> Result<Report> {
    // What we refuse and LLVM crashes on, or makes something up for, agrees whatever LLVM would say.
    let is_lost = |block: &Vec<u32>| {
        is_suspect(referee.target.arch, block) && decode(referee.target, &bytes(block)).is_err()
    };
    let (lost, blocks): (Vec<_>, Vec<_>) = blocks.iter().cloned().partition(is_lost);
    let blocks = &blocks[..];
    let mut report = Report::default();
    lost.iter().for_each(|_| report.count(Class::Crash));
    let answers = referee.disassemble(blocks)?;
    let mut steps = Vec::with_capacity(blocks.len() * 5 / 4);
    for (index, (words, answer)) in blocks.iter().zip(&answers).enumerate() {
        match answer {
            Disassembly::Lines(lines) => walk(referee, index, words, lines, &mut steps),
            Disassembly::Crash => match what_it_crashed_on(referee, words)? {
                Ok(class) => report.count(class),
                Err(kind) => report.differ(kind, || hex(words), examples),
            },
        }
    }
    let lines: Vec<&str> = steps.iter().filter_map(|step| step.theirs).collect();
    let mut assemblies = referee.assemble(&lines)?.into_iter();
    let other: Vec<&str> =
        steps.iter().filter(|step| step.hangs_on_our_text()).map(|step| &*step.text).collect();
    let mut of_ours = referee.assemble(&other)?.into_iter();
    let mut last = None;
    for step in &steps {
        let assembly = step.theirs.and_then(|_| assemblies.next());
        let of_ours = if step.hangs_on_our_text() { of_ours.next() } else { None };
        match verdict(referee, step, assembly.as_ref(), of_ours.as_ref()) {
            Ok(class) if last != Some(step.block) => report.count(class),
            Ok(_) => {}
            Err(kind) => report.differ(kind, || example(step), examples),
        }
        last = Some(step.block);
    }
    Ok(report)
}

/// Judges a block that LLVM's disassembler crashed on. It crashes on the constant 0xff of `v_madmk_f16` and
/// the like, which its assembler writes: there our text must give the same bytes.
fn what_it_crashed_on(referee: &Referee, words: &[u32]) -> Result<Result<Class, String>> {
    let mut rest = words;
    let mut insts = Vec::new();
    while !rest.is_empty() {
        let Ok(inst) = decode(referee.target, &bytes(rest)) else { return Ok(Ok(Class::Crash)) };
        rest = &rest[usize::from(inst.size) / 4..];
        insts.push(inst);
    }
    for mut inst in insts {
        (inst.mods.ignored, inst.mods.ignored_control) = (0, 0);
        let own = inst.encode(referee.target).map(|words| bytes(&words)).unwrap_or_default();
        match &referee.assemble(&[&inst.text(referee.target)])?[..] {
            [Assembly::Bytes(theirs)] if theirs[..] == own[..] => {}
            _ => return Ok(Err("we decode what LLVM's disassembler crashes on".to_owned())),
        }
    }
    Ok(Ok(Class::Misprint))
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
        let ours = decode(referee.target, &bytes(rest));
        let text = ours.as_ref().map(|inst| inst.text(referee.target)).unwrap_or_default();
        let theirs = lines.next().map(String::as_str);
        let size = ours.as_ref().map_or(0, |inst| usize::from(inst.size) / 4);
        let agrees = ours.is_ok() && theirs.is_some_and(|theirs| referee.agrees(theirs, &text));
        steps.push(Step { block, words: rest, ours, text, theirs, agrees });
        if !agrees {
            return;
        }
        rest = &rest[size..];
    }
}

/// What a step shows: its class, or the kind of difference. `assembly` is what LLVM makes of its own text,
/// `of_ours` what it makes of ours where that is another.
fn verdict(
    referee: &Referee,
    step: &Step<'_>,
    assembly: Option<&Assembly>,
    of_ours: Option<&Assembly>,
) -> Result<Class, String> {
    // With or without the bits that mean nothing.
    let is_itself = |inst: &Inst, assembly: Option<&Assembly>| {
        let own = bytes(&step.words[..usize::from(inst.size) / 4]);
        let plain = without_ignored(inst).encode(referee.target).map(|words| bytes(&words));
        matches!(assembly, Some(Assembly::Bytes(theirs)) if theirs[..] == own[..] || plain.is_ok_and(|plain| theirs[..] == plain[..]))
    };
    match (&step.ours, step.theirs, assembly) {
        (Err(_), None, _) => Ok(Class::Refused),
        // LLVM has another text, if any, which must not stand for these bytes.
        (Ok(inst), ..)
            if referee.halves == Halves::Unasked && referee.is_of_halves(step.theirs, &step.text) =>
        {
            let own = bytes(&step.words[..usize::from(inst.size) / 4]);
            match assembly {
                Some(Assembly::Bytes(theirs)) if theirs[..] == own[..] => {
                    Err(format!("halves are named that need not be: {}", name(inst)))
                }
                _ => Ok(Class::Halves),
            }
        }
        // Where it does not crash, it makes something up.
        (Err(_), Some(_), _) if is_suspect(referee.target.arch, step.words) => Ok(Class::Crash),
        (Err(error), Some(text), Some(assembly)) => {
            let evidence = Evidence { target: referee.target, words: step.words, error, text, assembly };
            of_what_only_llvm_decodes(referee, step, &evidence)
        }
        (Err(_), Some(text), None) => Err(format!("LLVM was not asked to assemble {}*", family(text))),
        // A matrix of narrow numbers at the end of the register file, which LLVM's disassembler takes for a
        // wider one.
        (Ok(inst), None, _) if is_itself(inst, of_ours) => Ok(Class::OnlyAssembled),
        (Ok(inst), None, _) => Err(format!("only we decode {}", name(inst))),
        (Ok(inst), Some(_), Some(_)) if step.has_two_texts() => {
            // LLVM's disassembler takes the constant of `v_madmk_f32` and the like for an operand code where
            // it has the value of one: 0x80 is printed as 0, 0xf0 as 0.5.
            let is_misprint = is_itself(inst, of_ours) && !is_itself(inst, assembly);
            if is_misprint { Ok(Class::Misprint) } else { Err(format!("text of {}", name(inst))) }
        }
        (Ok(inst), Some(text), Some(assembly)) if is_lossy(referee.target, inst, text, assembly) => {
            Ok(Class::Lossy)
        }
        (Ok(inst), Some(_), Some(Assembly::Refused(message))) => {
            Err(format!("LLVM's assembler refuses {:?}: {message}", inst.encoding))
        }
        (Ok(inst), Some(_), None) => Err(format!("LLVM was not asked to assemble {}", inst.op)),
        (Ok(inst), Some(_), Some(Assembly::Bytes(theirs))) => of_two_encodings(referee, step, inst, theirs),
    }
}

/// The class of a word that LLVM decodes and we do not, or the kind of difference.
fn of_what_only_llvm_decodes(
    referee: &Referee,
    step: &Step<'_>,
    evidence: &Evidence<'_>,
) -> Result<Class, String> {
    let Evidence { error, text, assembly, .. } = *evidence;
    if let Some(cause) = cause::of(evidence) {
        return if is_listed_alike(referee, step, text) {
            Ok(Class::IllegalForm(cause))
        } else {
            Err(format!("the listing of {}*, which is no instruction", family(text)))
        };
    }
    // Signs of whole numbers, for which there is no text; what else is wrong with the word, the assembler may
    // refuse.
    let own = bytes(&step.words[..step.words.len() - 1]);
    let is_passed_over = match assembly {
        Assembly::Bytes(theirs) => !own.starts_with(theirs),
        Assembly::Refused(message) => {
            matches!(error, DecodeError::ReservedBits { .. }) && cause::is_nameless(message)
        }
    };
    if referee.halves == Halves::Asked && is_passed_over {
        return Ok(Class::IllegalForm("bits that LLVM passes over if asked for halves".to_owned()));
    }
    let why = match error {
        DecodeError::IllegalOperand { reason, .. } => format!("{reason}"),
        DecodeError::ReservedBits { bits, .. } => format!("reserved bits {bits:#x}"),
        DecodeError::UnknownOpcode { encoding, opcode, .. } => format!("{encoding:?} opcode {opcode}"),
        DecodeError::UnknownEncoding { .. } => "unknown encoding".to_owned(),
        other => format!("{other}"),
    };
    let theirs = match assembly {
        Assembly::Refused(message) => message,
        Assembly::Bytes(_) => "takes it",
    };
    Err(format!("only LLVM decodes {}*: {why} (LLVM's assembler: {theirs})", family(text)))
}

/// Whether LLVM's text says less than the word, or its assembler does not take what its disassembler writes,
/// in a way that is known.
fn is_lossy(target: Target, inst: &Inst, text: &str, assembly: &Assembly) -> bool {
    // The constant of 16 bits with others above them: the compiler writes such, the assembler refuses them or
    // cuts them off.
    if inst.has_wide_half(target) {
        return true;
    }
    let Assembly::Refused(message) = assembly else { return false };
    match inst.op {
        // An accumulator in the high half of a register: LLVM marks it as an assembler must not.
        Op::v_fmac_f16 if text.starts_with("v_fmac_f16_e64") && inst.mods.op_sel & 8 != 0 => true,
        // 1/(2π) of 16 bits beside a lane permutation: the disassembler prints it, the assembler reads it
        // without the permutation alone.
        Op::v_dot2_f32_bf16 if text.contains(", 0.15915494,") && cause::is_nameless(message) => true,
        // One register that both operations read: compilers behind LLVM 22 write it, as the manual has it.
        _ => {
            inst.encoding == Encoding::Vopd
                && target.arch.generation() == Generation::Gfx12
                && message.contains("operands must use different VGPR banks")
        }
    }
}

/// The class of an instruction with one text, which LLVM's assembler makes `theirs` of; or the kind of
/// difference.
fn of_two_encodings(referee: &Referee, step: &Step<'_>, inst: &Inst, theirs: &[u8]) -> Result<Class, String> {
    match inst.encode(referee.target) {
        Ok(words) if words.as_slice() == &step.words[..words.len()] => {}
        Ok(_) => return Err(format!("encode(decode(x)) is not x: {}", name(inst))),
        Err(_) => return Err(format!("what decodes does not encode: {}", name(inst))),
    }
    let ours = bytes(&step.words[..usize::from(inst.size) / 4]);
    if ours == theirs[..] {
        return Ok(Class::Same);
    }
    let plain = without_ignored(inst);
    match plain.encode(referee.target) {
        Ok(words) if bytes(&words) == theirs[..] => return Ok(Class::Ignored),
        _ => {}
    }
    match decode(referee.target, theirs) {
        Ok(other) if is_respelled(&plain, &other) => Ok(Class::Respelled),
        Ok(other) if is_half_export(&plain, &other) || is_silent_half(&plain, &other) => Ok(Class::Lossy),
        _ => Err(format!("LLVM assembles other bytes: {}", name(inst))),
    }
}

/// The instruction without the bits that mean nothing.
fn without_ignored(inst: &Inst) -> Inst {
    Inst { mods: Mods { ignored: 0, ignored_control: 0, ..inst.mods }, ..inst.clone() }
}

/// Whether two instructions differ in nothing but where a value is written: a constant inline or as a
/// literal, SMEM's register offset in SOFFSET or in OFFSET.
fn is_respelled(one: &Inst, other: &Inst) -> bool {
    let mods = |inst: &Inst| Mods { soffset_en: false, ..inst.mods };
    if one.op == Op::ds_swizzle_b32 && one.op == other.op && one.operands == other.operands {
        return is_same_swizzle(one.mods.offset, other.mods.offset);
    }
    // Without operands, LLVM writes no suffix: `v_nop` for `v_nop_e64`.
    if one.op == other.op && one.operands.is_empty() && other.operands.is_empty() {
        return Mods { sdwa: None, ..one.mods } == other.mods;
    }
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

/// Whether two patterns pick the same lanes: masks (AND, OR, XOR of five bits each), of which the text tells
/// what becomes of each bit; rotations and FFTs, which have bits without meaning.
fn is_same_swizzle(one: i32, other: i32) -> bool {
    let lane = |mask: i32, lane: i32| ((lane & mask) | mask >> 5) & 0x1f ^ mask >> 10 & 0x1f;
    if one >= 0xc000 {
        let used = if one >= 0xe000 { 0xe01f } else { 0xe7e0 };
        return one & used == other & used;
    }
    one < 0x8000 && other < 0x8000 && (0..32).all(|index| lane(one, index) == lane(other, index))
}

/// Whether LLVM's text of an export stands for another one: a compressed export of half a pair, of which its
/// assembler takes the first of each pair for both.
fn is_half_export(one: &Inst, other: &Inst) -> bool {
    let [target, first, _, third, _] = one.operands[..] else { return false };
    let values = [target, first, first, third, third].map(|operand| operand.value);
    one.encoding == Encoding::Exp
        && other.encoding == Encoding::Exp
        && one.mods.compr
        && one.mods == other.mods
        && other.operands.iter().map(|operand| operand.value).eq(values)
}

/// Whether two instructions differ in nothing but OP_SEL of scalar sources, where the text leaves it out.
fn is_silent_half(one: &Inst, other: &Inst) -> bool {
    let mods = |inst: &Inst| Mods { op_sel: 0, ..inst.mods };
    one.op == Op::v_cndmask_b16
        && one.op == other.op
        && one.operands == other.operands
        && mods(one) == mods(other)
}

/// Whether our listing shows what is no instruction as LLVM's does, or as data.
fn is_listed_alike(referee: &Referee, step: &Step<'_>, theirs: &str) -> bool {
    let Ok(inst) = decode_for_listing(referee.target, &bytes(step.words)) else { return true };
    // Constants of these are misprinted in instructions too, where our text gives the same bytes, and of the
    // last two how lanes are permuted.
    let misprinted = [
        "madmk_",
        "madak_",
        "fmamk_",
        "fmaak_",
        "v_fmac_",
        "v_fma_mixlo_f16_e64_dpp ",
        "v_fma_mixhi_f16_e64_dpp ",
    ];
    let ours = inst.text(referee.target);
    misprinted.iter().any(|name| theirs.contains(name))
        || referee.agrees(theirs, &ours)
        || referee.halves == Halves::Unasked && referee.is_of_halves(Some(theirs), &ours)
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

pub(super) fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
