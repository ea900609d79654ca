//! VBUFFER: untyped buffers.

pub(crate) use crate::signature::rdna::mubuf::*;
use crate::signature::signatures;

signatures! {
    buffer_atomic_cond_sub_u32 [buf_data_rw I32, buf_addr I32, srsrc B128, soffset I32] [ATOMIC] atomic sub_if_not_less_b32;
}
