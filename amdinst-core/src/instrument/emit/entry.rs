//! The prologue: finds the wave's record and clears the counters.
//!
//! It runs with the registers of the *instrumented* descriptor, which enables the workgroup ids, the
//! work-item ids, the kernarg pointer, and where scratch memory is if sites need to know, and leaves the
//! registers as the *original* descriptor would have had them.

use amdgpu_isa::{Arch, Feature, LAST_SGPR, Op, Value};
use amdgpu_object::KernelDescriptor;

use super::assembler::{Assembled, Assembler};
use super::deferred;
use super::sequence::{EmitError, Sequence, sgpr};
use super::site::BASIC_COUNTERS;
use super::wave_index::WaveIndex;
use super::workgroup::WorkgroupIds;
use crate::counters::HEADER_BYTES;
use crate::instrument::registers::deferred::Deferred;
use crate::instrument::registers::layout::{
    BEGIN_WORD, BeginPlace, BorrowedVgprs, RecordPlace, Reserved, SPILL_LANES, SPILLED_RECORD, ScratchSlots,
};
use crate::instrument::registers::lds::{LdsImages, PACKET_GROUP_SEGMENT_SIZE, Start};

/// All that a prologue depends on.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) arch: Arch,
    pub(crate) assembler: &'a Assembler,
    pub(crate) original: KernelDescriptor,
    pub(crate) instrumented: KernelDescriptor,
    pub(crate) reserved: &'a Reserved,
    /// `offsets` must hold the lane offsets from here on.
    pub(crate) keep_offsets: bool,
    /// Where the wave's image of its record is in LDS.
    pub(crate) lds: Option<LdsImages>,
    pub(crate) buffer: Buffer,
    pub(crate) record_stride: u32,
    /// What a prologue that leaves the record's address for later need not do.
    pub(crate) left: Left,
    /// From this SGPR on the program uses none, where the prologue should keep to those: what its vector
    /// instructions read, the program would have to wait for ([`Feature::ScalarReadHazard`]).
    pub(crate) first_unused: Option<u8>,
}

/// What the prologue of a kernel need not do that leaves its record's address for later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Left {
    /// Putting by ids of the workgroup.
    pub(crate) workgroup: [bool; 3],
    /// Putting by those of the work-items, and clearing the bits of v0 that the original did not ask for.
    pub(crate) work_item: bool,
    /// Clearing counters.
    pub(crate) clear: bool,
}

/// Where the buffer's address is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Buffer {
    /// At this byte of the kernarg segment.
    Argument(u32),
    /// In the variable.
    Variable,
}

/// Where the variable begins, in memory that starts as an empty buffer: its last two words are not read in a
/// header. That buffer, of one record, is what kernels count in while the variable is zero.
pub(crate) const VARIABLE_OFFSET: u32 = HEADER_BYTES - 8;

/// SGPRs that the prologue needs above those that are filled at entry.
const TEMPS: u8 = 16;
const _: () = assert!(Deferred::REGISTERS <= TEMPS);

/// SGPRs that a prologue uses for itself.
#[derive(Clone, Copy, Debug)]
struct Own {
    /// First of eight with the head of the buffer.
    header: u8,
    /// Pair with the address of the buffer, then of the record.
    buffer: u8,
    /// The wave's number.
    index: u8,
    /// Ids of the wave's first work-item. The last becomes the wave's number in its workgroup.
    ids: [u8; 3],
    /// Where the wave's image is in LDS.
    images: u8,
    /// Bytes between records, where no constant has them.
    stride: u8,
}

impl Own {
    /// Works out where the wave's image is in LDS.
    fn find_image(self, code: &mut Sequence, lds: &LdsImages) {
        let Self { images, ids: [.., number], .. } = self;
        match lds.start {
            Start::At(start) => code.sop1(Op::s_mov_b32, sgpr(images), Value::int(start as i32)),
            Start::AtEnd => {
                let all = Value::int((lds.image_bytes * lds.waves) as i32);
                code.sop2(Op::s_and_b32, images, sgpr(images), Value::int(-4));
                code.sop2(Op::s_sub_u32, images, sgpr(images), all);
            }
        }
        code.sop2(Op::s_mul_i32, number, sgpr(number), Value::int(lds.image_bytes as i32));
        code.sop2(Op::s_add_u32, images, sgpr(images), sgpr(number));
    }
}

impl Entry<'_> {
    /// The first SGPR of the prologue's own.
    pub(crate) fn first_temp(&self) -> u8 {
        let end = |descriptor: &KernelDescriptor| descriptor.system_sgprs(self.arch).end;
        let filled = end(&self.original).max(end(&self.instrumented));
        let first = |after: u8| after.next_multiple_of(4);
        let fits = |&unused: &u8| first(unused) + TEMPS <= LAST_SGPR + 1;
        first(self.first_unused.filter(fits).map_or(filled, |unused| unused.max(filled)))
    }

    /// SGPRs that must be allotted for the prologue to run, specials not counted.
    pub(crate) fn sgprs(&self) -> u32 {
        u32::from(self.first_temp() + TEMPS)
    }

    pub(crate) fn code(&self) -> Result<Vec<Assembled>, EmitError> {
        let mut code = Sequence::new(self.assembler);
        self.set_flat_scratch(&mut code);
        match (&self.reserved.deferred, self.buffer) {
            (Some(deferred), Buffer::Argument(_)) => self.begin(&mut code, deferred),
            _ => self.find_record(&mut code),
        }
        code.finish()
    }

    fn own(&self) -> Own {
        let first = self.first_temp();
        Own {
            header: first,
            buffer: first + 8,
            index: first + 10,
            ids: [first + 13, first + 12, first + 11],
            images: first + 14,
            stride: first + 15,
        }
    }

    /// Where the wave's private memory is, if sites need to know.
    fn set_flat_scratch(&self, code: &mut Sequence) {
        let (user, system) =
            (self.instrumented.user_sgprs(self.arch), self.instrumented.system_sgprs(self.arch));
        if let (Some(ScratchSlots { is_set_up: true, .. }), Some(init), Some(offset)) =
            (self.reserved.scratch, user.flat_scratch_init, system.private_segment_wavefront_offset)
        {
            code.set_flat_scratch(init, offset, self.own().header);
        }
    }

    /// Where the ids of the workgroup arrive.
    pub(crate) fn workgroup_ids(&self, code: &mut Sequence) -> WorkgroupIds {
        WorkgroupIds::of(&self.instrumented, self.arch).unwrap_or_else(|| {
            let missing = code.required("id of the workgroup", None);
            WorkgroupIds::Sgprs([missing; 3])
        })
    }

    /// The pair that points to the kernel's arguments, and the byte at which ours is.
    pub(crate) fn argument(&self, code: &mut Sequence) -> (u8, u32) {
        let pointer = self.instrumented.user_sgprs(self.arch).kernarg_segment_ptr;
        match self.buffer {
            Buffer::Argument(offset) => (code.required("pointer to the kernel's arguments", pointer), offset),
            Buffer::Variable => (code.required("argument with the buffer's address", None), 0),
        }
    }

    /// The prologue of a kernel that works out its record's address later.
    fn begin(&self, code: &mut Sequence, deferred: &Deferred) {
        let workgroup = self.workgroup_ids(code);
        let argument = self.argument(code);
        deferred.begin_load(code, argument);
        if !self.left.work_item {
            deferred.keep_work_item(code, self.arch);
        }
        for (axis, from) in workgroup.sgprs().into_iter().flatten().enumerate() {
            if !self.left.workgroup[axis] {
                deferred.keep_workgroup(code, axis, from);
            }
        }
        self.restore_sgprs(code);
        if !self.left.work_item {
            restore_work_item_ids(code, self.arch, &self.original);
        }
        if !self.left.clear {
            deferred::clear(code, &self.reserved.counters);
        }
    }

    /// The prologue of any other.
    fn find_record(&self, code: &mut Sequence) {
        let own = self.own();
        let wave = WaveIndex { header: own.header, ids: own.ids, index: own.index };
        let workgroup = self.workgroup_ids(code);
        let stride = self.load_buffer(code, own);
        self.load_header(code, own);
        wave.split(code, self.arch);
        code.wait_scalar_loads();
        wave.number(code, workgroup);
        if let Some(lds) = &self.lds {
            own.find_image(code, lds);
        }
        wave.record(code, own.buffer, stride);
        if self.lds.is_some() {
            // Added to an address in the image, this gives that in the record.
            code.sop2(Op::s_sub_u32, own.buffer, sgpr(own.buffer), sgpr(own.images));
            code.sop2(Op::s_subb_u32, own.buffer + 1, sgpr(own.buffer + 1), Value::int(0));
        }

        self.restore(code);
        // Reserved registers may lie among those that were filled, so they come last.
        if let Some(lds) = &self.lds {
            self.clear_image(code, own.images, lds.image_bytes / 4);
        }
        self.keep_record(code, own.buffer);
        self.clear_counters(code);
        self.store_spilled(code);
        if let Some(place) = self.reserved.begin {
            self.note_time(code, place, own.buffer);
        }
    }

    /// Begins the wave's ids, and loads the address of the buffer. The bytes between its records.
    fn load_buffer(&self, code: &mut Sequence, own: Own) -> Value {
        let Own { header, buffer, .. } = own;
        let stride = Value::int(self.record_stride as i32);
        match self.buffer {
            Buffer::Argument(_) => {
                let (kernarg, offset) = self.argument(code);
                code.load(Op::s_load_dwordx2, buffer, kernarg, offset);
                code.readfirstlane(own.ids[0], 0);
                code.wait_scalar_loads();
                stride
            }
            Buffer::Variable => {
                code.address_of_variable(buffer);
                code.load(Op::s_load_dwordx2, header, buffer, VARIABLE_OFFSET);
                code.readfirstlane(own.ids[0], 0);
                code.wait_scalar_loads();
                // Where it is zero, every wave's record is that of the empty buffer.
                code.sopc(Op::s_cmp_lg_u64, sgpr(header), Value::int(0));
                for half in [0, 1] {
                    code.sop2(Op::s_cselect_b32, buffer + half, sgpr(header + half), sgpr(buffer + half));
                }
                code.sop2(Op::s_cselect_b32, own.stride, stride, Value::int(0));
                sgpr(own.stride)
            }
        }
    }

    /// Begins to load the head of the buffer, and what the images in LDS follow from; meanwhile takes the
    /// other ids of the wave.
    fn load_header(&self, code: &mut Sequence, own: Own) {
        code.load(Op::s_load_dwordx8, own.header, own.buffer, 0);
        let packet = self.instrumented.user_sgprs(self.arch).dispatch_ptr;
        if let (Some(LdsImages { start: Start::AtEnd, .. }), Some(packet)) = (self.lds, packet) {
            code.load(Op::s_load_dword, own.images, packet, PACKET_GROUP_SEGMENT_SIZE);
        }
        if !self.arch.has(Feature::PackedWorkItemIds) {
            let [_, y, z] = own.ids;
            code.readfirstlane(z, 2);
            code.readfirstlane(y, 1);
        }
    }

    /// Leaves counters at zero, and what sites add in the lanes that they take it from.
    fn clear_counters(&self, code: &mut Sequence) {
        for &counter in &self.reserved.counters {
            code.sop1(Op::s_mov_b32, sgpr(counter), Value::int(0));
        }
        if self.lds.is_none() && self.reserved.borrowed_vgprs == BorrowedVgprs::One {
            // The increments of all counters but sums of lanes; the other lanes are spilled in.
            for lane in 0..BASIC_COUNTERS {
                code.writelane(self.reserved.data, Value::int(1), lane);
            }
        }
        if self.keep_offsets || !self.reserved.counter_vgprs.is_empty() {
            let exec = self.exec_copy(code);
            code.move_mask(sgpr(exec), Value::EXEC);
            code.enable_all_lanes();
            if self.keep_offsets {
                code.lane_offsets(self.reserved.offsets);
            }
            // The increments of all counters but sums of lanes.
            code.v_mov(self.reserved.data, Value::int(1));
            for &vgpr in &self.reserved.counter_vgprs {
                code.v_mov(vgpr, Value::int(0));
            }
            code.move_mask(Value::EXEC, sgpr(exec));
        }
    }

    /// Puts the probes' lanes of a borrowed spill VGPR into scratch memory.
    fn store_spilled(&self, code: &mut Sequence) {
        let (Some(slots), Some(spill)) = (self.reserved.scratch, self.reserved.spill) else { return };
        let mut pairs = self.spare_pairs();
        let [exec, address] = [(); 2].map(|()| code.required("spare pair for EXEC", pairs.next()));
        code.move_mask(sgpr(exec), Value::EXEC);
        code.enable_lanes(SPILL_LANES, 0);
        let scratch = code.scratch(slots, Some(address));
        code.scratch_store(spill, scratch.image);
        code.move_mask(Value::EXEC, sgpr(exec));
    }

    /// Puts the record's address, a pair, where it stays.
    pub(crate) fn keep_record(&self, code: &mut Sequence, address: u8) {
        match (self.reserved.record, self.reserved.spill) {
            (RecordPlace::Sgprs(record), _) if record != address => {
                code.sop1(Op::s_mov_b32, sgpr(record), sgpr(address));
                code.sop1(Op::s_mov_b32, sgpr(record + 1), sgpr(address + 1));
            }
            (RecordPlace::Spilled, Some(spill)) => {
                code.writelane(spill, sgpr(address), SPILLED_RECORD);
                code.writelane(spill, sgpr(address + 1), SPILLED_RECORD + 1);
            }
            _ => {}
        }
    }

    /// Zeroes the wave's image in LDS, but for the flag that says that the record was written, and leaves its
    /// addresses in `offsets`, and ones in `data`: the increments of all counters but sums of lanes. `data`
    /// may be borrowed: it holds nothing yet then.
    fn clear_image(&self, code: &mut Sequence, image: u8, words: u32) {
        let Reserved { offsets, data, .. } = *self.reserved;
        let exec = self.exec_copy(code);
        code.move_mask(sgpr(exec), Value::EXEC);
        code.enable_all_lanes();
        code.lane_offsets(offsets);
        code.vop2(Op::v_add_u32, offsets, sgpr(image), offsets);
        code.v_mov(data, Value::int(0));
        let lanes = code.lanes();
        for at in (0..words).step_by(lanes as usize).skip(1) {
            if words - at < lanes {
                code.enable_lanes(words - at, 0);
            }
            code.ds_write(offsets, data, 4 * at);
        }
        code.enable_lanes(words.min(lanes), 0);
        code.writelane(data, Value::int(1), 0);
        code.ds_write(offsets, data, 0);
        code.v_mov(data, Value::int(1));
        code.move_mask(Value::EXEC, sgpr(exec));
    }

    /// Reads the clock, last of all, and puts the time where it stays. The address of the record is in
    /// `buffer`, too.
    fn note_time(&self, code: &mut Sequence, place: BeginPlace, buffer: u8) {
        let mut pairs = self.spare_pairs().filter(|&pair| pair != buffer);
        let [time, exec] = [(); 2].map(|()| code.required("spare pair for the time", pairs.next()));
        let time = if let BeginPlace::Sgprs(time) = place { time } else { time };
        code.read_clock(time);
        code.wait_scalar_loads();
        if !matches!(place, BeginPlace::Sgprs(_)) {
            for (lane, half) in (BEGIN_WORD..).zip([time, time + 1]) {
                code.writelane(self.reserved.data, sgpr(half), lane);
            }
        }
        if place == BeginPlace::Memory {
            code.move_mask(sgpr(exec), Value::EXEC);
            code.enable_lanes(2, BEGIN_WORD);
            code.global_store(self.reserved.offsets, self.reserved.data, buffer, 0);
            code.move_mask(Value::EXEC, sgpr(exec));
        }
    }

    fn exec_copy(&self, code: &mut Sequence) -> u8 {
        code.required("spare pair for EXEC", self.spare_pairs().next())
    }

    /// The temporary pairs that are none of the reserved registers.
    fn spare_pairs(&self) -> impl Iterator<Item = u8> {
        let taken = |register: u8| {
            let is_record = match self.reserved.record {
                RecordPlace::Sgprs(record) => register == record || register == record + 1,
                RecordPlace::Spilled => false,
            };
            is_record || self.reserved.counters.contains(&register)
        };
        let first = self.first_temp();
        let pairs = (first..first + TEMPS).step_by(2);
        // Counters in SGPRs and in VGPRs do not come together, so at most the record's pair is taken where
        // one is wanted.
        pairs.filter(move |&pair| !taken(pair) && !taken(pair + 1))
    }

    /// Leaves registers as the original has them.
    pub(crate) fn restore(&self, code: &mut Sequence) {
        self.restore_sgprs(code);
        restore_work_item_ids(code, self.arch, &self.original);
    }

    /// Moves what the original had in other SGPRs.
    fn restore_sgprs(&self, code: &mut Sequence) {
        for (to, from) in moves(self.arch, &self.original, &self.instrumented) {
            code.sop1(Op::s_mov_b32, sgpr(to), sgpr(from));
        }
    }
}

/// On gfx90a and later all ids share v0: the bits that the original did not ask for are cleared. Before, they
/// arrive in v1 and v2, whose contents the original does not read.
pub(crate) fn restore_work_item_ids(code: &mut Sequence, arch: Arch, original: &KernelDescriptor) {
    let bits = id_bits(original);
    if arch.has(Feature::PackedWorkItemIds) && bits < 30 {
        code.vop2(Op::v_and_b32, 0, Value::int((1 << bits) - 1), 0);
    }
}

/// Bits of v0 that have ids of a work-item, from gfx90a on: ten each.
pub(crate) fn id_bits(descriptor: &KernelDescriptor) -> u32 {
    10 * (1 + u32::from(descriptor.enable_vgpr_workitem_id().min(2)))
}

/// Where what a kernel starts with must go from and to, so that it is where the original descriptor would
/// have it. Enabled values only move up, so going through them from the lowest destination on never
/// overwrites one that is still to be moved.
pub(crate) fn moves(
    arch: Arch,
    original: &KernelDescriptor,
    instrumented: &KernelDescriptor,
) -> Vec<(u8, u8)> {
    let (old_user, old_system) = (original.user_sgprs(arch), original.system_sgprs(arch));
    let (user, system) = (instrumented.user_sgprs(arch), instrumented.system_sgprs(arch));
    let values = [
        (old_user.private_segment_buffer, user.private_segment_buffer, 4),
        (old_user.dispatch_ptr, user.dispatch_ptr, 2),
        (old_user.queue_ptr, user.queue_ptr, 2),
        (old_user.kernarg_segment_ptr, user.kernarg_segment_ptr, 2),
        (old_user.dispatch_id, user.dispatch_id, 2),
        (old_user.flat_scratch_init, user.flat_scratch_init, 2),
        (old_user.private_segment_size, user.private_segment_size, 1),
        (
            old_user.kernarg_preload.map(|preload| preload.first),
            user.kernarg_preload.map(|preload| preload.first),
            old_user.kernarg_preload.map_or(0, |preload| preload.count),
        ),
        (old_system.workgroup_id_x, system.workgroup_id_x, 1),
        (old_system.workgroup_id_y, system.workgroup_id_y, 1),
        (old_system.workgroup_id_z, system.workgroup_id_z, 1),
        (old_system.workgroup_info, system.workgroup_info, 1),
        (old_system.private_segment_wavefront_offset, system.private_segment_wavefront_offset, 1),
    ];
    let moved = values.into_iter().filter_map(|(to, from, size)| Some((to?, from?, size)));
    let moved = moved.filter(|(to, from, _)| to != from);
    moved.flat_map(|(to, from, size)| (0..size).map(move |part| (to + part, from + part))).collect()
}
