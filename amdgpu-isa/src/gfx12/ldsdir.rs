//! VDSDIR: loads of attributes and of LDS (RDNA 4 ISA, chapter "Instructions").

use crate::encoding::table::rows;

rows! {
    /// Loads of attributes and of LDS.
    LDSDIR of rdna4::ldsdir;
    0   lds_param_load "ds_param_load"   ALL [];
    1   lds_direct_load "ds_direct_load" ALL [];
}
