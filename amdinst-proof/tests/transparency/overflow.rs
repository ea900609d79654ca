//! Counters in lanes of VGPRs stop at their end instead of starting anew.

use std::collections::BTreeMap;

use amdgpu_object::CodeObject;
use amdinst_core::counters::{SiteCounts, WORDS_PER_SITE};
use amdinst_core::instrument::{Counters, Home, Options, apply, plan};

use super::kernels::Kernel;
use super::prelude::with_prelude;
use super::proof::{KERNEL, counted, fresh, launch};
use crate::support::compile;

/// `v_mov_b32 vN, 0` and `v_mov_b32 vN, -5` ("Vega" ISA manual, VOP1), and the bits that are not N.
const ZERO: u32 = 0x7e00_0280;
const MINUS_FIVE: u32 = 0x7e00_02c5;
const ALL_BUT_N: u32 = 0xfe01_ffff;

/// Instruments a kernel of so many sites that their counters are in lanes of VGPRs, makes the prologue start
/// them at five below zero, and compares them with the emulator's own, added to that. How many stopped.
pub(crate) fn stopped_counters(kernel: &Kernel, cpu: &str) -> usize {
    let object = compile(&with_prelude(kernel.source), cpu, "-O2");
    let (blank, kernarg, _) = fresh(&object);
    let mut machine = blank.clone();
    let original =
        launch(&mut machine, &object, kernarg.clone(), kernel.geometry, true).expect("the original");
    let plan =
        plan(&object, &Options { counters: Counters::Register, ..Options::default() }).expect("a plan");
    let instrumented = apply(&object, plan).expect("the instrumented code object");
    let probes = instrumented.map.kernel(KERNEL).expect("the kernel in the map");
    assert_eq!(probes.home, Some(Home::Register));
    assert!(probes.why.starts_with("counters in lanes"), "{}", probes.why);

    let parsed = CodeObject::parse(instrumented.bytes.clone()).expect("the instrumented code object");
    let mut bytes = instrumented.bytes.to_vec();
    // The prologue comes first, and clears its counters one register after the other.
    let lanes = object.code_target().wave.lanes();
    let registers = probes.sites.len().div_ceil((lanes / WORDS_PER_SITE) as usize);
    let words = bytes[parsed.text.range.clone()].chunks_exact_mut(4);
    let clears =
        words.filter(|word| u32::from_le_bytes((&**word).try_into().expect("a word")) & ALL_BUT_N == ZERO);
    let mut changed = 0;
    for word in clears.take(registers) {
        let old = u32::from_le_bytes((&*word).try_into().expect("a word"));
        word.copy_from_slice(&(old & !ALL_BUT_N | MINUS_FIVE).to_le_bytes());
        changed += 1;
    }
    assert_eq!(changed, registers);

    let changed = CodeObject::parse(bytes).expect("the changed code object");
    let (_, records) = counted(&blank, &changed, probes, &kernarg, kernel.geometry).expect("a launch");
    let saw: BTreeMap<(u64, u64), _> =
        original.masks.iter().map(|record| ((record.wave, record.pc), record)).collect();
    let add = |count: u64| (count + (1 << 32) - 5).min(u64::from(u32::MAX));
    let mut stopped = 0;
    for (wave, record) in (0..).zip(&records) {
        for site in &probes.sites {
            let native = saw.get(&(wave, site.pc)).copied().copied().unwrap_or_default();
            let expected = SiteCounts {
                executions: add(native.writes),
                all: add(native.all),
                none: add(native.none),
                lanes_in: add(native.lanes_in),
                lanes_taken: add(native.lanes_out),
            };
            let counts = record.sites[site.id as usize];
            assert_eq!(counts, expected, "wave {wave}, site {}", site.id);
            if native.writes > 4 {
                assert_eq!(counts.executions, u64::from(u32::MAX));
            }
            assert!(counts.may_have_overflowed());
            stopped += usize::from(counts.lanes_in == u64::from(u32::MAX));
        }
    }
    stopped
}
