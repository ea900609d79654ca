//! Integers and bits.

use super::{Answer, Args, Operation, operations};

fn narrow(a: &Args, exact: i128, low: i128, high: i128, mask: u128) -> Answer {
    let value = if a.mode.clamp { exact.clamp(low, high) } else { exact };
    (value as u128 & mask).into()
}

/// A result of 32 bits; clamping saturates.
fn u32s(a: &Args, exact: i128) -> Answer {
    narrow(a, exact, 0, u32::MAX.into(), 0xffff_ffff)
}

fn i32s(a: &Args, exact: i128) -> Answer {
    narrow(a, exact, i32::MIN.into(), i32::MAX.into(), 0xffff_ffff)
}

fn u16s(a: &Args, exact: i128) -> Answer {
    narrow(a, exact, 0, 0xffff, 0xffff)
}

fn i16s(a: &Args, exact: i128) -> Answer {
    narrow(a, exact, -0x8000, 0x7fff, 0xffff)
}

/// A source as a number of so many bits.
fn u(a: &Args, source: usize, bits: u32) -> i128 {
    (a.s[source] & ((1 << bits) - 1)) as i128
}

fn s(a: &Args, source: usize, bits: u32) -> i128 {
    (a.s[source] as i128) << (128 - bits) >> (128 - bits)
}

/// Sum or difference with a carry: the bit is the carry or borrow.
fn carried(a: &Args, exact: i128) -> Answer {
    Answer { bit: !(0..=i128::from(u32::MAX)).contains(&exact), ..u32s(a, exact) }
}

fn bit(a: &Args) -> i128 {
    i128::from(a.bit)
}

/// Leading (or trailing) zeros; -1 if there is no one.
fn first(value: u32, position: u32) -> Answer {
    (if value == 0 { u32::MAX } else { position }).into()
}

/// How many bits at the top equal the sign; -1 if all do.
fn sign_run(value: u32) -> u32 {
    (1..32).find(|i| value >> (31 - i) & 1 != value >> 31).unwrap_or(u32::MAX)
}

fn median<T: Ord + Copy>(mut values: [T; 3]) -> T {
    values.sort();
    values[1]
}

fn bytes(value: u32) -> [i128; 4] {
    value.to_le_bytes().map(i128::from)
}

/// Sum of absolute differences of the bytes; masked: without those whose reference (the second) is zero.
fn differences(first: u32, second: u32, masked: bool) -> i128 {
    let pairs = bytes(first).into_iter().zip(bytes(second));
    pairs.filter(|(_, reference)| !masked || *reference != 0).map(|(x, y)| (x - y).abs()).sum()
}

/// Four sums over windows of eight bytes, each added to an element of the third source of so many bits.
fn quad(a: &Args, width: u32, masked: bool) -> Answer {
    let mut value = 0;
    for window in 0..4 {
        let slice = (a.s[0] >> (8 * window)) as u32;
        let element = (a.s[2] >> (width * window) & ((1 << width) - 1)) as i128;
        let exact = differences(slice, a.u(1), masked) + element;
        let most = (1 << width) - 1;
        let sum = if a.mode.clamp { exact.min(most) } else { exact & most };
        value |= (sum as u128) << (width * window);
    }
    value.into()
}

/// V_PERM_B32's pseudocode.
fn permute(a: &Args) -> Answer {
    let data = u64::from(a.u(0)) << 32 | u64::from(a.u(1));
    let input = data.to_le_bytes();
    let result = a.u(2).to_le_bytes().map(|selector| match selector {
        13.. => 0xff,
        12 => 0,
        8..12 => {
            if input[usize::from(selector - 8) * 2 + 1] & 0x80 != 0 {
                0xff
            } else {
                0
            }
        }
        _ => input[usize::from(selector)],
    });
    u32::from_le_bytes(result).into()
}

fn field(a: &Args, is_signed: bool) -> Answer {
    let (offset, width) = (a.u(1) & 31, a.u(2) & 31);
    let data = if is_signed { i128::from(a.i(0)) } else { i128::from(a.u(0)) };
    let part = data >> offset & ((1 << width) - 1);
    let value = if is_signed && width > 0 { part << (128 - width) >> (128 - width) } else { part };
    Answer::from(value as u32)
}

/// Sum of products of parts of so many bits.
fn dot(a: &Args, third: i128, bits: u32, is_signed: bool) -> i128 {
    (0..32 / bits).fold(third, |sum, part| {
        let at = |source: usize| {
            let shifted = Args { s: [a.s[source] >> (bits * part), 0, 0], ..*a };
            if is_signed { s(&shifted, 0, bits) } else { u(&shifted, 0, bits) }
        };
        sum + at(0) * at(1)
    })
}

pub(crate) const OPERATIONS: &[Operation] = operations! {
    v_mov_b16: I16 = I16 => |a| (a.s[0] & 0xffff).into();
    v_not_b16: I16 = I16 => |a| (!a.s[0] & 0xffff).into();
    v_and_b16: I16 = I16 I16 => |a| (a.s[0] & a.s[1] & 0xffff).into();
    v_or_b16: I16 = I16 I16 => |a| ((a.s[0] | a.s[1]) & 0xffff).into();
    v_xor_b16: I16 = I16 I16 => |a| ((a.s[0] ^ a.s[1]) & 0xffff).into();
    v_cndmask_b16: I16 = I16 I16 => |a| ((if a.bit { a.s[1] } else { a.s[0] }) & 0xffff).into();
    v_cvt_i32_i16: I32 = I16 => |a| (s(a, 0, 16) as u32).into();
    v_cvt_u32_u16: I32 = I16 => |a| (u(a, 0, 16) as u32).into();
    v_xor3_b32: I32 = I32 I32 I32 => |a| (a.u(0) ^ a.u(1) ^ a.u(2)).into();
    v_maxmin_i32: I32 = I32 I32 I32 => |a| (a.i(0).max(a.i(1)).min(a.i(2)) as u32).into();
    v_minmax_i32: I32 = I32 I32 I32 => |a| (a.i(0).min(a.i(1)).max(a.i(2)) as u32).into();
    v_maxmin_u32: I32 = I32 I32 I32 => |a| a.u(0).max(a.u(1)).min(a.u(2)).into();
    v_minmax_u32: I32 = I32 I32 I32 => |a| a.u(0).min(a.u(1)).max(a.u(2)).into();
    v_mov_b32: I32 = I32 => |a| a.u(0).into();
    v_mov_b64: I64 = I64 => |a| a.s[0].into();
    v_not_b32: I32 = I32 => |a| (!a.u(0)).into();
    v_bfrev_b32: I32 = I32 => |a| (0..32).fold(0_u32, |value, bit| value | (a.u(0) >> bit & 1) << (31 - bit)).into();
    v_ffbh_u32: I32 = I32 => |a| first(a.u(0), a.u(0).leading_zeros());
    v_ffbl_b32: I32 = I32 => |a| first(a.u(0), a.u(0).trailing_zeros());
    v_ffbh_i32: I32 = I32 => |a| sign_run(a.u(0)).into();
    v_sat_pk_u8_i16: I16 = I32 => |a| {
        let one = |half: u32| u128::from((half as i16).clamp(0, 255) as u8);
        (one(a.u(0)) | one(a.u(0) >> 16) << 8).into()
    };

    v_cndmask_b32: I32 = F32 F32 => |a| if a.bit { a.s[1].into() } else { a.s[0].into() };
    v_and_b32: I32 = I32 I32 => |a| (a.u(0) & a.u(1)).into();
    v_or_b32: I32 = I32 I32 => |a| (a.u(0) | a.u(1)).into();
    v_xor_b32: I32 = I32 I32 => |a| (a.u(0) ^ a.u(1)).into();
    v_xnor_b32: I32 = I32 I32 => |a| (!(a.u(0) ^ a.u(1))).into();
    v_lshrrev_b32: I32 = I32 I32 => |a| (a.u(1) >> (a.u(0) % 32)).into();
    v_ashrrev_i32: I32 = I32 I32 => |a| Answer::from((a.i(1) >> (a.u(0) % 32)) as u32);
    v_lshlrev_b32: I32 = I32 I32 => |a| (a.u(1) << (a.u(0) % 32)).into();
    v_lshrrev_b16: I16 = I16 I16 => |a| ((a.s[1] & 0xffff) >> (a.u(0) % 16)).into();
    v_ashrrev_i16: I16 = I16 I16 => |a| (s(a, 1, 16) as u128 >> (a.u(0) % 16) & 0xffff).into();
    v_lshlrev_b16: I16 = I16 I16 => |a| (a.s[1] << (a.u(0) % 16) & 0xffff).into();
    v_lshrrev_b64: I64 = I32 I64 => |a| (a.s[1] >> (a.u(0) % 64)).into();
    v_ashrrev_i64: I64 = I32 I64 => |a| u128::from((a.s[1] as i64 >> (a.u(0) % 64)) as u64).into();
    v_lshlrev_b64: I64 = I32 I64 => |a| u128::from((a.s[1] as u64) << (a.u(0) % 64)).into();
    v_min_i32: I32 = I32 I32 => |a| Answer::from(a.i(0).min(a.i(1)) as u32);
    v_max_i32: I32 = I32 I32 => |a| Answer::from(a.i(0).max(a.i(1)) as u32);
    v_min_u32: I32 = I32 I32 => |a| a.u(0).min(a.u(1)).into();
    v_max_u32: I32 = I32 I32 => |a| a.u(0).max(a.u(1)).into();
    v_min_i16: I16 = I16 I16 => |a| (s(a, 0, 16).min(s(a, 1, 16)) as u128 & 0xffff).into();
    v_max_i16: I16 = I16 I16 => |a| (s(a, 0, 16).max(s(a, 1, 16)) as u128 & 0xffff).into();
    v_min_u16: I16 = I16 I16 => |a| (u(a, 0, 16).min(u(a, 1, 16)) as u128).into();
    v_max_u16: I16 = I16 I16 => |a| (u(a, 0, 16).max(u(a, 1, 16)) as u128).into();
    v_min3_i32: I32 = I32 I32 I32 => |a| Answer::from(a.i(0).min(a.i(1)).min(a.i(2)) as u32);
    v_max3_i32: I32 = I32 I32 I32 => |a| Answer::from(a.i(0).max(a.i(1)).max(a.i(2)) as u32);
    v_med3_i32: I32 = I32 I32 I32 => |a| Answer::from(median([a.i(0), a.i(1), a.i(2)]) as u32);
    v_min3_u32: I32 = I32 I32 I32 => |a| a.u(0).min(a.u(1)).min(a.u(2)).into();
    v_max3_u32: I32 = I32 I32 I32 => |a| a.u(0).max(a.u(1)).max(a.u(2)).into();
    v_med3_u32: I32 = I32 I32 I32 => |a| median([a.u(0), a.u(1), a.u(2)]).into();
    v_min3_i16: I16 = I16 I16 I16 => |a| (s(a, 0, 16).min(s(a, 1, 16)).min(s(a, 2, 16)) as u128 & 0xffff).into();
    v_max3_i16: I16 = I16 I16 I16 => |a| (s(a, 0, 16).max(s(a, 1, 16)).max(s(a, 2, 16)) as u128 & 0xffff).into();
    v_med3_i16: I16 = I16 I16 I16 => |a| (median([s(a, 0, 16), s(a, 1, 16), s(a, 2, 16)]) as u128 & 0xffff).into();
    v_min3_u16: I16 = I16 I16 I16 => |a| (u(a, 0, 16).min(u(a, 1, 16)).min(u(a, 2, 16)) as u128).into();
    v_max3_u16: I16 = I16 I16 I16 => |a| (u(a, 0, 16).max(u(a, 1, 16)).max(u(a, 2, 16)) as u128).into();
    v_med3_u16: I16 = I16 I16 I16 => |a| (median([u(a, 0, 16), u(a, 1, 16), u(a, 2, 16)]) as u128).into();

    v_add_u32: I32 = I32 I32 => |a| u32s(a, u(a, 0, 32) + u(a, 1, 32));
    v_sub_u32: I32 = I32 I32 => |a| u32s(a, u(a, 0, 32) - u(a, 1, 32));
    v_subrev_u32: I32 = I32 I32 => |a| u32s(a, u(a, 1, 32) - u(a, 0, 32));
    v_add_i32: I32 = I32 I32 => |a| i32s(a, s(a, 0, 32) + s(a, 1, 32));
    v_sub_i32: I32 = I32 I32 => |a| i32s(a, s(a, 0, 32) - s(a, 1, 32));
    v_add_u16: I16 = I16 I16 => |a| u16s(a, u(a, 0, 16) + u(a, 1, 16));
    v_sub_u16: I16 = I16 I16 => |a| u16s(a, u(a, 0, 16) - u(a, 1, 16));
    v_subrev_u16: I16 = I16 I16 => |a| u16s(a, u(a, 1, 16) - u(a, 0, 16));
    v_add_i16: I16 = I16 I16 => |a| i16s(a, s(a, 0, 16) + s(a, 1, 16));
    v_sub_i16: I16 = I16 I16 => |a| i16s(a, s(a, 0, 16) - s(a, 1, 16));
    v_add_co_u32: I32 = I32 I32 => |a| carried(a, u(a, 0, 32) + u(a, 1, 32));
    v_sub_co_u32: I32 = I32 I32 => |a| carried(a, u(a, 0, 32) - u(a, 1, 32));
    v_subrev_co_u32: I32 = I32 I32 => |a| carried(a, u(a, 1, 32) - u(a, 0, 32));
    v_addc_co_u32: I32 = I32 I32 => |a| carried(a, u(a, 0, 32) + u(a, 1, 32) + bit(a));
    v_subb_co_u32: I32 = I32 I32 => |a| carried(a, u(a, 0, 32) - u(a, 1, 32) - bit(a));
    v_subbrev_co_u32: I32 = I32 I32 => |a| carried(a, u(a, 1, 32) - u(a, 0, 32) - bit(a));

    v_mul_i32_i24: I32 = I32 I32 => |a| i32s(a, s(a, 0, 24) * s(a, 1, 24));
    v_mul_u32_u24: I32 = I32 I32 => |a| u32s(a, u(a, 0, 24) * u(a, 1, 24));
    v_mul_hi_i32_i24: I32 = I32 I32 => |a| Answer::from(((s(a, 0, 24) * s(a, 1, 24)) >> 32) as u32);
    v_mul_hi_u32_u24: I32 = I32 I32 => |a| Answer::from(((u(a, 0, 24) * u(a, 1, 24)) >> 32) as u32);
    v_mul_lo_u32: I32 = I32 I32 => |a| Answer::from((u(a, 0, 32) * u(a, 1, 32)) as u32);
    v_mul_lo_i32: I32 = I32 I32 => |a| Answer::from((s(a, 0, 32) * s(a, 1, 32)) as u32);
    v_mul_hi_u32: I32 = I32 I32 => |a| Answer::from(((u(a, 0, 32) * u(a, 1, 32)) >> 32) as u32);
    v_mul_hi_i32: I32 = I32 I32 => |a| Answer::from(((s(a, 0, 32) * s(a, 1, 32)) >> 32) as u32);
    v_mul_lo_u16: I16 = I16 I16 => |a| u16s(a, u(a, 0, 16) * u(a, 1, 16));
    v_mad_i32_i24: I32 = I32 I32 I32 => |a| i32s(a, s(a, 0, 24) * s(a, 1, 24) + s(a, 2, 32));
    v_mad_u32_u24: I32 = I32 I32 I32 => |a| u32s(a, u(a, 0, 24) * u(a, 1, 24) + u(a, 2, 32));
    v_mad_i32_i16: I32 = I16 I16 I32 => |a| i32s(a, s(a, 0, 16) * s(a, 1, 16) + s(a, 2, 32));
    v_mad_u32_u16: I32 = I16 I16 I32 => |a| u32s(a, u(a, 0, 16) * u(a, 1, 16) + u(a, 2, 32));
    v_mad_i16: I16 = I16 I16 I16 => |a| i16s(a, s(a, 0, 16) * s(a, 1, 16) + s(a, 2, 16));
    v_mad_u16: I16 = I16 I16 I16 => |a| u16s(a, u(a, 0, 16) * u(a, 1, 16) + u(a, 2, 16));
    v_mad_legacy_i16: I16 = I16 I16 I16 => |a| i16s(a, s(a, 0, 16) * s(a, 1, 16) + s(a, 2, 16));
    v_mad_legacy_u16: I16 = I16 I16 I16 => |a| u16s(a, u(a, 0, 16) * u(a, 1, 16) + u(a, 2, 16));
    v_mad_u64_u32: I64 = I32 I32 I64 => |a| {
        let exact = u(a, 0, 32) * u(a, 1, 32) + u(a, 2, 64);
        Answer { bit: exact >> 64 & 1 != 0, ..narrow(a, exact, 0, u64::MAX.into(), u64::MAX.into()) }
    };
    v_mad_i64_i32: I64 = I32 I32 I64 => |a| {
        // The 65th bit of the sum.
        let exact = s(a, 0, 32) * s(a, 1, 32) + s(a, 2, 64);
        Answer { bit: exact >> 64 & 1 != 0, ..narrow(a, exact, i64::MIN.into(), i64::MAX.into(), u64::MAX.into()) }
    };

    v_bfe_u32: I32 = I32 I32 I32 => |a| field(a, false);
    v_bfe_i32: I32 = I32 I32 I32 => |a| field(a, true);
    v_bfi_b32: I32 = I32 I32 I32 => |a| (a.u(0) & a.u(1) | !a.u(0) & a.u(2)).into();
    v_bfm_b32: I32 = I32 I32 => |a| Answer::from((((1_u64 << (a.u(0) % 32)) - 1) << (a.u(1) % 32)) as u32);
    v_bcnt_u32_b32: I32 = I32 I32 => |a| Answer::from((0..32).fold(a.u(1), |sum, bit| sum.wrapping_add(a.u(0) >> bit & 1)));
    v_alignbit_b32: I32 = I32 I32 I32 => |a| Answer::from(((u64::from(a.u(0)) << 32 | u64::from(a.u(1))) >> (a.u(2) % 32)) as u32);
    v_alignbyte_b32: I32 = I32 I32 I32 => |a| Answer::from(((u64::from(a.u(0)) << 32 | u64::from(a.u(1))) >> (a.u(2) % 4 * 8)) as u32);
    v_perm_b32: I32 = I32 I32 I32 => permute;
    v_lerp_u8: I32 = I32 I32 I32 => |a| {
        let (x, y, r) = (a.u(0).to_le_bytes(), a.u(1).to_le_bytes(), a.u(2).to_le_bytes());
        let one = |i: usize| ((u32::from(x[i]) + u32::from(y[i]) + u32::from(r[i] & 1)) / 2) as u8;
        u32::from_le_bytes([one(0), one(1), one(2), one(3)]).into()
    };
    v_sad_u8: I32 = I32 I32 I32 => |a| u32s(a, differences(a.u(0), a.u(1), false) + u(a, 2, 32));
    v_sad_hi_u8: I32 = I32 I32 I32 => |a| u32s(a, (differences(a.u(0), a.u(1), false) << 16) + u(a, 2, 32));
    v_msad_u8: I32 = I32 I32 I32 => |a| u32s(a, differences(a.u(0), a.u(1), true) + u(a, 2, 32));
    v_sad_u16: I32 = I32 I32 I32 => |a| {
        let low = u(a, 0, 16) - u(a, 1, 16);
        let high = i128::from(a.u(0) >> 16) - i128::from(a.u(1) >> 16);
        u32s(a, low.abs() + high.abs() + u(a, 2, 32))
    };
    v_sad_u32: I32 = I32 I32 I32 => |a| u32s(a, (u(a, 0, 32) - u(a, 1, 32)).abs() + u(a, 2, 32));
    v_qsad_pk_u16_u8: I64 = I64 I32 I64 => |a| quad(a, 16, false);
    v_mqsad_pk_u16_u8: I64 = I64 I32 I64 => |a| quad(a, 16, true);
    v_mqsad_u32_u8: I128 = I64 I32 I128 => |a| quad(a, 32, true);

    v_xad_u32: I32 = I32 I32 I32 => |a| (a.u(0) ^ a.u(1)).wrapping_add(a.u(2)).into();
    v_lshl_add_u32: I32 = I32 I32 I32 => |a| (a.u(0) << (a.u(1) % 32)).wrapping_add(a.u(2)).into();
    v_add_lshl_u32: I32 = I32 I32 I32 => |a| (a.u(0).wrapping_add(a.u(1)) << (a.u(2) % 32)).into();
    v_add3_u32: I32 = I32 I32 I32 => |a| a.u(0).wrapping_add(a.u(1)).wrapping_add(a.u(2)).into();
    v_lshl_or_b32: I32 = I32 I32 I32 => |a| (a.u(0) << (a.u(1) % 32) | a.u(2)).into();
    v_and_or_b32: I32 = I32 I32 I32 => |a| (a.u(0) & a.u(1) | a.u(2)).into();
    v_or3_b32: I32 = I32 I32 I32 => |a| (a.u(0) | a.u(1) | a.u(2)).into();
    v_pack_b32_f16: I32 = F16 F16 => |a| (a.s[0] & 0xffff | (a.s[1] & 0xffff) << 16).into();

    v_dot2c_i32_i16: I32 = I32 I32 => |a| i32s(a, dot(a, i128::from(a.old as i32), 16, true));
    v_dot4c_i32_i8: I32 = I32 I32 => |a| i32s(a, dot(a, i128::from(a.old as i32), 8, true));
    v_dot8c_i32_i4: I32 = I32 I32 => |a| i32s(a, dot(a, i128::from(a.old as i32), 4, true));
    v_dot2_i32_i16: I32 = I32 I32 I32 => |a| i32s(a, dot(a, s(a, 2, 32), 16, true));
    v_dot4_i32_i8: I32 = I32 I32 I32 => |a| i32s(a, dot(a, s(a, 2, 32), 8, true));
    v_dot8_i32_i4: I32 = I32 I32 I32 => |a| i32s(a, dot(a, s(a, 2, 32), 4, true));
    v_dot2_u32_u16: I32 = I32 I32 I32 => |a| u32s(a, dot(a, u(a, 2, 32), 16, false));
    v_dot4_u32_u8: I32 = I32 I32 I32 => |a| u32s(a, dot(a, u(a, 2, 32), 8, false));
    v_dot8_u32_u4: I32 = I32 I32 I32 => |a| u32s(a, dot(a, u(a, 2, 32), 4, false));
};
