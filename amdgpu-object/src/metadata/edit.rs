//! Changes to what a kernel's note says.

use super::KernelArg;

/// Changes to the metadata of one kernel. `None` keeps the old value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetadataEdit {
    /// Bytes of the kernarg segment.
    pub kernarg_segment_size: Option<u32>,
    /// Static LDS, bytes a workgroup.
    pub group_segment_fixed_size: Option<u32>,
    /// Scratch, bytes a work-item.
    pub private_segment_fixed_size: Option<u32>,
    /// SGPRs used, specials included.
    pub sgpr_count: Option<u32>,
    /// VGPRs used (gfx90a and later: VGPRs and AGPRs together).
    pub vgpr_count: Option<u32>,
    /// AGPRs used.
    pub agpr_count: Option<u32>,
    /// Arguments to append, in order.
    pub append_args: Vec<KernelArg>,
}
