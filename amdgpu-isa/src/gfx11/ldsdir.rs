//! LDSDIR: loads of attributes and of LDS (RDNA 3 ISA, chapter "Instructions").

use crate::encoding::table::rows;

rows! {
    /// Loads of attributes and of LDS.
    LDSDIR of rdna3::ldsdir;
    0   lds_param_load  ALL [];
    1   lds_direct_load ALL [];
}
