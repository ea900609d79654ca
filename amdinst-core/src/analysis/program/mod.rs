//! The instructions that kernels and functions can reach, as basic blocks, with calls resolved.
//!
//! Code is found by following control flow from the entries, never by sweeping: what is not reached may be
//! data and stays as it is. Anything that is not understood becomes an [`Obstacle`] of its function, not an
//! error: the rest of the code object can still be instrumented.

mod blocks;
mod calls;
mod explore;
mod feasible;
mod forms;
mod known;
mod labels;
mod pointers;
mod returns;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, Range};
use std::sync::Arc;

use smallvec::SmallVec;

use explore::Explorer;
pub(crate) use known::Seen;

use super::addresses::{Base, PcRelative};
use super::modes;
use super::rounds::Rounds;
use amdgpu_isa::{
    Arch, Effects, Encoding, Flow, Inst, Op, Operand, RegSet, ScalarSet, Target, Value, WaveSize, scalar,
};
use amdgpu_object::{CodeObject, Kernel, RelocationKind, Text};

/// An instruction at its address, with the facts that the analyses ask of all instructions. [`Program::inst`]
/// has it whole.
#[derive(Clone, Copy, Debug)]
pub struct Located {
    /// Virtual address.
    pub pc: u64,
    shape: Shape,
}

impl Deref for Located {
    type Target = Shape;

    fn deref(&self) -> &Shape {
        &self.shape
    }
}

/// The facts that the analyses ask of all instructions, wherever they are.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Number of its form.
    form: u32,
    /// Its mnemonic.
    pub op: Op,
    /// SIMM16 of SOPP and SOPK.
    simm16: i16,
    /// Its encoding.
    pub encoding: Encoding,
    /// Bytes in memory.
    pub size: u8,
    /// The instruction changes scalar registers (SCC is none), if only in part.
    pub changes_scalars: bool,
    /// An operand of the instruction is EXEC, or a half of it.
    pub names_exec: bool,
    /// The instruction names EXEC, or writes it without naming it.
    pub touches_exec: bool,
    /// Control goes on to the next instruction, and nowhere else ([`Flow::Next`]).
    pub goes_on: bool,
    /// The instruction leads nowhere else and has nothing to do with the program counter.
    is_plain: bool,
    /// The instruction may have vector instructions do something else than they say ([`modes`]).
    pub(super) sets_modes: bool,
}

/// What an instruction does with scalar registers.
#[derive(Clone, Copy, Debug)]
pub struct Scalars {
    /// Scalar registers that the instruction may read, SCC among them.
    pub reads: ScalarSet,
    /// Scalar registers that the instruction wholly writes.
    pub writes: ScalarSet,
}

impl Shape {
    /// Of the form of this number, and what it does with scalar registers.
    fn new(form: u32, inst: &Inst, effects: &Effects) -> (Self, Scalars) {
        let [mut reads, writes, partial] =
            [&effects.reads, &effects.writes, &effects.partial].map(ScalarSet::of);
        if let (Op::s_movrels_b32 | Op::s_movrels_b64, Some(Value::Scalar(first))) =
            (inst.op, inst.operands.get(1).map(|operand| operand.value))
        {
            // Any from this one on, as M0 tells.
            reads = reads.union(ScalarSet::sgprs_from(first));
        }
        let names_exec = inst.operands.iter().any(is_exec);
        let goes_on = Flow::of(inst.op, 0) == Flow::Next;
        let shape = Self {
            form,
            op: inst.op,
            simm16: match inst.operands.last().map(|operand| operand.value) {
                Some(Value::Imm(value)) if matches!(inst.encoding, Encoding::Sopp | Encoding::Sopk) => {
                    value as i16
                }
                _ => 0,
            },
            encoding: inst.encoding,
            size: inst.size,
            changes_scalars: !writes.union(partial).without(ScalarSet::SCC).is_empty(),
            names_exec,
            touches_exec: names_exec || writes.intersects(ScalarSet::EXEC),
            goes_on,
            is_plain: goes_on && !by_register(inst.op),
            sets_modes: modes::changes(inst),
        };
        (shape, Scalars { reads, writes })
    }

    /// Which of the distinct instructions of the program it is, below [`Program::forms`].
    pub fn form(&self) -> usize {
        self.form as usize
    }

    /// SIMM16, if it is SOPP or SOPK.
    pub fn simm16(&self) -> i16 {
        self.simm16
    }

    /// Where control goes after it.
    pub fn flow(&self) -> Flow {
        Flow::of(self.op, i32::from(self.simm16) * 4)
    }
}

impl Located {
    /// The address after it.
    pub fn end(&self) -> u64 {
        self.pc + u64::from(self.size)
    }
}

/// An instruction that makes a value of the program counter, or goes by one.
const fn by_register(op: Op) -> bool {
    matches!(op, Op::s_getpc_b64 | Op::s_setpc_b64 | Op::s_swappc_b64)
}

/// Whether an operand is EXEC, or a half of it.
fn is_exec(operand: &Operand) -> bool {
    match operand.value {
        Value::Scalar(first) => u16::from(first) + u16::from(operand.dwords) > scalar::EXEC.into(),
        _ => false,
    }
}

/// Sees instructions as they are found.
pub(crate) trait Observer {
    /// A form that no program before had, and what it does. Forms are numbered from 0, in the order of these
    /// calls.
    fn form(&mut self, inst: &Inst, effects: &Effects);

    /// A form was found in the function that will have this number: once, however often it stands there.
    fn found(&mut self, function: usize, form: usize);

    /// All forms of this function were shown, and it is a known kernel from now on. These are numbered from
    /// 0, in the order of the calls.
    fn learnt(&mut self, function: usize);

    /// The function that will have this number is that known kernel. Its forms are not shown.
    fn known(&mut self, function: usize, kernel: usize);
}

/// Nobody looks.
impl Observer for () {
    fn form(&mut self, _: &Inst, _: &Effects) {}

    fn found(&mut self, _: usize, _: usize) {}

    fn learnt(&mut self, _: usize) {}

    fn known(&mut self, _: usize, _: usize) {}
}

/// All code reached from the entries of a code object.
#[derive(Clone, Debug)]
pub struct Program {
    /// The processor.
    pub arch: Arch,
    /// The size of the waves that run it.
    wave: WaveSize,
    /// What its instructions are, and kernels that it may have.
    seen: Seen,
    /// The instructions in order of address.
    pub insts: Vec<Located>,
    /// Kernels and functions in order of address.
    pub functions: Vec<Function>,
    /// Addresses formed from the program counter; indices are into `insts`.
    pub addresses: Vec<PcRelative>,
    /// Tables of distances that jumps go by.
    pub tables: Vec<JumpTable>,
    /// Where registers may still have a value of the program counter itself.
    pub raw: Vec<RawCounter>,
    /// The functions that calls through pointers may reach, ascending: data have their addresses, or code
    /// keeps them.
    pub pointed: Vec<usize>,
}

/// A table of distances that a jump goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JumpTable {
    /// Index of the jump.
    pub jump: usize,
    /// What its distances count from.
    pub base: Base,
    /// Distances have a sign.
    pub signed: bool,
    /// Where its entries are, and the places in code that they mean.
    pub entries: Vec<(u64, u64)>,
    /// These places.
    pub places: BTreeSet<u64>,
}

/// A register that has a half of a value of the program counter at the end of a block, which nothing follows
/// from there on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawCounter {
    /// Index of the `s_getpc_b64`.
    pub getpc: usize,
    /// The function.
    pub function: usize,
    /// The block.
    pub block: usize,
    /// The register; none for a lane of a VGPR.
    pub register: Option<u8>,
    /// The block behind it in which the register is followed.
    pub followed: Option<usize>,
}

/// A kernel or a function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Symbol name.
    pub name: Arc<str>,
    /// Its addresses, from the entry on. Functions that were cut out of it may stand amid them.
    pub range: Range<u64>,
    /// Index in [`CodeObject::kernels`] if it is a kernel.
    pub kernel: Option<usize>,
    /// Basic blocks in order of address; block 0 is the entry.
    pub blocks: Vec<Block>,
    predecessors: Arc<Predecessors>,
    /// Functions it calls or jumps to, by index in [`Program::functions`], ascending.
    pub callees: Vec<usize>,
    /// The code that was not understood.
    pub obstacles: Vec<Obstacle>,
    /// It was cut out of the function before it, or of the one before that.
    pub(crate) is_amid: bool,
    /// Its number among the kernels that [`Seen`] has, if it is there.
    pub(crate) known: Option<u32>,
}

impl Function {
    /// The blocks that one may follow, ascending.
    pub fn predecessors(&self, block: usize) -> &[usize] {
        self.predecessors.of(block)
    }
}

/// The blocks that each block of a function may follow.
#[derive(Debug)]
struct Predecessors {
    /// Predecessors of all blocks, one block after the other.
    all: Vec<usize>,
    /// By block: where the next one's begin.
    ends: Vec<usize>,
}

impl Predecessors {
    fn new(blocks: &[Block]) -> Self {
        // How many each has, then where they begin, and once they are filled in, where they end.
        let mut ends = vec![0; blocks.len()];
        for block in blocks {
            block.successors.iter().for_each(|&next| ends[next] += 1);
        }
        let mut count = 0;
        for end in &mut ends {
            count += std::mem::replace(end, count);
        }
        let mut all = vec![0; count];
        for (number, block) in blocks.iter().enumerate() {
            for &next in &block.successors {
                all[ends[next]] = number;
                ends[next] += 1;
            }
        }
        Self { all, ends }
    }

    fn of(&self, block: usize) -> &[usize] {
        let first = block.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[first..self.ends[block]]
    }
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its instructions, as indices into [`Program::insts`]. Calls end a block.
    pub insts: Range<usize>,
    /// Blocks of the same function that may follow; after a call, the block it returns to.
    pub successors: SmallVec<[usize; 2]>,
    /// How it ends.
    pub exit: Exit,
}

/// How a basic block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The block goes on to its successors.
    Local,
    /// The block calls this function, then goes on to its successor.
    Call(usize),
    /// The block calls one of the functions that calls through pointers may reach, then goes on to its
    /// successor.
    CallPointed,
    /// The block jumps to the entry of this function, which returns to the caller.
    TailCall(usize),
    /// The block returns to the caller.
    Return,
    /// The wave ends.
    End,
    /// Unknown: there is an [`Obstacle`].
    Unknown,
}

impl Exit {
    /// The functions that may be called, after which control comes back; `pointed` are those that calls
    /// through pointers may reach.
    pub fn callees<'a>(&'a self, pointed: &'a [usize]) -> &'a [usize] {
        match self {
            Self::Call(callee) => std::slice::from_ref(callee),
            Self::CallPointed => pointed,
            _ => &[],
        }
    }

    /// The functions that run next: that are called, or jumped to.
    pub fn entered<'a>(&'a self, pointed: &'a [usize]) -> &'a [usize] {
        match self {
            Self::TailCall(callee) => std::slice::from_ref(callee),
            _ => self.callees(pointed),
        }
    }

    /// Whether it calls a function.
    pub const fn calls(&self) -> bool {
        matches!(self, Self::Call(_) | Self::CallPointed)
    }
}

/// Something in a function that the analysis does not understand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// Where.
    pub pc: u64,
    /// What kind of thing.
    pub kind: ObstacleKind,
    /// The finding, for people.
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
    /// A kernel has waves of another size than most of the code object have.
    OtherWaveSize,
    /// A wave gives its vector registers back, and does more than end behind that.
    RegistersGivenBack,
}

impl Program {
    /// Decodes everything that the kernels and functions of `object` reach.
    pub fn new(object: &CodeObject) -> Self {
        Self::explore(object, Seen::new(object.code_target()), &mut ())
    }

    /// Explores a code object as [`Program::new`] does, with what other programs of the processor had. Shows
    /// what is found to `observer`.
    pub(crate) fn explore(object: &CodeObject, mut seen: Seen, observer: &mut impl Observer) -> Self {
        let mut symbols: Vec<labels::Symbol> = Vec::new();
        for (index, kernel) in object.kernels.iter().enumerate().filter(|(_, kernel)| !kernel.code.is_empty())
        {
            symbols.push((kernel.code.clone(), kernel.name.clone(), Some(index)));
        }
        for function in &object.functions {
            symbols.push((function.code.clone(), function.name.clone(), None));
        }
        // Of several names of one entry keep the kernel's, else the first in the alphabet.
        symbols.sort_by(|a, b| (a.0.start, a.2.is_none(), &a.1).cmp(&(b.0.start, b.2.is_none(), &b.1)));
        symbols.dedup_by_key(|symbol| symbol.0.start);
        for index in 0..symbols.len() {
            let start = symbols[index].0.start;
            let section = object.code().map(Text::memory).find(|section| section.contains(&start));
            let section_end = section.map_or(object.text.memory().end, |section| section.end);
            let next = symbols.get(index + 1).map_or(section_end, |next| next.0.start.min(section_end));
            let range = &mut symbols[index].0;
            range.end = if range.end <= range.start { next } else { range.end.min(next) };
        }
        labels::cut(object, object.code_target(), &mut symbols);
        let entries: BTreeMap<u64, usize> =
            symbols.iter().enumerate().map(|(index, symbol)| (symbol.0.start, index)).collect();

        let target = object.code_target();
        let mut program = Self {
            arch: target.arch,
            wave: target.wave,
            seen: Seen::new(target),
            // No more than there are dwords. Memory that is not written to costs nothing.
            insts: Vec::with_capacity(object.text.range.len() / 4),
            functions: Vec::new(),
            addresses: Vec::new(),
            tables: Vec::new(),
            raw: Vec::new(),
            pointed: Vec::new(),
        };
        let mut dwords = Vec::new();
        seen.forms.begin(symbols.len());
        for (range, name, kernel) in symbols {
            let number = program.functions.len();
            let has_other_waves = kernel.is_some_and(|kernel| {
                object.kernels[kernel].descriptor.wave_size(target.arch) != target.wave
            });
            let code = code_of(object, &range).filter(|_| kernel.is_some() && !has_other_waves);
            if let Some(known) = code.and_then(|code| seen.find(code)) {
                program.add_known(name, kernel, range, (&seen, known));
                observer.known(number, known as usize);
                continue;
            }
            let addresses = (program.addresses.len(), program.raw.len());
            let found = (&mut dwords, &mut seen.forms);
            let pc = range.start;
            let mut explorer = Explorer::new(object, &entries, range, kernel.is_some(), found);
            explorer.explore(number, observer);
            program.add(name, kernel, explorer);
            if let Some(kernel) = kernel {
                program.doubt_wave_size((number, pc), &object.kernels[kernel]);
            }
            let has_address = addresses != (program.addresses.len(), program.raw.len());
            if code.is_some_and(|code| !has_address && program.teach(&mut seen, code)) {
                observer.learnt(number);
            }
        }
        program.seen = seen;
        program.sort();
        program.addresses.sort_by_key(|address| address.addc);
        program.doubt_tables(object);
        program.resolve_calls(&entries);
        program.resolve_pointers(object, &entries);
        program.doubt_return_addresses();
        if target.arch.generation().deallocates_vgprs() {
            program.doubt_registers();
        }
        program
    }

    /// A table that others have the address of than the functions that jump by it may not become another one.
    fn doubt_tables(&mut self, object: &CodeObject) {
        let mut doubted = Vec::new();
        for table in &self.tables {
            let [Some(&(first, _)), Some(&(last, _))] = [table.entries.first(), table.entries.last()] else {
                continue;
            };
            let within = |address: u64| first <= address && address < last + 4;
            let functions: BTreeSet<Option<usize>> = self
                .tables
                .iter()
                .filter(|other| other.entries.iter().any(|&(at, _)| within(at)))
                .map(|other| self.function_at(self.insts[other.jump].pc))
                .collect();
            let mut formed = self.addresses.iter().filter(|address| within(address.target));
            let mut kept = object.relocations.iter().filter(|relocation| {
                let base = relocation.symbol.as_ref().map_or(0, |(_, value)| value.unwrap_or(0));
                within(base.wrapping_add_signed(relocation.addend))
            });
            let is_other =
                |address: &PcRelative| !functions.contains(&self.function_at(self.insts[address.addc].pc));
            if kept.next().is_some() || formed.any(is_other) {
                doubted.push(table.jump);
            }
        }
        for jump in doubted {
            let pc = self.insts[jump].pc;
            let detail = "jump by a table of distances that others have the address of, too".to_owned();
            if let Some(function) = self.function_at(pc) {
                let kind = ObstacleKind::UnresolvedGetpc;
                self.functions[function].obstacles.push(Obstacle { pc, kind, detail });
            }
        }
    }

    /// Puts the instructions in order of address, where functions have others amid them.
    fn sort(&mut self) {
        if self.insts.is_sorted_by_key(|located| located.pc) {
            return;
        }
        let mut order: Vec<usize> = (0..self.insts.len()).collect();
        order.sort_by_key(|&index| self.insts[index].pc);
        let mut places = vec![0; order.len()];
        for (place, &index) in order.iter().enumerate() {
            places[index] = place;
        }
        self.insts = order.iter().map(|&index| self.insts[index]).collect();
        for block in self.functions.iter_mut().flat_map(|function| &mut function.blocks) {
            let start = places[block.insts.start];
            block.insts = start..start + block.insts.len();
        }
        for PcRelative { getpc, add, addc, parts: [low, high], .. } in &mut self.addresses {
            for index in [getpc, add, addc, &mut low.inst, &mut high.inst] {
                *index = places[*index];
            }
        }
        for JumpTable { jump, base, .. } in &mut self.tables {
            *jump = places[*jump];
            base.getpc = base.getpc.map(|getpc| places[getpc]);
        }
        self.raw.iter_mut().for_each(|raw| raw.getpc = places[raw.getpc]);
    }

    /// A kernel whose waves are of another size than those of the program: its instructions were not decoded
    /// for these.
    fn doubt_wave_size(&mut self, (function, pc): (usize, u64), kernel: &Kernel) {
        let (own, program) = (kernel.descriptor.wave_size(self.arch), self.wave);
        if own != program {
            let detail = format!(
                "its waves have {} lanes, those of most kernels in the code object {}",
                own.lanes(),
                program.lanes()
            );
            let obstacle = Obstacle { pc, kind: ObstacleKind::OtherWaveSize, detail };
            self.functions[function].obstacles.push(obstacle);
        }
    }

    /// What it had, and those before it, for another program of the processor.
    pub(crate) fn into_seen(self) -> Seen {
        self.seen
    }

    /// The instruction of a block before which a wave that ends there still has its vector registers: the
    /// last one, or where it gives these back before.
    pub fn last_with_registers(&self, block: &Block) -> usize {
        let last = block.insts.end - 1;
        let Some(message) = self.gives_registers_back(block) else { return last };
        // What makes sure that its stores have read theirs stands before the message.
        let keeps_apart = |index: &usize| self.insts[*index].op == Op::s_nop && block.insts.contains(index);
        message.checked_sub(1).filter(keeps_apart).unwrap_or(message)
    }

    /// The instruction of a block by which a wave gives its vector registers back.
    fn gives_registers_back(&self, block: &Block) -> Option<usize> {
        let generation = self.arch.generation();
        if !generation.deallocates_vgprs() {
            return None;
        }
        block.insts.clone().find(|&index| self.inst(index).deallocates_vgprs(generation))
    }

    /// Vector registers that a wave gives back, and does more than end then: nothing can be counted behind
    /// that.
    fn doubt_registers(&mut self) {
        for number in 0..self.functions.len() {
            let found = self.functions[number].blocks.iter().filter_map(|block| {
                let message = self.gives_registers_back(block)?;
                let mut behind = self.insts[message..block.insts.end].iter();
                let goes_on = block.exit != Exit::End || behind.any(|located| located.touches_exec);
                goes_on.then_some(message)
            });
            let found: Vec<usize> = found.collect();
            let obstacle = |&index: &usize| Obstacle {
                pc: self.insts[index].pc,
                kind: ObstacleKind::RegistersGivenBack,
                detail: format!("`{}`, and the wave does more than end behind it", self.text(index)),
            };
            let obstacles: Vec<Obstacle> = found.iter().map(obstacle).collect();
            self.functions[number].obstacles.extend(obstacles);
        }
    }

    /// Its purpose.
    pub const fn target(&self) -> Target {
        Target { arch: self.arch, wave: self.wave }
    }

    /// The size of the waves that run it.
    pub const fn wave_size(&self) -> WaveSize {
        self.wave
    }

    /// An instruction with its operands.
    pub fn inst(&self, index: usize) -> &Inst {
        self.seen.forms.inst(self.insts[index].form)
    }

    /// What one of [`Program::insts`] does with scalar registers.
    pub fn scalars(&self, located: &Located) -> &Scalars {
        self.seen.forms.scalars(located.form)
    }

    /// How an instruction is written.
    pub fn text(&self, index: usize) -> &Arc<str> {
        self.seen.forms.text(self.insts[index].form)
    }

    /// How many distinct instructions there are: many have the same bytes.
    pub fn forms(&self) -> usize {
        self.seen.forms.len()
    }

    /// What an instruction does.
    pub fn effects(&self, index: usize) -> &Effects {
        self.seen.forms.effects(self.insts[index].form)
    }

    /// The index of the instruction at `pc`.
    pub fn at(&self, pc: u64) -> Option<usize> {
        self.insts.binary_search_by_key(&pc, |located| located.pc).ok()
    }

    /// The function an address lies in.
    pub fn function_at(&self, pc: u64) -> Option<usize> {
        let before = self.functions.partition_point(|function| function.range.start <= pc);
        let last = before.checked_sub(1)?;
        if self.functions[last].range.contains(&pc) || !self.functions[last].is_amid {
            return self.functions[last].range.contains(&pc).then_some(last);
        }
        // What goes on behind those amid it.
        let around = (0..last).rev().find(|&index| !self.functions[index].is_amid)?;
        self.functions[around].range.contains(&pc).then_some(around)
    }

    /// Whether a function starts at an address.
    pub fn is_entry(&self, pc: u64) -> bool {
        self.functions.binary_search_by_key(&pc, |function| function.range.start).is_ok()
    }

    /// Where the code of each function begins, and where it goes on behind others that stand amid it,
    /// ascending.
    pub fn pieces(&self) -> Vec<(u64, usize)> {
        let mut pieces = Vec::with_capacity(self.functions.len());
        let mut around = 0;
        for (number, function) in self.functions.iter().enumerate() {
            pieces.push((function.range.start, number));
            if !function.is_amid {
                around = number;
            }
            let next = self.functions.get(number + 1).map(|next| next.range.start);
            if function.is_amid
                && next != Some(function.range.end)
                && self.functions[around].range.end > function.range.end
            {
                pieces.push((function.range.end, around));
            }
        }
        pieces
    }

    /// By function: those that may call it.
    pub fn callers(&self) -> Vec<Vec<usize>> {
        let mut callers = vec![Vec::new(); self.functions.len()];
        for (caller, function) in self.functions.iter().enumerate() {
            function.callees.iter().for_each(|&callee| callers[callee].push(caller));
        }
        callers
    }

    /// By function: the registers that are said of it in `own`, and of everything that it may call.
    pub fn with_callees(&self, own: impl Iterator<Item = RegSet>) -> Vec<RegSet> {
        let mut all: Vec<RegSet> = own.collect();
        let callers = self.callers();
        let mut rounds = Rounds::new(self.functions.len());
        while let Some((number, _)) = rounds.next() {
            let mut registers = all[number];
            self.functions[number].callees.iter().for_each(|&callee| registers.union_with(&all[callee]));
            if registers != all[number] {
                all[number] = registers;
                callers[number].iter().for_each(|&caller| rounds.mark(caller));
            }
        }
        all
    }

    /// `function` and everything it may call, ascending.
    pub fn reachable(&self, function: usize) -> BTreeSet<usize> {
        reach(BTreeSet::from([function]), |at| self.functions[at].callees.iter())
    }

    /// These functions and everything they reach without calls through pointers, ascending.
    pub fn called_directly(&self, functions: BTreeSet<usize>) -> BTreeSet<usize> {
        reach(functions, |at| self.functions[at].blocks.iter().flat_map(|block| block.exit.entered(&[])))
    }
}

/// What is reached from some functions, where `next` tells what a function calls.
fn reach<'a, I: Iterator<Item = &'a usize>>(
    mut seen: BTreeSet<usize>,
    next: impl Fn(usize) -> I,
) -> BTreeSet<usize> {
    let mut work: Vec<usize> = seen.iter().copied().collect();
    while let Some(at) = work.pop() {
        work.extend(next(at).copied().filter(|&callee| seen.insert(callee)));
    }
    seen
}

/// The bytes at these addresses of the text, if code may stand there.
fn code_of<'a>(object: &'a CodeObject, range: &Range<u64>) -> Option<&'a [u8]> {
    if !range.start.is_multiple_of(4) {
        return None;
    }
    object.code_at(range.start)?.get(..usize::try_from(range.end.checked_sub(range.start)?).ok()?)
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
