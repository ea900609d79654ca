//! How fast code is decoded and shown, beside `llvm-objdump` on the same code in the same run.
//!
//! `cargo bench -p amdinst-core [-- FILE] [--target-cpu CPU] [--test]`. FILE is anything with GPU code in it:
//! librocrand when left out. `--test` measures once and briefly, to see that it works.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use amdgpu_isa::{Arch, decode};
use amdgpu_object::{CodeObject, container};
use amdinst_core::listing::Listing;

const LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/librocrand.so.1";

fn main() {
    let mut file = PathBuf::from(LIBRARY);
    let mut cpu: Option<Arch> = None;
    let mut is_test = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            // Cargo adds it.
            "--bench" => {}
            "--test" => is_test = true,
            "--target-cpu" => cpu = arguments.next().and_then(|name| name.parse().ok()),
            path => file = path.into(),
        }
    }
    let Ok(bytes) = std::fs::read(&file) else {
        println!("SKIPPED: {} is not there (`apt-get install librocrand1`)", file.display());
        return;
    };
    let found = container::open(&bytes).expect("a file with GPU code");
    let objects = found.into_iter().filter_map(|one| CodeObject::parse(one.bytes.to_vec()).ok());
    let objects: Vec<CodeObject> =
        objects.filter(|object| cpu.is_none_or(|cpu| cpu == object.target.arch)).collect();
    let code: usize = objects.iter().map(|object| object.text.range.len()).sum();
    let least = Duration::from_secs(if is_test { 0 } else { 2 });
    println!("{}: {} code objects, {:.2} MB of code", file.display(), objects.len(), code as f64 / 1e6);

    // Tables are built on first use; that is not what is measured.
    let instructions: u64 = objects.iter().map(count).sum();
    let decoding = measure(least, || objects.iter().map(count).sum::<u64>());
    print("decode", decoding, code, instructions);
    let mut text = Vec::new();
    let listing = measure(least, || {
        for object in &objects {
            text.clear();
            Listing::new(object).write(&mut text).expect("a Vec takes everything");
        }
        text.len() as u64
    });
    print("decode and text", listing, code, instructions);
    match objdump(&objects, least) {
        Some(llvm) => {
            print("llvm-objdump-22", llvm, code, instructions);
            let ratio = |ours: Duration| llvm.as_secs_f64() / ours.as_secs_f64();
            println!(
                "decode: {:.1} times llvm-objdump's rate; with text: {:.1} times",
                ratio(decoding),
                ratio(listing)
            );
        }
        None => println!("SKIPPED: llvm-objdump-22 is not installed (`apt-get install llvm-22`)"),
    }
}

/// Decodes all code of an object; what is no instruction is passed over word by word.
fn count(object: &CodeObject) -> u64 {
    let text = object.text_bytes();
    let (mut at, mut instructions) = (0, 0);
    while at < text.len() {
        match black_box(decode(object.target.arch, &text[at..])) {
            Ok(inst) => {
                at += usize::from(inst.size);
                instructions += 1;
            }
            Err(_) => at += 4,
        }
    }
    instructions
}

/// The shortest time of a run, of as many as fit into `least` and at least one.
fn measure(least: Duration, mut run: impl FnMut() -> u64) -> Duration {
    let begin = Instant::now();
    let mut best = Duration::MAX;
    loop {
        let start = Instant::now();
        black_box(run());
        best = best.min(start.elapsed());
        if begin.elapsed() >= least {
            return best;
        }
    }
}

/// The time of `llvm-objdump -d` on the same code objects: of the processes, their output thrown away.
fn objdump(objects: &[CodeObject], least: Duration) -> Option<Duration> {
    let directory = tempfile::tempdir().ok()?;
    let write = |(index, object): (usize, &CodeObject)| {
        let path = directory.path().join(format!("{index}.elf"));
        std::fs::write(&path, &object.bytes).ok().map(|()| path)
    };
    let files: Vec<PathBuf> = objects.iter().enumerate().map(write).collect::<Option<_>>()?;
    let run = |file: &Path| {
        let mut command = Command::new("llvm-objdump-22");
        let status = command.arg("-d").arg(file).stdout(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    if !run(files.first()?) {
        return None;
    }
    Some(measure(least, || files.iter().map(|file| u64::from(run(file))).sum()))
}

fn print(what: &str, time: Duration, bytes: usize, instructions: u64) {
    let seconds = time.as_secs_f64();
    println!(
        "{what:<16} {:>8.1} MB/s {:>8.2} M instructions/s {:>9.1} ms",
        bytes as f64 / 1e6 / seconds,
        instructions as f64 / 1e6 / seconds,
        seconds * 1e3
    );
}
