//! The instructions that kernels and functions can reach, as basic blocks, with calls resolved.
//!
//! Code is found by following control flow from the entries, never by sweeping: what is not reached may be data and
//! stays as it is. Anything that is not understood becomes an [`Obstacle`] of its function, not an error: the rest of the
//! code object can still be instrumented.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::addresses::{Misuse, PcRelative, Pointer, Tracker};
use super::masks::register_targets;
use crate::Arch;
use crate::isa::{Flow, Inst, Op, RegSet, Value, decode};
use crate::object::{CodeObject, RelocationKind};

/// An instruction and its address.
#[derive(Clone, Debug)]
pub struct Located {
    /// Virtual address.
    pub pc: u64,
    /// The instruction.
    pub inst: Inst,
}

impl Located {
    /// The address after it.
    pub fn end(&self) -> u64 {
        self.pc + u64::from(self.inst.size)
    }
}

/// All code reached from the entries of a code object.
#[derive(Clone, Debug)]
pub struct Program {
    /// The processor.
    pub arch: Arch,
    /// The instructions in order of address.
    pub insts: Vec<Located>,
    /// Kernels and functions in order of address.
    pub functions: Vec<Function>,
    /// Addresses formed from the program counter; indices are into `insts`.
    pub addresses: Vec<PcRelative>,
}

/// A kernel or a function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Symbol name.
    pub name: String,
    /// Its addresses, from the entry on.
    pub range: Range<u64>,
    /// Index in [`CodeObject::kernels`] if it is a kernel.
    pub kernel: Option<usize>,
    /// Basic blocks in order of address; block 0 is the entry.
    pub blocks: Vec<Block>,
    /// Functions it calls or jumps to, by index in [`Program::functions`], ascending.
    pub callees: Vec<usize>,
    /// What was not understood.
    pub obstacles: Vec<Obstacle>,
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its instructions, as indices into [`Program::insts`]. Calls end a block.
    pub insts: Range<usize>,
    /// Blocks of the same function that may follow; after a call, the block it returns to.
    pub successors: Vec<usize>,
    /// Blocks of the same function it may follow.
    pub predecessors: Vec<usize>,
    /// How it ends.
    pub exit: Exit,
}

/// How a basic block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It goes on to its successors.
    Local,
    /// It calls this function, then goes on to its successor.
    Call(usize),
    /// It jumps to the entry of this function, which returns to this one's caller.
    TailCall(usize),
    /// It returns to the caller.
    Return,
    /// The wave ends.
    End,
    /// Unknown: there is an [`Obstacle`].
    Unknown,
}

/// Something in a function that the analysis does not understand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// Where.
    pub pc: u64,
    /// What kind of thing.
    pub kind: ObstacleKind,
    /// What was found, for people.
    pub detail: String,
}

/// The kinds of [`Obstacle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObstacleKind {
    /// A call or jump through registers whose value is not known.
    IndirectTarget,
    /// A program counter that is used for something else than an address in the usual way.
    UnresolvedGetpc,
    /// Bytes that do not decode.
    Undecodable,
    /// A branch that leaves the function for no function's entry, or enters an instruction's middle.
    BrokenControlFlow,
}

/// One straight piece of exploration: where control goes after an instruction.
enum Next {
    Fall,
    /// Into the trap handler, which may come back.
    Trap,
    Jump(u64),
    Split(u64),
    Call(Pointer),
    CallKnown(u64),
    Through(Pointer),
    End,
    Unsupported,
}

struct Explorer<'a> {
    object: &'a CodeObject,
    arch: Arch,
    entries: &'a BTreeMap<u64, usize>,
    range: Range<u64>,
    is_kernel: bool,
    insts: BTreeMap<u64, Inst>,
    leaders: BTreeSet<u64>,
    obstacles: Vec<Obstacle>,
}

impl Program {
    /// Decodes everything that the kernels and functions of `object` reach.
    pub fn new(object: &CodeObject) -> Self {
        let mut symbols: Vec<(Range<u64>, String, Option<usize>)> = Vec::new();
        for (index, kernel) in object.kernels.iter().enumerate() {
            symbols.push((kernel.code.clone(), kernel.name.clone(), Some(index)));
        }
        for function in &object.functions {
            symbols.push((function.code.clone(), function.name.clone(), None));
        }
        // Of several names of one entry keep the kernel's, else the first in the alphabet.
        symbols.sort_by(|a, b| (a.0.start, a.2.is_none(), &a.1).cmp(&(b.0.start, b.2.is_none(), &b.1)));
        symbols.dedup_by_key(|symbol| symbol.0.start);
        let text_end = object.text.address + object.text.range.len() as u64;
        for index in 0..symbols.len() {
            let next = symbols.get(index + 1).map_or(text_end, |next| next.0.start);
            let range = &mut symbols[index].0;
            range.end = if range.end <= range.start { next } else { range.end.min(next) };
        }
        let entries: BTreeMap<u64, usize> =
            symbols.iter().enumerate().map(|(index, symbol)| (symbol.0.start, index)).collect();

        let mut program = Self {
            arch: object.target.arch,
            insts: Vec::new(),
            functions: Vec::new(),
            addresses: Vec::new(),
        };
        for (range, name, kernel) in symbols {
            let mut explorer = Explorer {
                object,
                arch: object.target.arch,
                entries: &entries,
                range: range.clone(),
                is_kernel: kernel.is_some(),
                insts: BTreeMap::new(),
                leaders: BTreeSet::new(),
                obstacles: Vec::new(),
            };
            explorer.explore();
            explorer.check_overlaps();
            program.add(name, kernel, explorer);
        }
        program.addresses.sort_by_key(|address| address.addc);
        program.resolve_calls(&entries);
        program
    }

    /// Resolves calls and jumps through registers by the values that reach them.
    ///
    /// What a call leaves alone depends on its target, and so may the value that tells the target of the next. So
    /// what is still unknown in the end is resolved as if unknown calls wrote nothing, and then taken back until what is
    /// left holds together: each target is the value that arrives if the targets are what they are taken to be.
    fn resolve_calls(&mut self, entries: &BTreeMap<u64, usize>) {
        let mut wanted: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (index, function) in self.functions.iter().enumerate() {
            let unknown = |block: &&Block| block.exit == Exit::Unknown;
            for block in function.blocks.iter().filter(unknown) {
                let last = block.insts.end - 1;
                if matches!(self.insts[last].inst.op, Op::s_swappc_b64 | Op::s_setpc_b64) {
                    wanted.entry(index).or_default().insert(last);
                }
            }
        }
        if wanted.is_empty() {
            return;
        }
        // Each target found tells what its call leaves alone, which may tell others.
        let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
        loop {
            self.set_targets(&wanted, &taken);
            let before = taken.len();
            for (inst, callee) in self.targets(&wanted, RegSet::all(), entries) {
                taken.entry(inst).or_insert(callee);
            }
            if taken.len() == before {
                break;
            }
        }
        let certain = taken.clone();
        // Around loops they tell each other.
        for (inst, callee) in self.targets(&wanted, RegSet::EMPTY, entries) {
            taken.entry(inst).or_insert(callee);
        }
        loop {
            self.set_targets(&wanted, &taken);
            let confirmed = self.targets(&wanted, RegSet::all(), entries);
            let before = taken.len();
            taken.retain(|inst, callee| certain.contains_key(inst) || confirmed.get(inst) == Some(callee));
            if taken.len() == before {
                break;
            }
        }
        for (&index, insts) in &wanted {
            for inst in insts.iter().filter(|inst| taken.contains_key(inst)) {
                let pc = self.insts[*inst].pc;
                self.functions[index].obstacles.retain(|obstacle| obstacle.pc != pc);
            }
        }
    }

    /// The functions that the values at `wanted` are the addresses of, by instruction.
    fn targets(
        &self,
        wanted: &BTreeMap<usize, BTreeSet<usize>>,
        unknown: RegSet,
        entries: &BTreeMap<u64, usize>,
    ) -> BTreeMap<usize, usize> {
        let written: Vec<RegSet> =
            self.functions.iter().map(|function| self.written(function, unknown)).collect();
        let clobbers = |callee: usize| {
            let mut all = RegSet::default();
            for function in self.reachable(callee) {
                all.union_with(&written[function]);
            }
            all
        };
        let mut targets = BTreeMap::new();
        for (&index, insts) in wanted {
            for (inst, target) in register_targets(self, &self.functions[index], &clobbers, unknown, insts) {
                targets.extend(entries.get(&target).map(|&callee| (inst, callee)));
            }
        }
        targets
    }

    fn set_targets(&mut self, wanted: &BTreeMap<usize, BTreeSet<usize>>, taken: &BTreeMap<usize, usize>) {
        for (&index, insts) in wanted {
            for &inst in insts {
                self.set_target(index, inst, taken.get(&inst).copied());
            }
        }
    }

    fn set_target(&mut self, index: usize, inst: usize, target: Option<usize>) {
        let calls = self.insts[inst].inst.op == Op::s_swappc_b64;
        let function = &mut self.functions[index];
        for block in function.blocks.iter_mut().filter(|block| block.insts.end == inst + 1) {
            block.exit = match target {
                Some(callee) if calls => Exit::Call(callee),
                Some(callee) => Exit::TailCall(callee),
                None => Exit::Unknown,
            };
        }
        let callees = function.blocks.iter().filter_map(|block| match block.exit {
            Exit::Call(callee) | Exit::TailCall(callee) => Some(callee),
            _ => None,
        });
        function.callees = callees.collect::<BTreeSet<_>>().into_iter().collect();
    }

    /// Every register that a function itself writes. What it calls without our knowing whom writes `unknown`.
    fn written(&self, function: &Function, unknown: RegSet) -> RegSet {
        let mut all = RegSet::default();
        for block in &function.blocks {
            if block.exit == Exit::Unknown {
                all.union_with(&unknown);
            }
            for located in &self.insts[block.insts.clone()] {
                all.union_with(&located.inst.effects(self.arch).changes());
            }
        }
        all
    }

    /// The index of the instruction at `pc`.
    pub fn at(&self, pc: u64) -> Option<usize> {
        self.insts.binary_search_by_key(&pc, |located| located.pc).ok()
    }

    /// The function an address lies in.
    pub fn function_at(&self, pc: u64) -> Option<usize> {
        let index = self.functions.partition_point(|function| function.range.start <= pc).checked_sub(1)?;
        self.functions[index].range.contains(&pc).then_some(index)
    }

    /// `function` and everything it may call, ascending.
    pub fn reachable(&self, function: usize) -> BTreeSet<usize> {
        let mut seen = BTreeSet::from([function]);
        let mut work = vec![function];
        while let Some(at) = work.pop() {
            for &callee in &self.functions[at].callees {
                if seen.insert(callee) {
                    work.push(callee);
                }
            }
        }
        seen
    }

    fn add(&mut self, name: String, kernel: Option<usize>, explorer: Explorer<'_>) {
        let Explorer { object, entries, range, is_kernel, insts, leaders, mut obstacles, .. } = explorer;
        let first = self.insts.len();
        self.insts.extend(insts.into_iter().map(|(pc, inst)| Located { pc, inst }));
        let insts = &self.insts;

        let mut blocks: Vec<Block> = Vec::new();
        let mut starts = BTreeMap::new();
        let mut at = first;
        while at < insts.len() {
            let start = at;
            loop {
                let next = insts.get(at + 1);
                let ends = ends_block(&insts[at].inst)
                    || next.is_none_or(|next| next.pc != insts[at].end() || leaders.contains(&next.pc));
                at += 1;
                if ends {
                    break;
                }
            }
            starts.insert(insts[start].pc, blocks.len());
            blocks.push(Block {
                insts: start..at,
                successors: Vec::new(),
                predecessors: Vec::new(),
                exit: Exit::Local,
            });
        }

        let mut found = Vec::new();
        let mut misuses: Vec<Misuse> = Vec::new();
        let mut callees = BTreeSet::new();
        let mut tracker = Tracker::default();
        let joins: BTreeSet<u64> = explicit_targets(insts, first, &starts);
        for block in &mut blocks {
            let start = insts[block.insts.start].pc;
            let follows = block.insts.start > first && insts[block.insts.start - 1].end() == start;
            if !follows || joins.contains(&start) {
                tracker.clear();
            }
            let last = block.insts.end - 1;
            let load = |address| got_slot(object, address);
            for (index, located) in (block.insts.start..).zip(&insts[block.insts.start..last]) {
                tracker.step(index, located.pc, &located.inst, &load, &mut found, &mut misuses);
            }
            let located = &insts[last];
            let next = next(located, &tracker);
            tracker.step(last, located.pc, &located.inst, &load, &mut found, &mut misuses);
            let obstacle = |kind, detail: String| Obstacle { pc: located.pc, kind, detail };
            let go = |to: u64, block: &mut Block, obstacles: &mut Vec<Obstacle>| match starts.get(&to) {
                Some(&index) => {
                    if !block.successors.contains(&index) {
                        block.successors.push(index);
                    }
                }
                None => {
                    block.exit = Exit::Unknown;
                    // A branch out of range or to nowhere was reported by the exploration.
                    if range.contains(&to) && obstacles.is_empty() {
                        let detail = format!("control goes on to {to:#x}, where no instruction starts");
                        obstacles.push(obstacle(ObstacleKind::BrokenControlFlow, detail));
                    }
                }
            };
            let end = located.end();
            let mut call = |to: u64, block: &mut Block, obstacles: &mut Vec<Obstacle>| match entries.get(&to)
            {
                Some(&callee) => {
                    callees.insert(callee);
                    block.exit = Exit::Call(callee);
                    if range.contains(&end) {
                        go(end, block, obstacles);
                    }
                }
                None => {
                    block.exit = Exit::Unknown;
                    let detail = format!("calls {to:#x}, where no function starts");
                    obstacles.push(obstacle(ObstacleKind::BrokenControlFlow, detail));
                }
            };
            match next {
                Next::Fall => go(end, block, &mut obstacles),
                Next::Trap => {
                    if starts.contains_key(&end) {
                        go(end, block, &mut obstacles);
                    }
                }
                Next::Jump(to) if !range.contains(&to) && entries.contains_key(&to) => {
                    callees.insert(entries[&to]);
                    block.exit = Exit::TailCall(entries[&to]);
                }
                Next::Jump(to) => go(to, block, &mut obstacles),
                Next::Split(to) => {
                    go(end, block, &mut obstacles);
                    go(to, block, &mut obstacles);
                }
                Next::CallKnown(to) | Next::Call(Pointer::Known(to)) => call(to, block, &mut obstacles),
                Next::Call(_) => {
                    if range.contains(&end) {
                        go(end, block, &mut obstacles);
                    }
                    block.exit = Exit::Unknown;
                    let detail = "call through registers whose value is not known".to_owned();
                    obstacles.push(obstacle(ObstacleKind::IndirectTarget, detail));
                }
                Next::Through(Pointer::Known(to)) if range.contains(&to) => go(to, block, &mut obstacles),
                Next::Through(Pointer::Known(to)) if entries.contains_key(&to) => {
                    callees.insert(entries[&to]);
                    block.exit = Exit::TailCall(entries[&to]);
                }
                Next::Through(Pointer::Inherited) if !is_kernel => block.exit = Exit::Return,
                Next::Through(_) => {
                    block.exit = Exit::Unknown;
                    let detail = "jump through registers whose value is not known".to_owned();
                    obstacles.push(obstacle(ObstacleKind::IndirectTarget, detail));
                }
                Next::End => block.exit = Exit::End,
                Next::Unsupported => {
                    block.exit = Exit::Unknown;
                    let detail = format!("`{}` is not followed", located.inst.op);
                    obstacles.push(obstacle(ObstacleKind::BrokenControlFlow, detail));
                }
            }
            if matches!(block.exit, Exit::Call(_) | Exit::Unknown) {
                tracker.clear();
            }
        }
        for index in 0..blocks.len() {
            for successor in blocks[index].successors.clone() {
                blocks[successor].predecessors.push(index);
            }
        }
        let resolved: BTreeSet<usize> = found.iter().map(|address| address.getpc).collect();
        for (index, located) in insts.iter().enumerate().skip(first) {
            if located.inst.op == Op::s_getpc_b64 && !resolved.contains(&index) {
                let detail = "its value is not turned into an address by s_add_u32 and s_addc_u32".to_owned();
                obstacles.push(Obstacle { pc: located.pc, kind: ObstacleKind::UnresolvedGetpc, detail });
            }
        }
        for misuse in misuses {
            let user = &insts[misuse.user];
            let detail =
                format!("the program counter itself is used by `{}` at {:#x}", user.inst.op, user.pc);
            obstacles.push(Obstacle {
                pc: insts[misuse.getpc].pc,
                kind: ObstacleKind::UnresolvedGetpc,
                detail,
            });
        }
        self.addresses.extend(found);
        self.functions.push(Function {
            name,
            range,
            kernel,
            blocks,
            callees: callees.into_iter().collect(),
            obstacles,
        });
    }
}

impl Explorer<'_> {
    /// Follows control flow from the entry until nothing new is found.
    fn explore(&mut self) {
        let mut work = vec![self.range.start];
        self.leaders.insert(self.range.start);
        while let Some(start) = work.pop() {
            let mut tracker = Tracker::default();
            let mut at = start;
            loop {
                if self.insts.contains_key(&at) {
                    break;
                }
                let Some(bytes) = self.bytes(at) else {
                    self.obstacle(
                        at,
                        ObstacleKind::BrokenControlFlow,
                        "control runs out of the function".to_owned(),
                    );
                    break;
                };
                let inst = match decode(self.arch, bytes) {
                    Ok(inst) => inst,
                    Err(error) => {
                        self.obstacle(at, ObstacleKind::Undecodable, error.to_string());
                        break;
                    }
                };
                let located = Located { pc: at, inst };
                let next = next(&located, &tracker);
                let object = self.object;
                tracker.step(
                    at as usize,
                    at,
                    &located.inst,
                    &|address| got_slot(object, address),
                    &mut Vec::new(),
                    &mut Vec::new(),
                );
                let end = located.end();
                self.insts.insert(at, located.inst);
                let falls = match next {
                    Next::Fall => true,
                    // After the last trap of a function there may be nothing, not even a return.
                    Next::Trap => self.bytes(end).is_some(),
                    Next::Split(to) => {
                        self.branch(at, to, &mut work);
                        true
                    }
                    Next::Jump(to) | Next::Through(Pointer::Known(to)) => {
                        self.branch(at, to, &mut work);
                        false
                    }
                    // A function that ends with a call calls what does not return, such as a panic.
                    Next::Call(_) | Next::CallKnown(_) => {
                        let goes_on = self.range.contains(&end);
                        if goes_on {
                            self.leaders.insert(end);
                            tracker.clear();
                        }
                        goes_on
                    }
                    Next::Through(_) | Next::End | Next::Unsupported => false,
                };
                if !falls {
                    break;
                }
                at = end;
            }
        }
    }

    fn branch(&mut self, from: u64, to: u64, work: &mut Vec<u64>) {
        if self.range.contains(&to) {
            self.leaders.insert(to);
            work.push(to);
        } else if !self.entries.contains_key(&to) {
            let detail =
                format!("branches to {to:#x}, which is neither in this function nor the entry of another");
            self.obstacle(from, ObstacleKind::BrokenControlFlow, detail);
        }
    }

    fn bytes(&self, pc: u64) -> Option<&[u8]> {
        if !self.range.contains(&pc) || !pc.is_multiple_of(4) {
            return None;
        }
        let text = self.object.bytes.get(self.object.text.range.clone())?;
        let start = usize::try_from(pc.checked_sub(self.object.text.address)?).ok()?;
        text.get(start..).filter(|bytes| !bytes.is_empty())
    }

    fn check_overlaps(&mut self) {
        let mut end = 0;
        let mut overlap = None;
        for (&pc, inst) in &self.insts {
            if pc < end {
                overlap = Some(pc);
            }
            end = pc + u64::from(inst.size);
        }
        if let Some(pc) = overlap {
            let detail = "an instruction starts within another".to_owned();
            self.obstacle(pc, ObstacleKind::BrokenControlFlow, detail);
        }
    }

    fn obstacle(&mut self, pc: u64, kind: ObstacleKind, detail: String) {
        self.obstacles.push(Obstacle { pc, kind, detail });
    }
}

/// Block starts that some branch names: there the straight line is joined by another path.
fn explicit_targets(insts: &[Located], first: usize, starts: &BTreeMap<u64, usize>) -> BTreeSet<u64> {
    let targets = insts[first..].iter().filter_map(|located| match located.inst.flow() {
        Flow::Branch { offset } | Flow::CondBranch { offset, .. } => {
            Some(located.end().wrapping_add_signed(offset.into()))
        }
        _ => None,
    });
    targets.filter(|target| starts.contains_key(target)).collect()
}

fn ends_block(inst: &Inst) -> bool {
    !matches!(inst.flow(), Flow::Next)
}

fn next(located: &Located, tracker: &Tracker) -> Next {
    let target = |offset: i32| located.end().wrapping_add_signed(offset.into());
    let through = || match located.inst.operands.last().map(|operand| operand.value) {
        Some(Value::Scalar(first)) => tracker.pointer(first),
        _ => Pointer::Computed,
    };
    match located.inst.flow() {
        Flow::Next => Next::Fall,
        Flow::Trap => Next::Trap,
        Flow::Branch { offset } => Next::Jump(target(offset)),
        Flow::CondBranch { offset, .. } => Next::Split(target(offset)),
        Flow::Call { offset: Some(offset) } => Next::CallKnown(target(offset)),
        Flow::Call { offset: None } => Next::Call(through()),
        Flow::Jump => Next::Through(through()),
        Flow::End => Next::End,
        Flow::Other => Next::Unsupported,
    }
}

/// The address that the loader stores at `address`, if that is a slot for one.
fn got_slot(object: &CodeObject, address: u64) -> Option<u64> {
    let index = object.relocations.binary_search_by_key(&address, |relocation| relocation.address).ok()?;
    let relocation = &object.relocations[index];
    match (relocation.kind, &relocation.symbol) {
        (RelocationKind::Relative64, _) => u64::try_from(relocation.addend).ok(),
        (RelocationKind::Abs64, Some((_, Some(value)))) => Some(value.wrapping_add_signed(relocation.addend)),
        _ => None,
    }
}
