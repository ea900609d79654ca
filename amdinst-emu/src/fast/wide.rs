//! 64-bit integers in two rows: shifts by the same count everywhere, and multiply-add.

use super::level::Level;
use super::{Body, Lanes, Operands, PARTS, parts, put_pair, set_mask};
use crate::program::{Context, Hot};

/// Kinds of [`Shift`].
pub(super) const LEFT: u8 = 0;
pub(super) const RIGHT: u8 = 1;
pub(super) const RIGHT_SIGNED: u8 = 2;

/// A pair of rows shifted by a scalar or constant.
pub(super) struct Shift<const KIND: u8>;

impl<const KIND: u8> Body for Shift<KIND> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let count = Operands::of(w).scalar(hot, 0) & 63;
        let [lower, upper, ..] = hot.src[1].row.group(w.rows.file());
        let (by, rest) = (level.splat(count & 31), level.splat(31 - (count & 31)));
        let mut low = [level.splat(0); PARTS];
        let mut high = [level.splat(0); PARTS];
        for i in 0..parts::<L>() {
            let (a, b) = (level.load(lower, i), level.load(upper, i));
            // What crosses from one half to the other, shifted by 32 - count in two parts, for a count of
            // 0.
            if KIND == LEFT {
                if count < 32 {
                    low[i] = level.shl(a, by);
                    high[i] = level.or(level.shl(b, by), level.shr(level.shr(a, level.splat(1)), rest));
                } else {
                    high[i] = level.shl(a, by);
                }
            } else {
                let top = if KIND == RIGHT { level.shr(b, by) } else { level.sar(b, by) };
                if count < 32 {
                    low[i] = level.or(level.shr(a, by), level.shl(level.add(b, b), rest));
                    high[i] = top;
                } else {
                    low[i] = top;
                    high[i] = if KIND == RIGHT { level.splat(0) } else { level.sar(b, level.splat(31)) };
                }
            }
        }
        put_pair(level, w, hot.dst, &low, &high);
        hot.next
    }
}

/// The same shifts, by counts in a row.
pub(super) struct ShiftEach<const KIND: u8>;

impl<const KIND: u8> Body for ShiftEach<KIND> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let counts = hot.src[0].row.row(w.rows.file());
        let [lower, upper, ..] = hot.src[1].row.group(w.rows.file());
        let (one, most, half) = (level.splat(1), level.splat(31), level.splat(32));
        let mut low = [level.splat(0); PARTS];
        let mut high = [level.splat(0); PARTS];
        for i in 0..parts::<L>() {
            let by = level.load(counts, i);
            let (a, b) = (level.load(lower, i), level.load(upper, i));
            let rest = level.xor(level.and(by, most), most);
            let far = level.equal(level.and(by, half), half);
            if KIND == LEFT {
                let left = level.shl(a, by);
                let across = level.or(level.shl(b, by), level.shr(level.shr(a, one), rest));
                low[i] = level.blend(far, left, level.splat(0));
                high[i] = level.blend(far, across, left);
            } else {
                let top = if KIND == RIGHT { level.shr(b, by) } else { level.sar(b, by) };
                let beyond = if KIND == RIGHT { level.splat(0) } else { level.sar(b, most) };
                let across = level.or(level.shr(a, by), level.shl(level.add(b, b), rest));
                low[i] = level.blend(far, across, top);
                high[i] = level.blend(far, top, beyond);
            }
        }
        put_pair(level, w, hot.dst, &low, &high);
        hot.next
    }
}

/// `v_mad_u64_u32`: the third source is a pair of rows, or a constant below 2^32.
pub(super) struct MultiplyAdd;

impl Body for MultiplyAdd {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let mut carries = 0;
        let operands = Operands::of(w);
        let a = Lanes::of(level, operands, hot, 0);
        let b = Lanes::of(level, operands, hot, 1);
        let c = Lanes::of(level, operands, hot, 2);
        let [_, behind, ..] = hot.src[2].row.group(w.rows.file());
        let mut low = [level.splat(0); PARTS];
        let mut high = [level.splat(0); PARTS];
        for i in 0..parts::<L>() {
            let (a, b) = (a.get(i), b.get(i));
            let add = match c {
                Lanes::Row(..) => level.load(behind, i),
                Lanes::Same(_) => level.splat(0),
            };
            let product = level.mul(a, b);
            low[i] = level.add(product, c.get(i));
            let carry = level.blend(level.less_unsigned(low[i], product), level.splat(0), level.splat(1));
            // The upper half of a product is at most 2^32 - 2.
            let upper = level.add(level.mul_high(a, b), carry);
            high[i] = level.add(upper, add);
            carries |= u64::from(level.less_unsigned(high[i], upper)) << (i * L::N);
        }
        put_pair(level, w, hot.dst, &low, &high);
        let carries = carries & w.exec;
        set_mask::<L>(w, hot.sdst as u8, carries);
        hot.next
    }
}
