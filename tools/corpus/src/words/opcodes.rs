//! `cargo xtask corpus opcodes`: every opcode that LLVM knows, found without our tables.
//!
//! For each number that an opcode field can hold, words are drawn; where LLVM's disassembler reads one and
//! its assembler gives the same bytes back, the opcode exists. One such word an opcode goes to
//! `amdgpu-isa/tests/opcodes.tsv`, with the processors on which it is one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use amdgpu_isa::{Arch, Generation};
use anyhow::{Context as _, Result};
use rayon::prelude::*;

use super::draw;
use super::referee::{Assembly, Disassembly, Referee};

/// Options of `cargo xtask corpus opcodes`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How many words are drawn for each number of an opcode field
    #[arg(long, value_name = "N", default_value_t = 200)]
    tries: u64,
    /// Write the list, instead of comparing it with the one that there is
    #[arg(long)]
    write: bool,
}

/// Words that go to one run of LLVM's tools.
const BATCH: usize = 10_000;

/// Examples of an opcode that are kept of each batch.
const SHORTEST: usize = 6;

/// An encoding, an opcode's number, and the mnemonic.
type Key = (&'static str, u32, String);
/// The dwords of an instruction and its text.
type Example = (Vec<u32>, String);
/// The processors of each example of each opcode.
type Found = BTreeMap<Key, BTreeMap<Example, BTreeSet<Arch>>>;

/// Lists or compares. `Ok(false)` when the list is another.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let mut found = Found::new();
    for arch in Arch::KNOWN
        .into_iter()
        .filter(|arch| matches!(arch.generation(), Generation::Gfx8 | Generation::Gfx9))
    {
        eprintln!("   Searching the opcodes of {arch}");
        let blocks = draw::of_each_opcode(arch, options.tries);
        let batches: Vec<Vec<(Key, Example)>> =
            blocks.par_chunks(BATCH).map(|blocks| examples(arch, blocks)).collect::<Result<_>>()?;
        for (key, example) in batches.into_iter().flatten() {
            found.entry(key).or_default().entry(example).or_default().insert(arch);
        }
    }
    let list = list(&found);
    let path = path();
    if options.write {
        std::fs::write(&path, list).with_context(|| format!("{}", path.display()))?;
        return Ok(true);
    }
    let known = std::fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    let (known, new) = (pairs(&known), pairs(&list));
    for lost in known.difference(&new) {
        println!("no longer found: {lost}");
    }
    for found in new.difference(&known) {
        println!("new: {found}");
    }
    println!("{} pairs of processor and opcode; the list has {}", new.len(), known.len());
    Ok(known == new)
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../amdgpu-isa/tests/opcodes.tsv")
}

/// What LLVM's assembler makes of the texts that its disassembler has for these words, where that is the same
/// opcode and reads back as the same text. (The words themselves mostly have bits set that mean nothing.)
fn examples(arch: Arch, blocks: &[Vec<u32>]) -> Result<Vec<(Key, Example)>> {
    let referee = Referee::new(arch);
    let mut drawn = Vec::new();
    for (block, line) in blocks.iter().zip(first_lines(&referee, blocks)?) {
        drawn.extend(line.filter(|line| !line.contains("/*")).map(|line| (block, line)));
    }
    let lines: Vec<&str> = drawn.iter().map(|(_, line)| line.as_str()).collect();
    let assemblies = referee.assemble(&lines)?;
    let mut candidates: BTreeMap<Key, BTreeSet<Example>> = BTreeMap::new();
    for ((block, line), assembly) in drawn.into_iter().zip(assemblies) {
        let Assembly::Bytes(bytes) = assembly else { continue };
        let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let mut words: Vec<u32> = bytes.chunks_exact(4).map(word).collect();
        let Some((encoding, opcode)) = classify(&block[..block.len() - 1]) else { continue };
        let mnemonic = line.split(' ').next().unwrap_or_default().to_owned();
        if classify(&words) != Some((encoding, opcode)) {
            // Without operands, VOP3 has the text of VOP1.
            if encoding != "vop3" || line != mnemonic {
                continue;
            }
            words = vec![block[0] & 0xffff_0000, 0];
        }
        candidates.entry((encoding, opcode, mnemonic)).or_default().insert((words, line));
    }
    // A few of each, the shortest.
    let mut examples = Vec::new();
    for (key, candidates) in candidates {
        let mut candidates: Vec<Example> = candidates.into_iter().collect();
        candidates.sort_by_key(|(words, text)| (words.len(), text.len()));
        examples.extend(candidates.into_iter().take(SHORTEST).map(|example| (key.clone(), example)));
    }
    let again: Vec<Vec<u32>> =
        examples.iter().map(|(_, (words, _))| [&words[..], &[draw::PAD]].concat()).collect();
    let texts = first_lines(&referee, &again)?;
    let pairs = examples.into_iter().zip(texts);
    Ok(pairs
        .filter(|((_, (_, text)), again)| again.as_ref() == Some(text))
        .map(|(example, _)| example)
        .collect())
}

/// The text of the first instruction of each block.
fn first_lines(referee: &Referee, blocks: &[Vec<u32>]) -> Result<Vec<Option<String>>> {
    let first = |answer| match answer {
        Disassembly::Lines(lines) => lines.into_iter().next(),
        Disassembly::Crash => None,
    };
    Ok(referee.disassemble(blocks)?.into_iter().map(first).collect())
}

/// The encoding of an instruction and its opcode (Vega ISA, table "Summary of Microcode Formats", and the
/// fields of each format in chapter 12). VOP3PX is the CDNA 4 ISA's matrix instruction with scales before it.
fn classify(words: &[u32]) -> Option<(&'static str, u32)> {
    let first = *words.first()?;
    let field = |lsb: u32, width: u32| first >> lsb & ((1 << width) - 1);
    if first >> 31 == 0 {
        let (names, opcode) = match first >> 25 {
            0b011_1111 => (["vop1", "vop1_sdwa", "vop1_dpp"], field(9, 8)),
            0b011_1110 => (["vopc", "vopc_sdwa", ""], field(17, 8)),
            _ => (["vop2", "vop2_sdwa", "vop2_dpp"], field(25, 6)),
        };
        let form = match (field(0, 9), words.len()) {
            (249, 2..) => 1,
            (250, 2..) => 2,
            _ => 0,
        };
        return Some((names[form], opcode));
    }
    Some(match (first >> 23, first >> 26) {
        (0b1_0111_1101, _) => ("sop1", field(8, 8)),
        (0b1_0111_1110, _) => ("sopc", field(16, 7)),
        (0b1_0111_1111, _) => ("sopp", field(16, 7)),
        _ if first >> 28 == 0b1011 => ("sopk", field(23, 5)),
        _ if first >> 30 == 0b10 => ("sop2", field(23, 7)),
        (0b1_1010_0111, _) => match words {
            &[_, _, third, _] => ("vop3px", third >> 16 & 0x7f),
            _ => ("vop3p", field(16, 7)),
        },
        (_, 0b11_0000) => ("smem", field(18, 8)),
        (_, 0b11_0001) => ("exp", 0),
        (_, 0b11_0100) => ("vop3", field(16, 10)),
        (_, 0b11_0101) => ("vintrp", field(16, 2)),
        (_, 0b11_0110) => ("ds", field(17, 8)),
        (_, 0b11_0111) => (["flat", "scratch", "global", ""][field(14, 2) as usize], field(18, 7)),
        (_, 0b11_1000) => ("mubuf", field(18, 7)),
        (_, 0b11_1010) => ("mtbuf", field(15, 4)),
        (_, 0b11_1100) => ("mimg", field(18, 7) | field(0, 1) << 7),
        _ => return None,
    })
}

/// The list of opcodes: as few examples of each as have all its processors.
fn list(found: &Found) -> String {
    let mut out = String::from(
        "# Every opcode that LLVM 22 reads and writes: encoding, number, processors, dwords, text of an example.\n\
         # Made by `cargo xtask corpus opcodes --write`.\n",
    );
    for ((encoding, opcode, _), examples) in found {
        let mut missing: BTreeSet<Arch> = examples.values().flatten().copied().collect();
        while !missing.is_empty() {
            let gain = |archs: &BTreeSet<Arch>| archs.intersection(&missing).count();
            let best = examples.iter().max_by_key(|((words, text), archs)| {
                (gain(archs), std::cmp::Reverse((words.len(), text.len(), words)))
            });
            let Some(((words, text), archs)) = best else { break };
            let archs: Vec<Arch> = archs.intersection(&missing).copied().collect();
            let names: Vec<String> = archs.iter().map(Arch::to_string).collect();
            let words: Vec<String> = words.iter().map(|word| format!("{word:08x}")).collect();
            out += &format!("{encoding}\t{opcode}\t{}\t{}\t{text}\n", names.join(" "), words.join(" "));
            missing.retain(|arch| !archs.contains(arch));
        }
    }
    out
}

/// Each opcode of each processor in a list, with its mnemonic.
fn pairs(list: &str) -> BTreeSet<String> {
    let mut pairs = BTreeSet::new();
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let [encoding, opcode, archs, _, text] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        let mnemonic = text.split(' ').next().unwrap_or_default();
        pairs.extend(archs.split(' ').map(|arch| format!("{arch} {encoding} {opcode} {mnemonic}")));
    }
    pairs
}
