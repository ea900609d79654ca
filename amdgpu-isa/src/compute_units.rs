//! How many compute units a processor has.

use crate::Arch;

impl Arch {
    /// Compute units of the largest product of the processor, as AMD's pages of products state them. Of one
    /// with two dies it is one die. Other products have fewer. Of a generic processor it is the least of
    /// those that its code runs on.
    pub const fn compute_units(self) -> u32 {
        match self {
            Self::Gfx9Generic => Self::Gfx909.compute_units(),
            Self::Gfx9_4Generic => Self::Gfx950.compute_units(),
            Self::Gfx10_1Generic => Self::Gfx1012.compute_units(),
            Self::Gfx10_3Generic => Self::Gfx1036.compute_units(),
            Self::Gfx11Generic => Self::Gfx1153.compute_units(),
            Self::Gfx12Generic => Self::Gfx1200.compute_units(),
            Self::Gfx801 => 8,
            Self::Gfx802 | Self::Gfx805 => 32,
            Self::Gfx803 => 64,
            Self::Gfx810 => 3,
            Self::Gfx900 | Self::Gfx906 => 64,
            Self::Gfx902 => 11,
            Self::Gfx904 => 20,
            Self::Gfx908 => 120,
            Self::Gfx909 => 3,
            Self::Gfx90a => 110,
            Self::Gfx90c => 8,
            Self::Gfx942 => 304,
            Self::Gfx950 => 256,
            Self::Gfx1010 | Self::Gfx1011 | Self::Gfx1031 | Self::Gfx1151 => 40,
            Self::Gfx1012 | Self::Gfx1013 => 24,
            Self::Gfx1030 => 80,
            Self::Gfx1032 | Self::Gfx1102 => 32,
            Self::Gfx1033 | Self::Gfx1152 => 8,
            Self::Gfx1034 | Self::Gfx1150 => 16,
            Self::Gfx1035 | Self::Gfx1103 => 12,
            Self::Gfx1036 => 2,
            Self::Gfx1100 => 96,
            Self::Gfx1101 => 60,
            Self::Gfx1153 => 4,
            Self::Gfx1200 => 32,
            Self::Gfx1201 => 64,
        }
    }
}
