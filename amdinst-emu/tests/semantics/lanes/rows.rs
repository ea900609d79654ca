//! `v_permlane16_b32` and `v_permlanex16_b32` (RDNA3 ISA, section 16.13 and the note on OPSEL there): each
//! lane takes the value of one of its row of 16, or of the row beside it, as four bits of a scalar say for
//! each lane of a row. What a lane gets of one that is off is as with DPP: OPSEL[0] is FI, OPSEL[1]
//! BOUND_CTRL.

use amdinst_emu::{Config, Machine, WaveState};

use crate::coverage::Snippet;
use crate::support::{self, Random, trials};
use crate::targets::RDNA;

#[test]
pub(crate) fn permutations_by_scalars() {
    let mut random = Random::new("permutations by scalars");
    for target in RDNA {
        for _ in 0..trials(10) {
            let exec = support::exec(&mut random) & target.wave.all_lanes();
            let mut state = WaveState { exec, ..WaveState::default() };
            let select = random.next();
            state.set_sgpr_pair(4, select);
            state.set_vgpr(0, std::array::from_fn(|lane| 100 + lane as u32));
            state.set_vgpr(2, [7; 64]);
            for (name, beside) in [("v_permlane16_b32", 0), ("v_permlanex16_b32", 16)] {
                for (modifier, inactive, zero) in
                    [("", false, false), (" op_sel:[1,0]", true, false), (" op_sel:[0,1]", false, true)]
                {
                    let text = format!("{name} v2, v0, s4, s5{modifier}");
                    let snippet = Snippet::assemble(target, &text).unwrap_or_else(|error| panic!("{error}"));
                    let mut machine = Machine::new(target.arch, Config::default());
                    let after = snippet.run(&mut machine, &state).unwrap_or_else(|fault| panic!("{fault}"));
                    let mut expected = state.clone();
                    for lane in (0..64).filter(|lane| exec >> lane & 1 != 0) {
                        let from = ((lane & !15) ^ beside) + (select >> (4 * (lane % 16)) & 15) as usize;
                        match (inactive || exec >> from & 1 != 0, zero) {
                            (true, _) => expected.vgprs[2][lane] = 100 + from as u32,
                            (false, true) => expected.vgprs[2][lane] = 0,
                            (false, false) => {}
                        }
                    }
                    assert_eq!(after, expected, "{target:?} {text}, {select:#x}, exec {exec:#x}");
                }
            }
        }
    }
}
