//! LDS beyond the workgroup's, as on hardware: reads return zero, writes are discarded, and each instruction
//! is told once.

mod support;

use amdinst_emu::{Config, Execution, Launch, OutOfRange, Uninitialised, Vectors};
use support::{Assembly, Device, tools};

/// Processors, lanes of a wave, and bytes of a granule of LDS. The kernel asks for 256.
const CPUS: [(&str, u32, u32); 6] = [
    ("gfx90a", 64, 512),
    ("gfx1030", 32, 1024),
    ("gfx1030", 64, 1024),
    ("gfx1100", 32, 1024),
    ("gfx1201", 32, 1024),
    ("gfx1201", 64, 1024),
];

const LOADS: &str = "
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  v_mov_b32 v0, 0
  v_mov_b32 v6, 7
  v_mov_b32 v1, LAST
  v_mov_b32 v4, 0x180
  v_mov_b32 v8, FAR
  v_mov_b32 v9, END
  ds_write_b32 v1, v6                       ; in the last granule
  ds_read_b64 v[2:3], v1                    ; half of it is out of range
  ds_read_b32 v5, v4                        ; in the last granule, and not written
  ds_write_b32 v9, v6
  ds_read_b32 v10, v9
  ds_add_rtn_u32 v7, v8, v6
  ds_read2_b32 v[12:13], v1 offset1:1       ; the second one is out of range
  s_waitcnt lgkmcnt(0)
  global_store_dword v0, v2, s[2:3]
  global_store_dword v0, v3, s[2:3] offset:4
  global_store_dword v0, v5, s[2:3] offset:8
  global_store_dword v0, v10, s[2:3] offset:12
  global_store_dword v0, v7, s[2:3] offset:16
  global_store_dword v0, v12, s[2:3] offset:20
  global_store_dword v0, v13, s[2:3] offset:24";

fn launched(
    (cpu, lanes, granule): (&str, u32, u32),
    threads: usize,
    vectors: Vectors,
) -> (Execution, Vec<u32>) {
    let places = [("LAST", granule - 4), ("END", granule), ("FAR", 2 * granule)];
    let body =
        places.iter().fold(LOADS.to_owned(), |body, (name, place)| body.replace(name, &place.to_string()));
    let assembly = Assembly { cpu, lanes, lds: 256, vgprs: 16, accum_offset: 16, ..Assembly::default() };
    let mut config = Config::default();
    config.out_of_range = OutOfRange::AsHardware;
    config.uninitialised = Uninitialised(0x1234_5678);
    config.vectors = vectors;
    let mut device = Device::with(&assembly.object(&body), config);
    let p = device.buffer("p", &[1u32; 7]);
    let kernarg = [p, 0].into_iter().flat_map(u64::to_le_bytes).collect();
    let launch = Launch { grid: [40, 1, 1], block: [64, 1, 1], threads, kernarg, ..Launch::new("k") };
    let execution = device.machine.launch(&device.program, &launch).expect("it ends");
    (execution, device.u32s(p, 7))
}

#[test]
fn what_is_out_of_range_reads_zero_and_is_told_once() {
    if !tools("what_is_out_of_range_reads_zero_and_is_told_once") {
        return;
    }
    for target in CPUS {
        for threads in [1, 4] {
            for vectors in [Vectors::Baseline, Vectors::detect()] {
                let (execution, memory) = launched(target, threads, vectors);
                // GFX12 looks at each dword by itself.
                let in_range = if target.0 == "gfx1201" { 7 } else { 0 };
                assert_eq!(memory, [in_range, 0, 0x1234_5678, 0, 0, 7, 0], "{target:?}");
                let told: Vec<_> = execution.out_of_range.iter().map(ToString::to_string).collect();
                // Each that reaches beyond the kernel's 256 bytes, in order.
                let granule = target.2;
                let last = granule - 4;
                let addresses = [last, last, 0x180, granule, granule, 2 * granule, last];
                assert_eq!(told.len(), addresses.len(), "{target:?}: {told:#?}");
                for (told, address) in told.iter().zip(addresses) {
                    let expected = format!("at {address:#x} in LDS: ");
                    assert!(told.contains(&expected), "{target:?}: {told}");
                    assert!(told.contains("workgroup (0, 0, 0), wave 0, lane 0"), "{target:?}: {told}");
                }
            }
        }
    }
}
