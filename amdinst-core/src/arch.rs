//! The processors of the GFX9 family and how a code object names its target.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A GFX9 processor. Names and `EF_AMDGPU_MACH` values are those of LLVM's AMDGPU user guide, "Processors".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Arch {
    /// Vega 10 (MI25).
    Gfx900,
    /// Raven Ridge APU.
    Gfx902,
    /// Vega 12.
    Gfx904,
    /// Vega 20 (MI50, MI60).
    Gfx906,
    /// CDNA 1 (MI100).
    Gfx908,
    /// Raven 2 APU.
    Gfx909,
    /// CDNA 2 (MI210, MI250, MI250X).
    Gfx90a,
    /// Renoir APU.
    Gfx90c,
    /// CDNA 3 (MI300A, MI300X).
    Gfx942,
    /// CDNA 4 (MI350).
    Gfx950,
}

impl Arch {
    /// Every processor this crate knows.
    pub const ALL: [Self; 10] = [
        Self::Gfx900,
        Self::Gfx902,
        Self::Gfx904,
        Self::Gfx906,
        Self::Gfx908,
        Self::Gfx909,
        Self::Gfx90a,
        Self::Gfx90c,
        Self::Gfx942,
        Self::Gfx950,
    ];

    /// LLVM's processor name (`gfx90a`).
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gfx900 => "gfx900",
            Self::Gfx902 => "gfx902",
            Self::Gfx904 => "gfx904",
            Self::Gfx906 => "gfx906",
            Self::Gfx908 => "gfx908",
            Self::Gfx909 => "gfx909",
            Self::Gfx90a => "gfx90a",
            Self::Gfx90c => "gfx90c",
            Self::Gfx942 => "gfx942",
            Self::Gfx950 => "gfx950",
        }
    }

    /// The `EF_AMDGPU_MACH` field of `e_flags` (low 8 bits).
    pub const fn mach(self) -> u8 {
        match self {
            Self::Gfx900 => 0x2c,
            Self::Gfx902 => 0x2d,
            Self::Gfx904 => 0x2e,
            Self::Gfx906 => 0x2f,
            Self::Gfx908 => 0x30,
            Self::Gfx909 => 0x31,
            Self::Gfx90c => 0x32,
            Self::Gfx90a => 0x3f,
            Self::Gfx942 => 0x4c,
            Self::Gfx950 => 0x4f,
        }
    }

    /// The processor of an `EF_AMDGPU_MACH` value, if it is one of GFX9.
    pub fn from_mach(mach: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|arch| arch.mach() == mach)
    }

    /// gfx90a and later: unified VGPR/AGPR file, even-aligned 64-bit vector operands, packed work-item ids.
    pub const fn is_gfx90a_plus(self) -> bool {
        matches!(self, Self::Gfx90a | Self::Gfx942 | Self::Gfx950)
    }

    /// gfx940 and later (CDNA 3 and 4): `sc0`/`sc1`/`nt` cache bits, architected flat scratch.
    pub const fn is_gfx940_plus(self) -> bool {
        matches!(self, Self::Gfx942 | Self::Gfx950)
    }

    /// Has accumulation VGPRs (AGPRs).
    pub const fn has_agprs(self) -> bool {
        matches!(self, Self::Gfx908 | Self::Gfx90a | Self::Gfx942 | Self::Gfx950)
    }

    /// Work-item ids arrive packed in `v0` (10 bits each) instead of in `v0`, `v1`, `v2`.
    pub const fn has_packed_work_item_ids(self) -> bool {
        self.is_gfx90a_plus()
    }

    /// SRAM error correction exists: it may be on, and is on the accelerators that have it (AMDGPU user guide, "Processors").
    pub const fn has_sramecc(self) -> bool {
        matches!(self, Self::Gfx906 | Self::Gfx908 | Self::Gfx90a | Self::Gfx942 | Self::Gfx950)
    }

    /// Bytes of LDS a workgroup may use.
    pub const fn lds_bytes(self) -> u32 {
        match self {
            Self::Gfx950 => 160 * 1024,
            _ => 64 * 1024,
        }
    }

    /// Bytes of scratch memory a work-item may have: 13 bits of 256 dwords a wave (`COMPUTE_TMPRING_SIZE.WAVESIZE`).
    pub const fn scratch_bytes(self) -> u32 {
        ((1 << 13) - 1) * 256 * 4 / 64
    }

    /// Bytes of LDS that a workgroup is allotted at a time (CDNA ISA manuals, "LDS Allocation and Clamping").
    pub const fn lds_granule(self) -> u32 {
        match self {
            Self::Gfx950 => 1280,
            _ => 512,
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A processor name that is not one of GFX9.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a GFX9 processor this tool knows (gfx900 … gfx950)")]
pub struct UnknownArch(pub String);

impl FromStr for Arch {
    type Err = UnknownArch;

    fn from_str(name: &str) -> Result<Self, UnknownArch> {
        Self::ALL.into_iter().find(|arch| arch.name() == name).ok_or_else(|| UnknownArch(name.to_owned()))
    }
}

/// The state of a target feature (XNACK replay, SRAM ECC) in `e_flags` or a target id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FeatureState {
    /// The processor has no such feature.
    #[default]
    Unsupported,
    /// The code runs with the feature on or off.
    Any,
    /// The code needs the feature off.
    Off,
    /// The code needs the feature on.
    On,
}

/// A processor with its feature states: what a code object was built for (`gfx90a:sramecc+:xnack-`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TargetId {
    /// The processor.
    pub arch: Arch,
    /// XNACK replay.
    pub xnack: FeatureState,
    /// SRAM error correction.
    pub sramecc: FeatureState,
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.arch.name())?;
        for (name, state) in [("sramecc", self.sramecc), ("xnack", self.xnack)] {
            match state {
                FeatureState::On => write!(f, ":{name}+")?,
                FeatureState::Off => write!(f, ":{name}-")?,
                FeatureState::Any | FeatureState::Unsupported => {}
            }
        }
        Ok(())
    }
}
