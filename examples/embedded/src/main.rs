//! Adds two vectors on the GPU that is there, else in the emulator, and tells how the kernel's branches diverged if the
//! kernels inside can count.

use std::error::Error;
use std::process::ExitCode;

use harness::{Device, Embedded, Launch as _, Settings};
use test_kernels::vector_add::vector_add;

static KERNELS: Embedded = harness::embedded!("test-kernels");

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let settings = Settings { embedded: vec![&KERNELS], ..Settings::from_env()? };
    let (device, why) = Device::open(&settings)?;
    println!("on {why}");

    let b: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let c = vec![0.5; 100];
    let mut a = device.zeroed::<f32>(100);
    let run = vector_add.launch(&device, 1, 128, (&mut a, &device.buffer(&b), &device.buffer(&c), 100))?;
    println!("a[99] = {}", a.to_vec()[99]);

    for site in &run.report().sites {
        let counts = site.counts;
        println!("{}: {} of {} executions diverged", site.location, counts.diverged, counts.executions);
    }
    Ok(())
}
