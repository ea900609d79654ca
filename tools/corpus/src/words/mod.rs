//! `cargo xtask corpus words`: random words, decoded by us and by LLVM.
//!
//! Words are drawn so that every encoding, opcode and field comes up (`draw`), LLVM says what each is
//! (`referee`), and each answer is held against ours (`judge`). What must hold stands at the head of
//! `amdgpu_isa`, "Which words are instructions".

mod cause;
mod draw;
mod judge;
mod listed;
pub(super) mod opcodes;
mod referee;
mod report;

use std::path::PathBuf;

use amdgpu_isa::{Arch, Target};
use anyhow::{Result, ensure};
use rayon::prelude::*;

use report::Report;

/// Options of `cargo xtask corpus words`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The processor, for example gfx90a; each one when left out
    #[arg(long, value_name = "CPU", value_parser = super::sources::known)]
    target_cpu: Option<Arch>,
    /// Lanes of a wave, where a processor has several sizes; each one when left out
    #[arg(long, value_name = "LANES")]
    wave_size: Option<u32>,
    /// How many random words a processor gets, beside each opcode with each of its bits flipped
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    count: u64,
    /// Where the random numbers begin
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Compare the instructions of files instead, bytes in hexadecimal, as LLVM's tests (llvm/test/MC/AMDGPU)
    /// have them
    #[arg(long, value_name = "PATH", num_args = 1..)]
    listed: Vec<PathBuf>,
    /// How many examples of each kind of difference are shown
    #[arg(long, value_name = "N", default_value_t = 3)]
    examples: usize,
}

/// Words that go to one run of LLVM's tools.
const BATCH: u64 = 10_000;

/// Compares. `Ok(false)` when something differs.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let wanted = |target: &Target| {
        options.target_cpu.is_none_or(|arch| arch == target.arch)
            && options.wave_size.is_none_or(|lanes| lanes == target.wave.lanes())
    };
    let targets: Vec<Target> = targets().filter(wanted).collect();
    ensure!(!targets.is_empty(), "no processor has waves of that size");
    let mut same = true;
    for target in targets {
        let Target { arch, wave } = target;
        let lanes = wave.lanes();
        let report = if options.listed.is_empty() {
            eprintln!("   Comparing {} words for {arch}, {lanes} lanes a wave", options.count);
            let mut report = neighbours(target, options.examples)?;
            report.merge(compare(target, options.count, options.seed, options.examples)?, options.examples);
            report
        } else {
            eprintln!(
                "   Comparing the words of {} files for {arch}, {lanes} lanes a wave",
                options.listed.len()
            );
            judge_all(target, &listed::blocks(&options.listed)?, options.examples)?
        };
        println!("{}", report.display(target));
        same &= report.differences() == 0;
    }
    Ok(same)
}

/// Every processor in each size of waves.
fn targets() -> impl Iterator<Item = Target> {
    let sizes = |arch: Arch| arch.generation().wave_sizes().iter().map(move |&wave| Target { arch, wave });
    Arch::KNOWN.into_iter().flat_map(sizes)
}

/// Compares every opcode's plain form, and the words that are one bit away from one.
fn neighbours(target: Target, examples: usize) -> Result<Report> {
    judge_all(target, &draw::neighbours(target), examples)
}

/// Compares some blocks of words.
fn judge_all(target: Target, blocks: &[Vec<u32>], examples: usize) -> Result<Report> {
    let batches: Vec<Report> = blocks
        .par_chunks(BATCH as usize)
        .map(|blocks| judge::by_all(target, blocks, examples))
        .collect::<Result<_>>()?;
    Ok(merged(batches, examples))
}

/// Compares `count` words of one processor. The report depends on nothing but the arguments.
fn compare(target: Target, count: u64, seed: u64, examples: usize) -> Result<Report> {
    let batches: Vec<Report> = (0..count.div_ceil(BATCH))
        .into_par_iter()
        .map(|batch| {
            let size = BATCH.min(count - batch * BATCH);
            let blocks = draw::blocks(target, seed, batch, size as usize);
            judge::by_all(target, &blocks, examples)
        })
        .collect::<Result<_>>()?;
    Ok(merged(batches, examples))
}

fn merged(batches: Vec<Report>, examples: usize) -> Report {
    let mut report = Report::default();
    batches.into_iter().for_each(|batch| report.merge(batch, examples));
    report
}

#[cfg(test)]
mod tests {
    use amdgpu_isa::Generation;

    use super::referee::Referee;
    use super::*;

    /// Words a processor: a few seconds in all.
    const SAMPLE: u64 = 5_000;

    /// Whether `llvm-mc-22` is there; without it the tests are skipped, or fail where tools are required.
    fn has_referee() -> bool {
        if let Err(error) = Referee::new(Arch::Gfx90a).disassemble(&[vec![0xbf80_0000]]) {
            assert!(std::env::var_os("AMDINST_REQUIRE_TOOLS").is_none_or(|value| value != "1"), "{error:#}");
            eprintln!("SKIPPED: words against llvm-mc-22: {error:#}");
            return false;
        }
        true
    }

    /// The processors whose instructions differ, in each size of waves: every one of GFX9, the generic ones,
    /// and those of RDNA that have what others of their generation have, and more.
    fn distinct() -> impl Iterator<Item = Target> {
        let is_distinct = |target: &Target| {
            target.arch.generation() == Generation::Gfx9
                || target.arch.is_generic()
                || matches!(
                    target.arch,
                    Arch::Gfx803
                        | Arch::Gfx810
                        | Arch::Gfx1011
                        | Arch::Gfx1013
                        | Arch::Gfx1030
                        | Arch::Gfx1100
                        | Arch::Gfx1150
                        | Arch::Gfx1201
                )
        };
        targets().filter(is_distinct)
    }

    #[test]
    fn a_sample_of_words_is_decoded_as_llvm_does() {
        if !has_referee() {
            return;
        }
        for target in distinct() {
            let report = compare(target, SAMPLE, 22, 3).expect("LLVM's tools run");
            assert_eq!(report.differences(), 0, "{}", report.display(target));
            assert!(report.accepted() > SAMPLE / 5, "too few legal words: {}", report.display(target));
        }
    }

    #[test]
    fn every_opcode_reads_and_assembles_as_llvm_does() {
        if !has_referee() {
            return;
        }
        for target in distinct() {
            let blocks = draw::plain(target);
            let report = judge::by_all(target, &blocks, 3).expect("LLVM's tools run");
            assert_eq!(report.differences(), 0, "{}", report.display(target));
            let referees = Referee::all(target).len();
            assert_eq!(report.accepted(), (blocks.len() * referees) as u64, "{}", report.display(target));
        }
    }
}
