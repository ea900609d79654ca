//! Plain Rust, four lanes at a time: what the compiler makes of it for the host's baseline.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::{Level, flushed, in_mode as operation, relation, scatter_each};
use crate::exec::float::{self, double, single};
use crate::exec::{half, in_double};
use crate::fast::mode::FloatMode;
use crate::fast::{Body, parts};
use crate::program::{Context, Hot};
use crate::wave::{Half, Row};

/// See [`Vectors::Baseline`](crate::vectors::Vectors).
#[derive(Clone, Copy)]
pub(crate) struct Portable<const LANES: usize>;

type V = [u32; 4];

#[inline(always)]
fn map(a: V, b: V, f: impl Fn(u32, u32) -> u32) -> V {
    [f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2]), f(a[3], b[3])]
}

#[inline(always)]
fn test(a: V, b: V, f: impl Fn(u32, u32) -> bool) -> u32 {
    (0..4).fold(0, |bits, lane| bits | u32::from(f(a[lane], b[lane])) << lane)
}

#[inline(always)]
fn float(a: V, b: V, f: impl Fn(f32, f32) -> f32) -> V {
    map(a, b, |a, b| f(f32::from_bits(a), f32::from_bits(b)).to_bits())
}

/// Whether a [`relation`] holds.
#[inline(always)]
fn related<T: PartialOrd + Copy, const RELATION: i32>(a: T, b: T) -> bool {
    let unordered = a.partial_cmp(&b).is_none();
    match RELATION {
        relation::LT => a < b,
        relation::EQ => a == b,
        relation::LE => a <= b,
        relation::GT => a > b,
        relation::LG => !unordered && a != b,
        relation::GE => a >= b,
        relation::ORDERED => !unordered,
        relation::UNORDERED => unordered,
        relation::NGE => unordered || a < b,
        relation::NLG => unordered || a == b,
        relation::NGT => unordered || a <= b,
        relation::NLE => unordered || a > b,
        relation::NEQ => a != b,
        _ => unordered || a >= b,
    }
}

/// A vector's two doubles.
#[inline(always)]
fn numbers(a: V) -> [f64; 2] {
    let number = |low: u32, high: u32| f64::from_bits(u64::from(low) | u64::from(high) << 32);
    [number(a[0], a[1]), number(a[2], a[3])]
}

/// The way back from [`numbers`].
#[inline(always)]
fn bits(numbers: [f64; 2]) -> V {
    let [first, second] = numbers.map(f64::to_bits);
    [first as u32, (first >> 32) as u32, second as u32, (second >> 32) as u32]
}

#[inline(always)]
fn pair(a: V, b: V, f: impl Fn(f64, f64) -> f64) -> V {
    let ([a0, a1], [b0, b1]) = (numbers(a), numbers(b));
    bits([f(a0, b0), f(a1, b1)])
}

/// The result of an [`operation`] on sources that are as MODE wants them.
#[inline(always)]
fn rounded<const OPERATION: u8>(mode: FloatMode, [a, b, c]: [V; 3]) -> V {
    let nearest = Portable::<64>;
    let result = match (mode.directed, OPERATION) {
        (_, operation::MIN_F32) => nearest.min_f32(a, b),
        (_, operation::MAX_F32) => nearest.max_f32(a, b),
        (Some(round), _) => directed::<OPERATION>(round as u32, [a, b, c]),
        (None, operation::ADD_F32) => nearest.add_f32(a, b),
        (None, operation::SUB_F32) => nearest.sub_f32(a, b),
        (None, operation::MUL_F32) => nearest.mul_f32(a, b),
        (None, operation::FMA_F32) => nearest.fma_f32(a, b, c),
        (None, operation::FROM_SIGNED) => nearest.f32_from_signed(a),
        (None, operation::ADD_F64) => nearest.add_f64(a, b),
        (None, operation::MUL_F64) => nearest.mul_f64(a, b),
        (None, _) => nearest.fma_f64(a, b, c),
    };
    if mode.flushes_results { flushed::<_, OPERATION>(nearest, result) } else { result }
}

/// The same, not rounded to the nearest number.
#[inline(always)]
fn directed<const OPERATION: u8>(round: u32, [x, y, z]: [V; 3]) -> V {
    if operation::is_of_doubles(OPERATION) {
        let (x, y, z) = (numbers(x), numbers(y), numbers(z));
        return bits([0, 1].map(|at: usize| match OPERATION {
            operation::ADD_F64 => double::add_round(x[at], y[at], round),
            operation::MUL_F64 => double::mul_round(x[at], y[at], round),
            _ => double::fma_round(x[at], y[at], z[at], round),
        }));
    }
    let lane = |at: usize| {
        let [a, b, c] = [x[at], y[at], z[at]].map(f32::from_bits);
        let result = match OPERATION {
            operation::ADD_F32 => in_double::add(a, b, round),
            operation::SUB_F32 => in_double::add(a, -b, round),
            operation::MUL_F32 => in_double::mul(a, b, round),
            operation::FMA_F32 => in_double::fma(a, b, c, 0, round),
            _ => float::narrow(f64::from(x[at] as i32), round),
        };
        result.to_bits()
    };
    [lane(0), lane(1), lane(2), lane(3)]
}

macro_rules! two {
    ($($name:ident = |$a:ident, $b:ident| $body:expr;)*) => {$(
        #[inline(always)]
        fn $name(self, a: V, b: V) -> V {
            map(a, b, |$a, $b| $body)
        }
    )*};
}

impl<const LANES: usize> Level for Portable<LANES> {
    const LANES: usize = LANES;
    type V = V;
    const N: usize = 4;

    two! {
        add = |a, b| a.wrapping_add(b);
        sub = |a, b| a.wrapping_sub(b);
        mul = |a, b| a.wrapping_mul(b);
        mul_high = |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32;
        and = |a, b| a & b;
        or = |a, b| a | b;
        xor = |a, b| a ^ b;
        and_not = |a, b| a & !b;
        shl = |a, b| a << (b & 31);
        shr = |a, b| a >> (b & 31);
        sar = |a, b| ((a as i32) >> (b & 31)) as u32;
        min_signed = |a, b| (a as i32).min(b as i32) as u32;
        max_signed = |a, b| (a as i32).max(b as i32) as u32;
        min_unsigned = |a, b| a.min(b);
        max_unsigned = |a, b| a.max(b);
    }

    #[inline(always)]
    unsafe fn read(self, from: *const u32) -> V {
        // SAFETY: valid for four lanes (the trait's contract).
        unsafe { from.cast::<V>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u32, value: V) {
        // SAFETY: as above.
        unsafe { to.cast::<V>().write_unaligned(value) }
    }

    #[inline(always)]
    unsafe fn write_if(self, to: *mut u32, value: V, bits: u32) {
        // SAFETY: as above.
        unsafe { self.write(to, self.blend(bits, self.read(to), value)) }
    }

    #[inline(always)]
    fn splat(self, value: u32) -> V {
        [value; 4]
    }

    #[inline(always)]
    fn blend(self, bits: u32, clear: V, set: V) -> V {
        let lane = |lane: usize| {
            let mask = 0u32.wrapping_sub(bits >> lane & 1);
            clear[lane] & !mask | set[lane] & mask
        };
        [lane(0), lane(1), lane(2), lane(3)]
    }

    #[inline(always)]
    fn equal(self, a: V, b: V) -> u32 {
        test(a, b, |a, b| a == b)
    }

    #[inline(always)]
    fn less_signed(self, a: V, b: V) -> u32 {
        test(a, b, |a, b| (a as i32) < b as i32)
    }

    #[inline(always)]
    fn less_unsigned(self, a: V, b: V) -> u32 {
        test(a, b, |a, b| a < b)
    }

    #[inline(always)]
    fn add_f32(self, a: V, b: V) -> V {
        float(a, b, |a, b| a + b)
    }

    #[inline(always)]
    fn sub_f32(self, a: V, b: V) -> V {
        float(a, b, |a, b| a - b)
    }

    #[inline(always)]
    fn mul_f32(self, a: V, b: V) -> V {
        float(a, b, |a, b| a * b)
    }

    #[inline(always)]
    fn fma_f32(self, a: V, b: V, c: V) -> V {
        let lane = |lane: usize| {
            let [a, b, c] = [a[lane], b[lane], c[lane]].map(f32::from_bits);
            a.mul_add(b, c).to_bits()
        };
        [lane(0), lane(1), lane(2), lane(3)]
    }

    #[inline(always)]
    fn min_f32(self, a: V, b: V) -> V {
        map(a, b, |a, b| {
            let (x, y) = (f32::from_bits(a), f32::from_bits(b));
            if x == y {
                a | b
            } else if x < y {
                a
            } else {
                b
            }
        })
    }

    #[inline(always)]
    fn max_f32(self, a: V, b: V) -> V {
        map(a, b, |a, b| {
            let (x, y) = (f32::from_bits(a), f32::from_bits(b));
            if x == y {
                a & b
            } else if x > y {
                a
            } else {
                b
            }
        })
    }

    #[inline(always)]
    fn f32_from_f16(self, a: V) -> V {
        a.map(|a| half::value(Half(a as u16)).to_bits())
    }

    #[inline(always)]
    fn f16_from_f32<const ROUND: u32>(self, a: V) -> V {
        a.map(|a| half::from_f32(f32::from_bits(a), ROUND).0.into())
    }

    #[inline(always)]
    fn compare_f32<const RELATION: i32>(self, a: V, b: V) -> u32 {
        test(a, b, |a, b| related::<f32, RELATION>(f32::from_bits(a), f32::from_bits(b)))
    }

    #[inline(always)]
    fn flush_f32(self, a: V) -> V {
        a.map(|a| single::flush(f32::from_bits(a)).to_bits())
    }

    #[inline(always)]
    fn doubles(self, low: V, high: V) -> [V; 2] {
        [[low[0], high[0], low[1], high[1]], [low[2], high[2], low[3], high[3]]]
    }

    #[inline(always)]
    fn halves(self, [first, second]: [V; 2]) -> [V; 2] {
        [[first[0], first[2], second[0], second[2]], [first[1], first[3], second[1], second[3]]]
    }

    #[inline(always)]
    fn bits_of_doubles(self, [first, second]: [u32; 2]) -> u32 {
        first | second << 2
    }

    #[inline(always)]
    fn add_f64(self, a: V, b: V) -> V {
        pair(a, b, |a, b| a + b)
    }

    #[inline(always)]
    fn mul_f64(self, a: V, b: V) -> V {
        pair(a, b, |a, b| a * b)
    }

    #[inline(always)]
    fn fma_f64(self, a: V, b: V, c: V) -> V {
        let ([a0, a1], [b0, b1], [c0, c1]) = (numbers(a), numbers(b), numbers(c));
        bits([a0.mul_add(b0, c0), a1.mul_add(b1, c1)])
    }

    #[inline(always)]
    fn min_f64(self, a: V, b: V) -> V {
        pair(a, b, |a, b| {
            if a == b {
                f64::from_bits(a.to_bits() | b.to_bits())
            } else if a < b {
                a
            } else {
                b
            }
        })
    }

    #[inline(always)]
    fn max_f64(self, a: V, b: V) -> V {
        pair(a, b, |a, b| {
            if a == b {
                f64::from_bits(a.to_bits() & b.to_bits())
            } else if a > b {
                a
            } else {
                b
            }
        })
    }

    #[inline(always)]
    fn compare_f64<const RELATION: i32>(self, a: V, b: V) -> u32 {
        let ([a0, a1], [b0, b1]) = (numbers(a), numbers(b));
        u32::from(related::<f64, RELATION>(a0, b0)) | u32::from(related::<f64, RELATION>(a1, b1)) << 1
    }

    #[inline(always)]
    fn blend_f64(self, bits: u32, clear: V, set: V) -> V {
        let doubled = ((bits & 1) * 3) | ((bits >> 1 & 1) * 12);
        self.blend(doubled, clear, set)
    }

    #[inline(always)]
    fn flush_f64(self, a: V) -> V {
        bits(numbers(a).map(double::flush))
    }

    #[inline(always)]
    fn in_mode<const OPERATION: u8>(self, mode: FloatMode, sources: [&Row; 3], result: &mut Row) {
        for at in 0..parts::<Self>() {
            let mut values = sources.map(|source| self.load(source, at));
            if mode.flushes_sources && OPERATION != operation::FROM_SIGNED {
                for value in &mut values {
                    *value = flushed::<Self, OPERATION>(self, *value);
                }
            }
            if OPERATION == operation::MUL_ADD_F32 {
                let product = rounded::<{ operation::MUL_F32 }>(mode, values);
                values = [product, values[2], values[2]];
                self.store(result, at, rounded::<{ operation::ADD_F32 }>(mode, values));
            } else {
                self.store(result, at, rounded::<OPERATION>(mode, values));
            }
        }
    }

    #[inline(always)]
    fn f32_from_signed(self, a: V) -> V {
        a.map(|a| (a as i32 as f32).to_bits())
    }

    #[inline(always)]
    fn f32_from_unsigned(self, a: V) -> V {
        a.map(|a| (a as f32).to_bits())
    }

    #[inline(always)]
    unsafe fn gather(self, from: *const u8, offsets: V, bits: u32) -> V {
        let mut values = [0; 4];
        for (lane, value) in values.iter_mut().enumerate() {
            if bits >> lane & 1 != 0 {
                // SAFETY: the trait's contract.
                *value =
                    u32::from_le(unsafe { from.add(offsets[lane] as usize).cast::<u32>().read_unaligned() });
            }
        }
        values
    }

    #[inline(always)]
    unsafe fn scatter(self, to: *mut u8, offsets: V, values: V, bits: u32) {
        // SAFETY: the trait's contract.
        unsafe { scatter_each(to, &offsets, &values, bits) }
    }

    #[inline(always)]
    fn rarely<B: Body>(self, context: &mut Context<'_>, hot: &Hot) -> u32 {
        B::rarely_on_baseline::<LANES>(context, hot)
    }

    #[inline(always)]
    fn apart<B: Body>(self, context: &mut Context<'_>, hot: &Hot) -> u32 {
        B::on_baseline::<LANES>(context, hot)
    }

    #[inline(always)]
    unsafe fn load_shared(self, from: *const u32) -> V {
        // SAFETY: valid for four lanes; the caller checks alignment.
        unsafe {
            let lane = |lane: usize| (*from.add(lane).cast::<AtomicU32>()).load(Relaxed);
            [lane(0), lane(1), lane(2), lane(3)]
        }
    }

    #[inline(always)]
    unsafe fn store_shared(self, to: *mut u32, value: V) {
        for (lane, value) in value.into_iter().enumerate() {
            // SAFETY: as above.
            unsafe { (*to.add(lane).cast::<AtomicU32>()).store(value, Relaxed) };
        }
    }
}
