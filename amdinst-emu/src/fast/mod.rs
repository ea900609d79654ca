//! The fast layer: the commonest instruction forms, compiled for the host's vector extensions.
//!
//! [`Code`](crate::program::Code) has one compact [`Hot`] a step of the program. A form that has a handler of
//! its own here runs in it; every other step, and every case that such a handler does not take (an access
//! that is out of bounds), goes through [`general`] to the step's own function in `exec`, which knows
//! everything. Lane-wise arithmetic is vector code there, too ([`wave::lanes`](crate::wave)), behind a few
//! checks more. So the rules live in `exec`, and a handler here is an optimisation that must give the same
//! bits: `tests/levels.rs` holds each of them against it.
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
//! What handlers do is safe code. They use instructions that not every host has by a value of a [`Level`],
//! which proves that this one has them: the functions that are [`handler`]s make it, and
//! [`compile`](compile::compile) chooses these by what the host has. A [`RowAt`] is inside the register
//! file, whatever is done with it. Bytes of memory are reached through [`places`], which have looked at the
//! addresses of all active lanes. Steps that refer to others ([`pair`]) have their address, and the program's
//! code keeps them. What is not safe stands in these files alone; a test holds that.
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
mod handler;
mod in_mode;
mod lds;
mod level;
mod memory;
mod mode;
mod packed;
mod pair;
mod places;
mod salu;
mod scalar_memory;
mod scratch;
mod valu;
mod wide;

use crate::check::{FaultKind, Trap};
use crate::program::{Context, Hot, Program, Step};
use crate::vectors::Vectors;
use crate::wave::{EXEC, File, LANES, ROOMS, Registers, Row, RowAt, Status, Wave};
use handler::{Body, Form, at};
use level::{Level, Vectors32};

/// Leave the loop: the wave waits, has ended or trapped, or goes on in another mode.
pub(crate) const STOP: u32 = u32::MAX;

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
fn beyond(context: &mut Context<'_>, hot: &Hot) -> u32 {
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

/// Run the step by its own function in `exec`.
#[inline(never)]
fn general(context: &mut Context<'_>, hot: &Hot) -> u32 {
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
fn leave(context: &mut Context<'_>, hot: &Hot) -> u32 {
    if let Some(exec) = context.wave.permuting {
        context.wave.exec = exec;
    }
    general(context, hot)
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
#[inline(always)]
fn put<L: Level>(level: L, w: &mut Wave, dst: RowAt, values: &Vectors32<L>) {
    put_row(level, &mut dst.group_mut(w.rows.file_mut())[0], w.exec, values);
}

/// Write two rows, one behind the other, where EXEC says so.
#[inline(always)]
fn put_pair<L: Level>(level: L, w: &mut Wave, dst: RowAt, low: &Vectors32<L>, high: &Vectors32<L>) {
    let [first, second, ..] = dst.group_mut(w.rows.file_mut());
    put_row(level, first, w.exec, low);
    put_row(level, second, w.exec, high);
}

#[inline(always)]
fn put_row<L: Level>(level: L, row: &mut Row, exec: u64, values: &Vectors32<L>) {
    if exec == all_lanes::<L>() {
        for i in 0..parts::<L>() {
            level.store(row, i, values[i]);
        }
    } else {
        for i in 0..parts::<L>() {
            level.store_if(row, i, values[i], part::<L>(exec, i));
        }
    }
}

/// What sources are read from.
#[derive(Clone, Copy)]
struct Operands<'a> {
    file: &'a File,
    scalars: &'a [u32; 128],
}

impl<'a> Operands<'a> {
    #[inline(always)]
    fn of(w: &'a Wave) -> Self {
        Self { file: w.rows.file(), scalars: &w.s }
    }

    /// And rows that hold anything.
    #[inline(always)]
    fn with_rooms(w: &'a mut Wave) -> (Self, &'a mut [Row; ROOMS]) {
        let (file, rooms) = w.rows.with_rooms();
        (Self { file, scalars: &w.s }, rooms)
    }

    /// A source that is a scalar register or constant.
    #[inline(always)]
    fn scalar(self, hot: &Hot, slot: usize) -> u32 {
        let source = hot.src[slot];
        if source.is_constant() { hot.imm[slot] } else { self.scalars[usize::from(source.register())] }
    }
}

/// A source of all lanes: a row in memory, or the same value everywhere.
enum Lanes<'a, L: Level> {
    Row(L, &'a Row),
    Same(L::V),
}

impl<L: Level> Clone for Lanes<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L: Level> Copy for Lanes<'_, L> {}

impl<'a, L: Level> Lanes<'a, L> {
    #[inline(always)]
    fn of(level: L, operands: Operands<'a>, hot: &Hot, slot: usize) -> Self {
        Self::known(level, operands, hot, slot, !hot.src[slot].is_row())
    }

    /// A source as [`Lanes::of`] reads it, if it is known whether it is the same for all lanes.
    #[inline(always)]
    fn known(level: L, operands: Operands<'a>, hot: &Hot, slot: usize, same: bool) -> Self {
        if same {
            Self::Same(level.splat(operands.scalar(hot, slot)))
        } else {
            Self::Row(level, hot.src[slot].row.row(operands.file))
        }
    }

    /// The `part`th vector.
    #[inline(always)]
    fn get(self, part: usize) -> L::V {
        match self {
            Self::Row(level, row) => level.load(row, part),
            Self::Same(value) => value,
        }
    }
}
