//! FLAT, GLOBAL and SCRATCH: memory by vector address.

pub(crate) use crate::signature::flat::*;
use crate::signature::signatures;

signatures! {
    flat_atomic_cmpswap_f32   [atomic_dst I32, flat_addr I64, data0 I64] [ATOMIC];
    flat_atomic_cmpswap_f64   [atomic_dst I64, flat_addr I64, data0 B128] [ATOMIC];
    flat_atomic_min_f32       [atomic_dst I32, flat_addr I64, data0 I32] [ATOMIC];
    flat_atomic_max_f32       [atomic_dst I32, flat_addr I64, data0 I32] [ATOMIC];
    flat_atomic_add_f32       [atomic_dst I32, flat_addr I64, data0 I32] [ATOMIC];
    global_load_addtid_dword  [mem_dst I32, saddr I64] [LOAD];
    global_store_addtid_dword [data0 I32, saddr I64] [STORE];
    global_atomic_csub        [atomic_dst I32, global_addr I64, data0 I32, saddr I64] [ATOMIC];
    global_atomic_cmpswap_f32 [atomic_dst I32, global_addr I64, data0 I64, saddr I64] [ATOMIC];
    global_atomic_cmpswap_f64 [atomic_dst I64, global_addr I64, data0 B128, saddr I64] [ATOMIC];
    global_atomic_min_f32     [atomic_dst I32, global_addr I64, data0 I32, saddr I64] [ATOMIC];
    global_atomic_max_f32     [atomic_dst I32, global_addr I64, data0 I32, saddr I64] [ATOMIC];
    global_atomic_add_f32     [atomic_dst I32, global_addr I64, data0 I32, saddr I64] [ATOMIC];
}
