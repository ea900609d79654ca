//! Instructions whose results the manuals do not fix to the bit: how far the ones here may be from a
//! device's.

use amdgpu_isa::{Arch, AtomicOp, Families, Feature, MemoryAction, Moved, Op};

/// In what way an instruction's result is not the device's to the bit. `None`: it is.
pub(crate) fn bound(arch: Arch, op: Op) -> Option<&'static str> {
    let action = op.memory_use().map(|told| told.action);
    Some(match op {
        Op::v_rcp_f32
        | Op::v_s_rcp_f32
        | Op::v_s_rsq_f32
        | Op::v_s_sqrt_f32
        | Op::v_s_exp_f32
        | Op::v_s_log_f32
        | Op::v_rcp_iflag_f32
        | Op::v_rsq_f32
        | Op::v_sqrt_f32
        | Op::v_exp_f32
        | Op::v_exp_legacy_f32
        | Op::v_log_f32
        | Op::v_log_legacy_f32 => {
            "within 1 ULP on a device; here computed in double precision and rounded once"
        }
        Op::v_sin_f32 | Op::v_cos_f32 => {
            "absolute error below 2^-20 on a device; here computed in double precision and rounded once"
        }
        Op::v_s_rcp_f16 | Op::v_s_rsq_f16 | Op::v_s_sqrt_f16 | Op::v_s_exp_f16 | Op::v_s_log_f16 => {
            "within 1 ULP on a device; here computed in double precision and rounded once"
        }
        Op::v_rcp_f16
        | Op::v_rsq_f16
        | Op::v_sqrt_f16
        | Op::v_exp_f16
        | Op::v_log_f16
        | Op::v_sin_f16
        | Op::v_cos_f16 => "within 0.51 ULP on a device; here computed in double precision and rounded once",
        Op::v_rcp_f64 | Op::v_rsq_f64 | Op::v_sqrt_f64 => {
            "relative error below 2^-28 on a device, as a seed for iterations; here within 1 ULP"
        }
        Op::v_div_scale_f32 | Op::v_div_scale_f64 => {
            "the manual scales a denominator whose reciprocal and quotient are subnormal up to infinity; here down"
        }
        Op::v_div_fmas_f32 | Op::v_div_fmas_f64 => {
            "the manual's power of two does not undo v_div_scale's; here the one that does"
        }
        Op::s_memtime | Op::s_memrealtime => {
            "a clock that moves with the wave's instructions, the same each time"
        }
        Op::s_getreg_b32 => {
            "MODE, STATUS and LDS_ALLOC; exceptions are not recorded in TRAPSTS, HW_ID is the first compute unit"
        }
        Op::s_trap => {
            "there is no trap handler: s_trap 3 does nothing, every other one ends the launch as a fault"
        }
        Op::s_dcache_discard | Op::s_dcache_discard_x2 => "a discarded line keeps what was stored in it",
        Op::ds_read_b64_tr_b4 | Op::ds_read_b96_tr_b6 | Op::ds_read_b64_tr_b8 => {
            "which lanes read which part of the matrix is not published; taken from the 16-bit form's order"
        }
        _ if arch.has(Feature::SramEcc)
            && matches!(action, Some(MemoryAction::Load(Moved { half: Some(_), .. }))) =>
        {
            "the other half of the register is kept; a device that runs with ECC clears it"
        }
        _ if matches!(action, Some(MemoryAction::LoadFormat(_) | MemoryAction::StoreFormat(_))) => {
            "the manuals do not give the conversions' rounding; here to the nearest, ties to even, clamped"
        }
        _ if arch.has(Feature::AtomicAddSubnormals)
            && action == Some(MemoryAction::Atomic { op: AtomicOp::FAdd, bytes: 4 })
            && !op.is_of(Families::DATA_SHARE) =>
        {
            "subnormals are kept, as LLVM has it; the manual's table flushes them"
        }
        _ => {
            return super::mfma::bound(arch, op)
                .or_else(|| super::convert::bound(op))
                .or_else(|| super::dot::bound(arch, op))
                .or_else(|| super::wmma::bound(op));
        }
    })
}
