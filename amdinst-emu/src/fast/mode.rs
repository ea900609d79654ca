//! What MODE asks of floats that is not the default: subnormals flushed, results rounded other than to the
//! nearest. And what an instruction asks itself: absolute values, negation, output modifiers, clamping.
//!
//! `exec` says in which order (`exec/valu`): sources lose their signs and subnormals; the result its
//! subnormals, then it is multiplied by the output modifier's power of two and clamped.

use super::level::{Directed, Level, Vectors32, in_mode, relation};
use super::parts;
use super::valu::nan;
use crate::program::{Hot, Step};
use crate::wave::Wave;

/// What MODE asks of one format.
#[derive(Clone, Copy)]
pub(super) struct FloatMode {
    /// `None`: to the nearest number.
    pub(super) directed: Option<Directed>,
    pub(super) flushes_sources: bool,
    pub(super) flushes_results: bool,
}

impl FloatMode {
    /// For singles.
    #[inline(always)]
    pub(super) fn single(w: &Wave) -> Self {
        Self::of(w.round32(), w.mode >> 4)
    }

    /// For doubles.
    #[inline(always)]
    pub(super) fn double(w: &Wave) -> Self {
        Self::of(w.round64(), w.mode >> 6)
    }

    #[inline(always)]
    fn of(round: u32, keeps: u32) -> Self {
        Self {
            directed: Directed::of(round),
            flushes_sources: keeps & 1 == 0,
            flushes_results: keeps & 2 == 0,
        }
    }
}

/// What an instruction asks of its singles, as bits of `hot.target`, which arithmetic does not use otherwise.
#[derive(Clone, Copy)]
pub(super) struct Modifiers(u32);

impl Modifiers {
    const ABS: u32 = 0;
    const NEG: u32 = 3;
    const OMOD: u32 = 6;
    const CLAMP: u32 = 8;

    /// Those of a step; `None` if it has others than these, DPP apart.
    pub(super) fn of(step: &Step) -> Option<Self> {
        let mods = &step.extra.as_ref()?.inst.mods;
        let others = mods.sdwa.is_some() || mods.op_sel != 0;
        let bits = u32::from(mods.abs & 7) << Self::ABS
            | u32::from(mods.neg & 7) << Self::NEG
            | u32::from(mods.omod & 3) << Self::OMOD
            | u32::from(mods.clamp) << Self::CLAMP;
        (!others).then_some(Self(bits))
    }

    /// Whether there are none.
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether they are nothing but signs changed.
    pub(super) fn are_signs(self) -> bool {
        self.0 < 1 << Self::OMOD
    }

    /// Puts them where handlers find them.
    pub(super) fn put(self, hot: &mut Hot) {
        hot.target = self.0;
    }

    #[inline(always)]
    pub(super) fn get(hot: &Hot) -> Self {
        Self(hot.target)
    }

    /// None.
    pub(super) const NONE: Self = Self(0);

    /// For a source of singles: the bits that stay, and those that are inverted then.
    #[inline(always)]
    pub(super) fn signs(self, slot: usize) -> (u32, u32) {
        const SIGN: u32 = 1 << 31;
        let stay = if self.0 >> (Self::ABS as usize + slot) & 1 != 0 { !SIGN } else { !0 };
        (stay, if self.0 >> (Self::NEG as usize + slot) & 1 != 0 { SIGN } else { 0 })
    }

    #[inline(always)]
    fn omod(self) -> u8 {
        (self.0 >> Self::OMOD & 3) as u8
    }

    #[inline(always)]
    fn clamps(self) -> bool {
        self.0 >> Self::CLAMP & 1 != 0
    }
}

/// What happens to the signs of a source of singles.
pub(super) struct Signs<L: Level> {
    level: L,
    stay: L::V,
    invert: L::V,
}

impl<L: Level> Signs<L> {
    #[inline(always)]
    pub(super) fn of(level: L, modifiers: Modifiers, slot: usize) -> Self {
        let (stay, invert) = modifiers.signs(slot);
        Self { level, stay: level.splat(stay), invert: level.splat(invert) }
    }

    #[inline(always)]
    pub(super) fn apply(&self, value: L::V) -> L::V {
        self.level.xor(self.level.and(value, self.stay), self.invert)
    }
}

/// Finishes a row of singles; whether their subnormals `are_flushed` already where MODE wants it.
#[inline(always)]
pub(super) fn finish<L: Level>(
    level: L,
    w: &mut Wave,
    mode: FloatMode,
    modifiers: Modifiers,
    are_flushed: bool,
    result: &mut Vectors32<L>,
) {
    let (keeps, power) = match modifiers.omod() {
        0 => (!mode.flushes_results, 0),
        omod => w.output(omod, !mode.flushes_results),
    };
    if !keeps {
        if !are_flushed || !mode.flushes_results {
            for value in &mut result[..parts::<L>()] {
                *value = level.flush_f32(*value);
            }
        }
        if power != 0 {
            multiply(level, w, mode, power, result);
        }
    }
    if modifiers.clamps() {
        let (zero, one) = (level.splat(0), level.splat(1f32.to_bits()));
        for value in &mut result[..parts::<L>()] {
            let nans = nan(level, *value);
            let limited = level.max_f32(level.min_f32(*value, one), zero);
            *value = level.blend(nans, limited, if w.dx10_clamp() { zero } else { *value });
        }
    }
}

/// The output modifier: × 2^power, without subnormals or -0. A NaN stays as it is.
#[inline(always)]
fn multiply<L: Level>(level: L, w: &mut Wave, mode: FloatMode, power: i32, result: &mut Vectors32<L>) {
    let factor = level.splat(((127 + power) as u32) << 23);
    let [before, factors, after, ..] = w.rows.with_rooms().1;
    for i in 0..parts::<L>() {
        level.store(before, i, result[i]);
        level.store(factors, i, factor);
    }
    let rounds = FloatMode { flushes_sources: false, flushes_results: false, ..mode };
    level.in_mode::<{ in_mode::MUL_F32 }>(rounds, [before, factors, factors], after);
    for i in 0..parts::<L>() {
        let (before, flushed) = (level.load(before, i), level.flush_f32(level.load(after, i)));
        let zero = level.compare_f32::<{ relation::EQ }>(flushed, level.splat(0));
        let nans = nan(level, before);
        result[i] = level.blend(nans, level.blend(zero, flushed, level.splat(0)), before);
    }
}
