//! Which scalar registers a kernel finds filled when a wave starts
//! (AMDGPU user guide, "Initial Kernel Execution State").

use amdgpu_isa::{Arch, Feature};

use super::KernelDescriptor;

/// A value that the command processor can put into user SGPRs, in the order in which they are filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum UserSgpr {
    /// Buffer resource (V#) for scratch, 4 SGPRs.
    PrivateSegmentBuffer = 0,
    /// Address of the dispatch packet, 2 SGPRs.
    DispatchPtr = 1,
    /// Address of the queue (`amd_queue_t`), 2 SGPRs.
    QueuePtr = 2,
    /// Address of the kernarg segment, 2 SGPRs.
    KernargSegmentPtr = 3,
    /// Id of the dispatch, 2 SGPRs.
    DispatchId = 4,
    /// Base address of scratch, 2 SGPRs.
    FlatScratchInit = 5,
    /// Scratch, bytes a work-item, 1 SGPR.
    PrivateSegmentSize = 6,
}

impl UserSgpr {
    /// Every one, in the order in which they are filled.
    pub const ALL: [Self; 7] = [
        Self::PrivateSegmentBuffer,
        Self::DispatchPtr,
        Self::QueuePtr,
        Self::KernargSegmentPtr,
        Self::DispatchId,
        Self::FlatScratchInit,
        Self::PrivateSegmentSize,
    ];

    /// SGPRs that it takes.
    pub const fn size(self) -> u8 {
        match self {
            Self::PrivateSegmentBuffer => 4,
            Self::PrivateSegmentSize => 1,
            _ => 2,
        }
    }

    /// Whether a processor can pass it. Where FLAT_SCRATCH arrives set up, its base does not come besides.
    const fn is_known(self, arch: Arch) -> bool {
        !matches!(self, Self::FlatScratchInit) || !arch.has(Feature::ArchitectedFlatScratch)
    }
}

/// The first SGPR of each enabled user value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserSgprs {
    /// Buffer resource for scratch (4 SGPRs).
    pub private_segment_buffer: Option<u8>,
    /// Address of the dispatch packet (2 SGPRs).
    pub dispatch_ptr: Option<u8>,
    /// Address of the queue (2 SGPRs).
    pub queue_ptr: Option<u8>,
    /// Address of the kernarg segment (2 SGPRs).
    pub kernarg_segment_ptr: Option<u8>,
    /// Id of the dispatch (2 SGPRs).
    pub dispatch_id: Option<u8>,
    /// Base address of scratch (2 SGPRs).
    pub flat_scratch_init: Option<u8>,
    /// Scratch, bytes a work-item (1 SGPR).
    pub private_segment_size: Option<u8>,
    /// Preloaded kernel arguments.
    pub kernarg_preload: Option<KernargPreload>,
    /// SGPRs that all of them take.
    pub count: u8,
}

/// Dwords of the kernarg segment that arrive in SGPRs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernargPreload {
    /// First SGPR.
    pub first: u8,
    /// How many dwords, one SGPR each.
    pub count: u8,
    /// First dword of the kernarg segment.
    pub offset: u16,
}

/// The SGPR of each enabled system value. They follow the user SGPRs and can differ between waves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SystemSgprs {
    /// Workgroup id in x.
    pub workgroup_id_x: Option<u8>,
    /// Workgroup id in y.
    pub workgroup_id_y: Option<u8>,
    /// Workgroup id in z.
    pub workgroup_id_z: Option<u8>,
    /// Workgroup information.
    pub workgroup_info: Option<u8>,
    /// Byte offset of the wave's scratch. `None` from gfx940 on, where FLAT_SCRATCH arrives set up.
    pub private_segment_wavefront_offset: Option<u8>,
    /// The first SGPR that no user or system value occupies.
    pub end: u8,
}

/// SGPRs that user values may take together: LLVM's AMDGPU usage guide, "Initial Kernel Execution State".
pub(crate) const MOST_USER_SGPRS: u8 = 16;

impl KernelDescriptor {
    /// Whether a user value is passed.
    pub fn has_user_sgpr(&self, value: UserSgpr) -> bool {
        self.property(value as u32)
    }

    /// Passes a user value or not. Everything that is filled after it moves; [`Self::user_sgpr_count`]
    /// follows.
    ///
    /// # Errors
    /// The descriptor stays as it is if the values together would not fit into 16.
    pub fn set_user_sgpr(&mut self, arch: Arch, value: UserSgpr, on: bool) -> Result<(), TooManyUserSgprs> {
        let mut changed = *self;
        changed.set_property(value as u32, on);
        let enabled = changed.user_sgprs(arch).count;
        // Where more are counted than have values, system values stay where they are as long as there is
        // room.
        let counted = self.user_sgpr_count();
        let count = if counted == self.user_sgprs(arch).count { enabled } else { counted.max(enabled) };
        if count > MOST_USER_SGPRS {
            return Err(TooManyUserSgprs { count });
        }
        changed.set_user_sgpr_count(count);
        *self = changed;
        Ok(())
    }

    /// Which register each user value starts at. What a processor does not know takes none.
    pub fn user_sgprs(&self, arch: Arch) -> UserSgprs {
        let mut next = 0;
        let mut place = |value: UserSgpr| {
            let first = next;
            (self.has_user_sgpr(value) && value.is_known(arch)).then(|| {
                next += value.size();
                first
            })
        };
        let mut layout = UserSgprs {
            private_segment_buffer: place(UserSgpr::PrivateSegmentBuffer),
            dispatch_ptr: place(UserSgpr::DispatchPtr),
            queue_ptr: place(UserSgpr::QueuePtr),
            kernarg_segment_ptr: place(UserSgpr::KernargSegmentPtr),
            dispatch_id: place(UserSgpr::DispatchId),
            flat_scratch_init: place(UserSgpr::FlatScratchInit),
            private_segment_size: place(UserSgpr::PrivateSegmentSize),
            kernarg_preload: None,
            count: next,
        };
        let (offset, count) = self.kernarg_preload();
        if count != 0 && arch.has(Feature::KernargPreload) {
            layout.kernarg_preload = Some(KernargPreload { first: layout.count, count, offset });
            layout.count += count;
        }
        layout
    }

    /// Which register each system value arrives in.
    pub fn system_sgprs(&self, arch: Arch) -> SystemSgprs {
        let mut next = self.user_sgpr_count();
        let mut place = |enabled: bool| {
            let register = next;
            enabled.then(|| {
                next += 1;
                register
            })
        };
        let ids = !arch.has(Feature::WorkgroupIdsInTtmps);
        SystemSgprs {
            workgroup_id_x: place(ids && self.enable_sgpr_workgroup_id_x()),
            workgroup_id_y: place(ids && self.enable_sgpr_workgroup_id_y()),
            workgroup_id_z: place(ids && self.enable_sgpr_workgroup_id_z()),
            workgroup_info: place(self.enable_sgpr_workgroup_info()),
            private_segment_wavefront_offset: place(
                self.enable_private_segment() && !arch.has(Feature::ArchitectedFlatScratch),
            ),
            end: next,
        }
    }
}

/// More user values than 16 hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the user values need {count} SGPRs, there are {MOST_USER_SGPRS}: pass fewer, or preload fewer kernel arguments"
)]
pub struct TooManyUserSgprs {
    /// SGPRs that they would need.
    pub count: u8,
}
