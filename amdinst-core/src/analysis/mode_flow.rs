//! Where modes may be on in which vector instructions do something else than they say.
//!
//! Forward data flow over the whole program: a function starts with what any of its callers has on.
//!
//! Where VGPRs may be indexed or vector instructions skipped, only scalar instructions can count. Both modes
//! are ended before a wave ends. `amdinst-proof/tests/transparency/assembly` has such code, and all else that
//! code can do and compilers seldom write.

use super::modes::{self, Modes};
use super::program::{Exit, Function, Program};
use super::rounds::Rounds;

/// What may be on at the blocks of a program.
#[derive(Clone, Debug)]
pub struct ModeFlow {
    /// By function and block: what may be on before its first instruction. Empty where nothing ever is.
    starts: Vec<Vec<Modes>>,
    /// By function: something may be on in it.
    concerned: Vec<bool>,
}

impl ModeFlow {
    /// Looks at the whole program.
    pub fn new(program: &Program) -> Self {
        if !program.insts.iter().any(|located| located.sets_modes) {
            return Self { starts: Vec::new(), concerned: Vec::new() };
        }
        let functions = &program.functions;
        let of_blocks = |function: &Function| vec![Modes::default(); function.blocks.len()];
        let mut starts: Vec<Vec<Modes>> = functions.iter().map(of_blocks).collect();
        let mut returned = vec![Modes::default(); functions.len()];
        // Sets only grow, so this ends.
        let mut grown = true;
        while grown {
            grown = false;
            for (number, function) in functions.iter().enumerate() {
                let mut enters: Vec<(usize, Modes)> = Vec::new();
                let mut rounds = Rounds::new(function.blocks.len());
                while let Some((at, _)) = rounds.next() {
                    let block = &function.blocks[at];
                    let mut modes = starts[number][at];
                    for inst in block.insts.clone() {
                        modes = after(program, inst, modes);
                    }
                    match block.exit {
                        Exit::Call(_) | Exit::CallPointed => {
                            let callees = block.exit.callees(&program.pointed);
                            enters.extend(callees.iter().map(|&callee| (callee, modes)));
                            let none = Modes::default();
                            modes = callees.iter().fold(none, |all, &callee| all.with(returned[callee]));
                        }
                        Exit::TailCall(callee) => {
                            enters.push((callee, modes));
                            modes = returned[callee];
                            grown |= grow(&mut returned[number], modes);
                        }
                        Exit::Return => grown |= grow(&mut returned[number], modes),
                        Exit::Local | Exit::End | Exit::Unknown => {}
                    }
                    for &next in &block.successors {
                        if grow(&mut starts[number][next], modes) {
                            grown = true;
                            rounds.mark(next);
                        }
                    }
                }
                for (callee, modes) in enters {
                    grown |= starts[callee].first_mut().is_some_and(|start| grow(start, modes));
                }
            }
        }
        let concerned = functions.iter().zip(&starts).map(|(function, starts)| {
            let mut insts = function.blocks.iter().flat_map(|block| block.insts.clone());
            starts.iter().any(|modes| !modes.is_none()) || insts.any(|inst| program.insts[inst].sets_modes)
        });
        Self { concerned: concerned.collect(), starts }
    }

    /// Whether anything may be on in a function.
    pub fn concerns(&self, function: usize) -> bool {
        self.concerned.get(function).copied().unwrap_or(false)
    }

    /// What may be on before an instruction of a block.
    pub fn before(&self, program: &Program, function: usize, block: usize, inst: usize) -> Modes {
        let Some(starts) = self.starts.get(function).filter(|_| self.concerns(function)) else {
            return Modes::default();
        };
        let first = program.functions[function].blocks[block].insts.start;
        (first..inst).fold(starts[block], |modes, inst| after(program, inst, modes))
    }
}

fn grow(modes: &mut Modes, by: Modes) -> bool {
    let before = *modes;
    *modes = modes.with(by);
    *modes != before
}

/// What may be on after an instruction of a program, if so much may be before it.
fn after(program: &Program, index: usize, modes: Modes) -> Modes {
    if program.insts[index].sets_modes { modes::after(program.inst(index), modes) } else { modes }
}
