//! LLVM's pass `si-lower-sgpr-spills`, which loses the masks of lanes that one round of a loop hands to the
//! next.
//!
//! The pass gives SGPRs that are spilled a lane each of a VGPR. It marks where such a VGPR begins: at a place
//! that dominates every write and read. LLVM 22 takes a place in the loop where the first access is there,
//! although the value of the round before is read behind it. The fast register allocator believes the mark.
//! It neither keeps the VGPR over the back edge nor loads it, and the reads get whatever the register holds.
//! Masks that nothing writes ahead of the loop are such values: LLVM makes them for loops with several exits.
//! A kernel that formatted floats with `core` left a loop too late, with opt-level 0.
//!
//! The optimising allocator spills little, and keeps its VGPRs: with it, opt-level 0 is right, and everything
//! else is as before.
//!
//! `spills.ll` holds such a loop. Its code is right if no SGPR is spilled, or if the VGPR begins ahead of the
//! loop.

use amdgpu_isa::Arch;

use super::Fault;

pub(super) const FAULT: Fault = Fault {
    what: "loses masks of loops (its pass `si-lower-sgpr-spills`, llvm/llvm-project#186348)",
    processor: Arch::Gfx90a,
    levels: 0..=0,
    safe_level: 1,
    reproducer: include_str!("spills.ll"),
    is_right,
    switches: &["--optimize-regalloc"],
    gives_up: &[],
};

/// Whether the loop has no lane of a VGPR, or one of a VGPR that begins ahead of it.
fn is_right(assembly: &str) -> bool {
    let at = |text: &str| assembly.find(text);
    let spills = at("v_readlane_b32").or(at("v_writelane_b32")).is_some();
    match (at("SGPR spill to VGPR lane"), at("\n.LBB")) {
        (Some(begin), Some(round)) => begin < round,
        (_, None) => false,
        (None, Some(_)) => !spills,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::super::tests::{gfx90a, tools};
    use super::*;

    /// With optimisation there is nothing to spill here.
    #[test]
    fn with_optimisation_nothing_is_wrong() {
        let Some(tools) = tools() else { return };
        for level in 1..=3 {
            assert_eq!(FAULT.verdict(&tools, &gfx90a(), level, "").unwrap(), Verdict::Sound, "{level}");
        }
    }

    /// What LLVM 22 writes, what a mended one would, and what nothing is known of.
    #[test]
    fn a_vgpr_begins_ahead_of_the_loop() {
        let begin = "    ; implicit-def: $vgpr6 : SGPR spill to VGPR lane\n";
        let round = "\n.LBB0_1: ; %round\n";
        let read = "\tv_readlane_b32 s8, v6, 0\n";
        let write = "\tv_writelane_b32 v6, s4, 0\n";
        assert!(!is_right(&format!("{round}{begin}{read}{write}")));
        assert!(is_right(&format!("{begin}{round}{read}{write}")));
        assert!(is_right(&format!("{round}\tglobal_load_dword v0\n")));
        assert!(!is_right(&format!("{round}{read}{write}")));
        assert!(!is_right("\ts_endpgm\n"));
    }
}
