//! Runs a batch of programs on both sides and compares.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};

use crate::coverage::Coverage;
use crate::device::{Device, INPUT_BYTES};
use crate::dice::Dice;
use crate::difference::{Difference, first_difference};
use crate::program::Program;
use crate::render;
use crate::target::{Target, Waves};
use crate::toolchain::Workshop;
use crate::transparency::{self, Original, Tally};

/// Bytes of the largest output.
const OUTPUT_BYTES: usize = 1 << 17;

/// What a batch did.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Programs run, by target.
    pub runs: BTreeMap<Target, u64>,
    /// Wave-instructions the emulator ran.
    pub wave_instructions: u64,
    /// Executions of each mnemonic.
    pub coverage: Coverage,
    /// The programs that differ, by their place in the batch, and the target.
    pub differences: Vec<(usize, Target, Difference)>,
    /// What became of the instrumented forms.
    pub transparency: Tally,
}

/// What programs are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// With the host.
    pub host: bool,
    /// With their instrumented forms.
    pub instrument: bool,
}

impl Outcome {
    /// Adds another outcome to this one; places in the batch lose their meaning.
    pub fn add(&mut self, other: Self) {
        for (target, runs) in other.runs {
            *self.runs.entry(target).or_default() += runs;
        }
        self.coverage.add(&other.coverage);
        self.wave_instructions += other.wave_instructions;
        self.differences.extend(other.differences);
        self.transparency.add(other.transparency);
    }
}

/// The input of every program: words that are random, small, or at an edge of one type or the other; then the
/// output's first contents.
pub fn input(seed: u64) -> Vec<u8> {
    let mut dice = Dice::new(seed, u64::MAX);
    let mut bytes = Vec::with_capacity(INPUT_BYTES + OUTPUT_BYTES);
    while bytes.len() < INPUT_BYTES {
        let small = |dice: &mut Dice| dice.roll(97) as f64 / 4.0 - 12.0;
        let word = match dice.roll(8) {
            0 | 1 => dice.word(),
            2 => dice.roll(100) as u64 | (dice.roll(100) as u64) << 32,
            3 => {
                let (x, y) = (small(&mut dice) as f32, small(&mut dice) as f32);
                u64::from(x.to_bits()) | u64::from(y.to_bits()) << 32
            }
            4 => small(&mut dice).to_bits(),
            // Halves between 2^-7 and 2^8, of either sign.
            5 => (0..4)
                .map(|at| ((0x2000 + dice.roll(0x3c00) as u64) | (dice.word() & 0x8000)) << (16 * at))
                .sum(),
            6 => {
                let edges =
                    [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000];
                *dice.pick(&edges) | *dice.pick(&edges) << 32
            }
            _ => {
                let edges = [
                    0,
                    1,
                    1 << 63,
                    i64::MAX as u64,
                    0x7ff0 << 48,
                    0xfff0 << 48,
                    0x000f_ffff_ffff_ffff,
                    u64::MAX,
                ];
                *dice.pick(&edges)
            }
        };
        bytes.extend(word.to_le_bytes());
    }
    while bytes.len() < INPUT_BYTES + OUTPUT_BYTES {
        bytes.extend(dice.word().to_le_bytes());
    }
    bytes
}

/// Compiles the programs, runs them on the emulator as each target, and compares as asked.
///
/// # Errors
/// Clang refuses them, the host's program fails, or the code object cannot be instrumented.
pub fn compare(programs: &[Program], targets: &[Target], input: &[u8], checks: Checks) -> Result<Outcome> {
    let workshop = Workshop::new(&render::source(programs))?;
    let mut hosts = BTreeMap::new();
    let mut outcome = Outcome::default();
    for target in targets {
        let waves = target.waves();
        if checks.host && !hosts.contains_key(&waves) {
            hosts.insert(waves, on_the_host(&workshop, waves, programs, input)?);
        }
        let host = hosts.get(&waves);
        let object = workshop.device(target)?;
        let mut device = Device::new(&object, input).with_context(|| target.to_string())?;
        let mut originals = Vec::with_capacity(programs.len());
        let mut from = 0;
        for (slot, program) in programs.iter().enumerate() {
            let end = from + program.output_bytes();
            let difference = match device.launch(slot, program, device.kernarg.clone(), checks.instrument) {
                Err(fault) => {
                    originals.push(None);
                    Some(Difference::Fault(fault))
                }
                Ok((output, execution)) => {
                    outcome.wave_instructions += execution.wave_instructions;
                    for &(op, count) in &execution.opcode_stats {
                        outcome.coverage.count(target.arch, op, count);
                    }
                    let expected = host.map(|host| &host[from..end]);
                    let difference = expected.and_then(|expected| first_difference(&output, expected));
                    originals.push(Some(Original { output, execution }));
                    difference
                }
            };
            from = end;
            *outcome.runs.entry(target.clone()).or_default() += 1;
            outcome.differences.extend(difference.map(|difference| (slot, target.clone(), difference)));
        }
        if checks.instrument {
            let tally = &mut outcome.transparency;
            let found = transparency::compare(&object, programs, &originals, input, tally)
                .with_context(|| target.to_string())?;
            outcome.differences.extend(found.into_iter().map(|(slot, found)| (slot, target.clone(), found)));
        }
    }
    Ok(outcome)
}

/// Every program's output on the host, one after the other, as if lanes were in such waves.
pub(crate) fn on_the_host(
    workshop: &Workshop,
    waves: Waves,
    programs: &[Program],
    input: &[u8],
) -> Result<Vec<u8>> {
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), input)?;
    let host = workshop.host(waves)?.run(file.path())?;
    let total: usize = programs.iter().map(Program::output_bytes).sum();
    ensure!(host.len() == total, "the host wrote {} bytes instead of {total}", host.len());
    Ok(host)
}
