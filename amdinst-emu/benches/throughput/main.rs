//! How many wave-instructions a second the emulator executes: `cargo bench -p amdinst-emu`.
//!
//! The kernels of `kernels.cl`, compiled by clang-22 for gfx90a or what is asked for, run at each level of
//! vector extensions that the host has, on one core and on all, beside the same functions compiled for the
//! host (`host.rs`: plain loops, and in pieces over all cores by rayon). Each result is compared with the
//! host's. Times are the best of several runs in one process, after one that does not count; on one core they
//! are the thread's time on it, so that another load on the machine disturbs them little. Ratios are of one
//! process's runs. `cargo bench -p amdinst-emu -- --test` runs everything once, small. The host's functions
//! are vector code where LLVM makes it; with `RUSTFLAGS="-Cno-vectorize-loops -Cno-vectorize-slp"` their
//! times are those of scalar code.

mod clock;
mod device;
mod host;
mod options;
mod peak;
mod report;
mod workload;

use std::process::ExitCode;

use amdgpu_object::CodeObject;
use amdinst_emu::{Config, Vectors};
use rayon::prelude::*;

use device::Device;
use options::Options;
use report::Row;
use workload::Workload;

type Error = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{}", options::USAGE);
            return ExitCode::SUCCESS;
        }
        Err(message) => {
            eprintln!("error: {message}\n\n{}", options::USAGE);
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Error> {
    let object = match device::compile(options)? {
        Ok(object) => object,
        Err(reason) => {
            println!("SKIPPED: {reason}");
            let required = std::env::var_os("AMDINST_REQUIRE_TOOLS").is_some_and(|value| value == "1");
            return if required { Err(reason.into()) } else { Ok(()) };
        }
    };
    let (levels, missing): (Vec<Vectors>, Vec<_>) =
        options.levels.iter().partition(|level| level.is_available());
    for level in missing {
        println!("SKIPPED: {}: this host has no such vectors", level.name());
    }
    let chosen = |workload: &Workload| {
        options.kernels.is_empty() || options.kernels.iter().any(|kernel| kernel == workload.kernel)
    };
    let there = |workload: &Workload| object.kernels.iter().any(|kernel| kernel.name == workload.kernel);
    let all = workload::all(options.short, device::wave_size(options)?.lanes()).into_iter();
    let workloads: Vec<Workload> = all.filter(chosen).filter(there).collect();
    if workloads.is_empty() {
        return Err(format!("no kernel of these names: {}", options.kernels.join(", ")).into());
    }
    // First, while the heap has nothing from earlier launches to give.
    let peak = peak_of_a_million(&object, &workloads, &levels, options)?;
    let mut rows = Vec::new();
    for workload in &workloads {
        report::title(workload);
        report::head();
        measure(options, &object, workload, &levels, &mut rows)?;
        println!();
    }
    if let Some(path) = &options.json {
        let rows: Vec<_> = rows.iter().map(Row::json).collect();
        let report = serde_json::json!({ "short": options.short, "rows": rows, "peak_bytes": peak });
        std::fs::write(path, serde_json::to_vec_pretty(&report)?)?;
    }
    Ok(())
}

/// How launches run at a level.
fn config(level: Vectors, options: &Options) -> Config {
    let mut config = Config::default();
    config.vectors = level;
    config.check_races = options.check_races;
    config
}

/// The shortest of several runs, in seconds.
fn best(repeat: u32, mut seconds: impl FnMut() -> Result<f64, Error>) -> Result<f64, Error> {
    (0..repeat).try_fold(f64::INFINITY, |best, _| Ok(best.min(seconds()?)))
}

fn measure(
    options: &Options,
    object: &CodeObject,
    workload: &Workload,
    levels: &[Vectors],
    rows: &mut Vec<Row>,
) -> Result<(), Error> {
    let repeat = if options.short { 1 } else { options.repeat.max(1) };
    let mut expected = vec![0; workload.output];
    let (host, inputs, n) = (workload.host, &workload.inputs, workload.n);
    let scalar = best(repeat, || Ok(clock::one_thread(|| host(inputs, n, 0, &mut expected)).1))?;
    let mut parallel_result = vec![0; workload.output];
    let parallel = best(repeat, || {
        let pieces = parallel_result.par_chunks_mut(workload.piece).enumerate();
        let run = || pieces.for_each(|(number, piece)| host(inputs, n, number * workload.piece, piece));
        Ok(clock::wall(run).1)
    })?;
    if parallel_result != expected {
        return Err(
            format!("{}: the host's results differ between one thread and all", workload.kernel).into()
        );
    }
    for level in levels {
        for (threads, host_seconds) in [(1, scalar), (0, parallel)] {
            let mut device = Device::new(object, workload, config(*level, options))?;
            let mut execution = device.launch(threads)?;
            let seconds = best(repeat, || {
                let timed = if threads == 1 {
                    clock::one_thread(|| device.launch(1))
                } else {
                    clock::wall(|| device.launch(threads))
                };
                execution = timed.0?;
                Ok(timed.1)
            })?;
            let output = device.output()?;
            if let Some(word) = (0..output.len()).find(|word| output[*word] != expected[*word]) {
                let (kernel, level) = (workload.kernel, level.name());
                let (is, must) = (output[word], expected[word]);
                return Err(
                    format!("{kernel}, {level}: word {word} is {is:#x}, on the host {must:#x}").into()
                );
            }
            let row = Row {
                kernel: workload.kernel,
                vectors: level.name(),
                threads: execution.threads,
                wave_instructions: execution.wave_instructions,
                seconds,
                host_seconds,
                deterministic: match options.deterministic && execution.threads > 1 {
                    true => Some(deterministic(options, object, workload, *level, repeat)?),
                    false => None,
                },
            };
            report::line(&row);
            rows.push(row);
        }
    }
    Ok(())
}

/// How many times as long a launch on all cores takes them if it is to have one result: the best of several,
/// which take turns with others.
fn deterministic(
    options: &Options,
    object: &CodeObject,
    workload: &Workload,
    level: Vectors,
    repeat: u32,
) -> Result<f64, Error> {
    let mut best = [f64::INFINITY; 2];
    let mut devices = [false, true].map(|deterministic| {
        let mut config = config(level, options);
        config.deterministic = deterministic;
        Device::new(object, workload, config)
    });
    for _ in 0..=repeat {
        for (device, best) in devices.iter_mut().zip(&mut best) {
            let device = device.as_mut().map_err(|error| error.to_string())?;
            let (execution, seconds) = clock::all_threads(|| device.launch(0));
            execution?;
            *best = best.min(seconds);
        }
    }
    Ok(best[1] / best[0])
}

/// Peak memory of a launch of `vector_add`, beside its buffers.
fn peak_of_a_million(
    object: &CodeObject,
    workloads: &[Workload],
    levels: &[Vectors],
    options: &Options,
) -> Result<Option<u64>, Error> {
    let Some(workload) = workloads.iter().find(|workload| workload.kernel == "vector_add") else {
        return Ok(None);
    };
    let Some(level) = levels.last() else { return Ok(None) };
    let mut device = Device::new(object, workload, config(*level, options))?;
    let (execution, bytes) = peak::growth(|| device.launch(0));
    execution?;
    match bytes {
        Some(bytes) => println!(
            "peak memory of a launch of {} work-items, besides its buffers: {:.1} MB\n",
            workload.items(),
            bytes as f64 / 1e6
        ),
        None => println!("SKIPPED: peak memory: this system does not tell"),
    }
    Ok(bytes)
}
