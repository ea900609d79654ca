//! The wave that a work-item is a lane of.

#[cfg(not(target_arch = "amdgpu"))]
use crate::__private::device_only;

macro_rules! wave {
    ($($(#[$doc:meta])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),*) -> $result:ty $body:block)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
        $vis fn $name($($arg: $ty),*) -> $result {
            #[cfg(target_arch = "amdgpu")]
            $body
            #[cfg(not(target_arch = "amdgpu"))]
            {
                $(let _ = $arg;)*
                device_only()
            }
        }
    )*};
}

wave! {
    /// The lane's index in its wave, 0 to 63.
    pub fn lane_id() -> u32 {
        core::arch::amdgpu::mbcnt_hi(u32::MAX, core::arch::amdgpu::mbcnt_lo(u32::MAX, 0))
    }

    /// Lanes of a wave: 64 on GFX9.
    pub fn wave_size() -> u32 {
        core::arch::amdgpu::wavefrontsize()
    }

    /// One bit a lane: set where the lane is active and `condition` holds.
    pub fn ballot(condition: bool) -> u64 {
        core::arch::amdgpu::ballot(condition)
    }

    /// One bit a lane: set where the lane is active.
    pub fn active_lanes() -> u64 {
        core::arch::amdgpu::ballot(true)
    }

    /// The value of the first active lane, in every lane.
    pub fn read_first_lane(value: u32) -> u32 {
        core::arch::amdgpu::readfirstlane_u32(value)
    }

    /// The value of lane `lane`, which is the same in every active lane; undefined (but some value) if that lane is
    /// inactive. Only the low 6 bits of `lane` count.
    pub fn read_lane(value: u32, lane: u32) -> u32 {
        // The instruction wants a scalar; taking the first lane's keeps a divergent `lane` from being undefined.
        let lane = core::arch::amdgpu::readfirstlane_u32(lane) & 63;
        // SAFETY: the lane select is uniform and in range.
        unsafe { core::arch::amdgpu::readlane_u32(value, lane) }
    }

    /// The value of the lane that each lane asks for; 0 from an inactive one. Only the low 6 bits of `lane` count.
    pub fn shuffle(value: u32, lane: u32) -> u32 {
        // SAFETY: `ds_bpermute_b32` takes a byte address and wraps it; every value is allowed.
        unsafe { core::arch::amdgpu::ds_bpermute(lane << 2, value) }
    }
}
