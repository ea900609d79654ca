//! SOPK: a scalar register and an immediate.

use crate::signature::signatures;
pub(crate) use crate::signature::sopk::*;

signatures! {
    s_version              [version I32] [];
    s_subvector_loop_begin [sdst I32, target I32] [EXEC_R EXEC_W];
    s_subvector_loop_end   [sdst_rw I32, target I32] [EXEC_R EXEC_W];
    s_waitcnt_vscnt        [sdst_r I32, imm_hex I32] [];
    s_waitcnt_vmcnt        [sdst_r I32, imm_hex I32] [];
    s_waitcnt_expcnt       [sdst_r I32, imm_hex I32] [];
    s_waitcnt_lgkmcnt      [sdst_r I32, imm_hex I32] [];
}
