//! AVX-512: sixteen lanes a vector, lane masks in mask registers.

use std::arch::asm;
use std::arch::x86_64::*;

use super::host_mode::{self, host_in_mode};
use super::{Level, flush, in_mode as operation};
use crate::fast::Body;
use crate::fast::mode::FloatMode;
use crate::program::{Context, Hot};
use crate::wave::Row;

/// See [`Vectors::Avx512`](crate::vectors::Vectors).
#[derive(Clone, Copy)]
pub(crate) struct Avx512<const LANES: usize>(());

impl<const LANES: usize> Avx512<LANES> {
    /// # Safety
    /// The host has the extensions that [`Body::on_avx512`] is compiled for.
    #[inline(always)]
    pub(crate) const unsafe fn new() -> Self {
        Self(())
    }
}

helpers! {
    fn f(a: __m512i) -> __m512 { _mm512_castsi512_ps(a) }
    fn i(a: __m512) -> __m512i { _mm512_castps_si512(a) }
    fn d(a: __m512i) -> __m512d { _mm512_castsi512_pd(a) }
    fn from_d(a: __m512d) -> __m512i { _mm512_castpd_si512(a) }
    fn count(a: __m512i) -> __m512i { _mm512_and_si512(a, _mm512_set1_epi32(31)) }
}

host_in_mode!("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma", __m512i, zmm_reg, 64);

macro_rules! two {
    ($($name:ident = $intrinsic:ident;)*) => {$(
        #[inline(always)]
        fn $name(self, a: __m512i, b: __m512i) -> __m512i {
            // SAFETY: the host has the extensions (`new`).
            unsafe { $intrinsic(a, b) }
        }
    )*};
}

macro_rules! test {
    ($($name:ident = $intrinsic:ident;)*) => {$(
        #[inline(always)]
        fn $name(self, a: __m512i, b: __m512i) -> u32 {
            // SAFETY: as above.
            unsafe { u32::from($intrinsic(a, b)) }
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

impl<const LANES: usize> Level for Avx512<LANES> {
    const LANES: usize = LANES;
    type V = __m512i;
    const N: usize = 16;

    two! {
        add = _mm512_add_epi32;
        sub = _mm512_sub_epi32;
        mul = _mm512_mullo_epi32;
        and = _mm512_and_si512;
        or = _mm512_or_si512;
        xor = _mm512_xor_si512;
        min_signed = _mm512_min_epi32;
        max_signed = _mm512_max_epi32;
        min_unsigned = _mm512_min_epu32;
        max_unsigned = _mm512_max_epu32;
    }
    test! {
        equal = _mm512_cmpeq_epi32_mask;
        less_signed = _mm512_cmplt_epi32_mask;
        less_unsigned = _mm512_cmplt_epu32_mask;
    }
    body! {
        fn splat(value: u32) -> __m512i { _mm512_set1_epi32(value as i32) }
        fn blend(bits: u32, clear: __m512i, set: __m512i) -> __m512i {
            _mm512_mask_blend_epi32(bits as u16, clear, set)
        }
        fn mul_high(a: __m512i, b: __m512i) -> __m512i {{
            let even = _mm512_mul_epu32(a, b);
            let odd = _mm512_mul_epu32(_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
            _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64::<32>(even), odd)
        }}
        fn and_not(a: __m512i, b: __m512i) -> __m512i { _mm512_andnot_si512(b, a) }
        fn shl(a: __m512i, by: __m512i) -> __m512i { _mm512_sllv_epi32(a, count(by)) }
        fn shr(a: __m512i, by: __m512i) -> __m512i { _mm512_srlv_epi32(a, count(by)) }
        fn sar(a: __m512i, by: __m512i) -> __m512i { _mm512_srav_epi32(a, count(by)) }
        fn add_f32(a: __m512i, b: __m512i) -> __m512i { i(_mm512_add_ps(f(a), f(b))) }
        fn sub_f32(a: __m512i, b: __m512i) -> __m512i { i(_mm512_sub_ps(f(a), f(b))) }
        fn mul_f32(a: __m512i, b: __m512i) -> __m512i { i(_mm512_mul_ps(f(a), f(b))) }
        fn fma_f32(a: __m512i, b: __m512i, c: __m512i) -> __m512i { i(_mm512_fmadd_ps(f(a), f(b), f(c))) }
        fn min_f32(a: __m512i, b: __m512i) -> __m512i {
            _mm512_or_si512(i(_mm512_min_ps(f(a), f(b))), i(_mm512_min_ps(f(b), f(a))))
        }
        fn max_f32(a: __m512i, b: __m512i) -> __m512i {
            _mm512_and_si512(i(_mm512_max_ps(f(a), f(b))), i(_mm512_max_ps(f(b), f(a))))
        }
        fn flush_f32(a: __m512i) -> __m512i {{
            let exponent = _mm512_set1_epi32(f32::INFINITY.to_bits() as i32);
            _mm512_mask_and_epi32(a, _mm512_testn_epi32_mask(a, exponent), a, _mm512_set1_epi32(i32::MIN))
        }}
        fn doubles(low: __m512i, high: __m512i) -> [__m512i; 2] {
            [_mm512_unpacklo_epi32(low, high), _mm512_unpackhi_epi32(low, high)]
        }
        fn halves(doubles: [__m512i; 2]) -> [__m512i; 2] {{
            let (first, second) = (f(doubles[0]), f(doubles[1]));
            [i(_mm512_shuffle_ps::<0x88>(first, second)), i(_mm512_shuffle_ps::<0xdd>(first, second))]
        }}
        // Of each four lanes the first two are in the first vector.
        fn bits_of_doubles(bits: [u32; 2]) -> u32 { _pdep_u32(bits[0], 0x3333) | _pdep_u32(bits[1], 0xcccc) }
        fn add_f64(a: __m512i, b: __m512i) -> __m512i { from_d(_mm512_add_pd(d(a), d(b))) }
        fn mul_f64(a: __m512i, b: __m512i) -> __m512i { from_d(_mm512_mul_pd(d(a), d(b))) }
        fn fma_f64(a: __m512i, b: __m512i, c: __m512i) -> __m512i { from_d(_mm512_fmadd_pd(d(a), d(b), d(c))) }
        fn min_f64(a: __m512i, b: __m512i) -> __m512i {
            _mm512_or_si512(from_d(_mm512_min_pd(d(a), d(b))), from_d(_mm512_min_pd(d(b), d(a))))
        }
        fn max_f64(a: __m512i, b: __m512i) -> __m512i {
            _mm512_and_si512(from_d(_mm512_max_pd(d(a), d(b))), from_d(_mm512_max_pd(d(b), d(a))))
        }
        fn blend_f64(bits: u32, clear: __m512i, set: __m512i) -> __m512i {
            _mm512_mask_blend_epi64(bits as u8, clear, set)
        }
        fn flush_f64(a: __m512i) -> __m512i {{
            let exponent = _mm512_set1_epi64(f64::INFINITY.to_bits() as i64);
            _mm512_mask_and_epi64(a, _mm512_testn_epi64_mask(a, exponent), a, _mm512_set1_epi64(i64::MIN))
        }}
        fn f32_from_signed(a: __m512i) -> __m512i { i(_mm512_cvtepi32_ps(a)) }
        fn f32_from_unsigned(a: __m512i) -> __m512i { i(_mm512_cvtepu32_ps(a)) }
        fn f32_from_f16(a: __m512i) -> __m512i {
            i(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(a)))
        }
        fn f16_from_f32<const ROUND: u32>(a: __m512i) -> __m512i {{
            const TO_NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
            const UP: i32 = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
            const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
            const TO_ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
            _mm512_cvtepu16_epi32(match ROUND {
                0 => _mm512_cvtps_ph::<TO_NEAREST>(f(a)),
                1 => _mm512_cvtps_ph::<UP>(f(a)),
                2 => _mm512_cvtps_ph::<DOWN>(f(a)),
                _ => _mm512_cvtps_ph::<TO_ZERO>(f(a)),
            })
        }}
        fn compare_f32<const RELATION: i32>(a: __m512i, b: __m512i) -> u32 {
            u32::from(_mm512_cmp_ps_mask::<RELATION>(f(a), f(b)))
        }
        fn compare_f64<const RELATION: i32>(a: __m512i, b: __m512i) -> u32 {
            u32::from(_mm512_cmp_pd_mask::<RELATION>(d(a), d(b)))
        }
    }

    #[inline(always)]
    unsafe fn read(self, from: *const u32) -> __m512i {
        // SAFETY: the host has the extensions (`new`), so many lanes are there (the trait's contract).
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u32, value: __m512i) {
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(to.cast(), value) }
    }

    #[inline(always)]
    unsafe fn write_if(self, to: *mut u32, value: __m512i, bits: u32) {
        // SAFETY: as above.
        unsafe { _mm512_mask_storeu_epi32(to.cast(), bits as u16, value) }
    }

    #[inline(always)]
    fn in_mode<const OPERATION: u8>(self, mode: FloatMode, sources: [&Row; 3], result: &mut Row) {
        let [a, b, c] = sources;
        let (rows, to) =
            ([a.as_ptr().cast(), b.as_ptr().cast(), c.as_ptr().cast()], result.as_mut_ptr().cast());
        // SAFETY: the host has the extensions (`new`), and rows have room for so many vectors.
        let is_unflushed = unsafe {
            match LANES {
                32 => host_in_mode::<OPERATION, { 32 / 16 }>(mode, rows, to),
                _ => host_in_mode::<OPERATION, { 64 / 16 }>(mode, rows, to),
            }
        };
        if is_unflushed {
            flush::<Self, OPERATION>(self, result);
        }
    }

    #[inline(always)]
    unsafe fn gather(self, from: *const u8, offsets: __m512i, bits: u32) -> __m512i {
        // SAFETY: the trait's contract.
        unsafe { _mm512_mask_i32gather_epi32::<1>(_mm512_setzero_si512(), bits as u16, offsets, from.cast()) }
    }

    #[inline(always)]
    unsafe fn scatter(self, to: *mut u8, offsets: __m512i, values: __m512i, bits: u32) {
        // Lanes with the same offset are written in their order (Intel's manual, VPSCATTERDD).
        // SAFETY: the trait's contract.
        unsafe { _mm512_mask_i32scatter_epi32::<1>(to.cast(), bits as u16, offsets, values) }
    }

    #[inline(always)]
    fn rarely<B: Body>(self, context: &mut Context<'_>, hot: &Hot) -> u32 {
        // SAFETY: the host has the extensions (`new`).
        unsafe { B::rarely_on_avx512::<LANES>(context, hot) }
    }

    #[inline(always)]
    fn apart<B: Body>(self, context: &mut Context<'_>, hot: &Hot) -> u32 {
        // SAFETY: the host has the extensions (`new`).
        unsafe { B::on_avx512::<LANES>(context, hot) }
    }

    #[inline(always)]
    unsafe fn load_shared(self, from: *const u32) -> __m512i {
        // SAFETY: the trait's contract.
        unsafe { load_relaxed(from) }
    }

    #[inline(always)]
    unsafe fn store_shared(self, to: *mut u32, value: __m512i) {
        // SAFETY: the trait's contract.
        unsafe { store_relaxed(to, value) }
    }
}

/// In assembly, so that the compiler sees no plain access that could race: the processor reads each aligned
/// dword of it at once, as a relaxed atomic load does.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn load_relaxed(from: *const u32) -> __m512i {
    let value: __m512i;
    // SAFETY: valid for 64 bytes (the caller's).
    unsafe {
        asm!("vmovdqu32 {}, [{}]", out(zmm_reg) value, in(reg) from, options(nostack, readonly, preserves_flags));
    }
    value
}

/// Stores sixteen dwords, each as by a relaxed atomic. See [`load_relaxed`].
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn store_relaxed(to: *mut u32, value: __m512i) {
    // SAFETY: valid for 64 bytes (the caller's).
    unsafe { asm!("vmovdqu32 [{}], {}", in(reg) to, in(zmm_reg) value, options(nostack, preserves_flags)) };
}
