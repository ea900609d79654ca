//! Launches as a whole: grids, hidden arguments, EXEC records, and the same result on any number of threads.

mod support;

use std::sync::Arc;

use amdgpu_isa::{Arch, Op};
use amdinst_emu::{Config, Launch, Machine, MaskRecord, MemoryError};

use support::{Device, compile, tools};

const SOURCE: &str = include_str!("sources/launch.cl");

#[test]
fn three_dimensions() {
    if !tools("three_dimensions") {
        return;
    }
    for cpu in ["gfx90a", "gfx906", "gfx942"] {
        for level in ["-O0", "-O2"] {
            let mut device = Device::new(SOURCE, cpu, level);
            let (grid, block) = ([3, 2, 2], [5, 7, 3]);
            let [nx, ny, nz] = [15u32, 14, 6];
            let out = device.buffer("out", &vec![0u32; (nx * ny * nz) as usize]);
            let launch = Launch { grid, block, kernarg: out.to_le_bytes().to_vec(), ..Launch::new("ids") };
            let execution = device.machine.launch(&device.program, &launch).expect("ids");
            assert_eq!(execution.waves, 12 * 2);
            let want: Vec<u32> =
                (0..nx * ny * nz).map(|i| i % nx + 100 * (i / nx % ny) + 10000 * (i / (nx * ny))).collect();
            assert_eq!(device.u32s(out, want.len()), want, "{cpu} {level}");
        }
    }
}

#[test]
fn threads_do_not_show() {
    if !tools("threads_do_not_show") {
        return;
    }
    let object = compile(SOURCE, "gfx90a", "-O2");
    let data: Vec<u32> = support::random(256 * 64, 5).iter().map(|value| *value as u32).collect();
    let run = |threads: usize| {
        let mut device = Device::with(&object, Config::default());
        let (bins, input) = (device.buffer("bins", &[0u32; 16]), device.buffer("data", &data));
        let launch = Launch {
            grid: [64, 1, 1],
            block: [256, 1, 1],
            kernarg: [bins, input].iter().flat_map(|address| address.to_le_bytes()).collect(),
            threads,
            record_masks: true,
            count_opcodes: true,
            ..Launch::new("histogram")
        };
        let mut execution = device.machine.launch(&device.program, &launch).expect("histogram");
        assert_eq!(execution.threads, threads);
        (execution.seconds, execution.threads) = (0.0, 0);
        (execution, device.u32s(bins, 16), device.u32s(input, data.len()))
    };
    let one = run(1);
    assert!(one.0.opcode_stats.iter().any(|(op, count)| *op == Op::s_endpgm && *count == 256));
    assert_eq!(one, run(2));
    assert_eq!(one, run(3));
}

#[test]
fn masks_of_branches() {
    if !tools("masks_of_branches") {
        return;
    }
    let mut device = Device::new(SOURCE, "gfx90a", "-O2");
    let out = device.buffer("out", &[0u32; 128]);
    // 100 work-items: a whole wave, and one of 36 lanes.
    let half = device.launch("half_taken", 1, 100, &[out]).expect("half_taken").masks;
    let narrowing: Vec<MaskRecord> = half.into_iter().filter(|record| record.narrowed > 0).collect();
    let counts = |record: &MaskRecord| {
        (
            record.wave,
            record.writes,
            record.all,
            record.none,
            record.narrowed,
            record.gained,
            record.lanes_in,
            record.lanes_out,
        )
    };
    assert_eq!(
        narrowing.iter().map(counts).collect::<Vec<_>>(),
        [(0, 1, 0, 0, 1, 0, 64, 32), (1, 1, 0, 0, 1, 0, 36, 18)]
    );
    assert_eq!(narrowing[0].pc, narrowing[1].pc);
    let none = device.launch("none_taken", 1, 100, &[out]).expect("none_taken").masks;
    let first: Vec<_> = none.iter().filter(|record| record.narrowed > 0).map(counts).collect();
    assert_eq!(first, [(0, 1, 0, 1, 1, 0, 64, 0), (1, 1, 0, 1, 1, 0, 36, 0)]);
}

/// What one machine has decoded serves another that maps the code to the same address, and no other.
#[test]
fn decoded_code_is_shared() {
    if !tools("decoded_code_is_shared") {
        return;
    }
    let object = compile(SOURCE, "gfx90a", "-O2");
    let first = Arc::new(Machine::new(Arch::Gfx90a, Config::default()).load(&object).expect("a program"));
    for is_moved in [false, true] {
        let mut machine = Machine::new(Arch::Gfx90a, Config::default());
        if is_moved {
            machine.load(&object).expect("what stands where the first one had it");
        }
        let program = machine.load_like(&object, &first).expect("a program");
        assert_eq!(Arc::ptr_eq(&program, &first), !is_moved);
        let out = machine.alloc(4 * 64, 256, "out").expect("room");
        let launch = Launch { block: [64, 1, 1], kernarg: out.to_le_bytes().to_vec(), ..Launch::new("ids") };
        machine.launch(&program, &launch).expect("ids");
        let mut last = [0; 4];
        machine.read(out + 4 * 63, &mut last).expect("the result");
        assert_eq!(u32::from_le_bytes(last), 63);
    }
}

/// Memory at addresses of the caller's choice: side by side, below the caller's usual addresses, freed and
/// taken again; copied and restored as all other.
#[test]
fn memory_is_where_the_caller_wants_it() {
    let mut machine = Machine::new(Arch::Gfx90a, Config::default());
    let (low, next) = (0x7e00_0000_0000_u64, 0x7e00_0000_0100_u64);
    machine.alloc_at(low, 0x100, "low").unwrap();
    machine.alloc_at(next, 16, "next").unwrap();
    for (address, bytes) in
        [(low + 8, 8), (low - 8, 16), (next + 15, 1), (8, 8), (0x7d00_0000_0000, 8), (u64::MAX - 4, 16)]
    {
        let refused = machine.alloc_at(address, bytes, "other");
        assert_eq!(refused, Err(MemoryError::OutOfBounds { address, size: bytes }));
    }
    let usual = machine.alloc(16, 1, "usual").unwrap();
    let labels: Vec<&str> = machine.allocations().map(|(_, _, label)| label).collect();
    assert_eq!(labels, ["low", "next", "usual"]);
    machine.write(next, &[1; 16]).unwrap();
    assert!(machine.write(low + 0xff, &[1; 2]).is_err(), "it ends where the next one begins");
    let before = machine.snapshot();
    machine.write(next, &[2; 16]).unwrap();
    machine.restore(&before);
    let mut bytes = [0; 16];
    machine.read(next, &mut bytes).unwrap();
    assert_eq!(bytes, [1; 16]);
    machine.free(next).unwrap();
    machine.alloc_at(next + 8, 8, "again").unwrap();
    machine.read(next + 8, &mut bytes[..8]).unwrap();
    assert_eq!(bytes[..8], [0; 8]);
    assert!(machine.alloc_at(usual, 8, "other").is_err());
}
