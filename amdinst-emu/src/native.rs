//! The emulator's own count, as `amdinst_core::report::oracle` compares it with the counters.

use std::collections::BTreeMap;

use amdinst_core::counters::BlockCounts;
use amdinst_core::report::oracle::Native;

use crate::{MaskRecord, StepRecord};

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
