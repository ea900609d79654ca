//! Backwards from a fault.

use amdinst_emu::{Config, FaultKind, Launch};
use amdinst_explain::origin::{Rerun, why_fault};
use amdinst_format::report::why::ValueOrigin;

use crate::support::{Device, compile_with, tools};

const SOURCE: &str = include_str!("sources/faults.cl");

/// What is told of a kernel's fault, and its kind.
fn told(kernel: &str, cpu: &str, level: &str) -> (FaultKind, ValueOrigin) {
    let object = compile_with(SOURCE, cpu, level, &[]);
    let mut device = Device::with(&object, Config::default());
    let out = device.buffer("out", &[0u32; 64]);
    let x = device.buffer("x", &[0_u32, 40].iter().chain(&[7; 62]).copied().collect::<Vec<_>>());
    let kernarg = [out.to_le_bytes().as_slice(), &x.to_le_bytes(), &3_u32.to_le_bytes()].concat();
    let launch = Launch { kernarg, budget: 20_000, ..Launch::new(kernel) };
    let before = device.machine.snapshot();
    let fault = device.machine.launch(&device.program, &launch).expect_err("a fault");
    let Device { machine, program } = &mut device;
    let mut rerun = Rerun::new(machine, program, &object, &launch, (1, &before)).expect("the kernel");
    let why = why_fault(&mut rerun, &fault).unwrap_or_else(|lost| panic!("{kernel} {cpu} {level}: {lost}"));
    (fault.kind, why.unwrap_or_else(|| panic!("{kernel} {cpu} {level}: nothing")))
}

/// The lines of the source that are told, without what stands around them.
fn lines(why: &ValueOrigin) -> Vec<&'static str> {
    let line = |number: u32| SOURCE.lines().nth(number as usize - 1).expect("a line of the source").trim();
    why.steps.iter().filter_map(|step| step.made.location.line.map(line)).collect()
}

#[test]
fn faults_lead_back_to_their_reasons() {
    if !tools("faults_lead_back_to_their_reasons") {
        return;
    }
    for cpu in ["gfx90a", "gfx1030", "gfx1100", "gfx1201"] {
        for level in ["-O0", "-O1", "-O3"] {
            for (kernel, reasons) in [
                ("beyond", &["int at = row * stride;"][..]),
                ("scalar", &["int far = n * 40000;"]),
                ("trapped", &["int limit = x[1] + n;"]),
                ("endless", &["at += step;"]),
            ] {
                let (kind, why) = told(kernel, cpu, level);
                let found = lines(&why);
                for reason in reasons {
                    assert!(found.contains(reason), "{kernel} {cpu} {level}: {kind}: {}", why.human());
                }
            }
        }
    }
}
