//! Numbers as a kernel finds them in memory, and numbers to begin with.

/// A number with a form in memory.
pub(crate) trait Plain: Copy {
    /// Adds its little-endian bytes.
    fn put(self, bytes: &mut Vec<u8>);
    /// The number that `bytes`, as many as it has, are.
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! plain {
    ($($number:ty),*) => {$(
        impl Plain for $number {
            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }
            fn get(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("as many bytes as the number has"))
            }
        }
    )*};
}
plain!(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64, half::f16, half::bf16);

/// The bytes of numbers in a row.
pub(crate) fn bytes<T: Plain>(numbers: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(numbers));
    numbers.iter().for_each(|number| number.put(&mut bytes));
    bytes
}

/// The numbers that stand in `bytes`.
pub(crate) fn numbers<T: Plain>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(T::get).collect()
}

/// Numbers that look random and are the same each time (Steele's SplitMix64).
pub(crate) fn random(count: usize, seed: u64) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(1);
    let next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = state;
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// [`random`], 32 bits each.
pub(crate) fn random32(count: usize, seed: u64) -> Vec<u32> {
    random(count, seed).into_iter().map(|number| (number >> 32) as u32).collect()
}

/// Doubles between -1 and 1.
pub(crate) fn fractions(count: usize, seed: u64) -> Vec<f64> {
    random(count, seed).into_iter().map(|number| (number as i64 as f64) / (i64::MAX as f64)).collect()
}
