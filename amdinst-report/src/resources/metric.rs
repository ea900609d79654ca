//! The figures of a kernel that limits and comparisons are about.

use amdinst_text::count;
use serde::{Deserialize, Serialize};

use super::KernelResources;

/// A figure of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Spilled VGPRs and SGPRs.
    Spills,
    /// Bytes of scratch memory a work-item.
    Scratch,
    /// Waves a SIMD.
    Occupancy,
    /// VGPRs (gfx90a and later: with the AGPRs).
    Vgprs,
    /// AGPRs.
    Agprs,
    /// SGPRs, specials included.
    Sgprs,
    /// Bytes of LDS a workgroup.
    Lds,
    /// Bytes of code.
    Code,
}

impl Metric {
    /// All, the worst to have grown first.
    pub const ALL: [Self; 8] = [
        Self::Spills,
        Self::Scratch,
        Self::Occupancy,
        Self::Vgprs,
        Self::Agprs,
        Self::Sgprs,
        Self::Lds,
        Self::Code,
    ];

    /// Its name in a limit.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spills => "spills",
            Self::Scratch => "scratch",
            Self::Occupancy => "occupancy",
            Self::Vgprs => "vgprs",
            Self::Agprs => "agprs",
            Self::Sgprs => "sgprs",
            Self::Lds => "lds",
            Self::Code => "code",
        }
    }

    /// The thing that it counts.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Spills => "spilled registers",
            Self::Scratch => "bytes of scratch",
            Self::Occupancy => "waves a SIMD",
            Self::Vgprs => "VGPRs",
            Self::Agprs => "AGPRs",
            Self::Sgprs => "SGPRs",
            Self::Lds => "bytes of LDS",
            Self::Code => "bytes of code",
        }
    }

    /// So many of that thing.
    pub(super) fn counted(self, number: u64) -> String {
        match self {
            Self::Spills => count(number, "spilled register"),
            Self::Scratch => format!("{} of scratch", count(number, "byte")),
            Self::Occupancy => format!("{} a SIMD", count(number, "wave")),
            Self::Vgprs => count(number, "VGPR"),
            Self::Agprs => count(number, "AGPR"),
            Self::Sgprs => count(number, "SGPR"),
            Self::Lds => format!("{} of LDS", count(number, "byte")),
            Self::Code => format!("{} of code", count(number, "byte")),
        }
    }

    /// Whether more of it is better.
    pub const fn is_better_high(self) -> bool {
        matches!(self, Self::Occupancy)
    }

    /// The kernel's figure; `None` if it is not known.
    pub fn of(self, kernel: &KernelResources) -> Option<u64> {
        Some(match self {
            Self::Spills => kernel.spills.map(|spills| u64::from(spills.vgprs) + u64::from(spills.sgprs))?,
            Self::Scratch => kernel.scratch_bytes.into(),
            Self::Occupancy => kernel.occupancy.into(),
            Self::Vgprs => kernel.vgprs.into(),
            Self::Agprs => kernel.agprs.into(),
            Self::Sgprs => kernel.sgprs.into(),
            Self::Lds => kernel.lds_bytes.into(),
            Self::Code => kernel.code_bytes,
        })
    }
}
