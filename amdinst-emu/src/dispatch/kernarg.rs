//! The kernarg segment: the caller's arguments, and the hidden ones that a runtime fills in (AMDGPU user
//! guide, "Code Object V4/V5 Metadata", `.value_kind`).

use amdgpu_object::{Kernel, KernelArg, KernelMetadata};

use super::Launch;
use crate::memory::{PRIVATE_APERTURE, SHARED_APERTURE};

/// What a runtime has in device memory for a launch, by address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Objects {
    /// The queue's `amd_queue_t`.
    pub(super) queue: u64,
    /// What [`meeting`] gives, where a kernel asks for it.
    pub(super) meeting: u64,
}

/// By what the workgroups of a cooperative launch wait for each other where that is not global wave sync, if
/// the kernel asks for it: `mg_info` of AMD's device library (`ockl/src/cg.cl`), as HIP fills it for one
/// device. Its `num_grids` of 0 says that this is no launch on several.
pub(super) fn meeting(kernel: &Kernel, launch: &Launch) -> Option<[u8; 48]> {
    /// Where the number of workgroups is. Those that have come are counted ahead of it, from 0.
    const WORKGROUPS: usize = 40;
    kernel.metadata.args.iter().find(|argument| is_meeting(&argument.value_kind))?;
    let groups = launch.grid.iter().fold(1_u32, |groups, size| groups.saturating_mul(*size));
    let mut bytes = [0; 48];
    bytes[WORKGROUPS..WORKGROUPS + 4].copy_from_slice(&groups.to_le_bytes());
    Some(bytes)
}

/// The second name is that of code object version 2, as it is read.
fn is_meeting(value_kind: &str) -> bool {
    matches!(value_kind, "hidden_multigrid_sync_arg" | "hidden_multi_grid_sync_arg")
}

/// The bytes of the segment, or why the arguments do not fill it.
pub(super) fn segment(kernel: &Kernel, launch: &Launch, objects: Objects) -> Result<Vec<u8>, String> {
    let metadata = &kernel.metadata;
    let given = launch.kernarg.len() as u64;
    let last =
        metadata.args.iter().filter(|argument| !argument.is_hidden()).max_by_key(|argument| argument.offset);
    if let Some(last) = last {
        let end = u64::from(last.offset) + u64::from(last.size);
        if end > given {
            let name = last.name.as_deref().unwrap_or("its last");
            return Err(format!(
                "{given} bytes of arguments; the kernel's explicit arguments (to {name} at offset {}) need {end}",
                last.offset
            ));
        }
    }
    if metadata.kernarg_segment_size > KernelMetadata::MAX_KERNARG_SEGMENT {
        return Err(format!(
            "a kernarg segment of {} bytes; the note is damaged",
            metadata.kernarg_segment_size
        ));
    }
    let size = (metadata.kernarg_segment_size as usize).max(launch.kernarg.len());
    let mut bytes = launch.kernarg.clone();
    bytes.resize(size, 0);
    for argument in metadata.args.iter().filter(|argument| argument.is_hidden()) {
        let value = hidden(argument, launch, objects).to_le_bytes();
        let start = argument.offset as usize;
        let width = (argument.size as usize).min(8);
        if let Some(field) = bytes.get_mut(start..start + width) {
            field.copy_from_slice(&value[..width]);
        }
    }
    Ok(bytes)
}

/// The value of a hidden argument. What the emulator has no device object for (heap, the device's own queue,
/// printf and hostcall buffers) is a null pointer; the grid starts at 0 and has no partial workgroups.
fn hidden(argument: &KernelArg, launch: &Launch, objects: Objects) -> u64 {
    if is_meeting(&argument.value_kind) {
        return objects.meeting;
    }
    let kind = argument.value_kind.trim_start_matches("hidden_");
    let axis = match kind.as_bytes().last() {
        Some(b'y') => 1,
        Some(b'z') => 2,
        _ => 0,
    };
    match kind {
        "block_count_x" | "block_count_y" | "block_count_z" => u64::from(launch.grid[axis]),
        "group_size_x" | "group_size_y" | "group_size_z" => u64::from(launch.block[axis]),
        "grid_dims" => u64::from(dimensions(launch)),
        "private_base" => PRIVATE_APERTURE >> 32,
        "shared_base" => SHARED_APERTURE >> 32,
        "queue_ptr" => objects.queue,
        "dynamic_lds_size" => u64::from(launch.dynamic_lds),
        _ => 0,
    }
}

/// Dimensions that the grid uses.
pub(super) fn dimensions(launch: &Launch) -> u16 {
    let used = |axis: usize| launch.grid[axis] > 1 || launch.block[axis] > 1;
    if used(2) {
        3
    } else if used(1) {
        2
    } else {
        1
    }
}
