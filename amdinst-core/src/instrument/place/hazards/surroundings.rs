//! Inserted instructions among the original ones, and the ways that lead to them and on from them.
//!
//! Hazards are looked for from inserted instructions outwards, as far as any rule reaches that concerns the
//! instruction. No code is copied for it.

use std::cell::Cell;
use std::ops::Range;

use amdgpu_isa::Op;

use super::Direction;
use crate::analysis::hazards::{Brief, Kind};
use crate::analysis::program::{Function, Program};
use crate::instrument::emit::assembler::Assembled;
use crate::instrument::place::patches::{Patch, Patches};

/// An instruction in its new surroundings.
#[derive(Clone, Copy)]
pub(super) enum Item<'l, 'a> {
    /// By number in the program.
    Original(usize),
    Inserted(&'l Added<'a>),
}

/// An inserted instruction, and the wait states to be added before it and after it.
pub(super) struct Added<'a> {
    pub(super) inst: &'a Assembled,
    pub(super) before: Cell<u32>,
    pub(super) after: Cell<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Entry,
    Before,
    After,
}

impl Part {
    pub(super) fn of(self, patch: &mut Patch) -> &mut Vec<Assembled> {
        match self {
            Self::Entry => &mut patch.entry,
            Self::Before => &mut patch.before,
            Self::After => &mut patch.after,
        }
    }
}

/// What is inserted at one instruction: where its parts are among all that is.
struct Pieces {
    index: usize,
    before: usize,
    after: usize,
    end: usize,
}

/// The instructions of one part of what is inserted at an instruction.
pub(super) struct Piece {
    pub(super) range: Range<usize>,
    /// The block it stands in; for prologues, which are a line of their own, the number behind that of the
    /// last.
    line: usize,
    /// Number of the instruction in the order of those at which something is inserted.
    number: usize,
    part: Part,
}

/// Instructions that run one after the other, of which some were passed.
struct Way {
    /// Inserted ones that come first.
    inserted: Range<usize>,
    /// Then that instruction of the program at which they are inserted.
    at: Option<usize>,
    /// Then those of the program, and what is inserted between them.
    insts: Range<usize>,
    pieces: Range<usize>,
}

/// The blocks of a function with what is inserted, and the prologues.
pub(super) struct Surroundings<'a> {
    program: &'a Program,
    function: &'a Function,
    added: Vec<Added<'a>>,
    /// By instruction, in order.
    pieces: Vec<Pieces>,
    /// Blocks that prologues go on to, with where these are inserted and what they are.
    entered: Vec<(usize, usize, Range<usize>)>,
    /// All prologues.
    prologue: Range<usize>,
}

impl<'a> Surroundings<'a> {
    pub(super) fn new(program: &'a Program, function: &'a Function, patches: &'a Patches) -> Self {
        let blocks = &function.blocks;
        // A function without blocks has no instructions, and no patches.
        let first = blocks.first().map_or(0, |block| block.insts.start);
        let end = blocks.last().map_or(0, |block| block.insts.end);
        let patches = patches.range(first..end);
        let all = patches.iter().map(|(_, patch)| patch.entry.len() + patch.before.len() + patch.after.len());
        let mut added = Vec::with_capacity(all.sum());
        let mut add = |code: &'a [Assembled]| {
            let new = |inst| Added { inst, before: Cell::new(0), after: Cell::new(0) };
            added.extend(code.iter().map(new));
            added.len()
        };
        let (mut pieces, mut before) = (Vec::with_capacity(patches.len()), 0);
        for (index, patch) in patches {
            let after = add(&patch.before);
            let end = add(&patch.after);
            pieces.push(Pieces { index: *index, before, after, end });
            before = end;
        }
        let (mut entered, mut prologue) = (Vec::new(), before..before);
        for (number, (index, patch)) in patches.iter().enumerate() {
            if !patch.entry.is_empty() {
                let block = blocks.partition_point(|block| block.insts.end <= *index);
                let start = std::mem::replace(&mut prologue.end, add(&patch.entry));
                entered.push((block, number, start..prologue.end));
            }
        }
        Self { program, function, added, pieces, entered, prologue }
    }

    /// Shows what is inserted, piece by piece: in order of address, then the prologues.
    pub(super) fn each_piece(&self, mut see: impl FnMut(&Piece)) {
        let blocks = &self.function.blocks;
        let mut line = 0;
        for (number, pieces) in self.pieces.iter().enumerate() {
            while blocks[line].insts.end <= pieces.index {
                line += 1;
            }
            // Code of another function may stand between two blocks.
            if blocks[line].insts.contains(&pieces.index) {
                see(&Piece { range: pieces.before..pieces.after, line, number, part: Part::Before });
                see(&Piece { range: pieces.after..pieces.end, line, number, part: Part::After });
            }
        }
        for &(_, number, ref range) in &self.entered {
            see(&Piece { range: range.clone(), line: blocks.len(), number, part: Part::Entry });
        }
    }

    /// The instruction at which a piece is inserted, and the part of what is inserted there.
    pub(super) fn place(&self, piece: &Piece) -> (usize, Part) {
        (self.pieces[piece.number].index, piece.part)
    }

    pub(super) fn added(&self, range: Range<usize>) -> &[Added<'a>] {
        &self.added[range]
    }

    /// Shows all that rules know of within `reach` wait states of an inserted instruction, which is one of a
    /// piece, with the wait states in between, along every path. `distance` is where it starts to count.
    pub(super) fn walk<'l>(
        &'l self,
        (piece, at): (&Piece, usize),
        direction: Direction,
        (distance, reach): (u32, u32),
        see: &mut impl FnMut(Item<'l, 'a>, u32),
    ) {
        // Most ways end in the piece where they begin, and most of the others in its line.
        let mut passed = Passed { distance, reach };
        let mut goes_on = |added: &'l Added<'a>| {
            let (before, after) = (added.before.get(), added.after.get());
            passed.by(added.inst.brief(), (before, after), direction, |distance| {
                see(Item::Inserted(added), distance);
            })
        };
        let ended = match direction {
            Direction::Back => !self.added[piece.range.start..at].iter().rev().all(&mut goes_on),
            Direction::On => !self.added[at + 1..piece.range.end].iter().all(&mut goes_on),
        };
        if ended {
            return;
        }
        let distance = passed.distance;
        let distance = self.pass(self.behind(piece, direction), direction, (distance, reach), see);
        let Some(distance) = distance else { return };
        // The least distance at which the border of each line was passed.
        let mut passed: Vec<(usize, u32)> = Vec::new();
        let mut work = vec![(piece.line, distance)];
        while let Some((from, distance)) = work.pop() {
            let mut go_on = |number: usize| {
                match passed.iter_mut().find(|(line, _)| *line == number) {
                    Some((_, before)) if *before <= distance => return,
                    Some((_, before)) => *before = distance,
                    None => passed.push((number, distance)),
                }
                let beyond = self.pass(self.line(number, direction), direction, (distance, reach), see);
                work.extend(beyond.map(|distance| (number, distance)));
            };
            match direction {
                Direction::Back => self.predecessors(from).for_each(&mut go_on),
                Direction::On => self.successors(from).for_each(&mut go_on),
            }
        }
    }

    /// Shows what rules know of on a way, within `reach`. The distance behind it, if that is within reach,
    /// too.
    fn pass<'l>(
        &'l self,
        mut way: Way,
        direction: Direction,
        (distance, reach): (u32, u32),
        see: &mut impl FnMut(Item<'l, 'a>, u32),
    ) -> Option<u32> {
        let mut passed = Passed { distance, reach };
        loop {
            let item = match direction {
                Direction::Back => self.back(&mut way),
                Direction::On => self.on(&mut way),
            };
            let Some(item) = item else { return Some(passed.distance) };
            let (brief, added) = match item {
                Item::Original(index) => (self.original(index), (0, 0)),
                Item::Inserted(added) => (added.inst.brief(), (added.before.get(), added.after.get())),
            };
            if !passed.by(brief, added, direction, |distance| see(item, distance)) {
                return None;
            }
        }
    }

    fn original(&self, index: usize) -> Brief {
        let located = &self.program.insts[index];
        let nop = if located.op == Op::s_nop { Some(located.simm16().into()) } else { None };
        Brief::new(Kind::of(located.encoding, located.op), nop)
    }

    /// The line of a piece, from the end of the piece on.
    fn behind(&self, piece: &Piece, direction: Direction) -> Way {
        let Some(block) = self.function.blocks.get(piece.line) else {
            // Most often there is one prologue alone.
            return Way::through(match direction {
                Direction::Back => self.prologue.start..piece.range.start,
                Direction::On => piece.range.end..self.prologue.end,
            });
        };
        let number = piece.number;
        let index = self.pieces[number].index;
        let at = match (direction, piece.part) {
            (Direction::Back, Part::After) | (Direction::On, Part::Before) => Some(number),
            _ => None,
        };
        let (insts, pieces) = match direction {
            Direction::Back => (block.insts.start..index, 0..number),
            Direction::On => (index + 1..block.insts.end, number + 1..self.pieces.len()),
        };
        Way { inserted: 0..0, at, insts, pieces }
    }

    /// A whole line.
    fn line(&self, number: usize, direction: Direction) -> Way {
        let Some(block) = self.function.blocks.get(number) else {
            return Way::through(self.prologue.clone());
        };
        let insts = block.insts.clone();
        let before = |end: usize| self.pieces.partition_point(|pieces| pieces.index < end);
        let pieces = match direction {
            Direction::Back => 0..before(insts.end),
            Direction::On => before(insts.start)..self.pieces.len(),
        };
        Way { inserted: 0..0, at: None, insts, pieces }
    }

    /// The next one on the way back.
    fn back(&self, way: &mut Way) -> Option<Item<'_, 'a>> {
        loop {
            if let Some(added) = way.inserted.next_back() {
                return Some(Item::Inserted(&self.added[added]));
            }
            if let Some(number) = way.at.take() {
                let Pieces { index, before, after, .. } = self.pieces[number];
                way.inserted = before..after;
                return Some(Item::Original(index));
            }
            let last = self.pieces[way.pieces.clone()].last().filter(|last| last.index >= way.insts.start);
            if last.is_none_or(|last| last.index + 1 < way.insts.end) {
                return way.insts.next_back().map(Item::Original);
            }
            let &Pieces { index, after, end, .. } = last?;
            (way.inserted, way.at, way.insts.end) = (after..end, way.pieces.next_back(), index);
        }
    }

    /// The next one on the way on.
    fn on(&self, way: &mut Way) -> Option<Item<'_, 'a>> {
        loop {
            if let Some(added) = way.inserted.next() {
                return Some(Item::Inserted(&self.added[added]));
            }
            if let Some(number) = way.at.take() {
                let Pieces { index, after, end, .. } = self.pieces[number];
                way.inserted = after..end;
                return Some(Item::Original(index));
            }
            let first = self.pieces[way.pieces.clone()].first().filter(|first| first.index < way.insts.end);
            if first.is_none_or(|first| first.index > way.insts.start) {
                return way.insts.next().map(Item::Original);
            }
            let &Pieces { index, before, after, .. } = first?;
            (way.inserted, way.at, way.insts.start) = (before..after, way.pieces.next(), index + 1);
        }
    }

    fn predecessors(&self, number: usize) -> impl Iterator<Item = usize> {
        let is_block = number < self.function.blocks.len();
        let before = if is_block { self.function.predecessors(number) } else { &[] };
        let prologue = self.entered.iter().filter(move |(block, ..)| *block == number);
        before.iter().copied().chain(prologue.map(|_| self.function.blocks.len()))
    }

    fn successors(&self, number: usize) -> impl Iterator<Item = usize> {
        let block = self.function.blocks.get(number);
        let entered = if block.is_none() { &self.entered[..] } else { &[] };
        let after = block.into_iter().flat_map(|block| block.successors.iter().copied());
        after.chain(entered.iter().map(|(block, ..)| *block))
    }
}

/// How far a way has come, in wait states.
struct Passed {
    distance: u32,
    reach: u32,
}

impl Passed {
    /// Goes by an instruction with these wait states added before and after it, and shows it if rules know of
    /// it and it is within reach. Whether what comes next is, too.
    fn by(
        &mut self,
        brief: Brief,
        (before, after): (u32, u32),
        direction: Direction,
        see: impl FnOnce(u32),
    ) -> bool {
        let (near, far) = match direction {
            Direction::Back => (after, before),
            Direction::On => (before, after),
        };
        self.distance += near;
        if self.distance < self.reach && brief.kind != Kind::Scalar {
            see(self.distance);
        }
        self.distance += u32::from(brief.states) + far;
        self.distance < self.reach
    }
}

impl Way {
    /// Inserted ones alone.
    fn through(inserted: Range<usize>) -> Self {
        Self { inserted, at: None, insts: 0..0, pieces: 0..0 }
    }
}
