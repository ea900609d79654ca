//! VDS: local data share.

pub(crate) use crate::signature::rdna3::ds::*;
use crate::signature::signatures;

signatures! {
    ds_cond_sub_u32                 [vaddr I32, data0 I32] [ATOMIC] atomic sub_if_not_less_b32;
    ds_sub_clamp_u32                [vaddr I32, data0 I32] [ATOMIC] atomic sub_clamped_b32;
    ds_cond_sub_rtn_u32             [mem_dst I32, vaddr I32, data0 I32] [ATOMIC RETURNS] atomic sub_if_not_less_b32;
    ds_sub_clamp_rtn_u32            [mem_dst I32, vaddr I32, data0 I32] [ATOMIC RETURNS] atomic sub_clamped_b32;
    ds_bpermute_fi_b32              [mem_dst I32, vaddr I32, data0 I32] [MOVES_LANES];
    ds_bvh_stack_push4_pop1_rtn_b32 [mem_dst I32, vaddr_rw I32, data0 I32, data1 B128] [ATOMIC RETURNS NO_GDS];
    ds_bvh_stack_push8_pop1_rtn_b32 [mem_dst I32, vaddr_rw I32, data0 I32, data1 B256] [ATOMIC RETURNS NO_GDS];
    ds_bvh_stack_push8_pop2_rtn_b64 [mem_dst I64, vaddr_rw I32, data0 I32, data1 B256] [ATOMIC RETURNS NO_GDS];
}
