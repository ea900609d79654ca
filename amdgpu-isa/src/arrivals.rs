//! Results of memory instructions, which come later than their instruction: on which way, and the wait that
//! tells that they are there.
//!
//! A counter of a wave has as many operations as are under way. Those of one way come back in the order in
//! which they were issued, or in any (Vega ISA, section 4.4; RDNA 2 ISA, section 4.4; RDNA 4 ISA, section
//! 5.7.1). So if at most N are under way, a result is there that N more of its way were issued behind,
//! whatever else is counted.
//!
//! Not followed: exports, `lds_direct_load`, and images where they have counters of their own.

use crate::{
    Access, Effects, Encoding, Generation, Inst, MemoryKind, MemoryOperation, Reg, RegSet, Target, Waits,
};

/// A way on which results come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// From memory, through the vector cache.
    Vector,
    /// From LDS.
    Lds,
    /// From LDS, by a FLAT instruction: before RDNA in no order.
    FlatLds,
    /// From the global data share: taken to be in no order.
    Gds,
    /// From memory through the scalar cache, or by a message: in no order.
    Scalar,
}

impl Way {
    /// Whether results come in the order in which they were asked for.
    pub const fn is_in_order(self, generation: Generation) -> bool {
        match self {
            Self::Vector | Self::Lds => true,
            Self::FlatLds => generation.orders_flat(),
            Self::Gds | Self::Scalar => false,
        }
    }

    /// Of a wait, to how many operations of this way's counter it waits; `None` if it does not wait for it.
    pub const fn limit(self, waits: &Waits) -> Option<u8> {
        match self {
            Self::Vector => waits.vector,
            Self::Lds | Self::FlatLds | Self::Gds => waits.lds,
            Self::Scalar => waits.scalar,
        }
    }

    /// The most operations of this way's counter that can be under way: it counts no further, so that a wave
    /// that issues one more waits.
    pub fn most(self, generation: Generation) -> u8 {
        Waits::most(generation, self)
    }

    /// The wait until at most so many operations are under way.
    pub fn wait(self, limit: u8) -> Waits {
        let limit = Some(limit);
        match self {
            Self::Vector => Waits { vector: limit, ..Waits::default() },
            Self::Lds | Self::FlatLds | Self::Gds => Waits { lds: limit, ..Waits::default() },
            Self::Scalar => Waits { scalar: limit, ..Waits::default() },
        }
    }
}

/// What a memory instruction brings later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The registers that it brings: none by a store.
    pub registers: RegSet,
    /// The ways on which they come: two for FLAT, where each address decides.
    pub ways: &'static [Way],
    /// The ways on which everything that was issued before comes before this instruction is done.
    pub behind: &'static [Way],
    /// That holds only if none of its addresses is one of LDS.
    pub is_ordered_in_memory_alone: bool,
}

impl Arrival {
    /// What an instruction of these effects brings; `None` if no counter that is followed counts it.
    pub fn of(inst: &Inst, effects: &Effects, generation: Generation) -> Option<Self> {
        let ways = ways(inst, effects, generation);
        let is_flat = ways.len() > 1;
        let behind: &[Way] = match (ways.first(), generation.orders_flat()) {
            (Some(Way::Lds), false) => &[Way::Lds],
            (Some(Way::Lds), true) => &[Way::Lds, Way::FlatLds],
            (Some(Way::Vector), true) if is_flat && effects.vm_cnt => &[Way::Vector, Way::Lds, Way::FlatLds],
            (Some(Way::Vector), true) if is_flat => &[Way::Lds, Way::FlatLds],
            (Some(Way::Vector), _) if effects.vm_cnt => &[Way::Vector],
            _ => &[],
        };
        let mut registers = effects.changes();
        for state in [Reg::EXEC_LO, Reg::EXEC_HI, Reg::MODE, Reg::SCC] {
            registers.remove(state);
        }
        let is_ordered_in_memory_alone = is_flat && !generation.orders_flat();
        let brings_nothing = behind.is_empty() && registers.is_empty();
        (!ways.is_empty() && !brings_nothing).then_some(Self {
            registers,
            ways,
            behind,
            is_ordered_in_memory_alone,
        })
    }

    /// Whether each address decides on which way the results come.
    pub const fn is_flat(&self) -> bool {
        self.ways.len() > 1
    }
}

/// The ways on which the results of an instruction come: none if it brings none later, or is not followed.
fn ways(inst: &Inst, effects: &Effects, generation: Generation) -> &'static [Way] {
    match (inst.encoding, effects.memory.map(|memory| memory.kind)) {
        (Encoding::Smem, _) => &[Way::Scalar],
        (Encoding::Sop1, _) if effects.lgkm_cnt => &[Way::Scalar],
        (Encoding::Ds, _) if inst.mods.gds => &[Way::Gds],
        (Encoding::Ds, _) => &[Way::Lds],
        (_, Some(MemoryKind::Flat)) => &[Way::Vector, Way::FlatLds],
        (_, Some(MemoryKind::Global | MemoryKind::Scratch | MemoryKind::Buffer)) => &[Way::Vector],
        (_, Some(MemoryKind::Image)) if !generation.waits_by_counter() => &[Way::Vector],
        _ => &[],
    }
}

/// The registers that an instruction of these effects reads when it is issued. A load that keeps a part of
/// its register reads that later: when it writes there.
pub fn reads_at_issue(inst: &Inst, effects: &Effects, target: impl Into<Target>) -> RegSet {
    if effects.memory.is_none_or(|memory| memory.operation != MemoryOperation::Load) {
        return effects.reads;
    }
    let mut sources = inst.clone();
    sources.operands.retain(|operand| operand.access == Access::Read);
    sources.effects(target).reads
}
