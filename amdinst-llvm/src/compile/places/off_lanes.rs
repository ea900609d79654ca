//! `ds_bpermute` of one lane, which `instcombine` makes `v_readlane`
//! ([llvm/llvm-project#130133](https://github.com/llvm/llvm-project/issues/130133)).
//!
//! Of a lane that is off, the one gives 0 and the other what is left in the lane's register. `instcombine`
//! changes the call and leaves what hangs on it. So each call of the program gets a mark before, and a call
//! of `readlane` that has it is one of these.
//!
//! The first lane of a wave is on where a kernel begins, so that reading it there is right.

use super::{Lasting, Suspect};
use crate::ir::functions::Function;

pub(super) const FAULT: Lasting = Lasting {
    what: "reads a lane with `v_readlane` in place of `ds_bpermute`, which does not give 0 if that lane is off",
    instead: "read only lanes that are on, or use `shuffle` of amdinst-device",
    may_have: |program| program.contains(MARK),
    find,
    is_right: |_| true,
};

/// Hangs on the program's own calls.
const MARK: &str = "!amdinst.bpermute ";

/// A program whose calls of `ds_bpermute` have the mark.
pub(crate) fn marked(ir: &str) -> String {
    let mut out = String::with_capacity(ir.len());
    for line in ir.split_inclusive('\n') {
        let is_call = line.contains(" call ") && line.contains("@llvm.amdgcn.ds.bpermute(");
        if is_call {
            out.extend([line.trim_end(), ", ", MARK, "!{}\n"]);
        } else {
            out.push_str(line);
        }
    }
    out
}

fn find<'a>(function: &Function<'a>) -> Vec<Suspect<'a>> {
    let mut found = Vec::new();
    for instruction in &function.instructions {
        if !instruction.attached.contains(&MARK[1..]) || instruction.intrinsic() != Some("amdgcn.readlane") {
            continue;
        }
        let lane = instruction.operands().and_then(|operands| Some(operands.get(1)?.value));
        if !(function.is_kernel && instruction.block == 0 && lane == Some("0")) {
            found.push(Suspect { at: *instruction, trials: Vec::new() });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;
    use super::*;
    use crate::ir::functions::functions;

    #[test]
    fn calls_are_marked() {
        let ir = "  %a = call i32 @llvm.amdgcn.ds.bpermute(i32 %i, i32 %v) #3, !dbg !7\n\
                  declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)\n";
        let expected = "  %a = call i32 @llvm.amdgcn.ds.bpermute(i32 %i, i32 %v) #3, !dbg !7, !amdinst.bpermute !{}\n\
                        declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)\n";
        assert_eq!(marked(ir), expected);
    }

    #[test]
    fn the_first_lane_is_on_where_a_kernel_begins() {
        let of = |kind: &str, lane: &str, mark: &str| {
            let ir = format!(
                "define {kind} @k(i32 %v) {{\n  %r = tail call i32 @llvm.amdgcn.readlane.i32(i32 %v, i32 {lane}) #2, !dbg !7{mark}\n}}\n"
            );
            find(&functions(&ir)[0]).len()
        };
        let mark = ", !amdinst.bpermute !4";
        assert_eq!(of("amdgpu_kernel void", "40", mark), 1);
        assert_eq!(of("void", "0", mark), 1);
        assert_eq!(of("amdgpu_kernel void", "0", mark), 0);
        assert_eq!(of("amdgpu_kernel void", "40", ""), 0);
    }

    /// `instcombine` of LLVM 22 changes the call where the lane is a constant, and leaves the mark.
    #[test]
    fn llvm_22_reads_lanes_that_are_off() {
        let call = |lane: &str| {
            format!(
                "define i32 @f(i32 %v, i32 %i) {{\n  %r = call i32 @llvm.amdgcn.ds.bpermute(i32 {lane}, i32 %v)\n  ret i32 %r\n}}\n\
                 declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)\n"
            )
        };
        for (lane, expected) in [("160", 1), ("%i", 0)] {
            let Some(warnings) = found(&marked(&call(lane)), "gfx90a", 1) else { return };
            assert_eq!(warnings.len(), expected, "{warnings:?}");
        }
        let Some(warnings) = found(&call("160"), "gfx90a", 1) else { return };
        assert!(warnings.is_empty(), "{warnings:?}");
    }
}
