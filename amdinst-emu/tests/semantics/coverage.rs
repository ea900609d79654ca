//! Which opcodes the tests in here execute, against those that `fidelity` says are executed.
//!
//! [`Snippet`] is the emulator's, and takes down what it runs while [`recorded`] is at work on the thread. The tests are
//! called as functions, with one trial of each of their random cases ([`is_recording`]).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use amdgpu_isa::{Arch, Encoding, Op, Target, WaveSize, opcodes};
use amdinst_emu::{Fault, Fidelity, Machine, SnippetError, WaveState, fidelity};

use crate::memory::PROCESSORS;
use crate::{
    approximate, constants, conversions, gfx12, gfx950, global_sync, lanes, matrix, memory, scalar, tables,
};

type Seen = BTreeSet<(Arch, Encoding, Op)>;

thread_local! {
    static SEEN: RefCell<Option<Seen>> = const { RefCell::new(None) };
}

/// Whether this thread only wants to know what is executed.
pub(crate) fn is_recording() -> bool {
    SEEN.with_borrow(Option::is_some)
}

/// What is executed to its end while `tests` runs.
fn recorded(tests: impl FnOnce()) -> Seen {
    SEEN.replace(Some(Seen::new()));
    tests();
    SEEN.take().unwrap_or_default()
}

/// The emulator's, with a record of what runs.
pub(crate) struct Snippet {
    inner: amdinst_emu::Snippet,
    instructions: Vec<(Encoding, Op)>,
}

impl Snippet {
    pub(crate) fn assemble(target: impl Into<Target>, text: &str) -> Result<Self, SnippetError> {
        let target = target.into();
        let inner = amdinst_emu::Snippet::assemble(target, text)?;
        let parsed =
            |line: &str| amdgpu_isa::parse(target, line.trim()).ok().map(|inst| (inst.encoding, inst.op));
        let instructions =
            if is_recording() { text.lines().filter_map(parsed).collect() } else { Vec::new() };
        Ok(Self { inner, instructions })
    }

    pub(crate) fn from_bytes(target: impl Into<Target>, bytes: &[u8]) -> Self {
        let target = target.into();
        let mut instructions = Vec::new();
        let mut rest = if is_recording() { bytes } else { &[] };
        while let Ok(inst) = amdgpu_isa::decode(target, rest) {
            instructions.push((inst.encoding, inst.op));
            rest = &rest[usize::from(inst.size)..];
        }
        Self { inner: amdinst_emu::Snippet::from_bytes(target, bytes), instructions }
    }

    pub(crate) fn run(&self, machine: &mut Machine, state: &WaveState) -> Result<WaveState, Fault> {
        let after = self.inner.run(machine, state)?;
        SEEN.with_borrow_mut(|seen| {
            if let Some(seen) = seen {
                let arch = self.inner.arch();
                seen.extend(self.instructions.iter().map(|(encoding, op)| (arch, *encoding, *op)));
            }
        });
        Ok(after)
    }
}

/// Every opcode that is executed exactly or approximately is executed by a test that knows what must come of it.
#[test]
fn every_executed_opcode_has_an_oracle() {
    let seen = recorded(|| {
        tables::states_before_and_after();
        tables::manual_examples();
        tables::vector_instructions_without_effect();
        lanes::vector_instructions_do_what_their_models_do();
        scalar::scalar_instructions_do_what_their_models_do();
        conversions::conversions_round_as_their_formats_do();
        conversions::forms_of_the_conversions_from_8_bits();
        conversions::conversions_follow_the_mode();
        approximate::all();
        constants::all();
        gfx950::all();
        global_sync::one_wave_passes_or_waits();
        matrix::all();
        memory::all();
    });
    let mut missing = BTreeMap::new();
    for arch in PROCESSORS {
        let (mut executed, mut covered) = (0, 0);
        for opcode in opcodes(arch) {
            if matches!(fidelity::of(opcode), Fidelity::Unsupported { .. }) {
                continue;
            }
            executed += 1;
            if seen.contains(&(arch, opcode.encoding(), opcode.op())) {
                covered += 1;
            } else {
                missing.entry(opcode.mnemonic()).or_insert_with(Vec::new).push(arch);
            }
        }
        println!("{arch}: {covered} of {executed} executed opcodes have an oracle");
    }
    let report: String = missing.iter().map(|(mnemonic, archs)| format!("{mnemonic}: {archs:?}\n")).collect();
    assert!(missing.is_empty(), "without an oracle:\n{report}");
}

/// RDNA 3's and RDNA 4's, by encoding, as far as this goes: arithmetic of lanes and scalars, in waves of both sizes. What has no oracle
/// here is counted; of arithmetic nothing may be left out but what is named.
#[test]
fn arithmetic_of_rdna_has_an_oracle() {
    /// Tested by programs: `tests/gfx11.rs`, `corpus hardware`, and the kernels.
    const BY_PROGRAMS: &[&str] = &[
        "v_readlane",
        "v_writelane",
        "v_readfirstlane",
        "v_swap_b32",
        "v_swaprel",
        "v_mbcnt",
        "v_permlane",
        "v_mov_rel",
        "v_movrel",
        "v_wmma",
        // Barriers of `tests/gfx12.rs`.
        "s_barrier",
        "s_get_barrier_state",
        "s_sleep_var",
        "v_dot2",
        "v_interp",
        "s_movrel",
        "s_getpc",
        "s_setpc",
        "s_swappc",
        "s_call",
        "s_getreg",
        "s_setreg",
        "s_waitcnt",
        "s_version",
        "s_sendmsg",
        "s_rfe",
        "s_subvector",
        "v_pipeflush",
        "v_nop",
    ];
    let seen = recorded(|| {
        lanes::vector_instructions_of_rdna_do_what_their_models_do();
        scalar::scalar_instructions_of_rdna_do_what_their_models_do();
        gfx12::all();
    });
    let mut missing = Vec::new();
    for arch in [Arch::Gfx1100, Arch::Gfx1201] {
        missing.extend(without_oracle(arch, &seen, BY_PROGRAMS));
    }
    assert!(missing.is_empty(), "without an oracle:\n{}", missing.join("\n"));
}

/// Opcodes of arithmetic that are executed and not seen, but those whose names begin so.
fn without_oracle(arch: Arch, seen: &Seen, by_programs: &[&str]) -> Vec<String> {
    let mut counts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    let mut missing = Vec::new();
    for opcode in opcodes(Target { arch, wave: WaveSize::Wave32 }) {
        if matches!(fidelity::of(opcode), Fidelity::Unsupported { .. }) {
            continue;
        }
        let covered = seen.contains(&(arch, opcode.encoding(), opcode.op()));
        let count = counts.entry(opcode.encoding().name()).or_default();
        count[0] += usize::from(covered);
        count[1] += 1;
        let name = opcode.op().name();
        let is_arithmetic = lanes::is_vector(opcode.encoding()) || scalar::is_scalar(opcode.encoding());
        if is_arithmetic && !covered && !by_programs.iter().any(|start| name.starts_with(start)) {
            missing.push(format!("{arch} {} {}", opcode.encoding().name(), opcode.mnemonic()));
        }
    }
    for (encoding, [covered, executed]) in counts {
        println!("{arch} {encoding}: {covered} of {executed} executed opcodes have an oracle");
    }
    missing
}
