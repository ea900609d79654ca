//! MTBUF: typed buffers.

use super::signatures;

// Buffer memory with a format in the instruction.
signatures! {
    tbuffer_load_format_x         [buf_data_w I32, buf_addr I32, srsrc B128, soffset I32] [LOAD] load_format x;
    tbuffer_load_format_xy        [buf_data_w I64, buf_addr I32, srsrc B128, soffset I32] [LOAD] load_format xy;
    tbuffer_load_format_xyz       [buf_data_w B96, buf_addr I32, srsrc B128, soffset I32] [LOAD] load_format xyz;
    tbuffer_load_format_xyzw      [buf_data_w B128, buf_addr I32, srsrc B128, soffset I32] [LOAD] load_format xyzw;
    tbuffer_store_format_x        [buf_data_r I32, buf_addr I32, srsrc B128, soffset I32] [STORE] store_format x;
    tbuffer_store_format_xy       [buf_data_r I64, buf_addr I32, srsrc B128, soffset I32] [STORE] store_format xy;
    tbuffer_store_format_xyz      [buf_data_r B96, buf_addr I32, srsrc B128, soffset I32] [STORE] store_format xyz;
    tbuffer_store_format_xyzw     [buf_data_r B128, buf_addr I32, srsrc B128, soffset I32] [STORE] store_format xyzw;
    tbuffer_load_format_d16_x     [buf_data_rw I32, buf_addr I32, srsrc B128, soffset I32] [LOAD HALF] load_format d16_x;
    tbuffer_load_format_d16_xy    [buf_data_w Halves2, buf_addr I32, srsrc B128, soffset I32] [LOAD] load_format d16_xy;
    tbuffer_load_format_d16_xyz   [buf_data_rw Halves3, buf_addr I32, srsrc B128, soffset I32] [LOAD HALF] load_format d16_xyz;
    tbuffer_load_format_d16_xyzw  [buf_data_w Halves4, buf_addr I32, srsrc B128, soffset I32] [LOAD] load_format d16_xyzw;
    tbuffer_store_format_d16_x    [buf_data_r I32, buf_addr I32, srsrc B128, soffset I32] [STORE] store_format d16_x;
    tbuffer_store_format_d16_xy   [buf_data_r Halves2, buf_addr I32, srsrc B128, soffset I32] [STORE] store_format d16_xy;
    tbuffer_store_format_d16_xyz  [buf_data_r Halves3, buf_addr I32, srsrc B128, soffset I32] [STORE] store_format d16_xyz;
    tbuffer_store_format_d16_xyzw [buf_data_r Halves4, buf_addr I32, srsrc B128, soffset I32] [STORE] store_format d16_xyzw;
}
