//! Whether a kernel computes with what nothing has written, whatever comes of it.
//!
//! Two launches with two dwords in place of such values show that a result depends on them (`unwritten`), but the two may agree by
//! chance: a mask of a shifted value is zero for many dwords. Here nothing is left to chance. One dword that no program has stands for
//! what is not written, and the launch ends at the first instruction that reads it, in an active lane, to compute with it.
//! Moves, stores and saved registers only take it elsewhere, where it is known again. That such a value is read does not prove that
//! it matters: the question is asked where two launches have been different.

use std::collections::HashMap;

use amdgpu_isa::{MemoryOperation, Op, Reg};

use super::{Launch, Observer, Shared, StepCount, prepare, run_groups, run_slice};
use crate::check::{Fault, FaultKind, Trap};
use crate::exec::Context;
use crate::machine::{Config, Uninitialised};
use crate::memory::{Copied, Memory};
use crate::program::Program;
use crate::wave::{REGISTERS, Status, Wave};

/// The dword: as a number, an address, a float or an index it is none that programs have.
const MARK: Uninitialised = Uninitialised(0xa3d7_59b1);

/// Launches a kernel, which ended well from the memory `before`, to find such an instruction. Memory stays as it is.
///
/// # Errors
/// The first such instruction in the order of workgroups ([`FaultKind::UnwrittenRead`]). Another fault, which happens only with this
/// dword.
pub(crate) fn find(
    memory: &mut Memory,
    config: &Config,
    program: &Program,
    launch: &Launch,
    before: &Copied,
) -> Result<(), Fault> {
    let after = memory.copy();
    memory.restore(before);
    let config = Config { uninitialised: MARK, check_races: false, deterministic: false, ..config.clone() };
    let ended = prepare(memory, &config, program, launch, |shared| {
        run_groups(&shared, shared.groups(), &mut Looker::default()).map_err(|fault| *fault)
    });
    memory.restore(&after);
    ended
}

/// Looks at each instruction before it runs.
#[derive(Default)]
struct Looker {
    /// By step.
    known: HashMap<u32, Operands>,
}

/// What an instruction computes with.
#[derive(Default)]
struct Operands {
    registers: Vec<Reg>,
    /// Lanes that are switched off take part.
    all_lanes: bool,
}

impl Operands {
    fn of(shared: &Shared<'_>, number: u32) -> Self {
        let program = shared.program;
        let step = &program.steps[number as usize];
        let bytes = program.text.get(step.offset as usize..).unwrap_or_default();
        // What is no instruction is a fault of its own.
        let Ok(inst) = amdgpu_isa::decode(program.target, bytes) else { return Self::default() };
        let effects = inst.effects(program.target);
        let stores = effects.memory.is_some_and(|memory| memory.operation == MemoryOperation::Store);
        if stores || inst.mods.sdwa.is_none() && is_move(inst.op) {
            return Self::default();
        }
        let state = [Reg::EXEC_LO, Reg::EXEC_HI, Reg::MODE, Reg::SCC];
        let registers = effects.reads.iter().filter(|reg| !state.contains(reg)).collect();
        Self { registers, all_lanes: inst.op.name().contains("mfma") }
    }

    /// The first that holds the mark, and a lane that it does so in.
    fn marked(&self, wave: &Wave) -> Option<(Reg, Option<usize>)> {
        let lanes = if self.all_lanes { u64::MAX } else { wave.exec };
        self.registers.iter().find_map(|&reg| {
            let row = match (reg.as_scalar(), reg.as_vgpr(), reg.as_agpr()) {
                (Some(code), _, _) => {
                    let marked = wave.s.get(usize::from(code)) == Some(&MARK.0);
                    return marked.then_some((reg, None));
                }
                (_, Some(number), _) => usize::from(number),
                (_, _, Some(number)) => REGISTERS / 2 + usize::from(number),
                _ => return None,
            };
            let is_marked = |(lane, dword): (usize, &u32)| {
                (*dword == MARK.0 && lanes >> lane & 1 != 0).then_some((reg, Some(lane)))
            };
            wave.rows[row].iter().enumerate().find_map(is_marked)
        })
    }
}

/// Instructions that only take a value from one place to another.
fn is_move(op: Op) -> bool {
    let name = op.name();
    let begins = ["v_mov_b", "s_mov_b", "v_accvgpr_", "v_swap_", "v_pk_mov_", "v_movrel", "s_movrel"];
    let is = ["v_readlane_b32", "v_readfirstlane_b32", "v_writelane_b32"];
    begins.iter().any(|start| name.starts_with(start)) || is.contains(&name)
}

impl Observer for Looker {
    fn slice(
        &mut self,
        shared: &Shared<'_>,
        context: &mut Context<'_>,
        slice: u64,
        counts: &mut [StepCount],
    ) -> (u64, Result<(), Box<Trap>>) {
        let mut used = 0;
        while used < slice && context.wave.status == Status::Running {
            let number = context.wave.next;
            let operands = self.known.entry(number).or_insert_with(|| Operands::of(shared, number));
            if let Some((register, lane)) = operands.marked(context.wave) {
                context.wave.current = number;
                let kind = FaultKind::UnwrittenRead { register };
                let trap =
                    lane.map_or_else(|| Trap::new(kind.clone()), |lane| Trap::at_lane(kind.clone(), lane));
                return (used, Err(trap));
            }
            let (ran, outcome) = run_slice(context, shared.config, &shared.hot, 1, counts);
            used += ran;
            if outcome.is_err() {
                return (used, outcome);
            }
        }
        (used, Ok(()))
    }
}
