//! `cargo amdinst doctor`: What this machine can do with kernels, and what mends what it cannot.
//!
//! It only looks: nothing is installed, built or launched.

mod gpu;
mod host;
mod kernels;
mod runtime;

use std::fmt::Write as _;
use std::path::Path;

use amdinst_llvm::toolchain::Places;
use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::cli::{DoctorArgs, Format};
use crate::context::Context;
use crate::exit::{CommandResult, Exit};
use crate::output;

/// The version of the JSON, which `schemas/doctor.v1.json` describes.
const SCHEMA: u32 = 1;

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Status {
    /// Well, or not needed here.
    Ok,
    /// Something that not everybody needs is not there, or only half works.
    Warning,
    /// What this machine seems to be for does not work.
    Error,
}

impl Status {
    const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    const fn style(self) -> Style {
        let color = match self {
            Self::Ok => AnsiColor::Green,
            Self::Warning => AnsiColor::Yellow,
            Self::Error => AnsiColor::Red,
        };
        color.on_default().bold()
    }
}

/// What a check is about, which decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Area {
    Toolchain,
    Emulator,
    Gpu,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Check {
    area: Area,
    name: &'static str,
    status: Status,
    /// What was found: one line, or several.
    found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

impl Check {
    fn ok(area: Area, name: &'static str, found: impl Into<String>) -> Self {
        Self { area, name, status: Status::Ok, found: found.into(), help: None }
    }

    fn warning(area: Area, name: &'static str, found: impl Into<String>, help: impl Into<String>) -> Self {
        Self { area, name, status: Status::Warning, found: found.into(), help: Some(help.into()) }
    }

    fn error(area: Area, name: &'static str, found: impl Into<String>, help: impl Into<String>) -> Self {
        Self { area, name, status: Status::Error, found: found.into(), help: Some(help.into()) }
    }
}

#[derive(Serialize)]
struct View<'a> {
    schema: u32,
    checks: &'a [Check],
}

/// Runs the command.
///
/// # Errors
/// Stdout that cannot be written. If kernels or their tests cannot be built it ends with
/// [`Exit::ToolchainMissing`], else with [`Exit::DeviceMissing`] if there is a GPU that cannot be used.
pub fn run(context: &mut Context, args: &DoctorArgs) -> CommandResult {
    let mut checks = vec![host::check()];
    checks.extend(kernels::checks(&Places::from_environment(args.toolchain.toolchain.as_deref())));
    checks.push(emulator());
    let gpus = gpu::checks(Path::new("/"));
    let has_gpu =
        gpus.iter().any(|check| check.name == gpu::DEVICES && check.status == Status::Ok) && gpus.len() > 1;
    checks.extend(gpus);
    checks.extend(runtime::checks(runtime::load(), has_gpu));
    match args.format {
        Format::Human => {
            let styles = context.shell.color_for_data();
            output::print_styled(&human(&checks, styles), styles)?;
        }
        Format::Json => output::print_json(&View { schema: SCHEMA, checks: &checks })?,
    }
    Ok(exit(&checks))
}

fn exit(checks: &[Check]) -> Exit {
    let mut errors = checks.iter().filter(|check| check.status == Status::Error).map(|check| check.area);
    match (errors.clone().any(|area| area == Area::Toolchain), errors.next()) {
        (true, _) => Exit::ToolchainMissing,
        (false, Some(_)) => Exit::DeviceMissing,
        (false, None) => Exit::Success,
    }
}

/// The emulator needs nothing: it says how wide it computes.
fn emulator() -> Check {
    let vectors = amdinst_emu::Vectors::detect();
    let threads = amdinst_text::count(std::thread::available_parallelism().map_or(1, usize::from), "thread");
    let all = amdgpu_isa::Arch::BUILT;
    let (count, first, last) = (all.len(), all[0], all[all.len() - 1]);
    let found =
        format!("runs {count} processors, {first} to {last}, on {threads}, vectors {}", vectors.name());
    if vectors == amdinst_emu::Vectors::Baseline {
        let help = "it works, several times slower than on a processor with AVX2 or AVX-512";
        return Check::warning(Area::Emulator, "emulator", found, help);
    }
    Check::ok(Area::Emulator, "emulator", found)
}

fn human(checks: &[Check], color: bool) -> String {
    let width = checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    let indent = " ".repeat(Status::Warning.word().len() + width + 4);
    let mut text = String::new();
    for Check { name, status, found, help, .. } in checks {
        let (style, word) = (if color { status.style() } else { Style::new() }, status.word());
        let lines = found.replace('\n', &format!("\n{indent}"));
        let _ = writeln!(text, "{style}{word:<7}{style:#}  {name:<width$}  {lines}");
        if let Some(help) = help {
            let _ = writeln!(text, "{indent}help: {}", help.replace('\n', &format!("\n{indent}      ")));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_mends_it_stands_below() {
        let checks = [
            Check::ok(Area::Toolchain, "cargo", "cargo 1.95.0"),
            Check::error(Area::Toolchain, "kernels", "none\ntried x: no", "`install y`"),
        ];
        let expected = "\
ok       cargo    cargo 1.95.0
error    kernels  none
                  tried x: no
                  help: `install y`
";
        assert_eq!(human(&checks, false), expected);
        assert!(human(&checks, true).contains("\u{1b}["));
    }

    #[test]
    fn the_toolchain_matters_most() {
        let ok = Check::ok(Area::Emulator, "a", "");
        let gpu = Check::error(Area::Gpu, "b", "", "");
        let toolchain = Check::error(Area::Toolchain, "c", "", "");
        let warning = Check::warning(Area::Toolchain, "d", "", "");
        assert_eq!(exit(&[ok.clone(), warning.clone()]), Exit::Success);
        assert_eq!(exit(&[ok, warning, gpu.clone()]), Exit::DeviceMissing);
        assert_eq!(exit(&[gpu, toolchain]), Exit::ToolchainMissing);
    }
}
