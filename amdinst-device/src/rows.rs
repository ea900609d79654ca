//! Parameters that have a buffer's elements by x and y: rows of one length, which the launch gives
//! (`buffer.rows(width)`).

use core::marker::PhantomData;
use core::ops::Index;

use crate::kernel_arg::KernelArg;
use crate::{global_id_x, global_id_y};

/// Elements to read, in rows.
///
/// ```
/// use amdinst_device::{PerItem2d, Slice2d, global_id_x, global_id_y, kernel};
///
/// /// Each element becomes the sum of itself and the one on its left.
/// #[kernel]
/// pub fn smear(from: Slice2d<f32>, mut to: PerItem2d<f32>) {
///     let (x, y) = (global_id_x(), global_id_y());
///     if let Some(to) = to.get() {
///         let left = x.checked_sub(1).map_or(0.0, |left| from[(left, y)]);
///         *to = from[(x, y)] + left;
///     }
/// }
/// # fn main() {}
/// ```
#[derive(Debug)]
pub struct Slice2d<T: 'static> {
    elements: &'static [T],
    sizes: Sizes,
}

/// The element of rows at the work-item's place in x and y, to write. For launches in two dimensions; the
/// harness refuses others.
#[derive(Debug)]
pub struct PerItem2d<T> {
    first: *mut T,
    sizes: Sizes,
    element: PhantomData<T>,
}

/// Of rows.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    width: u32,
    height: u32,
}

impl Sizes {
    /// Of what the launch passes: two u32.
    #[inline(always)]
    const fn new(passed: usize) -> Self {
        Self { width: passed as u32, height: (passed as u64 >> 32) as u32 }
    }

    /// Where an element stands, if there is one.
    #[inline(always)]
    fn index(self, x: u32, y: u32) -> Option<usize> {
        (x < self.width && y < self.height).then(|| y as usize * self.width as usize + x as usize)
    }
}

impl<T> Clone for Slice2d<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Slice2d<T> {}

impl<T> Slice2d<T> {
    /// Elements of a row.
    #[inline(always)]
    pub const fn width(&self) -> u32 {
        self.sizes.width
    }

    /// How many rows.
    #[inline(always)]
    pub const fn height(&self) -> u32 {
        self.sizes.height
    }

    /// The element in column `x` of row `y`, if there is one.
    #[inline(always)]
    pub fn get(&self, x: u32, y: u32) -> Option<&'static T> {
        // SAFETY: there are as many elements as rows have.
        self.sizes.index(x, y).map(|index| unsafe { self.elements.get_unchecked(index) })
    }

    /// Row `y`, if there is one.
    #[inline(always)]
    pub fn row(&self, y: u32) -> Option<&'static [T]> {
        let (width, begin) = (self.sizes.width as usize, y as usize * self.sizes.width as usize);
        (y < self.sizes.height).then(|| &self.elements[begin..begin + width])
    }

    /// All elements, row by row.
    #[inline(always)]
    pub const fn as_slice(&self) -> &'static [T] {
        self.elements
    }
}

/// `rows[(x, y)]` panics where there is no such element.
impl<T> Index<(u32, u32)> for Slice2d<T> {
    type Output = T;

    #[inline(always)]
    #[track_caller]
    fn index(&self, (x, y): (u32, u32)) -> &T {
        match self.get(x, y) {
            Some(element) => element,
            None => panic!("no element at these x and y"),
        }
    }
}

impl<T> PerItem2d<T> {
    /// Elements of a row.
    #[inline(always)]
    pub const fn width(&self) -> u32 {
        self.sizes.width
    }

    /// How many rows.
    #[inline(always)]
    pub const fn height(&self) -> u32 {
        self.sizes.height
    }

    /// The work-item's element; `None` of a work-item beyond the last column or row.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
    pub fn get(&mut self) -> Option<&mut T> {
        let index = self.sizes.index(global_id_x(), global_id_y())?;
        // SAFETY: within the buffer, and no other work-item of a launch in two dimensions has this place.
        Some(unsafe { &mut *self.first.add(index) })
    }
}

// SAFETY: the launch passes a buffer of so many rows, which nobody writes while the kernel runs; or, of
// atomics, that all write as such.
unsafe impl<T: 'static> KernelArg for Slice2d<T> {
    type Wire = *const T;
    type Tail = usize;
    const IN_MEMORY: Option<core::alloc::Layout> = None;
    const HAS_POINTER: bool = false;

    #[inline(always)]
    unsafe fn from_wire(first: *const T, tail: usize) -> Self {
        let sizes = Sizes::new(tail);
        let len = sizes.width as usize * sizes.height as usize;
        // SAFETY: as above.
        Self { elements: unsafe { core::slice::from_raw_parts(first, len) }, sizes }
    }
}

// SAFETY: the launch passes a buffer of so many rows that nothing else has, and each work-item makes one
// value of it.
unsafe impl<T: 'static> KernelArg for PerItem2d<T> {
    type Wire = *mut T;
    type Tail = usize;
    const IN_MEMORY: Option<core::alloc::Layout> = None;
    const HAS_POINTER: bool = false;

    #[inline(always)]
    unsafe fn from_wire(first: *mut T, tail: usize) -> Self {
        Self { first, sizes: Sizes::new(tail), element: PhantomData }
    }
}
