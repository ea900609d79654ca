//! A hash for tables of small numbers.

use std::hash::Hasher;

/// A hash of a few small numbers, one multiplication each. Whoever chooses the numbers can at worst make this slow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mixer(u64);

impl Mixer {
    /// An odd number near 2^64 divided by the golden ratio.
    pub(crate) const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
}

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        // The high bits depend on all that went in; a table takes the low ones too.
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(value.into());
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(value.into());
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(Self::FACTOR);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }
}
