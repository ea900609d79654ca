//! LLVM's pass `slsr` (straight-line strength reduction), which computes wrong addresses.
//!
//! The pass writes one address as another one plus a constant. LLVM 22 takes that constant from indices
//! narrower than a pointer, where the sum may wrap, and so reads the wrong element. The branch-free merges of
//! `core`'s sorts have such indices. A kernel that sorted a small array gave wrong results from opt-level 2
//! on. The pass is part of the AMDGPU backend's pipeline, which `llc` runs; `opt`'s pipelines for this target
//! do not have it.
//!
//! `slsr.ll` holds two kernels that store the distance of two addresses, which depends on a value in memory.
//! Where the pass is wrong, the distance becomes a constant, and no kernel reads that value.

use amdgpu_isa::Arch;

use super::Fault;

/// Right code of each kernel reads memory once and writes it once.
const KERNELS: usize = 2;

/// The pass is turned off by its name; by the count of its candidates; with the passes around it.
pub(super) const FAULT: Fault = Fault {
    what: "computes wrong addresses (its pass `slsr`, llvm/llvm-project#204278)",
    processor: Arch::Gfx90a,
    levels: 2..=3,
    safe_level: 1,
    reproducer: include_str!("slsr.ll"),
    is_right,
    switches: &[
        "--opt-disable=slsr",
        "--debug-counter=slsr-counter=9223372036854775807",
        "--amdgpu-scalar-ir-passes=0",
    ],
    gives_up: &[],
};

/// Whether every kernel of the reproducer still reads the value that its result depends on.
fn is_right(assembly: &str) -> bool {
    let instructions =
        |start: &str| assembly.lines().filter(|line| line.trim_start().starts_with(start)).count();
    instructions("global_load_") + instructions("flat_load_") >= KERNELS
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::super::Verdict;
    use super::super::tests::{gfx90a, tools};
    use super::*;

    /// The pass runs when the backend optimises.
    #[test]
    fn without_optimisation_nothing_is_wrong() {
        let Some(tools) = tools() else { return };
        assert_eq!(FAULT.verdict(&tools, &gfx90a(), 0, "").unwrap(), Verdict::Sound);
    }

    /// `opt`'s pipelines do not run the pass for this target, and would not with the switch.
    #[test]
    fn opt_does_not_run_the_pass() {
        let Some(tools) = tools() else { return };
        let directory = tempfile::tempdir().unwrap();
        let input = directory.path().join("input.ll");
        std::fs::write(&input, FAULT.reproducer).unwrap();
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
        assert_eq!(passes("slsr", Some(FAULT.switches[0])), 0);
    }
}
