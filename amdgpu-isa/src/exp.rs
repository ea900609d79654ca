//! EXP: exports of pixels, positions and parameters (Vega ISA, section 12.17), gone from gfx90a on.

use super::table::rows;

rows! {
    /// Exports: one opcode.
    EXP;
    0 exp [exp_target I32, exp0 I32, exp1 I32, exp2 I32, exp3 I32] BEFORE_90A [SIDE_EFFECT];
}
