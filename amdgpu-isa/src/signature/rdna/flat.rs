//! FLAT, GLOBAL and SCRATCH: memory by vector address.

pub(crate) use crate::signature::flat::*;
use crate::signature::signatures;

signatures! {
    flat_atomic_cmpswap_f32   [atomic_dst I32, flat_addr I64, data0 I64] [ATOMIC] atomic cmp_swap_f32;
    flat_atomic_cmpswap_f64   [atomic_dst I64, flat_addr I64, data0 B128] [ATOMIC] atomic cmp_swap_f64;
    flat_atomic_min_f32       [atomic_dst I32, flat_addr I64, data0 I32] [ATOMIC] atomic min_f32;
    flat_atomic_max_f32       [atomic_dst I32, flat_addr I64, data0 I32] [ATOMIC] atomic max_f32;
    flat_atomic_add_f32       [atomic_dst I32, flat_addr I64, data0 I32] [ATOMIC] atomic add_f32;
    global_load_addtid_dword  [mem_dst I32, saddr I64] [LOAD ADDS_LANE] load b32;
    global_store_addtid_dword [data0 I32, saddr I64] [STORE ADDS_LANE] store b32;
    global_atomic_csub        [atomic_dst I32, global_addr I64, data0 I32, saddr I64] [ATOMIC] atomic sub_clamped_b32;
    global_atomic_cmpswap_f32 [atomic_dst I32, global_addr I64, data0 I64, saddr I64] [ATOMIC] atomic cmp_swap_f32;
    global_atomic_cmpswap_f64 [atomic_dst I64, global_addr I64, data0 B128, saddr I64] [ATOMIC] atomic cmp_swap_f64;
    global_atomic_min_f32     [atomic_dst I32, global_addr I64, data0 I32, saddr I64] [ATOMIC] atomic min_f32;
    global_atomic_max_f32     [atomic_dst I32, global_addr I64, data0 I32, saddr I64] [ATOMIC] atomic max_f32;
    global_atomic_add_f32     [atomic_dst I32, global_addr I64, data0 I32, saddr I64] [ATOMIC] atomic add_f32;
}
