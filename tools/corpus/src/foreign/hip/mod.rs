//! Kernels in HIP and OpenCL C, compiled by clang-22 alone, at each level of optimisation.

mod arithmetic;
mod control;
mod lanes;
mod memory;
mod vectors;

use std::path::{Path, PathBuf};
use std::process::Command;

use amdgpu_isa::{Arch, Generation, WaveSize};
use amdgpu_object::CodeObject;
use anyhow::{Context as _, Result, anyhow, bail};

use super::Source;
use super::case::Case;
use super::session::{Loaded, Origin, Session};

/// Processors that kernels are compiled for, and lanes of their waves: without AGPRs, with them, with flat
/// scratch set up by hardware; both sizes of waves, and scratch through buffers whose rows have 32 lanes; and
/// those of each later generation.
const CPUS: [(&str, WaveSize); 10] = [
    ("gfx900", WaveSize::Wave64),
    ("gfx90a", WaveSize::Wave64),
    ("gfx942", WaveSize::Wave64),
    ("gfx1030", WaveSize::Wave32),
    ("gfx1030", WaveSize::Wave64),
    ("gfx1100", WaveSize::Wave32),
    ("gfx1100", WaveSize::Wave64),
    ("gfx1151", WaveSize::Wave32),
    ("gfx1201", WaveSize::Wave32),
    ("gfx1201", WaveSize::Wave64),
];

/// What moves values between lanes is written for GFX9.
const OF_GFX9: &str = "lanes.hip";

/// A source file: its name, its text, and launches of its kernels.
type SourceFile = (&'static str, &'static str, fn() -> Vec<Case>);

const FILES: [SourceFile; 5] = [
    ("control.hip", include_str!("kernels/control.hip"), control::cases),
    ("memory.hip", include_str!("kernels/memory.hip"), memory::cases),
    ("arithmetic.hip", include_str!("kernels/arithmetic.hip"), arithmetic::cases),
    ("lanes.hip", include_str!("kernels/lanes.hip"), lanes::cases),
    ("vectors.cl", include_str!("kernels/vectors.cl"), vectors::cases),
];

/// Whether compiler and linker are there; the error says how to get them.
pub(super) fn tools() -> Result<()> {
    for tool in ["clang-22", "ld.lld-22"] {
        let found = Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success());
        if !found {
            bail!("{tool} is not installed (apt-get install clang-22 lld-22)");
        }
    }
    Ok(())
}

/// Launches every kernel, compiled at every level for every processor.
pub(super) fn run(session: &mut Session) -> Result<()> {
    tools()?;
    run_levels(session, &["-O0", "-O1", "-O2", "-O3"])
}

/// Runs the cases at some optimisation levels.
pub(super) fn run_levels(session: &mut Session, levels: &[&str]) -> Result<()> {
    for (name, text, cases) in FILES {
        let source = session.directory().join(name);
        std::fs::write(&source, text)?;
        std::fs::write(session.directory().join("prelude.h"), include_str!("kernels/prelude.h"))?;
        let cases = cases();
        for (cpu, wave) in CPUS {
            let arch = Arch::from_name(cpu).with_context(|| format!("{cpu} is no processor"))?;
            let is_left_out = name == OF_GFX9 && arch.generation() != Generation::Gfx9;
            if !session.options().takes_cpu(cpu) || is_left_out {
                continue;
            }
            let is_wide = wave != arch.default_wave();
            for level in levels {
                let variant =
                    if is_wide { format!("{level} -mwavefrontsize64") } else { (*level).to_owned() };
                let file = compile(&source, cpu, level, is_wide)?;
                let object = CodeObject::parse(std::fs::read(&file)?)
                    .map_err(|error| anyhow!("{}: {error}", file.display()))?;
                let origin = Origin { source: Source::Hip, file: &file, target: cpu, variant: &variant };
                let loaded = Loaded::new(&object, session.options())?;
                cases.iter().try_for_each(|case| session.run(origin, &loaded, &case.name, case))?;
            }
        }
    }
    Ok(())
}

/// Compiles to a code object beside the source.
fn compile(source: &Path, cpu: &str, level: &str, is_wide: bool) -> Result<PathBuf> {
    let wave = if is_wide { "-64" } else { "" };
    let object = source.with_extension(format!("{cpu}{level}{wave}.elf"));
    let mut command = Command::new("clang-22");
    // Without contraction: what is rounded twice on the host is rounded twice on the device.
    command.args(["-nogpulib", "-g", "-ffp-contract=off", "-fuse-ld=lld-22", level, "-o"]).arg(&object);
    if source.extension().is_some_and(|extension| extension == "hip") {
        command.args(["-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc"]);
        command.arg(format!("--offload-arch={cpu}"));
    } else {
        command.args(["-x", "cl", "-cl-std=CL2.0", "--target=amdgcn-amd-amdhsa"]);
        command.args(["-cl-fp32-correctly-rounded-divide-sqrt", "-Xclang", "-finclude-default-header"]);
        command.arg(format!("-mcpu={cpu}"));
    }
    if is_wide {
        command.arg("-mwavefrontsize64");
    }
    let output = command.arg(source).output().context("running clang-22")?;
    if !output.status.success() {
        bail!("clang-22, {} {cpu} {level}: {}", source.display(), String::from_utf8_lossy(&output.stderr));
    }
    Ok(object)
}
