//! Buffers as rows of one length, for kernels that have their elements by x and y.

use std::marker::PhantomData;

use amdinst_device::Element;

use crate::buffer::{Buffer, BufferSlice, BufferSliceMut, Region};

/// A [`Buffer`], or a part of one, as rows that a kernel reads ([`Slice2d`](amdinst_device::Slice2d)).
#[derive(Clone, Copy, Debug)]
pub struct BufferRows<'a, T: Element> {
    rows: Rows,
    elements: PhantomData<&'a Buffer<T>>,
}

/// A [`Buffer`], or a part of one, as rows that a kernel writes ([`PerItem2d`](amdinst_device::PerItem2d)).
#[derive(Debug)]
pub struct BufferRowsMut<'a, T: Element> {
    rows: Rows,
    elements: PhantomData<&'a mut Buffer<T>>,
}

/// Elements on a device, row by row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub(crate) region: Region,
    /// Elements of a row.
    pub(crate) width: usize,
}

impl Rows {
    #[track_caller]
    fn new(region: Region, width: usize) -> Self {
        let len = region.len;
        assert!(
            width > 0 && len.is_multiple_of(width),
            "a buffer of {len} values has no whole rows of {width}"
        );
        assert!(
            width.max(len / width) <= u32::MAX as usize,
            "rows of {width} values, {} of them: a work-item has u32 coordinates",
            len / width
        );
        Self { region, width }
    }

    /// Width and height, as a kernel gets them: two little-endian u32.
    pub(crate) fn sizes(&self) -> [u8; 8] {
        let height = self.region.len / self.width;
        (self.width as u64 | (height as u64) << 32).to_le_bytes()
    }
}

/// The way to rows, from what is borrowed and from what is a part.
macro_rules! rows {
    ($(#[$doc:meta] $name:ident -> $rows:ident, of $buffer:ident by $borrow:ty, of $part:ident;)*) => {$(
        impl<T: Element> $buffer<T> {
            #[$doc]
            ///
            /// # Panics
            /// When the last row is not whole.
            #[track_caller]
            pub fn $name(self: $borrow, width: usize) -> $rows<'_, T> {
                $rows { rows: Rows::new(self.region(), width), elements: PhantomData }
            }
        }

        impl<'a, T: Element> $part<'a, T> {
            #[$doc]
            ///
            /// # Panics
            /// When the last row is not whole.
            #[track_caller]
            pub fn $name(self, width: usize) -> $rows<'a, T> {
                $rows { rows: Rows::new(self.region(), width), elements: PhantomData }
            }
        }

        impl<T: Element> $rows<'_, T> {
            pub(crate) const fn rows(&self) -> Rows {
                self.rows
            }
        }
    )*};
}

rows! {
    /// Its elements as rows of `width` each, for a kernel to read by x and y.
    rows -> BufferRows, of Buffer by &Self, of BufferSlice;
    /// Its elements as rows of `width` each, for a kernel to write by x and y.
    rows_mut -> BufferRowsMut, of Buffer by &mut Self, of BufferSliceMut;
}
