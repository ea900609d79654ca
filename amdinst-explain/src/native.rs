//! The emulator's own count, as `amdinst_core::report::oracle` compares it with the counters.

use std::collections::BTreeMap;

use amdgpu_isa::{Op, decode};
use amdgpu_object::CodeObject;
use amdinst_core::report::oracle::Native;
use amdinst_emu::{Execution, MaskRecord, StepRecord};
use amdinst_format::counters::BlockCounts;
use amdinst_format::probes::ProbeMap;

/// The records of a launch of `waves` waves, by wave, then by address; records of other waves are left out.
pub fn native_counts(masks: &[MaskRecord], waves: usize) -> Vec<BTreeMap<u64, Native>> {
    let mut native = vec![BTreeMap::new(); waves];
    for record in masks {
        let Some(wave) = usize::try_from(record.wave).ok().and_then(|wave| native.get_mut(wave)) else {
            continue;
        };
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

/// How often each instruction ran and with how many lanes, by wave, then by address; other waves are left out.
pub fn native_blocks(steps: &[StepRecord], waves: usize) -> Vec<BTreeMap<u64, BlockCounts>> {
    let mut native = vec![BTreeMap::new(); waves];
    for step in steps {
        if let Some(wave) = usize::try_from(step.wave).ok().and_then(|wave| native.get_mut(wave)) {
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

/// The ticks that the emulator's clock ought to show for each wave: one per instruction, and 64 per reading.
pub fn native_ticks(object: &CodeObject, steps: &[StepRecord], waves: usize) -> Vec<u64> {
    let reads_clock = |pc: u64| {
        let inst = object.code_at(pc).and_then(|code| decode(object.target.arch, code).ok());
        inst.is_some_and(|inst| matches!(inst.op, Op::s_memtime | Op::s_memrealtime))
    };
    let mut readings = BTreeMap::new();
    let mut ticks = vec![0; waves];
    for step in steps {
        let reads = *readings.entry(step.pc).or_insert_with(|| reads_clock(step.pc));
        if let Some(ticks) = usize::try_from(step.wave).ok().and_then(|wave| ticks.get_mut(wave)) {
            *ticks += step.executions * if reads { 65 } else { 1 };
        }
    }
    ticks
}
