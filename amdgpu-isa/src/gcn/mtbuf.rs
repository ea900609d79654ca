//! MTBUF: typed buffers (Vega ISA, section 12.16).

use crate::encoding::table::rows;

rows! {
    /// Buffer memory with a format in the instruction.
    MTBUF of mtbuf;
    0   tbuffer_load_format_x         ALL [];
    1   tbuffer_load_format_xy        ALL [];
    2   tbuffer_load_format_xyz       ALL [];
    3   tbuffer_load_format_xyzw      ALL [];
    4   tbuffer_store_format_x        ALL [];
    5   tbuffer_store_format_xy       ALL [];
    6   tbuffer_store_format_xyz      ALL [];
    7   tbuffer_store_format_xyzw     ALL [];
    8   tbuffer_load_format_d16_x     ALL [];
    9   tbuffer_load_format_d16_xy    ALL [];
    10  tbuffer_load_format_d16_xyz   ALL [];
    11  tbuffer_load_format_d16_xyzw  ALL [];
    12  tbuffer_store_format_d16_x    ALL [];
    13  tbuffer_store_format_d16_xy   ALL [];
    14  tbuffer_store_format_d16_xyz  ALL [];
    15  tbuffer_store_format_d16_xyzw ALL [];
}
