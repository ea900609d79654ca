//! Following control flow from an entry until nothing new is found.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Located, Obstacle, ObstacleKind, got_slot};
use crate::Arch;
use crate::analysis::addresses::{Pointer, Tracker};
use crate::isa::{Effects, Flow, Inst, Op, Value, decode};
use crate::object::CodeObject;

/// One straight piece of exploration: where control goes after an instruction.
pub(super) enum Next {
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

/// The exploration of one function.
pub(super) struct Explorer<'a> {
    pub(super) object: &'a CodeObject,
    pub(super) arch: Arch,
    pub(super) entries: &'a BTreeMap<u64, usize>,
    pub(super) range: Range<u64>,
    pub(super) is_kernel: bool,
    /// What was decoded.
    buffers: &'a mut Buffers,
    /// The address of the first dword.
    base: u64,
    pub(super) obstacles: Vec<Obstacle>,
}

/// The instructions of a function while it is explored. One function after the other uses the same memory.
#[derive(Default)]
pub(super) struct Buffers {
    /// What was decoded, in no order.
    found: Vec<Located>,
    /// The dwords of the function in the text.
    dwords: Vec<Dword>,
}

/// What starts at a dword.
#[derive(Clone, Copy, Default)]
struct Dword {
    /// An instruction: its place in what was found, plus one.
    inst: u32,
    /// A basic block.
    leads: bool,
}

impl<'a> Explorer<'a> {
    pub(super) fn new(
        object: &'a CodeObject,
        entries: &'a BTreeMap<u64, usize>,
        range: Range<u64>,
        is_kernel: bool,
        buffers: &'a mut Buffers,
    ) -> Self {
        let text = object.text.address..object.text.address.saturating_add(object.text.range.len() as u64);
        let base = range.start.max(text.start);
        let dwords = range.end.min(text.end).saturating_sub(base).div_ceil(4) as usize;
        buffers.found.clear();
        buffers.dwords.clear();
        buffers.dwords.resize(dwords, Dword::default());
        Self {
            object,
            arch: object.target.arch,
            entries,
            range,
            is_kernel,
            buffers,
            base,
            obstacles: Vec::new(),
        }
    }

    /// The dword at an address, if it can hold code.
    fn dword(&mut self, pc: u64) -> Option<&mut Dword> {
        let offset = pc.checked_sub(self.base)?;
        if !offset.is_multiple_of(4) {
            return None;
        }
        self.buffers.dwords.get_mut(usize::try_from(offset / 4).ok()?)
    }

    fn lead(&mut self, pc: u64) {
        if let Some(dword) = self.dword(pc) {
            dword.leads = true;
        }
    }

    /// The instructions in order of address, and whether a block begins with each.
    pub(super) fn take(&mut self) -> impl Iterator<Item = (Located, bool)> + use<'_, 'a> {
        let Buffers { found, dwords } = &mut *self.buffers;
        dwords.iter().filter_map(|dword| {
            let located = found.get((dword.inst as usize).checked_sub(1)?)?;
            Some((*located, dword.leads))
        })
    }

    /// Follows control flow from the entry until nothing new is found. Shows each instruction once.
    pub(super) fn explore(&mut self, see: &mut dyn FnMut(&Inst, &Effects)) {
        let (mut addresses, mut misuses) = (Vec::new(), Vec::new());
        let mut work = vec![self.range.start];
        self.lead(self.range.start);
        while let Some(start) = work.pop() {
            let mut tracker = Tracker::default();
            let mut at = start;
            loop {
                if self.dword(at).is_some_and(|dword| dword.inst != 0) {
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
                let effects = inst.effects(self.arch);
                see(&inst, &effects);
                let located = Located::new(at, &inst, &effects);
                let next = next(&located, || through(&inst, &tracker));
                // Here only known addresses matter, and those begin with the program counter.
                if !tracker.is_idle() || inst.op == Op::s_getpc_b64 {
                    let object = self.object;
                    let load = |address| got_slot(object, address);
                    tracker.step(at as usize, at, &inst, &load, &mut addresses, &mut misuses);
                }
                let end = located.end();
                self.buffers.found.push(located);
                let number = self.buffers.found.len() as u32;
                if let Some(dword) = self.dword(at) {
                    dword.inst = number;
                }
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
                            self.lead(end);
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
            self.lead(to);
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

    pub(super) fn check_overlaps(&mut self) {
        let mut end = 0;
        let mut overlap = None;
        let found = |dword: &Dword| self.buffers.found.get((dword.inst as usize).checked_sub(1)?);
        for located in self.buffers.dwords.iter().filter_map(found) {
            if located.pc < end {
                overlap = Some(located.pc);
            }
            end = located.end();
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

/// What a jump or call goes through.
pub(super) fn through(inst: &Inst, tracker: &Tracker) -> Pointer {
    match inst.operands.last().map(|operand| operand.value) {
        Some(Value::Scalar(first)) => tracker.pointer(first),
        _ => Pointer::Computed,
    }
}

/// Where control goes after an instruction; `through` tells the register's value for one that goes by a register.
pub(super) fn next(located: &Located, through: impl FnOnce() -> Pointer) -> Next {
    let target = |offset: i32| located.end().wrapping_add_signed(offset.into());
    match located.flow() {
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
