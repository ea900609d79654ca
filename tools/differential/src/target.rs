//! What programs are compiled for.

use std::fmt;

use amdgpu_isa::{Arch, Generation};

/// A processor, the size of its waves, and an optimization level.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// Processor.
    pub arch: Arch,
    /// Lanes of its waves.
    pub lanes: u32,
    /// Optimization level, `-O0` to `-O3`.
    pub level: &'static str,
}

impl Target {
    /// The waves that programs for it run in.
    pub fn waves(&self) -> Waves {
        let generation = self.arch.generation();
        let reach = match generation {
            Generation::Gfx8 | Generation::Gfx9 | Generation::Gfx12 => 64,
            Generation::Gfx10 | Generation::Gfx11 => 32,
        };
        Waves {
            lanes: self.lanes,
            is_gfx9: matches!(generation, Generation::Gfx8 | Generation::Gfx9),
            reach: reach.min(self.lanes),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { arch, lanes, level } = self;
        let has_one_size = arch.generation().wave_sizes().len() == 1;
        let size = if has_one_size { String::new() } else { format!(" wave{lanes}") };
        write!(f, "{arch}{size} {level}")
    }
}

/// What a program finds out about the waves that it runs in: the host computes it anew for each kind of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Waves {
    /// Lanes of each.
    pub lanes: u32,
    /// Lanes reach all others of the wave by DPP, as on GFX8 and GFX9: later processors move values within 16
    /// lanes.
    pub is_gfx9: bool,
    /// Lanes that `ds_bpermute_b32` and `ds_permute_b32` reach: a wave of 64 is two of 32 to them on GFX10
    /// and GFX11.
    pub reach: u32,
}
