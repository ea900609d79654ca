//! The wave that a work-item is a lane of.
//!
//! How many lanes that has is [`wave_size`], which kernels should ask for: a mask of lanes has 64 bits in either case.

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
    /// The lane's index in its wave, from 0 to [`wave_size`] - 1.
    pub fn lane_id() -> u32 {
        core::arch::amdgpu::mbcnt_hi(u32::MAX, core::arch::amdgpu::mbcnt_lo(u32::MAX, 0))
    }

    /// Lanes of a wave: 64 on GFX9, 32 or 64 on GFX11, as `--wave-size` says.
    ///
    /// It is a constant when the kernel is compiled: the compiler drops the branch for the other size.
    pub fn wave_size() -> u32 {
        core::arch::amdgpu::wavefrontsize()
    }

    /// One bit a lane: set where the lane is active and `condition` holds. With 32 lanes, the upper half is zero.
    pub fn ballot(condition: bool) -> u64 {
        core::arch::amdgpu::ballot(condition)
    }

    /// One bit a lane: set where the lane is active. With 32 lanes, the upper half is zero.
    pub fn active_lanes() -> u64 {
        core::arch::amdgpu::ballot(true)
    }

    /// The value of the first active lane, in every lane.
    pub fn read_first_lane(value: u32) -> u32 {
        core::arch::amdgpu::readfirstlane_u32(value)
    }

    /// The value of lane `lane`, which is the same in every active lane; undefined (but some value) if that lane is
    /// inactive. `lane` is taken modulo [`wave_size`].
    pub fn read_lane(value: u32, lane: u32) -> u32 {
        // The instruction wants a scalar; taking the first lane's keeps a divergent `lane` from being undefined.
        let lane = core::arch::amdgpu::readfirstlane_u32(lane) & (wave_size() - 1);
        // SAFETY: the lane select is uniform and in range.
        unsafe { core::arch::amdgpu::readlane_u32(value, lane) }
    }

    /// The value of the lane that each lane asks for; 0 from an inactive one. `lane` is taken modulo [`wave_size`].
    ///
    /// It is one instruction (`ds_bpermute_b32`) where that reaches every lane: on GFX9, and in waves of 32 lanes. On GFX11 that
    /// reaches the lanes of its own half of 64. There it takes two and `v_permlane64_b32`; or, while some lanes are inactive, a loop
    /// with a round for each lane that is asked for.
    pub fn shuffle(value: u32, lane: u32) -> u32 {
        unsafe extern "C" {
            // The link step defines it, for the processor and the size of waves.
            #[link_name = "__amdinst_shuffle"]
            safe fn exchange(value: u32, lane: u32) -> u32;
        }
        exchange(value, lane)
    }
}
