//! Registers that are used before a load has brought what was asked for: a wait is missing.
//!
//! Forward data flow over the functions that kernels reach. Of each register that may be under way it is
//! known, on each [`Way`], how many operations were issued behind its load at least and at most, and whether
//! it is under way on every path. A wait for so few more settles it, and as many as a counter can count. A
//! use before that is *certain* if the load is under way on every path to it, and EXEC as it was. FLAT
//! instructions bring from memory or from LDS, as each address decides: compilers that know it is memory wait
//! for that alone, so that either way is told by itself ([`Way::FlatLds`]). What hangs on the path or the
//! address, an emulated launch knows.
//!
//! A called function finds what all of its callers have under way, and each of them what it leaves. What
//! lies behind a jump that is not understood is not looked at ([`EarlyUses::is_whole`]).

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, OnceLock, PoisonError};

use amdgpu_isa::{Arrival, Generation, Reg, RegSet, Waits, Way, reads_at_issue};
use amdgpu_object::{CodeObject, Kernel};

use super::program::{Exit, Program};

/// The uses that may come too early.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlyUses {
    /// In order of address: the first of each load's on each path.
    pub uses: Vec<EarlyUse>,
    /// All code that can be reached was looked at.
    pub is_whole: bool,
}

/// A register that an instruction uses though a load may not have brought it yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EarlyUse {
    /// Index of the instruction in [`Program::insts`].
    pub index: usize,
    /// The register.
    pub register: Reg,
    /// Index of the load; the first in the text, if there are several.
    pub load: usize,
    /// It is read; else it is written, and the load would replace that.
    pub reads: bool,
    /// The way on which it comes.
    pub way: Way,
    /// The wait that settles it, on every path: until so many operations are under way.
    pub limit: u8,
    /// The load is under way whenever the instruction runs, in the same lanes.
    pub is_certain: bool,
}

impl EarlyUse {
    /// The wait before the instruction that is missing.
    pub fn wait(&self) -> Waits {
        self.way.wait(self.limit)
    }
}

/// The kernels of a code object that may use a register too early, each worked out when it is asked for.
#[derive(Debug, Default)]
pub struct Suspects {
    program: OnceLock<Program>,
    known: Mutex<BTreeMap<String, Suspicion>>,
}

/// What the text of a kernel shows.
#[derive(Clone, Copy, Debug)]
struct Suspicion {
    /// It has uses that may come too early, of what FLAT instructions bring from LDS alone.
    in_lds: bool,
    /// It has others.
    elsewhere: bool,
    is_whole: bool,
}

impl Suspects {
    /// Whether a kernel of `object`, the same each time, has to be looked at when it runs. It may have
    /// `dynamic_lds`, in bytes, besides its own. With `thorough`, so has one of which not all code is known.
    pub fn has(&self, object: &CodeObject, kernel: &str, dynamic_lds: u32, thorough: bool) -> bool {
        let own_lds = |kernel: &Kernel| {
            kernel.metadata.group_segment_fixed_size.max(kernel.descriptor.group_segment_fixed_size())
        };
        let has_lds = dynamic_lds > 0 || object.kernel(kernel).is_some_and(|kernel| own_lds(kernel) > 0);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let suspicion = match known.get(kernel) {
            Some(suspicion) => *suspicion,
            None => *known.entry(kernel.to_owned()).or_insert(self.look(object, kernel)),
        };
        suspicion.elsewhere || has_lds && suspicion.in_lds || thorough && !suspicion.is_whole
    }

    fn look(&self, object: &CodeObject, kernel: &str) -> Suspicion {
        let program = self.program.get_or_init(|| Program::new(object));
        let is_it = |index: usize| object.kernels.get(index).is_some_and(|known| known.name == kernel);
        let entries = program.functions.iter().enumerate();
        let entries = entries.filter(|(_, function)| function.kernel.is_some_and(is_it));
        let EarlyUses { uses, is_whole } = uses(program, entries.map(|(number, _)| number));
        let is_in_lds = |early: &EarlyUse| early.way == Way::FlatLds;
        Suspicion { in_lds: uses.iter().any(is_in_lds), elsewhere: !uses.iter().all(is_in_lds), is_whole }
    }
}

/// A load that may not have brought a register yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct UnderWay {
    /// Operations that were issued behind it and come after it: at least, and at most.
    behind: [u8; 2],
    /// It is under way on every path, on this way, in the lanes that are active.
    is_certain: bool,
    load: usize,
}

/// What may be under way at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    registers: RegSet,
    loads: BTreeMap<(Reg, Way), UnderWay>,
}

impl State {
    /// What may be under way on one of two paths. Returns whether that is more than on this one.
    fn join(&mut self, other: &Self) -> bool {
        let before = self.clone();
        self.registers.union_with(&other.registers);
        for (key, load) in &mut self.loads {
            load.is_certain &= other.loads.contains_key(key);
        }
        for (key, theirs) in &other.loads {
            match self.loads.get_mut(key) {
                Some(ours) => {
                    ours.behind[0] = ours.behind[0].min(theirs.behind[0]);
                    ours.behind[1] = ours.behind[1].max(theirs.behind[1]);
                    ours.is_certain &= theirs.is_certain;
                    ours.load = ours.load.min(theirs.load);
                }
                None => {
                    self.loads.insert(*key, UnderWay { is_certain: false, ..*theirs });
                }
            }
        }
        *self != before
    }

    /// Keeps what `is_kept`.
    fn retain(&mut self, is_kept: impl FnMut(&(Reg, Way), &mut UnderWay) -> bool) {
        self.loads.retain(is_kept);
        self.registers = RegSet::EMPTY;
        for (register, _) in self.loads.keys() {
            self.registers.insert(*register);
        }
    }

    fn wait(&mut self, waits: &Waits) {
        self.retain(|(_, way), load| match way.limit(waits) {
            Some(limit) if limit <= load.behind[0] => false,
            Some(limit) => {
                load.is_certain &= limit > load.behind[1];
                true
            }
            None => true,
        });
    }

    /// Goes by an instruction, and tells each use of what is under way. A register that was used counts as
    /// settled, so that one wait is missed once.
    fn pass(&mut self, program: &Program, index: usize, mut early: impl FnMut(EarlyUse)) {
        let (inst, effects) = (program.inst(index), program.effects(index));
        let generation = program.arch.generation();
        if let Some(waits) = Waits::of(inst, generation) {
            self.wait(&waits);
            return;
        }
        let arrival = Arrival::of(inst, effects, generation);
        if !self.registers.is_empty() {
            let (reads, writes) = (reads_at_issue(inst, effects, program.target()), effects.changes());
            if reads.intersects(&self.registers) || writes.intersects(&self.registers) {
                self.retain(|&(register, way), load| {
                    let reads = reads.contains(register);
                    // What comes in order comes behind it.
                    let is_behind =
                        way.is_in_order(generation) && arrival.is_some_and(|arrival| arrival.ways == [way]);
                    if !reads && (!writes.contains(register) || is_behind) {
                        return true;
                    }
                    let UnderWay { behind: [limit, _], is_certain, load } = *load;
                    early(EarlyUse { index, register, load, reads, way, limit, is_certain });
                    false
                });
            }
        }
        if let Some(arrival) = arrival {
            self.issue(&arrival, index, generation);
        }
        if program.insts[index].touches_exec && effects.changes().contains(Reg::EXEC_LO) {
            // Lanes that use a register may be others than those that a load brings it for.
            let vectors = self.loads.iter_mut().filter(|((register, _), _)| register.as_scalar().is_none());
            vectors.for_each(|(_, load)| load.is_certain = false);
        }
    }

    fn issue(&mut self, arrival: &Arrival, index: usize, generation: Generation) {
        if !arrival.behind.is_empty() {
            self.retain(|(_, way), load| {
                if !arrival.behind.contains(way) {
                    return true;
                }
                let most = way.most(generation);
                load.behind = load.behind.map(|behind| (behind + 1).min(most));
                load.is_certain &= load.behind[1] < most;
                load.behind[0] < most
            });
        }
        let load = UnderWay { behind: [0, 0], is_certain: !arrival.is_flat(), load: index };
        for register in arrival.registers.iter() {
            self.registers.insert(register);
            for &way in arrival.ways {
                self.loads.insert((register, way), load);
            }
        }
    }
}

/// Finds the uses that may come too early in what these functions reach, by index in [`Program::functions`].
pub fn uses(program: &Program, entries: impl IntoIterator<Item = usize>) -> EarlyUses {
    let mut flow = Flow::new(program);
    for entry in entries {
        flow.reach((entry, 0), &State::default());
    }
    flow.run();
    let mut uses = Vec::new();
    for (function, starts) in flow.starts.iter().enumerate() {
        for (block, start) in starts.iter().enumerate() {
            let Some(mut state) = start.clone() else { continue };
            for index in program.functions[function].blocks[block].insts.clone() {
                state.pass(program, index, |early| uses.push(early));
            }
        }
    }
    uses.sort_unstable();
    EarlyUses { uses, is_whole: flow.is_whole }
}

/// The data flow.
struct Flow<'a> {
    program: &'a Program,
    /// By function and block: what may be under way where it begins, if it is reached.
    starts: Vec<Vec<Option<State>>>,
    /// By function: what may be under way when it returns, if it does.
    returned: Vec<Option<State>>,
    /// By function: the blocks that call it, and the functions that end by jumping to it.
    calls: Vec<Vec<(usize, usize)>>,
    open: VecDeque<(usize, usize)>,
    is_whole: bool,
}

impl<'a> Flow<'a> {
    fn new(program: &'a Program) -> Self {
        let functions = program.functions.len();
        let mut calls = vec![Vec::new(); functions];
        for (number, function) in program.functions.iter().enumerate() {
            for (block_number, block) in function.blocks.iter().enumerate() {
                for &callee in block.exit.entered(&program.pointed) {
                    calls[callee].push((number, block_number));
                }
            }
        }
        let starts = program.functions.iter().map(|function| vec![None; function.blocks.len()]).collect();
        let returned = vec![None; functions];
        Self { program, starts, returned, calls, open: VecDeque::new(), is_whole: true }
    }

    /// What may be under way where a block begins.
    fn reach(&mut self, (function, block): (usize, usize), state: &State) {
        let Some(start) = self.starts[function].get_mut(block) else { return };
        let is_more = match start {
            Some(start) => start.join(state),
            None => {
                *start = Some(state.clone());
                true
            }
        };
        if is_more && !self.open.contains(&(function, block)) {
            self.open.push_back((function, block));
        }
    }

    /// What may be under way where a function returns: so it goes on behind each call of it that is reached.
    fn leave(&mut self, function: usize, state: &State) {
        let is_more = match &mut self.returned[function] {
            Some(returned) => returned.join(state),
            None => {
                self.returned[function] = Some(state.clone());
                true
            }
        };
        if is_more {
            for call in self.calls[function].clone() {
                if self.starts[call.0][call.1].is_some() {
                    self.go_on(call, function);
                }
            }
        }
    }

    /// Goes on behind a block that has called a function, as that returns.
    fn go_on(&mut self, (function, block): (usize, usize), callee: usize) {
        let Some(returned) = self.returned[callee].clone() else { return };
        let block = &self.program.functions[function].blocks[block];
        match block.exit {
            Exit::TailCall(_) => self.leave(function, &returned),
            _ => block.successors.iter().for_each(|&next| self.reach((function, next), &returned)),
        }
    }

    fn run(&mut self) {
        while let Some((number, block_number)) = self.open.pop_front() {
            let Some(mut state) = self.starts[number][block_number].clone() else { continue };
            let block = &self.program.functions[number].blocks[block_number];
            for index in block.insts.clone() {
                state.pass(self.program, index, |_| ());
            }
            for &callee in block.exit.entered(&self.program.pointed) {
                self.reach((callee, 0), &state);
                self.go_on((number, block_number), callee);
            }
            match block.exit {
                Exit::Local => {
                    block.successors.iter().for_each(|&next| self.reach((number, next), &state));
                }
                Exit::Return => self.leave(number, &state),
                Exit::Unknown => self.is_whole = false,
                Exit::CallPointed if self.program.pointed.is_empty() => self.is_whole = false,
                Exit::End | Exit::Call(_) | Exit::CallPointed | Exit::TailCall(_) => {}
            }
        }
    }
}
