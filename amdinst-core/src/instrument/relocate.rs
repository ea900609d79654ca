//! Builds the new `.text`: the old one with insertions, and with every branch and address computation corrected.
//!
//! The text is rebuilt from its first byte to its last. What no path reaches (padding, data) is copied as it is. A branch
//! to a patched instruction goes to what stands before it; a branch behind one does not run what stands after it. Only
//! the entry from outside runs a kernel's prologue: a loop back to the first instruction does not.

use std::collections::BTreeMap;

use thiserror::Error;

use super::map::{AddressMap, Run};
use crate::analysis::addresses::PcRelative;
use crate::analysis::program::{Located, ObstacleKind, Program};
use crate::isa::{EncodeError, Flow, Inst, Op, Value};
use crate::object::CodeObject;
use crate::object::rewrite::Edge;

/// What is inserted at one instruction.
#[derive(Clone, Debug, Default)]
pub(super) struct Patch {
    /// Before it, for control that comes from the entry only.
    pub(super) entry: Vec<Inst>,
    /// Before it, for all control.
    pub(super) before: Vec<Inst>,
    /// After it, for control that comes through it.
    pub(super) after: Vec<Inst>,
}

/// Why the text cannot be rebuilt.
#[derive(Clone, Debug, Error)]
pub(super) enum RelocateError {
    /// A branch in this function does not reach its target any more.
    #[error("the branch at {pc:#x} would have to span {distance} bytes")]
    BranchOutOfRange { function: usize, pc: u64, distance: i64 },
    /// Something that depends on its address in a way that is not understood.
    #[error("{detail}")]
    NotRelocatable { pc: u64, detail: String },
}

/// The new text.
#[derive(Clone, Debug)]
pub(super) struct Relocated {
    /// Its address.
    pub(super) address: u64,
    /// Its bytes.
    pub(super) text: Vec<u8>,
    /// Where everything came from.
    pub(super) map: AddressMap,
    /// New address of what an old address stands for: for entries, of the prologue.
    entries: BTreeMap<u64, u64>,
    /// New address for branches, where it is not simply that of the copied instruction.
    branches: BTreeMap<u64, u64>,
    /// New end of old ends after which something was inserted.
    ends: BTreeMap<u64, u64>,
    old: std::ops::Range<u64>,
}

const S_NOP: [u8; 4] = [0x00, 0x00, 0x80, 0xbf];

impl Relocated {
    /// Rebuilds the text at `address` with `patches` by instruction index.
    pub(super) fn new(
        object: &CodeObject,
        program: &Program,
        patches: &BTreeMap<usize, Patch>,
        address: u64,
    ) -> Result<Self, RelocateError> {
        check_movable(object, program)?;
        let start = object.text.address;
        let old_text = object.bytes.get(object.text.range.clone()).unwrap_or_default();
        let mut this = Self {
            address,
            text: Vec::with_capacity(old_text.len() * 2),
            map: AddressMap::default(),
            entries: BTreeMap::new(),
            branches: BTreeMap::new(),
            ends: BTreeMap::new(),
            old: start..start + old_text.len() as u64,
        };
        let bytes = |from: u64, to: u64| &old_text[(from - start) as usize..(to - start) as usize];

        let mut alignments: BTreeMap<u64, u64> = BTreeMap::new();
        for function in &program.functions {
            // The hardware starts kernels at multiples of 256; functions keep their alignment to cache lines.
            let natural = 1 << function.range.start.trailing_zeros().min(6);
            alignments.insert(function.range.start, if function.kernel.is_some() { 256 } else { natural });
        }
        let mut events: BTreeMap<u64, Option<usize>> = alignments.keys().map(|&pc| (pc, None)).collect();
        events.extend(patches.keys().map(|&index| (program.insts[index].pc, Some(index))));

        let mut at = start;
        for (pc, patched) in events {
            this.copy(at, bytes(at, pc));
            at = pc;
            if let Some(&alignment) = alignments.get(&pc) {
                let padding = this.end().next_multiple_of(alignment) - this.end();
                this.insert(pc, &S_NOP.repeat(padding as usize / 4));
            }
            let Some(index) = patched else { continue };
            let (located, patch) = (&program.insts[index], &patches[&index]);
            this.entries.insert(pc, this.end());
            this.insert(pc, &encode(program, located, &patch.entry)?);
            this.branches.insert(pc, this.end());
            this.insert(pc, &encode(program, located, &patch.before)?);
            this.copy(pc, bytes(pc, located.end()));
            this.insert(pc, &encode(program, located, &patch.after)?);
            at = located.end();
            this.ends.insert(at, this.end());
        }
        this.copy(at, bytes(at, this.old.end));
        this.retarget(program)?;
        for address in &program.addresses {
            this.readdress(program, address)?;
        }
        Ok(this)
    }

    /// Where an old address went, as a symbol or a pointer names it.
    pub(super) fn place(&self, old: u64, edge: Edge) -> Option<u64> {
        match edge {
            Edge::Start => self.entries.get(&old).copied().or_else(|| self.copied(old)),
            Edge::End => self.ends.get(&old).copied().or_else(|| Some(self.copied(old.checked_sub(1)?)? + 1)),
        }
    }

    /// The new address of an old instruction itself.
    pub(super) fn instruction(&self, old: u64) -> Option<u64> {
        self.copied(old)
    }

    fn end(&self) -> u64 {
        self.address + self.text.len() as u64
    }

    fn copy(&mut self, old: u64, bytes: &[u8]) {
        self.append(old, bytes, false);
    }

    fn insert(&mut self, old: u64, bytes: &[u8]) {
        self.append(old, bytes, true);
    }

    fn append(&mut self, old: u64, bytes: &[u8], inserted: bool) {
        if !bytes.is_empty() {
            self.map.runs.push(Run { new: self.end(), old, size: bytes.len() as u64, inserted });
            self.text.extend_from_slice(bytes);
        }
    }

    /// The new address of a copied byte.
    fn copied(&self, old: u64) -> Option<u64> {
        // Runs are in order of the old address too; at equal ones, the copied run is among the last.
        let end = self.map.runs.partition_point(|run| run.old <= old);
        let run = self.map.runs[..end].iter().rev().find(|run| !run.inserted)?;
        (old - run.old < run.size).then(|| run.new + (old - run.old))
    }

    /// Where a branch from `from` to `to` goes.
    fn branch_target(&self, to: u64) -> Option<u64> {
        self.branches.get(&to).copied().or_else(|| self.copied(to))
    }

    fn retarget(&mut self, program: &Program) -> Result<(), RelocateError> {
        for (number, function) in program.functions.iter().enumerate() {
            for block in &function.blocks {
                let located = &program.insts[block.insts.end - 1];
                let offset = match located.inst.flow() {
                    Flow::Branch { offset } | Flow::CondBranch { offset, .. } => offset,
                    Flow::Call { offset: Some(offset) } => offset,
                    _ => continue,
                };
                let to = located.end().wrapping_add_signed(offset.into());
                // A kernel's stub for firmware without preloading jumps over itself, to where a prologue stands.
                let in_stub = function.kernel.is_some() && located.pc < function.range.start + 256;
                let enters = in_stub && to == function.range.start + 256 || !function.range.contains(&to);
                let new_to = if enters { self.place(to, Edge::Start) } else { self.branch_target(to) };
                let (Some(new_pc), Some(new_to)) = (self.copied(located.pc), new_to) else { continue };
                let distance = new_to.wrapping_sub(new_pc + u64::from(located.inst.size)) as i64;
                if distance == i64::from(offset) {
                    continue;
                }
                let Ok(dwords) = i16::try_from(distance / 4) else {
                    return Err(RelocateError::BranchOutOfRange {
                        function: number,
                        pc: located.pc,
                        distance,
                    });
                };
                let mut inst = located.inst.clone();
                if let Some(last) = inst.operands.last_mut() {
                    last.value = Value::Imm(dwords.into());
                }
                self.replace(program, located, new_pc, &inst)?;
            }
        }
        Ok(())
    }

    fn readdress(&mut self, program: &Program, address: &PcRelative) -> Result<(), RelocateError> {
        let getpc = &program.insts[address.getpc];
        let fail = |detail: String| RelocateError::NotRelocatable { pc: getpc.pc, detail };
        let target = if self.old.contains(&address.target) {
            let found = self.place(address.target, Edge::Start);
            found.ok_or_else(|| {
                fail(format!("the address {:#x} that it forms is not carried over", address.target))
            })?
        } else {
            address.target
        };
        let base = self.copied(getpc.pc).unwrap_or_default() + u64::from(getpc.inst.size);
        let distance = target.wrapping_sub(base);
        for (index, part) in [(address.add, distance as u32), (address.addc, (distance >> 32) as u32)] {
            let located = &program.insts[index];
            let mut inst = located.inst.clone();
            let constant = inst.operands[1..].iter_mut().find_map(|operand| match operand.value {
                Value::Literal(_) => Some((operand, false)),
                Value::Inline(_) => Some((operand, true)),
                _ => None,
            });
            let Some((operand, inline)) = constant else { continue };
            operand.value = if inline { Value::int(part as i32) } else { Value::Literal(part) };
            if inline && matches!(operand.value, Value::Literal(_)) {
                return Err(fail(format!("`{}` has no room for a literal", located.inst.op)));
            }
            let new_pc = self.copied(located.pc).unwrap_or_default();
            self.replace(program, located, new_pc, &inst)?;
        }
        Ok(())
    }

    fn replace(
        &mut self,
        program: &Program,
        old: &Located,
        new_pc: u64,
        inst: &Inst,
    ) -> Result<(), RelocateError> {
        let bytes = encode(program, old, std::slice::from_ref(inst))?;
        let at = (new_pc - self.address) as usize;
        match self.text.get_mut(at..at + bytes.len()) {
            Some(place) if bytes.len() == usize::from(old.inst.size) => {
                place.copy_from_slice(&bytes);
                Ok(())
            }
            _ => {
                let detail = format!("`{}` changed its size", old.inst.op);
                Err(RelocateError::NotRelocatable { pc: old.pc, detail })
            }
        }
    }
}

fn encode(program: &Program, near: &Located, insts: &[Inst]) -> Result<Vec<u8>, RelocateError> {
    let mut bytes = Vec::new();
    for inst in insts {
        let words = inst.encode(program.arch).map_err(|error: EncodeError| {
            RelocateError::NotRelocatable { pc: near.pc, detail: error.to_string() }
        })?;
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }
    Ok(bytes)
}

/// All of `.text` moves, instrumented or not: nothing in it may depend on where it stands, but for what is corrected.
fn check_movable(object: &CodeObject, program: &Program) -> Result<(), RelocateError> {
    let mut incomplete = false;
    for function in &program.functions {
        for obstacle in &function.obstacles {
            if obstacle.kind == ObstacleKind::UnresolvedGetpc {
                let detail = format!("in `{}`: {}", function.name, obstacle.detail);
                return Err(RelocateError::NotRelocatable { pc: obstacle.pc, detail });
            }
            incomplete = true;
        }
    }
    if !incomplete {
        return Ok(());
    }
    // Some code may not have been found. It must at least not look at its own address.
    let text = object.bytes.get(object.text.range.clone()).unwrap_or_default();
    let mut known = program.insts.iter().peekable();
    for (pc, word) in (object.text.address..).step_by(4).zip(text.chunks_exact(4)) {
        while known.next_if(|located| located.end() <= pc).is_some() {}
        let found = known.peek().is_some_and(|located| located.pc <= pc);
        let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        if !found && is_getpc(word) {
            let detail = format!("`{}` in code that no known path reaches", Op::s_getpc_b64);
            return Err(RelocateError::NotRelocatable { pc, detail });
        }
    }
    Ok(())
}

/// SOP1 (bits 31:23 = 0b101111101) with opcode 28 in bits 15:8.
const fn is_getpc(word: u32) -> bool {
    word & 0xff80_ff00 == 0xbe80_1c00
}
