//! Transfers between memory and LDS (CDNA3 ISA manual, "Flat Memory Instructions", "Addressing"; Vega ISA
//! manual, "Memory Buffer Load to LDS").

use amdgpu_isa::Arch;
use amdinst_emu::{FaultKind, MemorySpace, WaveState};

use super::buffers::resource;
use super::{Bench, Random, active, exists, number, small};
use crate::targets::{PROCESSORS, TARGETS};

#[test]
pub(crate) fn loads() {
    let mut random = Random(50);
    let mut covered = 0;
    for target in TARGETS {
        let arch = target.arch;
        let new = matches!(arch, Arch::Gfx942 | Arch::Gfx950);
        for (name, bytes) in [
            ("ubyte", 1),
            ("sbyte", 1),
            ("ushort", 2),
            ("sshort", 2),
            ("dword", 4),
            ("dwordx3", 12),
            ("dwordx4", 16),
        ] {
            let global = if new {
                format!("global_load_lds_{name} v[0:1], off offset:32")
            } else {
                format!("global_load_{name} v[0:1], off offset:32 lds")
            };
            let buffer = format!("buffer_load_{name} v2, s[4:7], 0 offen offset:32 lds");
            for text in [global, buffer] {
                if !exists(target, &text) {
                    continue;
                }
                covered += 1;
                let mut bench = Bench::new(target, &random.bytes(4096));
                let mut state = WaveState {
                    lds: random.bytes(4096),
                    exec: random.exec(target),
                    m0: 0x200,
                    ..WaveState::default()
                };
                let places: [u64; 64] = std::array::from_fn(|_| random.below(4000));
                state.set_vgpr_pair(0, places.map(|place| bench.buffer + place));
                state.set_vgpr(2, places.map(|place| place as u32));
                state.set_sgpr_pair(4, bench.buffer);
                state.set_sgpr_pair(6, resource(target, 0x1000));
                let contents = bench.contents();
                let after = bench.good(&text, &state);
                let size = bytes.max(4);
                let mut expected = state.clone();
                for lane in active(state.exec) {
                    let data = &contents[places[lane] as usize + 32..][..bytes];
                    let to = 0x200 + 32 + size * lane;
                    if bytes < 4 {
                        expected.lds[to..to + 4].copy_from_slice(&small(arch, name, data, 0).to_le_bytes());
                    } else {
                        expected.lds[to..to + bytes].copy_from_slice(data);
                    }
                }
                assert_eq!(after, expected, "{target:?} {text}");
            }
        }
    }
    assert!(covered >= 60, "{covered}");
}

#[test]
pub(crate) fn stores() {
    let mut random = Random(51);
    for arch in PROCESSORS {
        let text = "buffer_store_lds_dword s[4:7], s8 offset:16 lds";
        if !exists(arch, text) {
            continue;
        }
        let mut bench = Bench::new(arch, &[0; 1024]);
        let mut state = WaveState {
            lds: random.bytes(1024),
            exec: random.exec(arch.into()),
            m0: 0x40,
            ..WaveState::default()
        };
        // The lane is added to the index: a dword each.
        state.set_sgpr_pair(4, bench.buffer | 4 << 48);
        state.set_sgpr_pair(6, 0x0080_0000_0000_0000 | u64::from(u32::MAX));
        state.sgprs[8] = 8;
        let after = bench.good(text, &state);
        let mut expected = vec![0; 1024];
        for lane in active(state.exec) {
            let from = 0x40 + 16 + 4 * lane;
            let to = 8 + 16 + 4 * lane;
            expected[to..to + 4].copy_from_slice(&state.lds[from..from + 4]);
        }
        assert_eq!(after, state, "{arch}");
        assert_eq!(bench.contents(), expected, "{arch}");
    }
}

/// From private memory: each lane's own bytes.
#[test]
pub(crate) fn loads_of_private_memory() {
    let mut random = Random(52);
    for arch in [Arch::Gfx942, Arch::Gfx950] {
        for (name, bytes) in [("ubyte", 1), ("sbyte", 1), ("ushort", 2), ("sshort", 2), ("dword", 4)] {
            let mut state = WaveState {
                lds: vec![0; 1024],
                exec: random.exec(arch.into()),
                m0: 0x100,
                scratch: 64,
                flat_scratch: 0x7d00_0000_0000,
                ..WaveState::default()
            };
            state.set_vgpr(0, random.register());
            state.set_vgpr(1, std::array::from_fn(|lane| 4 * (lane as u32 % 8)));
            let text = format!(
                "scratch_store_dword v1, v0, off offset:12\nscratch_load_lds_{name} v1, off offset:12"
            );
            let after = Bench::new(arch, &[0]).good(&text, &state);
            let mut expected = state.clone();
            for lane in active(state.exec) {
                let value = state.vgpr(0)[lane].to_le_bytes();
                let value =
                    if bytes < 4 { small(arch, name, &value[..bytes], 0) } else { u32::from_le_bytes(value) };
                let to = 0x100 + 12 + 4 * lane;
                expected.lds[to..to + 4].copy_from_slice(&value.to_le_bytes());
            }
            assert_eq!(after, expected, "{arch} {text}");
        }
    }
}

#[test]
pub(crate) fn past_the_end_of_lds() {
    let mut bench = Bench::new(Arch::Gfx950, &[0; 1024]);
    let mut state = WaveState { lds: vec![0; 256], m0: 16, ..WaveState::default() };
    state.set_vgpr_pair(0, [bench.buffer; 64]);
    let fault = bench.run("global_load_lds_dword v[0:1], off", &state).expect_err("lane 60 is outside");
    assert!(
        matches!(
            fault.kind,
            FaultKind::OutOfBounds { space: MemorySpace::Lds, address: 256, write: true, .. }
        ),
        "{fault}"
    );
    assert_eq!((fault.lane, number(&state.lds)), (Some(60), 0));
}
