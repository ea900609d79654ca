//! Typed device memory.

use std::marker::PhantomData;
use std::ops::{Bound, Range, RangeBounds};

use amdinst_device::Element;

use crate::device::Allocation;
use crate::device::Device;

/// `len` values of `T` in device memory, freed when dropped.
///
/// Passed to a kernel by reference: `&buffer` for reading (`*const T`, `&[T]`), `&mut buffer` for writing
/// (`*mut T`, `PerItem<T>`). `buffer.slice(16..)` and `buffer.slice_mut(16..)` are parts of it.
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
        const { T::IS_ELEMENT }
        let label = label::<T>(len);
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
        let mut values = Vec::<T>::with_capacity(self.len);
        // SAFETY: the vector has room for as many elements, and zeros make valid ones.
        unsafe {
            values.as_mut_ptr().write_bytes(0, self.len);
            values.set_len(self.len);
        }
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
        if let Err(error) = self.allocation.write(bytes_of(values)) {
            panic!("writing a buffer: {error}");
        }
    }

    /// The elements in `range`, for a kernel to read.
    ///
    /// # Panics
    /// When the buffer has fewer.
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> BufferSlice<'_, T> {
        BufferSlice { region: self.region().part(range), elements: PhantomData }
    }

    /// The elements in `range`, for a kernel to write.
    ///
    /// # Panics
    /// When the buffer has fewer.
    #[track_caller]
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> BufferSliceMut<'_, T> {
        BufferSliceMut { region: self.region().part(range), elements: PhantomData }
    }

    /// The first `mid` elements and the others.
    ///
    /// # Panics
    /// When the buffer has fewer.
    #[track_caller]
    pub fn split_at_mut(&mut self, mid: usize) -> (BufferSliceMut<'_, T>, BufferSliceMut<'_, T>) {
        let part = |region| BufferSliceMut { region, elements: PhantomData };
        (part(self.region().part(..mid)), part(self.region().part(mid..)))
    }

    /// Its address on the device, for a structure that a kernel takes.
    pub const fn as_ptr(&self) -> *const T {
        std::ptr::without_provenance(self.allocation.address() as usize)
    }

    /// Its address on the device, for a structure that a kernel takes.
    pub const fn as_mut_ptr(&mut self) -> *mut T {
        std::ptr::without_provenance_mut(self.allocation.address() as usize)
    }

    /// Where the byte at an offset has its value from, in words, as far as the device can tell.
    pub(crate) fn why(&self, offset: usize) -> Option<String> {
        self.allocation.why(offset)
    }

    pub(crate) fn region(&self) -> Region {
        Region {
            address: self.address(),
            len: self.len,
            size: size_of::<T>(),
            device: self.allocation.device_id(),
        }
    }
}

/// A buffer of so many values, for people; the runtime reads its type here.
pub(crate) fn label<T: Element>(len: usize) -> String {
    format!("buffer of {len} {}", std::any::type_name::<T>())
}

/// The bytes of elements, as they stand in memory.
pub(crate) const fn bytes_of<T: Element>(values: &[T]) -> &[u8] {
    // SAFETY: elements have no padding, so all their bytes are initialised.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) }
}

/// Elements on a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    pub(crate) address: u64,
    pub(crate) len: usize,
    /// Bytes of an element.
    size: usize,
    pub(crate) device: u64,
}

impl Region {
    #[track_caller]
    fn part(self, range: impl RangeBounds<usize>) -> Self {
        let Range { start, end } = Range {
            start: match range.start_bound() {
                Bound::Included(&start) => start,
                Bound::Excluded(&before) => before + 1,
                Bound::Unbounded => 0,
            },
            end: match range.end_bound() {
                Bound::Included(&last) => last + 1,
                Bound::Excluded(&end) => end,
                Bound::Unbounded => self.len,
            },
        };
        assert!(start <= end && end <= self.len, "a buffer of {} values has no {start}..{end}", self.len);
        Self { address: self.address + (start * self.size) as u64, len: end - start, ..self }
    }
}

/// A part of a [`Buffer`] that a kernel reads.
#[derive(Clone, Copy, Debug)]
pub struct BufferSlice<'a, T: Element> {
    region: Region,
    elements: PhantomData<&'a Buffer<T>>,
}

/// A part of a [`Buffer`] that a kernel writes.
#[derive(Debug)]
pub struct BufferSliceMut<'a, T: Element> {
    region: Region,
    elements: PhantomData<&'a mut Buffer<T>>,
}

macro_rules! slices {
    ($($ty:ident)*) => {$(
        impl<T: Element> $ty<'_, T> {
            /// Values in it.
            pub const fn len(&self) -> usize {
                self.region.len
            }

            /// Whether it holds no value.
            pub const fn is_empty(&self) -> bool {
                self.region.len == 0
            }

            pub(crate) const fn region(&self) -> Region {
                self.region
            }
        }
    )*};
}

slices!(BufferSlice BufferSliceMut);

impl<T: Element> std::fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer<{}>({} at {:#x})", std::any::type_name::<T>(), self.len, self.address())
    }
}
