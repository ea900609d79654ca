//! Where a work-item stands in its workgroup and in the dispatch.
//!
//! Sizes come from the kernel dispatch packet (HSA Platform System Architecture Specification, "Kernel
//! dispatch packet"), which every code object version has at hand, rather than from hidden arguments, which
//! differ between them.

#[cfg(not(target_arch = "amdgpu"))]
use crate::__private::device_only;

macro_rules! registers {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
        pub fn $name() -> u32 {
            #[cfg(target_arch = "amdgpu")]
            return core::arch::amdgpu::$name();
            #[cfg(not(target_arch = "amdgpu"))]
            device_only()
        }
    )*};
}

registers! {
    /// The work-item's x coordinate in its workgroup.
    workitem_id_x;
    /// The work-item's y coordinate in its workgroup.
    workitem_id_y;
    /// The work-item's z coordinate in its workgroup.
    workitem_id_z;
    /// The workgroup's x coordinate in the dispatch.
    workgroup_id_x;
    /// The workgroup's y coordinate in the dispatch.
    workgroup_id_y;
    /// The workgroup's z coordinate in the dispatch.
    workgroup_id_z;
}

/// Byte offsets in the dispatch packet (`hsa_kernel_dispatch_packet_t`).
mod packet {
    /// Three u16: work-items of a workgroup in x, y and z.
    pub(super) const WORKGROUP_SIZE: usize = 4;
    /// Three u32: work-items of the dispatch in x, y and z.
    pub(super) const GRID_SIZE: usize = 12;
}

#[inline(always)]
#[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
fn dispatch_packet() -> *const u8 {
    #[cfg(target_arch = "amdgpu")]
    return core::intrinsics::gpu::amdgpu_dispatch_ptr().cast();
    #[cfg(not(target_arch = "amdgpu"))]
    device_only()
}

#[inline(always)]
#[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
fn workgroup_size(dimension: usize) -> u32 {
    // SAFETY: the packet is readable while the kernel runs, and the field is aligned to its size.
    u32::from(unsafe { dispatch_packet().add(packet::WORKGROUP_SIZE + 2 * dimension).cast::<u16>().read() })
}

#[inline(always)]
#[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
fn global_size(dimension: usize) -> u32 {
    // SAFETY: as above.
    unsafe { dispatch_packet().add(packet::GRID_SIZE + 4 * dimension).cast::<u32>().read() }
}

macro_rules! sizes {
    ($($workgroup:ident $global:ident $id:ident = $workgroup_id:ident, $workitem_id:ident, $dimension:literal, $axis:literal;)*) => {$(
        #[doc = concat!("Work-items of a full workgroup in ", $axis, ".")]
        #[inline(always)]
        #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
        pub fn $workgroup() -> u32 {
            workgroup_size($dimension)
        }

        #[doc = concat!("Work-items of the dispatch in ", $axis, ".")]
        #[inline(always)]
        #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
        pub fn $global() -> u32 {
            global_size($dimension)
        }

        #[doc = concat!("The work-item's ", $axis, " coordinate in the dispatch.")]
        #[inline(always)]
        #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
        pub fn $id() -> u32 {
            $workgroup_id().wrapping_mul($workgroup()).wrapping_add($workitem_id())
        }
    )*};
}

sizes! {
    workgroup_size_x global_size_x global_id_x = workgroup_id_x, workitem_id_x, 0, "x";
    workgroup_size_y global_size_y global_id_y = workgroup_id_y, workitem_id_y, 1, "y";
    workgroup_size_z global_size_z global_id_z = workgroup_id_z, workitem_id_z, 2, "z";
}

/// The work-item's flat index in its workgroup: x runs fastest, then y, then z. Waves are cut from it in
/// steps of [`wave_size`](crate::wave_size).
#[inline(always)]
#[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
pub fn local_id() -> u32 {
    let row = workitem_id_z().wrapping_mul(workgroup_size_y()).wrapping_add(workitem_id_y());
    row.wrapping_mul(workgroup_size_x()).wrapping_add(workitem_id_x())
}
