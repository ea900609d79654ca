//! The hashes by which contents are named in archives of HIP Record & Replay: two of FNV-1a's kind, each of
//! 64 bits, side by side.

use std::fmt;

/// FNV's offset basis for 64 bits.
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
/// FNV's prime for 64 bits.
const PRIME: u64 = 0x100_0000_01b3;

/// The hash of some contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash {
    /// The first half: FNV-1a.
    pub low: u64,
    /// The second half: the same with basis and prime exchanged.
    pub high: u64,
}

impl ContentHash {
    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hash = Self { low: BASIS, high: PRIME };
        for &byte in bytes {
            hash.low = (hash.low ^ u64::from(byte)).wrapping_mul(PRIME);
            hash.high = (hash.high ^ u64::from(byte)).wrapping_mul(BASIS);
        }
        hash
    }

    /// Whether it stands for something: events without contents have zeros.
    pub const fn is_some(self) -> bool {
        self.low != 0 || self.high != 0
    }
}

/// As files are called: 32 hexadecimal digits.
impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}{:016x}", self.low, self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first half of `a` is in FNV's own list of test vectors.
    #[test]
    fn hashes_are_those_of_fnv() {
        assert_eq!(ContentHash::of(b"").to_string(), "cbf29ce48422232500000100000001b3");
        assert_eq!(ContentHash::of(b"a").low, 0xaf63_dc4c_8601_ec8c);
        assert!(!ContentHash::default().is_some() && ContentHash::of(b"").is_some());
    }
}
