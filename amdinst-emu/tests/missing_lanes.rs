//! Code for waves of 64 that runs in waves of 32: lanes that do not exist are told, each instruction once,
//! and what wraps on purpose is not.

mod support;

use amdinst_emu::{Config, Execution, FaultKind, Launch};
use support::{Device, compile_for, tools};

const SOURCE: &str = "
#define X __builtin_amdgcn_workitem_id_x()
#define LANE __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0))
#define TAKE(from) p[G * 256 + X] = __builtin_amdgcn_ds_bpermute((from) * 4, X)
#define G __builtin_amdgcn_workgroup_id_x()
kernel void mirrored(global uint *p) { TAKE(63 - LANE); }
kernel void mirrored_in_some(global uint *p) { if (X % 3 == 1) TAKE(63 - LANE); }
kernel void other_half(global uint *p) { TAKE(LANE ^ 32); }
kernel void last(global uint *p) {
    uint of;
    // Of a constant, LLVM keeps what hardware looks at.
    __asm__(\"v_readlane_b32 %0, %1, 63\" : \"=s\"(of) : \"v\"(X));
    p[G * 256 + X] = of;
}
kernel void numbered(global uint *p) {
    uint of = __builtin_amdgcn_readfirstlane(p[0]);
    p[G * 256 + X] = __builtin_amdgcn_readlane(X, of);
}

kernel void rotated(global uint *p) { TAKE(LANE + 1); }
kernel void rotated_back(global uint *p) { TAKE(LANE - 1); }
kernel void within(global uint *p) { TAKE(63 - LANE & 31); }
kernel void beside_the_end(global uint *p) { if (X % 32 == 31) TAKE(LANE + 1); }
kernel void of_none(global uint *p) {
    uint of = __builtin_amdgcn_readfirstlane(p[1]);
    p[G * 256 + X] = __builtin_amdgcn_readlane(X, of);
}
";

/// Of kernels that ask for lanes of larger waves: which lane is told, and by which lane.
const TOLD: [(&str, u32, Option<u8>); 5] = [
    ("mirrored", 63, Some(0)),
    ("mirrored_in_some", 62, Some(1)),
    ("other_half", 32, Some(0)),
    ("last", 63, None),
    ("numbered", 40, None),
];
const MEANT: [&str; 5] = ["rotated", "rotated_back", "within", "beside_the_end", "of_none"];

#[test]
fn lanes_that_do_not_exist_are_told() {
    if !tools("lanes_that_do_not_exist_are_told") {
        return;
    }
    for target in [("gfx90a", 64), ("gfx1030", 32), ("gfx1030", 64), ("gfx1100", 32), ("gfx1201", 32)] {
        let object = compile_for(SOURCE, target, "-O2");
        for (threads, fast_layer) in [(1, true), (1, false), (8, true)] {
            let run = |kernel: &str| -> Execution {
                let mut config = Config::default();
                config.fast_layer = fast_layer;
                let mut device = Device::with(&object, config);
                let mut words = [40u32; 40 * 256];
                words[1] = u32::MAX;
                let p = device.buffer("p", &words);
                let kernarg = p.to_le_bytes().to_vec();
                let launch =
                    Launch { grid: [40, 1, 1], block: [256, 1, 1], threads, kernarg, ..Launch::new(kernel) };
                device.machine.launch(&device.program, &launch).expect("it ends")
            };
            for (kernel, lane, by) in TOLD {
                let told = format!("{kernel} {target:?} {threads} {fast_layer}");
                let missing = run(kernel).missing_lanes;
                if target.1 == 64 {
                    assert_eq!(missing, [], "{told}");
                    continue;
                }
                let [missing] = missing.as_slice() else { panic!("{told}: {missing:?}") };
                assert_eq!(missing.kind, FaultKind::NoSuchLane { lane, lanes: 32 }, "{told}");
                assert_eq!((missing.workgroup, missing.wave, missing.lane), ([0; 3], 0, by), "{told}");
            }
            for kernel in MEANT {
                let told = format!("{kernel} {target:?} {threads} {fast_layer}");
                assert_eq!(run(kernel).missing_lanes, [], "{told}");
            }
        }
    }
}
