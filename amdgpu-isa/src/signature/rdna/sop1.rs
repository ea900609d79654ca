//! SOP1: one scalar source.

use crate::signature::signatures;
pub(crate) use crate::signature::sop1::*;

signatures! {
    s_and_saveexec_b32   [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_or_saveexec_b32    [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_xor_saveexec_b32   [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_nand_saveexec_b32  [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_nor_saveexec_b32   [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_xnor_saveexec_b32  [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_andn1_saveexec_b32 [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_orn1_saveexec_b32  [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_andn2_saveexec_b32 [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_orn2_saveexec_b32  [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_andn1_wrexec_b32   [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_andn2_wrexec_b32   [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_movrelsd_2_b32     [sdst I32, ssrc0 I32] [M0_R CONDITIONAL INDIRECT];
}
