//! Sums of products of bytes, in which LLVM takes other operations for additions.
//!
//! The backend makes one instruction, `v_dot4`, of a chain of additions whose terms are products of bytes.
//! LLVM 22 does not look whether a link of the chain is an addition: of `(a * b ^ 90) + c * d` it makes
//! `a * b + 90 + c * d`. This is so from opt-level 1 on, on every processor that has the instruction. A
//! random program differed from the host in one byte.
//!
//! Without one of the features that the backend asks for it makes no such instruction. The features stand for
//! instructions that programs may ask for by intrinsics. So which of the two is given up depends on the
//! program.
//!
//! `dots.ll` has such a sum. Its code is right if it still flips bits.

use amdgpu_isa::Arch;

use super::Fault;

pub(super) const FAULT: Fault = Fault {
    what: "takes any operation in a sum of products of bytes for an addition (llvm/llvm-project#198412)",
    processor: Arch::Gfx90a,
    levels: 1..=3,
    safe_level: 0,
    reproducer: include_str!("dots.ll"),
    is_right,
    switches: &[UNSIGNED, SIGNED],
    gives_up: &[
        (UNSIGNED, &["llvm.amdgcn.udot4", "llvm.amdgcn.udot8"]),
        (SIGNED, &["llvm.amdgcn.sdot4", "llvm.amdgcn.sdot8", "llvm.amdgcn.sudot4", "llvm.amdgcn.sudot8"]),
    ],
};

/// No products of unsigned bytes and nibbles.
const UNSIGNED: &str = "-mattr=-dot7-insts";
/// No products of signed ones, in the form of GFX9 and GFX10, and in that of GFX11 on.
const SIGNED: &str = "-mattr=-dot1-insts,-dot8-insts";

/// Whether an instruction flips bits, alone or with an addition (`v_xad_u32`).
fn is_right(assembly: &str) -> bool {
    ["_xor_b", "_xad_"].iter().any(|flip| assembly.contains(flip))
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::super::tests::{gfx90a, tools};
    use super::*;

    /// Without optimization sums are made as they stand, and processors without the instruction cannot be
    /// wrong.
    #[test]
    fn without_the_instruction_nothing_is_wrong() {
        let Some(tools) = tools() else { return };
        assert_eq!(FAULT.verdict(&tools, &gfx90a(), 0, "").unwrap(), Verdict::Sound);
        for arch in [Arch::Gfx900, Arch::Gfx1010] {
            for level in 0..=3 {
                let processor = [format!("-mcpu={arch}")];
                let verdict = FAULT.verdict(&tools, &processor, level, "").unwrap();
                assert_eq!(verdict, Verdict::Sound, "{arch} {level}");
            }
        }
    }

    /// A program keeps the instructions that it asks for.
    #[test]
    fn what_a_program_calls_is_left() {
        let Some(tools) = tools() else { return };
        let verdict = |program: &str| FAULT.verdict(&tools, &gfx90a(), 3, program).unwrap();
        if verdict("") == Verdict::Sound {
            return;
        }
        let unsigned = "declare i32 @llvm.amdgcn.udot4(i32, i32, i32, i1)\n";
        let signed = "declare i32 @llvm.amdgcn.sdot8(i32, i32, i32, i1)\n";
        assert_eq!(verdict(signed), Verdict::KeptOff(UNSIGNED));
        assert_eq!(verdict(unsigned), Verdict::KeptOff(SIGNED));
        assert_eq!(verdict(&format!("{unsigned}{signed}")), Verdict::Wrong);
    }

    /// What LLVM 22 writes, what it writes without the feature, and what may be made of that.
    #[test]
    fn flips_are_looked_for() {
        assert!(!is_right("\tv_dot4_u32_u8 v1, v1, v2, s2\n"));
        assert!(is_right("\tv_mul_lo_u32 v1, v1, v1\n\tv_xor_b32_e32 v1, 0x5a, v1\n"));
        assert!(is_right("\ts_mul_i32 s0, s0, s0\n\ts_xor_b32 s0, s0, 0x5a\n"));
        assert!(is_right("\tv_xad_u32 v1, v1, s2, v2\n"));
    }
}
