//! AVX2: eight lanes a vector, lane masks as vectors where they are used.

use std::arch::asm;
use std::arch::x86_64::*;
use std::mem::transmute;

use super::host_mode::{self, host_in_mode};
use super::{Level, flush, in_mode as operation, scatter_each};
use crate::fast::Body;
use crate::fast::mode::FloatMode;
use crate::program::{Context, Hot};
use crate::wave::Row;

/// See [`Vectors::Avx2`](crate::vectors::Vectors).
#[derive(Clone, Copy)]
pub(crate) struct Avx2<const LANES: usize>(());

impl<const LANES: usize> Avx2<LANES> {
    /// # Safety
    /// The host has the extensions that [`Body::on_avx2`] is compiled for.
    #[inline(always)]
    pub(crate) const unsafe fn new() -> Self {
        Self(())
    }
}

helpers! {
    fn f(a: __m256i) -> __m256 { _mm256_castsi256_ps(a) }
    fn i(a: __m256) -> __m256i { _mm256_castps_si256(a) }
    fn d(a: __m256i) -> __m256d { _mm256_castsi256_pd(a) }
    fn from_d(a: __m256d) -> __m256i { _mm256_castpd_si256(a) }
    fn count(a: __m256i) -> __m256i { _mm256_and_si256(a, _mm256_set1_epi32(31)) }
    /// All ones in the lanes whose bit is set.
    fn expand(bits: u32) -> __m256i {{
        let lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(bits as i32), lane), lane)
    }}
    /// The sign bits of the lanes.
    fn bits(mask: __m256i) -> u32 { _mm256_movemask_ps(f(mask)) as u32 }
    /// Moves unsigned order onto signed order.
    fn biased(a: __m256i) -> __m256i { _mm256_xor_si256(a, _mm256_set1_epi32(i32::MIN)) }
}

host_in_mode!("avx2,fma", __m256i, ymm_reg, 32);

macro_rules! two {
    ($($name:ident = $intrinsic:ident;)*) => {$(
        #[inline(always)]
        fn $name(self, a: __m256i, b: __m256i) -> __m256i {
            // SAFETY: the host has the extensions (`new`).
            unsafe { $intrinsic(a, b) }
        }
    )*};
}

macro_rules! body {
    ($(fn $name:ident$(<const $constant:ident: $kind:ty>)?($($arg:ident: $type:ty),*) -> $result:ty {
        $body:expr
    })*) => {$(
        #[inline(always)]
        fn $name$(<const $constant: $kind>)?(self, $($arg: $type),*) -> $result {
            // SAFETY: as above.
            unsafe { $body }
        }
    )*};
}

impl<const LANES: usize> Level for Avx2<LANES> {
    const LANES: usize = LANES;
    type V = __m256i;
    const N: usize = 8;

    two! {
        add = _mm256_add_epi32;
        sub = _mm256_sub_epi32;
        mul = _mm256_mullo_epi32;
        and = _mm256_and_si256;
        or = _mm256_or_si256;
        xor = _mm256_xor_si256;
        min_signed = _mm256_min_epi32;
        max_signed = _mm256_max_epi32;
        min_unsigned = _mm256_min_epu32;
        max_unsigned = _mm256_max_epu32;
    }
    body! {
        fn splat(value: u32) -> __m256i { _mm256_set1_epi32(value as i32) }
        fn blend(bits: u32, clear: __m256i, set: __m256i) -> __m256i {
            _mm256_blendv_epi8(clear, set, expand(bits))
        }
        fn mul_high(a: __m256i, b: __m256i) -> __m256i {{
            let even = _mm256_mul_epu32(a, b);
            let odd = _mm256_mul_epu32(_mm256_srli_epi64::<32>(a), _mm256_srli_epi64::<32>(b));
            _mm256_blend_epi32::<0xaa>(_mm256_srli_epi64::<32>(even), odd)
        }}
        fn and_not(a: __m256i, b: __m256i) -> __m256i { _mm256_andnot_si256(b, a) }
        fn shl(a: __m256i, by: __m256i) -> __m256i { _mm256_sllv_epi32(a, count(by)) }
        fn shr(a: __m256i, by: __m256i) -> __m256i { _mm256_srlv_epi32(a, count(by)) }
        fn sar(a: __m256i, by: __m256i) -> __m256i { _mm256_srav_epi32(a, count(by)) }
        fn equal(a: __m256i, b: __m256i) -> u32 { bits(_mm256_cmpeq_epi32(a, b)) }
        fn less_signed(a: __m256i, b: __m256i) -> u32 { bits(_mm256_cmpgt_epi32(b, a)) }
        fn less_unsigned(a: __m256i, b: __m256i) -> u32 { bits(_mm256_cmpgt_epi32(biased(b), biased(a))) }
        fn add_f32(a: __m256i, b: __m256i) -> __m256i { i(_mm256_add_ps(f(a), f(b))) }
        fn sub_f32(a: __m256i, b: __m256i) -> __m256i { i(_mm256_sub_ps(f(a), f(b))) }
        fn mul_f32(a: __m256i, b: __m256i) -> __m256i { i(_mm256_mul_ps(f(a), f(b))) }
        fn fma_f32(a: __m256i, b: __m256i, c: __m256i) -> __m256i { i(_mm256_fmadd_ps(f(a), f(b), f(c))) }
        fn min_f32(a: __m256i, b: __m256i) -> __m256i {
            _mm256_or_si256(i(_mm256_min_ps(f(a), f(b))), i(_mm256_min_ps(f(b), f(a))))
        }
        fn max_f32(a: __m256i, b: __m256i) -> __m256i {
            _mm256_and_si256(i(_mm256_max_ps(f(a), f(b))), i(_mm256_max_ps(f(b), f(a))))
        }
        fn flush_f32(a: __m256i) -> __m256i {{
            let exponent = _mm256_set1_epi32(f32::INFINITY.to_bits() as i32);
            let tiny = _mm256_cmpeq_epi32(_mm256_and_si256(a, exponent), _mm256_setzero_si256());
            _mm256_andnot_si256(_mm256_srli_epi32::<1>(tiny), a)
        }}
        fn doubles(low: __m256i, high: __m256i) -> [__m256i; 2] {
            [_mm256_unpacklo_epi32(low, high), _mm256_unpackhi_epi32(low, high)]
        }
        fn halves(doubles: [__m256i; 2]) -> [__m256i; 2] {{
            let (first, second) = (f(doubles[0]), f(doubles[1]));
            [i(_mm256_shuffle_ps::<0x88>(first, second)), i(_mm256_shuffle_ps::<0xdd>(first, second))]
        }}
        // Of each four lanes the first two are in the first vector.
        fn bits_of_doubles(bits: [u32; 2]) -> u32 { _pdep_u32(bits[0], 0x33) | _pdep_u32(bits[1], 0xcc) }
        fn add_f64(a: __m256i, b: __m256i) -> __m256i { from_d(_mm256_add_pd(d(a), d(b))) }
        fn mul_f64(a: __m256i, b: __m256i) -> __m256i { from_d(_mm256_mul_pd(d(a), d(b))) }
        fn fma_f64(a: __m256i, b: __m256i, c: __m256i) -> __m256i { from_d(_mm256_fmadd_pd(d(a), d(b), d(c))) }
        fn min_f64(a: __m256i, b: __m256i) -> __m256i {
            _mm256_or_si256(from_d(_mm256_min_pd(d(a), d(b))), from_d(_mm256_min_pd(d(b), d(a))))
        }
        fn max_f64(a: __m256i, b: __m256i) -> __m256i {
            _mm256_and_si256(from_d(_mm256_max_pd(d(a), d(b))), from_d(_mm256_max_pd(d(b), d(a))))
        }
        fn blend_f64(bits: u32, clear: __m256i, set: __m256i) -> __m256i {{
            let double = _mm256_setr_epi64x(1, 2, 4, 8);
            let mask = _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(bits.into()), double), double);
            _mm256_blendv_epi8(clear, set, mask)
        }}
        fn flush_f64(a: __m256i) -> __m256i {{
            let exponent = _mm256_set1_epi64x(f64::INFINITY.to_bits() as i64);
            let tiny = _mm256_cmpeq_epi64(_mm256_and_si256(a, exponent), _mm256_setzero_si256());
            _mm256_andnot_si256(_mm256_srli_epi64::<1>(tiny), a)
        }}
        fn f32_from_signed(a: __m256i) -> __m256i { i(_mm256_cvtepi32_ps(a)) }
        // Upper and lower half are exact as floats; one rounding when they are added.
        fn f32_from_unsigned(a: __m256i) -> __m256i {{
            let high = _mm256_cvtepi32_ps(_mm256_srli_epi32::<16>(a));
            let low = _mm256_cvtepi32_ps(_mm256_and_si256(a, _mm256_set1_epi32(0xffff)));
            i(_mm256_fmadd_ps(high, _mm256_set1_ps(65536.0), low))
        }}
        fn f32_from_f16(a: __m256i) -> __m256i {{
            let low = _mm256_and_si256(a, _mm256_set1_epi32(0xffff));
            let packed = _mm256_permute4x64_epi64::<0x08>(_mm256_packus_epi32(low, low));
            i(_mm256_cvtph_ps(_mm256_castsi256_si128(packed)))
        }}
        fn f16_from_f32<const ROUND: u32>(a: __m256i) -> __m256i {
            _mm256_cvtepu16_epi32(match ROUND {
                0 => _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(f(a)),
                1 => _mm256_cvtps_ph::<_MM_FROUND_TO_POS_INF>(f(a)),
                2 => _mm256_cvtps_ph::<_MM_FROUND_TO_NEG_INF>(f(a)),
                _ => _mm256_cvtps_ph::<_MM_FROUND_TO_ZERO>(f(a)),
            })
        }
        fn compare_f32<const RELATION: i32>(a: __m256i, b: __m256i) -> u32 {
            _mm256_movemask_ps(_mm256_cmp_ps::<RELATION>(f(a), f(b))) as u32
        }
        fn compare_f64<const RELATION: i32>(a: __m256i, b: __m256i) -> u32 {
            _mm256_movemask_pd(_mm256_cmp_pd::<RELATION>(d(a), d(b))) as u32
        }
    }

    #[inline(always)]
    unsafe fn read(self, from: *const u32) -> __m256i {
        // SAFETY: the host has the extensions (`new`), so many lanes are there (the trait's contract).
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u32, value: __m256i) {
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(to.cast(), value) }
    }

    #[inline(always)]
    unsafe fn write_if(self, to: *mut u32, value: __m256i, bits: u32) {
        // SAFETY: as above.
        unsafe {
            let old = _mm256_loadu_si256(to.cast());
            _mm256_storeu_si256(to.cast(), _mm256_blendv_epi8(old, value, expand(bits)));
        }
    }

    #[inline(always)]
    fn in_mode<const OPERATION: u8>(self, mode: FloatMode, sources: [&Row; 3], result: &mut Row) {
        let [a, b, c] = sources;
        let (rows, to) =
            ([a.as_ptr().cast(), b.as_ptr().cast(), c.as_ptr().cast()], result.as_mut_ptr().cast());
        // SAFETY: the host has the extensions (`new`), and rows have room for so many vectors.
        let is_unflushed = unsafe {
            match LANES {
                32 => host_in_mode::<OPERATION, { 32 / 8 }>(mode, rows, to),
                _ => host_in_mode::<OPERATION, { 64 / 8 }>(mode, rows, to),
            }
        };
        if is_unflushed {
            flush::<Self, OPERATION>(self, result);
        }
    }

    #[inline(always)]
    unsafe fn gather(self, from: *const u8, offsets: __m256i, bits: u32) -> __m256i {
        // SAFETY: the trait's contract.
        unsafe {
            _mm256_mask_i32gather_epi32::<1>(_mm256_setzero_si256(), from.cast(), offsets, expand(bits))
        }
    }

    #[inline(always)]
    unsafe fn scatter(self, to: *mut u8, offsets: __m256i, values: __m256i, bits: u32) {
        // SAFETY: the trait's contract; both are arrays of eight.
        unsafe {
            let (offsets, values) =
                (transmute::<__m256i, [u32; 8]>(offsets), transmute::<__m256i, [u32; 8]>(values));
            scatter_each(to, &offsets, &values, bits);
        }
    }

    #[inline(always)]
    fn rarely<B: Body>(self, context: &mut Context<'_>, hot: &Hot) -> u32 {
        // SAFETY: the host has the extensions (`new`).
        unsafe { B::rarely_on_avx2::<LANES>(context, hot) }
    }

    #[inline(always)]
    fn apart<B: Body>(self, context: &mut Context<'_>, hot: &Hot) -> u32 {
        // SAFETY: the host has the extensions (`new`).
        unsafe { B::on_avx2::<LANES>(context, hot) }
    }

    #[inline(always)]
    unsafe fn load_shared(self, from: *const u32) -> __m256i {
        // SAFETY: the trait's contract.
        unsafe { load_relaxed(from) }
    }

    #[inline(always)]
    unsafe fn store_shared(self, to: *mut u32, value: __m256i) {
        // SAFETY: the trait's contract.
        unsafe { store_relaxed(to, value) }
    }
}

/// In assembly, so that the compiler sees no plain access that could race: the processor reads each aligned
/// dword of it at once, as a relaxed atomic load does.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_relaxed(from: *const u32) -> __m256i {
    let value: __m256i;
    // SAFETY: valid for 32 bytes (the caller's).
    unsafe {
        asm!("vmovdqu {}, [{}]", out(ymm_reg) value, in(reg) from, options(nostack, readonly, preserves_flags));
    }
    value
}

/// Stores eight dwords, each as by a relaxed atomic. See [`load_relaxed`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store_relaxed(to: *mut u32, value: __m256i) {
    // SAFETY: valid for 32 bytes (the caller's).
    unsafe { asm!("vmovdqu [{}], {}", in(reg) to, in(ymm_reg) value, options(nostack, preserves_flags)) };
}
