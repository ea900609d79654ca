//! DS: local and global data share.

pub(crate) use crate::signature::ds::*;
use crate::signature::signatures;

signatures! {
    ds_cmpstore_b32      [vaddr I32, data0 I32, data1 I32] [ATOMIC COMPARES_LAST] atomic cmp_swap_b32;
    ds_cmpstore_f32      [vaddr I32, data0 I32, data1 I32] [ATOMIC COMPARES_LAST] atomic cmp_swap_f32;
    ds_cmpstore_rtn_b32  [mem_dst I32, vaddr I32, data0 I32, data1 I32] [ATOMIC RETURNS COMPARES_LAST] atomic cmp_swap_b32;
    ds_cmpstore_rtn_f32  [mem_dst I32, vaddr I32, data0 I32, data1 I32] [ATOMIC RETURNS COMPARES_LAST] atomic cmp_swap_f32;
    ds_cmpstore_b64      [vaddr I32, data0 I64, data1 I64] [ATOMIC COMPARES_LAST] atomic cmp_swap_b64;
    ds_cmpstore_f64      [vaddr I32, data0 I64, data1 I64] [ATOMIC COMPARES_LAST] atomic cmp_swap_f64;
    ds_cmpstore_rtn_b64  [mem_dst I64, vaddr I32, data0 I64, data1 I64] [ATOMIC RETURNS COMPARES_LAST] atomic cmp_swap_b64;
    ds_cmpstore_rtn_f64  [mem_dst I64, vaddr I32, data0 I64, data1 I64] [ATOMIC RETURNS COMPARES_LAST] atomic cmp_swap_f64;
    ds_add_gs_reg_rtn    [mem_dst I64, data0 I32] [ATOMIC RETURNS GDS_ONLY];
    ds_sub_gs_reg_rtn    [mem_dst I64, data0 I32] [ATOMIC RETURNS GDS_ONLY];
    ds_bvh_stack_rtn_b32 [mem_dst I32, vaddr_rw I32, data0 I32, data1 B128] [ATOMIC RETURNS NO_GDS];
}
