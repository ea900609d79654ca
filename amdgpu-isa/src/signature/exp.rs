//! EXP: exports of pixels, positions and parameters; accelerators have none.

use super::signatures;

// Exports: one opcode.
signatures! {
    exp [exp_target I32, exp0 I32, exp1 I32, exp2 I32, exp3 I32] [SIDE_EFFECT];
}
