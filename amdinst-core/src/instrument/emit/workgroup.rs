//! The ids of a wave's workgroup, from where they arrive.

use amdgpu_isa::{Arch, Feature, Op, Value, scalar};
use amdgpu_object::KernelDescriptor;

use super::sequence::{Sequence, sgpr};

/// Where the ids of a wave's workgroup are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkgroupIds {
    /// In an SGPR each: x, y, z. The program may overwrite these.
    Sgprs([u8; 3]),
    /// In trap temporaries, where nothing overwrites them.
    Ttmps,
}

/// Bits of the id in y, where that of z is above it.
const Y_BITS: i32 = 16;

impl WorkgroupIds {
    /// Where waves of a kernel with this descriptor get them; none if they do not get all.
    pub(crate) fn of(descriptor: &KernelDescriptor, arch: Arch) -> Option<Self> {
        if arch.has(Feature::WorkgroupIdsInTtmps) {
            return Some(Self::Ttmps);
        }
        let system = descriptor.system_sgprs(arch);
        Some(Self::Sgprs([system.workgroup_id_x?, system.workgroup_id_y?, system.workgroup_id_z?]))
    }

    /// The SGPRs that have them, if any do.
    pub(crate) const fn sgprs(self) -> Option<[u8; 3]> {
        match self {
            Self::Sgprs(ids) => Some(ids),
            Self::Ttmps => None,
        }
    }

    /// The id in x (0), y or z (2). Where it is a part of a register it is taken out into `temp`, and SCC
    /// changes.
    pub(crate) fn id(self, code: &mut Sequence, axis: usize, temp: u8) -> Value {
        const BOTH: Value = sgpr(scalar::WORKGROUP_Y_Z);
        match (self, axis) {
            (Self::Sgprs(ids), _) => return sgpr(ids[axis]),
            (Self::Ttmps, 0) => return sgpr(scalar::WORKGROUP_X),
            (Self::Ttmps, 1) => code.sop2(Op::s_and_b32, temp, BOTH, Value::int((1 << Y_BITS) - 1)),
            (Self::Ttmps, _) => code.sop2(Op::s_lshr_b32, temp, BOTH, Value::int(Y_BITS)),
        }
        sgpr(temp)
    }
}
