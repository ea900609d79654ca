//! Hazards that end by waiting. Each is a [`Hazard`]; which waits what is inserted needs is one data flow for
//! all of them: what may be pending where a block begins, and then, instruction by instruction, the waits.

use std::collections::VecDeque;

use amdgpu_isa::{Effects, EncodeError, Inst};

use crate::analysis::program::{Function, Program};
use crate::instrument::emit::assembler::{Assembled, Assembler};
use crate::instrument::place::patches::Patches;

/// Whose instruction it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The program's, which has the waits that it needs by itself.
    Program,
    /// Inserted.
    Inserted,
}

/// A hazard between instructions that may lie any way apart, until something waits.
pub(super) trait Hazard {
    /// An instruction, as far as it matters.
    type Step;
    /// What may be under way at a place.
    type Pending: Clone + Default + PartialEq;
    /// What is to be waited for.
    type Waits;

    fn step(&self, inst: &Inst, effects: &Effects) -> Self::Step;

    /// What is pending where a function is entered that is a kernel, or is called; `None` of a block that is
    /// no entry and has nothing pending until its predecessors are known.
    fn entered(&self, function: &Function, is_entry: bool) -> Option<Self::Pending>;

    /// Comes to an instruction, waits for what it needs, and goes by it.
    fn pass(&self, pending: &mut Self::Pending, step: &Self::Step, owner: Owner) -> Self::Waits;

    /// Goes by an instruction where waits are not known yet.
    fn flow(&self, pending: &mut Self::Pending, step: &Self::Step, owner: Owner) {
        self.pass(pending, step, owner);
    }

    /// What may be pending where two ways meet.
    fn join(&self, pending: &mut Self::Pending, other: &Self::Pending);

    /// The instructions that wait.
    fn assemble(&self, waits: Self::Waits, assembler: &Assembler) -> Result<Vec<Assembled>, EncodeError>;
}

/// Adds the waits that the patches of one function need for a hazard.
pub(super) fn settle<H: Hazard>(
    hazard: &H,
    program: &Program,
    assembler: &Assembler,
    function: &Function,
    patches: &mut Patches,
) -> Result<(), EncodeError> {
    let code = Code { hazard, program, function };
    let starts = code.starts(patches);
    for (block, start) in function.blocks.iter().zip(starts) {
        let mut pending = start.unwrap_or_default();
        for index in block.insts.clone() {
            let mut patch = patches.get(index).cloned().unwrap_or_default();
            let was = patch.size();
            let mut entered = H::Pending::default();
            code.wait_in(&mut patch.entry, &mut entered, assembler)?;
            hazard.join(&mut pending, &entered);
            code.wait_in(&mut patch.before, &mut pending, assembler)?;
            let waits = hazard.pass(&mut pending, &code.original(index), Owner::Program);
            patch.before.extend(hazard.assemble(waits, assembler)?);
            code.wait_in(&mut patch.after, &mut pending, assembler)?;
            if patch.size() != was {
                *patches.entry(index) = patch;
            }
        }
    }
    Ok(())
}

/// A function with a hazard.
struct Code<'a, H> {
    hazard: &'a H,
    program: &'a Program,
    function: &'a Function,
}

impl<H: Hazard> Code<'_, H> {
    fn original(&self, index: usize) -> H::Step {
        self.hazard.step(self.program.inst(index), self.program.effects(index))
    }

    fn inserted(&self, inst: &Assembled) -> H::Step {
        self.hazard.step(inst, &inst.effects(self.program.target()))
    }

    /// What may be pending where each block begins; nothing of one that is not reached.
    fn starts(&self, patches: &Patches) -> Vec<Option<H::Pending>> {
        let blocks = &self.function.blocks;
        // A function begins with one of its blocks; those that nothing leads to may be entered as well.
        let is_entry = |number: usize| {
            let starts = self.program.insts[blocks[number].insts.start].pc == self.function.range.start;
            starts || self.function.predecessors(number).is_empty()
        };
        let mut starts: Vec<Option<H::Pending>> =
            (0..blocks.len()).map(|number| self.hazard.entered(self.function, is_entry(number))).collect();
        let mut is_open: Vec<bool> = starts.iter().map(Option::is_some).collect();
        let mut open: VecDeque<usize> = (0..blocks.len()).filter(|&number| is_open[number]).collect();
        while let Some(number) = open.pop_front() {
            is_open[number] = false;
            let Some(mut pending) = starts[number].clone() else { continue };
            for index in blocks[number].insts.clone() {
                let patch = patches.get(index);
                if let Some(patch) = patch {
                    let mut entered = H::Pending::default();
                    self.flow(&mut entered, &patch.entry);
                    self.hazard.join(&mut pending, &entered);
                    self.flow(&mut pending, &patch.before);
                }
                self.hazard.flow(&mut pending, &self.original(index), Owner::Program);
                if let Some(patch) = patch {
                    self.flow(&mut pending, &patch.after);
                }
            }
            for &next in &blocks[number].successors {
                let joined = match starts[next].clone() {
                    Some(mut known) => {
                        self.hazard.join(&mut known, &pending);
                        known
                    }
                    None => pending.clone(),
                };
                if starts[next].as_ref() != Some(&joined) {
                    starts[next] = Some(joined);
                    if !std::mem::replace(&mut is_open[next], true) {
                        open.push_back(next);
                    }
                }
            }
        }
        starts
    }

    /// Goes by a part of what is inserted.
    fn flow(&self, pending: &mut H::Pending, part: &[Assembled]) {
        for inst in part {
            self.hazard.flow(pending, &self.inserted(inst), Owner::Inserted);
        }
    }

    /// Adds the waits that a part of what is inserted needs.
    fn wait_in(
        &self,
        part: &mut Vec<Assembled>,
        pending: &mut H::Pending,
        assembler: &Assembler,
    ) -> Result<(), EncodeError> {
        let mut at = 0;
        while let Some(inst) = part.get(at) {
            let waits = self.hazard.pass(pending, &self.inserted(inst), Owner::Inserted);
            let waits = self.hazard.assemble(waits, assembler)?;
            let end = at + waits.len();
            part.splice(at..at, waits);
            at = end + 1;
        }
        Ok(())
    }
}
