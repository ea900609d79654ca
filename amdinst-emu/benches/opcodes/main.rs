//! How fast each opcode is, beside `v_add_f32`.
//!
//! `cargo bench -p amdinst-emu --bench opcodes [-- OPTIONS] [GFX ...]`. A loop of one instruction in its
//! plainest form runs on one wave. Each line is an opcode: nanoseconds of one instruction, times as many as
//! `v_add_f32`'s for each operation of a lane (of a matrix instruction, for each multiply-add). A line ends
//! with `!` if that is more than ten, or more than [`slow`] allows the opcode and says why; with `*` where it
//! is less than that. Exits with 1 if there is a line with `!`.

#[path = "../throughput/clock.rs"]
#[expect(dead_code, reason = "one core alone is measured here")]
mod clock;
mod slow;
mod trial;
mod work;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use amdgpu_isa::{Arch, Encoding, Op, Opcode, Target, WaveSize, opcodes};
use amdinst_emu::{Fidelity, Vectors, WaveState, fidelity};
use rayon::prelude::*;
use serde_json::{Value, json};

use slow::Excuse;
use trial::{COPIES, COUNTER, Trial};

const USAGE: &str = "\
cargo bench -p amdinst-emu --bench opcodes [-- OPTIONS] [GFX ...]

  --test           two turns of each loop, at every level: do they work?
  --vectors LEVEL  baseline, avx2 or avx512 (all that the host has)
  --only TEXT      opcodes whose names have it
  --slow           opcodes alone that are slower than they should be
  --json FILE      write the figures there as well
";

/// How many times `v_add_f32`'s time an operation of a lane may take.
const LIMIT: f64 = 10.0;
/// Seconds that a measurement takes at least.
const LEAST: f64 = 100e-6;
/// Times that each is measured; the best counts.
const REPEAT: usize = 3;

struct Options {
    short: bool,
    slow: bool,
    levels: Vec<Vectors>,
    only: String,
    json: Option<PathBuf>,
    targets: Vec<Target>,
}

impl Options {
    /// `Ok(None)`: help was asked for.
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut options = Self {
            short: false,
            slow: false,
            levels: Vectors::ALL.to_vec(),
            only: String::new(),
            json: None,
            targets: Vec::new(),
        };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                // Cargo says that it is `cargo bench`.
                "--bench" => {}
                "--test" => options.short = true,
                "--slow" => options.slow = true,
                "--vectors" => {
                    let name = value()?;
                    let level = Vectors::of_name(&name);
                    options.levels = vec![level.ok_or(format!("--vectors {name}: no such level"))?];
                }
                "--only" => options.only = value()?,
                "--json" => options.json = Some(value()?.into()),
                "--help" | "-h" => return Ok(None),
                _ if argument.starts_with('-') => return Err(format!("{argument}: no such option")),
                _ => {
                    let arch: Arch = argument.parse().map_err(|error| format!("{argument}: {error}"))?;
                    options.targets.extend(of_each_size(arch));
                }
            }
        }
        options.levels.retain(|level| level.is_available());
        if options.targets.is_empty() {
            let archs = [Arch::Gfx90a, Arch::Gfx950, Arch::Gfx1030, Arch::Gfx1100, Arch::Gfx1201];
            options.targets = archs.into_iter().flat_map(of_each_size).collect();
        }
        Ok(Some(options))
    }
}

/// A processor with each size that its waves have.
fn of_each_size(arch: Arch) -> Vec<Target> {
    let sizes: &[WaveSize] = if arch.default_wave() == WaveSize::Wave64 {
        &[WaveSize::Wave64]
    } else {
        &[WaveSize::Wave32, WaveSize::Wave64]
    };
    sizes.iter().map(|&wave| Target { arch, wave }).collect()
}

/// Why an opcode is not tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Left {
    /// It is not executed, or not in this form.
    NotExecuted,
    /// It goes elsewhere, waits or ends the wave.
    Control,
}

/// A loop of an opcode's plainest form, and the operations of one instruction.
///
/// # Errors
/// Why it can't be tried in a loop.
fn trial_of(opcode: Opcode, level: Vectors) -> Result<(Trial, u32), Left> {
    let inst = opcode.plain().map_err(|_| Left::NotExecuted)?;
    let trial = Trial::new(opcode.target(), &inst, level, WaveState::KERNEL_MODE);
    let mut trial = trial.ok_or(Left::NotExecuted)?;
    match trial.run(2) {
        Ok(after) if after.sgprs[COUNTER] == 0 => Ok((trial, work::operations(opcode.target(), &inst))),
        Ok(_) => Err(Left::Control),
        Err(_) => Err(Left::NotExecuted),
    }
}

/// One opcode's figures.
struct Row {
    name: String,
    text: String,
    nanoseconds: f64,
    /// Times as long as `v_add_f32`, for each operation.
    ratio: f64,
    excuse: Option<Excuse>,
}

impl Row {
    fn is_too_slow(&self) -> bool {
        self.ratio > self.excuse.map_or(LIMIT, |excuse| excuse.limit)
    }

    fn json(&self) -> Value {
        json!({
            "opcode": self.name,
            "instruction": self.text,
            "nanoseconds": self.nanoseconds,
            "times_v_add_f32": self.ratio,
            "limit": self.excuse.map_or(LIMIT, |excuse| excuse.limit),
            "slow_because": self.excuse.map(|excuse| excuse.why),
        })
    }
}

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    if options.short {
        try_all(&options);
        return ExitCode::SUCCESS;
    }
    let mut tables = Vec::new();
    let mut too_slow = 0;
    for &target in &options.targets {
        for &level in &options.levels {
            let (rows, left) = measure(&options, target, level);
            too_slow += report(&options, target, level, &rows, &left);
            tables.push(json!({
                "processor": target.arch.name(),
                "lanes": target.wave.lanes(),
                "vectors": level.name(),
                "opcodes": rows.iter().map(Row::json).collect::<Vec<_>>(),
            }));
        }
    }
    if let Some(path) = &options.json {
        let text = format!("{:#}\n", json!({ "limit": LIMIT, "tables": tables }));
        if let Err(error) = std::fs::write(path, text) {
            eprintln!("error: {}: {error}", path.display());
            return ExitCode::from(3);
        }
    }
    if too_slow == 0 {
        return ExitCode::SUCCESS;
    }
    println!("{too_slow} opcodes take longer than they may, for an operation, beside v_add_f32");
    ExitCode::FAILURE
}

/// Runs every opcode of each processor at each level, on all cores, and prints how many there are.
fn try_all(options: &Options) {
    let all: Vec<(Target, Vectors)> = options
        .targets
        .iter()
        .flat_map(|&target| options.levels.iter().map(move |&level| (target, level)))
        .collect();
    let ran: Vec<usize> =
        all.par_iter().map(|&(target, level)| measure(options, target, level).0.len()).collect();
    for ((Target { arch, wave }, level), opcodes) in all.into_iter().zip(ran) {
        println!("{arch}, {} lanes, {}: {opcodes} opcodes run", wave.lanes(), level.name());
    }
}

/// Every opcode of a processor at a level, and how many are left out, by why.
fn measure(options: &Options, target: Target, level: Vectors) -> (Vec<Row>, BTreeMap<Left, u32>) {
    let mut left = BTreeMap::new();
    let mut rows = Vec::new();
    let add = Opcode::find(target, Encoding::Vop2, Op::v_add_f32).expect("every processor adds");
    let (mut reference, operations) = trial_of(add, level).expect("a loop of additions");
    let mut unit = || seconds(&mut reference) / f64::from(operations);
    let unit = if options.short { 1.0 } else { unit().min(unit()) };
    for opcode in opcodes(target) {
        if !opcode.mnemonic().contains(&options.only) {
            continue;
        }
        let executed = !matches!(fidelity::of(opcode), Fidelity::Unsupported { .. });
        let trial = if executed { trial_of(opcode, level) } else { Err(Left::NotExecuted) };
        let (mut trial, operations) = match trial {
            Ok(trial) => trial,
            Err(why) => {
                *left.entry(why).or_default() += 1;
                continue;
            }
        };
        let mut time = if options.short { 0.0 } else { seconds(&mut trial) };
        let limit = LIMIT * unit * f64::from(operations);
        if time > limit && !options.short {
            // Something else may have run beside it.
            time = time.min(seconds(&mut trial));
        }
        rows.push(Row {
            name: opcode.mnemonic(),
            text: std::mem::take(&mut trial.text),
            nanoseconds: time * 1e9,
            ratio: time / f64::from(operations) / unit,
            excuse: slow::excuse_of(opcode),
        });
    }
    (rows, left)
}

/// Seconds of one instruction: the best of a few runs that are long enough to be measured.
fn seconds(trial: &mut Trial) -> f64 {
    let mut turns = 4;
    let mut time = |turns: u32| {
        let (result, seconds) = clock::one_thread(|| trial.run(turns));
        result.expect("a loop that has run before");
        seconds
    };
    while time(turns) < LEAST && turns < 1 << 20 {
        turns *= 2;
    }
    let best = |turns: u32, time: &mut dyn FnMut(u32) -> f64| {
        (0..REPEAT).map(|_| time(turns)).fold(f64::INFINITY, f64::min)
    };
    // What surrounds the loop is in both.
    let (long, short) = (best(2 * turns, &mut time), best(turns, &mut time));
    (long - short).max(0.0) / f64::from(turns) / f64::from(COPIES)
}

/// Prints a table; returns how many opcodes are slower than they should be.
fn report(
    options: &Options,
    target: Target,
    level: Vectors,
    rows: &[Row],
    left: &BTreeMap<Left, u32>,
) -> usize {
    println!("{}, {} lanes, {}", target.arch, target.wave.lanes(), level.name());
    println!("{:<36} {:>10} {:>12}  instruction", "opcode", "ns", "/ v_add_f32");
    for row in rows {
        if options.slow && !row.is_too_slow() {
            continue;
        }
        let mark = if row.is_too_slow() { "!" } else { if row.ratio > LIMIT { "*" } else { "" } };
        println!("{:<36} {:>10.2} {:>11.1}x{mark:<1} {}", row.name, row.nanoseconds, row.ratio, row.text);
    }
    let mut ratios: Vec<f64> = rows.iter().map(|row| row.ratio).collect();
    ratios.sort_by(f64::total_cmp);
    let at = |part: f64| ratios.get((ratios.len() as f64 * part) as usize).copied().unwrap_or_default();
    let slow = rows.iter().filter(|row| row.is_too_slow()).count();
    println!(
        "{} opcodes, times v_add_f32: median {:.1}, of ten nine below {:.1}; {slow} slow; left out: {left:?}\n",
        rows.len(),
        at(0.5),
        at(0.9)
    );
    slow
}
