//! `cargo xtask corpus share`: the share of branches that can be instrumented in each counter home, and a
//! table of what is refused.

mod check;
mod markdown;
mod tally;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use amdgpu_object::CodeObject;
use amdinst_core::instrument::Counters;
use anyhow::{Context as _, Result, bail};
use rayon::prelude::*;

use super::sources::{self, Sources};
use super::wave_suffix;
use check::Checker;
use tally::Tally;

/// Options of `cargo xtask corpus share`.
///
/// Every code object for a processor whose code is instrumented is taken out of the files and instrumented,
/// which includes that two readers take the result. Branches are told apart by their address, so one in a
/// function that several kernels call counts once.
#[derive(Debug, clap::Args)]
#[command(after_help = sources::HELP)]
pub(crate) struct Options {
    /// What is gone over
    #[command(flatten)]
    sources: Sources,
    /// Where counters are to live: auto, register, lds or global; can be given several times, each when left
    /// out
    #[arg(long, value_name = "HOME", value_parser = home)]
    counters: Vec<Counters>,
    /// Have llvm-readelf and llvm-objdump read each instrumented code object: no warning, the headers that
    /// goblin sees, and the disassembly that is ours; and look whether each instruction is in exactly one
    /// block of `--measure blocks`
    #[arg(long)]
    check: bool,
    /// How many code objects are worked on at a time; 0 for one a core
    #[arg(long, default_value_t = 0, value_name = "N")]
    jobs: usize,
    /// How many refusals of each reason are shown in full
    #[arg(long, value_name = "N", default_value_t = 2)]
    show: usize,
    /// `text`, with all details; or `markdown`, the page of the guide: `docs/src/share.md` is what this
    /// prints of the three known collections
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// How it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Markdown,
}

fn home(text: &str) -> Result<Counters, String> {
    serde_json::from_value(text.into()).map_err(|error: serde_json::Error| error.to_string())
}

/// By collection, processor (with the size of waves, where that is not its default) and home.
type Tallies = BTreeMap<(String, String, String), Tally>;

/// Counts. `Ok(false)` when a code object could not be instrumented at all, or came out wrong.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let start = Instant::now();
    let files = options.sources.named_files()?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build()?;
    let tallies = Mutex::new(Tallies::new());
    pool.install(|| {
        files.par_iter().try_for_each(|(collection, path)| {
            one_file(collection, path, options, &tallies).with_context(|| format!("{}", path.display()))
        })
    })?;
    let mut tallies = tallies.into_inner()?;
    if tallies.is_empty() {
        bail!("no code object for a processor whose code is instrumented");
    }
    tallies.values_mut().for_each(Tally::sort);
    let is_clean = tallies.values().all(Tally::is_clean);
    if options.format == Format::Markdown {
        print!("{}", markdown::render(&tallies));
        for failure in tallies.values().flat_map(Tally::failures) {
            eprintln!("NOT INSTRUMENTED, OR WRONG: {failure}");
        }
        return Ok(is_clean);
    }
    for ((collection, target, home), tally) in &tallies {
        tally.print_details(&format!("{collection} {target} {home}"), options.show);
    }
    println!("{:<20} {:<14} {:<9} {}", "collection", "target", "counters", Tally::COLUMNS);
    for ((collection, target, home), tally) in &tallies {
        println!("{collection:<20} {target:<14} {home:<9} {}", tally.row());
    }
    println!("{:.0} s", start.elapsed().as_secs_f64());
    Ok(is_clean)
}

fn one_file(collection: &str, path: &Path, options: &Options, tallies: &Mutex<Tallies>) -> Result<()> {
    let bytes = sources::map(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let checker = options.check.then(Checker::new);
    let homes = match options.counters.as_slice() {
        [] => &[Counters::Auto, Counters::Register, Counters::Lds, Counters::Global],
        homes => homes,
    };
    let objects = options.sources.code_objects(&bytes)?;
    let instrumented = objects.par_iter().filter(|(arch, _)| arch.to_instrument().is_ok());
    instrumented.for_each(|(arch, code)| {
        let object = CodeObject::parse(code.bytes.to_vec());
        let wave = object.as_ref().map_or_else(|_| String::new(), |object| wave_suffix(object.code_target()));
        for &counters in homes {
            let mut tally = Tally::default();
            match &object {
                Ok(object) => tally.add(object, &name, counters, options.show, checker.as_ref()),
                Err(error) => tally.refuse(format!("{name}: {error}")),
            }
            let home = format!("{counters:?}").to_lowercase();
            let key = (collection.to_owned(), format!("{arch}{wave}"), home);
            tallies.lock().expect("no thread panics").entry(key).or_default().merge(tally);
        }
    });
    Ok(())
}
