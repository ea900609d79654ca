//! MUBUF: untyped buffers.

pub(crate) use crate::signature::mubuf::*;
use crate::signature::signatures;

signatures! {
    buffer_gl0_inv            [] [SIDE_EFFECT];
    buffer_gl1_inv            [] [SIDE_EFFECT];
    buffer_atomic_csub        [buf_data_rw I32, buf_addr I32, srsrc B128, soffset I32] [ATOMIC] atomic sub_clamped_b32;
    buffer_atomic_cmpswap_f32 [buf_data_rw I64, buf_addr I32, srsrc B128, soffset I32] [ATOMIC] atomic cmp_swap_f32;
    buffer_atomic_cmpswap_f64 [buf_data_rw B128, buf_addr I32, srsrc B128, soffset I32] [ATOMIC] atomic cmp_swap_f64;
    buffer_atomic_min_f32     [buf_data_rw I32, buf_addr I32, srsrc B128, soffset I32] [ATOMIC] atomic min_f32;
    buffer_atomic_max_f32     [buf_data_rw I32, buf_addr I32, srsrc B128, soffset I32] [ATOMIC] atomic max_f32;
    buffer_atomic_add_f32     [buf_data_rw I32, buf_addr I32, srsrc B128, soffset I32] [ATOMIC] atomic add_f32;
}
