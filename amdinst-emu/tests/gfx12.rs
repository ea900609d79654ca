//! What waves of GFX12 do in their own way: ids of workgroups, barriers of two instructions, scalar loads of
//! bytes, atomics, and what is refused by name.

mod support;

use amdgpu_isa::{Arch, Target, WaveSize};
use amdinst_emu::{Config, FaultKind, Launch, Machine, OutOfRange, Snippet, WaveState};
use support::{Assembly, Device, compile_c, tools};

fn config(set: impl FnOnce(&mut Config)) -> Config {
    let mut config = Config::default();
    set(&mut config);
    config
}

const BOTH: [WaveSize; 2] = [WaveSize::Wave32, WaveSize::Wave64];

fn target(wave: WaveSize) -> Target {
    Target { arch: Arch::Gfx1201, wave }
}

fn try_run(wave: WaveSize, text: &str, state: &WaveState) -> Result<WaveState, amdinst_emu::Fault> {
    let snippet = Snippet::assemble(target(wave), text).unwrap_or_else(|error| panic!("{text}: {error}"));
    snippet.run(&mut Machine::new(Arch::Gfx1201, Config::default()), state)
}

fn run(wave: WaveSize, text: &str, state: &WaveState) -> WaveState {
    try_run(wave, text, state).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

/// Ids in y and z are halves of one register; the wave's number is there, too.
#[test]
fn ids_of_workgroups_and_waves() {
    if !tools("ids_of_workgroups_and_waves") {
        return;
    }
    let source = "__attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(128, 128)))
void k(__attribute__((address_space(1))) unsigned *p) {
  unsigned x = __builtin_amdgcn_workgroup_id_x(), y = __builtin_amdgcn_workgroup_id_y();
  unsigned z = __builtin_amdgcn_workgroup_id_z(), item = __builtin_amdgcn_workitem_id_x();
  p[((z * 3 + y) * 4 + x) * 128 + item] = item | x << 8 | y << 16 | z << 24;
}";
    let mut device = Device::with(&compile_c(source, "gfx1201", "-O2"), Config::default());
    let p = device.buffer("p", &vec![0u32; 4 * 3 * 2 * 128]);
    let kernarg = p.to_le_bytes().to_vec();
    let launch = Launch { grid: [4, 3, 2], block: [128, 1, 1], kernarg, ..Launch::new("k") };
    device.machine.launch(&device.program, &launch).expect("launching");
    let mut expected = Vec::new();
    for z in 0..2 {
        for y in 0..3 {
            for x in 0..4 {
                expected.extend((0..128).map(|item| item | x << 8 | y << 16 | z << 24));
            }
        }
    }
    assert_eq!(device.u32s(p, expected.len()), expected);
    let launch = Launch { grid: [1, 65_537, 1], block: [128, 1, 1], ..launch };
    let fault = device.machine.launch(&device.program, &launch).expect_err("too many");
    assert!(fault.to_string().contains("65537 workgroups in y: gfx1201 numbers 65536 there"), "{fault}");
}

/// TTMP8 has the wave's number from bit 25 on; other registers of the trap handler's are refused.
#[test]
fn a_wave_knows_its_number() {
    if !tools("a_wave_knows_its_number") {
        return;
    }
    for lanes in [32, 64] {
        let body = "  s_load_b64 s[2:3], s[0:1], 0x0
  s_bfe_u32 s4, ttmp8, 0x50019
  v_mov_b32 v1, s4
  v_lshlrev_b32 v2, 2, v0
  s_wait_kmcnt 0x0
  global_store_b32 v2, v1, s[2:3]";
        let assembly = Assembly { cpu: "gfx1201", lanes, ..Assembly::default() };
        let mut device = Device::with(&assembly.object(body), Config::default());
        let p = device.buffer("p", &[9u32; 128]);
        device.launch("k", 1, 128, &[p, 0]).expect("launching");
        let expected: Vec<u32> = (0..128).map(|item| item / lanes).collect();
        assert_eq!(device.u32s(p, 128), expected);
        let mut device = Device::with(&assembly.object("  s_mov_b32 s4, ttmp6"), Config::default());
        let fault = device.launch("k", 1, 128, &[0, 0]).expect_err("TTMP6");
        assert!(fault.to_string().contains("with registers of the trap handler (TTMP)"), "{fault}");
    }
}

/// A kernel whose waves each put their number into LDS, do `middle` between both parts of a barrier, and read
/// the next wave's.
fn exchange(middle: &str) -> String {
    format!(
        "  s_load_b64 s[2:3], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  v_mov_b32 v5, 0
  ds_store_b32 v2, v0
  s_wait_dscnt 0x0
  s_barrier_signal -1
{middle}
  s_barrier_wait 0xffff
  v_add_nc_u32 v3, 64, v2
  v_add_nc_u32 v3, 64, v3
  v_and_b32 v3, 0x3ff, v3
  ds_load_b32 v4, v3
  s_wait_dscnt 0x0
  v_add_nc_u32 v4, v4, v5
  s_wait_kmcnt 0x0
  global_store_b32 v2, v4, s[2:3]"
    )
}

/// What comes between signal and wait runs without waiting; what comes behind sees what all did before.
#[test]
fn barriers_have_two_parts() {
    if !tools("barriers_have_two_parts") {
        return;
    }
    for lanes in [32, 64] {
        for slice in [1, 3, 1000] {
            let assembly = Assembly { cpu: "gfx1201", lanes, lds: 1024, ..Assembly::default() };
            let object = assembly.object(&exchange("  v_mov_b32 v5, 1000"));
            let config = config(|config| {
                (config.check_races, config.strict_barriers, config.time_slice) = (true, true, slice);
            });
            let mut device = Device::with(&object, config);
            let p = device.buffer("p", &[0u32; 256]);
            device.launch("k", 1, 256, &[p, 0]).expect("launching");
            let expected: Vec<u32> = (0..256).map(|item| 1000 + (item + 32) % 256).collect();
            assert_eq!(device.u32s(p, 256), expected, "{lanes} lanes, slices of {slice}");
        }
    }
}

/// What two waves do around two barriers, each by two instructions: before the first signal, between it and
/// its wait, behind that, between the second signal and wait, behind that. `w` stores the wave's number plus
/// one to one dword, `r` loads it.
const AROUND_BARRIERS: [([&str; 5], [&str; 5], bool); 11] = [
    // Ordered by the first barrier, or by the second.
    (["w", "", "", "", ""], ["", "", "r", "", ""], false),
    (["w", "", "", "", ""], ["", "", "", "r", ""], false),
    (["", "w", "", "", ""], ["", "", "", "", "r"], false),
    (["", "", "w", "", ""], ["", "", "", "", "r"], false),
    (["", "r", "", "", ""], ["", "", "", "", "w"], false),
    // What is between signal and wait is on both sides of the barrier.
    (["w", "", "", "", ""], ["", "r", "", "", ""], true),
    (["", "w", "", "", ""], ["", "", "r", "", ""], true),
    (["", "r", "", "", ""], ["", "", "w", "", ""], true),
    (["", "w", "", "", ""], ["", "r", "", "", ""], true),
    // Of two barriers one after the other, what is between the parts of each.
    (["", "w", "", "", ""], ["", "", "", "r", ""], true),
    (["", "", "w", "", ""], ["", "", "", "r", ""], true),
];

/// Races are found, and no others, in whatever order the waves run.
#[test]
fn what_is_between_the_parts_of_a_barrier_races_with_both_sides() {
    if !tools("what_is_between_the_parts_of_a_barrier_races_with_both_sides") {
        return;
    }
    let one = |does: &str| match does {
        "w" => "  ds_store_b32 v1, v2\n  s_wait_dscnt 0x0\n",
        "r" => "  ds_load_b32 v3, v1\n  s_wait_dscnt 0x0\n",
        _ => "  s_nop 0\n",
    };
    let all = |does: [&str; 5]| {
        let [a, b, c, d, e] = does.map(one);
        let (signal, wait) = ("  s_barrier_signal -1\n", "  s_barrier_wait 0xffff\n");
        [a, signal, b, wait, c, signal, d, wait, e].concat()
    };
    for (first, second, is_race) in AROUND_BARRIERS {
        for (first, second) in [(first, second), (second, first)] {
            let body = format!(
                "  s_bfe_u32 s4, ttmp8, 0x50019
  s_add_co_i32 s5, s4, 1
  v_mov_b32 v1, 16
  v_mov_b32 v2, s5
  s_cmp_lg_u32 s4, 0
  s_cbranch_scc1 .Lother
{}  s_endpgm
.Lother:
{}",
                all(first),
                all(second)
            );
            for (lanes, slice) in [(32, 1), (32, 2), (32, 5), (64, 1000)] {
                let assembly = Assembly { cpu: "gfx1201", lanes, lds: 64, ..Assembly::default() };
                let config = config(|config| (config.check_races, config.time_slice) = (true, slice));
                let mut device = Device::with(&assembly.object(&body), config);
                let outcome = device.launch("k", 1, 2 * lanes, &[0, 0]);
                let told = outcome.map(drop).map_err(|fault| fault.to_string());
                match (is_race, &told) {
                    (false, Ok(())) => {}
                    (true, Err(error)) if error.contains("data race") => {}
                    _ => panic!("{first:?} {second:?}, {lanes} lanes, slices of {slice}: {told:?}"),
                }
            }
        }
    }
}

/// One wave waits for another between signal and wait: a barrier that waited where it is signalled would
/// never end.
#[test]
fn a_wave_may_wait_for_another_before_it_waits_at_the_barrier() {
    if !tools("a_wave_may_wait_for_another_before_it_waits_at_the_barrier") {
        return;
    }
    // The first wave sets a flag behind its wait, and the others look for that between theirs: of three
    // phases.
    let body = "  s_load_b64 s[2:3], s[0:1], 0x0
  s_bfe_u32 s4, ttmp8, 0x50019
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  s_barrier_signal -1
  s_barrier_wait 0xffff
  s_cmp_lg_u32 s4, 0
  s_barrier_signal -1
  s_cbranch_scc1 .Lother
  ds_store_b32 v1, v2
  s_branch .Lwait
.Lother:
  ds_load_b32 v3, v1
  s_wait_dscnt 0x0
  v_readfirstlane_b32 s5, v3
  s_sleep_var 1
  s_cmp_eq_u32 s5, 1
  s_cbranch_scc0 .Lother
.Lwait:
  s_barrier_wait 0xffff
  v_mov_b32 v4, 5
  v_lshlrev_b32 v2, 2, v0
  s_wait_kmcnt 0x0
  global_store_b32 v2, v4, s[2:3]";
    let assembly = Assembly { cpu: "gfx1201", lanes: 32, lds: 64, ..Assembly::default() };
    let mut device = Device::with(&assembly.object(body), config(|config| config.time_slice = 7));
    let p = device.buffer("p", &[0u32; 128]);
    device.launch("k", 1, 128, &[p, 0]).expect("launching");
    assert_eq!(device.u32s(p, 128), [5; 128]);
}

/// `s_barrier_signal_isfirst` and `s_get_barrier_state`: the first wave of each phase, and the counts.
#[test]
fn barriers_tell_their_state() {
    if !tools("barriers_tell_their_state") {
        return;
    }
    // Twice: whether this wave was first, and the state right behind. Waves run one after the other.
    let phase = "  s_barrier_signal_isfirst -1
  s_cselect_b32 s5, 1, 0
  s_get_barrier_state s6, -1
  s_wait_kmcnt 0x0
  s_barrier_wait 0xffff
  v_mov_b32 v1, s5
  v_mov_b32 v3, s6
  global_store_b32 v2, v1, s[2:3] offset:AT
  global_store_b32 v2, v3, s[2:3] offset:AT+4
";
    let body = format!(
        "  s_load_b64 s[2:3], s[0:1], 0x0\n  v_lshlrev_b32 v2, 4, v0\n  s_wait_kmcnt 0x0\n{}{}",
        phase.replace("AT", "0"),
        phase.replace("AT", "8")
    );
    for lanes in [32, 64] {
        barriers_tell_their_state_to(&body, lanes);
    }
}

/// Three waves of a size, then one.
fn barriers_tell_their_state_to(body: &str, lanes: u32) {
    let assembly = Assembly { cpu: "gfx1201", lanes, ..Assembly::default() };
    let mut device = Device::with(&assembly.object(body), Config::default());
    let items = 3 * lanes as usize;
    let p = device.buffer("p", &vec![0u32; 4 * items]);
    device.launch("k", 1, items as u32, &[p, 0]).expect("launching");
    let found = device.u32s(p, 4 * items);
    // memberCnt in bits 10:4, signalCnt in 22:16, valid in bit 0; the last signal resets the count.
    let state = |signals: u32| signals << 16 | 3 << 4 | 1;
    for (wave, signals) in [1, 2, 0].into_iter().enumerate() {
        let is_first = u32::from(wave == 0);
        let expected = [is_first, state(signals), is_first, state(signals)];
        assert_eq!(found[4 * lanes as usize * wave..][..4], expected, "wave {wave} of {lanes} lanes");
    }
    // A workgroup of one wave has no barrier: it is never first, and does not wait.
    device.machine.write(p, &[0; 64]).expect("writing");
    device.launch("k", 1, lanes, &[p, 0]).expect("launching");
    assert_eq!(device.u32s(p, 3)[0], 0);
}

/// What waits for ever is a fault, and so is what hardware lets pass, where that is looked for.
#[test]
fn barriers_that_cannot_complete() {
    if !tools("barriers_that_cannot_complete") {
        return;
    }
    let fault = |body: &str, config: Config| {
        let assembly = Assembly { cpu: "gfx1201", lanes: 32, ..Assembly::default() };
        let mut device = Device::with(&assembly.object(body), config);
        device.launch("k", 1, 128, &[0, 0])
    };
    let waits = fault("  s_barrier_wait 0xffff", Config::default()).expect_err("nobody signals");
    assert_eq!(waits.kind, FaultKind::BarrierUnsignalled { waiting: 4 });
    let text = "deadlocked barrier: 4 waves wait at it, but it has not been signalled by all";
    assert!(waits.to_string().contains(text), "{waits}");
    // The last wave ends without a signal: the others pass.
    let some = "  v_cmpx_gt_u32 96, v0\n  s_cbranch_execz .Lend0\n  s_barrier_signal -1\n  s_barrier_wait 0xffff\n.Lend0:";
    fault(some, Config::default()).expect("the others pass");
    let strict = || config(|config| config.strict_barriers = true);
    let mismatch = fault(some, strict()).expect_err("one has ended");
    assert_eq!(mismatch.kind, FaultKind::BarrierMismatch { waiting: 3, ended: 1 });
    // Lanes that are off where the barrier is signalled.
    let lanes =
        "  v_cmpx_lt_u32 0, v0\n  s_barrier_signal -1\n  s_mov_b32 exec_lo, -1\n  s_barrier_wait 0xffff";
    let divergence = fault(lanes, strict()).expect_err("a lane is off");
    assert_eq!(divergence.kind, FaultKind::BarrierDivergence { arrived: 31, started: 32 });
    let twice = fault("  s_barrier_signal -1\n  s_barrier_signal -1", Config::default()).expect_err("twice");
    assert!(twice.to_string().contains("for a second time, without waiting in between"), "{twice}");
}

/// Scalar loads of 8, 16 and 96 bits, at their own alignments.
#[test]
fn scalar_loads_of_parts_of_dwords() {
    if !tools("scalar_loads_of_parts_of_dwords") {
        return;
    }
    let body = "  s_load_b64 s[2:3], s[0:1], 0x0
  s_wait_kmcnt 0x0
  s_mov_b32 s20, 3
  s_load_u8 s4, s[2:3], 0x1
  s_load_i8 s5, s[2:3], s20 offset:0x0
  s_load_u16 s6, s[2:3], 0x2
  s_load_i16 s7, s[2:3], 0x2
  s_load_b96 s[8:10], s[2:3], 0x4
  s_mov_b64 s[12:13], s[2:3]
  s_mov_b32 s14, 3
  s_mov_b32 s15, 0x31014fac
  s_buffer_load_u8 s16, s[12:15], 0x1
  s_buffer_load_i8 s17, s[12:15], 0x3
  s_buffer_load_u16 s18, s[12:15], 0x2
  s_buffer_load_i16 s19, s[12:15], 0x0
  s_prefetch_data s[2:3], 0x0, null, 0
  s_wait_kmcnt 0x0
"
    .to_owned()
        + &[4, 5, 6, 7, 8, 9, 10, 16, 17, 18, 19]
            .iter()
            .enumerate()
            .map(|(at, register)| {
                format!(
                    "  v_mov_b32 v1, s{register}\n  global_store_b32 v0, v1, s[2:3] offset:{}\n",
                    64 + 4 * at
                )
            })
            .collect::<String>();
    let assembly = Assembly { cpu: "gfx1201", lanes: 32, ..Assembly::default() };
    let mut device = Device::with(&assembly.object(&body), Config::default());
    let mut words = [0u32; 32];
    words[..4].copy_from_slice(&[0x8f12_f1aa, 0x1111_2222, 0x3333_4444, 0x5555_6666]);
    let p = device.buffer("p", &words);
    device.launch("k", 1, 1, &[p, 0]).expect("launching");
    let found = device.u32s(p, 27)[16..].to_vec();
    // NUM_RECORDS is 3 bytes: a byte at 3 and two at 2 are out of range.
    let expected = [
        0xf1,
        0xffff_ff8f,
        0x8f12,
        0xffff_8f12,
        0x1111_2222,
        0x3333_4444,
        0x5555_6666,
        0xf1,
        0,
        0,
        0xffff_f1aa,
    ];
    assert_eq!(found, expected);
    let odd =
        assembly.object("  s_load_b64 s[2:3], s[0:1], 0x0\n  s_wait_kmcnt 0x0\n  s_load_u16 s4, s[2:3], 0x1");
    let mut device = Device::with(&odd, Config::default());
    let p = device.buffer("p", &words);
    let fault = device.launch("k", 1, 1, &[p, 0]).expect_err("16 bits at an odd address");
    assert!(matches!(fault.kind, FaultKind::Misaligned { required: 2, .. }), "{fault}");
}

/// A counter in memory is taken down by `cond_sub` only while that is possible, and by `sub_clamp` to zero;
/// returned is what was there.
#[test]
fn subtracting_atomics() {
    if !tools("subtracting_atomics") {
        return;
    }
    for (name, left) in [("cond_sub", 2u32), ("sub_clamp", 0)] {
        let body = format!(
            "  s_load_b64 s[2:3], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v3, 3
  v_mov_b32 v4, 11
  ds_store_b32 v1, v4
  v_mov_b32 v5, s2
  s_wait_kmcnt 0x0
  v_mov_b32 v5, s2
  v_mov_b32 v6, s3
  s_mov_b32 s6, s2
  s_mov_b32 s7, s3
  s_mov_b32 s8, 64
  s_mov_b32 s9, 0x31014fac
  s_mov_b32 s6, s2
  s_mov_b32 s4, s2
  s_mov_b32 s5, s3
  s_mov_b32 s12, s2
  s_mov_b32 s13, s3
  s_mov_b32 s14, 64
  s_mov_b32 s15, 0x31014fac
  global_atomic_{name}_u32 v7, v1, v3, s[2:3] th:TH_ATOMIC_RETURN
  flat_atomic_{name}_u32 v8, v[5:6], v3 offset:4 th:TH_ATOMIC_RETURN
  v_mov_b32 v9, 3
  buffer_atomic_{name}_u32 v9, off, s[12:15], null offset:8 th:TH_ATOMIC_RETURN
  ds_{name}_rtn_u32 v10, v1, v3
  ds_{name}_u32 v1, v3
  s_wait_loadcnt_dscnt 0x0
  ds_load_b32 v11, v1
  s_wait_dscnt 0x0
  v_lshlrev_b32 v2, 2, v0
  global_store_b32 v2, v7, s[2:3] offset:64
  global_store_b32 v1, v11, s[2:3] offset:12"
        );
        let assembly = Assembly { cpu: "gfx1201", vgprs: 16, lanes: 32, lds: 64, ..Assembly::default() };
        let mut device = Device::with(&assembly.object(&body), Config::default());
        let p = device.buffer("p", &[vec![11u32; 4], vec![0; 28]].concat());
        device.launch("k", 1, 4, &[p, 0]).expect("launching");
        let found = device.u32s(p, 20);
        assert_eq!(found[..4], [left; 4], "{name}");
        assert_eq!(found[16..20], [11, 8, 5, 2], "{name}");
    }
}

/// Minima and maxima in memory are minimumNumber and maximumNumber (RDNA4 ISA, section 13.3): a NaN that
/// signals loses, too.
#[test]
fn minima_in_lds_are_numbers() {
    let (quiet, signalling) = (0x7fc0_0001u32, 0x7f80_0001u32);
    let one = 1f32.to_bits();
    for (memory, data, least) in [
        (signalling, one, one),
        (one, signalling, one),
        (quiet, one, one),
        (signalling, quiet, 0x7fc0_0001),
        (0x8000_0000, 0, 0x8000_0000),
    ] {
        let mut state = WaveState { exec: 1, lds: memory.to_le_bytes().to_vec(), ..WaveState::default() };
        state.set_vgpr(1, [data; 64]);
        let after = run(WaveSize::Wave32, "ds_min_num_rtn_f32 v2, v0, v1", &state);
        assert_eq!(after.lds, least.to_le_bytes(), "{memory:#x}, {data:#x}");
        assert_eq!(after.vgpr(2)[0], memory);
    }
    // Input subnormals flushed, by MODE: they are zeros, also as the result.
    let mut state =
        WaveState { exec: 1, mode: 0x3c0, lds: 5u32.to_le_bytes().to_vec(), ..WaveState::default() };
    state.set_vgpr(1, [one; 64]);
    assert_eq!(run(WaveSize::Wave32, "ds_min_num_f32 v0, v1", &state).lds, [0; 4]);
}

/// Both halves of a wave of 64 lanes exchange with each other; and `ds_bpermute_fi_b32` reads lanes that are
/// off.
#[test]
fn permutations_cross_all_lanes() {
    let mut state = WaveState::default();
    state.set_vgpr(0, std::array::from_fn(|lane| 100 + lane as u32));
    state.set_vgpr(1, std::array::from_fn(|lane| 4 * (lane as u32 + 33)));
    let wide = run(WaveSize::Wave64, "ds_bpermute_b32 v2, v1, v0\nds_permute_b32 v3, v1, v0", &state);
    assert_eq!((wide.vgpr(2)[0], wide.vgpr(2)[31], wide.vgpr(3)[33], wide.vgpr(3)[0]), (133, 100, 100, 131));
    let narrow = run(WaveSize::Wave32, "ds_bpermute_b32 v2, v1, v0", &state);
    assert_eq!((narrow.vgpr(2)[0], narrow.vgpr(2)[31]), (101, 100));
    state.exec = 1;
    let some = run(WaveSize::Wave64, "ds_bpermute_b32 v2, v1, v0\nds_bpermute_fi_b32 v3, v1, v0", &state);
    assert_eq!((some.vgpr(2)[0], some.vgpr(3)[0], some.vgpr(3)[1]), (0, 133, 0));
}

/// The clock has 64 bits; STATUS says how many lanes there are, and STATE_PRIV has SCC.
#[test]
fn hardware_registers() {
    let text = "s_getreg_b32 s0, hwreg(HW_REG_SHADER_CYCLES_LO)
s_getreg_b32 s1, hwreg(HW_REG_SHADER_CYCLES_HI)
s_getreg_b32 s2, hwreg(HW_REG_SHADER_CYCLES_LO)
s_getreg_b32 s3, hwreg(HW_REG_WAVE_STATUS, 29, 1)
s_getreg_b32 s4, hwreg(HW_REG_WAVE_STATE_PRIV, 9, 1)
s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 4), 3
s_getreg_b32 s5, hwreg(HW_REG_WAVE_MODE, 0, 4)";
    for wave in BOTH {
        let after = run(wave, text, &WaveState { scc: true, ..WaveState::default() });
        let wide = u32::from(wave == WaveSize::Wave64);
        assert_eq!(after.sgprs[..6], [64, 0, 194, wide, 1, 3], "{wave:?}");
    }
}

/// A buffer whose records are scaled, and one that swizzles an offset in a scalar register with the others.
#[test]
fn buffers_with_scaled_strides() {
    if !tools("buffers_with_scaled_strides") {
        return;
    }
    let body = "  s_load_b64 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  s_wait_kmcnt 0x0
  s_mov_b64 s[2:3], s[4:5]
  s_or_b32 s5, s5, 0x20000                   ; a stride of 2 bytes
  s_mov_b32 s6, 100
  s_mov_b32 s7, 0x21054000                   ; times 4; any place but in an empty buffer
  buffer_load_b32 v2, v0, s[4:7], null idxen
  v_lshlrev_b32 v3, 2, v0
  s_wait_loadcnt 0x0
  global_store_b32 v3, v2, s[2:3] offset:256";
    let assembly = Assembly { cpu: "gfx1201", lanes: 32, ..Assembly::default() };
    let mut device = Device::with(&assembly.object(body), Config::default());
    let words: Vec<u32> = (0..96).collect();
    let p = device.buffer("p", &words);
    device.launch("k", 1, 16, &[p, 0]).expect("launching");
    let expected: Vec<u32> = (0..16).map(|item| 2 * item).collect();
    assert_eq!(device.u32s(p, 80)[64..], expected);
}

/// Each byte of a store counts by itself where hardware lets an access to LDS pass that is in part out of
/// range.
#[test]
fn stores_that_are_partly_out_of_range() {
    if !tools("stores_that_are_partly_out_of_range") {
        return;
    }
    let body = "  s_load_b64 s[2:3], s[0:1], 0x0
  v_mov_b32 v0, 0
  v_mov_b32 v1, 0x3fc
  v_mov_b32 v2, 7
  v_mov_b32 v3, 8
  ds_store_b64 v1, v[2:3]
  ds_load_b32 v4, v1
  s_wait_dscnt 0x0
  s_wait_kmcnt 0x0
  global_store_b32 v0, v4, s[2:3]";
    let assembly = Assembly { cpu: "gfx1201", lanes: 32, lds: 1024, ..Assembly::default() };
    let config = config(|config| config.out_of_range = OutOfRange::AsHardware);
    let mut device = Device::with(&assembly.object(body), config);
    let p = device.buffer("p", &[0u32; 4]);
    device.launch("k", 1, 1, &[p, 0]).expect("launching");
    assert_eq!(device.u32s(p, 1), [7]);
}

/// Each with its mnemonic, as that generation's text has it.
#[test]
fn what_is_not_executed_is_told_by_name() {
    for (text, told) in [
        ("image_load v[0:3], [v0, v1], s[0:7] dmask:0xf dim:SQ_RSRC_IMG_2D", "images are not supported"),
        ("image_sample v[0:3], [v0, v1], s[0:7], s[8:11] dmask:0xf dim:SQ_RSRC_IMG_2D", "images are not"),
        ("export mrt0 v0, v0, v0, v0 done", "exports are not supported"),
        ("s_alloc_vgpr 32", "dynamic allocation of VGPRs is not supported"),
        ("s_barrier_signal 1", "of a named barrier"),
        ("s_barrier_signal m0", "with the number of a barrier in a register"),
        ("s_barrier_wait 0x1", "at a named barrier"),
        ("s_barrier_leave", "named barriers are not supported"),
        ("global_load_tr_b128 v[0:3], v[0:1], off", "is published in no text"),
        ("global_load_block v[0:31], v[0:1], off", "blocks of VGPRs are not supported"),
        ("ds_bvh_stack_push4_pop1_rtn_b32 v1, v0, v1, v[2:5]", "ray tracing is not supported"),
        ("buffer_load_format_x v0, off, s[0:3], null", "with data formats of this generation"),
        ("s_code_end", "it marks where code ends"),
    ] {
        let Ok(snippet) = Snippet::assemble(Arch::Gfx1201, text) else {
            panic!("{text}: {:?}", Snippet::assemble(Arch::Gfx1201, text).err());
        };
        let mut machine = Machine::new(Arch::Gfx1201, Config::default());
        let fault = snippet.run(&mut machine, &WaveState::default()).expect_err(text);
        assert!(matches!(fault.kind, FaultKind::Unimplemented { .. }), "{text}: {fault}");
        assert!(fault.to_string().contains(told), "{text}: {fault}");
        assert_eq!(fault.pc, Some(0));
    }
    let lost = try_run(WaveSize::Wave32, "s_barrier_signal -2\ns_barrier_wait 0xfffe", &WaveState::default());
    lost.expect("the trap handler's barrier is none to a kernel");
}
