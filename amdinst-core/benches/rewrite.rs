//! How fast code objects are instrumented, on one core, and how much memory that takes.
//!
//! `cargo bench -p amdinst-core --bench rewrite -- [FILE] [--target-cpu CPU] [--counters HOME] [--every N]
//! [--keep DIR] [--test]`. FILE is anything with GPU code in it: librocsparse for gfx90a when left out. Each
//! code object is read, planned and written once, one after the other in one session, as each thread of
//! `cargo amdinst instrument` does. The digest is that of all instrumented code objects and their probe maps,
//! in order: what makes this faster must not change it. `--keep` writes them too. `--every` takes one of N
//! code objects: enough for a profiler that counts instructions. `--test` takes only the first, to see that
//! it works.

use std::path::PathBuf;
use std::time::Duration;

use amdgpu_isa::Arch;
use amdgpu_object::{CodeObject, container};
use amdinst_core::instrument::{Counters, InstrumentError, Options, Session, apply};

/// As in `cargo amdinst`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// As there, memory that is freed stays: mimalloc's option `purge_delay`.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

const LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/librocsparse.so.0";

/// What is measured.
struct Bench {
    file: PathBuf,
    cpu: Option<Arch>,
    options: Options,
    keep: Option<PathBuf>,
    every: usize,
    limit: usize,
}

/// The time of each stage.
#[derive(Default)]
struct Times {
    read: Duration,
    plan: Duration,
    write: Duration,
}

fn main() {
    // SAFETY: the option exists, and no other thread sets options.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, -1) };
    let bench = arguments();
    let Ok(file) = std::fs::File::open(&bench.file) else {
        println!("SKIPPED: {} is not there (`apt-get install librocsparse0`)", bench.file.display());
        return;
    };
    let inputs = inputs(&file, &bench);
    let before = reset_peak_memory();
    let mut times = Times::default();
    let (mut objects, mut text, mut sites, mut nothing, mut out) = (0, 0, 0, 0, 0);
    let mut digest = flate2::Crc::new();
    let mut session = Session::default();
    for bytes in inputs {
        let object = timed(&mut times.read, || CodeObject::parse(bytes)).expect("a code object");
        (objects, text) = (objects + 1, text + object.text.range.len());
        let plan = timed(&mut times.plan, || session.plan(&object, &bench.options)).expect("a plan");
        let instrumented = match timed(&mut times.write, || apply(&object, plan)) {
            Ok(instrumented) => instrumented,
            Err(InstrumentError::NothingInstrumented(_)) => {
                nothing += 1;
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        sites += instrumented.map.kernels.iter().map(|kernel| kernel.sites.len()).sum::<usize>();
        out += instrumented.bytes.len();
        digest.update(&instrumented.bytes);
        digest.update(&instrumented.map_file);
        if let Some(directory) = &bench.keep {
            let path = directory.join(format!("{objects}.elf"));
            std::fs::write(&path, &instrumented.bytes).expect("the directory can be written to");
            std::fs::write(path.with_extension("probes.json"), &instrumented.map_file)
                .expect("the directory can be written to");
        }
    }
    let megabytes = text as f64 / 1e6;
    println!(
        "{}: {objects} code objects, {megabytes:.2} MB of .text, {sites} sites; {nothing} without a site; {:.2} MB written; \
         digest {:08x}",
        bench.file.display(),
        out as f64 / 1e6,
        digest.sum()
    );
    let all = times.read + times.plan + times.write;
    for (stage, time) in [("read", times.read), ("plan", times.plan), ("write", times.write), ("all", all)] {
        let seconds = time.as_secs_f64();
        println!("{stage:<6} {:>8.1} MB of .text/s {:>9.0} ms", megabytes / seconds, seconds * 1e3);
    }
    match before.zip(memory("VmHWM:")) {
        Some((before, peak)) => println!(
            "peak memory {:.0} MB above the {:.0} MB at the start, with all code objects read",
            peak.saturating_sub(before) as f64 / 1e6,
            before as f64 / 1e6
        ),
        None => println!("SKIPPED: peak memory is not told here"),
    }
}

/// The code objects that are asked for. The file is not kept: its pages would count as memory.
fn inputs(file: &std::fs::File, bench: &Bench) -> Vec<Vec<u8>> {
    // SAFETY: only bytes are read, for which each value is valid; nobody here writes to the file.
    let bytes = unsafe { memmap2::Mmap::map(file) }.expect("a file can be mapped");
    let wanted = |target: &str| {
        let cpu = target.split(':').next().unwrap_or_default().parse::<Arch>();
        cpu.is_ok_and(|cpu| bench.cpu.is_none_or(|only| only == cpu))
    };
    let found = container::open(&bytes).expect("a file with GPU code");
    let found = found.into_iter().filter(|embedded| wanted(embedded.target_id()));
    let found = found.step_by(bench.every).take(bench.limit);
    found.map(|embedded| embedded.bytes.to_vec()).collect()
}

fn arguments() -> Bench {
    let mut bench = Bench {
        file: LIBRARY.into(),
        cpu: None,
        options: Options::default(),
        keep: None,
        every: 1,
        limit: usize::MAX,
    };
    let mut arguments = std::env::args().skip(1);
    let mut is_default = true;
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().unwrap_or_else(|| panic!("{argument} needs a value"));
        match argument.as_str() {
            // Cargo adds it.
            "--bench" => {}
            "--test" => bench.limit = 1,
            "--target-cpu" => bench.cpu = Some(value().parse().expect("a GFX9 processor")),
            "--counters" => {
                let home: Result<Counters, _> = serde_json::from_value(value().into());
                bench.options.counters = home.expect("auto, register, lds or global");
            }
            "--every" => bench.every = value().parse().expect("a number above 0"),
            "--keep" => bench.keep = Some(value().into()),
            path => (bench.file, is_default) = (path.into(), false),
        }
    }
    if is_default && bench.cpu.is_none() {
        bench.cpu = Some(Arch::Gfx90a);
    }
    bench
}

fn timed<T>(total: &mut Duration, run: impl FnOnce() -> T) -> T {
    let start = processor_time();
    let result = run();
    *total += processor_time() - start;
    result
}

/// The time that this thread has had of a core, so that other programs matter less.
#[cfg(unix)]
fn processor_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

#[cfg(not(unix))]
fn processor_time() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

/// Forgets the most memory that this process had so far (proc(5), `clear_refs`); what it has now, in bytes.
fn reset_peak_memory() -> Option<u64> {
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    memory("VmRSS:")
}

/// A line of `/proc/self/status`, in bytes.
fn memory(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
