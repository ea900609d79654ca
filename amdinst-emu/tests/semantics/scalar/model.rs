//! The scalar ALU by the manuals' pseudocode, on 128-bit integers.

/// What an instruction reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) s: [u64; 2],
    /// The destination's old value.
    pub(super) old: u64,
    pub(super) scc: bool,
    pub(super) exec: u64,
    pub(super) immediate: u16,
    /// Of equal sources, a maximum is the first one.
    pub(super) first_of_equals: bool,
}

/// What it writes; `None` for what it leaves alone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Effect {
    pub(super) result: Option<u64>,
    pub(super) scc: Option<bool>,
    pub(super) exec: Option<u64>,
}

fn only(result: u64) -> Effect {
    Effect { result: Some(result), ..Effect::default() }
}

fn both(result: u64, scc: bool) -> Effect {
    Effect { scc: Some(scc), ..only(result) }
}

fn flag(scc: bool) -> Effect {
    Effect { scc: Some(scc), ..Effect::default() }
}

/// SCC says that the result is not zero.
fn nonzero(result: u64) -> Effect {
    both(result, result != 0)
}

fn nonzero32(result: u64) -> Effect {
    nonzero(result & 0xffff_ffff)
}

/// EXEC is replaced, the destination gets what it was.
fn saves(a: &State, new: u64) -> Effect {
    Effect { exec: Some(new), ..both(a.exec, new != 0) }
}

/// EXEC and the destination are both replaced.
fn replaces(new: u64) -> Effect {
    Effect { exec: Some(new), ..both(new, new != 0) }
}

fn position(found: Option<u32>) -> Effect {
    only(found.map_or(0xffff_ffff, u64::from))
}

fn bits(value: u64, count: u32) -> impl DoubleEndedIterator<Item = bool> + ExactSizeIterator {
    (0..count as usize).map(move |bit| value >> bit & 1 != 0)
}

fn first(value: u64, count: u32, wanted: bool) -> Effect {
    position(bits(value, count).position(|bit| bit == wanted).map(|at| at as u32))
}

fn last_one(value: u64, count: u32) -> Effect {
    position(bits(value, count).rev().position(|bit| bit).map(|at| at as u32))
}

/// Bits from the top that equal the sign; -1 if all do.
fn sign_run(value: u64, count: u32) -> Effect {
    let sign = value >> (count - 1) & 1 != 0;
    position(bits(value, count).rev().position(|bit| bit != sign).map(|at| at as u32))
}

fn count(value: u64, size: u32, wanted: bool) -> Effect {
    nonzero(bits(value, size).filter(|bit| *bit == wanted).count() as u64)
}

fn reversed(value: u64, size: u32) -> Effect {
    only(bits(value, size).fold(0, |value, bit| value << 1 | u64::from(bit)))
}

/// The quads of a mask, each as one bit of `f`'s choice.
fn quads(value: u64, size: u32, f: impl Fn(u32, bool) -> u64) -> Effect {
    nonzero((0..size / 4).fold(0, |result, quad| result | f(quad, value >> (4 * quad) & 15 != 0)))
}

/// S_BFE: the offset is the low bits of the second source, the width its bits 22:16.
fn field(a: &State, size: u32, is_signed: bool) -> Effect {
    let (offset, width) = (a.s[1] as u32 & (size - 1), a.s[1] as u32 >> 16 & 0x7f);
    let data = match (size, is_signed) {
        (32, false) => i128::from(a.s[0] as u32),
        (32, true) => i128::from(a.s[0] as u32 as i32),
        (_, false) => i128::from(a.s[0]),
        (_, true) => i128::from(a.s[0] as i64),
    };
    let shifted = data >> offset;
    let value = if width == 0 {
        0
    } else if is_signed {
        shifted << (128 - width) >> (128 - width)
    } else {
        shifted & ((1 << width) - 1)
    };
    nonzero(if size == 32 { u64::from(value as u32) } else { value as u64 })
}

fn low32(value: u64) -> u64 {
    value & 0xffff_ffff
}

fn low(value: i128) -> u64 {
    u64::from(value as u32)
}

/// The effect of an instruction; `None` if there is no model of it.
pub(super) fn run(name: &str, a: &State) -> Option<Effect> {
    two(name, a).or_else(|| one(name, a)).or_else(|| compare(name, a)).or_else(|| constant(name, a))
}

fn two(name: &str, a: &State) -> Option<Effect> {
    let [x, y] = a.s;
    let (u0, u1) = (i128::from(x as u32), i128::from(y as u32));
    let (i0, i1) = (i128::from(x as i32), i128::from(y as i32));
    let carry = i128::from(a.scc);
    let unsigned = |exact: i128| both(low(exact), !(0..=i128::from(u32::MAX)).contains(&exact));
    let signed =
        |exact: i128| both(low(exact), !(i128::from(i32::MIN)..=i128::from(i32::MAX)).contains(&exact));
    let mask32 = 0xffff_ffff;
    Some(match name {
        "s_add_u32" => unsigned(u0 + u1),
        "s_sub_u32" => unsigned(u0 - u1),
        "s_add_i32" => signed(i0 + i1),
        "s_sub_i32" => signed(i0 - i1),
        "s_addc_u32" => unsigned(u0 + u1 + carry),
        "s_subb_u32" => unsigned(u0 - u1 - carry),
        "s_min_i32" => both(low(i0.min(i1)), i0 < i1),
        "s_min_u32" => both(low(u0.min(u1)), u0 < u1),
        "s_max_i32" if a.first_of_equals => both(low(i0.max(i1)), i0 >= i1),
        "s_max_u32" if a.first_of_equals => both(low(u0.max(u1)), u0 >= u1),
        "s_max_i32" => both(low(i0.max(i1)), i0 > i1),
        "s_max_u32" => both(low(u0.max(u1)), u0 > u1),
        "s_cselect_b32" | "s_cselect_b64" => only(if a.scc { x } else { y }),
        "s_and_b32" | "s_and_b64" => nonzero(x & y),
        "s_or_b32" | "s_or_b64" => nonzero(x | y),
        "s_xor_b32" | "s_xor_b64" => nonzero(x ^ y),
        "s_andn2_b32" => nonzero32(x & !y),
        "s_orn2_b32" => nonzero32(x | !y),
        "s_nand_b32" => nonzero32(!(x & y)),
        "s_nor_b32" => nonzero32(!(x | y)),
        "s_xnor_b32" => nonzero32(!(x ^ y)),
        "s_andn2_b64" => nonzero(x & !y),
        "s_orn2_b64" => nonzero(x | !y),
        "s_nand_b64" => nonzero(!(x & y)),
        "s_nor_b64" => nonzero(!(x | y)),
        "s_xnor_b64" => nonzero(!(x ^ y)),
        "s_lshl_b32" => nonzero32(x << (y % 32)),
        "s_lshl_b64" => nonzero(x << (y % 64)),
        "s_lshr_b32" => nonzero((x & mask32) >> (y % 32)),
        "s_lshr_b64" => nonzero(x >> (y % 64)),
        "s_ashr_i32" => nonzero(low(i0 >> (y % 32))),
        "s_ashr_i64" => nonzero((x as i64 >> (y % 64)) as u64),
        "s_bfm_b32" => only(((1 << (x % 32)) - 1) << (y % 32) & mask32),
        "s_bfm_b64" => only((((1_u128 << (x % 64)) - 1) << (y % 64)) as u64),
        "s_mul_i32" => only(low(i0 * i1)),
        "s_add_nc_u64" => only(x.wrapping_add(y)),
        "s_sub_nc_u64" => only(x.wrapping_sub(y)),
        "s_mul_u64" => only((u128::from(x) * u128::from(y)) as u64),
        "s_mul_hi_u32" => only(low((u0 * u1) >> 32)),
        "s_mul_hi_i32" => only(low((i0 * i1) >> 32)),
        "s_bfe_u32" => field(a, 32, false),
        "s_bfe_i32" => field(a, 32, true),
        "s_bfe_u64" => field(a, 64, false),
        "s_bfe_i64" => field(a, 64, true),
        // The difference is cut to 32 bits first.
        "s_absdiff_i32" => nonzero(low(i128::from((i0 - i1) as i32).abs())),
        "s_lshl1_add_u32" => unsigned((u0 << 1) + u1),
        "s_lshl2_add_u32" => unsigned((u0 << 2) + u1),
        "s_lshl3_add_u32" => unsigned((u0 << 3) + u1),
        "s_lshl4_add_u32" => unsigned((u0 << 4) + u1),
        "s_pack_ll_b32_b16" => only(x & 0xffff | (y & 0xffff) << 16),
        "s_pack_lh_b32_b16" => only(x & 0xffff | y & 0xffff_0000),
        "s_pack_hl_b32_b16" => only(x >> 16 & 0xffff | (y & 0xffff) << 16),
        "s_pack_hh_b32_b16" => only(x >> 16 & 0xffff | y & 0xffff_0000),
        _ => return None,
    })
}

fn one(name: &str, a: &State) -> Option<Effect> {
    let [x, _] = a.s;
    let e = a.exec;
    Some(match name {
        "s_mov_b32" | "s_mov_b64" => only(x),
        "s_cmov_b32" | "s_cmov_b64" => only(if a.scc { x } else { a.old }),
        "s_not_b32" => nonzero32(!x),
        "s_not_b64" => nonzero(!x),
        "s_wqm_b32" => quads(x, 32, |quad, any| (u64::from(any) * 15) << (4 * quad)),
        "s_wqm_b64" => quads(x, 64, |quad, any| (u64::from(any) * 15) << (4 * quad)),
        "s_quadmask_b32" => quads(x, 32, |quad, any| u64::from(any) << quad),
        "s_quadmask_b64" => quads(x, 64, |quad, any| u64::from(any) << quad),
        "s_brev_b32" => reversed(x, 32),
        "s_brev_b64" => reversed(x, 64),
        "s_bcnt0_i32_b32" => count(x, 32, false),
        "s_bcnt0_i32_b64" => count(x, 64, false),
        "s_bcnt1_i32_b32" => count(x, 32, true),
        "s_bcnt1_i32_b64" => count(x, 64, true),
        "s_ff0_i32_b32" => first(x, 32, false),
        "s_ff0_i32_b64" => first(x, 64, false),
        "s_ff1_i32_b32" => first(x, 32, true),
        "s_ff1_i32_b64" => first(x, 64, true),
        "s_flbit_i32_b32" => last_one(x, 32),
        "s_flbit_i32_b64" => last_one(x, 64),
        "s_flbit_i32" => sign_run(x, 32),
        "s_flbit_i32_i64" => sign_run(x, 64),
        "s_sext_i32_i8" => only(u64::from(x as i8 as u32)),
        "s_sext_i32_i16" => only(u64::from(x as i16 as u32)),
        "s_bitset0_b32" => only(a.old & !(1 << (x % 32))),
        "s_bitset0_b64" => only(a.old & !(1 << (x % 64))),
        "s_bitset1_b32" => only(a.old | 1 << (x % 32)),
        "s_bitset1_b64" => only(a.old | 1 << (x % 64)),
        "s_abs_i32" => nonzero(low(i128::from(x as i32).abs())),
        "s_bitreplicate_b64_b32" => {
            only(bits(x, 32).enumerate().fold(0, |value, (at, bit)| value | (u64::from(bit) * 3) << (2 * at)))
        }
        "s_and_saveexec_b64" => saves(a, x & e),
        "s_or_saveexec_b64" => saves(a, x | e),
        "s_xor_saveexec_b64" => saves(a, x ^ e),
        "s_andn1_saveexec_b64" => saves(a, !x & e),
        "s_andn2_saveexec_b64" => saves(a, x & !e),
        "s_orn1_saveexec_b64" => saves(a, !x | e),
        "s_orn2_saveexec_b64" => saves(a, x | !e),
        "s_nand_saveexec_b64" => saves(a, !(x & e)),
        "s_nor_saveexec_b64" => saves(a, !(x | e)),
        "s_xnor_saveexec_b64" => saves(a, !(x ^ e)),
        // In waves of 32 lanes; the other half of EXEC stays.
        "s_and_saveexec_b32" => saves(a, x & e),
        "s_or_saveexec_b32" => saves(a, x | e),
        "s_xor_saveexec_b32" => saves(a, x ^ e),
        "s_andn1_saveexec_b32" => saves(a, low32(!x & e)),
        "s_andn2_saveexec_b32" => saves(a, low32(x & !e)),
        "s_orn1_saveexec_b32" => saves(a, low32(!x | e)),
        "s_orn2_saveexec_b32" => saves(a, low32(x | !e)),
        "s_nand_saveexec_b32" => saves(a, low32(!(x & e))),
        "s_nor_saveexec_b32" => saves(a, low32(!(x | e))),
        "s_xnor_saveexec_b32" => saves(a, low32(!(x ^ e))),
        "s_andn1_wrexec_b32" => replaces(low32(!x & e)),
        "s_andn2_wrexec_b32" => replaces(low32(x & !e)),
        "s_andn1_wrexec_b64" => replaces(!x & e),
        "s_andn2_wrexec_b64" => replaces(x & !e),
        _ => return None,
    })
}

fn compare(name: &str, a: &State) -> Option<Effect> {
    let [x, y] = a.s;
    let (u0, u1, i0, i1) = (x as u32, y as u32, x as i32, y as i32);
    Some(flag(match name {
        "s_cmp_eq_i32" | "s_cmp_eq_u32" => u0 == u1,
        "s_cmp_lg_i32" | "s_cmp_lg_u32" => u0 != u1,
        "s_cmp_gt_i32" => i0 > i1,
        "s_cmp_ge_i32" => i0 >= i1,
        "s_cmp_lt_i32" => i0 < i1,
        "s_cmp_le_i32" => i0 <= i1,
        "s_cmp_gt_u32" => u0 > u1,
        "s_cmp_ge_u32" => u0 >= u1,
        "s_cmp_lt_u32" => u0 < u1,
        "s_cmp_le_u32" => u0 <= u1,
        "s_cmp_eq_u64" => x == y,
        "s_cmp_lg_u64" => x != y,
        "s_bitcmp0_b32" => u0 >> (u1 % 32) & 1 == 0,
        "s_bitcmp1_b32" => u0 >> (u1 % 32) & 1 == 1,
        "s_bitcmp0_b64" => x >> (y % 64) & 1 == 0,
        "s_bitcmp1_b64" => x >> (y % 64) & 1 == 1,
        _ => return None,
    }))
}

fn constant(name: &str, a: &State) -> Option<Effect> {
    let (old, old_signed) = (a.old as u32, i128::from(a.old as i32));
    let unsigned = u32::from(a.immediate);
    let signed = i128::from(a.immediate as i16);
    Some(match name {
        "s_movk_i32" => only(low(signed)),
        "s_cmovk_i32" => only(if a.scc { low(signed) } else { a.old }),
        "s_addk_i32" => {
            let exact = old_signed + signed;
            both(low(exact), exact != i128::from(exact as i32))
        }
        "s_mulk_i32" => only(low(old_signed * signed)),
        "s_cmpk_eq_i32" => flag(old_signed == signed),
        "s_cmpk_lg_i32" => flag(old_signed != signed),
        "s_cmpk_gt_i32" => flag(old_signed > signed),
        "s_cmpk_ge_i32" => flag(old_signed >= signed),
        "s_cmpk_lt_i32" => flag(old_signed < signed),
        "s_cmpk_le_i32" => flag(old_signed <= signed),
        "s_cmpk_eq_u32" => flag(old == unsigned),
        "s_cmpk_lg_u32" => flag(old != unsigned),
        "s_cmpk_gt_u32" => flag(old > unsigned),
        "s_cmpk_ge_u32" => flag(old >= unsigned),
        "s_cmpk_lt_u32" => flag(old < unsigned),
        "s_cmpk_le_u32" => flag(old <= unsigned),
        _ => return None,
    })
}
