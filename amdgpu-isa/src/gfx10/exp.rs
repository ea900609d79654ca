//! EXP: exports of pixels, positions and parameters (RDNA 2 ISA, chapter "Instructions").

use crate::encoding::table::rows;

rows! {
    /// Exports: one opcode.
    EXP of exp;
    0   exp ALL [];
}
