//! Which opcodes the tests in here execute, against those that `fidelity` says are executed.
//!
//! [`Snippet`] is the emulator's, and takes down what it runs while [`recorded`] is at work on the thread.
//! The tests are called as functions, with one trial of each of their random cases ([`is_recording`]).

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};

use amdgpu_isa::{Encoding, Inst, Op, Target, opcodes};
use amdinst_emu::{Fault, Fidelity, Machine, SnippetError, WaveState, fidelity};

use crate::targets::TARGETS;
use crate::{
    approximate, constants, conversions, dual, gfx12, gfx950, global_sync, lanes, matrix, memory, scalar,
    tables,
};

/// An opcode: its encoding, and its operations, of which VOPD has two.
type Executed = (Encoding, Op, Option<Op>);
type Seen = HashSet<(Target, Executed)>;

fn executed(inst: &Inst) -> Executed {
    (inst.encoding, inst.op, inst.mods.dual)
}

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
    target: Target,
    instructions: Vec<Executed>,
}

impl Snippet {
    pub(crate) fn assemble(target: impl Into<Target>, text: &str) -> Result<Self, SnippetError> {
        let target = target.into();
        let inner = amdinst_emu::Snippet::assemble(target, text)?;
        let parsed = |line: &str| amdgpu_isa::parse(target, line.trim()).ok().map(|inst| executed(&inst));
        let instructions =
            if is_recording() { text.lines().filter_map(parsed).collect() } else { Vec::new() };
        Ok(Self { inner, target, instructions })
    }

    pub(crate) fn from_bytes(target: impl Into<Target>, bytes: &[u8]) -> Self {
        let target = target.into();
        let mut instructions = Vec::new();
        let mut rest = if is_recording() { bytes } else { &[] };
        while let Ok(inst) = amdgpu_isa::decode(target, rest) {
            instructions.push(executed(&inst));
            rest = &rest[usize::from(inst.size)..];
        }
        Self { inner: amdinst_emu::Snippet::from_bytes(target, bytes), target, instructions }
    }

    pub(crate) fn run(&self, machine: &mut Machine, state: &WaveState) -> Result<WaveState, Fault> {
        let after = self.inner.run(machine, state)?;
        SEEN.with_borrow_mut(|seen| {
            if let Some(seen) = seen {
                seen.extend(self.instructions.iter().map(|executed| (self.target, *executed)));
            }
        });
        Ok(after)
    }
}

/// Tested by programs alone, why, and by which test.
const BY_PROGRAMS: &[(&str, &str)] = &[(
    "s_get_barrier_state",
    "it tells of the waves of a workgroup, and a snippet is in none: `barriers_tell_their_state` in `tests/gfx12.rs`",
)];

/// Every opcode that is executed exactly or approximately is executed by a test that knows what must come of
/// it, in waves of each size.
#[test]
fn every_executed_opcode_has_an_oracle() {
    let seen = recorded(|| {
        tables::states_before_and_after();
        tables::manual_examples();
        tables::vector_instructions_without_effect();
        lanes::vector_instructions_do_what_their_models_do();
        lanes::vector_instructions_of_rdna_do_what_their_models_do();
        lanes::dots::dot_products_of_halves();
        lanes::rows::permutations_by_scalars();
        scalar::scalar_instructions_do_what_their_models_do();
        scalar::scalar_instructions_of_rdna_do_what_their_models_do();
        conversions::conversions_round_as_their_formats_do();
        conversions::forms_of_the_conversions_from_8_bits();
        conversions::conversions_follow_the_mode();
        approximate::all();
        constants::all();
        gfx950::all();
        gfx12::all();
        dual::pairs_do_what_both_models_do();
        global_sync::one_wave_passes_or_waits();
        matrix::all();
        memory::all();
    });
    let mut missing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for target in TARGETS {
        let (arch, lanes) = (target.arch, target.wave.lanes());
        let (mut count, mut covered) = (0, 0);
        for opcode in opcodes(target) {
            if matches!(fidelity::of(opcode), Fidelity::Unsupported { .. }) {
                continue;
            }
            count += 1;
            let dual = opcode.plain().ok().and_then(|inst| inst.mods.dual);
            let is_seen = seen.contains(&(target, (opcode.encoding(), opcode.op(), dual)));
            let by_program = BY_PROGRAMS.iter().any(|(name, _)| *name == opcode.op().name());
            assert!(!(is_seen && by_program), "{} is tested here, too", opcode.mnemonic());
            if is_seen || by_program {
                covered += 1;
            } else {
                let name = format!("{} {}", opcode.encoding().name(), opcode.mnemonic());
                missing.entry(name).or_default().push(format!("{arch}/{lanes}"));
            }
        }
        println!("{arch}, {lanes} lanes: {covered} of {count} executed opcodes have an oracle");
    }
    let report: String =
        missing.iter().map(|(mnemonic, targets)| format!("{mnemonic}: {}\n", targets.join(" "))).collect();
    assert!(missing.is_empty(), "without an oracle:\n{report}");
}
