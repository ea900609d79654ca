//! Handlers: what they do, compiled once a level of host vectors and a size of waves, as functions.

use amdgpu_isa::{Arch, WaveSize};

#[cfg(target_arch = "x86_64")]
use super::level::{Avx2, Avx512};
use super::level::{Level, Portable};
use crate::program::{Context, Hot, HotHandler};
use crate::vectors::Vectors;

/// What a handler does, for any level.
///
/// The functions that handlers are have a default that nothing overrides. They are the trait's, so that the
/// compiler puts those of one file into one unit of code, and compiles those of several files at the same
/// time.
pub(super) trait Body {
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32;

    /// # Safety
    /// The host has these extensions.
    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn on_avx512<const LANES: usize>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        // SAFETY: the host has what the function is compiled for (the caller's).
        let level = unsafe { Avx512::<LANES>::new() };
        Self::run(level, context, hot)
    }

    /// # Safety
    /// The host has these extensions.
    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn on_avx2<const LANES: usize>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        // SAFETY: the host has what the function is compiled for (the caller's).
        let level = unsafe { Avx2::<LANES>::new() };
        Self::run(level, context, hot)
    }

    #[inline(never)]
    fn on_baseline<const LANES: usize>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        Self::run(Portable::<LANES>, context, hot)
    }

    /// What handlers leave to, seldom: kept out of them, so that they need no stack.
    ///
    /// # Safety
    /// The host has these extensions.
    #[cfg(target_arch = "x86_64")]
    #[cold]
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn rarely_on_avx512<const LANES: usize>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        // SAFETY: the host has what the function is compiled for (the caller's).
        let level = unsafe { Avx512::<LANES>::new() };
        Self::run(level, context, hot)
    }

    /// # Safety
    /// The host has these extensions.
    #[cfg(target_arch = "x86_64")]
    #[cold]
    #[inline(never)]
    #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn rarely_on_avx2<const LANES: usize>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        // SAFETY: the host has what the function is compiled for (the caller's).
        let level = unsafe { Avx2::<LANES>::new() };
        Self::run(level, context, hot)
    }

    #[cold]
    #[inline(never)]
    fn rarely_on_baseline<const LANES: usize>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        Self::run(Portable::<LANES>, context, hot)
    }
}

/// What handlers are compiled for: a level of the host's vectors, a processor, and waves of a size.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub(super) vectors: Vectors,
    pub(super) arch: Arch,
    pub(super) wave: WaveSize,
}

/// The handler of a body in a form.
pub(super) fn at<B: Body>(form: Form) -> HotHandler {
    match form.wave {
        WaveSize::Wave32 => for_lanes::<B, 32>(form.vectors),
        WaveSize::Wave64 => for_lanes::<B, 64>(form.vectors),
    }
}

/// The handler of a body at a level, for waves of so many lanes.
///
/// Tests in this crate's own files run no kernel by it, so that it is not worth two minutes of compiling:
/// those of `tests/` try every level.
fn for_lanes<B: Body, const LANES: usize>(vectors: Vectors) -> HotHandler {
    match vectors {
        #[cfg(all(target_arch = "x86_64", not(test)))]
        Vectors::Avx512 => B::on_avx512::<LANES>,
        #[cfg(all(target_arch = "x86_64", not(test)))]
        Vectors::Avx2 => B::on_avx2::<LANES>,
        _ => B::on_baseline::<LANES>,
    }
}
