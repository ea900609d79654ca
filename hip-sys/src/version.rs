//! Which HIP a loaded runtime is.

use std::fmt;

use crate::{Hip, hipError_t};

/// A HIP runtime's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Major version of ROCm: 5, 6 or 7.
    pub major: u32,
    /// Minor version of ROCm.
    pub minor: u32,
    /// HIP's own count.
    pub patch: u32,
}

impl Version {
    /// The version that the runtime reports. It needs no GPU for that. `None` if it does not say, or nothing
    /// that makes sense.
    pub fn of(hip: &Hip) -> Option<Self> {
        let get = hip.hipRuntimeGetVersion.as_ref().ok()?;
        let mut number = 0;
        // SAFETY: the pointer is valid for a write.
        let error = unsafe { get(&raw mut number) };
        (error == hipError_t::hipSuccess).then_some(number).and_then(Self::from_number)
    }

    /// The version of a `HIP_VERSION`: 10,000,000 times the first part, 100,000 times the second one, and the
    /// third.
    pub fn from_number(number: i32) -> Option<Self> {
        let number = u32::try_from(number).ok().filter(|number| *number >= 10_000_000)?;
        Some(Self { major: number / 10_000_000, minor: number / 100_000 % 100, patch: number % 100_000 })
    }

    /// The newest version of code objects that it reads, as far as this crate knows them: 4 to 6.
    ///
    /// Up to HIP 5.2 the runtime's loader knows version 5. But its library for metadata (comgr) does not, so
    /// the runtime refuses such files, as Debian's does. From 5.3 on both know it. Version 6 is loaded by HIP
    /// 6.3 and later (llvm/llvm-project#130963, which made it LLVM's default).
    pub const fn newest_code_object(self) -> u32 {
        match (self.major, self.minor) {
            (..=4, _) | (5, ..=2) => 4,
            (5, _) | (6, ..=2) => 5,
            _ => 6,
        }
    }

    /// Whether a launch works of a kernel that has a hidden argument `hidden_completion_action`.
    ///
    /// LLVM writes it for each kernel of which it does not see all that it calls. HIP before 5.7 takes such a
    /// kernel for one that enqueues others, and reads through a null pointer (ROCm/clr, c585aefdb, mended
    /// that in April 2023).
    pub const fn takes_completion_actions(self) -> bool {
        matches!((self.major, self.minor), (5, 7..) | (6.., _))
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

    #[test]
    fn code_objects_that_each_release_reads() {
        let newest = |major, minor| Version { major, minor, patch: 0 }.newest_code_object();
        let releases = [(5, 0), (5, 2), (5, 3), (5, 5), (5, 7), (6, 0), (6, 2), (6, 3), (7, 0)];
        assert_eq!(releases.map(|(major, minor)| newest(major, minor)), [4, 4, 5, 5, 5, 5, 5, 6, 6]);
    }

    #[test]
    fn completion_actions_work_from_one_release_on() {
        let takes = |major, minor| Version { major, minor, patch: 0 }.takes_completion_actions();
        assert!([(5, 7), (6, 0), (7, 1)].into_iter().all(|(major, minor)| takes(major, minor)));
        assert!(![(4, 5), (5, 2), (5, 6)].into_iter().any(|(major, minor)| takes(major, minor)));
    }
}
