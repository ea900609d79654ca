//! VINTRP: interpolation of attributes (RDNA 2 ISA, chapter "Instructions").

use crate::encoding::table::rows;

rows! {
    /// Interpolation.
    VINTRP of vintrp;
    0   v_interp_p1_f32  ALL [];
    1   v_interp_p2_f32  ALL [];
    2   v_interp_mov_f32 ALL [];
}
