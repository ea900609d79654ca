//! EXP: exports of pixels, positions and parameters (Vega ISA, section 12.17), gone from gfx90a on.

use crate::encoding::table::rows;

rows! {
    /// Exports: one opcode.
    EXP of exp;
    0   exp BEFORE_90A [];
}
