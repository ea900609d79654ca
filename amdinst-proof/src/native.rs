//! The emulator's own count, in the form that [`oracle`](amdinst_format::report::oracle) compares with
//! counters.

use std::collections::BTreeMap;
use std::ops::Range;

use amdgpu_isa::{Op, decode};
use amdgpu_object::CodeObject;
use amdinst_emu::{Execution, MaskRecord, StepRecord};
use amdinst_format::counters::BlockCounts;
use amdinst_format::probes::ProbeMap;
use amdinst_format::report::oracle::Native;

/// The place of a wave's counts among those of some waves.
fn place<'a, T>(of: &'a mut [T], waves: &Range<u64>, wave: u64) -> Option<&'a mut T> {
    if !waves.contains(&wave) {
        return None;
    }
    of.get_mut(usize::try_from(wave - waves.start).ok()?)
}

/// An empty place for each wave.
fn places<T: Clone>(waves: &Range<u64>, empty: T) -> Vec<T> {
    vec![empty; usize::try_from(waves.end.saturating_sub(waves.start)).unwrap_or_default()]
}

/// Changes of EXEC in some waves of a launch, by wave, then by address.
pub fn native_counts(masks: &[MaskRecord], waves: Range<u64>) -> Vec<BTreeMap<u64, Native>> {
    let mut native = places(&waves, BTreeMap::new());
    for record in masks {
        let Some(wave) = place(&mut native, &waves, record.wave) else { continue };
        let seen = Native {
            executions: record.writes,
            all: record.all,
            none: record.none,
            diverged: record.narrowed,
            lanes_in: record.lanes_in,
            lanes_taken: record.lanes_out,
            narrowed: record.narrowed > 0,
        };
        wave.insert(record.pc, seen);
    }
    native
}

/// Executions of each instruction, and the lanes of all of them, in some waves of a launch, by wave, then by
/// address.
pub fn native_blocks(steps: &[StepRecord], waves: Range<u64>) -> Vec<BTreeMap<u64, BlockCounts>> {
    let mut native = places(&waves, BTreeMap::new());
    for step in steps {
        if let Some(wave) = place(&mut native, &waves, step.wave) {
            wave.insert(step.pc, BlockCounts { executions: step.executions, lanes: step.lanes });
        }
    }
    native
}

/// The emulator's counts of an instrumented kernel, at the original's addresses, without inserted code.
pub fn as_in_the_original(map: &ProbeMap, seen: &mut Execution) {
    let kept = |pc: &mut u64| map.addresses.kept(*pc).map(|original| *pc = original).is_some();
    seen.masks.retain_mut(|mask| kept(&mut mask.pc));
    seen.steps.retain_mut(|step| kept(&mut step.pc));
}

/// The ticks that the emulator's clock ought to show for each of some waves: one per instruction, and 64 per
/// reading.
pub fn native_ticks(object: &CodeObject, steps: &[StepRecord], waves: Range<u64>) -> Vec<u64> {
    let reads_clock = |pc: u64| {
        let inst = object.code_at(pc).and_then(|code| decode(object.target.arch, code).ok());
        inst.is_some_and(|inst| matches!(inst.op, Op::s_memtime | Op::s_memrealtime))
    };
    let mut readings = BTreeMap::new();
    let mut ticks = places(&waves, 0);
    for step in steps {
        let reads = *readings.entry(step.pc).or_insert_with(|| reads_clock(step.pc));
        if let Some(ticks) = place(&mut ticks, &waves, step.wave) {
            *ticks += step.executions * if reads { 65 } else { 1 };
        }
    }
    ticks
}
