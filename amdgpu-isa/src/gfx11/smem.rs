//! SMEM: scalar memory (RDNA 3 ISA, chapter "Instructions").

use crate::encoding::table::rows;

rows! {
    /// Scalar memory.
    SMEM of rdna::smem;
    0   s_load_dword "s_load_b32"                   ALL [];
    1   s_load_dwordx2 "s_load_b64"                 ALL [];
    2   s_load_dwordx4 "s_load_b128"                ALL [];
    3   s_load_dwordx8 "s_load_b256"                ALL [];
    4   s_load_dwordx16 "s_load_b512"               ALL [];
    8   s_buffer_load_dword "s_buffer_load_b32"     ALL [];
    9   s_buffer_load_dwordx2 "s_buffer_load_b64"   ALL [];
    10  s_buffer_load_dwordx4 "s_buffer_load_b128"  ALL [];
    11  s_buffer_load_dwordx8 "s_buffer_load_b256"  ALL [];
    12  s_buffer_load_dwordx16 "s_buffer_load_b512" ALL [];
    32  s_gl1_inv                                   ALL [];
    33  s_dcache_inv                                ALL [];
    34  s_atc_probe                                 ALL [];
    35  s_atc_probe_buffer                          ALL [];
}
