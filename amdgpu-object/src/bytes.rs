//! The bytes of a file, or a part of them, that several share: a library has gigabytes, and each of its code
//! objects a part.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Bytes that are kept once, whoever holds them: a vector, or a file that is mapped into memory.
#[derive(Clone)]
pub struct Bytes {
    owner: Arc<dyn AsRef<[u8]> + Send + Sync>,
    range: Range<usize>,
}

impl Bytes {
    /// All bytes of `owner`, which must give the same ones each time.
    pub fn new(owner: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        let range = 0..owner.as_ref().len();
        Self { owner: Arc::new(owner), range }
    }

    /// A part of them; `None` if it is not inside.
    pub fn part(&self, range: Range<usize>) -> Option<Self> {
        self.get(range.clone())?;
        let start = self.range.start;
        Some(Self { owner: self.owner.clone(), range: start + range.start..start + range.end })
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &(*self.owner).as_ref()[self.range.clone()]
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(bytes)
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Bytes {}

/// Their number alone.
impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({})", self.range.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_inside() {
        let all = Bytes::from(vec![0, 1, 2, 3, 4]);
        let middle = all.part(1..4).unwrap();
        assert_eq!(*middle, [1, 2, 3]);
        assert_eq!(*middle.part(1..3).unwrap(), [2, 3]);
        assert_eq!(middle.part(1..4), None);
        assert!(all.part(5..5).unwrap().is_empty());
        assert!(std::ptr::eq(&all[1], &middle[0]));
    }
}
