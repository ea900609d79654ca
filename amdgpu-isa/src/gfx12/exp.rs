//! VEXPORT: exports of pixels, positions and primitives (RDNA 4 ISA, chapter "Instructions").

use crate::encoding::table::rows;

rows! {
    /// Exports: one opcode.
    EXP of exp;
    0   exp "export" ALL [];
}
