//! FLAT, GLOBAL and SCRATCH: memory by vector address (RDNA 3 ISA, chapter "Instructions").

use crate::encoding::table::rows;

rows! {
    /// Address decides between global, scratch and LDS.
    FLAT of rdna::flat;
    16  flat_load_ubyte "flat_load_u8"                   ALL [];
    17  flat_load_sbyte "flat_load_i8"                   ALL [];
    18  flat_load_ushort "flat_load_u16"                 ALL [];
    19  flat_load_sshort "flat_load_i16"                 ALL [];
    20  flat_load_dword "flat_load_b32"                  ALL [];
    21  flat_load_dwordx2 "flat_load_b64"                ALL [];
    22  flat_load_dwordx3 "flat_load_b96"                ALL [];
    23  flat_load_dwordx4 "flat_load_b128"               ALL [];
    24  flat_store_byte "flat_store_b8"                  ALL [];
    25  flat_store_short "flat_store_b16"                ALL [];
    26  flat_store_dword "flat_store_b32"                ALL [];
    27  flat_store_dwordx2 "flat_store_b64"              ALL [];
    28  flat_store_dwordx3 "flat_store_b96"              ALL [];
    29  flat_store_dwordx4 "flat_store_b128"             ALL [];
    30  flat_load_ubyte_d16 "flat_load_d16_u8"           ALL [];
    31  flat_load_sbyte_d16 "flat_load_d16_i8"           ALL [];
    32  flat_load_short_d16 "flat_load_d16_b16"          ALL [];
    33  flat_load_ubyte_d16_hi "flat_load_d16_hi_u8"     ALL [];
    34  flat_load_sbyte_d16_hi "flat_load_d16_hi_i8"     ALL [];
    35  flat_load_short_d16_hi "flat_load_d16_hi_b16"    ALL [];
    36  flat_store_byte_d16_hi "flat_store_d16_hi_b8"    ALL [];
    37  flat_store_short_d16_hi "flat_store_d16_hi_b16"  ALL [];
    51  flat_atomic_swap "flat_atomic_swap_b32"          ALL [];
    52  flat_atomic_cmpswap "flat_atomic_cmpswap_b32"    ALL [];
    53  flat_atomic_add "flat_atomic_add_u32"            ALL [];
    54  flat_atomic_sub "flat_atomic_sub_u32"            ALL [];
    56  flat_atomic_smin "flat_atomic_min_i32"           ALL [];
    57  flat_atomic_umin "flat_atomic_min_u32"           ALL [];
    58  flat_atomic_smax "flat_atomic_max_i32"           ALL [];
    59  flat_atomic_umax "flat_atomic_max_u32"           ALL [];
    60  flat_atomic_and "flat_atomic_and_b32"            ALL [];
    61  flat_atomic_or "flat_atomic_or_b32"              ALL [];
    62  flat_atomic_xor "flat_atomic_xor_b32"            ALL [];
    63  flat_atomic_inc "flat_atomic_inc_u32"            ALL [];
    64  flat_atomic_dec "flat_atomic_dec_u32"            ALL [];
    65  flat_atomic_swap_x2 "flat_atomic_swap_b64"       ALL [];
    66  flat_atomic_cmpswap_x2 "flat_atomic_cmpswap_b64" ALL [];
    67  flat_atomic_add_x2 "flat_atomic_add_u64"         ALL [];
    68  flat_atomic_sub_x2 "flat_atomic_sub_u64"         ALL [];
    69  flat_atomic_smin_x2 "flat_atomic_min_i64"        ALL [];
    70  flat_atomic_umin_x2 "flat_atomic_min_u64"        ALL [];
    71  flat_atomic_smax_x2 "flat_atomic_max_i64"        ALL [];
    72  flat_atomic_umax_x2 "flat_atomic_max_u64"        ALL [];
    73  flat_atomic_and_x2 "flat_atomic_and_b64"         ALL [];
    74  flat_atomic_or_x2 "flat_atomic_or_b64"           ALL [];
    75  flat_atomic_xor_x2 "flat_atomic_xor_b64"         ALL [];
    76  flat_atomic_inc_x2 "flat_atomic_inc_u64"         ALL [];
    77  flat_atomic_dec_x2 "flat_atomic_dec_u64"         ALL [];
    80  flat_atomic_cmpswap_f32                          ALL [];
    81  flat_atomic_min_f32                              ALL [];
    82  flat_atomic_max_f32                              ALL [];
    86  flat_atomic_add_f32                              ALL [];
}

rows! {
    /// Global memory.
    GLOBAL of rdna::flat;
    16  global_load_ubyte "global_load_u8"                   ALL [];
    17  global_load_sbyte "global_load_i8"                   ALL [];
    18  global_load_ushort "global_load_u16"                 ALL [];
    19  global_load_sshort "global_load_i16"                 ALL [];
    20  global_load_dword "global_load_b32"                  ALL [];
    21  global_load_dwordx2 "global_load_b64"                ALL [];
    22  global_load_dwordx3 "global_load_b96"                ALL [];
    23  global_load_dwordx4 "global_load_b128"               ALL [];
    24  global_store_byte "global_store_b8"                  ALL [];
    25  global_store_short "global_store_b16"                ALL [];
    26  global_store_dword "global_store_b32"                ALL [];
    27  global_store_dwordx2 "global_store_b64"              ALL [];
    28  global_store_dwordx3 "global_store_b96"              ALL [];
    29  global_store_dwordx4 "global_store_b128"             ALL [];
    30  global_load_ubyte_d16 "global_load_d16_u8"           ALL [];
    31  global_load_sbyte_d16 "global_load_d16_i8"           ALL [];
    32  global_load_short_d16 "global_load_d16_b16"          ALL [];
    33  global_load_ubyte_d16_hi "global_load_d16_hi_u8"     ALL [];
    34  global_load_sbyte_d16_hi "global_load_d16_hi_i8"     ALL [];
    35  global_load_short_d16_hi "global_load_d16_hi_b16"    ALL [];
    36  global_store_byte_d16_hi "global_store_d16_hi_b8"    ALL [];
    37  global_store_short_d16_hi "global_store_d16_hi_b16"  ALL [];
    40  global_load_addtid_dword "global_load_addtid_b32"    ALL [];
    41  global_store_addtid_dword "global_store_addtid_b32"  ALL [];
    51  global_atomic_swap "global_atomic_swap_b32"          ALL [];
    52  global_atomic_cmpswap "global_atomic_cmpswap_b32"    ALL [];
    53  global_atomic_add "global_atomic_add_u32"            ALL [];
    54  global_atomic_sub "global_atomic_sub_u32"            ALL [];
    55  global_atomic_csub "global_atomic_csub_u32"          ALL [];
    56  global_atomic_smin "global_atomic_min_i32"           ALL [];
    57  global_atomic_umin "global_atomic_min_u32"           ALL [];
    58  global_atomic_smax "global_atomic_max_i32"           ALL [];
    59  global_atomic_umax "global_atomic_max_u32"           ALL [];
    60  global_atomic_and "global_atomic_and_b32"            ALL [];
    61  global_atomic_or "global_atomic_or_b32"              ALL [];
    62  global_atomic_xor "global_atomic_xor_b32"            ALL [];
    63  global_atomic_inc "global_atomic_inc_u32"            ALL [];
    64  global_atomic_dec "global_atomic_dec_u32"            ALL [];
    65  global_atomic_swap_x2 "global_atomic_swap_b64"       ALL [];
    66  global_atomic_cmpswap_x2 "global_atomic_cmpswap_b64" ALL [];
    67  global_atomic_add_x2 "global_atomic_add_u64"         ALL [];
    68  global_atomic_sub_x2 "global_atomic_sub_u64"         ALL [];
    69  global_atomic_smin_x2 "global_atomic_min_i64"        ALL [];
    70  global_atomic_umin_x2 "global_atomic_min_u64"        ALL [];
    71  global_atomic_smax_x2 "global_atomic_max_i64"        ALL [];
    72  global_atomic_umax_x2 "global_atomic_max_u64"        ALL [];
    73  global_atomic_and_x2 "global_atomic_and_b64"         ALL [];
    74  global_atomic_or_x2 "global_atomic_or_b64"           ALL [];
    75  global_atomic_xor_x2 "global_atomic_xor_b64"         ALL [];
    76  global_atomic_inc_x2 "global_atomic_inc_u64"         ALL [];
    77  global_atomic_dec_x2 "global_atomic_dec_u64"         ALL [];
    80  global_atomic_cmpswap_f32                            ALL [];
    81  global_atomic_min_f32                                ALL [];
    82  global_atomic_max_f32                                ALL [];
    86  global_atomic_add_f32                                ALL [];
}

rows! {
    /// Private memory.
    SCRATCH of rdna::flat;
    16  scratch_load_ubyte "scratch_load_u8"                  ALL [];
    17  scratch_load_sbyte "scratch_load_i8"                  ALL [];
    18  scratch_load_ushort "scratch_load_u16"                ALL [];
    19  scratch_load_sshort "scratch_load_i16"                ALL [];
    20  scratch_load_dword "scratch_load_b32"                 ALL [];
    21  scratch_load_dwordx2 "scratch_load_b64"               ALL [];
    22  scratch_load_dwordx3 "scratch_load_b96"               ALL [];
    23  scratch_load_dwordx4 "scratch_load_b128"              ALL [];
    24  scratch_store_byte "scratch_store_b8"                 ALL [];
    25  scratch_store_short "scratch_store_b16"               ALL [];
    26  scratch_store_dword "scratch_store_b32"               ALL [];
    27  scratch_store_dwordx2 "scratch_store_b64"             ALL [];
    28  scratch_store_dwordx3 "scratch_store_b96"             ALL [];
    29  scratch_store_dwordx4 "scratch_store_b128"            ALL [];
    30  scratch_load_ubyte_d16 "scratch_load_d16_u8"          ALL [];
    31  scratch_load_sbyte_d16 "scratch_load_d16_i8"          ALL [];
    32  scratch_load_short_d16 "scratch_load_d16_b16"         ALL [];
    33  scratch_load_ubyte_d16_hi "scratch_load_d16_hi_u8"    ALL [];
    34  scratch_load_sbyte_d16_hi "scratch_load_d16_hi_i8"    ALL [];
    35  scratch_load_short_d16_hi "scratch_load_d16_hi_b16"   ALL [];
    36  scratch_store_byte_d16_hi "scratch_store_d16_hi_b8"   ALL [];
    37  scratch_store_short_d16_hi "scratch_store_d16_hi_b16" ALL [];
}
