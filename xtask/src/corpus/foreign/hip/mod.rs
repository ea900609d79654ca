//! Kernels in HIP and OpenCL C, compiled by clang-22 alone, at each level of optimisation.

mod arithmetic;
mod control;
mod lanes;
mod memory;
mod vectors;

use std::path::{Path, PathBuf};
use std::process::Command;

use amdgpu_object::CodeObject;
use anyhow::{Context as _, Result, anyhow, bail};

use super::Source;
use super::case::Case;
use super::session::{Loaded, Origin, Session};

/// Processors that kernels are compiled for: without AGPRs, with them, and with flat scratch set up by hardware.
const CPUS: [&str; 3] = ["gfx900", "gfx90a", "gfx942"];

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
        for cpu in CPUS {
            if !session.options().takes_cpu(cpu) {
                continue;
            }
            for level in levels {
                let file = compile(&source, cpu, level)?;
                let object = CodeObject::parse(std::fs::read(&file)?)
                    .map_err(|error| anyhow!("{}: {error}", file.display()))?;
                let origin = Origin { source: Source::Hip, file: &file, target: cpu, variant: level };
                let loaded = Loaded::new(&object, session.options())?;
                cases.iter().try_for_each(|case| session.run(origin, &loaded, &case.name, case))?;
            }
        }
    }
    Ok(())
}

/// Compiles to a code object beside the source.
fn compile(source: &Path, cpu: &str, level: &str) -> Result<PathBuf> {
    let object = source.with_extension(format!("{cpu}{level}.elf"));
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
    let output = command.arg(source).output().context("running clang-22")?;
    if !output.status.success() {
        bail!("clang-22, {} {cpu} {level}: {}", source.display(), String::from_utf8_lossy(&output.stderr));
    }
    Ok(object)
}
