//! Counters in SGPRs, without waiting for what tells where they go.
//!
//! The record's address is needed when the wave ends. What it follows from comes by one load: the launcher puts the buffer's
//! address and the distances between records into the argument ([`Layout::argument`](crate::counters::Layout::argument)), so the
//! head of the buffer need not be read. At entry that load is begun; once the program has begun its own, the ids are put by that it
//! overwrites. With its own arguments ours have come. Where it waits for these or for memory, counters are cleared and the record's
//! offset is worked out (`plan::later`); where no such wait serves, when the wave ends.
//!
//! The record is one lane's: counters are moved to VGPRs, and these are stored up to four at a time. Its address is a pair of
//! SGPRs, the buffer's, and an offset of 32 bits. That offset is the last word of the record, too: it is never zero, and tells that
//! the wave ended.
//!
//! That a scalar load is under way meanwhile makes no wait of the program too short: see [`site_code`](super::site_code).

use amdgpu_isa::{Arch, Feature, Op, Value};

use super::sequence::{Sequence, sgpr};
use super::stores::{Store, Stores};
use crate::counters::HEADER_BYTES;

/// Registers that hold a wave's ids, and the argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deferred {
    /// First of eight with the argument: the buffer's address, bytes between workgroups in x (where the record's offset comes to
    /// be), y and z, two words of which a wave's number follows, bytes between records.
    block: u8,
    /// Ids of the wave's first work-item. Where all come in one VGPR (gfx90a and later), the first has that.
    ids: [u8; 3],
    /// Ids of the workgroup, where the program overwrites those that it was started with.
    workgroup: [u8; 3],
}

/// The lowest SGPR that it may take: those below are filled when a wave starts.
const LOWEST: u8 = 24;

impl Deferred {
    /// Takes registers from a list; none where there are too few that cost no occupancy.
    pub(super) fn take(arch: Arch, sgprs: &mut Vec<u8>) -> Option<Self> {
        let highest = sgprs_that_cost_nothing(arch);
        let mut left: Vec<u8> =
            sgprs.iter().copied().filter(|&register| (LOWEST..highest).contains(&register)).collect();
        left.sort_unstable();
        let mut tuple = |count: u8, align: u8| {
            let whole = |run: &[u8]| run[0].is_multiple_of(align) && run[run.len() - 1] == run[0] + count - 1;
            let at = left.windows(usize::from(count)).position(whole)?;
            left.drain(at..at + usize::from(count)).next()
        };
        let block = tuple(8, 4)?;
        let mut single = || tuple(1, 1);
        let workgroup = [single()?, single()?, single()?];
        let first = single()?;
        let ids =
            if arch.has(Feature::PackedWorkItemIds) { [first; 3] } else { [first, single()?, single()?] };
        let deferred = Self { block, ids, workgroup };
        sgprs.retain(|register| !(LOWEST..highest).contains(register) || left.contains(register));
        Some(deferred)
    }

    /// In SGPRs from one on that is a multiple of four, [`Deferred::REGISTERS`] of them: for a prologue that works out all by
    /// itself, and keeps nothing of the workgroup.
    pub(super) const fn at(arch: Arch, first: u8) -> Self {
        let id = first + 8;
        let ids = if arch.has(Feature::PackedWorkItemIds) { [id; 3] } else { [id, id + 1, id + 2] };
        Self { block: first, ids, workgroup: [first; 3] }
    }

    /// How many those are at most.
    pub(super) const REGISTERS: u8 = 11;

    /// At entry: begins the load of the argument, at a byte of what a pair points to.
    pub(super) fn begin_load(&self, code: &mut Sequence, (pointer, offset): (u8, u32)) {
        code.load(Op::s_load_dwordx8, self.block, pointer, offset);
    }

    /// Puts the ids of the wave's first work-item by.
    pub(super) fn keep_work_item(&self, code: &mut Sequence, arch: Arch) {
        for (vgpr, &id) in (0..id_vgprs(arch)).zip(&self.ids) {
            code.readfirstlane(id, vgpr);
        }
    }

    /// Puts one of the three ids of the workgroup by, from the register where it arrived.
    pub(super) fn keep_workgroup(&self, code: &mut Sequence, axis: usize, from: u8) {
        code.sop1(Op::s_mov_b32, sgpr(self.workgroup[axis]), sgpr(from));
    }

    /// Works out the record's offset, when the argument has come.
    ///
    /// x · stride_x + y · stride_y + z · stride_z of the workgroup's ids, and its wave's number times the bytes between records.
    pub(super) fn offset(&self, code: &mut Sequence, arch: Arch, workgroup: [u8; 3], stay: [bool; 3]) {
        self.offset_of_workgroup(code, workgroup, stay);
        self.wave_number(code, arch);
        self.offset_of_wave(code);
    }

    fn offset_of_workgroup(&self, code: &mut Sequence, workgroup: [u8; 3], stay: [bool; 3]) {
        let [x, y, z] =
            std::array::from_fn(|axis| sgpr(if stay[axis] { workgroup[axis] } else { self.workgroup[axis] }));
        let [stride_x, stride_y, stride_z] = [2, 3, 4].map(|word| self.block + word);
        multiply(code, stride_x, x);
        multiply(code, stride_y, y);
        multiply(code, stride_z, z);
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
            code.sop2(Op::s_lshr_b32, first, sgpr(first), Value::int(6));
        }
    }

    fn offset_of_wave(&self, code: &mut Sequence) {
        let [stride_x, first, stride] = [2, 5, 7].map(|word| self.block + word);
        multiply(code, first, sgpr(stride));
        add(code, stride_x, first);
    }

    /// When the argument has come: the record's address into a pair, which it returns, and if a register is given the wave's number
    /// in its workgroup times so many bytes into that. The ids of the workgroup are where they arrived.
    pub(super) fn resolve(
        &self,
        code: &mut Sequence,
        arch: Arch,
        workgroup: [u8; 3],
        image: Option<(u8, u32)>,
    ) -> u8 {
        self.offset_of_workgroup(code, workgroup, [true; 3]);
        self.wave_number(code, arch);
        if let Some((to, bytes)) = image {
            code.sop2(Op::s_mul_i32, to, sgpr(self.block + 5), Value::int(bytes as i32));
        }
        self.offset_of_wave(code);
        self.address(code)
    }

    /// When a wave ends: waits for the argument and works out the offset, where that has not been done.
    pub(super) fn finish(&self, code: &mut Sequence, arch: Arch) {
        code.wait_scalar_loads();
        self.offset(code, arch, [0; 3], [false; 3]);
    }

    /// Writes a record from one lane.
    pub(super) fn write(&self, code: &mut Sequence, arch: Arch, stores: &Stores) {
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
    pub(super) fn address(&self, code: &mut Sequence) -> u8 {
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

/// VCC, FLAT_SCRATCH and XNACK_MASK, which are counted with the SGPRs.
pub(super) const SPECIAL_SGPRS: u32 = 6;

/// SGPRs below this number cost no occupancy, on a SIMD that is full of waves.
fn sgprs_that_cost_nothing(arch: Arch) -> u8 {
    // Of 800 a SIMD, 8 waves or 10 take a share each in granules of 16, 6 of it for special registers. The table would allow a few
    // more to 8 waves.
    let share = 800 / arch.limits().waves_per_simd / 16 * 16;
    (share - SPECIAL_SGPRS) as u8
}

/// VGPRs in which ids of work-items arrive.
pub(super) fn id_vgprs(arch: Arch) -> u8 {
    if arch.has(Feature::PackedWorkItemIds) { 1 } else { 3 }
}

/// Clears counters.
pub(super) fn clear(code: &mut Sequence, counters: &[u8]) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_whole_tuples_above_those_of_a_start_and_below_those_that_cost_occupancy() {
        for (arch, count) in [(Arch::Gfx90a, 12), (Arch::Gfx908, 14)] {
            let mut sgprs: Vec<u8> = (0..24).chain(26..102).collect();
            let deferred = Deferred::take(arch, &mut sgprs).unwrap();
            let block = deferred.block;
            assert_eq!(block % 4, 0);
            let taken: Vec<u8> = (0..102)
                .filter(|register| !(24..26).contains(register) && !sgprs.contains(register))
                .collect();
            assert_eq!(taken.len(), count);
            assert!(taken.iter().all(|register| (26..74).contains(register)));
            assert!((block..block + 8).all(|register| taken.contains(&register)));
            // Too few: nothing is taken.
            let mut few: Vec<u8> = (0..34).collect();
            assert!(Deferred::take(arch, &mut few).is_none() && few.len() == 34);
        }
    }
}
