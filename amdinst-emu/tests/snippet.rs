//! Snippets: state in, state out, faults located.

use amdgpu_isa::Arch;
use amdinst_emu::{Config, FaultKind, Machine, Snippet, WaveState};

fn run(text: &str, state: &WaveState) -> WaveState {
    let snippet = Snippet::assemble(Arch::Gfx90a, text).unwrap();
    snippet.run(&mut Machine::new(Arch::Gfx90a, Config::default()), state).unwrap()
}

#[test]
fn nothing_changes_nothing() {
    let mut state = WaveState { exec: 5, vcc: 6, m0: 7, scc: true, lds: vec![8; 9], ..WaveState::default() };
    state.flat_scratch = 10;
    state.sgprs = std::array::from_fn(|number| number as u32);
    state.set_vgpr(255, [11; 64]);
    state.set_agpr(3, [12; 64]);
    assert_eq!(run("", &state), state);
    assert_eq!(run("; a comment\n\ns_barrier // and another", &state), state);
}

#[test]
fn every_kind_of_state_is_read_and_written() {
    let mut state = WaveState { exec: 1 << 3, lds: vec![0; 16], ..WaveState::default() };
    state.sgprs[4] = 9;
    state.set_vgpr(1, [4; 64]);
    let text = "s_mov_b32 m0, s4\ns_mov_b64 vcc, exec\ns_cmp_eq_u32 s4, 9\nv_mov_b32 v0, s4\n\
                v_accvgpr_write_b32 a2, v0\nds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_mov_b64 exec, -1";
    let after = run(text, &state);
    assert_eq!((after.m0, after.vcc, after.scc, after.exec), (9, 1 << 3, true, u64::MAX));
    assert_eq!((after.vgpr(0)[3], after.vgpr(0)[4], after.agpr(2)[3], after.agpr(2)[2]), (9, 0, 9, 0));
    assert_eq!(after.lds[..8], [0, 0, 0, 0, 9, 0, 0, 0]);
}

#[test]
fn memory_is_the_machines() {
    let mut machine = Machine::new(Arch::Gfx90a, Config::default());
    let buffer = machine.alloc(256, 4, "buffer").unwrap();
    let mut state = WaveState::default();
    state.set_sgpr_pair(0, buffer);
    state.set_vgpr(0, std::array::from_fn(|lane| 4 * lane as u32));
    let snippet = Snippet::assemble(Arch::Gfx90a, "global_store_dword v0, v0, s[0:1]").unwrap();
    snippet.run(&mut machine, &state).unwrap();
    let mut bytes = [0; 8];
    machine.read(buffer, &mut bytes).unwrap();
    assert_eq!(bytes, [0, 0, 0, 0, 4, 0, 0, 0]);
}

#[test]
fn faults_are_located() {
    let mut machine = Machine::new(Arch::Gfx90a, Config::default());
    let snippet = Snippet::assemble(Arch::Gfx90a, "s_nop 0\nglobal_load_dword v0, v[2:3], off").unwrap();
    let fault = snippet.run(&mut machine, &WaveState::default()).unwrap_err();
    assert_eq!((fault.pc, fault.lane), (Some(4), Some(0)), "{fault}");
    assert!(matches!(fault.kind, FaultKind::NullPointer { .. }), "{fault}");
    assert_eq!(fault.instruction, "global_load_dword v0, v[2:3], off");

    let endless = Snippet::assemble(Arch::Gfx90a, "s_branch 0xffff").unwrap();
    let mut machine = Machine::new(Arch::Gfx90a, Config::default());
    let budget = endless.run(&mut machine, &WaveState::default()).unwrap_err();
    assert!(matches!(budget.kind, FaultKind::Budget { .. }), "{budget}");

    let other = Snippet::assemble(Arch::Gfx900, "s_nop 0").unwrap();
    let fault = other.run(&mut machine, &WaveState::default()).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::BadDispatch(_)), "{fault}");
}

#[test]
fn bad_text_says_where() {
    let error = Snippet::assemble(Arch::Gfx90a, "s_nop 0\n\nv_add_f99 v0, v1").unwrap_err();
    assert_eq!(error.to_string(), "line 3, `v_add_f99 v0, v1`: gfx90a has no instruction `v_add_f99`");
}

#[test]
fn operands_that_are_not_there_are_named() {
    for arch in [Arch::Gfx900, Arch::Gfx908] {
        for text in [
            "v_mov_b32 v0, src_lds_direct",
            "s_mov_b32 s0, src_pops_exiting_wave_id",
            "v_cmpx_ge_u32_e64 src_pops_exiting_wave_id, v0, v4",
        ] {
            let snippet = Snippet::assemble(arch, text).unwrap();
            for fast_layer in [true, false] {
                let mut config = Config::default();
                config.fast_layer = fast_layer;
                let machine = &mut Machine::new(arch, config);
                let fault = snippet.run(machine, &WaveState::default()).unwrap_err();
                assert!(matches!(fault.kind, FaultKind::Unimplemented { .. }), "{text}: {fault:?}");
                assert!(fault.detail().contains("LDS_DIRECT or POPS_EXITING_WAVE_ID"), "{}", fault.detail());
            }
        }
    }
}
