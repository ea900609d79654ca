//! LLVM's pass `slsr` (straight-line strength reduction), kept off where it computes wrong addresses.
//!
//! The pass writes one address as another one plus a constant. LLVM 22 takes that constant from indices narrower than a
//! pointer, where the sum may wrap, and so reads the wrong element (llvm/llvm-project#204278). The branch-free merges of
//! `core`'s sorts have such indices. A kernel that sorted a small array gave wrong results from opt-level 2 on. The pass is
//! part of the AMDGPU backend's pipeline, which `llc` runs; `opt`'s pipelines for this target do not have it.
//!
//! Fixes are backported, so versions do not tell which LLVM has the fault: it is tried. `slsr.ll` holds two kernels that store
//! the distance of two addresses, which depends on a value in memory. Where the pass is wrong, the distance becomes a
//! constant, and no kernel reads that value. A switch that turns the pass off is tried in the same way before it is used.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::LinkError;
use crate::toolchain::LlvmTools;

/// Kernels that come out wrong. Right code of each reads memory once and writes it once.
const REPRODUCER: &str = include_str!("slsr.ll");
const KERNELS: usize = 2;

/// How to turn the pass off, the least first: by its name; by the count of its candidates; with the passes around it.
const SWITCHES: [&str; 3] =
    ["--opt-disable=slsr", "--debug-counter=slsr-counter=9223372036854775807", "--amdgpu-scalar-ir-passes=0"];

/// What LLVM does with the reproducer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slsr {
    /// Right code: the pass may run, or does not.
    Sound,
    /// Wrong code, and right code with this option of `llc` and `opt`.
    KeptOff(&'static str),
    /// Wrong code whatever is tried.
    Wrong,
}

impl Slsr {
    /// Tries the LLVM of `tools`, for the processor `cpu` at `opt_level`. Takes one or two runs of `llc`, 15 ms each.
    ///
    /// # Errors
    /// `llc` cannot be started, or does not take the reproducer.
    pub fn of(tools: &LlvmTools, cpu: &str, opt_level: u8) -> Result<Self, LinkError> {
        if is_right(&compile(tools, cpu, opt_level, None)?) {
            return Ok(Self::Sound);
        }
        let mends = |switch: &&str| {
            // A later LLVM may have no such switch.
            compile(tools, cpu, opt_level, Some(switch)).is_ok_and(|text| is_right(&text))
        };
        Ok(SWITCHES.into_iter().find(mends).map_or(Self::Wrong, Self::KeptOff))
    }
}

/// Whether every kernel of the reproducer still reads the value that its result depends on.
fn is_right(assembly: &str) -> bool {
    let instructions =
        |start: &str| assembly.lines().filter(|line| line.trim_start().starts_with(start)).count();
    instructions("global_load_") + instructions("flat_load_") >= KERNELS
}

fn compile(tools: &LlvmTools, cpu: &str, opt_level: u8, switch: Option<&str>) -> Result<String, LinkError> {
    let tool: PathBuf = tools.path("llc");
    let failed = |source| LinkError::Start { tool: tool.clone(), source };
    let mut child = Command::new(&tool)
        .arg(format!("-O{opt_level}"))
        .arg(format!("-mcpu={cpu}"))
        .args(switch)
        .args(["-", "-o", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    // It fits the pipe. An llc that ends without reading it says why.
    let written = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(REPRODUCER.as_bytes()));
    let output = child.wait_with_output().map_err(failed)?;
    match (output.status.success(), written) {
        (true, Ok(())) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        (true, Err(error)) => Err(failed(error)),
        (false, _) => Err(LinkError::Tool {
            tool: "llc",
            output: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::{Places, discover};

    /// The LLVM of the kernel toolchain here.
    fn tools() -> Option<LlvmTools> {
        let found = discover(&Places::from_environment(None)).found;
        if found.is_none() {
            let required = std::env::var_os("AMDINST_REQUIRE_TOOLS").is_some_and(|value| value == "1");
            assert!(!required, "there is no kernel toolchain");
            eprintln!("SKIPPED: slsr: there is no kernel toolchain (cargo amdinst setup)");
        }
        Some(found?.llvm)
    }

    /// The switch is the least one, at whichever level the pass runs. Without optimisation it does not.
    #[test]
    fn what_this_llvm_does_is_found_and_mended() {
        let Some(tools) = tools() else { return };
        assert_eq!(Slsr::of(&tools, "gfx90a", 0).unwrap(), Slsr::Sound);
        for cpu in amdgpu_isa::Arch::ALL.map(amdgpu_isa::Arch::name) {
            let verdict = Slsr::of(&tools, cpu, 3).unwrap();
            assert_ne!(verdict, Slsr::Wrong, "{cpu}");
            // Versions that were looked at.
            if matches!(&tools.version[..], "22.1.2" | "22.1.8") {
                assert_eq!(verdict, Slsr::KeptOff(SWITCHES[0]), "{cpu}");
            }
        }
    }

    /// Every switch mends an LLVM that has the fault, so that one is left where a later LLVM drops another.
    #[test]
    fn each_switch_turns_the_pass_off() {
        let Some(tools) = tools() else { return };
        for switch in SWITCHES {
            let text = compile(&tools, "gfx90a", 3, Some(switch)).unwrap();
            assert!(is_right(&text), "{switch}: {text}");
        }
    }

    /// `opt`'s pipelines do not run the pass for this target, and would not with the switch.
    #[test]
    fn opt_does_not_run_the_pass() {
        let Some(tools) = tools() else { return };
        let directory = tempfile::tempdir().unwrap();
        let input = directory.path().join("input.ll");
        std::fs::write(&input, REPRODUCER).unwrap();
        let passes = |passes: &str, switch: Option<&str>| {
            let mut command = Command::new(tools.path("opt"));
            command.args(["-mcpu=gfx90a", "-debug-pass-manager", "-disable-output"]).args(switch);
            let output = command.arg(format!("-passes={passes}")).arg(&input).output().unwrap();
            let text = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.success(), "{text}");
            text.matches("Running pass: StraightLineStrengthReducePass").count()
        };
        for level in 1..=3 {
            assert_eq!(passes(&format!("default<O{level}>"), None), 0);
        }
        assert_eq!(passes("slsr", None), KERNELS);
        assert_eq!(passes("slsr", Some(SWITCHES[0])), 0);
    }

    /// Made of shell scripts: an LLVM that only the last switch mends, one that nothing mends, and one that fails.
    #[cfg(unix)]
    #[test]
    fn switches_are_believed_when_they_help() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let with = |script: &str| {
            let llc = directory.path().join("llc");
            std::fs::write(&llc, format!("#!/bin/sh\ncat >/dev/null\n{script}\n")).unwrap();
            std::fs::set_permissions(&llc, std::fs::Permissions::from_mode(0o755)).unwrap();
            let pattern = format!("{}/{{}}", directory.path().display());
            let tools = LlvmTools { pattern, lld: PathBuf::new(), version: "99.0.0".to_owned() };
            Slsr::of(&tools, "gfx90a", 3)
        };
        let right = "\tglobal_load_dword v0\\n\tglobal_load_dword v0\\n";
        assert_eq!(with(&format!("printf '{right}'")).unwrap(), Slsr::Sound);
        let last = SWITCHES[2];
        let script = format!(
            "case \"$*\" in *{last}*) printf '{right}';; *opt-disable*) exit 1;; *) printf '\tglobal_load_dword v0\\n';; esac"
        );
        assert_eq!(with(&script).unwrap(), Slsr::KeptOff(last));
        assert_eq!(with("echo '\ts_endpgm'").unwrap(), Slsr::Wrong);
        let error = with("echo no such processor >&2; exit 1").unwrap_err().to_string();
        assert_eq!(error, "llc failed:\nno such processor");
    }
}
