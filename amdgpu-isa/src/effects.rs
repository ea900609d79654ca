//! What an instruction reads, writes and counts.

use super::{
    Access, Encoding, Inst, Op, Operand, Reg, RegSet, SdwaSel, SdwaUnused, Slot, Special, Value, scalar,
};
use crate::encoding::table::{Entry, Tables};
use crate::signature::{
    ANY_LANE, ATOMIC, CONDITIONAL, EXEC_R, EXEC_W, FROM_LDS, Flags, GDS_ONLY, HALF, INDIRECT, LOAD, M0_R,
    M0_W, MODE_R, MODE_W, NO_GDS, OPSEL, RETURNS, SCC_R, SCC_W, SIDE_EFFECT, STORE, TO_LDS_ALWAYS, Ty, VCC_R,
};
use crate::{Arch, Feature, Target};

/// Which memory an instruction accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryKind {
    /// Scalar memory through the scalar cache.
    Smem,
    /// Global memory by vector addresses.
    Global,
    /// Global, scratch or LDS, as each address decides.
    Flat,
    /// Private memory of the work-items.
    Scratch,
    /// The workgroup's LDS.
    Lds,
    /// Global data share.
    Gds,
    /// Buffers (MUBUF, MTBUF).
    Buffer,
    /// Images.
    Image,
}

/// Its effect there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryOperation {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and writes in one step.
    Atomic {
        /// The old value comes back.
        returns: bool,
    },
}

/// A memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryAccess {
    /// Which memory.
    pub kind: MemoryKind,
    /// The kind of access.
    pub operation: MemoryOperation,
    /// Registers of data a lane (or, for scalar memory, the wave) moves; sub-dword accesses count as one.
    pub dwords: u8,
}

/// The effects of one instruction, implicit ones included.
///
/// They are safe for liveness: every register that may be read is in `reads`, and `writes` has only registers
/// whose whole old value is gone afterwards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Registers that may be read. A partly written register is read too where the instruction merges (d16,
    /// SDWA preserve, `s_cmov`, `v_writelane_b32`), but not merely because inactive lanes keep their value.
    pub reads: RegSet,
    /// Registers whose old value is wholly replaced, whatever EXEC holds: scalars, mostly.
    pub writes: RegSet,
    /// Registers of which some lanes or bits may be replaced: vector registers, as inactive lanes keep their
    /// values.
    pub partial: RegSet,
    /// Registers of `partial` of which every active lane gets 32 new bits: full writes where EXEC is known to
    /// be full.
    pub partial_by_exec: RegSet,
    /// The memory access, if there is one.
    pub memory: Option<MemoryAccess>,
    /// Bumps VM_CNT.
    pub vm_cnt: bool,
    /// Bumps VS_CNT: stores, and atomics without result, where they are not counted by VM_CNT.
    pub vs_cnt: bool,
    /// Bumps LGKM_CNT.
    pub lgkm_cnt: bool,
    /// Bumps EXP_CNT (GDS and exports).
    pub exp_cnt: bool,
    /// Touches registers whose numbers only M0 or another register tells (`s_movrels_b32`, VGPR indexing):
    /// the sets are then not complete.
    pub indirect: bool,
    /// Does something beyond registers and memory: messages, barriers, cache control, traps, time.
    pub side_effect: bool,
}

impl Effects {
    /// Every register that may change: `writes` and `partial`.
    pub fn changes(&self) -> RegSet {
        let mut changes = self.writes;
        changes.union_with(&self.partial);
        changes
    }
}

impl Inst {
    /// The registers that the instruction reads and writes, and the counters that it advances.
    ///
    /// Effects of a called function, of the trap handler and of what a branch leads to are not included. An
    /// instruction that the processor lacks reads everything.
    pub fn effects(&self, target: impl Into<Target>) -> Effects {
        let target = target.into();
        let Some(entry) = Tables::of(target).by_ops(self.op, self.mods.dual, self.encoding) else {
            return Effects { reads: RegSet::all(), indirect: true, side_effect: true, ..Effects::default() };
        };
        let mut effects = Effects::default();
        self.touch(target, entry, &mut effects);
        effects.indirect = entry.flags.has(INDIRECT);
        effects.side_effect = entry.flags.has(SIDE_EFFECT) || entry.flags.has(GDS_ONLY);
        self.memory_effects(target.arch, entry, &mut effects);
        effects
    }

    /// The operands that are masks with a bit a lane, as bits by their numbers. Carries of additions are
    /// such, the condition of `v_cndmask_b32`, and results of vector comparisons.
    pub fn lane_masks(&self, target: impl Into<Target>) -> u8 {
        let entry = Tables::of(target.into()).by_ops(self.op, self.mods.dual, self.encoding);
        let specs = entry.into_iter().flat_map(|entry| entry.specs.iter().enumerate());
        specs.filter(|(_, spec)| spec.ty == Ty::Lanes).fold(0, |bits, (index, _)| bits | 1 << index)
    }

    /// Notes every register that is read or written.
    fn touch(&self, target: Target, entry: &Entry, effects: &mut Effects) {
        let keeps_lanes = entry.flags.has(ANY_LANE) || self.skips_lanes();
        let mask = u16::from(target.wave.mask_sgprs());
        let merges = entry.flags.has(HALF) || entry.flags.has(CONDITIONAL) || self.merges(entry);
        for (index, operand) in self.operands.iter().enumerate() {
            let written = matches!(operand.access, Access::Write | Access::ReadWrite);
            let read = matches!(operand.access, Access::Read | Access::ReadWrite);
            let keeps_bits = written && merges && index == 0;
            let (first, limit) = match operand.value {
                Value::Scalar(first) => (Reg::scalar(first), u16::from(scalar::COUNT - first)),
                Value::Vgpr(first) => (Reg::vgpr(first), 256 - u16::from(first)),
                Value::Agpr(first) => (Reg::agpr(first), 256 - u16::from(first)),
                Value::Special(Special::Vccz) => {
                    effects.reads.insert_run(Reg::VCC_LO, mask);
                    continue;
                }
                Value::Special(Special::Execz) => {
                    effects.reads.insert_run(Reg::EXEC_LO, mask);
                    continue;
                }
                Value::Special(Special::Scc) => {
                    effects.reads.insert_run(Reg::SCC, 1);
                    continue;
                }
                Value::Special(Special::LdsDirect) => {
                    effects.reads.insert_run(Reg::M0, 1);
                    continue;
                }
                // Addresses, which are read.
                Value::Vgprs(registers) => {
                    let named = registers.into_iter().take(operand.dwords.into());
                    named.for_each(|register| effects.reads.insert_run(Reg::vgpr(register), 1));
                    continue;
                }
                _ => continue,
            };
            let count = u16::from(operand.dwords).min(limit);
            if read || keeps_bits {
                effects.reads.insert_run(first, count);
            }
            match (written, operand.value) {
                (false, _) => {}
                (true, Value::Scalar(_)) if keeps_bits => effects.partial.insert_run(first, count),
                (true, Value::Scalar(_)) => effects.writes.insert_run(first, count),
                (true, _) => {
                    effects.partial.insert_run(first, count);
                    if !keeps_bits && !keeps_lanes {
                        effects.partial_by_exec.insert_run(first, count);
                    }
                }
            }
        }
        self.implicit(target, entry, effects);
    }

    /// Whether the first operand keeps some of its bits in the active lanes.
    fn merges(&self, entry: &Entry) -> bool {
        // VOP3 results of 16 bits go to one half; which instructions zero the other half differs, so none is
        // trusted.
        if self.encoding == Encoding::Vop3 && entry.flags.has(OPSEL) {
            return true;
        }
        // The other half of a register stays.
        if entry.halves & 8 != 0 {
            return true;
        }
        self.mods
            .sdwa
            .is_some_and(|sdwa| sdwa.dst_unused == SdwaUnused::Preserve && sdwa.dst_sel != SdwaSel::Dword)
    }

    /// Whether lanes that EXEC enables may keep their old value: DPP with masked rows or lanes out of range.
    fn skips_lanes(&self) -> bool {
        self.mods.dpp.is_some_and(|dpp| dpp.row_mask != 0xf || dpp.bank_mask != 0xf || !dpp.bound_ctrl)
    }

    fn implicit(&self, target: Target, entry: &Entry, effects: &mut Effects) {
        let arch = target.arch;
        let flags = entry.flags;
        let has = |flag: Flags| flags.has(flag);
        // Waves of 32 lanes ignore the upper halves (RDNA 2 ISA, sections 2.1 and 3.9).
        let mask = u16::from(target.wave.mask_sgprs());
        if !self.encoding.is_scalar() || has(EXEC_R) {
            effects.reads.insert_run(Reg::EXEC_LO, mask);
        }
        if has(SCC_R) {
            effects.reads.insert_run(Reg::SCC, 1);
        }
        if has(VCC_R) {
            effects.reads.insert_run(Reg::VCC_LO, mask);
        }
        let reaches_lds = matches!(self.encoding, Encoding::Ds | Encoding::Flat) && !has(NO_GDS);
        let is_limited = reaches_lds && arch.has(Feature::LdsLimitInM0);
        if has(M0_R) || self.mods.gds || self.mods.lds || is_limited {
            effects.reads.insert_run(Reg::M0, 1);
        }
        // Rounding, denormals and exceptions come from MODE; telling which instruction needs which is not
        // worth it.
        if has(MODE_R) || has(MODE_W) || self.encoding.is_vector_alu() {
            effects.reads.insert_run(Reg::MODE, 1);
        }
        if self.op == Op::s_getreg_b32 {
            // HW_REG_STATUS shows SCC, EXECZ and VCCZ.
            effects.reads.insert_run(Reg::SCC, 1);
            effects.reads.insert_run(Reg::EXEC_LO, mask);
            effects.reads.insert_run(Reg::VCC_LO, mask);
        }
        // Scratch addresses are relative to FLAT_SCRATCH, except where it is architected (gfx940); on GFX10
        // it is no operand.
        let through_flat_scratch = matches!(self.encoding, Encoding::Flat | Encoding::Scratch);
        let is_operand = arch.generation().flat_scratch_registers().is_none();
        if through_flat_scratch && is_operand && !arch.has(Feature::ArchitectedFlatScratch) {
            effects.reads.insert_run(Reg::scalar(scalar::FLAT_SCRATCH), 2);
        }
        if has(EXEC_W) {
            // Scalar instructions write as much of it as their operands are wide.
            let scalar = self
                .operands
                .first()
                .filter(|operand| self.encoding.is_scalar() && operand.access == Access::Write);
            let width = scalar.map_or(target.wave.mask_sgprs(), |operand| operand.dwords);
            effects.writes.insert_run(Reg::EXEC_LO, u16::from(width.clamp(1, 2)));
        }
        if has(SCC_W) {
            effects.writes.insert_run(Reg::SCC, 1);
        }
        if has(M0_W) {
            effects.partial.insert_run(Reg::M0, 1);
            effects.reads.insert_run(Reg::M0, 1);
        }
        if has(MODE_W) {
            effects.partial.insert_run(Reg::MODE, 1);
        }
    }

    fn memory_effects(&self, arch: Arch, entry: &Entry, effects: &mut Effects) {
        let flags = entry.flags;
        let kind = match self.encoding {
            Encoding::Smem => MemoryKind::Smem,
            Encoding::Ds if self.mods.gds => MemoryKind::Gds,
            Encoding::Ds => MemoryKind::Lds,
            Encoding::Flat => MemoryKind::Flat,
            Encoding::Global => MemoryKind::Global,
            Encoding::Scratch => MemoryKind::Scratch,
            Encoding::Mubuf | Encoding::Mtbuf => MemoryKind::Buffer,
            encoding if encoding.is_image() => MemoryKind::Image,
            _ => {
                effects.lgkm_cnt |= matches!(
                    self.op,
                    Op::s_sendmsg | Op::s_sendmsghalt | Op::s_sendmsg_rtn_b32 | Op::s_sendmsg_rtn_b64
                );
                effects.exp_cnt |= matches!(self.encoding, Encoding::Exp | Encoding::Ldsdir);
                return;
            }
        };
        match kind {
            MemoryKind::Smem | MemoryKind::Lds => effects.lgkm_cnt = true,
            MemoryKind::Gds => (effects.lgkm_cnt, effects.exp_cnt) = (true, true),
            MemoryKind::Flat => (effects.vm_cnt, effects.lgkm_cnt) = (true, true),
            _ => effects.vm_cnt = true,
        }
        let returns = self.mods.glc || flags.has(RETURNS);
        let operation = match () {
            () if flags.has(ATOMIC) => MemoryOperation::Atomic { returns },
            () if flags.has(STORE) => MemoryOperation::Store,
            () if flags.has(LOAD) => MemoryOperation::Load,
            () => return,
        };
        let is_stored = match operation {
            MemoryOperation::Store => true,
            MemoryOperation::Atomic { returns } => !returns,
            MemoryOperation::Load => false,
        };
        if is_stored && effects.vm_cnt && arch.has(Feature::StoreCounter) {
            (effects.vm_cnt, effects.vs_cnt) = (false, true);
        }
        let is_data = |operand: &&Operand| match operand.slot {
            Slot::Data0 | Slot::Data1 => operation != MemoryOperation::Load,
            Slot::Vdst => operation == MemoryOperation::Load,
            Slot::Sdata | Slot::Vdata => true,
            _ => false,
        };
        let dwords = self.operands.iter().filter(is_data).map(|operand| operand.dwords).sum::<u8>();
        let to_lds = self.mods.lds || flags.has(TO_LDS_ALWAYS) || flags.has(FROM_LDS);
        effects.memory = Some(MemoryAccess { kind, operation, dwords: dwords.max(u8::from(to_lds)).max(1) });
    }
}
