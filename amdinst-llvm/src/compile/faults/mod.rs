//! Faults of LLVM that make wrong code of kernels, and the switches that keep them away.
//!
//! Fixes are backported, so versions do not tell which LLVM has a fault: it is tried. Each fault has
//! functions that come out wrong, and a look at what became of them. A switch is tried in the same way before
//! it is used. What one level, processor or size of waves gives says nothing of another one: a link tries its
//! own.

mod dots;
mod halves;
mod slsr;
mod spills;
mod swaps;

use std::ffi::OsStr;
use std::io::Write as _;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use amdgpu_isa::Arch;

use crate::error::LinkError;
use crate::toolchain::LlvmTools;

/// A fault of LLVM.
#[derive(Debug)]
pub struct Fault {
    /// What LLVM does wrong, which pass does it, and where LLVM's developers tell of it. Stands behind
    /// "LLVM".
    pub what: &'static str,
    /// A processor for whose code the pass is wrong.
    pub processor: Arch,
    /// The opt-levels at which the pass is wrong.
    pub levels: RangeInclusive<u8>,
    /// An opt-level at which nothing is wrong.
    pub safe_level: u8,
    /// Functions in LLVM IR that come out wrong.
    reproducer: &'static str,
    /// Whether their assembly is right.
    is_right: fn(&str) -> bool,
    /// Options of `llc` and `opt` that keep the fault away, the one that changes least first.
    switches: &'static [&'static str],
    /// Switches without which programs lose something: starts of the names of intrinsics that have no
    /// instruction then.
    gives_up: &'static [(&'static str, &'static [&'static str])],
}

/// What an LLVM does with the functions of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Right code.
    Sound,
    /// Wrong code, and right code with this option of `llc` and `opt`.
    KeptOff(&'static str),
    /// Wrong code whatever is tried.
    Wrong,
}

impl Fault {
    /// The faults that are known.
    pub const ALL: [&Self; 5] = [&slsr::FAULT, &spills::FAULT, &halves::FAULT, &swaps::FAULT, &dots::FAULT];

    /// Tries the LLVM of `tools`, for the processor that its options name, at `opt_level`. Takes one or two
    /// runs of `llc`, 15 ms each. No switch is chosen that `program`, LLVM IR, cannot be compiled with.
    ///
    /// # Errors
    /// `llc` cannot be started, or does not take the functions.
    pub fn verdict(
        &self,
        tools: &LlvmTools,
        processor: &[String],
        opt_level: u8,
        program: &str,
    ) -> Result<Verdict, LinkError> {
        if (self.is_right)(&self.compile(tools, processor, opt_level, None)?) {
            return Ok(Verdict::Sound);
        }
        let mends = |switch: &&str| {
            // A later LLVM may have no such switch.
            self.compile(tools, processor, opt_level, Some(switch)).is_ok_and(|text| (self.is_right)(&text))
        };
        let mut usable = self.switches.iter().copied().filter(|switch| self.leaves(switch, program));
        Ok(usable.find(mends).map_or(Verdict::Wrong, Verdict::KeptOff))
    }

    /// Whether all that `program`, LLVM IR, calls has its instruction with this switch.
    pub fn leaves(&self, switch: &str, program: &str) -> bool {
        let given_up = self.gives_up.iter().filter(|(of, _)| *of == switch).flat_map(|(_, names)| *names);
        !given_up.into_iter().any(|name| program.contains(name))
    }

    fn compile(
        &self,
        tools: &LlvmTools,
        processor: &[String],
        opt_level: u8,
        switch: Option<&str>,
    ) -> Result<String, LinkError> {
        assembly(tools, processor, opt_level, switch.as_slice(), self.reproducer)
    }
}

/// What `llc` makes of a small program, LLVM IR.
///
/// # Errors
/// It cannot be started, or refuses.
pub(crate) fn assembly(
    tools: &LlvmTools,
    processor: &[String],
    opt_level: u8,
    switches: &[impl AsRef<OsStr>],
    program: &str,
) -> Result<String, LinkError> {
    let tool: PathBuf = tools.path("llc");
    let failed = |source| LinkError::Start { tool: tool.clone(), source };
    let mut child = Command::new(&tool)
        .arg(format!("-O{opt_level}"))
        .args(processor)
        .args(switches)
        .args(["-", "-o", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    // It reads all before it writes. An llc that ends without reading it says why.
    let written = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(program.as_bytes()));
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
pub(crate) mod tests {
    use amdgpu_isa::{Generation, Op, Opcode, WaveSize};

    use super::*;
    use crate::toolchain::{Places, discover};

    /// The LLVM of the kernel toolchain here.
    pub(crate) fn tools() -> Option<LlvmTools> {
        let found = discover(&Places::from_environment(None)).found;
        if found.is_none() {
            let required = std::env::var_os("AMDINST_REQUIRE_TOOLS").is_some_and(|value| value == "1");
            assert!(!required, "there is no kernel toolchain");
            eprintln!("SKIPPED: faults: there is no kernel toolchain (cargo amdinst setup)");
        }
        Some(found?.llvm)
    }

    /// LLVM's options for processors that kernels are built for, with waves of each size: the first and the
    /// last of each generation, or all if `AMDINST_HAZARD_TARGETS` says so.
    pub(crate) fn processors() -> Vec<(Arch, Vec<String>)> {
        let all = std::env::var_os("AMDINST_HAZARD_TARGETS").is_some_and(|value| value == "all");
        let of_its_generation = |arch: &Arch| {
            let mut others = Arch::BUILT.iter().filter(|other| other.generation() == arch.generation());
            others.clone().next() == Some(arch) || others.next_back() == Some(arch)
        };
        let sizes = |arch: Arch| arch.generation().wave_sizes().iter().map(move |wave| (arch, wave));
        let options = |(arch, wave): (Arch, &WaveSize)| {
            let feature = (*wave != arch.default_wave()).then(|| format!("-mattr=+{}", wave.llvm_feature()));
            (arch, std::iter::once(format!("-mcpu={arch}")).chain(feature).collect())
        };
        let built = Arch::BUILT.into_iter().filter(|arch| all || of_its_generation(arch));
        built.flat_map(sizes).map(options).collect()
    }

    pub(crate) fn gfx90a() -> [String; 1] {
        [format!("-mcpu={}", Arch::Gfx90a)]
    }

    /// Whether code for a processor comes out wrong: products of bytes where there is an instruction for
    /// their sum, 16-bit values where registers have halves, anything else everywhere.
    fn affects(fault: &Fault, arch: Arch) -> bool {
        let has_dots = || Opcode::of_op(arch, Op::v_dot4_u32_u8).next().is_some();
        match fault.switches[0] {
            "-mattr=-dot7-insts" => has_dots(),
            "-mattr=-real-true16" => arch.generation() == Generation::Gfx11,
            _ => true,
        }
    }

    /// At its levels, and at no other, each fault is there in the versions that were looked at, and its first
    /// switch mends it for each of these processors. The error of a link sends to a level where nothing is
    /// wrong.
    #[test]
    fn what_this_llvm_does_is_found_and_mended() {
        let Some(tools) = tools() else { return };
        for fault in Fault::ALL {
            for (arch, processor) in processors() {
                for level in 0..=3 {
                    let at = format!("{processor:?} at {level}: LLVM {}", fault.what);
                    let verdict = fault.verdict(&tools, &processor, level, "").unwrap();
                    assert_ne!(verdict, Verdict::Wrong, "{at}");
                    if level == fault.safe_level {
                        assert_eq!(verdict, Verdict::Sound, "{at}");
                    }
                    if matches!(&tools.version[..], "22.1.2" | "22.1.8") {
                        let expected = match fault.levels.contains(&level) && affects(fault, arch) {
                            true => Verdict::KeptOff(fault.switches[0]),
                            false => Verdict::Sound,
                        };
                        assert_eq!(verdict, expected, "{at}");
                    }
                }
            }
        }
    }

    /// Every switch mends an LLVM that has the fault, so that one is left where a later LLVM drops another.
    #[test]
    fn each_switch_keeps_its_fault_off() {
        let Some(tools) = tools() else { return };
        for fault in Fault::ALL {
            for switch in fault.switches {
                let processor = [format!("-mcpu={}", fault.processor)];
                let text = fault.compile(&tools, &processor, *fault.levels.end(), Some(switch)).unwrap();
                assert!((fault.is_right)(&text), "{switch}: {text}");
            }
        }
    }

    /// `opt` gets the switches, too.
    #[test]
    fn opt_takes_each_switch() {
        let Some(tools) = tools() else { return };
        let directory = tempfile::tempdir().unwrap();
        let input = directory.path().join("input.ll");
        for fault in Fault::ALL {
            std::fs::write(&input, fault.reproducer).unwrap();
            for switch in fault.switches {
                let mut command = Command::new(tools.path("opt"));
                let output = command.args(["-disable-output", switch]).arg(&input).output().unwrap();
                assert!(output.status.success(), "{switch}: {}", String::from_utf8_lossy(&output.stderr));
            }
        }
    }

    /// Made of shell scripts: an LLVM that only the last switch mends, one that nothing mends, and one that
    /// fails.
    #[cfg(unix)]
    #[test]
    fn switches_are_believed_when_they_help() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let fault = &slsr::FAULT;
        let with = |script: &str| {
            let llc = directory.path().join("llc");
            std::fs::write(&llc, format!("#!/bin/sh\ncat >/dev/null\n{script}\n")).unwrap();
            std::fs::set_permissions(&llc, std::fs::Permissions::from_mode(0o755)).unwrap();
            let pattern = format!("{}/{{}}", directory.path().display());
            let tools = LlvmTools { pattern, lld: PathBuf::new(), version: "99.0.0".to_owned() };
            fault.verdict(&tools, &gfx90a(), 3, "")
        };
        let right = "\tglobal_load_dword v0\\n\tglobal_load_dword v0\\n";
        assert_eq!(with(&format!("printf '{right}'")).unwrap(), Verdict::Sound);
        let last = fault.switches[2];
        let script = format!(
            "case \"$*\" in *{last}*) printf '{right}';; *opt-disable*) exit 1;; *) printf '\tglobal_load_dword v0\\n';; esac"
        );
        assert_eq!(with(&script).unwrap(), Verdict::KeptOff(last));
        assert_eq!(with("echo '\ts_endpgm'").unwrap(), Verdict::Wrong);
        let error = with("echo no such processor >&2; exit 1").unwrap_err().to_string();
        assert_eq!(error, "llc failed:\nno such processor");
    }
}
