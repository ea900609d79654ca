//! The 256 bytes that a kernel with preloaded arguments starts with.
//!
//! Hardware that preloads starts a kernel behind them. Firmware that does not know preloading starts it at
//! their first byte, with the SGPRs of the arguments left as they were: there the kernel loads them itself
//! and branches over the rest (LLVM's AMDGPU guide, "Preloaded Kernel Arguments"). The prologue stands behind
//! them and finds the same registers either way, so where the instrumented descriptor fills others, other
//! loads must stand here.
//!
//! If the instrumented descriptor passes another pointer (`lds`, for the dispatch packet), the arguments
//! arrive in other SGPRs. A stub of ours, of the same size, then replaces the kernel's, if that does nothing
//! but those loads. Any other stub is a refusal (`kernarg-preload`).

use amdgpu_isa::{Arch, Op, Value};
use amdgpu_object::{KernelDescriptor, UserSgprs};

use super::assembler::{Assembled, Assembler};
use super::sequence::{EmitError, Sequence};
use crate::analysis::program::Program;

/// Bytes of a stub.
pub(crate) const STUB_BYTES: u64 = 256;

/// Loads by the SGPRs they fill, the widest first. One of four and more fills from a multiple of four.
const LOADS: [(Op, u8); 5] = [
    (Op::s_load_dwordx16, 16),
    (Op::s_load_dwordx8, 8),
    (Op::s_load_dwordx4, 4),
    (Op::s_load_dwordx2, 2),
    (Op::s_load_dword, 1),
];

/// Bytes that a kernel starts with for firmware that does not preload its arguments.
pub(crate) fn stub_bytes(descriptor: &KernelDescriptor, arch: Arch) -> u64 {
    if descriptor.user_sgprs(arch).kernarg_preload.is_some() { STUB_BYTES } else { 0 }
}

/// Whether the stub at `entry` would load into, or from, other registers than the instrumented kernel needs.
pub(crate) fn must_change(original: &KernelDescriptor, instrumented: &KernelDescriptor, arch: Arch) -> bool {
    let registers = |user: UserSgprs| (user.kernarg_segment_ptr, user.kernarg_preload);
    original.user_sgprs(arch).kernarg_preload.is_some()
        && registers(original.user_sgprs(arch)) != registers(instrumented.user_sgprs(arch))
}

/// Makes sure that the stub at `entry` does what [`code`] does for its descriptor, and nothing else. Gives
/// the index of its first instruction.
///
/// # Errors
/// What else it does.
pub(crate) fn understand(
    program: &Program,
    entry: u64,
    descriptor: &KernelDescriptor,
) -> Result<usize, String> {
    let user = descriptor.user_sgprs(program.arch);
    let (Some(kernarg), Some(preload)) = (user.kernarg_segment_ptr, user.kernarg_preload) else {
        return Err("arguments are preloaded without a kernarg segment pointer".to_owned());
    };
    let mut missing: Vec<u8> = (preload.first..preload.first + preload.count).collect();
    let first = program.at(entry).ok_or("it has no code")?;
    for index in first..program.insts.len() {
        let inst = program.inst(index);
        let located = &program.insts[index];
        let other = || Err(format!("`{}` at {:#x}", inst.op.name(), located.pc));
        if let Some(&(_, count)) = LOADS.iter().find(|(op, _)| *op == inst.op) {
            let values: Vec<Value> = inst.operands.iter().map(|operand| operand.value).collect();
            let [Value::Scalar(to), Value::Scalar(base), Value::Imm(offset)] = values[..] else {
                return other();
            };
            let at = |register: u8| {
                i32::from(preload.offset) * 4 + (i32::from(register) - i32::from(preload.first)) * 4
            };
            if base != kernarg || offset != at(to) || inst.mods.soffset_en {
                return other();
            }
            missing.retain(|register| !(to..to + count).contains(register));
            if to < preload.first || to + count > preload.first + preload.count {
                return other();
            }
        } else if inst.op == Op::s_branch {
            let target = inst.operands.first().map(|operand| operand.value);
            let Some(Value::Imm(dwords)) = target else { return other() };
            let to = located.end().wrapping_add_signed(i64::from(dwords) * 4);
            return match missing.first() {
                _ if to != entry + STUB_BYTES => other(),
                Some(register) => Err(format!("s{register} is not loaded")),
                None => Ok(first),
            };
        } else if !matches!(inst.op, Op::s_waitcnt | Op::s_nop) {
            return other();
        }
    }
    Err("it does not end".to_owned())
}

/// A stub for a descriptor that preloads arguments and has a kernarg segment pointer: [`STUB_BYTES`] of it.
pub(crate) fn code(
    assembler: &Assembler,
    descriptor: &KernelDescriptor,
) -> Result<Vec<Assembled>, EmitError> {
    let user = descriptor.user_sgprs(assembler.arch());
    let mut code = Sequence::new(assembler);
    if let (Some(kernarg), Some(preload)) = (user.kernarg_segment_ptr, user.kernarg_preload) {
        let mut done = 0;
        while done < preload.count {
            let to = preload.first + done;
            let fits =
                |&&(_, count): &&(Op, u8)| to.is_multiple_of(count.min(4)) && count <= preload.count - done;
            let (op, count) = *LOADS.iter().find(fits).unwrap_or(&(Op::s_load_dword, 1));
            code.load(op, to, kernarg, (u32::from(preload.offset) + u32::from(done)) * 4);
            done += count;
        }
        code.wait_scalar_loads();
    }
    code.branch_to(STUB_BYTES);
    code.fill(STUB_BYTES);
    code.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::emit::sequence::sgpr;
    use amdgpu_object::UserSgpr;

    /// Wherever the arguments begin, and as many as there may be.
    #[test]
    fn every_argument_is_loaded_once_and_the_stub_has_its_size() {
        let others = [UserSgpr::DispatchPtr, UserSgpr::QueuePtr, UserSgpr::DispatchId];
        let layouts = (0..=others.len())
            .flat_map(|pointers| (1..=14 - 2 * pointers as u16).map(move |count| (pointers, count)));
        for (pointers, count) in layouts {
            let mut descriptor = KernelDescriptor { bytes: [0; 64] };
            for value in others[..pointers].iter().chain(&[UserSgpr::KernargSegmentPtr]) {
                descriptor.set_user_sgpr(Arch::Gfx942, *value, true).unwrap();
            }
            // KERNARG_PRELOAD: length in bits 6:0, offset in 15:7; here from the fourth dword on.
            descriptor.bytes[58..60].copy_from_slice(&(count | 3 << 7).to_le_bytes());
            let user = descriptor.user_sgprs(Arch::Gfx942);
            let insts = code(&Assembler::new(Arch::Gfx942), &descriptor).unwrap();
            assert_eq!(insts.iter().map(|inst| u64::from(inst.size)).sum::<u64>(), STUB_BYTES);
            let mut loaded = Vec::new();
            for inst in &insts {
                let Some((_, dwords)) = LOADS.iter().find(|(op, _)| *op == inst.op) else { continue };
                let [Value::Scalar(to), base, Value::Imm(offset)] = [0, 1, 2].map(|n| inst.operands[n].value)
                else {
                    panic!("{inst:?}");
                };
                assert_eq!(base, sgpr(user.kernarg_segment_ptr.unwrap()));
                loaded.extend((0..*dwords).map(|n| (u16::from(to + n), offset + 4 * i32::from(n))));
            }
            let first = u16::from(user.kernarg_preload.unwrap().first);
            let wanted: Vec<_> = (0..count).map(|n| (first + n, 12 + 4 * i32::from(n))).collect();
            assert_eq!(loaded, wanted, "{pointers} pointers before");
        }
    }
}
