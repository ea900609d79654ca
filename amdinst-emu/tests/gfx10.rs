//! What waves of GFX10 do in their own way: results of 16 bits, comparisons with SDWA that write EXEC,
//! FLAT_SCRATCH that the kernel sets, and what one of its processors has alone.

use amdgpu_isa::{Arch, Target, WaveSize};
use amdinst_emu::{Config, FaultKind, Machine, Snippet, WaveState};

const BOTH: [WaveSize; 2] = [WaveSize::Wave32, WaveSize::Wave64];

/// Runs a snippet by the fast layer and by the reference path, which must agree.
fn run(arch: Arch, wave: WaveSize, text: &str, state: &WaveState) -> WaveState {
    let results = [true, false].map(|fast_layer| {
        let mut config = Config::default();
        config.fast_layer = fast_layer;
        let target = Target { arch, wave };
        let snippet = Snippet::assemble(target, text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut machine = Machine::new(arch, config);
        snippet.run(&mut machine, state).unwrap_or_else(|fault| panic!("{text}: {fault}"))
    });
    assert_eq!(results[0], results[1], "{text}");
    let [result, _] = results;
    result
}

/// 1 + 2, in halves, beside what the register held above them; SDWA says by itself what becomes of it.
#[test]
fn results_of_16_bits_keep_the_other_half() {
    let mut state = WaveState::default();
    state.set_vgpr(0, [0x7777_3c00; 64]);
    state.set_vgpr(1, [0x7777_4000; 64]);
    for register in 2..6 {
        state.set_vgpr(register, [0xaaaa_5555; 64]);
    }
    let text = "v_add_f16_e32 v2, v0, v1
v_mad_u16 v3, v0, 1, 1
v_mad_u16 v4, v0, 1, 1 op_sel:[0,0,0,1]
v_add_f16_sdwa v5, v0, v1 dst_sel:WORD_0 dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:WORD_0";
    for wave in BOTH {
        let after = run(Arch::Gfx1030, wave, text, &state);
        let results = [2, 3, 4, 5].map(|register| after.vgpr(register)[0]);
        assert_eq!(results, [0xaaaa_4200, 0xaaaa_3c01, 0x3c01_5555, 0x4200]);
    }
}

/// Byte 1 of every register is the lane's number: two lanes in a wave have the number 33 modulo 32.
#[test]
fn comparisons_with_sdwa_write_exec_alone() {
    let mut state = WaveState { vcc: 7, ..WaveState::default() };
    state.set_vgpr(0, std::array::from_fn(|lane| (lane as u32 % 32) << 8 | 0xff));
    let text = "v_mov_b32 v1, 5
v_cmpx_eq_u32_sdwa v0, v1 src0_sel:BYTE_1 src1_sel:DWORD
v_mov_b32_dpp v2, v0 row_share:5 row_mask:0xf bank_mask:0xf
v_mov_b32_dpp v3, v0 dpp8:[7,6,5,4,3,2,1,0] fi:1";
    for wave in BOTH {
        let after = run(Arch::Gfx1030, wave, text, &state);
        assert_eq!((after.exec, after.vcc), ((1 << 37 | 1 << 5) & wave.all_lanes(), 7));
        assert_eq!((after.vgpr(2)[5], after.vgpr(2)[6], after.vgpr(3)[5]), (0x5ff, 0, 0x2ff));
    }
}

/// FLAT_SCRATCH is what the kernel says; other registers that it may only read stay.
#[test]
fn kernels_say_where_scratch_is() {
    let text = "s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s0
s_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI), s1
s_setreg_b32 hwreg(HW_REG_LDS_ALLOC), s0
s_getreg_b32 s2, hwreg(HW_REG_FLAT_SCR_LO)
s_getreg_b32 s3, hwreg(HW_REG_FLAT_SCR_HI, 0, 8)
s_getreg_b32 s4, hwreg(HW_REG_LDS_ALLOC)";
    let mut state = WaveState::default();
    state.set_sgpr_pair(0, 0x1234_5678_9abc_def0);
    for wave in BOTH {
        let after = run(Arch::Gfx1030, wave, text, &state);
        assert_eq!(after.flat_scratch, 0x1234_5678_9abc_def0);
        assert_eq!((after.sgprs[2], after.sgprs[3], after.sgprs[4]), (0x9abc_def0, 0x78, 0));
    }
}

/// Before RDNA 2: zero times anything is zero, the low half of a product whatever its sign, and the wave's
/// number.
#[test]
fn the_first_rdna_has_opcodes_of_its_own() {
    let mut state = WaveState::default();
    state.set_vgpr(0, [f32::INFINITY.to_bits(); 64]);
    state.set_vgpr(1, [7.0_f32.to_bits(); 64]);
    let text = "v_mac_legacy_f32_e64 v1, 0, v0
v_mul_lo_i32 v2, -3, 5
s_get_waveid_in_workgroup s0
s_waitcnt lgkmcnt(0)";
    for wave in BOTH {
        let after = run(Arch::Gfx1010, wave, text, &state);
        assert_eq!((after.vgpr(1)[0], after.vgpr(2)[0]), (7.0_f32.to_bits(), -15_i32 as u32));
        assert_eq!(after.sgprs[0], 0);
    }
}

/// Doubles in memory: the smaller one stays, then another takes its place. A subtraction stops at zero.
#[test]
fn atomics_of_doubles_and_clamped_subtractions() {
    for wave in BOTH {
        let mut machine = Machine::new(Arch::Gfx1030, Config::default());
        let buffer = machine.alloc(16, 16, "buffer").expect("allocating");
        machine.write(buffer, &3.0_f64.to_le_bytes()).expect("writing");
        machine.write(buffer + 8, &5_u32.to_le_bytes()).expect("writing");
        let mut state = WaveState { exec: 1, ..WaveState::default() };
        state.set_vgpr_pair(0, [buffer; 64]);
        state.set_vgpr_pair(2, [1.5_f64.to_bits(); 64]);
        // The new value, then what it is compared with.
        state.set_vgpr_pair(4, [2.5_f64.to_bits(); 64]);
        state.set_vgpr_pair(6, [1.5_f64.to_bits(); 64]);
        state.set_vgpr(8, [7; 64]);
        let text = "global_atomic_fmin_x2 v[10:11], v[0:1], v[2:3], off glc
global_atomic_fcmpswap_x2 v[12:13], v[0:1], v[4:7], off glc
global_atomic_csub v14, v[0:1], v8, off offset:8 glc";
        let target = Target { arch: Arch::Gfx1030, wave };
        let snippet = Snippet::assemble(target, text).expect("assembling");
        let after = snippet.run(&mut machine, &state).expect("running");
        assert_eq!((after.vgpr_pair(10)[0], after.vgpr_pair(12)[0]), (3.0_f64.to_bits(), 1.5_f64.to_bits()));
        assert_eq!(after.vgpr(14)[0], 5);
        let mut bytes = [0; 12];
        machine.read(buffer, &mut bytes).expect("reading");
        assert_eq!(bytes[..8], 2.5_f64.to_le_bytes());
        assert_eq!(bytes[8..], [0; 4]);
    }
}

/// Each with its mnemonic, as that generation's text has it.
#[test]
fn what_is_not_executed_is_told_by_name() {
    let address = "v0, [v1, v2, v3], s[0:7] dmask:0x1";
    for (text, told) in [
        (format!("image_load {address} dim:SQ_RSRC_IMG_3D"), "images are not supported"),
        ("exp param31 v0, v0, v0, v0 done".to_owned(), "exports are not supported"),
        ("v_interp_p1_f32_e32 v0, v1, attr3.y".to_owned(), "parameter interpolation is not supported"),
        ("s_subvector_loop_begin s0, 4".to_owned(), "loops over halves of a wave are not supported"),
    ] {
        let snippet =
            Snippet::assemble(Arch::Gfx1030, &text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut machine = Machine::new(Arch::Gfx1030, Config::default());
        let fault = snippet.run(&mut machine, &WaveState::default()).expect_err(&text);
        assert!(matches!(fault.kind, FaultKind::Unimplemented { .. }), "{text}: {fault}");
        assert!(fault.to_string().contains(told), "{text}: {fault}");
    }
}
