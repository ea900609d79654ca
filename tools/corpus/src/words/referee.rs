//! What LLVM says: `llvm-mc-22` as disassembler and as assembler.
//!
//! The disassembler crashes on some illegal words ([`is_suspect`]), and takes its output with it. A batch
//! that it died of is halved until the culprit is alone, which takes its time: such words are better not
//! asked about.

use std::io::Write as _;
use std::process::{Command, Stdio};

use amdgpu_isa::{Arch, Generation, Target};
use anyhow::{Context as _, Result, bail};
use arrayvec::ArrayVec;

use crate::{attributes_with_halves, names_halves, wave_attribute, without_halves};

/// LLVM's machine code tool.
const LLVM_MC: &str = "llvm-mc-22";

/// Printed between two blocks: `s_nop 0xbeef`, which no block is expected to hold.
const SEPARATOR: (&str, &str) = ("[0xef 0xbe 0x80 0xbf]\n", "s_nop 0xbeef");

/// Its word.
pub(super) const SEPARATOR_WORD: u32 = 0xbf80_beef;

/// What a block of words is to LLVM's disassembler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Disassembly {
    /// The instructions up to the first bytes that are none.
    Lines(Vec<String>),
    /// LLVM crashed.
    Crash,
}

/// What a line is to LLVM's assembler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Assembly {
    /// The text assembles to these bytes.
    Bytes(ArrayVec<u8, 20>),
    /// An error, with LLVM's message.
    Refused(String),
}

/// LLVM's tools for one processor and size of waves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Referee {
    pub(super) target: Target,
    /// How LLVM reads operands of 16 bits.
    pub(super) halves: Halves,
}

/// How LLVM reads operands of 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halves {
    /// As it does unasked.
    Unasked,
    /// Asked to name the halves of registers, which it does not unasked: so instructions are read that have
    /// no other text.
    Asked,
}

/// A text without ` op_sel:[…]`.
fn without_op_sel(text: &str) -> String {
    match text.split_once(" op_sel:[").and_then(|(start, rest)| Some((start, rest.split_once(']')?.1))) {
        Some((start, end)) => format!("{start}{end}"),
        None => text.to_owned(),
    }
}

impl Referee {
    pub(super) fn new(target: impl Into<Target>) -> Self {
        Self { target: target.into(), halves: Halves::Unasked }
    }

    /// Those that together know everything of a processor.
    pub(super) fn all(target: Target) -> Vec<Self> {
        let halves = match target.arch.generation() {
            Generation::Gfx12 => &[Halves::Unasked, Halves::Asked][..],
            _ => &[Halves::Unasked],
        };
        halves.iter().map(|&halves| Self { target, halves }).collect()
    }

    /// Whether LLVM's text is ours. We name halves of registers where there is no other text; LLVM, if it is
    /// asked to, all of them.
    pub(super) fn agrees(&self, theirs: &str, ours: &str) -> bool {
        match self.halves {
            Halves::Asked if !names_halves(ours) => without_halves(theirs).as_deref() == Some(ours),
            _ => theirs == ours,
        }
    }

    /// Whether a text of ours is one that LLVM has only if it is asked for halves of registers: it names
    /// some, or OP_SEL of scalars says what LLVM's does not.
    pub(super) fn is_of_halves(&self, theirs: Option<&str>, ours: &str) -> bool {
        let hides = |theirs: &str| theirs != ours && theirs == without_op_sel(ours);
        self.target.arch.generation() == Generation::Gfx12
            && (names_halves(ours) || theirs.is_some_and(hides))
    }

    /// The text of each block of words.
    pub(super) fn disassemble(&self, blocks: &[Vec<u32>]) -> Result<Vec<Disassembly>> {
        let mut all = Vec::with_capacity(blocks.len());
        self.disassemble_into(blocks, &mut all)?;
        Ok(all)
    }

    fn disassemble_into(&self, blocks: &[Vec<u32>], all: &mut Vec<Disassembly>) -> Result<()> {
        let mut input = String::with_capacity(blocks.len() * 100);
        for block in blocks {
            input.push('[');
            for byte in block.iter().flat_map(|word| word.to_le_bytes()) {
                input.push_str(HEX[usize::from(byte)].as_str());
            }
            input.push_str("]\n");
            input.push_str(SEPARATOR.0);
        }
        let output = self.run(&["--disassemble"], &input)?;
        if !output.ended {
            if let [_] = blocks {
                all.push(Disassembly::Crash);
                return Ok(());
            }
            let (first, second) = blocks.split_at(blocks.len() / 2);
            self.disassemble_into(first, all)?;
            return self.disassemble_into(second, all);
        }
        let mut lines = Vec::new();
        let before = all.len();
        for line in output.stdout.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if line == SEPARATOR.1 {
                all.push(Disassembly::Lines(std::mem::take(&mut lines)));
            } else {
                lines.push(line.to_owned());
            }
        }
        if all.len() - before != blocks.len() {
            bail!("{LLVM_MC} answered {} of {} blocks", all.len() - before, blocks.len());
        }
        Ok(())
    }

    /// The bytes of each line of assembly.
    pub(super) fn assemble(&self, lines: &[&str]) -> Result<Vec<Assembly>> {
        let mut input = lines.join("\n");
        input.push('\n');
        let output = self.run(&["--assemble", "--show-encoding"], &input)?;
        if !output.ended {
            let [line] = lines else {
                let (first, second) = lines.split_at(lines.len() / 2);
                let mut all = self.assemble(first)?;
                all.extend(self.assemble(second)?);
                return Ok(all);
            };
            bail!("{LLVM_MC} crashes when it assembles `{line}`");
        }
        let mut all = vec![None; lines.len()];
        let mut is_written = vec![true; lines.len()];
        for line in output.stderr.lines() {
            let Some((place, message)) = line.split_once(": error: ") else { continue };
            let number = place.split(':').nth(1).and_then(|number| number.parse::<usize>().ok());
            let index = number.map(|number| number.wrapping_sub(1)).filter(|&index| index < all.len());
            let index = index.with_context(|| format!("{LLVM_MC}: {line}"))?;
            all[index] = Some(Assembly::Refused(message.to_owned()));
            is_written[index] &= WRITTEN_THOUGH_REFUSED.iter().any(|refusal| message.starts_with(refusal));
        }
        let mut encodings = output.stdout.lines().filter_map(|line| line.split_once("; encoding: ["));
        for ((slot, line), is_written) in all.iter_mut().zip(lines).zip(is_written) {
            if !is_written {
                continue;
            }
            let (_, bytes) = encodings.next().with_context(|| format!("{LLVM_MC} passed over `{line}`"))?;
            if slot.is_none() {
                *slot = Some(Assembly::Bytes(parse_bytes(bytes).with_context(|| format!("`{line}`"))?));
            }
        }
        if encodings.next().is_some() {
            bail!("{LLVM_MC} assembled more lines than it was given");
        }
        Ok(all.into_iter().flatten().collect())
    }

    fn run(&self, args: &[&str], input: &str) -> Result<Output> {
        let attributes = match self.halves {
            Halves::Unasked => wave_attribute(self.target).into_iter().collect(),
            Halves::Asked => attributes_with_halves(self.target),
        };
        let attributes = (!attributes.is_empty()).then(|| attributes.join(","));
        let mut child = Command::new(LLVM_MC)
            .args(attributes.iter().map(|attribute| format!("--mattr={attribute}")))
            .args(args)
            .args(["--triple=amdgcn-amd-amdhsa", &format!("--mcpu={}", self.target.arch)])
            .env("LLVM_DISABLE_CRASH_REPORT", "1")
            // Ten times as long as the crash itself.
            .env("LLVM_DISABLE_SYMBOLIZATION", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("{LLVM_MC} cannot be run: install LLVM 22"))?;
        let mut stdin = child.stdin.take().context("no pipe")?;
        let output = std::thread::scope(|scope| {
            // A process that died reads no further; that is told by its exit status.
            scope.spawn(move || drop(stdin.write_all(input.as_bytes())));
            child.wait_with_output()
        })?;
        Ok(Output {
            // Errors in the input give 1; a signal gives none.
            ended: output.status.code().is_some_and(|code| code < 2),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }
}

/// How LLVM's assembler begins what it says of modifiers of later processors; it writes the bytes
/// nevertheless.
const WRITTEN_THOUGH_REFUSED: [&str; 2] = ["scale_offset is not supported", "nv is not supported"];

/// Whether LLVM's disassembler may crash on a word: one with the operand code of a literal where none can
/// stand (sources of VOP3 and VOP3P, SOFFSET of the buffer instructions), or with an SDWA selector that does
/// not exist.
pub(super) fn is_suspect(arch: Arch, block: &[u32]) -> bool {
    let &[first, second, ..] = block else { return false };
    match first >> 26 {
        // Its buffers, images and vector instructions stand elsewhere.
        _ if arch.generation() == Generation::Gfx12 => false,
        0b11_1000 | 0b11_1010 => second >> 24 == 0xff,
        // GFX11 has no SDWA. VOP3 has literals from GFX10 on.
        _ if arch.generation() == Generation::Gfx11 => false,
        0b11_0100 if matches!(arch.generation(), Generation::Gfx8 | Generation::Gfx9) => {
            [second & 0x1ff, second >> 9 & 0x1ff, second >> 18 & 0x1ff].contains(&0xff)
        }
        _ if first >> 31 == 0 && first & 0x1ff == 249 => {
            let is_comparison = first >> 25 == 0b011_1110;
            let of_destination = second >> 8 & 7 == 7 || second >> 11 & 3 == 3;
            second >> 16 & 7 == 7 || second >> 24 & 7 == 7 || (of_destination && !is_comparison)
        }
        _ => false,
    }
}

struct Output {
    /// The tool came to its end, rather than crashing.
    ended: bool,
    stdout: String,
    stderr: String,
}

fn parse_bytes(text: &str) -> Result<ArrayVec<u8, 20>> {
    let mut bytes = ArrayVec::new();
    for byte in text.trim_end().trim_end_matches(']').split(',') {
        bytes.try_push(u8::from_str_radix(byte.trim_start_matches("0x"), 16)?)?;
    }
    Ok(bytes)
}

/// `0x00 ` to `0xff `.
static HEX: std::sync::LazyLock<Vec<String>> =
    std::sync::LazyLock::new(|| (0..=255).map(|byte| format!("{byte:#04x} ")).collect());
