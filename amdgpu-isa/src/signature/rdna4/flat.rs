//! VFLAT, VGLOBAL and VSCRATCH: memory by vector address.

pub(crate) use crate::signature::rdna::flat::*;
use crate::signature::signatures;

signatures! {
    flat_atomic_csub              [atomic_dst I32, flat_addr I64, data0 I32] [ATOMIC] atomic sub_clamped_b32;
    flat_atomic_cond_sub_u32      [atomic_dst I32, flat_addr I64, data0 I32] [ATOMIC] atomic sub_if_not_less_b32;
    global_atomic_cond_sub_u32    [atomic_dst I32, global_addr I64, data0 I32, saddr I64] [ATOMIC] atomic sub_if_not_less_b32;
    global_atomic_ordered_add_b64 [atomic_dst I64, global_addr I64, data0 I64, saddr I64] [ATOMIC];
    global_load_tr_b128           [mem_dst HalfMatrix, global_addr I64, saddr I64] [LOAD];
    global_load_tr_b64            [mem_dst QuarterMatrix, global_addr I64, saddr I64] [LOAD];
    global_load_block             [mem_dst_rw B1024, global_addr I64, saddr I64] [LOAD M0_R];
    global_store_block            [global_addr I64, data0 B1024, saddr I64] [STORE M0_R];
    global_inv                    [] [SIDE_EFFECT];
    global_wb                     [] [SIDE_EFFECT];
    global_wbinv                  [] [SIDE_EFFECT];
    scratch_load_block            [mem_dst_rw B1024, scratch_addr I32, saddr I32] [LOAD M0_R];
    scratch_store_block           [scratch_addr I32, data0 B1024, saddr I32] [STORE M0_R];
}
