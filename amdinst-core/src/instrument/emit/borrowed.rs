//! Registers that are in use, saved before the code of a site or a block and restored behind it.
//!
//! Counters in LDS and in memory need two VGPRs that nothing uses, and a third to keep SGPRs. Kernels tuned
//! by hand leave one or none of
//! 512. Many compiled kernels leave none below the next step of occupancy. If no way with unused VGPRs keeps
//!    the occupancy, sites borrow:
//!
//! 1. SGPRs: lanes of the spill VGPR keep them, whatever EXEC is (`v_writelane` before the site,
//!    `v_readlane` behind it).
//! 2. One unused VGPR: it is the spill VGPR and one of the two. It keeps the lowest eight lanes of the
//!    other one, moved by one DPP shift each way.
//! 3. No unused VGPR, counters in memory: SGPRs keep the first lanes of two VGPRs, and each counter has an
//!    atomic operation of its own.
//! 4. Too few SGPRs as well: the spill VGPR is in use itself. Its lowest 32 lanes change places with those
//!    of the probes through scratch memory, behind the kernel's own (`plan/scratch`). Only here does a site
//!    wait (`vmcnt(0)`), before and after, and it needs one dead pair of SGPRs, or VCC, for EXEC.
//!
//! `--plan` tells what is borrowed, what it costs and how the scratch memory grows.

use amdgpu_isa::{Op, Value};

use super::sequence::{Sequence, sgpr};
use crate::instrument::registers::layout::{
    BORROWED_LANES, BorrowedVgprs, CounterPlace, RecordPlace, Reserved, SPILL_LANES, SPILLED_SGPRS, Temps,
};

/// Operations on scratch memory where the spill VGPR is borrowed.
pub(crate) const SCRATCH_OPERATIONS: u32 = 3;

/// What one site or block borrows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Borrowed<'a> {
    pub(crate) reserved: &'a Reserved,
    pub(crate) temps: &'a Temps,
    pub(crate) place: CounterPlace,
}

impl Borrowed<'_> {
    /// Takes SGPRs, and the spill VGPR before that: what stands first of all. EXEC is as it was.
    pub(crate) fn take(&self, code: &mut Sequence) {
        let Some(spill) = self.reserved.spill else { return };
        if let (Some(slots), Some(exec)) = (self.reserved.scratch, self.temps.pair) {
            code.move_mask(sgpr(exec), Value::EXEC);
            code.enable_lanes(SPILL_LANES, 0);
            if let Some(address) = self.kept_address() {
                code.sop1(Op::s_mov_b32, Value::M0, sgpr(address));
            }
            let scratch = code.scratch(slots, self.temps.address);
            code.scratch_store(spill, scratch.kept);
            code.scratch_load(spill, scratch.image);
            code.wait_vector_memory();
            code.move_mask(Value::EXEC, sgpr(exec));
        }
        if self.temps.wait {
            code.wait_scalar_loads();
        }
        for (lane, &register) in (SPILLED_SGPRS..).zip(&self.temps.borrowed) {
            code.writelane(spill, sgpr(register), lane);
        }
    }

    /// Gives back what `take` took: what stands last of all. EXEC is as it was, and in the pair.
    pub(crate) fn give_back(&self, code: &mut Sequence) {
        let Some(spill) = self.reserved.spill else { return };
        for (lane, &register) in (SPILLED_SGPRS..).zip(&self.temps.borrowed) {
            code.readlane(register, spill, lane);
        }
        if let (Some(slots), Some(exec)) = (self.reserved.scratch, self.temps.pair) {
            code.enable_lanes(SPILL_LANES, 0);
            let scratch = code.scratch(slots, self.temps.address);
            code.scratch_load(spill, scratch.kept);
            code.wait_vector_memory();
            if let Some(address) = self.kept_address() {
                code.sop1(Op::s_mov_b32, sgpr(address), Value::M0);
            }
            code.move_mask(Value::EXEC, sgpr(exec));
        }
    }

    /// The register for the address of scratch memory, where M0 keeps its value.
    fn kept_address(&self) -> Option<u8> {
        self.temps.address.filter(|_| self.temps.m0_keeps_address)
    }

    /// Takes lanes of a VGPR. EXEC is changed.
    pub(crate) fn take_lanes(&self, code: &mut Sequence) {
        if let Some((borrowed, spill)) = self.borrowed_vgpr() {
            code.enable_lanes(2 * BORROWED_LANES, 0);
            code.low_lanes_up(spill, borrowed);
        }
    }

    /// Gives them back. EXEC is changed.
    pub(crate) fn return_lanes(&self, code: &mut Sequence) {
        if let Some((borrowed, spill)) = self.borrowed_vgpr() {
            code.enable_lanes(2 * BORROWED_LANES, 0);
            code.lanes_back_down(borrowed, spill);
        }
    }

    /// Whether the lanes of the data VGPR hold nothing from one execution to the next: with counters in lanes
    /// these are others at each place.
    pub(crate) fn forgets_data(&self) -> bool {
        matches!(self.place, CounterPlace::Lanes { .. }) || self.borrows_data()
    }

    /// Whether lanes of the data VGPR are the program's between sites.
    pub(crate) fn borrows_data(&self) -> bool {
        self.reserved.borrowed_vgprs == BorrowedVgprs::One && self.place == CounterPlace::Lds
    }

    /// The one VGPR that is borrowed, and the one that keeps its lanes.
    fn borrowed_vgpr(&self) -> Option<(u8, u8)> {
        let Reserved { offsets, data, spill, borrowed_vgprs, .. } = *self.reserved;
        let borrowed = match (borrowed_vgprs, self.place) {
            (BorrowedVgprs::One, CounterPlace::Lds) => data,
            (BorrowedVgprs::One, CounterPlace::Memory) => offsets,
            _ => return None,
        };
        Some((borrowed, spill?))
    }

    /// Adds the increments in the enabled lanes of the data VGPR to the record, from byte `offset` on.
    pub(crate) fn add_to_memory(&self, code: &mut Sequence, offset: u32) {
        let Reserved { offsets, data, borrowed_vgprs, .. } = *self.reserved;
        let (record, is_borrowed) = (self.record(code), borrowed_vgprs == BorrowedVgprs::One);
        if is_borrowed {
            code.low_lane_offsets(offsets);
        }
        if offset < code.offset_end() {
            code.global_atomic_add(offsets, data, record, offset as i32);
        } else {
            // Beyond the immediate's reach: move these lanes' offsets there and back.
            code.vop2(Op::v_add_u32, offsets, Value::int(offset as i32), offsets);
            code.global_atomic_add(offsets, data, record, 0);
            if !is_borrowed {
                code.vop2(Op::v_subrev_u32, offsets, Value::int(offset as i32), offsets);
            }
        }
    }

    /// Takes the first lane of two VGPRs, adds `increments` to these words of the record from byte `offset`
    /// on, each when it has been worked out, and gives the lanes back. EXEC must be in the pair, and is
    /// changed.
    pub(crate) fn add_one_by_one(
        &self,
        code: &mut Sequence,
        offset: u32,
        words: u32,
        increments: impl FnOnce(&mut Sequence, &mut dyn FnMut(&mut Sequence, u32, Value)),
    ) {
        let [kept_offset, kept_data] =
            self.temps.lanes.map(|kept| code.required("SGPR for a lane's value", kept));
        let Reserved { offsets, data, .. } = *self.reserved;
        let record = self.record(code);
        code.readlane(kept_offset, offsets, 0);
        code.readlane(kept_data, data, 0);
        let (far, near) = if offset + 4 * words <= code.offset_end() { (0, offset) } else { (offset, 0) };
        code.enable_lanes(1, 0);
        code.v_mov(offsets, Value::int(far as i32));
        increments(code, &mut |code, word, increment| {
            code.v_mov(data, increment);
            code.global_atomic_add(offsets, data, record, (near + 4 * word) as i32);
        });
        code.writelane(offsets, sgpr(kept_offset), 0);
        code.writelane(data, sgpr(kept_data), 0);
    }

    /// The pair with the record's address.
    fn record(&self, code: &mut Sequence) -> u8 {
        match self.reserved.record {
            RecordPlace::Sgprs(record) => record,
            RecordPlace::Spilled => code.required("pair for the record's address", self.temps.record),
        }
    }
}
