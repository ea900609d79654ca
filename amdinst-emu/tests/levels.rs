//! The fast layer gives what the general functions give, at each level of the host's vector extensions.
//!
//! Each instruction form that has a handler of its own runs on random and edge-case inputs, with full and
//! partial EXEC, once by its general function and once at each level that this host has, in every rounding
//! and denormal mode. All state must be equal.

use amdgpu_isa::{Arch, Target, WaveSize};
use amdinst_emu::{Config, Machine, Snippet, Vectors, WaveState};

/// xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A value as it may be met in a register: numbers, floats and their special values.
    fn value(&mut self) -> u32 {
        const EDGES: [u32; 36] = [
            0,
            1,
            2,
            31,
            32,
            63,
            0x7fff_ffff,
            0x8000_0000,
            0x8000_0001,
            0xffff_ffff,
            0xffff_fffe,
            0xff_ffff,
            0x80_0000,
            0x3f80_0000,
            0xbf80_0000,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_1234,
            0xffc0_0001,
            0x7f80_0001,
            0xffa0_0000,
            0x0000_1000,
            0x8000_1000,
            0x7f7f_ffff,
            0x007f_ffff,
            0x8040_0000,
            0x3f00_0001,
            0x7ff0_0000,
            0x000f_ffff,
            0x7ff8_0000,
            0x7fef_ffff,
            0x7c00_0001,
            0xfc00_7bff,
            0x0400_83ff,
            0x3c00_bc01,
            0x8001_0000,
        ];
        let random = self.next();
        match random >> 60 {
            0..=5 => EDGES[(random % EDGES.len() as u64) as usize],
            6..=8 => (random as u32 % 4096) as f32 as u32,
            // Halves near one another, whose sums and products lie between two numbers.
            9 => (random as u32 & 0x0c01_0c03) | 0x3800_3800,
            10..=12 => ((random as u32 as i32) as f32 * 1e-6).to_bits(),
            _ => random as u32,
        }
    }
}

/// All forms, by operand placeholders: `{d}` and `{D}` a result of one and two registers, `{v}` a vector
/// register, `{a}` a vector or scalar register or a constant, `{c}` a vector register or a constant, `{V}` a
/// pair, `{s}` and `{S}` scalar registers, `{k}` either kind of 32-bit scalar source, `{m}` a mask.
const FORMS: &[&str] = &[
    "v_mov_b32 {d}, {a}",
    "v_not_b32 {d}, {a}",
    "v_cvt_f32_i32 {d}, {a}",
    "v_cvt_f32_u32 {d}, {a}",
    "v_accvgpr_write_b32 a1, {v}",
    "v_accvgpr_read_b32 {d}, a1",
    "v_add_u32 {d}, {a}, {v}",
    "v_sub_u32 {d}, {a}, {v}",
    "v_subrev_u32 {d}, {a}, {v}",
    "v_mul_lo_u32 {d}, {a}, {v}",
    "v_mul_lo_u32 {d}, {v}, {s}",
    "v_mul_hi_u32 {d}, {a}, {v}",
    "v_mul_hi_u32 {d}, {v}, {s}",
    "v_mul_u32_u24 {d}, {a}, {v}",
    "v_mul_i32_i24 {d}, {a}, {v}",
    "v_and_b32 {d}, {a}, {v}",
    "v_or_b32 {d}, {a}, {v}",
    "v_xor_b32 {d}, {a}, {v}",
    "v_xnor_b32 {d}, {a}, {v}",
    "v_lshlrev_b32 {d}, {a}, {v}",
    "v_lshrrev_b32 {d}, {a}, {v}",
    "v_ashrrev_i32 {d}, {a}, {v}",
    "v_min_i32 {d}, {a}, {v}",
    "v_max_i32 {d}, {a}, {v}",
    "v_min_u32 {d}, {a}, {v}",
    "v_max_u32 {d}, {a}, {v}",
    "v_add_f32 {d}, {a}, {v}",
    "v_add_f32_e64 {d}, {v}, {s}",
    "v_sub_f32 {d}, {a}, {v}",
    "v_subrev_f32 {d}, {a}, {v}",
    "v_mul_f32 {d}, {a}, {v}",
    "v_min_f32 {d}, {a}, {v}",
    "v_max_f32 {d}, {a}, {v}",
    "v_max_f32_e64 {d}, {v}, {s}",
    "v_fma_f32 {d}, {a}, {v}, {v}",
    "v_fma_f32 {d}, {v}, {v}, {a}",
    "v_fma_f32 {d}, {v}, {s}, 1.0",
    "v_fma_f32 {d}, 2.0, {s}, {v}",
    "v_fma_f32 {d}, 0.5, {v}, -1.0",
    "v_fma_f32 {d}, 0.5, {s}, -1.0",
    "v_fmac_f32 {d}, {a}, {v}",
    "v_mad_u32_u24 {d}, {a}, {v}, {v}",
    "v_mad_i32_i24 {d}, {v}, {a}, {v}",
    "v_bfe_u32 {d}, {v}, {a}, {v}",
    "v_bfe_u32 {d}, {v}, 4, 31",
    "v_bfe_u32 {d}, {s}, 8, {v}",
    "v_bfi_b32 {d}, {a}, {v}, {v}",
    "v_alignbit_b32 {d}, {v}, {v}, {a}",
    "v_xad_u32 {d}, {v}, {v}, {a}",
    "v_lshl_add_u32 {d}, {v}, {a}, {v}",
    "v_add_lshl_u32 {d}, {a}, {v}, {v}",
    "v_add3_u32 {d}, {v}, {v}, {a}",
    "v_lshl_or_b32 {d}, {v}, {a}, {v}",
    "v_and_or_b32 {d}, {v}, {v}, {a}",
    "v_or3_b32 {d}, {a}, {v}, {v}",
    "v_min3_i32 {d}, {a}, {v}, {v}",
    "v_max3_i32 {d}, {v}, {a}, {v}",
    "v_med3_i32 {d}, {v}, {v}, {a}",
    "v_min3_u32 {d}, {a}, {v}, {v}",
    "v_max3_u32 {d}, {v}, {a}, {v}",
    "v_med3_u32 {d}, {v}, {v}, {a}",
    "v_mov_b32_dpp {d}, {v} row_shr:1 row_mask:0xf bank_mask:0xf",
    "v_mov_b32_dpp {d}, {v} row_shl:3 row_mask:0xa bank_mask:0xf bound_ctrl:0",
    "v_add_u32_dpp {d}, {v}, {v} row_bcast:15 row_mask:0xa bank_mask:0xf",
    "v_max_f32_dpp {d}, -{v}, |{v}| quad_perm:[3,1,2,0] row_mask:0xf bank_mask:0x7",
    "v_add_co_u32_dpp {d}, vcc, {v}, {v} row_ror:5 row_mask:0xf bank_mask:0xf",
    "v_cndmask_b32_dpp {d}, {v}, {v}, vcc wave_shr:1 row_mask:0xf bank_mask:0xf",
    "v_cndmask_b32 {d}, {c}, {v}, vcc",
    "v_cndmask_b32_e64 {d}, {v}, {v}, {m}",
    "v_cndmask_b32_e64 {d}, {v}, 7, {m}",
    "v_cndmask_b32_e64 {d}, 0, 1, {m}",
    "v_add_co_u32 {d}, vcc, {a}, {v}",
    "v_sub_co_u32 {d}, vcc, {a}, {v}",
    "v_subrev_co_u32 {d}, vcc, {a}, {v}",
    "v_addc_co_u32 {d}, vcc, {c}, {v}, vcc",
    "v_subb_co_u32 {d}, vcc, {c}, {v}, vcc",
    "v_subbrev_co_u32 {d}, vcc, {c}, {v}, vcc",
    "v_addc_co_u32_e64 {d}, s[20:21], {v}, {v}, {m}",
    "v_lshlrev_b64 {D}, {k}, {V}",
    "v_lshrrev_b64 {D}, {k}, {V}",
    "v_ashrrev_i64 {D}, {k}, {V}",
    "v_lshlrev_b64 {D}, {v}, {V}",
    "v_mad_u64_u32 {D}, s[20:21], {a}, {v}, {V}",
    "v_mad_u64_u32 {D}, s[20:21], {v}, {v}, 0",
    "v_readfirstlane_b32 s20, {v}",
    "v_readlane_b32 s20, {v}, 17",
    "v_readlane_b32 s20, {v}, {s}",
    "v_writelane_b32 {d}, {s}, 5",
    "v_cmp_eq_u32 vcc, {a}, {v}",
    "v_cmp_ne_i32 vcc, {a}, {v}",
    "v_cmp_lt_i32 vcc, {a}, {v}",
    "v_cmp_le_i32 vcc, {a}, {v}",
    "v_cmp_gt_i32 vcc, {a}, {v}",
    "v_cmp_ge_i32_e64 s[20:21], {v}, {a}",
    "v_cmp_lt_u32 vcc, {a}, {v}",
    "v_cmp_le_u32 vcc, {a}, {v}",
    "v_cmp_gt_u32_e64 s[20:21], {v}, {a}",
    "v_cmp_ge_u32 vcc, {a}, {v}",
    "v_cmpx_lt_u32 vcc, {a}, {v}",
    "v_cmp_lt_f32 vcc, {a}, {v}",
    "v_cmp_eq_f32 vcc, {a}, {v}",
    "v_cmp_le_f32 vcc, {a}, {v}",
    "v_cmp_gt_f32 vcc, {a}, {v}",
    "v_cmp_lg_f32 vcc, {a}, {v}",
    "v_cmp_ge_f32 vcc, {a}, {v}",
    "v_cmp_o_f32 vcc, {a}, {v}",
    "v_cmp_u_f32 vcc, {a}, {v}",
    "v_cmp_nge_f32 vcc, {a}, {v}",
    "v_cmp_nlg_f32 vcc, {a}, {v}",
    "v_cmp_ngt_f32 vcc, {a}, {v}",
    "v_cmp_nle_f32 vcc, {a}, {v}",
    "v_cmp_neq_f32 vcc, {a}, {v}",
    "v_cmp_nlt_f32 vcc, {a}, {v}",
    "v_cmpx_gt_f32 vcc, {a}, {v}",
    "v_add_f32_e64 {d}, -{v}, |{v}|",
    "v_sub_f32_e64 {d}, |{v}|, {s} clamp",
    "v_subrev_f32_e64 {d}, {s}, -{v} mul:2",
    "v_mul_f32_e64 {d}, {v}, -|{v}| mul:4 clamp",
    "v_mul_f32_e64 {d}, {v}, {v} div:2",
    "v_min_f32_e64 {d}, -{v}, {v} clamp",
    "v_max_f32_e64 {d}, {v}, {v} clamp",
    "v_max_f32_e64 {d}, {v}, |{s}| div:2",
    "v_fma_f32 {d}, -{v}, {v}, |{v}|",
    "v_fma_f32 {d}, {v}, {s}, -1.0 clamp",
    "v_fma_f32 {d}, |{v}|, {v}, -{v} mul:2",
    "v_fmac_f32_e64 {d}, -{v}, {v}",
    "v_fmac_f32_e64 {d}, |{v}|, {s} clamp",
    "v_cmp_lt_f32_e64 s[20:21], -{v}, |{v}|",
    "v_cmpx_neq_f32_e64 s[20:21], -|{v}|, {v}",
    "v_add_f64 {D}, {V}, {V}",
    "v_add_f64 {D}, -{V}, |{V}|",
    "v_add_f64 {D}, {V}, 1.0",
    "v_add_f64 {D}, {V}, {S}",
    "v_mul_f64 {D}, {V}, {V}",
    "v_mul_f64 {D}, {V}, 0.15915494309189532",
    "v_mul_f64 {D}, {V}, -7",
    "v_mul_f64 {D}, {V}, {V} mul:2",
    "v_min_f64 {D}, {V}, {V}",
    "v_max_f64 {D}, {V}, |{V}|",
    "v_max_f64 {D}, {V}, {V} clamp",
    "v_fma_f64 {D}, {V}, {V}, {V}",
    "v_fma_f64 {D}, {V}, -4.0, -{V}",
    "v_fma_f64 {D}, {S}, {V}, 1.0",
    "v_fmac_f64 {D}, {V}, {V}",
    "v_fmac_f64_e64 {D}, -{V}, {V}",
    "v_cmp_lt_f64_e64 s[20:21], -{V}, |{V}|",
    "v_cmp_gt_u64 vcc, 7, {V}",
    "v_cmp_ge_i64 vcc, -1, {V}",
    "v_cmp_eq_u64 vcc, {S}, {V}",
    "v_cmpx_lt_i64 vcc, {S}, {V}",
    "v_cmpx_nge_f64 vcc, 1.0, {V}",
    "v_cmp_lt_f64 vcc, {V}, {V}",
    "v_cmp_eq_f64 vcc, {V}, {V}",
    "v_cmp_le_f64 vcc, {V}, {V}",
    "v_cmp_gt_f64 vcc, {V}, {V}",
    "v_cmp_lg_f64 vcc, {V}, {V}",
    "v_cmp_ge_f64 vcc, {V}, {V}",
    "v_cmp_o_f64 vcc, {V}, {V}",
    "v_cmp_u_f64 vcc, {V}, {V}",
    "v_cmp_nge_f64 vcc, {V}, {V}",
    "v_cmp_nlg_f64 vcc, {V}, {V}",
    "v_cmp_ngt_f64 vcc, {V}, {V}",
    "v_cmp_nle_f64 vcc, {V}, {V}",
    "v_cmp_neq_f64 vcc, {V}, {V}",
    "v_cmp_nlt_f64 vcc, {V}, {V}",
    "v_cmp_eq_i64 vcc, {V}, {V}",
    "v_cmp_ne_i64 vcc, {V}, {V}",
    "v_cmp_lt_i64 vcc, {V}, {V}",
    "v_cmp_le_i64 vcc, {V}, {V}",
    "v_cmp_gt_i64 vcc, {V}, {V}",
    "v_cmp_ge_i64 vcc, {V}, {V}",
    "v_cmp_eq_u64 vcc, {V}, {V}",
    "v_cmp_ne_u64 vcc, {V}, {V}",
    "v_cmp_lt_u64 vcc, {V}, {V}",
    "v_cmp_le_u64 vcc, {V}, {V}",
    "v_cmp_gt_u64 vcc, {V}, {V}",
    "v_cmp_ge_u64 vcc, {V}, {V}",
    "v_pk_fma_f32 {D}, {V}, {V}, {V}",
    "v_pk_fma_f32 {D}, {V}, {V}, {V} op_sel:[1,0,1] op_sel_hi:[0,1,0] neg_lo:[0,1,0] neg_hi:[1,0,1]",
    "v_pk_fma_f32 {D}, {V}, {S}, {V} op_sel_hi:[1,0,1]",
    "v_pk_mul_f32 {D}, {V}, {V} op_sel:[1,1] op_sel_hi:[0,1]",
    "v_pk_mul_f32 {D}, {V}, 2.0",
    "v_pk_add_f32 {D}, {V}, {V} neg_lo:[0,1] neg_hi:[0,1]",
    "v_pk_mov_b32 {D}, {V}, {V} op_sel:[1,0]",
    "v_pk_mov_b32 {D}, {V}, {V} op_sel:[0,1]",
    "s_mov_b32 s20, {k}",
    "s_not_b32 s20, {k}",
    "s_brev_b32 s20, {k}",
    "s_bcnt1_i32_b32 s20, {k}",
    "s_add_u32 s20, {s}, {k}",
    "s_sub_u32 s20, {k}, {s}",
    "s_add_i32 s20, {s}, {k}",
    "s_sub_i32 s20, {s}, {k}",
    "s_addc_u32 s20, {s}, {k}",
    "s_subb_u32 s20, {s}, {k}",
    "s_min_i32 s20, {s}, {k}",
    "s_min_u32 s20, {s}, {k}",
    "s_max_i32 s20, {s}, {k}",
    "s_max_u32 s20, {s}, {k}",
    "s_cselect_b32 s20, {s}, {k}",
    "s_and_b32 s20, {s}, {k}",
    "s_or_b32 s20, {s}, {k}",
    "s_xor_b32 s20, {s}, {k}",
    "s_andn2_b32 s20, {s}, {k}",
    "s_lshl_b32 s20, {s}, {k}",
    "s_lshr_b32 s20, {s}, {k}",
    "s_ashr_i32 s20, {s}, {k}",
    "s_mul_i32 s20, {s}, {k}",
    "s_mul_hi_u32 s20, {s}, {k}",
    "s_lshl1_add_u32 s20, {s}, {k}",
    "s_lshl2_add_u32 s20, {s}, {k}",
    "s_lshl3_add_u32 s20, {s}, {k}",
    "s_lshl4_add_u32 s20, {s}, {k}",
    "s_mov_b64 s[20:21], {S}",
    "s_mov_b64 s[20:21], -7",
    "s_not_b64 s[20:21], {S}",
    "s_cselect_b64 s[20:21], {S}, -1",
    "s_and_b64 s[20:21], {S}, {m}",
    "s_or_b64 exec, exec, {m}",
    "s_xor_b64 exec, exec, {m}",
    "s_andn2_b64 exec, exec, {m}",
    "s_mov_b64 exec, {m}",
    "s_orn2_b64 s[20:21], {S}, exec",
    "s_nand_b64 s[20:21], {S}, {m}",
    "s_nor_b64 s[20:21], {S}, {m}",
    "s_xnor_b64 s[20:21], {S}, {m}",
    "s_lshl_b64 s[20:21], {S}, {k}",
    "s_lshr_b64 s[20:21], {S}, {k}",
    "s_ashr_i64 s[20:21], {S}, {k}",
    "s_and_saveexec_b64 s[20:21], {m}",
    "s_or_saveexec_b64 s[20:21], {m}",
    "s_xor_saveexec_b64 s[20:21], {m}",
    "s_andn2_saveexec_b64 s[20:21], {m}",
    "s_cmp_eq_u32 {s}, {k}",
    "s_cmp_lg_u32 {s}, {k}",
    "s_cmp_gt_i32 {s}, {k}",
    "s_cmp_ge_i32 {s}, {k}",
    "s_cmp_lt_i32 {s}, {k}",
    "s_cmp_le_i32 {s}, {k}",
    "s_cmp_gt_u32 {s}, {k}",
    "s_cmp_ge_u32 {s}, {k}",
    "s_cmp_lt_u32 {s}, {k}",
    "s_cmp_le_u32 {s}, {k}",
    "s_bitcmp0_b32 {s}, {k}",
    "s_bitcmp1_b32 {s}, {k}",
    "s_cmp_eq_u64 {S}, s[2:3]",
    "s_cmp_lg_u64 {S}, {m}",
    "s_movk_i32 s20, 0x8123",
    "s_addk_i32 s2, 0x8123",
    "s_mulk_i32 s3, 0xfff1",
    "s_cmpk_eq_i32 s2, 0x1f",
    "s_cmpk_lg_u32 s2, 0xffff",
    "s_cmpk_gt_i32 s2, 0xffff",
    "s_cmpk_le_u32 s2, 0xffff",
];

/// Forms of GFX11, in waves of 32 and of 64 lanes; `{M}` is a mask that is written, `{X}` EXEC, `{b}` the
/// width of a mask.
const GFX11: &[&str] = &[
    "v_mov_b32 {d}, {a}",
    "v_not_b32 {d}, {a}",
    "v_add_nc_u32 {d}, {a}, {v}",
    "v_mul_lo_u32 {d}, {a}, {v}",
    "v_lshlrev_b32 {d}, {a}, {v}",
    "v_ashrrev_i32 {d}, {a}, {v}",
    "v_add_f32 {d}, {a}, {v}",
    "v_sub_f32 {d}, {a}, {v}",
    "v_mul_f32 {d}, {a}, {v}",
    "v_min_f32 {d}, {a}, {v}",
    "v_max_f32 {d}, {a}, {v}",
    "v_fma_f32 {d}, {a}, {v}, {v}",
    "v_fma_f32 {d}, {s}, {s}, {v}",
    "v_fmac_f32 {d}, {a}, {v}",
    "v_cvt_f32_i32 {d}, {a}",
    "v_cvt_f32_u32 {d}, {a}",
    "v_subrev_f32_e64 {d}, -{v}, {s} mul:2",
    "v_fma_f32 {d}, -{v}, {s}, |{v}| clamp",
    "v_fmac_f32_e64 {d}, -{v}, {v}",
    "v_xor3_b32 {d}, {a}, {v}, {v}",
    "v_maxmin_i32 {d}, {a}, {v}, {v}",
    "v_minmax_i32 {d}, {v}, {a}, {v}",
    "v_maxmin_u32 {d}, {v}, {v}, {a}",
    "v_minmax_u32 {d}, {a}, {v}, {v}",
    "v_mov_b32_dpp {d}, {v} row_share:5 row_mask:0xf bank_mask:0xf",
    "v_add_nc_u32_dpp {d}, {v}, {v} row_xmask:3 row_mask:0x3 bank_mask:0xf fi:1",
    "v_add_f32_dpp {d}, -{v}, {v} row_shr:2 row_mask:0xf bank_mask:0xf bound_ctrl:1",
    "v_fmac_f32_dpp {d}, {v}, {v} row_mirror row_mask:0xf bank_mask:0xf",
    "v_mov_b32_dpp {d}, {v} dpp8:[7,6,5,4,3,2,1,0]",
    "v_add_f32_e64_dpp {d}, {v}, -{v} clamp dpp8:[1,0,3,2,5,4,7,6]",
    "v_cmp_gt_f32 {M}, -{v}, {v} row_half_mirror row_mask:0xf bank_mask:0xf",
    "v_cmpx_lt_u32 {v}, {v} row_ror:3 row_mask:0xf bank_mask:0xf",
    "v_cmp_lt_f32_e64 {m}, -{v}, |{v}|",
    "v_cmpx_lt_f32_e64 -{v}, |{v}|",
    "v_add_f64 {D}, {V}, -{V}",
    "v_mul_f64 {D}, {V}, {S}",
    "v_fma_f64 {D}, {V}, {V}, {V}",
    "v_fma_f64 {D}, {V}, {S}, 1.0",
    "v_max_f64 {D}, {V}, {V}",
    "v_cmp_gt_f64 {M}, {V}, {V}",
    "v_cmp_gt_u64_e64 {m}, {V}, {S}",
    "v_cmpx_lt_i64 {S}, {V}",
    "v_cmpx_lt_f64 1.0, {V}",
    "v_add3_u32 {d}, {v}, {v}, {a}",
    "v_alignbit_b32 {d}, {v}, {v}, {c}",
    "v_cndmask_b32 {d}, {c}, {v}, {M}",
    "v_cndmask_b32_e64 {d}, {v}, {v}, {m}",
    "v_cndmask_b32_e64 {d}, 0, 1, {m}",
    "v_add_co_u32 {d}, {M}, {a}, {v}",
    "v_sub_co_u32 {d}, null, {a}, {v}",
    "v_add_co_ci_u32 {d}, {M}, {c}, {v}, {M}",
    "v_add_co_ci_u32_e64 {d}, null, {v}, {v}, {m}",
    "v_sub_co_ci_u32 {d}, {M}, {c}, {v}, {M}",
    "v_lshlrev_b64 {D}, {k}, {V}",
    "v_mad_u64_u32 {D}, {M}, {a}, {v}, {V}",
    "v_mad_u64_u32 {D}, null, {v}, {v}, 0",
    "v_readfirstlane_b32 s20, {v}",
    "v_readlane_b32 s20, {v}, 17",
    "v_readlane_b32 s20, {v}, {s}",
    "v_writelane_b32 {d}, {s}, {s}",
    "v_cmp_eq_u32 {M}, {a}, {v}",
    "v_cmp_lt_i32_e64 {m}, {v}, {a}",
    "v_cmp_ngt_f32 {M}, {a}, {v}",
    "v_cmpx_lt_u32 {a}, {v}",
    "v_cmpx_gt_f32 {a}, {v}",
    "v_cmpx_ne_i32_e64 {v}, {a}",
    "s_add_u32 s20, {s}, {k}",
    "s_and_b32 null, {s}, {k}",
    "s_and_{b} {X}, {X}, {m}",
    "s_or_{b} {X}, {X}, {m}",
    "s_xor_{b} {X}, {X}, {m}",
    "s_and_not1_{b} {X}, {X}, {m}",
    "s_mov_{b} {X}, {m}",
    "s_mov_{b} {X}, -1",
    "s_mov_b32 exec_hi, {s}",
    "s_mov_b64 exec, s[4:5]",
    "s_and_saveexec_{b} {m}, {M}",
    "s_or_saveexec_{b} {m}, {M}",
    "s_xor_saveexec_{b} {m}, {M}",
    "s_and_not1_saveexec_{b} {m}, {M}",
    "s_and_not1_saveexec_{b} {M}, -1",
    "s_cselect_{b} {M}, {m}, -1",
    "s_cbranch_vccz 1\nv_mov_b32 v0, 0",
    "s_cbranch_vccnz 1\nv_mov_b32 v0, 0",
    "s_cbranch_execz 1\nv_mov_b32 v0, 0",
    "s_clause 0x1",
    "s_delay_alu instid0(VALU_DEP_1)",
];

/// Packed and mixed forms of 16 bits, which all processors from gfx906 on have.
const IN_PARTS: &[&str] = &[
    "v_pk_add_f16 {d}, {v}, {v}",
    "v_pk_add_f16 {d}, {v}, {s} op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[1,0] neg_hi:[0,1]",
    "v_pk_mul_f16 {d}, {v}, {v} op_sel_hi:[1,0]",
    "v_pk_mul_f16 {d}, {v}, {c} clamp",
    "v_pk_fma_f16 {d}, {v}, {v}, {v}",
    "v_pk_fma_f16 {d}, {v}, {c}, {v} op_sel:[1,0,1] op_sel_hi:[0,0,1] neg_lo:[0,1,0] neg_hi:[1,0,1]",
    "v_pk_min_f16 {d}, {v}, {v}",
    "v_pk_max_f16 {d}, {v}, {v} neg_hi:[1,0]",
    "v_pk_add_u16 {d}, {v}, {v} op_sel:[1,0] op_sel_hi:[0,1]",
    "v_pk_add_u16 {d}, {v}, {v} clamp",
    "v_pk_add_i16 {d}, {v}, {c}",
    "v_pk_sub_u16 {d}, {v}, {v}",
    "v_pk_sub_i16 {d}, {v}, {s}",
    "v_pk_mul_lo_u16 {d}, {v}, {v} op_sel_hi:[0,1]",
    "v_pk_mad_u16 {d}, {v}, {v}, {v}",
    "v_pk_mad_i16 {d}, {v}, {v}, {v} op_sel:[0,1,0]",
    "v_pk_lshlrev_b16 {d}, {c}, {v}",
    "v_pk_lshrrev_b16 {d}, {v}, {v}",
    "v_pk_ashrrev_i16 {d}, {v}, {v}",
    "v_pk_min_i16 {d}, {v}, {v}",
    "v_pk_max_i16 {d}, {v}, {v}",
    "v_pk_min_u16 {d}, {v}, {v}",
    "v_pk_max_u16 {d}, {v}, {v}",
    "v_fma_mix_f32 {d}, {v}, {v}, {v}",
    "v_fma_mix_f32 {d}, {v}, -{v}, |{v}| op_sel:[1,0,0] op_sel_hi:[1,1,0]",
    "v_fma_mix_f32 {d}, {v}, {s}, 1.0 op_sel_hi:[1,0,0] clamp",
    "v_fma_mixlo_f16 {d}, {v}, {v}, {v} op_sel_hi:[1,0,1]",
    "v_fma_mixhi_f16 {d}, {v}, -{v}, {v} op_sel:[0,1,0] op_sel_hi:[1,1,1]",
    "v_fma_mixlo_f16 {d}, {v}, {v}, {v} clamp",
];

/// Other forms of 16 bits, on GFX9.
const HALVES: &[&str] = &[
    "v_fma_f16 {d}, {a}, {v}, {v}",
    "v_fma_f16 {d}, {v}, {s}, {v}",
    "v_fma_f16 {d}, -{v}, |{v}|, {v}",
    "v_cvt_f16_f32 {d}, {a}",
    "v_cvt_f16_f32_e64 {d}, -|{v}|",
    "v_cvt_f32_f16 {d}, {a}",
    "v_add_f16 {d}, {a}, {v}",
    "v_add_f16_e64 {d}, -{v}, |{s}|",
    "v_sub_f16 {d}, {a}, {v}",
    "v_subrev_f16 {d}, {a}, {v}",
    "v_mul_f16 {d}, {a}, {v}",
    "v_mul_f16_e64 {d}, {v}, -{v} clamp",
    "v_add_f16_e64 {d}, {v}, {v} mul:2",
    "v_min_f16 {d}, {a}, {v}",
    "v_max_f16 {d}, {a}, {v}",
    "v_max_f16_e64 {d}, -{v}, {v}",
    "v_pack_b32_f16 {d}, {v}, {a}",
    "v_pack_b32_f16 {d}, -{v}, |{v}| op_sel:[1,0,0]",
    "v_cvt_pkrtz_f16_f32 {d}, {a}, {v}",
    "v_cvt_pkrtz_f16_f32 {d}, -{v}, |{s}|",
    "v_fma_f16 {d}, {v}, {v}, {v} op_sel:[1,0,1,0]",
    "v_fma_f16 {d}, {v}, {v}, -{v} op_sel:[0,1,0,1]",
    "v_add_u16 {d}, {a}, {v}",
    "v_sub_u16 {d}, {a}, {v}",
    "v_subrev_u16 {d}, {a}, {v}",
    "v_mul_lo_u16 {d}, {a}, {v}",
    "v_add_i16 {d}, {v}, {s}",
    "v_sub_i16 {d}, {v}, {v} op_sel:[1,0,1]",
    "v_mad_u16 {d}, {v}, {s}, {v}",
    "v_mad_i16 {d}, {v}, {v}, {v} op_sel:[1,0,0,1]",
    "v_lshlrev_b16 {d}, {a}, {v}",
    "v_lshrrev_b16 {d}, {a}, {v}",
    "v_ashrrev_i16 {d}, {a}, {v}",
    "v_min_i16 {d}, {a}, {v}",
    "v_max_i16 {d}, {a}, {v}",
    "v_min_u16 {d}, {a}, {v}",
    "v_max_u16 {d}, {a}, {v}",
    "v_add_f16_sdwa {d}, {v}, {v} dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0",
    "v_add_f16_dpp {d}, {v}, {v} row_shr:1 row_mask:0xf bank_mask:0xf",
    "v_cmp_lt_f16 vcc, {a}, {v}",
    "v_cmp_eq_f16 vcc, {a}, {v}",
    "v_cmp_le_f16 vcc, {a}, {v}",
    "v_cmp_gt_f16 vcc, {a}, {v}",
    "v_cmp_lg_f16 vcc, {a}, {v}",
    "v_cmp_ge_f16 vcc, {a}, {v}",
    "v_cmp_o_f16 vcc, {a}, {v}",
    "v_cmp_u_f16 vcc, {a}, {v}",
    "v_cmp_nge_f16 vcc, {a}, {v}",
    "v_cmp_nlg_f16 vcc, {a}, {v}",
    "v_cmp_ngt_f16 vcc, {a}, {v}",
    "v_cmp_nle_f16 vcc, {a}, {v}",
    "v_cmp_neq_f16 vcc, {a}, {v}",
    "v_cmp_nlt_f16 vcc, {a}, {v}",
    "v_cmp_lt_f16_e64 s[20:21], -{v}, |{v}|",
    "v_cmpx_gt_f16 vcc, {a}, {v}",
    "v_cmp_eq_u16 vcc, {a}, {v}",
    "v_cmp_ne_i16 vcc, {a}, {v}",
    "v_cmp_lt_i16 vcc, {a}, {v}",
    "v_cmp_le_i16 vcc, {a}, {v}",
    "v_cmp_gt_u16 vcc, {a}, {v}",
    "v_cmp_ge_u16 vcc, {a}, {v}",
    "v_cmp_lt_u16 vcc, {a}, {v}",
    "v_cmp_le_u16 vcc, {a}, {v}",
    "v_cmp_gt_i16 vcc, {a}, {v}",
    "v_cmp_ge_i16 vcc, {a}, {v}",
    "v_cmpx_lt_i16 vcc, {a}, {v}",
];

/// Other forms of 16 bits, from GFX11 on: `{h}` is a half of a vector register.
const HALVES_BY_NAME: &[&str] = &[
    "v_fmac_f16 {h}, {h}, {h}",
    "v_fmac_f16 {h}, {k}, {h}",
    "v_fmac_f16_e64 {h}, -{h}, |{h}|",
    "v_fmamk_f16 {h}, {h}, 0x4248, {h}",
    "v_fmaak_f16 {h}, {h}, {h}, 0x4248",
    "v_fmaak_f16 {h}, {h}, {h}, 0xffff8291",
    "v_fmamk_f16 {h}, {h}, 0xbf801234, {h}",
    "v_add_f16 {h}, lit(0xbf803c00), {h}",
    "v_add_nc_u16 {h}, lit(0xfffffff0), {h}",
    "v_add_f16 {h}, {h}, {h}",
    "v_add_f16_e64 {h}, -{h}, |{h}|",
    "v_sub_f16 {h}, {k}, {h}",
    "v_subrev_f16 {h}, {k}, {h}",
    "v_mul_f16 {h}, {h}, {h}",
    "v_mul_f16_e64 {h}, {h}, -{h} clamp",
    "v_add_f16_e64 {h}, {h}, {h} mul:2",
    "v_min_f16 {h}, {h}, {h}",
    "v_max_f16 {h}, {k}, {h}",
    "v_fma_f16 {h}, {h}, {h}, {h}",
    "v_fma_f16 {h}, -{h}, {s}, |{h}|",
    "v_cvt_f16_f32 {h}, {a}",
    "v_cvt_f16_f32_e64 {h}, -|{v}|",
    "v_cvt_f32_f16 {d}, {h}",
    "v_cvt_f32_f16_e64 {d}, -{h}",
    "v_cvt_pk_rtz_f16_f32 {d}, {a}, {v}",
    "v_cvt_pk_rtz_f16_f32_e64 {d}, -{v}, |{s}|",
    "v_pack_b32_f16 {d}, {h}, {h}",
    "v_pack_b32_f16 {d}, -{h}, |{h}|",
    "v_mov_b16 {h}, {h}",
    "v_mov_b16 {h}, {k}",
    "v_not_b16 {h}, {h}",
    "v_and_b16 {h}, {h}, {h}",
    "v_or_b16 {h}, {h}, {s}",
    "v_xor_b16 {h}, {h}, {h}",
    "v_add_nc_u16 {h}, {h}, {h}",
    "v_sub_nc_u16 {h}, {h}, {s}",
    "v_add_nc_i16 {h}, {h}, {h}",
    "v_sub_nc_i16 {h}, {h}, {h} clamp",
    "v_mul_lo_u16 {h}, {h}, {h}",
    "v_mad_u16 {h}, {h}, {h}, {h}",
    "v_mad_i16 {h}, {h}, {h}, {h}",
    "v_lshlrev_b16 {h}, {h}, {h}",
    "v_lshrrev_b16 {h}, {h}, {h}",
    "v_ashrrev_i16 {h}, {h}, {h}",
    "v_min_i16 {h}, {h}, {h}",
    "v_max_i16 {h}, {h}, {h}",
    "v_min_u16 {h}, {h}, {h}",
    "v_max_u16 {h}, {h}, {h}",
    "v_cndmask_b16 {h}, {h}, {h}, {m}",
    "v_cmp_gt_f16 {M}, {h}, {h}",
    "v_cmp_nge_f16 {M}, {k}, {h}",
    "v_cmp_lt_f16_e64 {m}, -{h}, |{h}|",
    "v_cmpx_neq_f16 {h}, {h}",
    "v_cmp_lt_i16 {M}, {h}, {h}",
    "v_cmp_ge_u16_e64 {m}, {h}, {h}",
    "v_cmpx_ne_u16 {k}, {h}",
    "v_add_f16_dpp {h}, {h}, {h} row_shr:1 row_mask:0xf bank_mask:0xf",
];

/// Instructions of two operations, which only waves of 32 lanes have.
const PAIRS: &[&str] = &[
    "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v0",
    "v_dual_mov_b32 v0, v3 :: v_dual_mov_b32 v1, v0",
    "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, 7",
    "v_dual_add_f32 v0, s2, v1 :: v_dual_mul_f32 v1, s2, v2",
    "v_dual_fmac_f32 v0, v1, v2 :: v_dual_fmac_f32 v3, v4, v1",
    "v_dual_fmac_f32 v2, v1, v0 :: v_dual_add_nc_u32 v3, v2, v1",
    "v_dual_fmaak_f32 v0, v1, v2, 0x40490fdb :: v_dual_mov_b32 v1, 0x40490fdb",
    "v_dual_fmamk_f32 v0, v1, 0x3f9d70a4, v2 :: v_dual_and_b32 v3, v2, v1",
    "v_dual_cndmask_b32 v0, v1, v2 :: v_dual_lshlrev_b32 v3, 3, v5",
    "v_dual_sub_f32 v4, v1, v2 :: v_dual_subrev_f32 v1, v4, v3",
    "v_dual_max_f32 v4, v1, v2 :: v_dual_min_f32 v1, v4, v3",
    "v_dual_mul_dx9_zero_f32 v4, v1, v2 :: v_dual_cndmask_b32 v1, v4, v3",
];

/// A form for waves of so many lanes.
fn of_lanes(form: &str, lanes: u32) -> String {
    let names = match lanes {
        32 => [("{M}", "vcc_lo"), ("{m}", "s6"), ("{X}", "exec_lo"), ("{b}", "b32")],
        _ => [("{M}", "vcc"), ("{m}", "s[6:7]"), ("{X}", "exec"), ("{b}", "b64")],
    };
    names.into_iter().fold(form.to_owned(), |form, (from, to)| form.replace(from, to))
}

fn fill(form: &str, random: &mut Random) -> String {
    let mut text = String::new();
    let mut rest = form;
    while let Some(at) = rest.find('{') {
        text.push_str(&rest[..at]);
        let vector = |random: &mut Random| format!("v{}", random.next() % 6);
        let pair = |random: &mut Random| {
            let first = random.next() % 3 * 2;
            format!("v[{first}:{}]", first + 1)
        };
        let scalar = |random: &mut Random| format!("s{}", 2 + random.next() % 4);
        let constant = |random: &mut Random| {
            ["0", "-1", "7", "31", "1.0", "-4.0", "64"][random.next() as usize % 7].to_owned()
        };
        text.push_str(&match &rest[at + 1..at + 2] {
            "d" | "v" => vector(random),
            "h" => vector(random) + [".l", ".h"][random.next() as usize % 2],
            "D" | "V" => pair(random),
            "s" => scalar(random),
            "S" => "s[4:5]".to_owned(),
            "m" => "s[6:7]".to_owned(),
            "k" if random.next() & 1 == 0 => scalar(random),
            "k" => constant(random),
            // Instructions that read a mask read no other scalar register.
            "c" if random.next() & 1 == 0 => constant(random),
            "c" => vector(random),
            _ => match random.next() % 4 {
                0 => scalar(random),
                1 => constant(random),
                _ => vector(random),
            },
        });
        rest = &rest[at + 3..];
    }
    text + rest
}

fn state(random: &mut Random) -> WaveState {
    let mut state = WaveState { scc: random.next() & 1 != 0, vcc: random.next(), ..WaveState::default() };
    state.exec = match random.next() % 4 {
        0 => random.next(),
        1 => random.next() & random.next() & random.next(),
        2 => 0,
        _ => !0,
    };
    // Every rounding and denormal mode, with IEEE, DX10_CLAMP and the exceptions on or off; the default most
    // often.
    if !random.next().is_multiple_of(3) {
        const FP16_OVFL: u32 = 1 << 23;
        state.mode = random.next() as u32 & (FP16_OVFL | 0x7_f3ff);
    }
    // A bit of the exponents of halves: without it none is a NaN, of which there is else one among many
    // lanes.
    let halves = if random.next() & 1 != 0 { !0x0400_0400 } else { !0 };
    for register in 0..16 {
        state.sgprs[register] = random.value() & halves;
    }
    for register in 0..8 {
        state.set_vgpr(register, std::array::from_fn(|_| random.value() & halves));
    }
    state.set_agpr(1, std::array::from_fn(|_| random.value()));
    state
}

fn config(vectors: Vectors, fast_layer: bool) -> Config {
    let mut config = Config::default();
    config.vectors = vectors;
    config.fast_layer = fast_layer;
    config
}

/// The levels to compare with the general functions.
fn levels() -> Vec<Vectors> {
    let (here, missing): (Vec<_>, Vec<_>) = Vectors::ALL.into_iter().partition(|level| level.is_available());
    for level in missing {
        println!("SKIPPED: {}: this host does not have it", level.name());
    }
    here
}

#[test]
fn arithmetic_is_the_same_at_every_level() {
    let forms = FORMS.iter().chain(IN_PARTS).chain(HALVES);
    compare_arithmetic(Arch::Gfx90a.into(), forms.map(|&form| form.to_owned()));
}

#[test]
fn arithmetic_of_gfx11_is_the_same_at_every_level() {
    for wave in [WaveSize::Wave32, WaveSize::Wave64] {
        let target = Target { arch: Arch::Gfx1100, wave };
        let pairs: &[&str] = if wave == WaveSize::Wave32 { PAIRS } else { &[] };
        let forms = GFX11.iter().chain(pairs).chain(IN_PARTS).chain(HALVES_BY_NAME);
        compare_arithmetic(target, forms.map(|form| of_lanes(form, wave.lanes())));
    }
}

/// A form of GFX11 by GFX12's name; none if it has no such instruction.
fn of_gfx12(form: &str) -> Option<String> {
    const NAMES: [(&str, &str); 14] = [
        ("s_add_u32 ", "s_add_co_u32 "),
        ("s_sub_u32 ", "s_sub_co_u32 "),
        ("s_add_i32 ", "s_add_co_i32 "),
        ("s_sub_i32 ", "s_sub_co_i32 "),
        ("s_addc_u32 ", "s_add_co_ci_u32 "),
        ("s_subb_u32 ", "s_sub_co_ci_u32 "),
        ("s_addk_i32 ", "s_addk_co_i32 "),
        ("v_mad_u64_u32 ", "v_mad_co_u64_u32 "),
        ("_min_f32", "_min_num_f32"),
        ("_max_f32", "_max_num_f32"),
        ("_min_f64", "_min_num_f64"),
        ("_max_f64", "_max_num_f64"),
        ("_min_f16", "_min_num_f16"),
        ("_max_f16", "_max_num_f16"),
    ];
    let renamed = NAMES.iter().fold(form.to_owned(), |form, (from, to)| form.replace(from, to));
    (!form.starts_with("s_cmpk_")).then_some(renamed)
}

/// Those that GFX11 does not have.
const ONLY_GFX12: &[&str] =
    &["s_wait_loadcnt 0x0", "s_wait_dscnt 0x0", "s_wait_kmcnt 0x0", "s_wait_storecnt_dscnt 0x0"];

#[test]
fn arithmetic_of_gfx12_is_the_same_at_every_level() {
    for wave in [WaveSize::Wave32, WaveSize::Wave64] {
        let target = Target { arch: Arch::Gfx1201, wave };
        let pairs: &[&str] = if wave == WaveSize::Wave32 { PAIRS } else { &[] };
        let forms = GFX11.iter().chain(pairs).chain(IN_PARTS).chain(HALVES_BY_NAME);
        let forms = forms.map(|form| of_lanes(form, wave.lanes()));
        let forms = forms.filter_map(|form| of_gfx12(&form));
        compare_arithmetic(target, forms.chain(ONLY_GFX12.iter().map(|&form| form.to_owned())));
    }
}

fn compare_arithmetic(target: Target, forms: impl Iterator<Item = String>) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let levels = levels();
    for form in forms {
        // Floats have modes besides.
        let is_float = ["_f16", "_f32", "_f64", "_mix"].iter().any(|float| form.contains(float));
        let trials = if is_float { 120 } else { 24 };
        for _ in 0..trials {
            let text = fill(&form, &mut random);
            let before = state(&mut random);
            let snippet = Snippet::assemble(target, &text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let run = |config: Config| {
                let mut machine = Machine::new(target.arch, config);
                snippet.run(&mut machine, &before).unwrap_or_else(|fault| panic!("{text}: {fault}"))
            };
            let expected = run(config(Vectors::Baseline, false));
            for level in &levels {
                let found = run(config(*level, true));
                assert!(found == expected, "`{text}` at {} {}", level.name(), difference(&found, &expected));
            }
        }
    }
}

/// Where two states differ first.
fn difference(found: &WaveState, expected: &WaveState) -> String {
    for register in 0..8 {
        let (a, b) = (found.vgpr(register), expected.vgpr(register));
        if let Some(lane) = (0..64).find(|lane| a[*lane] != b[*lane]) {
            return format!("v{register}, lane {lane}: {:#x}, expected {:#x}", a[lane], b[lane]);
        }
    }
    format!(
        "s20: {:#x}, expected {:#x}; vcc {:#x}, {:#x}; exec {:#x}, {:#x}; scc {}, {}",
        found.sgprs[20],
        expected.sgprs[20],
        found.vcc,
        expected.vcc,
        found.exec,
        expected.exec,
        found.scc,
        expected.scc
    )
}

/// Loads and stores: consecutive, scattered, uniform, descending and piecewise consecutive addresses, in
/// device memory and in LDS.
#[test]
fn memory_is_the_same_at_every_level() {
    const BYTES: u64 = 4096;
    const ACCESSES: &[&str] = &[
        "global_load_dword v4, v0, s[0:1]",
        "global_load_dword v0, v0, s[0:1] offset:8",
        "global_load_dwordx2 v[0:1], v0, s[0:1]",
        "global_load_dwordx3 v[4:6], v0, s[0:1] offset:4",
        "global_load_dwordx4 v[4:7], v0, s[0:1]",
        "global_load_dword v4, v[2:3], off",
        "global_load_dwordx4 v[2:5], v[2:3], off offset:-4",
        "flat_load_dword v4, v[2:3]",
        "global_load_ubyte v4, v0, s[0:1] offset:3",
        "global_load_sbyte v4, v[2:3], off",
        "global_load_ushort v0, v0, s[0:1]",
        "global_load_sshort v4, v0, s[0:1] offset:1",
        "global_load_short_d16 v4, v0, s[0:1]",
        "global_load_short_d16_hi v4, v0, s[0:1]",
        "flat_load_sbyte_d16_hi v4, v[2:3]",
        "global_store_byte v0, v1, s[0:1]",
        "global_store_short v0, v1, s[0:1]",
        "flat_store_short_d16_hi v[2:3], v1",
        "global_store_dword v0, v1, s[0:1]",
        "global_store_dwordx2 v0, v[4:5], s[0:1]",
        "global_store_dwordx3 v[2:3], v[4:6], off",
        "global_store_dwordx4 v0, v[4:7], s[0:1] offset:16",
        "flat_store_dword v[2:3], v1",
        "ds_read_b32 v4, v0",
        "ds_read_b64 v[0:1], v0 offset:8",
        "ds_read_b96 v[4:6], v0",
        "ds_read_b128 v[4:7], v0 offset:16",
        "ds_read2_b32 v[4:5], v0 offset1:3",
        "ds_read2_b64 v[0:3], v0 offset0:1 offset1:2",
        "ds_read2st64_b32 v[4:5], v0 offset1:1",
        "ds_write_b32 v0, v1",
        "ds_write_b64 v0, v[4:5]",
        "ds_write_b96 v0, v[4:6]",
        "ds_write_b128 v0, v[4:7]",
        "ds_write2_b32 v0, v1, v4 offset1:1",
        "ds_write2_b64 v0, v[4:5], v[6:7] offset1:4",
        "s_load_dword s20, s[0:1], 0x10",
        "s_load_dwordx8 s[24:31], s[0:1], 0x40",
    ];
    /// Those that have another name on GFX11, in the same order; both sizes of waves have them.
    const OF_GFX11: &[&str] = &[
        "global_load_b32 v4, v0, s[0:1]",
        "global_load_b64 v[0:1], v0, s[0:1] offset:8",
        "global_load_b96 v[4:6], v[2:3], off",
        "global_load_b128 v[2:5], v[2:3], off offset:-4",
        "flat_load_b32 v4, v[2:3]",
        "global_load_u8 v4, v0, s[0:1] offset:3",
        "global_load_i16 v0, v0, s[0:1]",
        "global_load_d16_b16 v4, v0, s[0:1]",
        "global_load_d16_hi_i8 v4, v[2:3], off",
        "global_store_d16_hi_b16 v0, v1, s[0:1]",
        "flat_store_b8 v[2:3], v1",
        "global_store_b32 v0, v1, s[0:1]",
        "global_store_b64 v0, v[4:5], s[0:1]",
        "global_store_b128 v[2:3], v[4:7], off",
        "flat_store_b32 v[2:3], v1",
        "ds_load_b32 v4, v0",
        "ds_load_b128 v[4:7], v0 offset:16",
        "ds_load_2addr_b32 v[4:5], v0 offset1:3",
        "ds_store_b32 v0, v1",
        "ds_store_b96 v0, v[4:6]",
        "ds_store_2addr_b32 v0, v1, v4 offset1:1",
        "s_load_b256 s[24:31], s[0:1], 0x40",
    ];
    compare_memory(Arch::Gfx90a.into(), BYTES, ACCESSES);
    for wave in [WaveSize::Wave32, WaveSize::Wave64] {
        compare_memory(Target { arch: Arch::Gfx1100, wave }, BYTES, OF_GFX11);
        compare_memory(Target { arch: Arch::Gfx1201, wave }, BYTES, OF_GFX11);
    }
}

fn compare_memory(target: Target, bytes: u64, accesses: &[&str]) {
    let mut random = Random(0x1234_5678_9abc_def1);
    let levels = levels();
    for text in accesses {
        for pattern in 0..8u32 {
            for _ in 0..6 {
                let mut before = state(&mut random);
                let content: Vec<u8> = (0..bytes).map(|_| random.next() as u8).collect();
                before.lds.clone_from(&content);
                let scattered: Vec<u32> = (0..64).map(|_| random.next() as u32 % 960 * 4).collect();
                let offsets: [u32; 64] = std::array::from_fn(|lane| {
                    let lane32 = lane as u32;
                    match pattern {
                        0 => 4 * lane32 + 64,
                        1 => 16 * lane32 + 64,
                        2 => scattered[lane],
                        3 => 128,
                        4 => 4 * (63 - lane32) + 64,
                        // Pieces of sixteen, one of them out of order.
                        5 => 4 * ((lane32 % 16) ^ u32::from(lane32 / 16 == 2)) + 512 * (lane32 / 16),
                        6 => 2 * lane32 + 64,
                        _ => scattered[lane] + 1,
                    }
                });
                let run = |config: Config| {
                    let mut machine = Machine::new(target.arch, config);
                    let buffer = machine.alloc(bytes, 4, "buffer").unwrap();
                    machine.write(buffer, &content).unwrap();
                    let mut before = before.clone();
                    before.set_sgpr_pair(0, buffer);
                    before.set_vgpr(0, offsets);
                    before.set_vgpr_pair(2, std::array::from_fn(|lane| buffer + u64::from(offsets[lane])));
                    let after = Snippet::assemble(target, text).unwrap().run(&mut machine, &before);
                    let mut memory = vec![0; bytes as usize];
                    machine.read(buffer, &mut memory).unwrap();
                    (after.map_err(|fault| fault.to_string()), memory)
                };
                let expected = run(config(Vectors::Baseline, false));
                for level in &levels {
                    assert!(
                        run(config(*level, true)) == expected,
                        "`{text}` at {}, pattern {pattern}",
                        level.name()
                    );
                }
            }
        }
    }
}

/// Loads and stores in private memory: through a buffer resource, FLAT_SCRATCH and the flat aperture.
#[test]
fn scratch_is_the_same_at_every_level() {
    const BASE: u64 = 0x7d00_0000_0000;
    const APERTURE: u64 = 0x0002_0000_0000_0000;
    const BYTES: u32 = 64;
    const ACCESSES: &[&str] = &[
        "buffer_load_dword v4, off, s[8:11], s12 offset:16",
        "buffer_load_dwordx2 v[4:5], off, s[8:11], 0 offset:6",
        "buffer_load_dwordx3 v[4:6], v0, s[8:11], s12 offen",
        "buffer_load_dwordx4 v[4:7], v0, s[8:11], 0 offen offset:16",
        "buffer_load_ubyte v4, off, s[8:11], 0 offset:7",
        "buffer_load_sbyte v4, v0, s[8:11], 0 offen offset:2",
        "buffer_load_ushort v0, v0, s[8:11], s12 offen offset:2",
        "buffer_load_sshort v4, off, s[8:11], 0 offset:1",
        "buffer_load_ushort v4, off, s[8:11], 0 offset:3",
        "buffer_store_dword v4, v0, s[8:11], 0 offen",
        "buffer_store_dwordx2 v[4:5], off, s[8:11], s12",
        "buffer_store_dwordx3 v[4:6], off, s[8:11], 0 offset:20",
        "buffer_store_dwordx4 v[4:7], off, s[8:11], 0 offset:52",
        "buffer_store_byte v4, off, s[8:11], 0 offset:3",
        "buffer_store_short v4, v0, s[8:11], s12 offen offset:2",
        "scratch_load_dword v4, off, s12 offset:8",
        "scratch_load_dwordx4 v[0:3], v0, off offset:4",
        "scratch_load_sbyte v4, off, s12 offset:5",
        "scratch_store_dwordx2 off, v[4:5], s12 offset:16",
        "scratch_store_short v0, v4, off offset:2",
        "scratch_store_dword v0, v4, off offset:-4",
        "flat_load_dword v4, v[2:3]",
        "flat_load_dwordx4 v[2:5], v[2:3] offset:8",
        "flat_store_dwordx2 v[2:3], v[4:5] offset:4",
    ];
    let mut random = Random(0x0f1e_2d3c_4b5a_6978);
    let levels = levels();
    for access in ACCESSES {
        // All of private memory is written before, and read afterwards.
        let every = |text: &dyn Fn(u32) -> String| (0..BYTES / 16).map(text).collect::<String>();
        let before = every(&|at| {
            format!("scratch_store_dwordx4 off, v[{}:{}], s13 offset:{}\n", 16 + 2 * at, 19 + 2 * at, 16 * at)
        });
        let after = every(&|at| {
            let first = 32 + 4 * at;
            format!("scratch_load_dwordx4 v[{first}:{}], off, s13 offset:{}\n", first + 3, 16 * at)
        });
        let text = format!("{before}s_mov_b64 exec, s[6:7]\n{access}\ns_mov_b64 exec, -1\n{after}");
        let snippet =
            Snippet::assemble(Arch::Gfx90a, &text).unwrap_or_else(|error| panic!("{text}: {error}"));
        for round in 0..24 {
            let mut state = state(&mut random);
            state.exec = !0;
            state.scratch = BYTES;
            state.flat_scratch = BASE;
            // Lanes added, 64 to a row, swizzled.
            state.set_sgpr_pair(8, BASE | 1 << 63);
            state.set_sgpr_pair(10, 0xffff_ffff | (1 << 23 | 3 << 21) << 32);
            state.sgprs[12] = [0, 256, 1024][round % 3];
            if access.contains("scratch") {
                state.sgprs[12] /= 64;
            }
            state.sgprs[13] = 0;
            let same = (random.next() % 9) as u32 * 4 + u32::from(round % 5 == 4);
            let offsets: [u32; 64] =
                std::array::from_fn(|lane| same + if round % 4 == 3 { 4 * (lane as u32 % 3) } else { 0 });
            for register in 16..26 {
                state.set_vgpr(register, std::array::from_fn(|_| random.value()));
            }
            state.set_vgpr(0, offsets);
            state.set_vgpr_pair(2, offsets.map(|offset| APERTURE + u64::from(offset)));
            let run = |config: Config| {
                let mut machine = Machine::new(Arch::Gfx90a, config);
                snippet.run(&mut machine, &state).map_err(|fault| fault.to_string())
            };
            let expected = run(config(Vectors::Baseline, false));
            for level in &levels {
                let found = run(config(*level, true));
                assert!(found == expected, "`{access}` at {}, round {round}", level.name());
            }
        }
    }
}
