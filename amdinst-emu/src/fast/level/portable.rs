//! Plain Rust, four lanes at a time: what the compiler makes of it for the host's baseline.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::{Level, relation, scatter_each};
use crate::exec::Context;
use crate::fast::{Body, Hot};

/// See [`super::Vectors::Baseline`].
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

macro_rules! two {
    ($($name:ident = |$a:ident, $b:ident| $body:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $name(a: V, b: V) -> V {
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
    unsafe fn load(from: *const u32) -> V {
        // SAFETY: valid for four lanes (the trait's contract).
        unsafe { from.cast::<V>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(to: *mut u32, value: V) {
        // SAFETY: as above.
        unsafe { to.cast::<V>().write_unaligned(value) }
    }

    #[inline(always)]
    unsafe fn store_if(to: *mut u32, value: V, bits: u32) {
        // SAFETY: as above.
        unsafe { Self::store(to, Self::blend(bits, Self::load(to), value)) }
    }

    #[inline(always)]
    unsafe fn splat(value: u32) -> V {
        [value; 4]
    }

    #[inline(always)]
    unsafe fn blend(bits: u32, clear: V, set: V) -> V {
        let lane = |lane: usize| {
            let mask = 0u32.wrapping_sub(bits >> lane & 1);
            clear[lane] & !mask | set[lane] & mask
        };
        [lane(0), lane(1), lane(2), lane(3)]
    }

    #[inline(always)]
    unsafe fn equal(a: V, b: V) -> u32 {
        test(a, b, |a, b| a == b)
    }

    #[inline(always)]
    unsafe fn less_signed(a: V, b: V) -> u32 {
        test(a, b, |a, b| (a as i32) < b as i32)
    }

    #[inline(always)]
    unsafe fn less_unsigned(a: V, b: V) -> u32 {
        test(a, b, |a, b| a < b)
    }

    #[inline(always)]
    unsafe fn add_f32(a: V, b: V) -> V {
        float(a, b, |a, b| a + b)
    }

    #[inline(always)]
    unsafe fn mul_f32(a: V, b: V) -> V {
        float(a, b, |a, b| a * b)
    }

    #[inline(always)]
    unsafe fn fma_f32(a: V, b: V, c: V) -> V {
        let lane = |lane: usize| {
            let [a, b, c] = [a[lane], b[lane], c[lane]].map(f32::from_bits);
            a.mul_add(b, c).to_bits()
        };
        [lane(0), lane(1), lane(2), lane(3)]
    }

    #[inline(always)]
    unsafe fn min_f32(a: V, b: V) -> V {
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
    unsafe fn max_f32(a: V, b: V) -> V {
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
    unsafe fn compare_f32<const RELATION: i32>(a: V, b: V) -> u32 {
        test(a, b, |a, b| {
            let (a, b) = (f32::from_bits(a), f32::from_bits(b));
            let unordered = a.is_nan() || b.is_nan();
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
        })
    }

    #[inline(always)]
    unsafe fn f32_from_signed(a: V) -> V {
        a.map(|a| (a as i32 as f32).to_bits())
    }

    #[inline(always)]
    unsafe fn f32_from_unsigned(a: V) -> V {
        a.map(|a| (a as f32).to_bits())
    }

    #[inline(always)]
    unsafe fn gather(from: *const u8, offsets: V, bits: u32) -> V {
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
    unsafe fn scatter(to: *mut u8, offsets: V, values: V, bits: u32) {
        // SAFETY: the trait's contract.
        unsafe { scatter_each(to, &offsets, &values, bits) }
    }

    #[inline(always)]
    unsafe fn rarely<B: Body>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        // SAFETY: the trait's contract.
        unsafe { super::super::rarely_on_baseline::<B, LANES>(context, hot) }
    }

    #[inline(always)]
    unsafe fn load_shared(from: *const u32) -> V {
        // SAFETY: valid for four lanes; the caller checks alignment.
        unsafe {
            let lane = |lane: usize| (*from.add(lane).cast::<AtomicU32>()).load(Relaxed);
            [lane(0), lane(1), lane(2), lane(3)]
        }
    }

    #[inline(always)]
    unsafe fn store_shared(to: *mut u32, value: V) {
        for (lane, value) in value.into_iter().enumerate() {
            // SAFETY: as above.
            unsafe { (*to.add(lane).cast::<AtomicU32>()).store(value, Relaxed) };
        }
    }
}
