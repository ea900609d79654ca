//! A hash for tables of small numbers and of names.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A hash of a few small numbers, one multiplication each; eight bytes of a text are a number. Whoever chooses them can at
/// worst make this slow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mixer(u64);

/// A table by name.
pub(crate) type ByName<K, T> = HashMap<K, T, BuildHasherDefault<Mixer>>;
/// A set of names.
pub(crate) type Names<'a> = HashSet<&'a str, BuildHasherDefault<Mixer>>;

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
        let (words, rest) = bytes.as_chunks();
        words.iter().for_each(|&word| self.write_u64(u64::from_le_bytes(word)));
        rest.iter().for_each(|&byte| self.write_u64(byte.into()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_text_counts() {
        let hash = |text: &[u8]| {
            let mut mixer = Mixer::default();
            mixer.write(text);
            mixer.finish()
        };
        let text = *b"a text of 21 letters.";
        let mut hashes: Vec<u64> = (0..text.len()).map(|length| hash(&text[..length])).collect();
        for index in 0..text.len() {
            let mut other = text;
            other[index] ^= 1;
            hashes.push(hash(&other));
        }
        hashes.push(hash(&text));
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 2 * text.len() + 1);
    }
}
