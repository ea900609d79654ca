//! Explored instructions as basic blocks of a function.

use std::collections::{BTreeMap, BTreeSet};

use amdgpu_isa::{Flow, Op, ScalarSet};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::explore::{Explorer, Next, next, skips_last_trap, through};
use super::{
    Block, Exit, Function, JumpTable, Located, Obstacle, ObstacleKind, Predecessors, Program, RawCounter,
    by_register, got_slot,
};
use crate::analysis::addresses::{Misuse, PcRelative, Pointer, Tracker};

/// The instructions of a function in a straight line, cut into blocks that lead nowhere yet.
struct Line {
    /// The number of the first instruction.
    first: usize,
    blocks: Vec<Block>,
    /// Address of each block.
    starts: Vec<u64>,
    /// Values of the program counter are of use. Most functions have none.
    is_tracked: bool,
}

/// The blocks of a function while it is found out where they lead.
struct Linking<'a> {
    explorer: Explorer<'a>,
    insts: &'a [Located],
    /// The number that the function gets.
    function: usize,
    starts: Vec<u64>,
    is_tracked: bool,
    /// How many branches name a place; of use where values of the program counter are.
    named: FxHashMap<u64, usize>,
    /// Block starts that some branch or jump leads to; of use there, too.
    joins: BTreeSet<u64>,
    callees: BTreeSet<usize>,
    /// Values of the program counter at the instruction that is looked at.
    tracker: Tracker,
    /// Those that the one branch to a place brings.
    carried: BTreeMap<u64, Tracker>,
    found: Vec<PcRelative>,
    misuses: Vec<Misuse>,
    tables: Vec<JumpTable>,
    raw: Vec<RawCounter>,
}

impl Program {
    /// Adds a function of what was explored.
    pub(super) fn add(&mut self, name: String, kernel: Option<usize>, mut explorer: Explorer<'_>) {
        let Line { first, mut blocks, starts, is_tracked } = self.line(&mut explorer);
        let insts = &self.insts;
        let named = if is_tracked { named(&insts[first..]) } else { FxHashMap::default() };
        let joins = named.keys().copied().filter(|place| starts.binary_search(place).is_ok()).collect();
        let mut linking = Linking {
            explorer,
            insts,
            function: self.functions.len(),
            starts,
            is_tracked,
            named,
            joins,
            callees: BTreeSet::new(),
            tracker: Tracker::default(),
            carried: BTreeMap::new(),
            found: Vec::new(),
            misuses: Vec::new(),
            tables: Vec::new(),
            raw: Vec::new(),
        };
        for (number, block) in blocks.iter_mut().enumerate() {
            let start = insts[block.insts.start].pc;
            let follows = block.insts.start > first && insts[block.insts.start - 1].end() == start;
            if !follows || linking.joins.contains(&start) {
                linking.tracker = linking.carried.remove(&start).unwrap_or_default();
            }
            linking.link(number, block);
        }
        linking.tell_unresolved(first);
        let Linking { explorer, callees, found, tables, raw, .. } = linking;
        let Explorer { range, obstacles, .. } = explorer;
        self.addresses.extend(found);
        self.raw.extend(raw);
        self.tables.extend(tables);
        let is_amid = self.functions.iter().rev().find(|before| !before.is_amid);
        let is_amid = is_amid.is_some_and(|before| range.end <= before.range.end);
        self.functions.push(Function {
            name: name.into(),
            range,
            kernel,
            predecessors: Predecessors::new(&blocks).into(),
            blocks,
            callees: callees.into_iter().collect(),
            obstacles,
            is_amid,
            known: None,
        });
    }

    /// Takes in the instructions of a function.
    fn line(&mut self, explorer: &mut Explorer<'_>) -> Line {
        let first = self.insts.len();
        let mut blocks: Vec<Block> = Vec::new();
        let (dwords, mut pc) = explorer.dwords();
        let mut starts: Vec<u64> = Vec::with_capacity(dwords.len() / 8);
        let (mut end, mut overlap) = (0, None);
        // The instruction before goes on to what stands behind it.
        let mut goes_on = false;
        let mut is_tracked = false;
        for dword in dwords {
            let at = pc;
            pc += 4;
            let Some(form) = dword.form() else { continue };
            let shape = explorer.forms.shape(form);
            if at < end {
                overlap = Some(at);
            }
            if !goes_on || dword.leads || at != end {
                starts.push(at);
                let index = self.insts.len();
                if let Some(before) = blocks.last_mut() {
                    before.insts.end = index;
                }
                blocks.push(Block { insts: index..index, successors: SmallVec::new(), exit: Exit::Local });
            }
            end = at + u64::from(shape.size);
            goes_on = shape.goes_on;
            is_tracked |= !shape.is_plain && by_register(shape.op);
            self.insts.push(Located { pc: at, shape: *shape });
        }
        if let Some(last) = blocks.last_mut() {
            last.insts.end = self.insts.len();
        }
        if let Some(pc) = overlap {
            let detail = "an instruction starts within another".to_owned();
            explorer.obstacle(pc, ObstacleKind::BrokenControlFlow, detail);
        }
        Line { first, blocks, starts, is_tracked }
    }
}

impl Linking<'_> {
    /// Finds out where a block leads, and what its instructions make of the program counter.
    fn link(&mut self, number: usize, block: &mut Block) {
        let last = block.insts.end - 1;
        if self.is_tracked {
            (block.insts.start..last).for_each(|index| self.step(index));
        }
        let located = &self.insts[last];
        let inst = || self.explorer.forms.inst(located.form);
        let next = next(located, located.end(), || through(inst(), &self.tracker), self.tracker.scc());
        if self.is_tracked {
            self.step(last);
        }
        let always = match next {
            Next::Always(to) => Some(to),
            _ => None,
        };
        if let Next::Through(Pointer::Known(to)) = next {
            self.joins.insert(to);
        }
        let table = match next {
            Next::Through(Pointer::Table(load, signed)) => {
                let entry = self.tracker.entry(load);
                entry.and_then(|entry| self.explorer.jump_table(entry, signed))
            }
            _ => None,
        };
        match table {
            Some(table) => {
                table.places.iter().for_each(|&to| self.go(to, block, located));
                self.joins.extend(&table.places);
                self.tables.push(JumpTable { jump: last, ..table });
            }
            None => self.exit(next, block, located),
        }
        let is_left = matches!(block.exit, Exit::Call(_) | Exit::Unknown);
        let alone = always.filter(|&to| to != located.end() && self.comes_alone(to, located.pc));
        let followed = match alone.and_then(|to| self.starts.binary_search(&to).ok()) {
            Some(place) => Some(place),
            None => {
                let follows = self.starts.get(number + 1) == Some(&located.end());
                (follows && !is_left && !self.joins.contains(&located.end())).then_some(number + 1)
            }
        };
        let function = self.function;
        let raw = |(getpc, register)| RawCounter { getpc, function, block: number, register, followed };
        self.raw.extend(self.tracker.raw().map(raw));
        if always.is_none() {
            self.tracker.goes_on(located.op);
        }
        if let Some(to) = alone {
            self.carried.insert(to, self.tracker.clone());
        }
        if is_left {
            self.tracker.clear();
        }
    }

    /// Whether the branch at `from` is all that leads to a place further down.
    fn comes_alone(&self, to: u64, from: u64) -> bool {
        let Some(place) = self.starts.binary_search(&to).ok().filter(|_| to > from) else { return false };
        let before = self.insts.partition_point(|located| located.pc < to).checked_sub(1);
        let falls_in = before.is_some_and(|before| place > 0 && self.insts[before].end() == to);
        !falls_in && self.named.get(&to) == Some(&1)
    }

    /// Tracks values of the program counter through an instruction.
    fn step(&mut self, index: usize) {
        let (located, Explorer { object, forms, .. }) = (&self.insts[index], &self.explorer);
        let writes_scc = forms.scalars(located.form).writes.intersects(ScalarSet::SCC);
        let inst = (forms.inst(located.form), writes_scc);
        let load = |address| got_slot(object, address);
        self.tracker.step(index, located.pc, inst, &load, &mut self.found, &mut self.misuses);
    }

    /// Where control goes from the last instruction of a block.
    fn exit(&mut self, next: Next, block: &mut Block, last: &Located) {
        let end = last.end();
        match next {
            Next::Fall => self.go(end, block, last),
            Next::Trap => {
                if self.starts.binary_search(&end).is_ok() {
                    self.go(end, block, last);
                }
            }
            Next::Jump(to) | Next::Always(to) if self.explorer.range.contains(&to) => {
                self.go(to, block, last)
            }
            Next::Jump(to) | Next::Always(to) => match self.explorer.entries.get(&to) {
                Some(&callee) => self.tail_call(callee, block),
                None => self.go(to, block, last),
            },
            Next::Split(to) => {
                self.go(end, block, last);
                if !skips_last_trap(self.explorer.object, &self.explorer.range, last, to) {
                    self.go(to, block, last);
                }
            }
            Next::CallKnown(to) | Next::Call(Pointer::Known(to)) => self.call(to, block, last),
            Next::Call(_) => {
                if self.explorer.range.contains(&end) {
                    self.go(end, block, last);
                }
                let detail = "call through registers whose value is not known".to_owned();
                self.give_up(block, last, ObstacleKind::IndirectTarget, detail);
            }
            Next::Through(Pointer::Known(to)) if self.explorer.range.contains(&to) => {
                self.go(to, block, last);
            }
            Next::Through(Pointer::Known(to)) if self.explorer.entries.contains_key(&to) => {
                self.tail_call(self.explorer.entries[&to], block);
            }
            Next::Through(Pointer::Inherited) if !self.explorer.is_kernel => block.exit = Exit::Return,
            Next::Through(_) => {
                let detail = "jump through registers whose value is not known".to_owned();
                self.give_up(block, last, ObstacleKind::IndirectTarget, detail);
            }
            Next::End => block.exit = Exit::End,
            Next::Unsupported => {
                let detail = format!("`{}` is not followed", last.op);
                self.give_up(block, last, ObstacleKind::BrokenControlFlow, detail);
            }
        }
    }

    /// Control goes on to an address of the function.
    fn go(&mut self, to: u64, block: &mut Block, last: &Located) {
        match self.starts.binary_search(&to) {
            Ok(index) => {
                if !block.successors.contains(&index) {
                    block.successors.push(index);
                }
            }
            // A branch out of range or to nowhere was reported by the exploration.
            Err(_) if !self.explorer.range.contains(&to) || !self.explorer.obstacles.is_empty() => {
                block.exit = Exit::Unknown;
            }
            Err(_) => {
                let detail = format!("control goes on to {to:#x}, where no instruction starts");
                self.give_up(block, last, ObstacleKind::BrokenControlFlow, detail);
            }
        }
    }

    /// A function is called, and comes back.
    fn call(&mut self, to: u64, block: &mut Block, last: &Located) {
        let Some(&callee) = self.explorer.entries.get(&to) else {
            let detail = format!("calls {to:#x}, where no function starts");
            return self.give_up(block, last, ObstacleKind::BrokenControlFlow, detail);
        };
        self.callees.insert(callee);
        block.exit = Exit::Call(callee);
        if self.explorer.range.contains(&last.end()) {
            self.go(last.end(), block, last);
        }
    }

    /// Another function goes on.
    fn tail_call(&mut self, callee: usize, block: &mut Block) {
        self.callees.insert(callee);
        block.exit = Exit::TailCall(callee);
    }

    /// Where control goes is not known.
    fn give_up(&mut self, block: &mut Block, last: &Located, kind: ObstacleKind, detail: String) {
        block.exit = Exit::Unknown;
        self.explorer.obstacles.push(Obstacle { pc: last.pc, kind, detail });
    }

    /// Tells of values of the program counter that are not understood, in the instructions from the first one
    /// on.
    fn tell_unresolved(&mut self, first: usize) {
        if !self.is_tracked {
            return;
        }
        let kind = ObstacleKind::UnresolvedGetpc;
        let bases = self.tables.iter().filter_map(|table| table.base.getpc);
        let resolved: BTreeSet<usize> = self.found.iter().map(|address| address.getpc).chain(bases).collect();
        for (index, located) in self.insts.iter().enumerate().skip(first) {
            if located.op == Op::s_getpc_b64 && !resolved.contains(&index) {
                let detail = "its value is not turned into an address by s_add_u32 and s_addc_u32".to_owned();
                self.explorer.obstacles.push(Obstacle { pc: located.pc, kind, detail });
            }
        }
        for misuse in &self.misuses {
            let user = &self.insts[misuse.user];
            let detail = format!("the program counter itself is used by `{}` at {:#x}", user.op, user.pc);
            let pc = self.insts[misuse.getpc].pc;
            self.explorer.obstacles.push(Obstacle { pc, kind, detail });
        }
    }
}

/// The places that branches name, with how many do: there the straight line is joined by other paths.
fn named(insts: &[Located]) -> FxHashMap<u64, usize> {
    let mut named = FxHashMap::default();
    for located in insts {
        if let Flow::Branch { offset } | Flow::CondBranch { offset, .. } = located.flow() {
            *named.entry(located.end().wrapping_add_signed(offset.into())).or_insert(0) += 1;
        }
    }
    named
}
