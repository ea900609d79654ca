//! Which scalar registers are live: may be read later before they are written again.
//!
//! Backward data flow over the whole program. A call passes on what its callee reads and everything that is
//! live after it (nothing is taken to be killed by a callee); a return passes on what is live after any call
//! of its function. That is the union over all callers, so one answer is right for each of them.
//!
//! Only scalar registers and SCC have an answer. A vector register written under EXEC keeps its inactive
//! lanes, so such a write kills nothing: a VGPR or AGPR is live as long as any read of it can follow, which
//! nobody asks for.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use amdgpu_isa::ScalarSet;

use super::program::{Exit, Function, Program};
use super::rounds::Rounds;

/// The registers live at the boundaries of all basic blocks.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// By function. Those that call nothing and are not called are worked out when they are first asked for:
    /// nobody asks for kernels that were planned before.
    functions: Vec<OnceLock<LiveSets>>,
    across: Across,
}

/// The registers live at the boundaries of a function's blocks.
#[derive(Clone, Debug, Default)]
struct LiveSets {
    /// By block: live after its last instruction (after the callee's return, for a call).
    out: Vec<ScalarSet>,
    /// By block: live before its first instruction.
    start: Vec<ScalarSet>,
    /// By block: live before each of its instructions, worked out when one is first asked for that is not
    /// [`NEAR`] its end.
    before: Vec<OnceLock<Box<[ScalarSet]>>>,
}

/// What functions that call each other have to know.
#[derive(Clone, Debug, Default)]
struct Across {
    /// By function: live at its entry.
    entry: BTreeMap<usize, ScalarSet>,
    /// By function: live when it returns.
    returned: BTreeMap<usize, ScalarSet>,
}

impl Across {
    fn entry(&self, function: usize) -> ScalarSet {
        self.entry.get(&function).copied().unwrap_or_default()
    }

    fn returned(&self, function: usize) -> ScalarSet {
        self.returned.get(&function).copied().unwrap_or_default()
    }

    /// Adds registers that are live when a function returns.
    fn add_returned(&mut self, function: usize, live: ScalarSet) {
        let returned = self.returned.entry(function).or_default();
        *returned = returned.union(live);
    }
}

/// So near to the end of its block most is that is asked for: it is worked out each time.
const NEAR: usize = 16;

/// What a block does to liveness.
struct Transfer {
    reads: ScalarSet,
    kills: ScalarSet,
}

impl Liveness {
    /// Analyses the whole program.
    pub fn new(program: &Program) -> Self {
        let n = program.functions.len();
        let callers = program.callers();
        let is_alone =
            |function: usize| program.functions[function].callees.is_empty() && callers[function].is_empty();
        let transfers: Vec<Vec<Transfer>> = (0..n)
            .map(|function| if is_alone(function) { Vec::new() } else { transfers(program, function) })
            .collect();
        let mut across = Across::default();
        let mut live_sets = vec![LiveSets::default(); n];
        // Sets only grow, so this ends; callees come before callers in most code objects.
        let mut rounds = Rounds::new(n);
        while let Some((number, _)) = rounds.next() {
            if is_alone(number) {
                continue;
            }
            let function = &program.functions[number];
            let callees = function.callees.iter();
            let returned: Vec<_> = callees.map(|&callee| (callee, across.returned(callee))).collect();
            live_sets[number] = flow((function, number), &program.pointed, &transfers[number], &mut across);
            let entry = live_sets[number].start.first().copied().unwrap_or_default();
            if across.entry(number) != entry {
                across.entry.insert(number, entry);
                callers[number].iter().for_each(|&caller| rounds.mark(caller));
            }
            for (callee, before) in returned {
                if across.returned(callee) != before {
                    rounds.mark(callee);
                }
            }
        }
        let known = |(function, live_sets): (usize, LiveSets)| {
            if is_alone(function) { OnceLock::new() } else { OnceLock::from(live_sets) }
        };
        Self { functions: live_sets.into_iter().enumerate().map(known).collect(), across }
    }

    fn live_sets(&self, program: &Program, function: usize) -> &LiveSets {
        self.functions[function].get_or_init(|| {
            let transfers = transfers(program, function);
            let of = (&program.functions[function], function);
            flow(of, &program.pointed, &transfers, &mut Across::default())
        })
    }

    /// The registers live right before and right after instruction `index` of block `block` of `function`.
    pub fn around(
        &self,
        program: &Program,
        function: usize,
        block: usize,
        index: usize,
    ) -> (ScalarSet, ScalarSet) {
        let insts = &program.functions[function].blocks[block].insts;
        let live_sets = self.live_sets(program, function);
        let out = live_sets.out[block];
        if insts.end - index > NEAR {
            let before = live_sets.before[block].get_or_init(|| self.through(program, function, block, out));
            return (before[index - insts.start], before[index + 1 - insts.start]);
        }
        let (mut before, mut after) = (out, ScalarSet::EMPTY);
        for index in (index..insts.end).rev() {
            after = before;
            self.step(program, function, block, index, &mut before);
        }
        (before, after)
    }

    /// The registers live before each instruction of a block, behind which these are.
    fn through(&self, program: &Program, function: usize, block: usize, out: ScalarSet) -> Box<[ScalarSet]> {
        let range = program.functions[function].blocks[block].insts.clone();
        let mut live = out;
        let mut before: Box<[ScalarSet]> = vec![ScalarSet::EMPTY; range.len()].into();
        for index in range.clone().rev() {
            self.step(program, function, block, index, &mut live);
            before[index - range.start] = live;
        }
        before
    }

    /// The registers live at the start of a block; none if there is no such block.
    pub fn at_start(&self, program: &Program, function: usize, block: usize) -> ScalarSet {
        self.live_sets(program, function).start.get(block).copied().unwrap_or_default()
    }

    fn step(&self, program: &Program, function: usize, block: usize, index: usize, live: &mut ScalarSet) {
        let block = &program.functions[function].blocks[block];
        if index + 1 == block.insts.end {
            let callees = block.exit.callees(&program.pointed).iter();
            *live = callees.fold(*live, |live, &callee| live.union(self.across.entry(callee)));
        }
        let scalars = program.scalars(&program.insts[index]);
        *live = live.without(scalars.writes).union(scalars.reads);
    }
}

/// The flow in a function of this number.
fn flow(
    (function, number): (&Function, usize),
    pointed: &[usize],
    transfers: &[Transfer],
    across: &mut Across,
) -> LiveSets {
    let mut outputs = vec![ScalarSet::EMPTY; function.blocks.len()];
    let mut inputs = outputs.clone();
    let last = function.blocks.len().saturating_sub(1);
    let mut rounds = Rounds::new(function.blocks.len());
    while let Some((place, _)) = rounds.next() {
        let block_number = last - place;
        let block = &function.blocks[block_number];
        let mut out = match block.exit {
            Exit::Return => across.returned(number),
            Exit::TailCall(callee) => {
                let returned = across.returned(number);
                across.add_returned(callee, returned);
                across.entry(callee).union(returned)
            }
            Exit::Unknown => ScalarSet::ALL,
            Exit::End | Exit::Local | Exit::Call(_) | Exit::CallPointed => ScalarSet::EMPTY,
        };
        for &successor in &block.successors {
            out = out.union(inputs[successor]);
        }
        let mut input = out;
        for &callee in block.exit.callees(pointed) {
            across.add_returned(callee, out);
            input = input.union(across.entry(callee));
        }
        input = input.without(transfers[block_number].kills).union(transfers[block_number].reads);
        outputs[block_number] = out;
        if inputs[block_number] != input {
            inputs[block_number] = input;
            function.predecessors(block_number).iter().for_each(|&before| rounds.mark(last - before));
        }
    }
    LiveSets { before: vec![OnceLock::new(); outputs.len()], out: outputs, start: inputs }
}

/// What each block of a function does.
fn transfers(program: &Program, function: usize) -> Vec<Transfer> {
    let blocks = program.functions[function].blocks.iter();
    blocks.map(|block| transfer(program, block.insts.clone())).collect()
}

fn transfer(program: &Program, insts: std::ops::Range<usize>) -> Transfer {
    let (mut reads, mut kills) = (ScalarSet::EMPTY, ScalarSet::EMPTY);
    for located in program.insts[insts].iter().rev() {
        let scalars = program.scalars(located);
        reads = reads.without(scalars.writes).union(scalars.reads);
        kills = kills.union(scalars.writes);
    }
    Transfer { reads, kills }
}
