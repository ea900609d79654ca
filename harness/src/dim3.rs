//! Sizes of a launch.

/// Sizes in x, y and z: `64`, `(16, 4)` or `(8, 4, 2)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3(pub [u32; 3]);

impl Dim3 {
    /// So many.
    pub(crate) fn items(self) -> u64 {
        self.0.iter().map(|&size| u64::from(size)).fold(1, u64::saturating_mul)
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Self([x, 1, 1])
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Self([x, y, 1])
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self([x, y, z])
    }
}

impl From<[u32; 3]> for Dim3 {
    fn from(sizes: [u32; 3]) -> Self {
        Self(sizes)
    }
}
