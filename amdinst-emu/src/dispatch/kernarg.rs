//! The kernarg segment: the caller's arguments, and the hidden ones that a runtime fills in (AMDGPU user guide,
//! "Code Object V4/V5 Metadata", `.value_kind`).

use amdgpu_object::{Kernel, KernelArg, KernelMetadata};

use super::Launch;
use crate::memory::{PRIVATE_APERTURE, SHARED_APERTURE};

/// The bytes of the segment, or why the arguments do not fill it.
pub(super) fn segment(kernel: &Kernel, launch: &Launch, queue: u64) -> Result<Vec<u8>, String> {
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
        let value = hidden(argument, launch, queue).to_le_bytes();
        let start = argument.offset as usize;
        let width = (argument.size as usize).min(8);
        if let Some(field) = bytes.get_mut(start..start + width) {
            field.copy_from_slice(&value[..width]);
        }
    }
    Ok(bytes)
}

/// The value of a hidden argument. What the emulator has no device object for (heap, the device's own queue, printf and
/// hostcall buffers) is a null pointer; the grid starts at 0 and has no partial workgroups.
fn hidden(argument: &KernelArg, launch: &Launch, queue: u64) -> u64 {
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
        "queue_ptr" => queue,
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
