//! Memory that two kernels have left.

/// The first byte in which two buffers of one size differ, and how many bytes do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Offset of the byte.
    pub offset: usize,
    /// Its value after the original.
    pub original: u8,
    /// Its value after the instrumented kernel.
    pub instrumented: u8,
    /// Bytes that differ.
    pub bytes: usize,
}

impl Difference {
    /// The difference, if there is one.
    pub fn between(original: &[u8], instrumented: &[u8]) -> Option<Self> {
        let differing =
            || original.iter().zip(instrumented).enumerate().filter(|(_, (one, other))| one != other);
        let (offset, (&original, &instrumented)) = differing().next()?;
        Some(Self { offset, original, instrumented, bytes: differing().count() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_and_the_number_of_all_are_told() {
        assert_eq!(Difference::between(&[1, 2, 3], &[1, 2, 3]), None);
        let found = Difference { offset: 1, original: 2, instrumented: 7, bytes: 2 };
        assert_eq!(Difference::between(&[1, 2, 3], &[1, 7, 8]), Some(found));
    }
}
