//! VINTERP: interpolation of attributes (RDNA 4 ISA, chapter "Instructions").

use crate::encoding::table::rows;

rows! {
    /// Interpolation.
    VINTERP of rdna3::vinterp;
    0   v_interp_p10_f32         ALL [];
    1   v_interp_p2_f32          ALL [];
    2   v_interp_p10_f16_f32     ALL [];
    3   v_interp_p2_f16_f32      ALL [];
    4   v_interp_p10_rtz_f16_f32 ALL [];
    5   v_interp_p2_rtz_f16_f32  ALL [];
}
