//! One code object, disassembled twice.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use amdgpu_isa::{Generation, Target, WaveSize};
use amdgpu_object::CodeObject;
use amdgpu_object::container::Embedded;
use amdinst_core::listing::Listing;
use anyhow::{Context as _, Result, ensure};

use crate::{attributes_with_halves, wave_attribute, without_halves};

/// Examples that are kept of one code object.
const EXAMPLES: usize = 100;

/// How a comparison went.
pub(crate) struct Comparison {
    /// Lines of LLVM's with an address comment: instructions, and words that are none.
    pub(crate) instructions: u64,
    /// The others: labels, dumps of data, gaps.
    pub(crate) other_lines: u64,
    /// Lines that the two do not share.
    pub(crate) different: u64,
    /// Some of them, ours under LLVM's.
    pub(crate) examples: Vec<String>,
    /// Time that parsing and the listing took.
    pub(crate) ours: Duration,
    /// Time that LLVM's process took.
    pub(crate) llvm: Duration,
}

/// Compares the two listings of a code object. `directory` is for a file that LLVM reads.
pub(crate) fn compare(objdump: &Path, directory: &Path, code: &Embedded<'_>) -> Result<Comparison> {
    let start = Instant::now();
    let object = CodeObject::parse(code.bytes.to_vec())?;
    let mut ours = Vec::new();
    Listing::new(&object).write(&mut ours)?;
    let ours_time = start.elapsed();
    let arch = object.target.arch;
    let is_wide = arch.default_wave() == WaveSize::Wave32
        && object.kernels.iter().all(|kernel| kernel.descriptor.wave_size(arch) == WaveSize::Wave64);
    drop(object);

    let file = directory.join("code-object.elf");
    std::fs::write(&file, &code.bytes[..]).with_context(|| format!("writing {}", file.display()))?;
    let start = Instant::now();
    // It shows code for waves of 32 lanes unless told otherwise.
    let target = Target { arch, wave: if is_wide { WaveSize::Wave64 } else { arch.default_wave() } };
    let plain = listing_of(objdump, &file, wave_attribute(target).as_slice())?;
    let merged = if arch.generation() == Generation::Gfx12 && ours != code_of(&plain) {
        let named = listing_of(objdump, &file, &attributes_with_halves(target))?;
        Some(with_halves(code_of(&plain), code_of(&named)))
    } else {
        None
    };
    let llvm_time = start.elapsed();
    let theirs = merged.as_deref().unwrap_or(code_of(&plain));
    let (mut instructions, mut other_lines) = (0, 0);
    for line in lines(theirs) {
        if pc_of(line).is_some() {
            instructions += 1;
        } else {
            other_lines += 1;
        }
    }
    let mut comparison = Comparison {
        instructions,
        other_lines,
        different: 0,
        examples: Vec::new(),
        ours: ours_time,
        llvm: llvm_time,
    };
    if ours != theirs {
        differences(&ours, theirs, &mut comparison);
    }
    Ok(comparison)
}

/// What LLVM prints of a file with some attributes.
fn listing_of(objdump: &Path, file: &Path, attributes: &[String]) -> Result<Vec<u8>> {
    let mut command = Command::new(objdump);
    if !attributes.is_empty() {
        command.arg(format!("--mattr={}", attributes.join(",")));
    }
    let output = command.arg("-d").arg(file).output();
    let output = output.with_context(|| format!("running {}", objdump.display()))?;
    ensure!(output.status.success(), "llvm-objdump: {}", String::from_utf8_lossy(&output.stderr));
    Ok(output.stdout)
}

/// A listing without its first lines, which name the file; ours begin with the same empty line before the
/// section's name.
fn code_of(listing: &[u8]) -> &[u8] {
    let header = b"\nDisassembly of section ";
    let begin = listing.windows(header.len()).position(|window| window == header);
    begin.map_or(&[][..], |begin| &listing[begin..])
}

/// LLVM's listing with halves of registers named where it cannot read the instruction otherwise.
fn with_halves(plain: &[u8], named: &[u8]) -> Vec<u8> {
    let text = |line: &[u8]| {
        let text = line.split(|&byte| byte == b'/').next().unwrap_or_default();
        String::from_utf8_lossy(text).trim().to_owned()
    };
    let by_pc: BTreeMap<u64, &[u8]> =
        lines(plain).filter_map(|line| pc_of(line).map(|pc| (pc, line))).collect();
    let choose = |line| {
        let whole = pc_of(line).and_then(|pc| by_pc.get(&pc).copied());
        let is_read = |whole: &&[u8]| without_halves(&text(line)).is_some_and(|read| read == text(whole));
        whole.filter(is_read).unwrap_or(line)
    };
    lines(named).map(choose).collect::<Vec<_>>().join(&b'\n')
}

/// Counts what differs: instructions by address, the other lines as they come.
fn differences(ours: &[u8], theirs: &[u8], comparison: &mut Comparison) {
    let split = |text| {
        let mut by_pc: BTreeMap<u64, &[u8]> = BTreeMap::new();
        let mut others = Vec::new();
        for line in lines(text) {
            match pc_of(line) {
                Some(pc) => drop(by_pc.insert(pc, line)),
                None => others.push(line),
            }
        }
        (by_pc, others)
    };
    let (ours, our_others) = split(ours);
    let (theirs, their_others) = split(theirs);
    let text =
        |line: Option<&&[u8]>| String::from_utf8_lossy(line.unwrap_or(&&b"(no line)"[..])).into_owned();
    let mut different = |theirs: Option<&&[u8]>, ours: Option<&&[u8]>| {
        comparison.different += 1;
        if comparison.examples.len() < EXAMPLES {
            comparison.examples.push(format!("  llvm {}\n  ours {}", text(theirs), text(ours)));
        }
    };
    for (pc, line) in &theirs {
        if ours.get(pc) != Some(line) {
            different(Some(line), ours.get(pc));
        }
    }
    for (_, line) in ours.iter().filter(|(pc, _)| !theirs.contains_key(pc)) {
        different(None, Some(line));
    }
    for index in 0..our_others.len().max(their_others.len()) {
        let (ours, theirs) = (our_others.get(index), their_others.get(index));
        if ours != theirs {
            different(theirs, ours);
        }
    }
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n')
}

/// The address in a line's comment: `…// 000000001500: C0020002`.
fn pc_of(line: &[u8]) -> Option<u64> {
    let at = line.windows(3).position(|window| window == b"// ")? + 3;
    let digits = line[at..].split(|&byte| byte == b':').next()?;
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
