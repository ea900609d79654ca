//! Registers that a compiler spilled, as the code shows it: for kernels whose note does not tell, and for the
//! functions that they call.
//!
//! * An SGPR is spilled to a lane of a VGPR: `v_writelane_b32` puts it there, `v_readlane_b32` takes it back.
//! * A VGPR is spilled to scratch memory, at an offset that is the same for all lanes: a store and a load
//!   have that offset, from the same scalar base, and no address in a VGPR.
//!
//! Each dword that is put away counts, as in LLVM's `.sgpr_spill_count` and `.vgpr_spill_count`. An array or
//! a variable in private memory that is accessed at constant offsets looks alike, so the number of VGPRs is
//! an upper bound.

use std::collections::HashSet;
use std::hash::Hash;
use std::ops::Add;

use amdgpu_isa::{Effects, Inst, MemoryKind, MemoryOperation, Op, Slot, Value};

use super::program::{Function, Program};

/// How many registers code spills at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spilled {
    /// SGPRs.
    pub sgprs: u32,
    /// VGPRs: dwords a lane in scratch memory.
    pub vgprs: u32,
}

impl Add for Spilled {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { sgprs: self.sgprs + other.sgprs, vgprs: self.vgprs + other.vgprs }
    }
}

/// Accesses that put dwords away, and take them back.
struct Places<K> {
    stored: Vec<K>,
    loaded: HashSet<K>,
}

impl<K: Eq + Hash> Places<K> {
    fn new() -> Self {
        Self { stored: Vec::new(), loaded: HashSet::new() }
    }

    fn note(&mut self, is_store: bool, place: K) {
        if is_store {
            self.stored.push(place);
        } else {
            self.loaded.insert(place);
        }
    }

    /// Dwords put away where something takes them back.
    fn spilled(&self) -> u32 {
        self.stored.iter().filter(|place| self.loaded.contains(place)).count() as u32
    }
}

/// The spills of a kernel's code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeSpills {
    /// By the kernel itself.
    pub own: Spilled,
    /// By the functions that it may call, of which its note never tells.
    pub callees: Spilled,
}

/// The spills of the kernel at an entry address; `None` if there is none, or its code is not understood.
/// Without scratch memory no VGPR is spilled.
pub fn spills(program: &Program, entry: u64, has_scratch: bool) -> Option<CodeSpills> {
    let kernel = program.function_at(entry)?;
    let mut all = CodeSpills::default();
    for reached in program.reachable(kernel) {
        let function = &program.functions[reached];
        if !function.obstacles.is_empty() {
            return None;
        }
        let found = spilled_by(program, function, has_scratch);
        let sum = if reached == kernel { &mut all.own } else { &mut all.callees };
        *sum = *sum + found;
    }
    Some(all)
}

/// The spills of a function by itself: another's stack has other offsets.
fn spilled_by(program: &Program, function: &Function, has_scratch: bool) -> Spilled {
    let (mut lanes, mut slots) = (Places::new(), Places::new());
    for located in function.blocks.iter().flat_map(|block| block.insts.clone()) {
        let inst = program.inst(located);
        if let Some((is_store, lane)) = lane_of(inst) {
            lanes.note(is_store, lane);
        }
        let slot = if has_scratch { slot_of(inst, program.effects(located)) } else { None };
        if let Some((is_store, base, dwords)) = slot {
            for dword in 0..i32::from(dwords) {
                slots.note(is_store, (base, inst.mods.offset + 4 * dword));
            }
        }
    }
    Spilled { sgprs: lanes.spilled(), vgprs: slots.spilled() }
}

/// The operand in a slot.
fn value_in(inst: &Inst, slot: Slot) -> Option<Value> {
    inst.operands.iter().find(|operand| operand.slot == slot).map(|operand| operand.value)
}

/// The lane of a VGPR that an SGPR is put into, or taken from; and whether it is put there.
fn lane_of(inst: &Inst) -> Option<(bool, [Value; 2])> {
    let (is_store, vgpr) = match inst.op {
        Op::v_writelane_b32 => (true, Slot::Vdst),
        Op::v_readlane_b32 => (false, Slot::Src0),
        _ => return None,
    };
    let lane = value_in(inst, Slot::Src1).filter(|lane| lane.as_u32().is_some())?;
    Some((is_store, [value_in(inst, vgpr)?, lane]))
}

/// The base of an access to scratch memory at an offset that all lanes share, and how many dwords it has; and
/// whether it is a store.
fn slot_of(inst: &Inst, effects: &Effects) -> Option<(bool, [Option<Value>; 2], u8)> {
    let memory = effects.memory?;
    let is_address = |address: Value| address != Value::Off;
    let base = match memory.kind {
        MemoryKind::Scratch if !value_in(inst, Slot::Vaddr).is_some_and(is_address) => {
            [value_in(inst, Slot::Saddr), None]
        }
        // By a resource of scratch memory. Another one that all lanes access at one place is rare.
        MemoryKind::Buffer if !inst.mods.offen && !inst.mods.idxen => {
            [value_in(inst, Slot::Srsrc), value_in(inst, Slot::Soffset)]
        }
        _ => return None,
    };
    match memory.operation {
        MemoryOperation::Store => Some((true, base, memory.dwords)),
        MemoryOperation::Load => Some((false, base, memory.dwords)),
        MemoryOperation::Atomic { .. } => None,
    }
}
