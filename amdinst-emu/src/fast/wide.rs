//! 64-bit integers in two rows: shifts by the same count everywhere, and multiply-add.

use super::level::Level;
use super::{Body, Lanes, PARTS, parts, put, rows, scalar, set_mask};
use crate::program::{Context, Hot};
use crate::wave::LANES;

/// Kinds of [`Shift`].
pub(super) const LEFT: u8 = 0;
pub(super) const RIGHT: u8 = 1;
pub(super) const RIGHT_SIGNED: u8 = 2;

/// A pair of rows shifted by a scalar or constant.
pub(super) struct Shift<const KIND: u8>;

impl<const KIND: u8> Body for Shift<KIND> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let count = scalar(w, hot.src[0], hot.imm[0]) & 63;
        // SAFETY: rows are in the register file (checked by `compile`).
        unsafe {
            let from = rows(w).add(hot.src[1] as usize);
            let (by, rest) = (L::splat(count & 31), L::splat(31 - (count & 31)));
            let mut low = [L::splat(0); PARTS];
            let mut high = [L::splat(0); PARTS];
            for i in 0..parts::<L>() {
                let (a, b) = (L::load(from.add(i * L::N)), L::load(from.add(LANES + i * L::N)));
                // What crosses from one half to the other, shifted by 32 - count in two parts, for a count of
                // 0.
                if KIND == LEFT {
                    if count < 32 {
                        low[i] = L::shl(a, by);
                        high[i] = L::or(L::shl(b, by), L::shr(L::shr(a, L::splat(1)), rest));
                    } else {
                        high[i] = L::shl(a, by);
                    }
                } else {
                    let top = if KIND == RIGHT { L::shr(b, by) } else { L::sar(b, by) };
                    if count < 32 {
                        low[i] = L::or(L::shr(a, by), L::shl(L::add(b, b), rest));
                        high[i] = top;
                    } else {
                        low[i] = top;
                        high[i] = if KIND == RIGHT { L::splat(0) } else { L::sar(b, L::splat(31)) };
                    }
                }
            }
            put::<L>(w, hot.dst, &low);
            put::<L>(w, hot.dst + LANES as u32, &high);
        }
        hot.next
    }
}

/// The same shifts, by counts in a row.
pub(super) struct ShiftEach<const KIND: u8>;

impl<const KIND: u8> Body for ShiftEach<KIND> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        // SAFETY: as for `Shift`.
        unsafe {
            let counts = rows(w).add(hot.src[0] as usize);
            let from = rows(w).add(hot.src[1] as usize);
            let (one, most, half) = (L::splat(1), L::splat(31), L::splat(32));
            let mut low = [L::splat(0); PARTS];
            let mut high = [L::splat(0); PARTS];
            for i in 0..parts::<L>() {
                let by = L::load(counts.add(i * L::N));
                let (a, b) = (L::load(from.add(i * L::N)), L::load(from.add(LANES + i * L::N)));
                let rest = L::xor(L::and(by, most), most);
                let far = L::equal(L::and(by, half), half);
                if KIND == LEFT {
                    let left = L::shl(a, by);
                    let across = L::or(L::shl(b, by), L::shr(L::shr(a, one), rest));
                    low[i] = L::blend(far, left, L::splat(0));
                    high[i] = L::blend(far, across, left);
                } else {
                    let top = if KIND == RIGHT { L::shr(b, by) } else { L::sar(b, by) };
                    let beyond = if KIND == RIGHT { L::splat(0) } else { L::sar(b, most) };
                    let across = L::or(L::shr(a, by), L::shl(L::add(b, b), rest));
                    low[i] = L::blend(far, across, top);
                    high[i] = L::blend(far, top, beyond);
                }
            }
            put::<L>(w, hot.dst, &low);
            put::<L>(w, hot.dst + LANES as u32, &high);
        }
        hot.next
    }
}

/// `v_mad_u64_u32`: the third source is a pair of rows, or a constant below 2^32.
pub(super) struct MultiplyAdd;

impl Body for MultiplyAdd {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let mut carries = 0;
        // SAFETY: as for `Shift`; a third source that is a row has a second one behind it.
        unsafe {
            let a = Lanes::<L>::of(w, hot, 0);
            let b = Lanes::<L>::of(w, hot, 1);
            let c = Lanes::<L>::of(w, hot, 2);
            let mut low = [L::splat(0); PARTS];
            let mut high = [L::splat(0); PARTS];
            for i in 0..parts::<L>() {
                let (a, b) = (a.get(i), b.get(i));
                let add = match c {
                    Lanes::Row(row) => L::load(row.add(LANES + i * L::N)),
                    Lanes::Same(_) => L::splat(0),
                };
                let product = L::mul(a, b);
                low[i] = L::add(product, c.get(i));
                let carry = L::blend(L::less_unsigned(low[i], product), L::splat(0), L::splat(1));
                // The upper half of a product is at most 2^32 - 2.
                let upper = L::add(L::mul_high(a, b), carry);
                high[i] = L::add(upper, add);
                carries |= u64::from(L::less_unsigned(high[i], upper)) << (i * L::N);
            }
            put::<L>(w, hot.dst, &low);
            put::<L>(w, hot.dst + LANES as u32, &high);
        }
        let carries = carries & w.exec;
        set_mask::<L>(w, hot.sdst as u8, carries);
        hot.next
    }
}
