//! Launches as a whole: grids, hidden arguments, EXEC records, and the same result on any number of threads.

mod support;

use amdgpu_isa::Op;
use amdinst_emu::{Config, Launch, MaskRecord};

use support::{Device, compile, tools};

const SOURCE: &str = r#"
#define X __builtin_amdgcn_workitem_id_x()
#define GX __builtin_amdgcn_workgroup_id_x()
kernel void ids(global uint *out) {
    uint sx = __builtin_amdgcn_workgroup_size_x(), sy = __builtin_amdgcn_workgroup_size_y(), sz = __builtin_amdgcn_workgroup_size_z();
    uint nx = __builtin_amdgcn_grid_size_x(), ny = __builtin_amdgcn_grid_size_y();
    uint x = GX * sx + X;
    uint y = __builtin_amdgcn_workgroup_id_y() * sy + __builtin_amdgcn_workitem_id_y();
    uint z = __builtin_amdgcn_workgroup_id_z() * sz + __builtin_amdgcn_workitem_id_z();
    out[(z * ny + y) * nx + x] = x + 100 * y + 10000 * z; }
kernel void histogram(global uint *bins, global uint *data) {
    uint i = GX * 256 + X, v = data[i];
    for (uint n = v & 7; n > 0; --n) v = v * 1664525 + 1013904223;
    __opencl_atomic_fetch_add((global atomic_uint *)&bins[v >> 28], v & 3 ? 1 : 2, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
    if (v & 1) data[i] = v; }
kernel void half_taken(global uint *out) { if (X & 1) out[X] = 1; }
kernel void none_taken(global uint *out) { if (out[X] == 77) out[X] = 1; }
"#;

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
