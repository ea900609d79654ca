//! The fast layer: the commonest instruction forms, compiled for the host's vector extensions.
//!
//! [`Code`] has one compact [`Hot`] a step of the program. A form that has a handler of its own here runs in
//! it; every other step, and every case that such a handler does not take (an access that is out of bounds),
//! goes through [`general`] to the step's own function in `exec`, which knows everything. Lane-wise
//! arithmetic is vector code there, too ([`wave::lanes`](crate::wave)), behind a few checks more. So the
//! rules live in `exec`, and a handler here is an optimisation that must give the same bits:
//! `tests/levels.rs` holds each of them against it.
//!
//! Handlers of floats are written for the default MODE and leave, out of line, to one for every mode
//! ([`mode`]): subnormals are flushed by masks, and results that are not rounded to the nearest come of the
//! host's own rounding, which only those instructions see. What they leave to is a handler, too;
//! `cargo bench -p amdinst-emu --bench modes` holds their times against the default's.
//!
//! # No closures
//! Only a handler's outermost function says which extensions it is compiled for. What it calls is
//! `#[inline(always)]` down to the intrinsics, so that these become instructions of it. A closure can't be:
//! given to `array::map` it may stay a function, without the extensions, in which each intrinsic is a call,
//! with its vectors through memory. So vectors go through plain loops and functions alone. `tests/cost.rs`
//! holds that: it counts what instructions cost the host, and no intrinsic may stand by itself in an
//! optimised build.
//!
//! A step names the registers up to which it needs each bank. If code that a kernel can reach names one
//! beyond those that its descriptor allots, the launch has a copy of the steps in which these are faults
//! ([`within`]): the check costs other launches nothing.
//!
//! # Safety
//! Handlers use raw pointers into the wave's registers, and instructions that not every host has. What makes
//! that sound is checked in [`compile`](compile::compile), where handlers are chosen: rows are inside the
//! register file, and the level is one that this host has.
//!
//! # Levels
//! A handler is written once, over the trait [`Level`], and compiled once a level of host vectors,
//! [`Vectors`] `Baseline`, `Avx2` or `Avx512`, and a size of waves. The level is the widest that the host
//! has, or what [`Config::vectors`](crate::Config::vectors) says. What is seldom (NaNs among the results) is
//! kept out of line, so a handler needs no stack. A handler returns the number of the next step. The run loop
//! (`dispatch/slice`) goes by straight runs of steps, up to one that may branch, wait or write EXEC, and adds
//! counts once a run. `cargo bench -p amdinst-emu` measures; its result for each kernel must be the host's.

#![expect(
    clippy::needless_range_loop,
    reason = "the vectors of a row are numbered alike in several arrays and in memory"
)]

mod atomic;
mod compare;
mod compile;
mod double;
mod halves;
mod in_mode;
mod lds;
mod level;
mod memory;
mod mode;
mod packed;
mod pair;
mod salu;
mod scalar_memory;
mod scratch;
mod valu;
mod wide;

use amdgpu_isa::{Arch, WaveSize};

use crate::check::{FaultKind, Trap};
use crate::program::{Context, Hot, HotHandler, Program, Step};
use crate::vectors::Vectors;
use crate::wave::{EXEC, LANES, Registers, Status, Wave};
use level::Level;

/// Leave the loop: the wave waits, has ended or trapped, or goes on in another mode.
pub(crate) const STOP: u32 = u32::MAX;

/// A source that is no row: a scalar register by its number.
const SCALAR: u32 = 1 << 16;
/// A source that is no row: the constant of its slot.
const CONST: u32 = 1 << 17;

/// The compact steps of a program for a level; for the widest one that the host has if it lacks it.
pub(crate) fn steps(program: &Program, vectors: Vectors) -> &[Hot] {
    let vectors = vectors.min(Vectors::detect());
    program.code.of(vectors, || compile::compile(program, vectors))
}

/// `steps` for waves with the registers `allotted`: steps that name others are faults.
pub(crate) fn within(program: &Program, steps: &[Hot], allotted: Registers) -> Vec<Hot> {
    let check = |(hot, step): (&Hot, &Step)| match step.registers.beyond(allotted) {
        Some(_) => Hot { run: beyond, is_beyond: true, ..*hot },
        None => *hot,
    };
    steps.iter().zip(&program.steps).map(check).collect()
}

/// Ends the wave at a step that names registers which it has not.
///
/// # Safety
/// As for [`HotHandler`].
unsafe fn beyond(context: &mut Context<'_>, hot: &Hot) -> u32 {
    let index = hot.next - 1;
    context.wave.current = index;
    context.trap = Some(beyond_allotted(context.wave, &context.program.steps[index as usize]));
    STOP
}

/// The trap of such a step.
pub(crate) fn beyond_allotted(wave: &Wave, step: &Step) -> Box<Trap> {
    // `within` has chosen it by the same registers.
    let (bank, index, available) = step.registers.beyond(wave.allotted).expect("a step beyond the allotment");
    Trap::new(FaultKind::RegisterIndex { bank, index: index.into(), available: available.into() })
}

/// What a handler does, for any level.
///
/// The functions that handlers are have a default that nothing overrides. They are the trait's, so that the
/// compiler puts those of one file into one unit of code, and compiles those of several files at the same
/// time.
trait Body {
    /// # Safety
    /// As for [`HotHandler`].
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32;

    /// # Safety
    /// As for [`HotHandler`].
    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn on_avx512<const LANES: usize>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        // SAFETY: the caller's.
        unsafe { Self::run::<level::Avx512<LANES>>(context, hot) }
    }

    /// # Safety
    /// As for [`HotHandler`].
    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn on_avx2<const LANES: usize>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        // SAFETY: the caller's.
        unsafe { Self::run::<level::Avx2<LANES>>(context, hot) }
    }

    /// # Safety
    /// As for [`HotHandler`].
    #[inline(never)]
    unsafe fn on_baseline<const LANES: usize>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        // SAFETY: the caller's.
        unsafe { Self::run::<level::Portable<LANES>>(context, hot) }
    }

    /// What handlers leave to, seldom: kept out of them, so that they need no stack.
    ///
    /// # Safety
    /// As for [`HotHandler`].
    #[cfg(target_arch = "x86_64")]
    #[cold]
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn rarely_on_avx512<const LANES: usize>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        // SAFETY: the caller's.
        unsafe { Self::run::<level::Avx512<LANES>>(context, hot) }
    }

    /// # Safety
    /// As for [`HotHandler`].
    #[cfg(target_arch = "x86_64")]
    #[cold]
    #[inline(never)]
    #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn rarely_on_avx2<const LANES: usize>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        // SAFETY: the caller's.
        unsafe { Self::run::<level::Avx2<LANES>>(context, hot) }
    }

    /// # Safety
    /// As for [`HotHandler`].
    #[cold]
    #[inline(never)]
    unsafe fn rarely_on_baseline<const LANES: usize>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        // SAFETY: the caller's.
        unsafe { Self::run::<level::Portable<LANES>>(context, hot) }
    }
}

/// What handlers are compiled for: a level of the host's vectors, a processor, and waves of a size.
#[derive(Clone, Copy)]
struct Form {
    vectors: Vectors,
    arch: Arch,
    wave: WaveSize,
}

/// The handler of a body in a form.
fn at<B: Body>(form: Form) -> HotHandler {
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

/// Run the step by its own function in `exec`.
///
/// # Safety
/// As for [`HotHandler`].
#[inline(never)]
unsafe fn general(context: &mut Context<'_>, hot: &Hot) -> u32 {
    let index = hot.next - 1;
    let step = &context.program.steps[index as usize];
    let w = &mut *context.wave;
    w.current = index;
    w.next = hot.next;
    w.refresh_masks();
    if let Err(trap) = (step.run)(context, step) {
        context.trap = Some(trap);
        return STOP;
    }
    if step.flags.writes_exec {
        let exec = context.wave.mask(EXEC);
        take_exec(context, hot, exec);
    }
    let w = &*context.wave;
    if step.flags.control && (w.status != Status::Running || w.needs_reference_path()) {
        return STOP;
    }
    w.next
}

/// Leave a step that a handler of arithmetic has begun to its own function in `exec`, which does it all: DPP,
/// too.
///
/// # Safety
/// As for [`HotHandler`].
unsafe fn leave(context: &mut Context<'_>, hot: &Hot) -> u32 {
    if let Some(exec) = context.wave.permuting {
        context.wave.exec = exec;
    }
    // SAFETY: the caller's.
    unsafe { general(context, hot) }
}

/// Take over what was written to EXEC's registers, and count it.
#[inline(always)]
fn exec_written<L: Level>(context: &mut Context<'_>, hot: &Hot) {
    let exec = mask::<L>(context.wave, EXEC);
    take_exec(context, hot, exec);
}

/// Make `exec` the wave's EXEC, and count it.
#[inline(always)]
fn take_exec(context: &mut Context<'_>, hot: &Hot, exec: u64) {
    let w = &mut *context.wave;
    let old = w.exec;
    w.exec = exec;
    w.active = u64::from(w.exec.count_ones());
    context.counters.count(hot.slot, old, exec);
}

/// A mask of the wave's lanes in scalar registers, as [`Wave::mask`] reads it.
#[inline(always)]
fn mask<L: Level>(w: &Wave, register: u8) -> u64 {
    if L::LANES == 32 { w.s[usize::from(register & 127)].into() } else { w.s64(register) }
}

/// Write a mask of the wave's lanes to scalar registers, as [`Wave::set_mask`] does.
#[inline(always)]
fn set_mask<L: Level>(w: &mut Wave, register: u8, mask: u64) {
    if L::LANES == 32 { w.set_s32(register, mask as u32) } else { w.set_s64(register, mask) }
}

/// The mask of all lanes.
#[inline(always)]
const fn all_lanes<L: Level>() -> u64 {
    u64::MAX >> (u64::BITS as usize - L::LANES)
}

/// A scalar register or constant.
#[inline(always)]
fn scalar(w: &Wave, src: u32, imm: u32) -> u32 {
    if src & CONST != 0 { imm } else { w.s[(src & 127) as usize] }
}

/// The registers of all lanes, row after row.
#[inline(always)]
fn rows(w: &mut Wave) -> *mut u32 {
    w.rows.as_mut_ptr().cast()
}

/// The mask bits of the `part`th vector of a row.
#[inline(always)]
fn part<L: Level>(mask: u64, part: usize) -> u32 {
    (mask >> (part * L::N)) as u32 & ((1u64 << L::N) - 1) as u32
}

/// Vectors of a whole row, at most: those of the narrowest level.
const PARTS: usize = LANES / 4;

/// Vectors that a wave's part of a row has at a level.
#[inline(always)]
const fn parts<L: Level>() -> usize {
    L::LANES / L::N
}

/// Write a row where EXEC says so.
///
/// # Safety
/// As for [`HotHandler`]; `dst` is the first dword of a row.
#[inline(always)]
unsafe fn put<L: Level>(w: &mut Wave, dst: u32, values: &[L::V; PARTS]) {
    let exec = w.exec;
    // SAFETY: `dst` is a row of the register file.
    unsafe {
        let to = rows(w).add(dst as usize);
        if exec == all_lanes::<L>() {
            for i in 0..parts::<L>() {
                L::store(to.add(i * L::N), values[i]);
            }
        } else {
            for i in 0..parts::<L>() {
                L::store_if(to.add(i * L::N), values[i], part::<L>(exec, i));
            }
        }
    }
}

/// A source of all lanes: a row in memory, or the same value everywhere.
enum Lanes<L: Level> {
    Row(*const u32),
    Same(L::V),
}

impl<L: Level> Clone for Lanes<L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L: Level> Copy for Lanes<L> {}

impl<L: Level> Lanes<L> {
    /// # Safety
    /// As for [`HotHandler`].
    #[inline(always)]
    unsafe fn of(w: &mut Wave, hot: &Hot, slot: usize) -> Self {
        let src = hot.src[slot];
        // SAFETY: a source below SCALAR is a row of the register file.
        unsafe {
            if src < SCALAR {
                Self::Row(rows(w).add(src as usize))
            } else {
                Self::Same(L::splat(scalar(w, src, hot.imm[slot])))
            }
        }
    }

    /// A source as [`Lanes::of`] reads it, if it is known whether it is the same for all lanes.
    ///
    /// # Safety
    /// As for [`HotHandler`].
    #[inline(always)]
    unsafe fn known(w: &mut Wave, hot: &Hot, slot: usize, same: bool) -> Self {
        let src = hot.src[slot];
        // SAFETY: a source that is not the same for all lanes is a row of the register file.
        unsafe {
            if same {
                Self::Same(L::splat(scalar(w, src, hot.imm[slot])))
            } else {
                Self::Row(rows(w).add(src as usize))
            }
        }
    }

    /// The `part`th vector.
    ///
    /// # Safety
    /// As for [`HotHandler`].
    #[inline(always)]
    unsafe fn get(self, part: usize) -> L::V {
        match self {
            // SAFETY: within the row.
            Self::Row(row) => unsafe { L::load(row.add(part * L::N)) },
            Self::Same(value) => value,
        }
    }
}
