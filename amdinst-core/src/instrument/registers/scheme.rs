//! Where counters are, and what sites may borrow for it.

use super::layout::BorrowedVgprs;
use crate::instrument::options::Home;

/// Where counters are, one step finer than the home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Sgprs,
    VgprLanes,
    Lds,
    Memory,
    /// Of 2022.
    Seed(SeedPlace),
}

impl Scheme {
    pub(crate) const fn home(self) -> Home {
        match self {
            Self::Sgprs | Self::VgprLanes | Self::Seed(SeedPlace::Nowhere) => Home::Register,
            Self::Lds | Self::Seed(SeedPlace::Lds) => Home::Lds,
            Self::Memory | Self::Seed(SeedPlace::Memory) => Home::Global,
        }
    }

    /// Whether this is one of the schemes of 2022.
    pub(crate) const fn is_seed(self) -> bool {
        matches!(self, Self::Seed(_))
    }
}

/// What sites may take of the registers that are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Borrow {
    /// Nothing.
    Nothing,
    /// SGPRs.
    Sgprs,
    /// SGPRs, and lanes of a VGPR; in LDS and memory.
    OneVgpr,
    /// A lane each of two VGPRs, and no SGPR; in memory.
    TwoVgprs,
    /// SGPRs, and lanes of two VGPRs, one of which changes places with its contents in scratch memory; in LDS
    /// and memory.
    Scratch,
}

impl Borrow {
    pub(super) const fn sgprs(self) -> bool {
        matches!(self, Self::Sgprs | Self::OneVgpr | Self::Scratch)
    }

    pub(super) const fn borrowed_vgprs(self) -> BorrowedVgprs {
        match self {
            Self::Nothing | Self::Sgprs => BorrowedVgprs::Neither,
            Self::OneVgpr | Self::Scratch => BorrowedVgprs::One,
            Self::TwoVgprs => BorrowedVgprs::Both,
        }
    }
}

/// Where the schemes of 2022 have counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeedPlace {
    /// Nowhere: the clock is read, and nothing counted.
    Nowhere,
    Lds,
    Memory,
}
