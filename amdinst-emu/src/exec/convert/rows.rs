//! Conversions that round to nearest, all lanes of an element at a time, in loops that compilers make vector
//! code of.
//!
//! A number of at most 16 bits is exact as a single. Scaled by a power of two it is so as well, but beyond
//! the range of singles or below their normal numbers: there each narrow format has its largest number, or
//! zero, long since, and single precision and its brain format round it as the multiplication does.

use super::elements::Operand;
use super::{Conversion, signs};
use crate::exec::float::{choose, single};
use crate::exec::half;
use crate::exec::minifloat::{self, Format, Number, Rounding, Specials};
use crate::wave::{Half, LANES, MASK_ROW, Row, Wave};

/// Converts, and writes the active lanes; whether this is a conversion that is done here.
pub(super) fn convert(w: &mut Wave, conversion: &Conversion<'_>, sources: &[Operand; 3], dst: u16) -> bool {
    let plan = conversion.plan;
    if plan.seed.is_some() || conversion.is_finished {
        return false;
    }
    #[cfg(target_arch = "x86_64")]
    if w.avx2 {
        // SAFETY: `Wave::new` sets it only where the host has these features.
        unsafe { on_avx2(w, conversion, sources, dst) };
        return true;
    }
    all(w, conversion, sources, dst);
    true
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn on_avx2(w: &mut Wave, conversion: &Conversion<'_>, sources: &[Operand; 3], dst: u16) {
    all(w, conversion, sources, dst);
}

#[inline(always)]
fn all(w: &mut Wave, conversion: &Conversion<'_>, sources: &[Operand; 3], dst: u16) {
    match conversion.plan.count {
        1 | 2 => into::<2>(w, conversion, sources, dst),
        _ => into::<32>(w, conversion, sources, dst),
    }
}

/// Converts into at most so many registers.
#[inline(always)]
fn into<const WORDS: usize>(w: &mut Wave, conversion: &Conversion<'_>, sources: &[Operand; 3], dst: u16) {
    let &Conversion { plan, to, .. } = conversion;
    let how = conversion.codes.map_or_else(|| How::Rounded(Code::of(to, conversion.saturates)), How::Known);
    let mut words = [[0; LANES]; WORDS];
    let mut scales = None;
    if let Some(at) = plan.scale {
        scales = Some(word(w, sources[at], 0));
    }
    for at in 0..plan.count {
        let (source, index) = plan.element(at);
        let codes = elements(w, conversion, sources[source], source, index);
        let results = match &how {
            How::Known(known) => looked_up(known, &codes),
            How::Rounded(code) => rounded(conversion, code, &codes, scales.as_ref()),
        };
        let bit = at as u32 * to.bits();
        let (first, shift) = ((bit / 32) as usize, bit % 32);
        for lane in 0..LANES {
            words[first][lane] |= results[lane] << shift;
        }
        if shift + to.bits() > 32 {
            for lane in 0..LANES {
                words[first + 1][lane] |= results[lane] >> (32 - shift);
            }
        }
    }
    let (first, part) = plan.place(conversion.extra.inst.mods.op_sel);
    let mask = part.map_or(u32::MAX, |bits| (((1u64 << bits) - 1) << first) as u32);
    let active = w.rows[usize::from(MASK_ROW)];
    let count = (plan.count as u32 * to.bits()).div_ceil(32) as usize;
    for (word, row) in words[..count].iter().zip(&mut w.rows[usize::from(dst)..]) {
        for lane in 0..LANES {
            let mask = mask & active[lane];
            row[lane] = word[lane] << first & mask | row[lane] & !mask;
        }
    }
}

/// A dword of a source.
#[inline(always)]
fn word(w: &Wave, source: Operand, at: usize) -> Row {
    match source {
        Operand::Row(row) => w.rows[usize::from(row) + at],
        Operand::Bits(bits) => [(bits >> (32 * at.min(1))) as u32; LANES],
    }
}

/// The codes of an element, with its signs modified.
#[inline(always)]
fn elements(w: &Wave, conversion: &Conversion<'_>, operand: Operand, source: usize, index: usize) -> Row {
    let &Conversion { plan, extra, from, first, .. } = conversion;
    let bit = first + index as u32 * from.bits();
    let (at, shift) = ((bit / 32) as usize, bit % 32);
    let mask = ((1u64 << from.bits()) - 1) as u32;
    let mut codes = word(w, operand, at);
    if shift + from.bits() > 32 {
        let high = word(w, operand, at + 1);
        for lane in 0..LANES {
            codes[lane] = (codes[lane] >> shift | high[lane] << (32 - shift)) & mask;
        }
    } else {
        for code in &mut codes {
            *code = *code >> shift & mask;
        }
    }
    let (stay, invert) = signs(plan, extra, source, from);
    for code in &mut codes {
        *code = *code & stay ^ invert;
    }
    codes
}

/// How results are made.
enum How {
    /// Each code has its own.
    Known(&'static [u32; 256]),
    Rounded(Code),
}

/// The codes of results that are known.
#[inline(always)]
fn looked_up(known: &[u32; 256], codes: &Row) -> Row {
    let mut results = [0; LANES];
    for lane in 0..LANES {
        results[lane] = known[(codes[lane] & 0xff) as usize];
    }
    results
}

/// The codes of results that are rounded.
#[inline(always)]
fn rounded(conversion: &Conversion<'_>, code: &Code, codes: &Row, scales: Option<&Row>) -> Row {
    let &Conversion { plan, from, to, .. } = conversion;
    let mut results = [0; LANES];
    let mut numbers = values(from, codes, conversion.flushes_sources);
    // Whether a number is infinite or a NaN of itself, and the sign that its NaN has.
    let (mut is_infinite, mut is_nan, mut is_negative) = ([0u32; LANES], [0u32; LANES], [0u32; LANES]);
    let nan_has_sign = from.specials != Specials::NegativeZero;
    for lane in 0..LANES {
        let number = numbers[lane];
        is_infinite[lane] = u32::from(number.is_infinite());
        is_nan[lane] = u32::from(number.is_nan());
        let sign = codes[lane] & from.sign() != 0;
        is_negative[lane] = u32::from(sign & (nan_has_sign | !number.is_nan()));
    }
    if let Some(scales) = scales {
        for lane in 0..LANES {
            let scale = (scales[lane] >> 23 & 0xff) as i32;
            let power = if plan.narrows() { 127 - scale } else { scale - 127 };
            numbers[lane] *= power_of_two(power);
            let is_all = scale == 255;
            is_nan[lane] |= u32::from(is_all);
            is_negative[lane] = choose(is_all, u32::from(codes[lane] & from.sign() != 0), is_negative[lane]);
        }
    }
    for lane in 0..LANES {
        let number = numbers[lane];
        let rounded = if to == minifloat::F32 {
            number.to_bits()
        } else {
            let keeps = (to == minifloat::F16) & (is_infinite[lane] != 0);
            code.nearest(number, keeps)
        };
        results[lane] = choose(is_nan[lane] != 0, code.nan[is_negative[lane] as usize & 1], rounded);
    }
    if conversion.flushes_results {
        for result in &mut results {
            *result = half::flush(Half(*result as u16)).0.into();
        }
    }
    results
}

/// The numbers of codes.
#[inline(always)]
fn values(from: Format, codes: &Row, flushes: bool) -> [f32; LANES] {
    let mut numbers = [0f32; LANES];
    match from {
        minifloat::F32 if flushes => {
            for lane in 0..LANES {
                numbers[lane] = single::flush(f32::from_bits(codes[lane]));
            }
        }
        minifloat::F32 => {
            for lane in 0..LANES {
                numbers[lane] = f32::from_bits(codes[lane]);
            }
        }
        minifloat::BF16 => {
            for lane in 0..LANES {
                numbers[lane] = f32::from_bits(codes[lane] << 16);
            }
        }
        minifloat::F16 => {
            for lane in 0..LANES {
                numbers[lane] = half::value(Half(codes[lane] as u16));
            }
        }
        small => {
            let known = small.values();
            for lane in 0..LANES {
                numbers[lane] = known[(codes[lane] & 0xff) as usize];
            }
        }
    }
    numbers
}

/// 2^n, for n from -128 to 127.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    let normal = ((n + 127) as u32) << 23;
    let subnormal = 1 << 22 >> (-127 - n).clamp(0, 31);
    f32::from_bits(choose(n >= -126, normal, subnormal))
}

/// How a format's codes are made.
struct Code {
    mantissa_bits: u32,
    /// The smallest exponent of a normal number.
    least: i32,
    max: u32,
    sign: u32,
    /// Of a positive and of a negative one.
    zero: [u32; 2],
    nan: [u32; 2],
    overflow: [u32; 2],
    infinity: [u32; 2],
}

impl Code {
    fn of(to: Format, saturates: bool) -> Self {
        let both = |number: fn(bool) -> Number, saturates: bool| {
            [false, true].map(|negative| to.encode(number(negative), Rounding::NearestEven, saturates))
        };
        let infinite: fn(bool) -> Number = |negative| Number::Infinite { negative };
        Self {
            mantissa_bits: to.mantissa_bits,
            least: 1 - to.bias,
            max: to.max(),
            sign: to.sign(),
            zero: both(|negative| Number::Zero { negative }, saturates),
            nan: both(|negative| Number::Nan { negative }, saturates),
            overflow: both(infinite, saturates),
            infinity: both(infinite, false),
        }
    }

    /// The code of a number that is no NaN; if it `keeps` infinity, that of infinity for a number beyond the
    /// largest.
    #[inline(always)]
    fn nearest(&self, number: f32, keeps: bool) -> u32 {
        let bits = number.to_bits();
        let (magnitude, negative) = (bits & 0x7fff_ffff, (bits >> 31) as usize);
        let power = (magnitude >> 23).max(1) as i32 - 127;
        let significand = magnitude & 0x7f_ffff | choose(magnitude >> 23 == 0, 0, 0x80_0000);
        // Bits that fall off; from the 25th on nothing is left of them.
        let lost = (23 - self.mantissa_bits as i32 + (self.least - power).max(0)).clamp(1, 25) as u32;
        let odd = significand >> lost & 1;
        let kept = (significand + (1 << (lost - 1)) - 1 + odd) >> lost;
        // The implied one, and a carry out of the mantissa, add to the exponent field.
        let field = (power - self.least).max(0) as u32;
        let code = (field << self.mantissa_bits) + kept;
        let at = |both: [u32; 2]| choose(negative != 0, both[1], both[0]);
        let beyond = choose(keeps, at(self.infinity), at(self.overflow));
        let signed = choose(code == 0, at(self.zero), code | choose(negative != 0, self.sign, 0));
        choose(code > self.max, beyond, signed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Singles of every exponent: exact, between two codes, and about the ties, for codes of every length.
    fn singles() -> impl Iterator<Item = f32> {
        let mantissas = (0..24u32).flat_map(|bit| {
            let one = 1u32 << bit >> 1;
            [one, one.wrapping_sub(1), one + 1, 0x7f_ffff - one, 0x40_0000 | one, 0x60_0000 | one]
        });
        let mantissas: Vec<u32> = mantissas.map(|bits| bits & 0x7f_ffff).collect();
        (0..512u32).flat_map(move |top| {
            mantissas.clone().into_iter().map(move |mantissa| f32::from_bits(top << 23 | mantissa))
        })
    }

    #[test]
    fn codes_are_those_of_the_rounding_by_parts() {
        use minifloat::{BF6, BF8_FNUZ, BF8_OCP, BF16, F16, FP4, FP6, FP8_FNUZ, FP8_OCP};
        for format in [FP8_OCP, BF8_OCP, FP8_FNUZ, BF8_FNUZ, FP6, BF6, FP4, F16, BF16] {
            for saturates in [false, true] {
                let code = Code::of(format, saturates);
                for number in singles().filter(|number| !number.is_nan()) {
                    let parts = minifloat::F32.number(number.to_bits());
                    let expected = format.encode(parts, Rounding::NearestEven, saturates);
                    assert_eq!(code.nearest(number, false), expected, "{number:e} as {format:?}");
                }
            }
        }
    }

    /// Scaling may lose bits of a single, which eight bits at most don't tell.
    #[test]
    fn what_is_scaled_down_has_eight_bits_at_most() {
        let plans = amdgpu_isa::Op::ALL.iter().filter_map(|op| super::super::plan::of(*op));
        for plan in plans.filter(|plan| plan.scale.is_some() && plan.narrows()) {
            assert!(plan.to.bits() <= 8, "{plan:?}");
        }
    }

    #[test]
    fn powers_of_two_are_exact() {
        for n in -128..=127 {
            assert_eq!(f64::from(power_of_two(n)), f64::from(n).exp2());
        }
    }
}
