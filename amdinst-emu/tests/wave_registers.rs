//! What a wave finds in registers does not depend on which waves ran before it, nor on the host's threads:
//! hardware registers by `s_getreg_b32`, and vector registers that an earlier workgroup wrote through an
//! index.

mod support;

use amdinst_emu::{Config, Launch, Uninitialised};
use support::{Device, compile, tools};

const SOURCE: &str = include_str!("sources/wave_registers.cl");

/// The results of a launch with one and with two threads, in separate machines.
fn launched(kernel: &str, grid: u32, block: u32, dwords: usize) -> [Vec<u32>; 2] {
    let object = compile(SOURCE, "gfx90a", "-O2");
    [1, 2].map(|threads| {
        let mut device = Device::with(&object, Config::default());
        let out = device.buffer("out", &vec![99_u32; dwords]);
        let launch = Launch {
            grid: [grid, 1, 1],
            block: [block, 1, 1],
            kernarg: out.to_le_bytes().to_vec(),
            threads,
            ..Launch::new(kernel)
        };
        device.machine.launch(&device.program, &launch).unwrap_or_else(|fault| panic!("{fault}"));
        device.u32s(out, dwords)
    })
}

/// Five waves a workgroup, dealt to four SIMDs; SCC may be anything, the rest of STATUS is known.
#[test]
fn hardware_registers_tell_the_wave_in_its_workgroup() {
    if !tools("hardware_registers_tell_the_wave_in_its_workgroup") {
        return;
    }
    let [one, two] = launched("places", 40, 320, 2 * 40 * 320);
    assert_eq!(one, two);
    for (item, pair) in one.chunks(2).enumerate() {
        let wave = item as u32 % 320 / 64;
        // SIMD_ID in bits 5:4, WAVE_ID in 3:0.
        assert_eq!(pair[0], ((wave % 4) << 4) | (wave / 4), "work-item {item}");
        // Not EXECZ; IN_TG; VALID.
        assert_eq!(pair[1] & 0x1001_1a00, 0x0001_0800, "work-item {item}: {:#x}", pair[1]);
    }
}

/// Each workgroup dirties a register that the eighth one after it reads.
#[test]
fn registers_written_by_index_are_cleared_between_workgroups() {
    if !tools("registers_written_by_index_are_cleared_between_workgroups") {
        return;
    }
    let [one, two] = launched("indexed", 64, 64, 64 * 64);
    let Uninitialised(clear) = Uninitialised::default();
    for found in [one, two] {
        let dirty = found.iter().enumerate().find(|(_, found)| **found != clear);
        assert_eq!(dirty, None, "work-item and register");
    }
}
