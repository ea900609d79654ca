//! Figures from a device: tinygrad's tests of single instructions, which were checked on a gfx1100, run on
//! the emulator.
//!
//! The tests stay where they are, in a checkout of tinygrad; a Python script (`run.py`) has them hand each
//! program over. A program that LLVM takes for none (operands that share a register bank, bits that mean
//! nothing) is not run.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use amdgpu_isa::{Arch, Target, WaveSize};
use amdinst_emu::{Config, Machine, Snippet, WaveState};
use anyhow::{Context as _, Result, bail};

/// Options of `cargo xtask corpus hardware`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// A checkout of tinygrad (github.com/tinygrad/tinygrad), which has `test/amd/hw`
    tinygrad: PathBuf,
    /// The Python that runs its tests; it needs no packages
    #[arg(long, default_value = "python3")]
    python: String,
}

/// Where scratch memory appears to be; the tests' programs do not look.
const SCRATCH: u64 = 0x7d00_0000_0000;
/// MODE as those kernels start with it, of whose descriptors nothing is set: single denormals flushed, IEEE,
/// DX10_CLAMP.
const MODE: u32 = 0x3c0;

/// Runs the tests. `Ok(false)` if a result differs.
pub(crate) fn run(options: &Options) -> Result<bool> {
    if !options.tinygrad.join("test/amd/hw/helpers.py").is_file() {
        bail!("{} is no checkout of tinygrad with test/amd/hw", options.tinygrad.display());
    }
    let mut child = Command::new(&options.python)
        .args(["-c", include_str!("run.py")])
        .arg(&options.tinygrad)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting {}", options.python))?;
    let (Some(mut answers), Some(lines)) = (child.stdin.take(), child.stdout.take()) else {
        bail!("{} has no standard input and output", options.python);
    };
    let (mut agree, mut differ, mut unrun) = (0, 0, 0);
    for line in BufReader::new(lines).lines() {
        let line = line.context("reading from Python")?;
        match line.split_once(' ') {
            Some(("RUN", program)) => {
                let answer = answer(program)?;
                writeln!(answers, "{answer}").context("writing to Python")?;
            }
            Some(("agrees", _)) => agree += 1,
            Some(("differs", test)) => {
                differ += 1;
                println!("differs: {test}");
            }
            Some(("unrun", test)) => {
                unrun += 1;
                println!("not run: {test}");
            }
            _ => println!("{line}"),
        }
    }
    let status = child.wait().context("waiting for Python")?;
    if !status.success() || agree == 0 {
        bail!("the tests did not run to their end: {status}");
    }
    println!("{} tests: {agree} agree, {differ} differ, {unrun} not run", agree + differ + unrun);
    Ok(differ == 0)
}

/// What a program leaves in its buffer, in hexadecimal, or `ERR` and why there is nothing. `program`: lanes,
/// the buffer's bytes, code.
fn answer(program: &str) -> Result<String> {
    let mut parts = program.split_whitespace();
    let mut part = || parts.next().context("a part of the program is missing");
    let lanes: u32 = part()?.parse()?;
    let size: usize = part()?.parse()?;
    let code = bytes(part()?)?;
    let wave = if lanes > WaveSize::Wave32.lanes() { WaveSize::Wave64 } else { WaveSize::Wave32 };
    let target = Target { arch: Arch::Gfx1100, wave };
    let mut machine = Machine::new(target.arch, Config::default());
    let buffer = machine.alloc(size as u64, 256, "the tests' buffer")?;
    let arguments = machine.alloc(256, 256, "arguments")?;
    machine.write(arguments, &buffer.to_le_bytes())?;
    let mut state = WaveState {
        exec: u64::MAX >> (u64::BITS - lanes.clamp(1, u64::BITS)),
        mode: MODE,
        lds: vec![0; 64 << 10],
        scratch: 64 << 10,
        flat_scratch: SCRATCH,
        ..WaveState::default()
    };
    state.set_sgpr_pair(0, arguments);
    state.set_vgpr(0, std::array::from_fn(|lane| lane as u32));
    match Snippet::from_bytes(target, &code).run(&mut machine, &state) {
        Ok(_) => {
            let mut left = vec![0; size];
            machine.read(buffer, &mut left)?;
            Ok(left.iter().fold(String::new(), |mut text, byte| {
                // Writing to a string does not fail.
                let _ = write!(text, "{byte:02x}");
                text
            }))
        }
        Err(fault) => Ok(format!("ERR {}", fault.to_string().replace('\n', " "))),
    }
}

/// Bytes from hexadecimal digits.
fn bytes(digits: &str) -> Result<Vec<u8>> {
    let byte = |at: usize| {
        let digits = digits.get(at..at + 2).context("an odd number of digits")?;
        Ok(u8::from_str_radix(digits, 16)?)
    };
    (0..digits.len()).step_by(2).map(byte).collect()
}
