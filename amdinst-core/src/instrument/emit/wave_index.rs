//! The number of a wave, as the counter buffer counts them, and from it the address of its record.

use amdgpu_isa::{Arch, Feature, Op, Value};

use super::sequence::{Sequence, sgpr};
use super::workgroup::WorkgroupIds;
use crate::counters::HEADER_BYTES;

/// The registers that it takes. All but the header are written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaveIndex {
    /// First of eight with the head of the buffer.
    pub(crate) header: u8,
    /// Ids of the wave's first work-item in x, y and z. Where all come in one VGPR (gfx90a and later), the
    /// first has that.
    pub(crate) ids: [u8; 3],
    /// The wave's number. It may be the one with the workgroup's id in z.
    pub(crate) index: u8,
}

impl WaveIndex {
    /// Takes the ids apart, where they come together.
    pub(crate) fn split(&self, code: &mut Sequence, arch: Arch) {
        let [x, y, z] = self.ids;
        if arch.has(Feature::PackedWorkItemIds) {
            // x, y and z are bits 9:0, 19:10 and 29:20 of v0. s_bfe: offset in bits 4:0, width in 22:16.
            code.sop2(Op::s_bfe_u32, z, sgpr(x), Value::int(10 << 16 | 20));
            code.sop2(Op::s_bfe_u32, y, sgpr(x), Value::int(10 << 16 | 10));
            code.sop2(Op::s_and_b32, x, sgpr(x), Value::int(0x3ff));
        }
    }

    /// The wave's number in its workgroup, into the register of the id in z, and that in the launch, into the
    /// index.
    pub(crate) fn number(&self, code: &mut Sequence, workgroup: WorkgroupIds) {
        let [x, y, z] = self.ids;
        let [groups_x, groups_y, size_x, size_xy, waves] =
            [2, 3, 4, 5, 6].map(|word| sgpr(self.header + word));
        // Flat id of the wave's first work-item: z · size_xy + y · size_x + x.
        code.sop2(Op::s_mul_i32, z, sgpr(z), size_xy);
        code.sop2(Op::s_mul_i32, y, sgpr(y), size_x);
        code.sop2(Op::s_add_u32, z, sgpr(z), sgpr(y));
        code.sop2(Op::s_add_u32, z, sgpr(z), sgpr(x));
        code.sop2(Op::s_lshr_b32, z, sgpr(z), code.lane_bits());
        // Wave index: ((wg_z · groups_y + wg_y) · groups_x + wg_x) · waves + flat / lanes.
        let index = self.index;
        let group_z = workgroup.id(code, 2, index);
        code.sop2(Op::s_mul_i32, index, group_z, groups_y);
        let group_y = workgroup.id(code, 1, y);
        code.sop2(Op::s_add_u32, index, sgpr(index), group_y);
        code.sop2(Op::s_mul_i32, index, sgpr(index), groups_x);
        let group_x = workgroup.id(code, 0, y);
        code.sop2(Op::s_add_u32, index, sgpr(index), group_x);
        code.sop2(Op::s_mul_i32, index, sgpr(index), waves);
        code.sop2(Op::s_add_u32, index, sgpr(index), sgpr(z));
    }

    /// Turns the buffer's address, a pair, into the record's, 64 bits wide throughout.
    pub(crate) fn record(&self, code: &mut Sequence, buffer: u8, stride: Value) {
        let (index, high) = (self.index, self.ids[1]);
        code.sop2(Op::s_mul_hi_u32, high, sgpr(index), stride);
        code.sop2(Op::s_mul_i32, index, sgpr(index), stride);
        code.sop2(Op::s_add_u32, index, sgpr(index), Value::int(HEADER_BYTES as i32));
        code.sop2(Op::s_addc_u32, high, sgpr(high), Value::int(0));
        code.sop2(Op::s_add_u32, buffer, sgpr(buffer), sgpr(index));
        code.sop2(Op::s_addc_u32, buffer + 1, sgpr(buffer + 1), sgpr(high));
    }
}
