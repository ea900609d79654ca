//! SOPP: program control (RDNA 4 ISA, chapter "Instructions").

use crate::encoding::table::rows;

rows! {
    /// Program control.
    SOPP of rdna4::sopp;
    0   s_nop                         ALL [];
    1   s_setkill                     ALL [];
    2   s_sethalt                     ALL [];
    3   s_sleep                       ALL [];
    5   s_clause                      ALL [];
    7   s_delay_alu                   ALL [];
    8   s_waitcnt_depctr "s_wait_alu" ALL [];
    9   s_waitcnt                     ALL [];
    10  s_wait_idle                   ALL [];
    11  s_wait_event                  ALL [];
    16  s_trap                        ALL [];
    17  s_round_mode                  ALL [];
    18  s_denorm_mode                 ALL [];
    20  s_barrier_wait                ALL [];
    21  s_barrier_leave               ALL [];
    31  s_code_end                    ALL [];
    32  s_branch                      ALL [];
    33  s_cbranch_scc0                ALL [];
    34  s_cbranch_scc1                ALL [];
    35  s_cbranch_vccz                ALL [];
    36  s_cbranch_vccnz               ALL [];
    37  s_cbranch_execz               ALL [];
    38  s_cbranch_execnz              ALL [];
    48  s_endpgm                      ALL [];
    49  s_endpgm_saved                ALL [];
    52  s_wakeup                      ALL [];
    53  s_setprio                     ALL [];
    54  s_sendmsg                     ALL [];
    55  s_sendmsghalt                 ALL [];
    56  s_incperflevel                ALL [];
    57  s_decperflevel                ALL [];
    58  s_ttracedata                  ALL [];
    59  s_ttracedata_imm              ALL [];
    60  s_icache_inv                  ALL [];
    64  s_wait_loadcnt                ALL [];
    65  s_wait_storecnt               ALL [];
    66  s_wait_samplecnt              ALL [];
    67  s_wait_bvhcnt                 ALL [];
    68  s_wait_expcnt                 ALL [];
    70  s_wait_dscnt                  ALL [];
    71  s_wait_kmcnt                  ALL [];
    72  s_wait_loadcnt_dscnt          ALL [];
    73  s_wait_storecnt_dscnt         ALL [];
}
