//! SMEM: scalar memory.

pub(crate) use crate::signature::rdna::smem::*;
use crate::signature::signatures;

signatures! {
    s_load_b96             [sdata_w B96, sbase I64, smem_offset I32] [LOAD] load b96;
    s_load_i8              [sdata_w I32, sbase I64, smem_offset I32] [LOAD] load i8;
    s_load_u8              [sdata_w I32, sbase I64, smem_offset I32] [LOAD] load u8;
    s_load_i16             [sdata_w I32, sbase I64, smem_offset I32] [LOAD] load i16;
    s_load_u16             [sdata_w I32, sbase I64, smem_offset I32] [LOAD] load u16;
    s_buffer_load_b96      [sdata_w B96, sbase B128, smem_offset I32] [LOAD] load b96;
    s_buffer_load_i8       [sdata_w I32, sbase B128, smem_offset I32] [LOAD] load i8;
    s_buffer_load_u8       [sdata_w I32, sbase B128, smem_offset I32] [LOAD] load u8;
    s_buffer_load_i16      [sdata_w I32, sbase B128, smem_offset I32] [LOAD] load i16;
    s_buffer_load_u16      [sdata_w I32, sbase B128, smem_offset I32] [LOAD] load u16;
    s_prefetch_inst        [sbase I64, offset I32, soffset_reg I32, sdata_imm I32] [SIDE_EFFECT];
    s_prefetch_inst_pc_rel [offset I32, soffset_reg I32, sdata_imm I32] [SIDE_EFFECT];
    s_prefetch_data        [sbase I64, offset I32, soffset_reg I32, sdata_imm I32] [SIDE_EFFECT];
    s_buffer_prefetch_data [sbase B128, offset I32, soffset_reg I32, sdata_imm I32] [SIDE_EFFECT];
    s_prefetch_data_pc_rel [offset I32, soffset_reg I32, sdata_imm I32] [SIDE_EFFECT];
}
