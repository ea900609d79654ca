//! Instructions that are left out on purpose, and the name of what they belong to.

use amdgpu_isa::Op;

/// What an instruction belongs to that this emulator leaves out, as a clause of a message.
pub(crate) fn left_out(op: Op) -> Option<&'static str> {
    let name = op.name();
    Some(match op {
        Op::ds_ordered_count => "the global data share (GDS) is not supported",
        Op::v_mfma_ld_scale_b32 => {
            "without the matrix instruction that it gives scales to, nothing is defined"
        }
        Op::exp => "exports are not supported",
        Op::s_rfe_b64 | Op::s_rfe_restore_b64 => "trap handlers are not supported",
        _ if name.starts_with("image_") => "images are not supported",
        _ if name.starts_with("v_interp_") => "parameter interpolation is not supported",
        _ if name.starts_with("ds_gws_") => "global wave sync (GWS) is not supported",
        _ => return None,
    })
}
