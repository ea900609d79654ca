//! VINTRP: interpolation of pixel parameters, gone from gfx90a on. The forms of 64 bits and
//! those of 16-bit attributes stand in the VOP3 table.

use super::signatures;

// Interpolation.
signatures! {
    v_interp_p1_f32  [vdst F32, vsrc0 F32, attr I32] [M0_R NO_SRC_MODS];
    v_interp_p2_f32  [vdst_rw F32, vsrc0 F32, attr I32] [M0_R NO_SRC_MODS];
    v_interp_mov_f32 [vdst F32, param I32, attr I32] [M0_R NO_SRC_MODS];
}
