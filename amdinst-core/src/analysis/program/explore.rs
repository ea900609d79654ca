//! Following control flow from an entry until nothing new is found.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use amdgpu_isa::{Condition, Flow, Inst, Op, ScalarSet, Value};
use amdgpu_object::{CodeObject, Text};

use super::forms::Forms;
use super::{JumpTable, Observer, Obstacle, ObstacleKind, Shape, got_slot};
use crate::analysis::addresses::{Entry, Pointer, Tracker};

/// One straight piece of exploration: where control goes after an instruction.
pub(super) enum Next {
    Fall,
    /// Into the trap handler, which may come back.
    Trap,
    Jump(u64),
    Split(u64),
    /// A branch that always goes there, as what it goes by is known.
    Always(u64),
    Call(Pointer),
    CallKnown(u64),
    Through(Pointer),
    End,
    Unsupported,
}

/// The exploration of one function.
pub(super) struct Explorer<'a> {
    pub(super) object: &'a CodeObject,
    pub(super) entries: &'a BTreeMap<u64, usize>,
    pub(super) range: Range<u64>,
    pub(super) is_kernel: bool,
    /// What was found, by dword of the function. One function after the other uses the same memory.
    dwords: &'a mut Vec<Dword>,
    pub(super) forms: &'a mut Forms,
    /// The address of the first dword.
    base: u64,
    /// The text from there on, to its end.
    text: &'a [u8],
    pub(super) obstacles: Vec<Obstacle>,
    /// Places that are called where no function starts.
    pub(super) called: BTreeSet<u64>,
}

/// What starts at a dword of the text.
#[derive(Clone, Copy, Default)]
pub(super) struct Dword {
    /// An instruction: the number of its form, plus one.
    inst: u32,
    /// A basic block.
    pub(super) leads: bool,
}

impl Dword {
    /// The form of the instruction.
    pub(super) fn form(self) -> Option<u32> {
        self.inst.checked_sub(1)
    }
}

impl<'a> Explorer<'a> {
    pub(super) fn new(
        object: &'a CodeObject,
        entries: &'a BTreeMap<u64, usize>,
        range: Range<u64>,
        is_kernel: bool,
        (dwords, forms): (&'a mut Vec<Dword>, &'a mut Forms),
    ) -> Self {
        let section = object.code().map(Text::memory).find(|section| section.contains(&range.start));
        let section = section.unwrap_or_else(|| object.text.memory());
        let base = range.start.max(section.start);
        let length = range.end.min(section.end).saturating_sub(base).div_ceil(4) as usize;
        dwords.clear();
        dwords.resize(length, Dword::default());
        let text = object.code_at(base).unwrap_or_default();
        Self {
            object,
            entries,
            range,
            is_kernel,
            dwords,
            forms,
            base,
            text,
            obstacles: Vec::new(),
            called: BTreeSet::new(),
        }
    }

    /// The number of the dword at an address.
    fn dword(&self, pc: u64) -> Option<usize> {
        let offset = pc.checked_sub(self.base)?;
        offset.is_multiple_of(4).then_some((offset / 4) as usize)
    }

    fn lead(&mut self, pc: u64) {
        if let Some(dword) = self.dword(pc).and_then(|number| self.dwords.get_mut(number)) {
            dword.leads = true;
        }
    }

    /// What was found at each dword, and the address of the first.
    pub(super) fn dwords(&self) -> (&[Dword], u64) {
        (self.dwords, self.base)
    }

    /// Follows control flow from the entry of this function until nothing new is found. Shows each form once.
    pub(super) fn explore(&mut self, function: usize, observer: &mut impl Observer) {
        let (mut addresses, mut misuses) = (Vec::new(), Vec::new());
        let mut work = vec![self.range.start];
        self.lead(self.range.start);
        while let Some(start) = work.pop() {
            let mut tracker = Tracker::default();
            let mut at = start;
            // Where the straight line that leads here began.
            let mut line = start;
            loop {
                let Some((place, bytes)) = self.code_at(at) else {
                    self.obstacle(
                        at,
                        ObstacleKind::BrokenControlFlow,
                        "control runs out of the function".to_owned(),
                    );
                    break;
                };
                if self.dwords[place].inst != 0 {
                    break;
                }
                let form = match self.forms.find(bytes, observer) {
                    Ok(form) => form,
                    Err(error) => {
                        self.obstacle(at, ObstacleKind::Undecodable, error.to_string());
                        break;
                    }
                };
                if self.forms.is_new_in(function, form) {
                    observer.found(function, form as usize);
                }
                self.dwords[place].inst = form + 1;
                let shape = self.forms.shape(form);
                let end = at + u64::from(shape.size);
                if shape.is_plain && tracker.is_idle() {
                    at = end;
                    continue;
                }
                // Here only known addresses matter, and those begin with the program counter.
                if shape.op == Op::s_getpc_b64 && tracker.is_idle() {
                    // With the constants that distances are made of.
                    tracker.clear();
                    self.track(line..at, &mut tracker);
                }
                let is_tracked = !tracker.is_idle() || shape.op == Op::s_getpc_b64;
                let next = next(shape, end, || through(self.forms.inst(form), &tracker), tracker.scc());
                if is_tracked {
                    let object = self.object;
                    let load = |address| got_slot(object, address);
                    let writes_scc = self.forms.scalars(form).writes.intersects(ScalarSet::SCC);
                    let inst = (self.forms.inst(form), writes_scc);
                    tracker.step(at as usize, at, inst, &load, &mut addresses, &mut misuses);
                }
                match next {
                    Next::Split(_) => tracker.goes_on(shape.op),
                    Next::Always(_) => {}
                    _ if !shape.goes_on => {
                        line = end;
                        tracker.end_block();
                    }
                    _ => {}
                }
                let falls = match next {
                    Next::Always(to) if self.range.contains(&to) => {
                        self.lead(to);
                        (at, line) = (to, to);
                        continue;
                    }
                    Next::Fall => true,
                    // After the last trap of a function there may be nothing, not even a return.
                    Next::Trap => self.code_at(end).is_some(),
                    Next::Split(to) => {
                        if !skips_last_trap(self.object, &self.range, shape, to) {
                            self.branch(at, to, &mut work);
                        }
                        true
                    }
                    Next::Jump(to) | Next::Always(to) | Next::Through(Pointer::Known(to)) => {
                        self.branch(at, to, &mut work);
                        false
                    }
                    // A function that ends with a call calls what does not return, such as a panic.
                    Next::Call(_) | Next::CallKnown(_) => {
                        if let Next::Call(Pointer::Known(to)) | Next::CallKnown(to) = next
                            && !self.entries.contains_key(&to)
                        {
                            self.called.insert(to);
                        }
                        let goes_on = self.range.contains(&end);
                        if goes_on {
                            self.lead(end);
                            tracker.clear();
                        }
                        goes_on
                    }
                    Next::Through(Pointer::Table(load, signed)) => {
                        let table = tracker.entry(load).and_then(|entry| self.jump_table(entry, signed));
                        for to in table.into_iter().flat_map(|table| table.places) {
                            self.branch(at, to, &mut work);
                        }
                        false
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

    /// Has the tracker take the instructions of a straight line.
    fn track(&self, line: Range<u64>, tracker: &mut Tracker) {
        let (mut addresses, mut misuses) = (Vec::new(), Vec::new());
        let mut at = line.start;
        while at < line.end {
            let place = self.dword(at).and_then(|place| self.dwords.get(place));
            let Some(form) = place.and_then(|dword| dword.form()) else { return tracker.clear() };
            let writes_scc = self.forms.scalars(form).writes.intersects(ScalarSet::SCC);
            let inst = (self.forms.inst(form), writes_scc);
            tracker.step(at as usize, at, inst, &|_| None, &mut addresses, &mut misuses);
            let shape = self.forms.shape(form);
            if matches!(shape.flow(), Flow::CondBranch { .. }) {
                tracker.goes_on(shape.op);
            }
            at += u64::from(shape.size);
        }
    }

    /// The table that a jump goes by, if all places that it may have are in the function.
    pub(super) fn jump_table(&self, entry: Entry, signed: bool) -> Option<JumpTable> {
        let Entry { table, offsets, base } = entry;
        let base = base?;
        let mut entries = Vec::new();
        let mut places = BTreeSet::new();
        for offset in offsets.all() {
            let at = table.checked_add(offset.into())?;
            let distance = u32::from_le_bytes(*self.object.bytes_at(at, 4)?.first_chunk()?);
            let distance = if signed { i64::from(distance as i32) } else { i64::from(distance) };
            let place = base.address.wrapping_add_signed(distance);
            if !self.range.contains(&place) || !place.is_multiple_of(4) {
                return None;
            }
            entries.push((at, place));
            places.insert(place);
        }
        let end = entries.last()?.0 + 4;
        let relocations = &self.object.relocations;
        let next = relocations.partition_point(|relocation| relocation.address + 8 <= table);
        let is_relocated = relocations.get(next).is_some_and(|relocation| relocation.address < end);
        (!is_relocated).then_some(JumpTable { jump: 0, base, signed, entries, places })
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

    /// The number of the dword at an address of the function, and the bytes from there on.
    fn code_at(&self, pc: u64) -> Option<(usize, &'a [u8])> {
        let place = self.dword(pc).filter(|&place| pc.is_multiple_of(4) && place < self.dwords.len())?;
        let bytes = self.text.get(place * 4..)?;
        (!bytes.is_empty()).then_some((place, bytes))
    }

    pub(super) fn obstacle(&mut self, pc: u64, kind: ObstacleKind, detail: String) {
        self.obstacles.push(Obstacle { pc, kind, detail });
    }
}

/// Whether a branch of a function skips the trap that ends it, for waves without lanes. Behind it there is
/// nothing: of the lanes that came, some trap.
pub(super) fn skips_last_trap(object: &CodeObject, range: &Range<u64>, shape: &Shape, to: u64) -> bool {
    /// SOPP (bits 31:23 = 0b101111111) with opcode 18 in bits 22:16.
    const fn is_trap(word: u32) -> bool {
        word & 0xffff_0000 == 0xbf92_0000
    }
    let last = || object.code_at(to.checked_sub(4)?)?.first_chunk().copied().map(u32::from_le_bytes);
    matches!(shape.flow(), Flow::CondBranch { condition: Condition::Execz, .. })
        && to == range.end
        && last().is_some_and(is_trap)
}

/// What a jump or call goes through.
pub(super) fn through(inst: &Inst, tracker: &Tracker) -> Pointer {
    match inst.operands.last().map(|operand| operand.value) {
        Some(Value::Scalar(first)) => tracker.pointer(first),
        _ => Pointer::Computed,
    }
}

/// Where control goes after an instruction that ends at an address; `through` tells the register's value for
/// one that goes by a register, and `scc` what SCC is known to be.
pub(super) fn next(shape: &Shape, end: u64, through: impl FnOnce() -> Pointer, scc: Option<bool>) -> Next {
    let target = |offset: i32| end.wrapping_add_signed(offset.into());
    match shape.flow() {
        Flow::Next => Next::Fall,
        Flow::Trap => Next::Trap,
        Flow::Branch { offset } => Next::Jump(target(offset)),
        Flow::CondBranch { offset, condition } => match (condition, scc) {
            (Condition::Scc0, Some(scc)) => Next::Always(if scc { end } else { target(offset) }),
            (Condition::Scc1, Some(scc)) => Next::Always(if scc { target(offset) } else { end }),
            _ => Next::Split(target(offset)),
        },
        Flow::Call { offset: Some(offset) } => Next::CallKnown(target(offset)),
        Flow::Call { offset: None } => Next::Call(through()),
        Flow::Jump => Next::Through(through()),
        Flow::End => Next::End,
        Flow::Other => Next::Unsupported,
    }
}
