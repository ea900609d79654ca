//! What limits how many waves fit.

use serde::{Deserialize, Serialize};

/// What keeps more waves from fitting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limiter {
    /// Nothing of the kernel's: the SIMD's wave slots.
    #[default]
    Hardware,
    /// Vector registers.
    Vgprs,
    /// Scalar registers.
    Sgprs,
    /// Local data share.
    Lds,
    /// Barriers, of which each workgroup of several waves takes one.
    Barriers,
}

impl Limiter {
    /// For people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hardware => "wave slots",
            Self::Vgprs => "VGPRs",
            Self::Sgprs => "SGPRs",
            Self::Lds => "LDS",
            Self::Barriers => "barriers",
        }
    }
}
