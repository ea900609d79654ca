//! Compiling the kernels, and launching them.

use std::process::Command;

use amdgpu_isa::{Arch, WaveSize};
use amdgpu_object::CodeObject;
use amdinst_emu::{Config, Execution, Fault, Launch, Machine, Program};

use super::options::Options;
use super::workload::Workload;

type Error = Box<dyn std::error::Error>;

/// The size of the waves that the options ask for.
pub(crate) fn wave_size(options: &Options) -> Result<WaveSize, Error> {
    let arch = Arch::from_name(&options.cpu).ok_or(format!("{}: no such processor", options.cpu))?;
    Ok(match options.wave_size.as_deref() {
        None => arch.default_wave(),
        Some("32") => WaveSize::Wave32,
        Some("64") => WaveSize::Wave64,
        Some(other) => return Err(format!("--wave-size {other}: 32 or 64").into()),
    })
}

/// Compile `kernels.cl` for what the options say. `Err`, with the reason: clang is not there.
pub(crate) fn compile(options: &Options) -> Result<Result<CodeObject, String>, Error> {
    let cpu = options.cpu.as_str();
    for tool in ["clang-22", "ld.lld-22"] {
        if Command::new(tool).arg("--version").output().is_err() {
            return Ok(Err(format!("{tool} is not installed (apt-get install clang-22 lld-22)")));
        }
    }
    let wave = wave_size(options)?;
    let directory = tempfile::tempdir()?;
    let (input, output) = (directory.path().join("kernels.cl"), directory.path().join("kernels.elf"));
    std::fs::write(&input, include_str!("kernels.cl"))?;
    let result = Command::new("clang-22")
        .args(["--target=amdgcn-amd-amdhsa", "-nogpulib", "-x", "cl", "-cl-std=CL2.0", "-O2"])
        .arg(format!("-mcpu={cpu}"))
        .arg(if wave == WaveSize::Wave64 { "-mwavefrontsize64" } else { "-mno-wavefrontsize64" })
        .arg(format!("-DLANES={}", wave.lanes()))
        .arg(format!("-DVCC=\"{}\"", if wave == WaveSize::Wave32 { "vcc_lo" } else { "vcc" }))
        .args(options.flush_subnormals.then_some("-cl-denorms-are-zero"))
        .args(["-ffp-contract=off", "-Xclang", "-finclude-default-header", "-fuse-ld=lld-22", "-o"])
        .args([&output, &input])
        .output()?;
    if !result.status.success() {
        return Err(format!("clang-22: {}", String::from_utf8_lossy(&result.stderr)).into());
    }
    Ok(Ok(CodeObject::parse(std::fs::read(&output)?)?))
}

/// A machine with a workload's program and buffers.
pub(crate) struct Device<'a> {
    workload: &'a Workload,
    machine: Machine,
    program: Program,
    kernarg: Vec<u8>,
    output: u64,
}

impl<'a> Device<'a> {
    pub(crate) fn new(object: &CodeObject, workload: &'a Workload, config: Config) -> Result<Self, Error> {
        let mut machine = Machine::new(object.target.arch, config);
        let program = machine.load(object)?;
        let mut kernarg = Vec::new();
        for (number, input) in workload.inputs.iter().enumerate() {
            let bytes: Vec<u8> = input.iter().flat_map(|word| word.to_le_bytes()).collect();
            let address = machine.alloc(bytes.len() as u64, 256, &format!("input {number}"))?;
            machine.write(address, &bytes)?;
            kernarg.extend(address.to_le_bytes());
        }
        let output = machine.alloc(4 * workload.output as u64, 256, "output")?;
        // So that its pages are there before a launch.
        machine.write(output, &vec![0xff; 4 * workload.output])?;
        kernarg.extend(output.to_le_bytes());
        kernarg.extend(workload.n.to_le_bytes());
        Ok(Self { workload, machine, program, kernarg, output })
    }

    /// Run the kernel once, on so many host threads (0: all cores).
    pub(crate) fn launch(&mut self, threads: usize) -> Result<Execution, Fault> {
        let launch = Launch {
            grid: self.workload.grid,
            block: self.workload.block,
            kernarg: self.kernarg.clone(),
            threads,
            budget: u64::MAX,
            ..Launch::new(self.workload.kernel)
        };
        self.machine.launch(&self.program, &launch)
    }

    /// The output's words.
    pub(crate) fn output(&self) -> Result<Vec<u32>, Error> {
        let mut bytes = vec![0; 4 * self.workload.output];
        self.machine.read(self.output, &mut bytes)?;
        Ok(bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect())
    }
}
