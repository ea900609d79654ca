//! Global wave sync of one wave: what lets it pass and what does not (Vega ISA, "DS_GWS_BARRIER" and the
//! instructions around it). How workgroups wait for each other is tested in `tests/progress.rs`.

use amdgpu_isa::Target;
use amdinst_emu::{Config, Machine, WaveState};

use crate::coverage::Snippet;
use crate::memory::exists;
use crate::targets::TARGETS;

/// Whether a wave comes to the end of these instructions, with 0 in v0, 1 in v2 and 2 in v4.
fn passes(target: Target, text: &str) -> bool {
    let mut state = WaveState { exec: 2, ..WaveState::default() };
    // The first active lane's datum counts.
    for (register, value) in [(0, 0), (2, 1), (4, 2), (6, 0)] {
        state.set_vgpr(register, std::array::from_fn(|lane| if lane == 1 { value } else { 77 }));
    }
    let text = format!("s_mov_b32 m0, 0\n{}\nv_mov_b32 v6, 1", text.replace("; ", "\n"));
    let snippet = Snippet::assemble(target, &text).unwrap_or_else(|error| panic!("{error}"));
    let after = snippet.run(&mut Machine::new(target.arch, Config::default()), &state);
    after.unwrap_or_else(|fault| panic!("{text}: {fault}")).vgpr(6)[1] == 1
}

#[test]
pub(crate) fn one_wave_passes_or_waits() {
    for target in TARGETS.into_iter().filter(|target| exists(*target, "ds_gws_init v0 gds")) {
        for (text, expected) in [
            // A barrier of one wave, then one of two, of which the other does not come.
            ("ds_gws_init v0 gds; ds_gws_barrier v0 gds", true),
            ("ds_gws_init v0 gds; ds_gws_barrier v2 gds; ds_gws_barrier v2 gds", false),
            ("ds_gws_init v2 gds; ds_gws_barrier v2 gds", false),
            // Another counter.
            ("ds_gws_init v2 gds; ds_gws_init v0 offset:1 gds; ds_gws_barrier v0 offset:1 gds", true),
            // A semaphore lets as many pass as it was told.
            ("ds_gws_init v0 gds; ds_gws_sema_p gds", false),
            ("ds_gws_init v0 gds; ds_gws_sema_v gds; ds_gws_sema_p gds", true),
            ("ds_gws_init v0 gds; ds_gws_sema_v gds; ds_gws_sema_p gds; ds_gws_sema_p gds", false),
            ("ds_gws_init v0 gds; ds_gws_sema_br v4 gds; ds_gws_sema_p gds; ds_gws_sema_p gds", true),
            // No wave waits that would be let go.
            ("ds_gws_init v4 gds; ds_gws_sema_release_all gds; ds_gws_sema_p gds", false),
        ] {
            assert_eq!(passes(target, text), expected, "{target:?}: {text}");
        }
    }
}
