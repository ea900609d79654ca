//! SOPP: program control.

pub(crate) use crate::signature::rdna3::sopp::*;
use crate::signature::signatures;

signatures! {
    s_barrier_wait        [imm I32] [SIDE_EFFECT BARRIER];
    s_barrier_leave       [] [SCC_W SIDE_EFFECT BARRIER];
    s_wait_loadcnt        [imm_hex I32] [];
    s_wait_storecnt       [imm_hex I32] [];
    s_wait_samplecnt      [imm_hex I32] [];
    s_wait_bvhcnt         [imm_hex I32] [];
    s_wait_expcnt         [imm_hex I32] [];
    s_wait_dscnt          [imm_hex I32] [];
    s_wait_kmcnt          [imm_hex I32] [];
    s_wait_loadcnt_dscnt  [imm_hex I32] [];
    s_wait_storecnt_dscnt [imm_hex I32] [];
}
