//! SOPP: program control (Vega ISA, section 12.5).

use crate::encoding::table::rows;

rows! {
    /// Program control.
    SOPP of sopp;
    0   s_nop                      ALL [];
    1   s_endpgm                   ALL [];
    2   s_branch                   ALL [];
    3   s_wakeup                   ALL [];
    4   s_cbranch_scc0             ALL [];
    5   s_cbranch_scc1             ALL [];
    6   s_cbranch_vccz             ALL [];
    7   s_cbranch_vccnz            ALL [];
    8   s_cbranch_execz            ALL [];
    9   s_cbranch_execnz           ALL [];
    10  s_barrier                  ALL [];
    11  s_setkill                  ALL [];
    12  s_waitcnt                  ALL [];
    13  s_sethalt                  ALL [];
    14  s_sleep                    ALL [];
    15  s_setprio                  ALL [];
    16  s_sendmsg                  ALL [];
    17  s_sendmsghalt              ALL [];
    18  s_trap                     ALL [];
    19  s_icache_inv               ALL [];
    20  s_incperflevel             ALL [];
    21  s_decperflevel             ALL [];
    22  s_ttracedata               ALL [];
    23  s_cbranch_cdbgsys          ALL [];
    24  s_cbranch_cdbguser         ALL [];
    25  s_cbranch_cdbgsys_or_user  ALL [];
    26  s_cbranch_cdbgsys_and_user ALL [];
    27  s_endpgm_saved             ALL [];
    28  s_set_gpr_idx_off          ALL [];
    29  s_set_gpr_idx_mode         ALL [];
    30  s_endpgm_ordered_ps_done   SINCE_900 [];
}
