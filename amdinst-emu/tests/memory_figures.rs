//! What memory instructions ask for: figures worked out by hand, and launches that do not change for them.

mod support;

use amdinst_emu::{AccessKind, Config, Execution, Launch, Machine, MemoryRecord, MemorySpace, MemorySums};

use support::{Assembly, Device, compile_for, tools};

/// What the memory instructions of a kernel `k` do in one workgroup of so many work-items. Before `body`,
/// s[2:3] holds the address of a buffer at the start of a line, v1 so many bytes for each work-item before it
/// (`stride`).
fn figures(cpu: &str, lanes: u32, block: u32, stride: u32, body: &str) -> Vec<MemoryRecord> {
    let body = format!(
        "  s_load_dwordx2 s[2:3], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  v_mul_u32_u24 v1, {stride}, v0
  v_mov_b32 v2, 1
  v_mov_b32 v3, 1
  v_mov_b32 v4, 1
  v_mov_b32 v5, 1
{body}
  s_waitcnt vmcnt(0) lgkmcnt(0)"
    );
    let object = Assembly { cpu, lanes, lds: 32 << 10, ..Assembly::default() }.object(&body);
    let mut machine = Machine::new(object.target.arch, Config::default());
    let program = machine.load(&object).unwrap();
    let buffer = machine.alloc(32 << 10, 256, "buffer").unwrap();
    let mut kernarg = buffer.to_le_bytes().to_vec();
    kernarg.resize(16, 0);
    let launch = Launch { block: [block, 1, 1], kernarg, record_memory: true, ..Launch::new("k") };
    machine.launch(&program, &launch).unwrap().memory
}

/// The sums of the only instruction.
fn only(records: Vec<MemoryRecord>, space: MemorySpace, access: AccessKind) -> MemorySums {
    let [record] = <[MemoryRecord; 1]>::try_from(records).unwrap();
    assert_eq!((record.space, record.access), (space, access));
    record.sums
}

/// Lanes times bytes, and lines of 64 and 128 bytes: those that the first and the last byte span, or one a
/// lane where lanes are further apart than a line. At least: the bytes by the size of a line.
#[test]
fn lines_of_device_memory() {
    if !tools("lines_of_device_memory") {
        return;
    }
    let load = |instruction: &str, offset: u32| format!("  {instruction} v[2:5], v1, s[2:3] offset:{offset}");
    let one = |offset: u32| format!("  global_load_dword v2, v1, s[2:3] offset:{offset}");
    let two = "  global_load_dwordx2 v[2:3], v1, s[2:3]".to_owned();
    let three = "  global_load_dwordx3 v[2:4], v1, s[2:3]".to_owned();
    let half = "  global_load_ushort v2, v1, s[2:3]".to_owned();
    for (block, stride, body, bytes, lines, least) in [
        (64, 4, one(0), 256, [4, 2], [4, 2]),
        (64, 8, one(0), 256, [8, 4], [4, 2]),
        (64, 16, one(0), 256, [16, 8], [4, 2]),
        (64, 128, one(0), 256, [64, 64], [4, 2]),
        // A broadcast is one line, and needs one.
        (64, 0, one(0), 256, [1, 1], [1, 1]),
        // Not at a line's start: one more.
        (64, 4, one(4), 256, [5, 3], [4, 2]),
        // Not at a dword's start; only the lines count.
        (64, 4, one(2), 256, [5, 3], [4, 2]),
        (64, 2, half, 128, [2, 1], [2, 1]),
        (64, 8, two, 512, [8, 4], [8, 4]),
        (64, 12, three, 768, [12, 6], [12, 6]),
        (64, 16, load("global_load_dwordx4", 0), 1024, [16, 8], [16, 8]),
        (64, 32, load("global_load_dwordx4", 0), 1024, [32, 16], [16, 8]),
        // Half a wave.
        (32, 4, one(0), 128, [2, 1], [2, 1]),
        (1, 4, one(0), 4, [1, 1], [1, 1]),
    ] {
        let sums = only(figures("gfx90a", 64, block, stride, &body), MemorySpace::Global, AccessKind::Read);
        let expected = MemorySums {
            executions: 1,
            lanes: block.into(),
            bytes,
            lines,
            least_lines: least,
            ..MemorySums::default()
        };
        assert_eq!(sums, expected, "{block} work-items, stride {stride}: {body}");
    }
    // Waves of 32 lanes: two executions.
    let sums = only(figures("gfx1100", 32, 64, 4, &one(0)), MemorySpace::Global, AccessKind::Read);
    assert_eq!((sums.executions, sums.lanes, sums.bytes), (2, 64, 256));
    assert_eq!((sums.lines, sums.least_lines), ([4, 2], [4, 2]));
}

/// Of 64 lanes, s dwords apart, 32 are a phase: the fullest bank has gcd(s, 32) of them.
#[test]
fn banks_of_lds() {
    if !tools("banks_of_lds") {
        return;
    }
    let load = "  ds_read_b32 v2, v1".to_owned();
    let store = "  ds_write_b32 v1, v2".to_owned();
    let wide = "  ds_read_b128 v[2:5], v1".to_owned();
    let three = "  ds_read_b96 v[2:4], v1".to_owned();
    let pair = "  ds_read2_b32 v[2:3], v1 offset0:0 offset1:1".to_owned();
    for (cpu, lanes, body, access, bytes, stride, cycles) in [
        ("gfx942", 64, load.clone(), AccessKind::Read, 256, 4, [2, 2]),
        ("gfx942", 64, load.clone(), AccessKind::Read, 256, 8, [4, 2]),
        ("gfx942", 64, load.clone(), AccessKind::Read, 256, 16, [8, 2]),
        // A column of a tile of 32 dwords a row, without and with padding.
        ("gfx942", 64, load.clone(), AccessKind::Read, 256, 128, [64, 2]),
        ("gfx942", 64, load.clone(), AccessKind::Read, 256, 132, [2, 2]),
        ("gfx942", 64, store, AccessKind::Write, 256, 128, [64, 2]),
        // All lanes want one dword: they share it.
        ("gfx942", 64, load.clone(), AccessKind::Read, 256, 0, [2, 2]),
        // 64 banks.
        ("gfx950", 64, load.clone(), AccessKind::Read, 256, 128, [32, 1]),
        ("gfx1100", 32, load, AccessKind::Read, 256, 128, [64, 2]),
        ("gfx942", 64, wide.clone(), AccessKind::Read, 1024, 16, [8, 8]),
        // Rows of 64 bytes: four lanes in a row take all banks twice.
        ("gfx942", 64, wide, AccessKind::Read, 1024, 64, [32, 8]),
        ("gfx942", 64, three, AccessKind::Read, 768, 16, [8, 8]),
        // Two dwords of each lane: two places, each a stride of two dwords.
        ("gfx942", 64, pair, AccessKind::Read, 512, 8, [8, 4]),
    ] {
        let sums = only(figures(cpu, lanes, 64, stride, &body), MemorySpace::Lds, access);
        let expected = MemorySums {
            executions: (64 / lanes).into(),
            lanes: 64,
            bytes,
            bank_cycles: cycles[0],
            least_bank_cycles: cycles[1],
            ..MemorySums::default()
        };
        assert_eq!(sums, expected, "{cpu}, stride {stride}: {body}");
    }
}

/// Lanes at one address take turns: all, one, or as many as share each of four addresses.
#[test]
fn atomics_take_turns() {
    if !tools("atomics_take_turns") {
        return;
    }
    let four = "  v_and_b32 v1, 12, v1\n";
    let global = "  global_atomic_add v1, v2, s[2:3]";
    let lds = "  ds_add_u32 v1, v2";
    for (body, stride, space, turns) in [
        (global.to_owned(), 0, MemorySpace::Global, 64),
        (global.to_owned(), 4, MemorySpace::Global, 1),
        (format!("{four}{global}"), 4, MemorySpace::Global, 16),
        (lds.to_owned(), 0, MemorySpace::Lds, 64),
        (lds.to_owned(), 4, MemorySpace::Lds, 1),
        (format!("{four}{lds}"), 4, MemorySpace::Lds, 16),
    ] {
        let sums = only(figures("gfx90a", 64, 64, stride, &body), space, AccessKind::Atomic);
        assert_eq!([sums.turns, sums.most_turns], [turns; 2], "stride {stride}: {body}");
        let cycles = if space == MemorySpace::Lds { (turns * 2).clamp(2, 64) } else { 0 };
        let expected = if turns == 16 && space == MemorySpace::Lds { 16 } else { cycles };
        assert_eq!(sums.bank_cycles, expected, "stride {stride}: {body}");
    }
    // Two waves: turns are summed up, and the most is of one.
    let sums = only(figures("gfx90a", 64, 128, 0, global), MemorySpace::Global, AccessKind::Atomic);
    assert_eq!((sums.executions, sums.turns, sums.most_turns), (2, 128, 64));
}

/// What is exchanged between lanes goes to no memory, and what no lane asks for counts as nothing.
#[test]
fn lanes_that_are_off_ask_for_nothing() {
    if !tools("lanes_that_are_off_ask_for_nothing") {
        return;
    }
    assert_eq!(figures("gfx90a", 64, 64, 4, "  ds_bpermute_b32 v2, v1, v3"), []);
    let off = "  s_mov_b64 exec, 0\n  global_load_dword v2, v1, s[2:3]\n  ds_read_b32 v2, v1";
    assert_eq!(figures("gfx90a", 64, 64, 4, off), []);
    let some = "  s_mov_b64 exec, 5\n  global_load_dword v2, v1, s[2:3]\n  s_mov_b64 exec, -1";
    let sums = only(figures("gfx90a", 64, 64, 4, some), MemorySpace::Global, AccessKind::Read);
    assert_eq!((sums.lanes, sums.bytes, sums.lines, sums.least_lines), (2, 8, [1, 1], [1, 1]));
}

/// A loop with LDS, a divergent branch, atomics and private memory.
const MIXED: &str = "
kernel void mixed(global uint *data, global uint *sum, uint rounds) {
    local uint tile[1056];
    volatile private uint own[4];
    uint item = __builtin_amdgcn_workitem_id_x();
    uint all = __builtin_amdgcn_workgroup_id_x() * 32 + item;
    own[item & 3] = item;
    uint total = 0;
    for (uint round = 0; round < rounds + (item & 3); round++) {
        tile[item * 33 % 1056] = data[all] + round;
        if (item % 3 == round % 3)
            total += data[(item * 32 + round) % 1024];
        total += own[round & 3 & item];
    }
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\");
    __builtin_amdgcn_s_barrier();
    data[1024 + all] = total + tile[item * 33 % 1056];
    __opencl_atomic_fetch_add((global atomic_uint *)&sum[item & 7], total, memory_order_relaxed, memory_scope_device);
}";

fn mixed(target: (&str, u32), config: &Config, record: bool, threads: usize) -> (Execution, Vec<u32>) {
    let mut device = Device::with(&compile_for(MIXED, target, "-O2"), config.clone());
    let values: Vec<u32> = (0..2048).collect();
    let (data, sum) = (device.buffer("data", &values), device.buffer("sum", &[0u32; 8]));
    let kernarg = [data, sum, 5].into_iter().flat_map(u64::to_le_bytes).collect();
    let launch = Launch {
        grid: [32, 1, 1],
        block: [32, 1, 1],
        kernarg,
        threads,
        record_masks: true,
        record_steps: true,
        count_opcodes: true,
        record_memory: record,
        ..Launch::new("mixed")
    };
    let execution = device.machine.launch(&device.program, &launch).unwrap();
    let mut left = device.u32s(data, 2048);
    left.extend(device.u32s(sum, 8));
    (Execution { seconds: 0.0, threads: 0, ..execution }, left)
}

/// The figures change nothing else, and are the same on each path and with any number of threads.
#[test]
fn a_launch_is_the_same_with_and_without() {
    if !tools("a_launch_is_the_same_with_and_without") {
        return;
    }
    for target in [("gfx90a", 64), ("gfx942", 64), ("gfx1100", 32), ("gfx1201", 32)] {
        let mut config = Config::default();
        let (without, left) = mixed(target, &config, false, 1);
        assert_eq!(without.memory, []);
        let (with, left_with) = mixed(target, &config, true, 1);
        assert_eq!(left, left_with, "{target:?}");
        assert_eq!(Execution { memory: Vec::new(), ..with.clone() }, without, "{target:?}");
        // The native count of each instruction has the same executions and lanes.
        for record in &with.memory {
            let of_it = with.steps.iter().filter(|step| step.pc == record.pc && step.lanes > 0);
            let lanes: u64 = of_it.clone().map(|step| step.lanes).sum();
            assert_eq!(record.sums.lanes, lanes, "{target:?}: {record:?}");
        }
        let of = |space| with.memory.iter().filter(move |record| record.space == space);
        for space in [MemorySpace::Global, MemorySpace::Lds, MemorySpace::Scratch] {
            assert!(of(space).next().is_some(), "{target:?}: {space}");
        }
        for threads in [2, 8] {
            assert_eq!(mixed(target, &config, true, threads).0.memory, with.memory, "{target:?}");
        }
        config.fast_layer = false;
        assert_eq!(mixed(target, &config, true, 1).0.memory, with.memory, "{target:?}");
        config.fast_layer = true;
        (config.check_races, config.deterministic) = (true, true);
        assert_eq!(mixed(target, &config, true, 2).0.memory, with.memory, "{target:?}");
        // Parts add up to the whole.
        let mut sum = Execution::default();
        sum.add_part(&without);
        sum.add_part(&with);
        assert_eq!(sum.memory, with.memory);
    }
}

/// Private memory of all lanes is rows of dwords: a dword at one place is 256 bytes in a row.
#[test]
fn private_memory_is_rows() {
    if !tools("private_memory_is_rows") {
        return;
    }
    let source = "
kernel void rows(global uint *out) {
    volatile private uint own[4];
    own[1] = __builtin_amdgcn_workitem_id_x();
    out[__builtin_amdgcn_workitem_id_x()] = own[1];
}";
    for (target, executions, lines) in [(("gfx90a", 64), 1, [4, 2]), (("gfx1100", 32), 2, [4, 2])] {
        let mut device = Device::with(&compile_for(source, target, "-O2"), Config::default());
        let out = device.buffer("out", &[0u32; 64]);
        let kernarg = out.to_le_bytes().to_vec();
        let launch = Launch { kernarg, record_memory: true, ..Launch::new("rows") };
        let memory = device.machine.launch(&device.program, &launch).unwrap().memory;
        let private: Vec<_> = memory.iter().filter(|record| record.space == MemorySpace::Scratch).collect();
        assert_eq!(private.len(), 2, "{target:?}: {memory:?}");
        for record in private {
            let MemorySums { lanes, bytes, .. } = record.sums;
            assert_eq!((record.sums.executions, lanes, bytes), (executions, 64, 256), "{target:?}");
            assert_eq!((record.sums.lines, record.sums.least_lines), (lines, lines), "{target:?}");
        }
    }
}

/// Behind the loop's end there is more without memory than the loop is long.
#[test]
fn loads_of_a_loop_are_counted_each_time() {
    if !tools("loads_of_a_loop_are_counted_each_time") {
        return;
    }
    let tail = "  v_add_u32 v3, v3, v2\n".repeat(40);
    let body = format!(
        "  s_mov_b32 s4, 0
.Lhead:
  global_load_dword v2, v1, s[2:3]
  s_waitcnt vmcnt(0)
  s_add_i32 s4, s4, 1
  s_cmp_lg_u32 s4, 10
  s_cbranch_scc1 .Lhead
{tail}"
    );
    for (cpu, lanes) in [("gfx90a", 64), ("gfx1100", 32)] {
        let body = if cpu == "gfx90a" { body.clone() } else { body.replace("v_add_u32", "v_add_nc_u32") };
        let sums = only(figures(cpu, lanes, lanes, 4, &body), MemorySpace::Global, AccessKind::Read);
        assert_eq!((sums.executions, sums.lanes), (10, 10 * u64::from(lanes)), "{cpu}");
    }
}
