//! What is said about each opcode against what happens when it is executed, in a form written as text.

use amdgpu_isa::{Arch, Encoding, Generation, Target, opcodes};
use amdinst_emu::{Config, FaultKind, Fidelity, Machine, Snippet, WaveState, fidelity};

const PROCESSORS: [Arch; 12] = [
    Arch::Gfx900,
    Arch::Gfx906,
    Arch::Gfx908,
    Arch::Gfx90a,
    Arch::Gfx942,
    Arch::Gfx950,
    Arch::Gfx1010,
    Arch::Gfx1011,
    Arch::Gfx1030,
    Arch::Gfx1100,
    Arch::Gfx1151,
    Arch::Gfx1201,
];

/// Sizes of waves of each.
fn targets() -> impl Iterator<Item = Target> {
    PROCESSORS
        .into_iter()
        .flat_map(|arch| arch.generation().wave_sizes().iter().map(move |&wave| Target { arch, wave }))
}

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
    for target in targets() {
        let Target { arch, wave } = target;
        let (mut executed, mut left_out) = (0, Vec::new());
        for opcode in opcodes(target) {
            let name = format!("{arch} {} {}", opcode.encoding().name(), opcode.mnemonic());
            let inst = opcode.plain().unwrap_or_else(|error| panic!("{name}: {error}"));
            let text = inst.text(target).to_string();
            // MTBUF's formats have no text that is read.
            let snippet = Snippet::assemble(target, &text).unwrap_or_else(|error| {
                assert_eq!(opcode.encoding(), Encoding::Mtbuf, "{name}: {error}");
                let words = inst.encode(target).unwrap_or_else(|error| panic!("{name}: {error}"));
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                Snippet::from_bytes(target, &bytes)
            });
            let mut machine = Machine::new(arch, small_budget());
            let state = state(&mut machine);
            let outcome = snippet.run(&mut machine, &state);
            let stopped = matches!(
                outcome.as_ref().map_err(|fault| &fault.kind),
                Err(FaultKind::Unimplemented { .. } | FaultKind::Undecodable(_))
            );
            let said = fidelity::of(opcode);
            let unsupported = matches!(said, Fidelity::Unsupported { .. });
            assert_eq!(stopped, unsupported, "{name}: said {said:?}, `{text}` gave {outcome:?}");
            if let Fidelity::Unsupported { reason } | Fidelity::Approximate { bound: reason } = said {
                assert!(!reason.is_empty() && reason != fidelity::UNNAMED, "{name}: {reason}");
            }
            executed += usize::from(!unsupported);
            if let Fidelity::Unsupported { reason } = said {
                left_out.push(reason);
            }
        }
        left_out.sort_unstable();
        let mut counts = String::new();
        for reasons in left_out.chunk_by(|a, b| a == b) {
            counts.push_str(&format!("; {} {}", reasons.len(), reasons[0]));
        }
        println!("{arch}, {} lanes: {executed} executed{counts}", wave.lanes());
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
    use Encoding::{Ds, Flat, Global, Mtbuf, Mubuf, Scratch, Smem};
    for target in targets() {
        let arch = target.arch;
        for opcode in opcodes(target) {
            let said = fidelity::of(opcode);
            let name = opcode.op().name();
            let global_data_share = name == "ds_ordered_count" || name.ends_with("_gs_reg_rtn");
            let converts = name.contains("_format_")
                && !matches!(arch.generation(), Generation::Gfx8 | Generation::Gfx9);
            match opcode.encoding() {
                encoding if encoding.is_image() => {
                    assert_eq!(said, Fidelity::Unsupported { reason: "images are not supported" })
                }
                Ds if global_data_share => {
                    assert!(matches!(said, Fidelity::Unsupported { .. }), "{arch} {name}");
                    assert!(said.remark().contains("(G"), "{arch} {name}: {said:?}");
                }
                Mubuf | Mtbuf if converts => {
                    assert_eq!(said.remark(), "with data formats of this generation", "{arch} {name}");
                }
                Ds if name.starts_with("ds_bvh_stack_") => {
                    assert_eq!(said.remark(), "ray tracing is not supported");
                }
                Global | Scratch if name.ends_with("_load_block") || name.ends_with("_store_block") => {
                    assert_eq!(said.remark(), "blocks of VGPRs are not supported");
                }
                Global if name.starts_with("global_load_tr_") => {
                    assert_eq!(
                        said.remark(),
                        "which lane loads which part of the matrix is published in no text"
                    );
                }
                Global if name == "global_atomic_ordered_add_b64" => {
                    assert_eq!(said.remark(), "ordered counts of the graphics pipeline are not supported");
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
