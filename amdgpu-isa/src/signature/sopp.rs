//! SOPP: program control.

use super::signatures;

// Program control.
signatures! {
    s_nop                      [imm I32] [];
    s_endpgm                   [imm_optional I32] [];
    s_branch                   [target I32] [];
    s_wakeup                   [] [SIDE_EFFECT];
    s_cbranch_scc0             [target I32] [SCC_R];
    s_cbranch_scc1             [target I32] [SCC_R];
    s_cbranch_vccz             [target I32] [VCC_R];
    s_cbranch_vccnz            [target I32] [VCC_R];
    s_cbranch_execz            [target I32] [EXEC_R];
    s_cbranch_execnz           [target I32] [EXEC_R];
    s_barrier                  [] [SIDE_EFFECT BARRIER];
    s_setkill                  [imm I32] [SIDE_EFFECT];
    s_waitcnt                  [waitcnt I32] [];
    s_sethalt                  [imm I32] [SIDE_EFFECT];
    s_sleep                    [imm I32] [SIDE_EFFECT];
    s_setprio                  [imm I32] [SIDE_EFFECT];
    s_sendmsg                  [sendmsg I32] [M0_R SIDE_EFFECT];
    s_sendmsghalt              [sendmsg I32] [M0_R SIDE_EFFECT];
    s_trap                     [imm I32] [SIDE_EFFECT];
    s_icache_inv               [] [SIDE_EFFECT];
    s_incperflevel             [imm I32] [SIDE_EFFECT];
    s_decperflevel             [imm I32] [SIDE_EFFECT];
    s_ttracedata               [] [M0_R SIDE_EFFECT];
    s_cbranch_cdbgsys          [target I32] [MODE_R];
    s_cbranch_cdbguser         [target I32] [MODE_R];
    s_cbranch_cdbgsys_or_user  [target I32] [MODE_R];
    s_cbranch_cdbgsys_and_user [target I32] [MODE_R];
    s_endpgm_saved             [] [];
    s_set_gpr_idx_off          [] [MODE_W INDIRECT];
    s_set_gpr_idx_mode         [gpr_idx I32] [M0_R M0_W INDIRECT];
    s_endpgm_ordered_ps_done   [] [];
}
