//! SOPP: program control.

use crate::signature::signatures;
pub(crate) use crate::signature::sopp::*;

signatures! {
    s_set_inst_prefetch_distance [imm_hex I32] [SIDE_EFFECT];
    s_clause                     [imm_hex I32] [];
    s_waitcnt_depctr             [depctr I32] [];
    s_wait_idle                  [] [];
    s_round_mode                 [imm_hex I32] [MODE_W];
    s_denorm_mode                [imm I32] [MODE_W];
    s_code_end                   [] [];
    s_ttracedata_imm             [imm_hex I32] [SIDE_EFFECT];
}
