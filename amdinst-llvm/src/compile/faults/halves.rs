//! Registers' halves on RDNA 3, in which LLVM loses what was loaded.
//!
//! LLVM 22 has 16-bit values of RDNA 3 in halves of registers. Of two that are stored side by side it makes
//! one store of a register. Where one of them was loaded for the whole workgroup, that store does not read
//! its half: the load counts as dead, and `dead-mi-elimination` deletes it. The half that is stored holds
//! whatever the register held. A random program that stored two inputs differed from the host in the second
//! one, from opt-level 2 on.
//!
//! Without the feature `real-true16` a 16-bit value has a register of its own, as it has on processors before
//! RDNA 3.
//!
//! `halves.ll` has two such loads. Its code is right if both are left.

use amdgpu_isa::Arch;

use super::Fault;

pub(super) const FAULT: Fault = Fault {
    what: "loses loads of 16 bits on RDNA 3 (its pass `dead-mi-elimination`)",
    processor: Arch::Gfx1100,
    levels: 2..=3,
    safe_level: 1,
    reproducer: include_str!("halves.ll"),
    is_right,
    switches: &["-mattr=-real-true16"],
    gives_up: &[],
};

/// Loads of 16 bits, as the assembly of one generation or the other has them.
const LOADS: [&str; 5] = ["_load_ushort", "_load_sshort", "_load_short_d16", "_load_u16", "_load_d16_"];

/// Whether both loads are there.
fn is_right(assembly: &str) -> bool {
    assembly.lines().filter(|line| LOADS.iter().any(|load| line.contains(load))).count() >= 2
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::super::tests::{gfx90a, tools};
    use super::*;

    /// Where registers have no halves, nothing is lost.
    #[test]
    fn other_generations_are_right() {
        let Some(tools) = tools() else { return };
        for level in 0..=3 {
            assert_eq!(FAULT.verdict(&tools, &gfx90a(), level, "").unwrap(), Verdict::Sound, "{level}");
        }
    }

    /// What LLVM 22 writes, and what it writes without halves.
    #[test]
    fn both_loads_are_looked_for() {
        let kept = "\tglobal_load_d16_b16 v0, v0, s[2:3]\n";
        let store = "\tglobal_store_b32 v1, v0, s[0:1]\n";
        assert!(!is_right(&format!("{kept}{store}")));
        assert!(is_right(&format!("{kept}\tglobal_load_d16_hi_b16 v0, v2, s[2:3]\n{store}")));
        assert!(is_right("\tglobal_load_u16 v2, v2, s[2:3]\n\tglobal_load_u16 v3, v3, s[2:3]\n"));
        assert!(!is_right("\ts_endpgm\n"));
    }
}
