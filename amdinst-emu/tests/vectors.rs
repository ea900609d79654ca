//! The general functions, without the fast layer, compute the same at each level of the host's vector
//! extensions: every vector and matrix instruction in its plainest form, on edge values and random ones, in
//! several modes.

use amdgpu_isa::{Arch, Encoding, opcodes};
use amdinst_emu::{Config, Machine, Snippet, Vectors, WaveState};

/// SplitMix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Registers of numbers near one, so that sums do not vanish, and of anything now and then.
fn state(seed: u64, mode: u32) -> WaveState {
    let mut generator = seed;
    let mut state = WaveState { exec: random(&mut generator) | 1, mode, ..WaveState::default() };
    let mut value = || {
        let bits = random(&mut generator);
        match bits >> 61 {
            0 => [0, 0x8000_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0001, 0x7f80_0001, 1, 0x0080_0000]
                [bits as usize & 7],
            1 => bits as u32,
            _ => bits as u32 & 0x83ff_83ff | 0x3c00_3c00,
        }
    };
    for register in 0..48 {
        state.set_vgpr(register, std::array::from_fn(|_| value()));
        state.set_agpr(register, std::array::from_fn(|_| value()));
    }
    state.sgprs = std::array::from_fn(|_| value());
    state
}

#[test]
fn every_vector_instruction_is_the_same_at_every_level() {
    use Encoding::{Vop1, Vop2, Vop3, Vop3p, Vopc};
    let levels: Vec<Vectors> = Vectors::ALL.into_iter().filter(|level| level.is_available()).collect();
    let mut compared = 0;
    for arch in [Arch::Gfx90a, Arch::Gfx950] {
        let mut machines: Vec<Machine> = levels
            .iter()
            .map(|level| {
                let mut config = Config::default();
                (config.vectors, config.fast_layer) = (*level, false);
                Machine::new(arch, config)
            })
            .collect();
        for opcode in
            opcodes(arch).filter(|opcode| matches!(opcode.encoding(), Vop1 | Vop2 | Vop3 | Vop3p | Vopc))
        {
            let inst = opcode.plain().expect("a plain form");
            let words = inst.encode(arch).expect("words");
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let snippet = Snippet::from_bytes(arch, &bytes);
            for mode in [WaveState::KERNEL_MODE, 0x8000ff] {
                let before = state(u64::from(opcode.number()) << 8 | u64::from(mode & 1), mode);
                let results: Vec<_> =
                    machines.iter_mut().map(|machine| snippet.run(machine, &before)).collect();
                for (level, result) in levels.iter().zip(&results) {
                    let same = result == &results[0];
                    assert!(
                        same,
                        "{arch} `{}` mode {mode:#x}: {level:?} differs from {:?}",
                        inst.text(arch),
                        levels[0]
                    );
                }
                compared += 1;
            }
        }
    }
    println!("{compared} instructions compared at {levels:?}");
}
