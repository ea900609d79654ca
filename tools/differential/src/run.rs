//! Runs a batch of programs on both sides and compares.

use std::collections::BTreeMap;
use std::fmt;

use amdgpu_isa::{Arch, Generation};
use amdgpu_object::CodeObject;
use amdinst_emu::{Config, Execution, Launch, Machine};
use anyhow::{Context as _, Result, ensure};

use crate::coverage::Coverage;
use crate::dice::Dice;
use crate::program::Program;
use crate::render::{self, NUMBERS};
use crate::toolchain::Workshop;
use crate::transparency::{self, Original, Tally, Way};

/// Bytes of the input buffer.
const INPUT_BYTES: usize = 8192;
/// Bytes of the largest output.
const OUTPUT_BYTES: usize = 1 << 17;

/// A processor, the size of its waves, and an optimization level.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// Processor.
    pub arch: Arch,
    /// Lanes of its waves.
    pub lanes: u32,
    /// Optimization level, `-O0` to `-O3`.
    pub level: &'static str,
}

impl Target {
    /// The waves that programs for it run in.
    pub fn waves(&self) -> Waves {
        let generation = self.arch.generation();
        let reach = match generation {
            Generation::Gfx9 | Generation::Gfx12 => 64,
            Generation::Gfx10 | Generation::Gfx11 => 32,
        };
        Waves { lanes: self.lanes, is_gfx9: generation == Generation::Gfx9, reach: reach.min(self.lanes) }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { arch, lanes, level } = self;
        let has_one_size = arch.generation().wave_sizes().len() == 1;
        let size = if has_one_size { String::new() } else { format!(" wave{lanes}") };
        write!(f, "{arch}{size} {level}")
    }
}

/// What a program finds out about the waves that it runs in: the host computes it anew for each kind of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Waves {
    /// Lanes of each.
    pub lanes: u32,
    /// Lanes reach all others of the wave by DPP, as on GFX9: later processors move values within 16 lanes.
    pub is_gfx9: bool,
    /// Lanes that `ds_bpermute_b32` and `ds_permute_b32` reach: a wave of 64 is two of 32 to them on GFX10
    /// and GFX11.
    pub reach: u32,
}

/// What a program did that it should not have done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The emulator stopped.
    Fault(String),
    /// Instrumented in this way it gives other results.
    Instrumented(Way, String),
    /// Bytes of the output differ.
    Bytes {
        /// The first of them.
        at: usize,
        /// How many.
        count: usize,
        /// The bytes of the one side from there on, at most eight.
        one: Vec<u8>,
        /// Those of the other.
        other: Vec<u8>,
    },
}

impl Difference {
    /// In words, with names for the two sides.
    pub(crate) fn between(&self, one_side: &str, other_side: &str) -> String {
        match self {
            Self::Fault(fault) => format!("the emulator stopped: {fault}"),
            Self::Instrumented(way, what) => format!("instrumented ({way}): {what}"),
            Self::Bytes { at, count, one, other } => format!(
                "{count} bytes differ, the first at {at:#x} (work-item {}, its byte {}): {one_side} {one:02x?}, {other_side} {other:02x?}",
                at / 256,
                at % 256
            ),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.between("emulator", "host"))
    }
}

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

/// The first bytes in which the `one` differs from the `other`.
pub(crate) fn first_difference(got: &[u8], expected: &[u8]) -> Option<Difference> {
    let at = got.iter().zip(expected).position(|(a, b)| a != b)?;
    let count = got.iter().zip(expected).filter(|(a, b)| a != b).count();
    let from = at & !3;
    let show = |bytes: &[u8]| bytes[from..(from + 8).min(bytes.len())].to_vec();
    Some(Difference::Bytes { at: from, count, one: show(got), other: show(expected) })
}

/// A machine with a batch's code object and buffers.
pub(crate) struct Device<'a> {
    pub(crate) machine: Machine,
    pub(crate) program: amdinst_emu::Program,
    start: &'a [u8],
    out: u64,
    /// What every kernel gets.
    pub(crate) kernarg: Vec<u8>,
}

impl<'a> Device<'a> {
    pub(crate) fn new(object: &CodeObject, input: &'a [u8]) -> Result<Self> {
        let mut machine = Machine::new(object.target.arch, Config::default());
        let (input, start) = input.split_at(INPUT_BYTES);
        let at = machine.alloc(input.len() as u64, 16, "in")?;
        machine.write(at, input)?;
        let out = machine.alloc(start.len() as u64, 16, "out")?;
        let program = machine.load(object)?;
        let (n0, n1, n2, n3) = NUMBERS;
        let mut kernarg = [out.to_le_bytes(), at.to_le_bytes()].concat();
        kernarg.extend(n0.to_le_bytes());
        kernarg.extend(u32::from(n1).to_le_bytes());
        kernarg.extend(n2.to_le_bytes());
        kernarg.extend(n3.to_le_bytes());
        Ok(Self { machine, program, start, out, kernarg })
    }

    /// The launch of program `slot`, whose output is as before it.
    pub(crate) fn ready(
        &mut self,
        slot: usize,
        program: &Program,
        kernarg: Vec<u8>,
        observe: bool,
    ) -> Result<Launch, String> {
        let start = &self.start[..program.output_bytes()];
        self.machine.write(self.out, start).map_err(|error| error.to_string())?;
        Ok(Launch {
            grid: [program.grid, 1, 1],
            block: [program.block, 1, 1],
            kernarg,
            threads: 1,
            record_masks: observe,
            record_steps: observe,
            count_opcodes: true,
            ..Launch::new(format!("k{slot}"))
        })
    }

    /// The output of a program that has run.
    pub(crate) fn output(&self, program: &Program) -> Result<Vec<u8>, String> {
        let mut bytes = vec![0; program.output_bytes()];
        self.machine.read(self.out, &mut bytes).map_err(|error| error.to_string())?;
        Ok(bytes)
    }

    /// Runs program `slot`: its output, and what it did. The error is the fault, in words.
    pub(crate) fn launch(
        &mut self,
        slot: usize,
        program: &Program,
        kernarg: Vec<u8>,
        observe: bool,
    ) -> Result<(Vec<u8>, Execution), String> {
        let launch = self.ready(slot, program, kernarg, observe)?;
        let execution = self.machine.launch(&self.program, &launch).map_err(|fault| fault.to_string())?;
        Ok((self.output(program)?, execution))
    }
}
