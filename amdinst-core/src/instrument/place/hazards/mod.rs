//! Wait states between inserted code and what stands around it, on every path. (Of RDNA: [`waits`],
//! [`overtaken`] and [`scalar_reads`].)
//!
//! Every inserted instruction is compared with what may run before it, through all predecessors, and every
//! original instruction behind an insertion with the inserted ones before it. Where too few wait states lie
//! between, `s_nop` is added to the insertion. Pairs of original instructions only ever come further apart.
//!
//! With XNACK, memory instructions in a row may be issued again, and must not write what others of them read.
//! Insertions neither begin nor end with one, so they never join such a row.
//!
//! Which instructions must be how far apart, [`analysis::hazards`](crate::analysis::hazards) tells.
//!
//! As in LLVM, what lies on the other side of a call or a return is not looked at: the jump itself takes
//! longer.

mod overtaken;
mod pending;
mod scalar_reads;
mod surroundings;
mod waits;

use std::cell::OnceCell;

use overtaken::Rules;
use scalar_reads::ScalarReads;
use surroundings::{Item, Part, Piece, Surroundings};

use super::patches::Patches;
use crate::analysis::hazards::{Facts, Slow};
use crate::analysis::program::{Function, Program};
use crate::instrument::emit::assembler::{Assembled, Assembler, Modifiers};
use amdgpu_isa::{Arch, EncodeError, Encoding, Feature, Op, Value};

/// What the rules ask about the instructions of a program, each told when it is first asked for.
pub(crate) struct ProgramFacts<'a> {
    program: &'a Program,
    facts: FormFacts,
}

/// What the rules ask about each distinct instruction, by its number, for one program after the other.
#[derive(Debug, Default)]
pub(crate) struct FormFacts(Vec<OnceCell<Box<Facts>>>);

impl FormFacts {
    /// Forgets everything, but not the room that it took.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

impl<'a> ProgramFacts<'a> {
    /// With the facts of forms that programs had before.
    pub(crate) fn new(program: &'a Program, mut facts: FormFacts) -> Self {
        facts.0.resize_with(program.forms(), OnceCell::new);
        Self { program, facts }
    }

    pub(crate) fn into_facts(self) -> FormFacts {
        self.facts
    }

    fn facts(&self, index: usize) -> &Facts {
        let form = self.program.insts[index].form();
        self.facts.0[form]
            .get_or_init(|| Box::new(Facts::new(self.program.inst(index), self.program.effects(index))))
    }
}

/// Adds the wait states that the patches of one function need, which has such slow instructions.
pub(crate) fn settle(
    known: &ProgramFacts<'_>,
    assembler: &Assembler,
    (function, slow): (&Function, Slow),
    patches: &mut Patches,
) -> Result<(), EncodeError> {
    if !known.program.arch.has(Feature::ManualWaitStates) {
        waits::settle(known.program, assembler, function, patches)?;
        if let Some(rules) = Rules::of(known.program.arch) {
            pending::settle(&rules, known.program, assembler, function, patches)?;
        }
        if let Some(rule) = ScalarReads::of(known.program.arch) {
            pending::settle(&rule, known.program, assembler, function, patches)?;
        }
        return Ok(());
    }
    let surroundings = Surroundings::new(known.program, function, patches);
    let checked = Checked { known, surroundings, slow, arch: known.program.arch };
    let mut is_settled = true;
    checked.surroundings.each_piece(|piece| is_settled &= checked.is_settled(piece));
    if is_settled {
        return Ok(());
    }
    // From the back, so that positions stay right.
    for Nop { place: (index, part), at, states } in checked.nops().into_iter().rev() {
        part.of(patches.entry(index)).insert(at, nop(assembler, states)?);
    }
    Ok(())
}

/// An `s_nop` to be inserted in a part of what is inserted at an instruction.
struct Nop {
    place: (usize, Part),
    at: usize,
    states: u32,
}

fn nop(assembler: &Assembler, states: u32) -> Result<Assembled, EncodeError> {
    assembler.assemble(Op::s_nop, Encoding::Sopp, &[Value::Imm(states as i32 - 1)], Modifiers::None)
}

#[derive(Clone, Copy, Debug)]
enum Direction {
    Back,
    On,
}

/// A function whose insertions are checked.
struct Checked<'a> {
    known: &'a ProgramFacts<'a>,
    surroundings: Surroundings<'a>,
    slow: Slow,
    arch: Arch,
}

impl Checked<'_> {
    fn facts<'i>(&'i self, item: Item<'i, '_>) -> &'i Facts {
        match item {
            Item::Original(index) => self.known.facts(index),
            Item::Inserted(added) => added.inst.facts(self.arch),
        }
    }

    /// Puts wait states before and behind the instructions of a piece. Whether none were missing.
    fn is_settled(&self, piece: &Piece) -> bool {
        let mut missing = 0;
        for (at, added) in (piece.range.start..).zip(self.surroundings.added(piece.range.clone())) {
            if added.inst.brief().kind.matters() {
                missing += self.settle_before(piece, at) + self.settle_after(piece, at);
            }
        }
        missing == 0
    }

    /// Puts wait states before an inserted instruction, for all that may run before it. How many.
    fn settle_before(&self, piece: &Piece, at: usize) -> u32 {
        let consumer = &self.surroundings.added(at..at + 1)[0];
        let facts = consumer.inst.facts(self.arch);
        let before = consumer.before.get();
        let reach = facts.reach_before(self.slow, self.arch);
        let mut missing = 0;
        if reach > before {
            self.surroundings.walk(
                (piece, at),
                Direction::Back,
                (before, reach),
                &mut |producer, distance| {
                    let states = self.facts(producer).states_before(facts, self.arch);
                    missing = missing.max(states.saturating_sub(distance));
                },
            );
            consumer.before.set(before + missing);
        }
        missing
    }

    /// Puts wait states at the end of an insertion, for the original instructions that may run after one of
    /// it. How many.
    fn settle_after(&self, piece: &Piece, at: usize) -> u32 {
        let producers = self.surroundings.added(at..piece.range.end);
        let [producer, rest @ ..] = producers else { return 0 };
        let facts = producer.inst.facts(self.arch);
        let after = producer.after.get();
        let reach = facts.reach(self.arch);
        let mut missing = 0;
        // Each that stands behind it in the insertion makes a wait state at least.
        if reach as usize > after as usize + rest.len() {
            self.surroundings.walk((piece, at), Direction::On, (after, reach), &mut |consumer, distance| {
                if let Item::Original(index) = consumer {
                    let states = facts.states_before(self.known.facts(index), self.arch);
                    missing = missing.max(states.saturating_sub(distance));
                }
            });
            let last = rest.last().unwrap_or(producer);
            last.after.set(last.after.get() + missing);
        }
        missing
    }

    /// What to insert, each part's in ascending order.
    fn nops(&self) -> Vec<Nop> {
        let mut nops = Vec::new();
        self.surroundings.each_piece(|piece| {
            for (at, added) in self.surroundings.added(piece.range.clone()).iter().enumerate() {
                for (at, mut states) in [(at, added.before.get()), (at + 1, added.after.get())] {
                    // One s_nop makes at most eight wait states (SIMM16 bits 2:0 on all of GFX9).
                    while states > 0 {
                        let now = states.min(8);
                        nops.push(Nop { place: self.surroundings.place(piece), at, states: now });
                        states -= now;
                    }
                }
            }
        });
        nops
    }
}
