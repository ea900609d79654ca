//! What each write of EXEC is: a site (a narrowing by a condition), the other half of one, a join, a restore,
//! or whole-wave mode.
//!
//! A forward data flow gives each mask a value number, through moves, lanes of VGPRs (SGPR spills) and
//! whole-VGPR copies (spills of those). The new mask is then compared with the old one: a known part of it is
//! a narrowing, a mask that was copied from EXEC before is a restore. Code written by hand also sets masks
//! that comparisons made, again and again, and all lanes in between: each of these is a narrowing. What
//! cannot be told is reported as unclassified, never dropped.
//!
//! The data flow skips what masks cannot depend on. `slice` finds, backwards, the instructions whose results
//! can reach EXEC, and the registers that hold such results. A state is these registers alone. What joined
//! masks are made of is worked out only for masks that nothing else explains.

mod block_states;
mod classes;
mod classify;
mod conditions;
mod flow;
mod made;
mod memo;
mod operations;
mod slice;
mod state;
mod step;
mod tries;

use std::collections::BTreeSet;

use classify::{branch_kind, classify, saves_old};
pub(super) use flow::{Callee, Calls};
use flow::{Flowing, enters_without_lanes};
pub(crate) use memo::MaskMemo;
pub use operations::writes_exec;
use slice::Steps;

use rustc_hash::FxHashMap;

use super::dominators::Structure;
use super::program::{Function, Located, Program};
use super::values::{Expr, Vn};
use amdgpu_isa::{Condition, Flow, RegSet};

/// How a site narrows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Narrowing {
    /// Into a branch.
    If,
    /// Out of a loop, or on in it.
    LoopExit,
}

/// An instruction that narrows EXEC by a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskSite {
    /// Index of the instruction in [`Program::insts`].
    pub inst: usize,
    /// Its block.
    pub block: usize,
    /// How it narrows.
    pub kind: Narrowing,
    /// The first SGPR of the pair into which the instruction itself saves the old mask.
    pub saves_old: Option<u8>,
    /// EXEC is known not to be zero before it.
    pub old_is_nonzero: bool,
    /// Before it, EXEC is known to have its value from the kernel's start.
    pub old_is_start: bool,
    /// Loops around it.
    pub loop_depth: u32,
    /// Instructions that turn to the other half of this branch.
    pub else_insts: Vec<usize>,
}

/// A write of EXEC that is no site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherWrite {
    /// Turns to the other half of a branch (of a site, if it could be told which).
    Else,
    /// Adds lanes back.
    Join,
    /// A mask that EXEC had before.
    Restore,
    /// All lanes, or all inactive ones.
    WholeWave,
    /// Another constant.
    Constant,
    /// Not known.
    Unclassified,
}

/// The masks of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Masks {
    /// Its sites in order of address.
    pub sites: Vec<MaskSite>,
    /// Every other write of EXEC, in order of address, by instruction.
    pub writes: Vec<(usize, OtherWrite)>,
    /// Conditional branches on SCC or VCC, which all lanes take alike, by instruction.
    pub uniform: Vec<usize>,
}

impl Masks {
    /// Classifies every write of EXEC in `function`. `clobbers` gives the registers that a callee and its
    /// callees may write.
    pub fn new(program: &Program, function: &Function, clobbers: &dyn Fn(usize) -> RegSet) -> Self {
        let steps = Steps::new(program, function, &BTreeSet::new());
        let mut flowing = Flowing::new(program, function, clobbers, steps);
        Self { uniform: uniform(program, function), ..Self::of_writes(&mut flowing) }
    }

    /// What each write of EXEC is; uniform branches are left out.
    fn of_writes(flowing: &mut Flowing<'_>) -> Self {
        let (program, function) = (flowing.program, flowing.function);
        let blocks = &function.blocks;
        let structure = &Structure::new(
            blocks.len(),
            |block| &blocks[block].successors,
            |block| function.predecessors(block),
        );
        flowing.run_in(structure.order());
        let flowing = &*flowing;
        let mut masks = Self::default();
        let values = &flowing.values;
        // By the mask that is set: the last site that sets it.
        let mut narrowed: FxHashMap<Vn, usize> = FxHashMap::default();
        let mut elses: Vec<(usize, Vec<Vn>)> = Vec::new();
        let mut events = flowing.events().peekable();
        let mut before = None;
        while let Some(event) = events.next() {
            let is_last = events.peek().is_none_or(|next| next.block != event.block);
            let is_first = before.replace(event.block) != Some(event.block);
            let inst = program.inst(event.inst);
            match classify(inst, event, flowing) {
                Ok(()) => {
                    narrowed.insert(event.new, masks.sites.len());
                    masks.sites.push(MaskSite {
                        inst: event.inst,
                        block: event.block,
                        kind: branch_kind(function, structure, event.block, is_last),
                        saves_old: saves_old(inst, flowing.wave_size()),
                        old_is_nonzero: event.old_is_nonzero,
                        old_is_start: function.kernel.is_some() && event.old == flowing.entry_exec,
                        loop_depth: structure.depth(event.block),
                        else_insts: Vec::new(),
                    });
                }
                // Where no lane is on, none can be turned off: behind a loop that all lanes have left.
                Err(OtherWrite::Unclassified)
                    if is_first && enters_without_lanes(program, function, event.block) =>
                {
                    masks.writes.push((event.inst, OtherWrite::Join));
                }
                Err(other) => {
                    if other == OtherWrite::Else {
                        elses.push((event.inst, event.operand.into_iter().chain([event.new]).collect()));
                    }
                    masks.writes.push((event.inst, other));
                }
            }
        }
        // The other half's mask is made of the first half's: attach it to the closest site it mentions.
        for (inst, candidates) in elses {
            let site = candidates.iter().find_map(|&mask| {
                let of = |depth| {
                    let mentioned = values.mentioned(mask, depth);
                    mentioned.iter().filter_map(|part| narrowed.get(part)).max().copied()
                };
                (0..5).find_map(of)
            });
            if let Some(site) = site {
                masks.sites[site].else_insts.push(inst);
            }
        }
        masks
    }

    /// The masks of a copy of the function whose instructions have other indices.
    pub(crate) fn shifted(&self, shift: impl Fn(usize) -> usize) -> Self {
        let site = |site: &MaskSite| MaskSite {
            inst: shift(site.inst),
            else_insts: site.else_insts.iter().map(|&inst| shift(inst)).collect(),
            ..*site
        };
        Self {
            sites: self.sites.iter().map(site).collect(),
            writes: self.writes.iter().map(|&(inst, class)| (shift(inst), class)).collect(),
            uniform: self.uniform.iter().map(|&inst| shift(inst)).collect(),
        }
    }
}

/// Conditional branches on SCC or VCC.
fn uniform(program: &Program, function: &Function) -> Vec<usize> {
    let lasts = function.blocks.iter().map(|block| block.insts.end - 1);
    let is_uniform = |&last: &usize| match program.insts[last].flow() {
        Flow::CondBranch { condition, .. } => !matches!(condition, Condition::Execz | Condition::Execnz),
        _ => false,
    };
    lasts.filter(is_uniform).collect()
}

/// The targets of calls and jumps through registers, as far as the values that reach them are known, even
/// parked in lanes or spilled meanwhile: (instruction, address).
pub(super) fn register_targets(
    program: &Program,
    function: &Function,
    clobbers: &dyn Fn(usize) -> RegSet,
    calls: Calls<'_>,
) -> Vec<(usize, u64)> {
    let wanted = calls.wanted;
    let mut flowing = Flowing::new(program, function, clobbers, Steps::new(program, function, wanted));
    flowing.calls = Some(calls);
    flowing.run();
    let mut targets = Vec::new();
    for (number, block) in function.blocks.iter().enumerate() {
        let last = block.insts.end - 1;
        let Some(state) = wanted.contains(&last).then(|| flowing.before_last(number)).flatten() else {
            continue;
        };
        targets.extend(flowing.target(last, &state).map(|address| (last, address)));
    }
    targets
}

/// Targets of the jumps and calls through registers at the instructions `wanted`, where an instruction that
/// `is_asked` computed a half of the target or both. A call is taken to leave all values as they were.
pub(super) fn computed_jumps(
    program: &Program,
    function: &Function,
    wanted: &BTreeSet<usize>,
    is_asked: impl Fn(&Located) -> bool,
) -> Vec<usize> {
    let steps = Steps::new(program, function, wanted);
    let mut flowing = Flowing::new(program, function, &|_| RegSet::EMPTY, steps);
    flowing.calls = Some(Calls { wanted, callee: None, unknown: RegSet::EMPTY });
    flowing.run();
    let mut jumps = Vec::new();
    for (number, block) in function.blocks.iter().enumerate() {
        let last = block.insts.end - 1;
        let Some(state) = wanted.contains(&last).then(|| flowing.before_last(number)).flatten() else {
            continue;
        };
        let Some(operand) = program.inst(last).operands.last() else { continue };
        let value = flowing.read64(&state, operand.value, last);
        let halves = [0, 1].map(|half| flowing.values.half(value, half));
        let whole = |half: Vn| match flowing.values.expr(half) {
            Expr::Half(of, _) => of,
            _ => half,
        };
        let is_computed = |half: Vn| match flowing.values.expr(whole(half)) {
            Expr::Opaque(inst, _) => program.insts.get(inst).is_some_and(&is_asked),
            _ => false,
        };
        if halves.into_iter().any(is_computed) {
            jumps.push(last);
        }
    }
    jumps
}
