//! SOPP: program control (Vega ISA, section 12.5).

use super::table::rows;

rows! {
    /// Program control.
    SOPP;
    0   s_nop                      [imm I32] ALL [];
    1   s_endpgm                   [imm_optional I32] ALL [];
    2   s_branch                   [target I32] ALL [];
    3   s_wakeup                   [] ALL [SIDE_EFFECT];
    4   s_cbranch_scc0             [target I32] ALL [SCC_R];
    5   s_cbranch_scc1             [target I32] ALL [SCC_R];
    6   s_cbranch_vccz             [target I32] ALL [VCC_R];
    7   s_cbranch_vccnz            [target I32] ALL [VCC_R];
    8   s_cbranch_execz            [target I32] ALL [EXEC_R];
    9   s_cbranch_execnz           [target I32] ALL [EXEC_R];
    10  s_barrier                  [] ALL [SIDE_EFFECT];
    11  s_setkill                  [imm I32] ALL [SIDE_EFFECT];
    12  s_waitcnt                  [waitcnt I32] ALL [];
    13  s_sethalt                  [imm I32] ALL [SIDE_EFFECT];
    14  s_sleep                    [imm I32] ALL [SIDE_EFFECT];
    15  s_setprio                  [imm I32] ALL [SIDE_EFFECT];
    16  s_sendmsg                  [sendmsg I32] ALL [M0_R SIDE_EFFECT];
    17  s_sendmsghalt              [sendmsg I32] ALL [M0_R SIDE_EFFECT];
    18  s_trap                     [imm I32] ALL [SIDE_EFFECT];
    19  s_icache_inv               [] ALL [SIDE_EFFECT];
    20  s_incperflevel             [imm I32] ALL [SIDE_EFFECT];
    21  s_decperflevel             [imm I32] ALL [SIDE_EFFECT];
    22  s_ttracedata               [] ALL [M0_R SIDE_EFFECT];
    23  s_cbranch_cdbgsys          [target I32] ALL [MODE_R];
    24  s_cbranch_cdbguser         [target I32] ALL [MODE_R];
    25  s_cbranch_cdbgsys_or_user  [target I32] ALL [MODE_R];
    26  s_cbranch_cdbgsys_and_user [target I32] ALL [MODE_R];
    27  s_endpgm_saved             [] ALL [];
    28  s_set_gpr_idx_off          [] ALL [MODE_W INDIRECT];
    29  s_set_gpr_idx_mode         [gpr_idx I32] ALL [M0_R M0_W INDIRECT];
    30  s_endpgm_ordered_ps_done   [] ALL [];
}
