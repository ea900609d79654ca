//! Triton's kernels: `kernels.py` compiles them ahead of time, for a processor that need not be there.

mod cases;

use std::path::{Path, PathBuf};
use std::process::Command;

use amdgpu_isa::Arch;
use amdgpu_object::CodeObject;
use anyhow::{Context as _, Result, anyhow, bail};

use super::Source;
use super::case::value;
use super::session::{Loaded, Origin, Session};

/// Processors that kernels are compiled for, in waves of the size that each has by default, Triton's warp.
const CPUS: [&str; 4] = ["gfx90a", "gfx942", "gfx1100", "gfx1201"];

/// One kernel that `kernels.py` has compiled.
struct Compiled {
    name: String,
    cpu: String,
    file: PathBuf,
    symbol: String,
    warps: u32,
    lds: u32,
}

/// Compiles and launches every kernel.
pub(super) fn run(session: &mut Session) -> Result<()> {
    let cpus: Vec<&str> = CPUS.into_iter().filter(|cpu| session.options().takes_cpu(cpu)).collect();
    if cpus.is_empty() {
        return Ok(());
    }
    let directory = session.directory().to_owned();
    let compiled = compile(&session.options().python, &directory, &cpus)?;
    for mut case in cases::cases() {
        let mut seen = false;
        // The two kinds of scratch memory that Triton may ask for, and these kernels do not.
        case.args.extend([value(0u64), value(0u64)]);
        for kernel in compiled.iter().filter(|kernel| kernel.name == case.name) {
            seen = true;
            let object = CodeObject::parse(std::fs::read(&kernel.file)?)
                .map_err(|error| anyhow!("{}: {error}", kernel.file.display()))?;
            case.block = [lanes(&kernel.cpu)? * kernel.warps, 1, 1];
            case.lds = kernel.lds;
            let origin =
                Origin { source: Source::Triton, file: &kernel.file, target: &kernel.cpu, variant: "" };
            session.run(origin, &Loaded::new(&object, session.options())?, &kernel.symbol, &case)?;
        }
        if !seen {
            bail!("kernels.py has no kernel `{}`", case.name);
        }
    }
    Ok(())
}

/// Lanes of a wave.
fn lanes(cpu: &str) -> Result<u32> {
    let arch = Arch::from_name(cpu).with_context(|| format!("{cpu} is no processor"))?;
    Ok(arch.default_wave().lanes())
}

/// Runs `kernels.py`.
fn compile(python: &Path, directory: &Path, cpus: &[&str]) -> Result<Vec<Compiled>> {
    let probe = Command::new(python).args(["-c", "import triton"]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        bail!(
            "{} has no Triton; `python3 -m venv DIR && DIR/bin/pip install triton` brings it, `--python DIR/bin/python` \
             names it",
            python.display()
        );
    }
    let processor = |cpu: &&str| Ok(format!("{cpu}:{}", lanes(cpu)?));
    let processors: Vec<String> = cpus.iter().map(processor).collect::<Result<_>>()?;
    let script = directory.join("kernels.py");
    std::fs::write(&script, include_str!("kernels.py"))?;
    let output = Command::new(python)
        .arg(&script)
        .arg(directory)
        .args(processors)
        // Products and sums are fused, or not, only where the language says so.
        .env("TRITON_DEFAULT_FP_FUSION", "1")
        .env("TRITON_CACHE_DIR", directory.join("cache"))
        .output()
        .context("running kernels.py")?;
    if !output.status.success() {
        bail!("kernels.py: {}", String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8_lossy(&output.stdout).lines().map(read).collect()
}

/// One line of what `kernels.py` prints.
fn read(line: &str) -> Result<Compiled> {
    let json: serde_json::Value =
        serde_json::from_str(line).with_context(|| format!("kernels.py: {line}"))?;
    let text = |key: &str| {
        json[key].as_str().map(str::to_owned).ok_or_else(|| anyhow!("kernels.py: no `{key}` in {line}"))
    };
    let number = |key: &str| {
        let number = json[key].as_u64().and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| anyhow!("kernels.py: no `{key}` in {line}"))
    };
    Ok(Compiled {
        name: text("name")?,
        cpu: text("cpu")?,
        file: text("file")?.into(),
        symbol: text("symbol")?,
        warps: number("warps")?,
        lds: number("lds")?,
    })
}
