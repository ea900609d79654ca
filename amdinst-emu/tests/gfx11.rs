//! What waves of GFX11 do in their own way: masks of 32 lanes, 32 waves in a workgroup, clocks, and what is
//! refused by name.

mod support;

use std::process::Command;

use amdgpu_isa::{Arch, Target, WaveSize};
use amdgpu_object::CodeObject;
use amdinst_emu::{Config, FaultKind, LoadError, Machine, MaskRecord, Snippet, WaveState};
use support::{Assembly, Device, tools};

const BOTH: [WaveSize; 2] = [WaveSize::Wave32, WaveSize::Wave64];

fn target(wave: WaveSize) -> Target {
    Target { arch: Arch::Gfx1100, wave }
}

fn run(wave: WaveSize, text: &str, state: &WaveState) -> WaveState {
    let snippet = Snippet::assemble(target(wave), text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut machine = Machine::new(Arch::Gfx1100, Config::default());
    snippet.run(&mut machine, state).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

/// Every write to EXEC is counted by the lanes that the wave has. The figures: 100 work-items, of which those
/// below 40 go on.
#[test]
fn native_counts_are_of_the_lanes_that_a_wave_has() {
    if !tools("native_counts_are_of_the_lanes_that_a_wave_has") {
        return;
    }
    for wave in BOTH {
        let lanes = wave.lanes();
        let object = Assembly { cpu: "gfx1100", lanes, ..Assembly::default() }
            .object("  v_cmpx_gt_u32_e64 40, v0\n  v_mov_b32 v1, v0");
        let mut device = Device::with(&object, Config::default());
        let execution = device.launch("k", 1, 100, &[0, 0]).expect("launching");
        assert_eq!(execution.waves, u64::from(100u32.div_ceil(lanes)));
        let masks: Vec<(u64, u64, [u64; 4])> = execution
            .masks
            .iter()
            .map(|MaskRecord { lanes_in, lanes_out, all, none, narrowed, gained, .. }| {
                (*lanes_in, *lanes_out, [*all, *none, *narrowed, *gained])
            })
            .collect();
        let expected: &[(u64, u64, [u64; 4])] = match wave {
            WaveSize::Wave32 => {
                &[(32, 32, [1, 0, 0, 0]), (32, 8, [0, 0, 1, 0]), (32, 0, [0, 1, 1, 0]), (4, 0, [0, 1, 1, 0])]
            }
            WaveSize::Wave64 => &[(64, 40, [0, 0, 1, 0]), (36, 0, [0, 1, 1, 0])],
        };
        assert_eq!(masks, expected, "{lanes} lanes");
    }
}

/// 32 waves: the last two store different values to one place, and nothing orders them.
#[test]
fn a_race_between_the_last_of_32_waves_is_found() {
    if !tools("a_race_between_the_last_of_32_waves_is_found") {
        return;
    }
    let body = "  v_and_b32 v1, 31, v0
  v_cmpx_eq_u32_e64 0, v1
  v_cmpx_le_u32_e64 0x3c0, v0
  v_mov_b32 v2, 0
  ds_store_b32 v2, v0";
    let object = Assembly { cpu: "gfx1100", lanes: 32, lds: 64, ..Assembly::default() }.object(body);
    let mut config = Config::default();
    config.check_races = true;
    let mut device = Device::with(&object, config);
    let fault = device.launch("k", 1, 1024, &[0, 0]).expect_err("waves 30 and 31 race");
    assert!(matches!(fault.kind, FaultKind::Race { .. }), "{fault}");
    assert_eq!(fault.wave, 31, "{fault}");
}

/// Only masks that the wave has lanes for are read: VCC_HI and EXEC_HI are no part of it.
#[test]
fn upper_halves_of_masks_are_no_lanes_of_32() {
    let state = WaveState { vcc: 1 << 40, ..WaveState::default() };
    let after = run(
        WaveSize::Wave32,
        "s_mov_b32 exec_lo, 5
s_mov_b32 exec_hi, -1
s_cbranch_vccnz 1
s_mov_b32 s0, 7
v_mov_b32 v0, 1",
        &state,
    );
    assert_eq!((after.exec, after.sgprs[0]), (5, 7));
    assert_eq!(after.vgpr(0)[..4], [1, 0, 1, 0]);
}

/// NULL takes results, and SCC is set as without it.
#[test]
fn null_takes_results() {
    for wave in BOTH {
        let after = run(
            wave,
            "s_add_u32 null, -1, 2\ns_cselect_b32 s0, 11, 12\ns_mov_b64 s[2:3], null",
            &WaveState::default(),
        );
        assert_eq!((after.sgprs[0], after.sgpr_pair(2)), (11, 0));
        assert_eq!(after.exec, wave.all_lanes());
    }
}

/// Clocks go on with each instruction, and once more with each reading.
#[test]
fn clocks_move() {
    let text = "s_getreg_b32 s0, hwreg(HW_REG_SHADER_CYCLES, 0, 20)
s_sendmsg_rtn_b64 s[2:3], sendmsg(MSG_RTN_GET_REALTIME)
s_getreg_b32 s1, hwreg(HW_REG_SHADER_CYCLES, 0, 20)";
    for wave in BOTH {
        for fast_layer in [true, false] {
            let mut config = Config::default();
            config.fast_layer = fast_layer;
            let snippet = Snippet::assemble(target(wave), text).expect("assembling");
            let mut machine = Machine::new(Arch::Gfx1100, config);
            let after = snippet.run(&mut machine, &WaveState::default()).expect("running");
            let readings = [u64::from(after.sgprs[0]), after.sgpr_pair(2), u64::from(after.sgprs[1])];
            assert_eq!(readings, [64, 129, 194], "{wave:?}, fast layer: {fast_layer}");
        }
    }
}

/// `v_readlane_b32` takes the lane's number by as many bits as there are lanes; `ds_bpermute_b32` and DPP
/// stay within 32.
#[test]
fn lanes_are_named_within_a_wave() {
    let mut state = WaveState::default();
    state.set_vgpr(0, std::array::from_fn(|lane| 100 + lane as u32));
    state.set_vgpr(1, std::array::from_fn(|lane| 4 * (lane as u32 + 1)));
    let text = "v_readlane_b32 s0, v0, 33\nds_bpermute_b32 v2, v1, v0\nv_permlane64_b32 v3, v0";
    let narrow = run(WaveSize::Wave32, text, &state);
    assert_eq!(narrow.sgprs[0], 101);
    assert_eq!((narrow.vgpr(2)[30], narrow.vgpr(2)[31], narrow.vgpr(3)[0]), (131, 100, 0));
    let wide = run(WaveSize::Wave64, text, &state);
    assert_eq!(wide.sgprs[0], 133);
    assert_eq!((wide.vgpr(2)[31], wide.vgpr(2)[32], wide.vgpr(2)[63]), (100, 133, 132));
    assert_eq!((wide.vgpr(3)[0], wide.vgpr(3)[63]), (132, 131));
}

/// Each with its mnemonic, as that generation's text has it.
#[test]
fn what_is_not_executed_is_told_by_name() {
    for (text, told) in [
        ("image_load v[0:3], v[0:1], s[0:7] dmask:0xf dim:SQ_RSRC_IMG_2D", "images are not supported"),
        ("exp mrt0 v0, v0, v0, v0 done", "exports are not supported"),
        ("ds_ordered_count v0, v0 gds", "the global data share (GDS) is not supported"),
        ("s_code_end", "it marks where code ends"),
        ("buffer_load_format_x v0, off, s[0:3], 0", "with data formats of this generation"),
    ] {
        let snippet =
            Snippet::assemble(Arch::Gfx1100, text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut machine = Machine::new(Arch::Gfx1100, Config::default());
        let fault = snippet.run(&mut machine, &WaveState::default()).expect_err(text);
        assert!(matches!(fault.kind, FaultKind::Unimplemented { .. }), "{text}: {fault}");
        assert!(fault.to_string().contains(told), "{text}: {fault}");
        assert_eq!(fault.pc, Some(0));
    }
}

/// Kernels of both sizes in one file: code of the other size would be read wrongly, so the file is refused.
#[test]
fn two_sizes_of_waves_are_refused() {
    if !tools("two_sizes_of_waves_are_refused") {
        return;
    }
    let kernel = |name: &str, narrow: u32| {
        format!(
            ".text\n.globl {name}\n.p2align 8\n.type {name},@function\n{name}:\n  s_endpgm\n.rodata\n.p2align 6
.amdhsa_kernel {name}\n.amdhsa_next_free_vgpr 1\n.amdhsa_next_free_sgpr 1\n.amdhsa_wavefront_size32 {narrow}
.end_amdhsa_kernel\n"
        )
    };
    let note = |name: &str, lanes: u32| {
        format!(
            "  - .name: {name}\n    .symbol: {name}.kd\n    .kernarg_segment_size: 0\n    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0\n    .kernarg_segment_align: 8\n    .wavefront_size: {lanes}\n    .sgpr_count: 8
    .vgpr_count: 8\n    .max_flat_workgroup_size: 256\n"
        )
    };
    let text = format!(
        ".amdgcn_target \"amdgcn-amd-amdhsa--gfx1100\"\n{}{}.amdgpu_metadata\n---\namdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx1100\namdhsa.kernels:\n{}{}...\n.end_amdgpu_metadata\n",
        kernel("narrow", 1),
        kernel("wide", 0),
        note("narrow", 32),
        note("wide", 64)
    );
    let directory = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(directory.path().join("k.s"), text).expect("writing the source");
    let result = Command::new("clang-22")
        .current_dir(&directory)
        .args([
            "--target=amdgcn-amd-amdhsa",
            "-mcpu=gfx1100",
            "-nostdlib",
            "-fuse-ld=lld-22",
            "-o",
            "k.elf",
            "k.s",
        ])
        .output()
        .expect("running clang-22");
    let message = String::from_utf8_lossy(&result.stderr);
    if !result.status.success() {
        // LLVM's assembler writes such a file only in two parts.
        assert!(message.contains("wavefront"), "clang: {message}");
        return;
    }
    let bytes = std::fs::read(directory.path().join("k.elf")).expect("reading");
    let object = CodeObject::parse(bytes).expect("a code object");
    let error = Machine::new(Arch::Gfx1100, Config::default()).load(&object).expect_err("two sizes");
    let expected = LoadError::TwoWaveSizes { narrow: "narrow".to_owned(), wide: "wide".to_owned() };
    assert_eq!(error, expected);
}
