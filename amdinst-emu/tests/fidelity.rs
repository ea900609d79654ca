//! What is said about each opcode against what happens when it is executed, in a form written as text.

use amdgpu_isa::{Arch, Encoding, opcodes};
use amdinst_emu::{Config, FaultKind, Fidelity, Machine, Snippet, WaveState, fidelity};

const PROCESSORS: [Arch; 6] =
    [Arch::Gfx900, Arch::Gfx906, Arch::Gfx908, Arch::Gfx90a, Arch::Gfx942, Arch::Gfx950];

/// One buffer of device memory that every address register points into, LDS, and lanes that differ.
fn state(machine: &mut Machine) -> WaveState {
    let buffer = machine.alloc(1 << 16, 256, "buffer").expect("allocating");
    let mut state = WaveState { lds: vec![1; 1 << 12], scratch: 256, ..WaveState::default() };
    for pair in 0..50 {
        state.set_sgpr_pair(2 * pair, buffer);
    }
    for pair in 0..64 {
        state.set_vgpr_pair(2 * pair, std::array::from_fn(|lane| buffer + 16 * lane as u64));
    }
    state
}

#[test]
fn what_is_listed_as_executed_is_executed() {
    for arch in PROCESSORS {
        let mut executed = 0;
        for opcode in opcodes(arch) {
            let name = format!("{arch} {} {}", opcode.encoding().name(), opcode.mnemonic());
            let inst = opcode.plain().unwrap_or_else(|error| panic!("{name}: {error}"));
            let text = inst.text(arch).to_string();
            // MTBUF's formats have no text that is read.
            let snippet = Snippet::assemble(arch, &text).unwrap_or_else(|error| {
                assert_eq!(opcode.encoding(), Encoding::Mtbuf, "{name}: {error}");
                let words = inst.encode(arch).unwrap_or_else(|error| panic!("{name}: {error}"));
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                Snippet::from_bytes(arch, &bytes)
            });
            let mut machine = Machine::new(arch, small_budget());
            let state = state(&mut machine);
            let outcome = snippet.run(&mut machine, &state);
            let stopped = matches!(
                outcome.as_ref().map_err(|fault| &fault.kind),
                Err(FaultKind::Unimplemented { .. } | FaultKind::Undecodable(_))
            );
            let said = fidelity(arch, opcode.encoding(), opcode.op()).expect("it is in the list");
            let unsupported = matches!(said, Fidelity::Unsupported { .. });
            assert_eq!(stopped, unsupported, "{name}: said {said:?}, `{text}` gave {outcome:?}");
            if let Fidelity::Unsupported { reason } | Fidelity::Approximate { bound: reason } = said {
                assert!(!reason.is_empty(), "{name}");
            }
            executed += usize::from(!unsupported);
        }
        assert!(executed > 1600, "{arch}: {executed}");
    }
}

fn small_budget() -> Config {
    let mut config = Config::default();
    config.budget = 16;
    config
}

/// Memory instructions are all executed, but for those that are left out by name.
#[test]
fn what_is_left_out_has_a_name() {
    use Encoding::{Ds, Flat, Global, Mimg, Mtbuf, Mubuf, Scratch, Smem};
    for arch in PROCESSORS {
        for opcode in opcodes(arch) {
            let said = fidelity::of(opcode);
            let name = opcode.op().name();
            let global_data_share = name.starts_with("ds_gws") || name == "ds_ordered_count";
            match opcode.encoding() {
                Mimg => assert_eq!(said, Fidelity::Unsupported { reason: "images are not supported" }),
                Ds if global_data_share => {
                    assert!(matches!(said, Fidelity::Unsupported { .. }), "{arch} {name}");
                    assert!(said.remark().contains("(G"), "{arch} {name}: {said:?}");
                }
                Smem | Ds | Flat | Global | Scratch | Mubuf | Mtbuf => {
                    assert!(!matches!(said, Fidelity::Unsupported { .. }), "{arch} {name}: {said:?}");
                }
                _ => {}
            }
        }
    }
    assert_eq!(fidelity(Arch::Gfx90a, Encoding::Sop2, amdgpu_isa::Op::v_add_f32), None);
}
