//! Which HIP a loaded runtime is.

use std::fmt;

use crate::{Hip, hipError_t};

/// A HIP runtime's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// That of ROCm: 5, 6 or 7.
    pub major: u32,
    /// That of ROCm.
    pub minor: u32,
    /// HIP's own count.
    pub patch: u32,
}

impl Version {
    /// What the runtime says of itself. It needs no GPU for that. `None` if it does not say, or nothing that makes sense.
    pub fn of(hip: &Hip) -> Option<Self> {
        let get = hip.hipRuntimeGetVersion.as_ref().ok()?;
        let mut number = 0;
        // SAFETY: the pointer is valid for a write.
        let error = unsafe { get(&raw mut number) };
        (error == hipError_t::hipSuccess).then_some(number).and_then(Self::from_number)
    }

    /// The version of a `HIP_VERSION`: 10,000,000 times the first part, 100,000 times the second one, and the third.
    pub fn from_number(number: i32) -> Option<Self> {
        let number = u32::try_from(number).ok().filter(|number| *number >= 10_000_000)?;
        Some(Self { major: number / 10_000_000, minor: number / 100_000 % 100, patch: number % 100_000 })
    }

    /// The newest version of code objects that it is known to read; `None` for runtimes of which that is not known.
    ///
    /// Debian's HIP 5.2 refuses version 5; AMD's sources of HIP 5.6 to 6.2 name it as the newest one.
    pub const fn newest_code_object(self) -> Option<u32> {
        match (self.major, self.minor) {
            (5, 0..=2) => Some(4),
            (5, 6..) | (6, 0..=2) => Some(5),
            _ => None,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HIP {}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_apart_and_nonsense_is_none() {
        let version = Version::from_number(50_221_153).unwrap();
        assert_eq!(version, Version { major: 5, minor: 2, patch: 21_153 });
        assert_eq!(version.to_string(), "HIP 5.2.21153");
        assert_eq!(Version::from_number(60_443_483).unwrap().to_string(), "HIP 6.4.43483");
        assert_eq!(Version::from_number(405), None);
        assert_eq!(Version::from_number(-1), None);
    }
}
