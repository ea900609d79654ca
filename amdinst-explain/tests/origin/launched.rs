//! A launch of one workgroup, and all that it takes to run it again.

use amdgpu_object::CodeObject;
use amdinst_emu::{Config, Launch, Snapshot};
use amdinst_explain::origin::Rerun;

use crate::support::Device;

/// Work-items, and elements of both buffers.
pub(crate) const ITEMS: u32 = 64;

/// A launch, done: of numbers from -23.5 on.
pub(crate) struct Done {
    pub(crate) device: Device,
    launch: Launch,
    before: Snapshot,
    pub(crate) out: u64,
    wave_instructions: u64,
}

impl Done {
    pub(crate) fn new(object: &CodeObject, kernel: &str) -> Self {
        let mut device = Device::with(object, Config::default());
        let x: Vec<f32> = (0..ITEMS).map(|i| i as f32 - 23.5).collect();
        let x = device.buffer("x", &x);
        let out = device.buffer("out", &[0f32; ITEMS as usize]);
        let kernarg = [x.to_le_bytes(), out.to_le_bytes()].concat();
        let launch = Launch { block: [ITEMS, 1, 1], kernarg, ..Launch::new(kernel) };
        let before = device.machine.snapshot();
        let execution = device.machine.launch(&device.program, &launch).expect("a launch");
        Self { device, launch, before, out, wave_instructions: execution.wave_instructions }
    }

    pub(crate) fn rerun<'a>(&'a mut self, object: &CodeObject) -> Rerun<'a> {
        let of = (self.wave_instructions, &self.before);
        let Device { machine, program } = &mut self.device;
        Rerun::new(machine, program, object, &self.launch, of).expect("the kernel")
    }
}
