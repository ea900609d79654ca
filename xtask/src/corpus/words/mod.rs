//! `cargo xtask corpus words`: random words, decoded by us and by LLVM.
//!
//! Words are drawn so that every encoding, opcode and field comes up (`draw`), LLVM says what each is (`referee`), and
//! each answer is held against ours (`judge`). What must hold stands at the head of `amdgpu_isa`, "Which words are instructions".

mod draw;
mod judge;
pub(super) mod opcodes;
mod referee;
mod report;

use amdgpu_isa::Arch;
use anyhow::Result;
use rayon::prelude::*;

use referee::Referee;
use report::Report;

/// Options of `cargo xtask corpus words`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The processor, for example gfx90a; each one when left out
    #[arg(long, value_name = "CPU")]
    target_cpu: Option<Arch>,
    /// How many random words a processor gets, beside each opcode with each of its bits flipped
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    count: u64,
    /// Where the random numbers begin
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// How many examples of each kind of difference are shown
    #[arg(long, value_name = "N", default_value_t = 3)]
    examples: usize,
}

/// Words that go to one run of LLVM's tools.
const BATCH: u64 = 10_000;

/// Compares. `Ok(false)` when something differs.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let archs = options.target_cpu.map_or_else(|| Arch::ALL.to_vec(), |arch| vec![arch]);
    let mut same = true;
    for arch in archs {
        eprintln!("   Comparing {} words for {arch}", options.count);
        let mut report = neighbours(arch, options.examples)?;
        report.merge(compare(arch, options.count, options.seed, options.examples)?, options.examples);
        println!("{}", report.display(arch));
        same &= report.differences() == 0;
    }
    Ok(same)
}

/// Compares every opcode's plain form, and the words that are one bit away from one.
fn neighbours(arch: Arch, examples: usize) -> Result<Report> {
    let blocks = draw::neighbours(arch);
    let referee = Referee::new(arch);
    let batches: Vec<Report> = blocks
        .par_chunks(BATCH as usize)
        .map(|blocks| judge::judge(&referee, blocks, examples))
        .collect::<Result<_>>()?;
    Ok(merged(batches, examples))
}

/// Compares `count` words of one processor. The report depends on nothing but the arguments.
fn compare(arch: Arch, count: u64, seed: u64, examples: usize) -> Result<Report> {
    let referee = Referee::new(arch);
    let batches: Vec<Report> = (0..count.div_ceil(BATCH))
        .into_par_iter()
        .map(|batch| {
            let size = BATCH.min(count - batch * BATCH);
            let blocks = draw::blocks(arch, seed, batch, size as usize);
            judge::judge(&referee, &blocks, examples)
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

    #[test]
    fn a_sample_of_words_is_decoded_as_llvm_does() {
        if !has_referee() {
            return;
        }
        for arch in Arch::ALL {
            let report = compare(arch, SAMPLE, 22, 3).expect("LLVM's tools run");
            assert_eq!(report.differences(), 0, "{}", report.display(arch));
            assert!(report.accepted() > SAMPLE / 5, "too few legal words: {}", report.display(arch));
        }
    }

    #[test]
    fn every_opcode_reads_and_assembles_as_llvm_does() {
        if !has_referee() {
            return;
        }
        for arch in Arch::ALL {
            let blocks = draw::plain(arch);
            let report = judge::judge(&Referee::new(arch), &blocks, 3).expect("LLVM's tools run");
            assert_eq!(report.differences(), 0, "{}", report.display(arch));
            assert_eq!(report.accepted(), blocks.len() as u64, "{}", report.display(arch));
        }
    }
}
