//! MTBUF: typed buffers.

use super::signatures;

// Buffer memory with a format in the instruction.
signatures! {
    tbuffer_load_format_x         [buf_data_w I32, buf_addr I32, srsrc B128, soffset I32] [LOAD];
    tbuffer_load_format_xy        [buf_data_w I64, buf_addr I32, srsrc B128, soffset I32] [LOAD];
    tbuffer_load_format_xyz       [buf_data_w B96, buf_addr I32, srsrc B128, soffset I32] [LOAD];
    tbuffer_load_format_xyzw      [buf_data_w B128, buf_addr I32, srsrc B128, soffset I32] [LOAD];
    tbuffer_store_format_x        [buf_data_r I32, buf_addr I32, srsrc B128, soffset I32] [STORE];
    tbuffer_store_format_xy       [buf_data_r I64, buf_addr I32, srsrc B128, soffset I32] [STORE];
    tbuffer_store_format_xyz      [buf_data_r B96, buf_addr I32, srsrc B128, soffset I32] [STORE];
    tbuffer_store_format_xyzw     [buf_data_r B128, buf_addr I32, srsrc B128, soffset I32] [STORE];
    tbuffer_load_format_d16_x     [buf_data_rw I32, buf_addr I32, srsrc B128, soffset I32] [LOAD HALF];
    tbuffer_load_format_d16_xy    [buf_data_w I32, buf_addr I32, srsrc B128, soffset I32] [LOAD];
    tbuffer_load_format_d16_xyz   [buf_data_rw I64, buf_addr I32, srsrc B128, soffset I32] [LOAD HALF];
    tbuffer_load_format_d16_xyzw  [buf_data_w I64, buf_addr I32, srsrc B128, soffset I32] [LOAD];
    tbuffer_store_format_d16_x    [buf_data_r I32, buf_addr I32, srsrc B128, soffset I32] [STORE];
    tbuffer_store_format_d16_xy   [buf_data_r I32, buf_addr I32, srsrc B128, soffset I32] [STORE];
    tbuffer_store_format_d16_xyz  [buf_data_r I64, buf_addr I32, srsrc B128, soffset I32] [STORE];
    tbuffer_store_format_d16_xyzw [buf_data_r I64, buf_addr I32, srsrc B128, soffset I32] [STORE];
}
