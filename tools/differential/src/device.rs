//! The emulator as the device of a batch.

use amdgpu_object::CodeObject;
use amdinst_emu::{Config, Execution, Launch, Machine};
use anyhow::Result;

use crate::program::Program;
use crate::render::NUMBERS;

/// Bytes of the input buffer.
pub(crate) const INPUT_BYTES: usize = 8192;

/// A machine with a batch's code object and buffers.
pub(crate) struct Device<'a> {
    pub(crate) machine: Machine,
    pub(crate) program: amdinst_emu::Program,
    start: &'a [u8],
    out: u64,
    /// What every kernel gets.
    pub(crate) kernarg: Vec<u8>,
}

impl<'a> Device<'a> {
    pub(crate) fn new(object: &CodeObject, input: &'a [u8]) -> Result<Self> {
        let mut machine = Machine::new(object.target.arch, Config::default());
        let (input, start) = input.split_at(INPUT_BYTES);
        let at = machine.alloc(input.len() as u64, 16, "in")?;
        machine.write(at, input)?;
        let out = machine.alloc(start.len() as u64, 16, "out")?;
        let program = machine.load(object)?;
        let (n0, n1, n2, n3) = NUMBERS;
        let mut kernarg = [out.to_le_bytes(), at.to_le_bytes()].concat();
        kernarg.extend(n0.to_le_bytes());
        kernarg.extend(u32::from(n1).to_le_bytes());
        kernarg.extend(n2.to_le_bytes());
        kernarg.extend(n3.to_le_bytes());
        Ok(Self { machine, program, start, out, kernarg })
    }

    /// The launch of program `slot`, whose output is as before it.
    pub(crate) fn ready(
        &mut self,
        slot: usize,
        program: &Program,
        kernarg: Vec<u8>,
        observe: bool,
    ) -> Result<Launch, String> {
        let start = &self.start[..program.output_bytes()];
        self.machine.write(self.out, start).map_err(|error| error.to_string())?;
        Ok(Launch {
            grid: [program.grid, 1, 1],
            block: [program.block, 1, 1],
            kernarg,
            threads: 1,
            record_masks: observe,
            record_steps: observe,
            count_opcodes: true,
            ..Launch::new(format!("k{slot}"))
        })
    }

    /// The output of a program that has run.
    pub(crate) fn output(&self, program: &Program) -> Result<Vec<u8>, String> {
        let mut bytes = vec![0; program.output_bytes()];
        self.machine.read(self.out, &mut bytes).map_err(|error| error.to_string())?;
        Ok(bytes)
    }

    /// Runs program `slot`: its output, and what it did. The error is the fault, in words.
    pub(crate) fn launch(
        &mut self,
        slot: usize,
        program: &Program,
        kernarg: Vec<u8>,
        observe: bool,
    ) -> Result<(Vec<u8>, Execution), String> {
        let launch = self.ready(slot, program, kernarg, observe)?;
        let execution = self.machine.launch(&self.program, &launch).map_err(|fault| fault.to_string())?;
        Ok((self.output(program)?, execution))
    }
}
