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

    /// The thing that it counts, and of what.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Spills => ("spilled register", ""),
            Self::Scratch => ("byte", " of scratch"),
            Self::Occupancy => ("wave", " a SIMD"),
            Self::Vgprs => ("VGPR", ""),
            Self::Agprs => ("AGPR", ""),
            Self::Sgprs => ("SGPR", ""),
            Self::Lds => ("byte", " of LDS"),
            Self::Code => ("byte", " of code"),
        }
    }

    /// Several of that thing: `bytes of LDS`.
    pub(super) fn unit(self) -> String {
        let (thing, of) = self.words();
        format!("{thing}s{of}")
    }

    /// So many of it: `1 byte of LDS`.
    pub(super) fn counted(self, number: u64) -> String {
        let (thing, of) = self.words();
        count(number, thing) + of
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
