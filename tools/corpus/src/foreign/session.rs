//! Launches cases the way `cargo amdinst run` does, and judges what they leave.

use std::cell::OnceCell;
use std::path::Path;

use amdgpu_object::CodeObject;
use amdinst_core::instrument;
use amdinst_emu::{Config, Launch, Machine, Program};
use amdinst_launch::language::{ArgSpec, Scalar};
use amdinst_launch::{Arguments, LaunchError, Outcome};
use anyhow::{Context as _, Result};
use cargo_amdinst::commands::run::{fault, report::Instrumented, view::RunView};
use cargo_amdinst::exit::{Exit, Failure};

use super::case::{After, Arg, Case};
use super::tally::{Ran, Shown, Tally};
use super::{Options, Source};

/// Where a code object is from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    /// Whose it is.
    pub(crate) source: Source,
    /// The file that it stands in.
    pub(crate) file: &'a Path,
    /// The processor, perhaps with features, by which it is found there.
    pub(crate) target: &'a str,
    /// What else tells it apart: the level of optimisation, say.
    pub(crate) variant: &'a str,
}

/// A code object on a machine, from which every launch gets a copy: so it is decoded once, not once a launch.
pub(crate) struct Loaded<'a> {
    object: &'a CodeObject,
    machine: Machine,
    program: Program,
    /// With all kernels instrumented, when a launch first asks for it.
    instrumented: OnceCell<Result<Instrumented<'a>, String>>,
}

impl<'a> Loaded<'a> {
    /// Loads a code object.
    pub(crate) fn new(object: &'a CodeObject, options: &Options) -> Result<Self> {
        let mut machine = Machine::new(object.target.arch, options.config());
        let program = machine.load(object)?;
        Ok(Self { object, machine, program, instrumented: OnceCell::new() })
    }
}

/// All launches of one command.
#[derive(Debug)]
pub(crate) struct Session {
    options: Options,
    /// Where input files go that nobody wants to keep.
    scratch: tempfile::TempDir,
    tally: Tally,
}

impl Session {
    pub(crate) fn new(options: Options) -> Result<Self> {
        Ok(Self { options, scratch: tempfile::tempdir()?, tally: Tally::default() })
    }

    /// What was asked for.
    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Where compilers may leave their output: it stays as long as the session, or for good with `--keep`.
    pub(crate) fn directory(&self) -> &Path {
        self.options.keep.as_deref().unwrap_or(self.scratch.path())
    }

    /// Whether a case's name is wanted.
    pub(crate) fn wants(&self, case: &Case) -> bool {
        self.options.name.as_ref().is_none_or(|name| case.name.contains(name.as_str()))
    }

    /// The outcome of all launches.
    pub(crate) fn finish(self) -> Tally {
        self.tally
    }

    /// Launches the kernel of that symbol as the case says, unless the case's name is not wanted.
    ///
    /// # Errors
    /// When a file cannot be written; a launch that goes wrong is a line of the tally.
    pub(crate) fn run(
        &mut self,
        origin: Origin<'_>,
        loaded: &Loaded<'_>,
        symbol: &str,
        case: &Case,
    ) -> Result<()> {
        if !self.wants(case) {
            return Ok(());
        }
        let label = [origin.source.name(), origin.target, origin.variant, &case.name]
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ");
        if self.options.verbose {
            println!("{label}");
        }
        let words: String =
            label.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(80).collect();
        let directory = self.directory().join(format!("{}_{words}", self.tally.launches() + 1));
        std::fs::create_dir_all(&directory)?;
        let specs = specs(&case.args, &directory)?;
        if self.options.keep.is_some() {
            println!("{}", command(origin, symbol, case, &specs));
        }
        let Options { instrument, check, .. } = self.options;
        let result = launch(loaded, symbol, case, &specs, instrument, check);
        if self.options.keep.is_none() {
            std::fs::remove_dir_all(&directory)?;
        }
        self.tally.add(origin, &case.name, &label, result);
        Ok(())
    }
}

/// The arguments as the command line has them, buffers in files of the directory.
fn specs(args: &[Arg], directory: &Path) -> Result<Vec<ArgSpec>> {
    let spec = |(index, arg): (usize, &Arg)| {
        Ok(match arg {
            Arg::Value(bytes) => match **bytes {
                [a] => ArgSpec::Scalar(Scalar::U8(a)),
                [a, b] => ArgSpec::Scalar(Scalar::U16(u16::from_le_bytes([a, b]))),
                [a, b, c, d] => ArgSpec::Scalar(Scalar::U32(u32::from_le_bytes([a, b, c, d]))),
                [a, b, c, d, e, f, g, h] => {
                    ArgSpec::Scalar(Scalar::U64(u64::from_le_bytes([a, b, c, d, e, f, g, h])))
                }
                _ => ArgSpec::Hex(bytes.clone()),
            },
            Arg::Buffer { before, after } => {
                let file = directory.join(format!("{}.bin", index + 1));
                std::fs::write(&file, before).with_context(|| format!("writing {}", file.display()))?;
                match after {
                    After::Same => ArgSpec::In(file),
                    _ => ArgSpec::InOut(file, directory.join(format!("{}.after", index + 1))),
                }
            }
        })
    };
    args.iter().enumerate().map(spec).collect()
}

/// The command line that launches the case.
fn command(origin: Origin<'_>, symbol: &str, case: &Case, specs: &[ArgSpec]) -> String {
    let sizes = |sizes: [u32; 3]| sizes.map(|size| size.to_string()).join(",");
    let mut line = format!(
        "cargo amdinst run {} --target-cpu {} --kernel {} --grid {} --block {}",
        origin.file.display(),
        origin.target,
        symbol,
        sizes(case.grid),
        sizes(case.block)
    );
    if case.lds > 0 {
        line.push_str(&format!(" --lds {}", case.lds));
    }
    for spec in specs {
        line.push_str(&format!(" --arg {spec}"));
    }
    line
}

/// A failure in one line, its notes included.
fn told(failure: &Failure) -> String {
    failure.notes.iter().fold(failure.to_string(), |text, note| text + "; " + note)
}

/// Launches and judges; the error says what went wrong.
fn launch(
    loaded: &Loaded<'_>,
    symbol: &str,
    case: &Case,
    specs: &[ArgSpec],
    instrument: bool,
    check: bool,
) -> std::result::Result<Ran, String> {
    let object = loaded.object;
    let kernel = object.kernel(symbol).ok_or("the code object has no such kernel")?;
    let arguments = Arguments::new(kernel, specs).map_err(|refused| told(&refused.into()))?;
    let launch = Launch {
        grid: case.grid,
        block: case.block,
        dynamic_lds: case.lds,
        record_masks: instrument,
        count_opcodes: true,
        ..Launch::new(symbol)
    };
    let mut machine = loaded.machine.clone();
    let original = arguments
        .place(&mut machine)
        .map_err(LaunchError::from)
        .and_then(|placed| {
            let before = check.then(|| machine.snapshot());
            let outcome = Outcome::placed(&mut machine, &loaded.program, object, &placed, launch.clone())?;
            let launch = Launch { kernarg: placed.kernarg, ..launch.clone() };
            if let Some(before) = before {
                machine.find_unwritten(&loaded.program, &launch, &outcome.execution, &before)?;
            }
            Ok(outcome)
        })
        .map_err(|error| told(&fault::failure(error, object)))?;
    let buffers = case.args.iter().enumerate().filter_map(|(index, arg)| match arg {
        Arg::Buffer { before, after } => Some((index, before, after)),
        Arg::Value(_) => None,
    });
    for ((index, before, after), found) in buffers.zip(&original.buffers) {
        after.judge(before, found).map_err(|why| format!("argument {}: {why}", index + 1))?;
    }
    let view = RunView::new(symbol, object.target, &launch, &original.execution);
    let mut ran = Ran {
        wave_instructions: view.wave_instructions,
        opcodes: view.opcodes.into_iter().map(|one| (one.name, one.fidelity, one.executions)).collect(),
        instrumented: None,
    };
    if instrument {
        let rewrite = || {
            Instrumented::new(object, instrument::Options::default(), &Config::default())
                .map_err(|failure| told(&failure))
        };
        let checked = loaded.instrumented.get_or_init(rewrite).as_ref().map_err(String::clone).and_then(
            |instrumented| {
                instrumented
                    .check(kernel, &arguments, &launch, &original, None)
                    .map_err(|failure| told(&failure))
            },
        );
        let checked = checked.map_err(|why| format!("instrumented: {why}"))?;
        if checked.exit() == Exit::Mismatch {
            return Err(format!("instrumented: {}", checked.disagreements.join("; ")));
        }
        ran.instrumented = Some(Shown {
            runs: checked.instrumented_instructions.is_some(),
            sites: checked.report.sites.len() as u64,
            executions: checked.report.sites.iter().map(|site| site.counts.executions).sum(),
            refusals: checked.report.refusals,
        });
    }
    Ok(ran)
}
