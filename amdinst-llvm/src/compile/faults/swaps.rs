//! Byte swaps of 64 bits on RDNA 3 without optimisation, of which LLVM keeps half of each register.
//!
//! LLVM 22 has 16-bit values of RDNA 3 in halves of registers. The instruction that swaps the bytes of 32
//! bits, `v_perm_b32`, gets its operand through a copy, which is taken for one of 16 bits:
//! `v_mov_b16_e32 v3.l, v1.l`. The upper half is whatever the register held. Optimisation finds that the copy
//! is none, so this is so at opt-level 0 alone. `u64::swap_bytes` and `to_be_bytes` gave wrong results in
//! cargo's profile `dev`.
//!
//! Without the feature `real-true16` a 16-bit value has a register of its own, as it has on processors before
//! RDNA 3.
//!
//! `swaps.ll` has such a swap. Its code is right if both registers are swapped, and no half of one is moved.

use amdgpu_isa::Arch;

use super::Fault;

pub(super) const FAULT: Fault = Fault {
    what: "loses halves of what is swapped bytewise on RDNA 3 (its instruction selection)",
    processor: Arch::Gfx1100,
    levels: 0..=0,
    safe_level: 1,
    reproducer: include_str!("swaps.ll"),
    is_right,
    switches: &["-mattr=-real-true16"],
    gives_up: &[],
};

/// Whether there are two swaps, and no move of a half.
fn is_right(assembly: &str) -> bool {
    assembly.matches("v_perm_b32").count() == 2 && !assembly.contains("v_mov_b16")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What LLVM 22 writes, and what it writes without halves.
    #[test]
    fn whole_registers_are_swapped() {
        let swaps = "\tv_perm_b32 v3, 0, v3, s2\n\tv_perm_b32 v1, 0, v1, s2\n";
        assert!(!is_right(&format!("\tv_mov_b16_e32 v3.l, v1.l\n{swaps}")));
        assert!(is_right(&format!("\tv_mov_b32_e32 v3, v1\n{swaps}")));
        assert!(!is_right("\ts_endpgm\n"));
    }
}
