//! Typed device memory.

use std::marker::PhantomData;

use crate::device::Allocation;
use crate::device::Device;

/// A type whose values are plain bytes, the same on host and device.
///
/// # Safety
/// Every bit pattern of the type's size is a valid value, and the type has no padding.
pub unsafe trait Element: Copy + Default + 'static {}

macro_rules! elements {
    ($($ty:ty)*) => {$(
        // SAFETY: a number without padding or invalid values.
        unsafe impl Element for $ty {}
    )*};
}

elements!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64);

// SAFETY: no padding between elements of one type, none of which has an invalid value.
unsafe impl<T: Element, const N: usize> Element for [T; N] where [T; N]: Default {}

/// `len` values of `T` in device memory, freed when dropped.
///
/// Passed to a kernel by reference: `&buffer` for a `*const T`, `&mut buffer` for a `*mut T`.
pub struct Buffer<T: Element> {
    allocation: Allocation,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Element> Buffer<T> {
    /// A buffer with a copy of `values`.
    ///
    /// # Panics
    /// When the device has no room for it.
    #[track_caller]
    pub fn from_slice(device: &Device, values: &[T]) -> Self {
        let mut buffer = Self::zeroed(device, values.len());
        buffer.write(values);
        buffer
    }

    /// A buffer of `len` values, all bytes zero.
    ///
    /// # Panics
    /// When the device has no room for it.
    #[track_caller]
    pub fn zeroed(device: &Device, len: usize) -> Self {
        let label = format!("buffer of {len} {}", std::any::type_name::<T>());
        match device.allocate(len * size_of::<T>(), &label) {
            Ok(allocation) => Self { allocation, len, element: PhantomData },
            Err(error) => panic!("{label}: {error}"),
        }
    }

    /// Values in it.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the buffer holds no value.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Its address on the device.
    pub const fn address(&self) -> u64 {
        self.allocation.address()
    }

    /// Copies its values to the host.
    ///
    /// # Panics
    /// When the device refuses.
    #[track_caller]
    pub fn to_vec(&self) -> Vec<T> {
        let mut values = vec![T::default(); self.len];
        // SAFETY: the vector's memory is as many bytes, all initialised, and any bytes make valid elements.
        let bytes = unsafe {
            std::slice::from_raw_parts_mut(values.as_mut_ptr().cast::<u8>(), size_of_val(values.as_slice()))
        };
        if let Err(error) = self.allocation.read(bytes) {
            panic!("reading a buffer back: {error}");
        }
        values
    }

    /// Replaces its values.
    ///
    /// # Panics
    /// When `values` has another length, or the device refuses.
    #[track_caller]
    pub fn write(&mut self, values: &[T]) {
        assert_eq!(values.len(), self.len, "a buffer of {} values takes as many", self.len);
        // SAFETY: elements have no padding, so all their bytes are initialised.
        let bytes = unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) };
        if let Err(error) = self.allocation.write(bytes) {
            panic!("writing a buffer: {error}");
        }
    }

    pub(crate) const fn allocation(&self) -> &Allocation {
        &self.allocation
    }
}

impl<T: Element> std::fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer<{}>({} at {:#x})", std::any::type_name::<T>(), self.len, self.address())
    }
}
