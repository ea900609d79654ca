//! Counters in SGPRs, without waiting for what tells where they go.
//!
//! The record's address is needed when the wave ends. What it follows from comes by one load: the launcher
//! puts the buffer's address and the distances between records into the argument
//! ([`Layout::argument`](crate::counters::Layout::argument)), so the head of the buffer need not be read. At
//! entry that load is begun; once the program has begun its own, the ids are put by that it overwrites. With
//! its own arguments ours have come. Where it waits for these or for memory, counters are cleared and the
//! record's offset is worked out (`plan::later`); where no such wait serves, when the wave ends.
//!
//! The record is one lane's: counters are moved to VGPRs, and these are stored up to four at a time. Its
//! address is a pair of SGPRs, the buffer's, and an offset of 32 bits. That offset is the last word of the
//! record, too: it is never zero, and tells that the wave ended.
//!
//! That a scalar load is under way meanwhile makes no wait of the program too short: see
//! [`site`](super::site).

use amdgpu_isa::{Arch, Feature, Op, Value};

use super::sequence::{Sequence, sgpr};
use super::workgroup::WorkgroupIds;
use crate::counters::HEADER_BYTES;
use crate::instrument::registers::deferred::{Deferred, id_vgprs};
use crate::instrument::registers::stores::{Store, Stores};

impl Deferred {
    /// At entry: begins the load of the argument, at a byte of what a pair points to.
    pub(crate) fn begin_load(&self, code: &mut Sequence, (pointer, offset): (u8, u32)) {
        code.load(Op::s_load_dwordx8, self.block, pointer, offset);
    }

    /// Puts the ids of the wave's first work-item by.
    pub(crate) fn keep_work_item(&self, code: &mut Sequence, arch: Arch) {
        for (vgpr, &id) in (0..id_vgprs(arch)).zip(&self.ids) {
            code.readfirstlane(id, vgpr);
        }
    }

    /// Puts one of the three ids of the workgroup by, from the register where it arrived.
    pub(crate) fn keep_workgroup(&self, code: &mut Sequence, axis: usize, from: u8) {
        code.sop1(Op::s_mov_b32, sgpr(self.workgroup[axis]), sgpr(from));
    }

    /// Works out the record's offset, when the argument has come.
    ///
    /// x · stride_x + y · stride_y + z · stride_z of the workgroup's ids, and its wave's number times the
    /// bytes between records.
    pub(crate) fn offset(&self, code: &mut Sequence, arch: Arch, workgroup: WorkgroupIds) {
        self.offset_of_workgroup(code, workgroup);
        self.wave_number(code, arch);
        self.offset_of_wave(code);
    }

    /// The ids of the workgroup that have been put by, or where they stay.
    fn kept_workgroup(&self, arch: Arch) -> WorkgroupIds {
        match arch.has(Feature::WorkgroupIdsInTtmps) {
            true => WorkgroupIds::Ttmps,
            false => WorkgroupIds::Sgprs(self.workgroup),
        }
    }

    fn offset_of_workgroup(&self, code: &mut Sequence, workgroup: WorkgroupIds) {
        let strides @ [stride_x, stride_y, stride_z] = [2, 3, 4].map(|word| self.block + word);
        for (axis, stride) in strides.into_iter().enumerate() {
            let id = workgroup.id(code, axis, self.workgroup[axis]);
            multiply(code, stride, id);
        }
        add(code, stride_x, stride_y);
        add(code, stride_x, stride_z);
    }

    /// The wave's number in its workgroup.
    fn wave_number(&self, code: &mut Sequence, arch: Arch) {
        let [first, second] = [5, 6].map(|word| self.block + word);
        let [id_x, id_y, id_z] = self.ids;
        if arch.has(Feature::PackedWorkItemIds) {
            multiply(code, first, sgpr(id_x));
            code.sop2(Op::s_lshr_b32, first, sgpr(first), sgpr(second));
        } else {
            // Flat id of the wave's first work-item: z · size_xy + y · size_x + x.
            multiply(code, first, sgpr(id_y));
            multiply(code, second, sgpr(id_z));
            add(code, first, second);
            add(code, first, id_x);
            code.sop2(Op::s_lshr_b32, first, sgpr(first), code.lane_bits());
        }
    }

    fn offset_of_wave(&self, code: &mut Sequence) {
        let [stride_x, first, stride] = [2, 5, 7].map(|word| self.block + word);
        multiply(code, first, sgpr(stride));
        add(code, stride_x, first);
    }

    /// When the argument has come: the record's address into a pair, which it returns, and if a register is
    /// given the wave's number in its workgroup times so many bytes into that. The ids of the workgroup are
    /// where they arrived.
    pub(crate) fn resolve(
        &self,
        code: &mut Sequence,
        arch: Arch,
        workgroup: WorkgroupIds,
        image: Option<(u8, u32)>,
    ) -> u8 {
        self.offset_of_workgroup(code, workgroup);
        self.wave_number(code, arch);
        if let Some((to, bytes)) = image {
            code.sop2(Op::s_mul_i32, to, sgpr(self.block + 5), Value::int(bytes as i32));
        }
        self.offset_of_wave(code);
        self.address(code)
    }

    /// When a wave ends: waits for the argument and works out the offset, where that has not been done.
    pub(crate) fn finish(&self, code: &mut Sequence, arch: Arch) {
        code.wait_scalar_loads();
        self.offset(code, arch, self.kept_workgroup(arch));
    }

    /// Writes a record from one lane.
    pub(crate) fn write(&self, code: &mut Sequence, arch: Arch, stores: &Stores) {
        code.enable_lanes(1, 0);
        // The offset from the start of the buffer.
        code.v_add(stores.address, sgpr(self.block + 2), Value::int(HEADER_BYTES as i32));
        for Store { at, words, data } in &stores.stores {
            let mut vgprs = (*data..).zip(words).peekable();
            while let Some((vgpr, &word)) = vgprs.next() {
                let Some(register) = word else { continue };
                let next = vgprs.peek().and_then(|&(_, &next)| next);
                let is_pair = vgpr % 2 == 0 && register % 2 == 0 && next == Some(register + 1);
                if is_pair && arch.has(Feature::PackedSingles) {
                    code.v_mov_pair(vgpr, register);
                    vgprs.next();
                } else {
                    code.v_mov(vgpr, sgpr(register));
                }
            }
            code.global_store_words(words.len(), stores.address, *data, self.block, 4 * *at as i32);
        }
    }

    /// Makes the offset an address; the pair with it.
    pub(crate) fn address(&self, code: &mut Sequence) -> u8 {
        let (buffer, offset) = (self.block, self.block + 2);
        code.sop2(Op::s_add_u32, offset, sgpr(offset), Value::int(HEADER_BYTES as i32));
        code.sop2(Op::s_add_u32, buffer, sgpr(buffer), sgpr(offset));
        code.sop2(Op::s_addc_u32, buffer + 1, sgpr(buffer + 1), Value::int(0));
        buffer
    }
}

/// `to += what`.
fn add(code: &mut Sequence, to: u8, what: u8) {
    code.sop2(Op::s_add_u32, to, sgpr(to), sgpr(what));
}

/// `to *= by`.
fn multiply(code: &mut Sequence, to: u8, by: Value) {
    code.sop2(Op::s_mul_i32, to, sgpr(to), by);
}

/// Clears counters.
pub(crate) fn clear(code: &mut Sequence, counters: &[u8]) {
    let mut counters = counters.to_vec();
    counters.sort_unstable();
    let mut left = &counters[..];
    while let [counter, rest @ ..] = left {
        left = match rest {
            [next, behind @ ..] if counter % 2 == 0 && *next == counter + 1 => {
                code.sop1(Op::s_mov_b64, sgpr(*counter), Value::int(0));
                behind
            }
            _ => {
                code.sop1(Op::s_mov_b32, sgpr(*counter), Value::int(0));
                rest
            }
        };
    }
}
