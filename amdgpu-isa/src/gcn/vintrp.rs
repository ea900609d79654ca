//! VINTRP: interpolation of pixel parameters (Vega ISA, section 12.12), gone from gfx90a on. The forms of 64
//! bits and those of 16-bit attributes stand in the VOP3 table.

use crate::encoding::table::rows;

rows! {
    /// Interpolation.
    VINTRP of vintrp;
    0   v_interp_p1_f32  BEFORE_90A [];
    1   v_interp_p2_f32  BEFORE_90A [];
    2   v_interp_mov_f32 BEFORE_90A [];
}
