//! How many lanes a wave has.

use serde::{Deserialize, Serialize};

/// Lanes of a wave: 64 unless something says otherwise, or 32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub enum Lanes {
    /// 32: RDNA's usual size.
    Wave32,
    /// 64.
    #[default]
    Wave64,
}

impl Lanes {
    /// The most that any wave has.
    pub const MOST: u32 = Self::Wave64.get();

    /// The size with so many lanes, if there is one.
    pub const fn of(lanes: u32) -> Option<Self> {
        match lanes {
            32 => Some(Self::Wave32),
            64 => Some(Self::Wave64),
            _ => None,
        }
    }

    /// How many these are.
    pub const fn get(self) -> u32 {
        match self {
            Self::Wave32 => 32,
            Self::Wave64 => 64,
        }
    }

    /// The mask of all lanes.
    pub const fn mask(self) -> u64 {
        u64::MAX >> (u64::BITS - self.get())
    }

    /// Waves of a workgroup with so many work-items; the last may be partial.
    pub const fn waves(self, work_items: u32) -> u32 {
        work_items.div_ceil(self.get())
    }

    /// Whether documents leave it out.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl TryFrom<u32> for Lanes {
    type Error = String;

    fn try_from(lanes: u32) -> Result<Self, String> {
        Self::of(lanes).ok_or_else(|| format!("no wave has {lanes} lanes"))
    }
}

impl From<Lanes> for u32 {
    fn from(lanes: Lanes) -> Self {
        lanes.get()
    }
}
