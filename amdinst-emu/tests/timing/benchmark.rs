//! One benchmark: a machine with a program, and a device that keeps its L2 from launch to launch.

use amdgpu_object::CodeObject;
use amdinst_emu::timing::{self, Parameters, Timing};
use amdinst_emu::{Config, Launch};

use crate::support::Device;

/// A kernel's machine and device.
pub(crate) struct Benchmark {
    pub(crate) device: Device,
    model: timing::Device,
}

impl Benchmark {
    pub(crate) fn new(object: &CodeObject) -> Self {
        Self::on(object, Parameters::mi210())
    }

    pub(crate) fn on(object: &CodeObject, parameters: Parameters) -> Self {
        Self { device: Device::with(object, Config::default()), model: timing::Device::new(parameters) }
    }

    /// Zeroed memory, which takes no room on the host until it is touched.
    pub(crate) fn zeroed(&mut self, bytes: u64) -> u64 {
        self.device.machine.alloc(bytes, 1 << 21, "data").expect("allocating")
    }

    pub(crate) fn launch(&mut self, kernel: &str, grid: u32, block: u32, arguments: &[u64]) -> Timing {
        let launch = Launch {
            grid: [grid, 1, 1],
            block: [block, 1, 1],
            kernarg: arguments.iter().flat_map(|argument| argument.to_le_bytes()).collect(),
            ..Launch::new(kernel)
        };
        self.model.launch(&mut self.device.machine, &self.device.program, &launch).expect("launching")
    }
}

/// Within 15 % of what was measured.
pub(crate) fn close(what: &str, modelled: f64, measured: f64) {
    let off = modelled / measured - 1.0;
    println!("{what}: modeled {modelled:.1}, measured {measured:.1} ({:+.1} %)", 100.0 * off);
    assert!(off.abs() <= 0.15, "{what}: modeled {modelled:.1}, measured {measured:.1}");
}
