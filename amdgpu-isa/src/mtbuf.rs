//! MTBUF: typed buffers (Vega ISA, section 12.16).

use super::table::rows;

rows! {
    /// Buffer memory with a format in the instruction.
    MTBUF;
    0   tbuffer_load_format_x         [buf_data_w I32, buf_addr I32, srsrc B128, soffset I32] ALL [LOAD];
    1   tbuffer_load_format_xy        [buf_data_w I64, buf_addr I32, srsrc B128, soffset I32] ALL [LOAD];
    2   tbuffer_load_format_xyz       [buf_data_w B96, buf_addr I32, srsrc B128, soffset I32] ALL [LOAD];
    3   tbuffer_load_format_xyzw      [buf_data_w B128, buf_addr I32, srsrc B128, soffset I32] ALL [LOAD];
    4   tbuffer_store_format_x        [buf_data_r I32, buf_addr I32, srsrc B128, soffset I32] ALL [STORE];
    5   tbuffer_store_format_xy       [buf_data_r I64, buf_addr I32, srsrc B128, soffset I32] ALL [STORE];
    6   tbuffer_store_format_xyz      [buf_data_r B96, buf_addr I32, srsrc B128, soffset I32] ALL [STORE];
    7   tbuffer_store_format_xyzw     [buf_data_r B128, buf_addr I32, srsrc B128, soffset I32] ALL [STORE];
    8   tbuffer_load_format_d16_x     [buf_data_rw I32, buf_addr I32, srsrc B128, soffset I32] ALL [LOAD HALF];
    9   tbuffer_load_format_d16_xy    [buf_data_w I32, buf_addr I32, srsrc B128, soffset I32] ALL [LOAD];
    10  tbuffer_load_format_d16_xyz   [buf_data_rw I64, buf_addr I32, srsrc B128, soffset I32] ALL [LOAD HALF];
    11  tbuffer_load_format_d16_xyzw  [buf_data_w I64, buf_addr I32, srsrc B128, soffset I32] ALL [LOAD];
    12  tbuffer_store_format_d16_x    [buf_data_r I32, buf_addr I32, srsrc B128, soffset I32] ALL [STORE];
    13  tbuffer_store_format_d16_xy   [buf_data_r I32, buf_addr I32, srsrc B128, soffset I32] ALL [STORE];
    14  tbuffer_store_format_d16_xyz  [buf_data_r I64, buf_addr I32, srsrc B128, soffset I32] ALL [STORE];
    15  tbuffer_store_format_d16_xyzw [buf_data_r I64, buf_addr I32, srsrc B128, soffset I32] ALL [STORE];
}
