//! SMEM: scalar memory (RDNA 4 ISA, chapter "Instructions").

use crate::encoding::table::rows;

rows! {
    /// Scalar memory.
    SMEM of rdna4::smem;
    0   s_load_dword "s_load_b32"                   ALL [];
    1   s_load_dwordx2 "s_load_b64"                 ALL [];
    2   s_load_dwordx4 "s_load_b128"                ALL [];
    3   s_load_dwordx8 "s_load_b256"                ALL [];
    4   s_load_dwordx16 "s_load_b512"               ALL [];
    5   s_load_b96                                  ALL [];
    8   s_load_i8                                   ALL [];
    9   s_load_u8                                   ALL [];
    10  s_load_i16                                  ALL [];
    11  s_load_u16                                  ALL [];
    16  s_buffer_load_dword "s_buffer_load_b32"     ALL [];
    17  s_buffer_load_dwordx2 "s_buffer_load_b64"   ALL [];
    18  s_buffer_load_dwordx4 "s_buffer_load_b128"  ALL [];
    19  s_buffer_load_dwordx8 "s_buffer_load_b256"  ALL [];
    20  s_buffer_load_dwordx16 "s_buffer_load_b512" ALL [];
    21  s_buffer_load_b96                           ALL [];
    24  s_buffer_load_i8                            ALL [];
    25  s_buffer_load_u8                            ALL [];
    26  s_buffer_load_i16                           ALL [];
    27  s_buffer_load_u16                           ALL [];
    33  s_dcache_inv                                ALL [];
    34  s_atc_probe                                 ALL [];
    35  s_atc_probe_buffer                          ALL [];
    36  s_prefetch_inst                             ALL [];
    37  s_prefetch_inst_pc_rel                      ALL [];
    38  s_prefetch_data                             ALL [];
    39  s_buffer_prefetch_data                      ALL [];
    40  s_prefetch_data_pc_rel                      ALL [];
}
