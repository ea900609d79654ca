//! SOP1: one scalar source.

pub(crate) use crate::signature::rdna3::sop1::*;
use crate::signature::signatures;

signatures! {
    s_barrier_signal         [ssrc0_barrier I32] [SIDE_EFFECT BARRIER];
    s_barrier_signal_isfirst [ssrc0_barrier I32] [SCC_W SIDE_EFFECT BARRIER];
    s_get_barrier_state      [sdst I32, ssrc0_barrier I32] [SIDE_EFFECT BARRIER];
    s_barrier_init           [ssrc0_barrier I32] [M0_R SIDE_EFFECT BARRIER];
    s_barrier_join           [ssrc0_barrier I32] [SIDE_EFFECT BARRIER];
    s_alloc_vgpr             [ssrc0 I32] [SCC_W SIDE_EFFECT];
    s_sleep_var              [ssrc0 I32] [SIDE_EFFECT];
}
