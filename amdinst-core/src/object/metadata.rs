//! The metadata note (`NT_AMDGPU_METADATA`, MessagePack) of one kernel (AMDGPU user guide, "Code Object V3 Metadata").

/// What the note says of one kernel. Zero or `None` where it is silent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelMetadata {
    /// Arguments in order, hidden ones included.
    pub args: Vec<KernelArg>,
    /// Bytes of the kernarg segment.
    pub kernarg_segment_size: u32,
    /// Its alignment in bytes.
    pub kernarg_segment_align: u32,
    /// Static LDS, bytes a workgroup.
    pub group_segment_fixed_size: u32,
    /// Scratch, bytes a work-item.
    pub private_segment_fixed_size: u32,
    /// The stack may grow at run time.
    pub uses_dynamic_stack: bool,
    /// Lanes a wavefront (64 on GFX9).
    pub wavefront_size: u32,
    /// SGPRs used, specials included.
    pub sgpr_count: u32,
    /// VGPRs used (gfx90a: VGPRs and AGPRs together).
    pub vgpr_count: u32,
    /// AGPRs used.
    pub agpr_count: u32,
    /// SGPRs the compiler spilled.
    pub sgpr_spill_count: u32,
    /// VGPRs the compiler spilled.
    pub vgpr_spill_count: u32,
    /// Most work-items a workgroup may have.
    pub max_flat_workgroup_size: u32,
    /// Required workgroup size, if the kernel has one.
    pub reqd_workgroup_size: Option<[u32; 3]>,
    /// Source language.
    pub language: Option<String>,
}

/// One kernel argument.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelArg {
    /// Source name, if known.
    pub name: Option<String>,
    /// Byte offset in the kernarg segment.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// `by_value`, `global_buffer`, `hidden_block_count_x`, …
    pub value_kind: String,
    /// `global`, `generic`, `local`, … for pointers.
    pub address_space: Option<String>,
}

impl KernelArg {
    /// Filled in by the runtime, not by the caller.
    pub fn is_hidden(&self) -> bool {
        self.value_kind.starts_with("hidden_")
    }
}
