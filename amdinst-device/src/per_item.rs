//! Parameters that say which elements a work-item may write, so that no two write the same one and a kernel
//! needs no `unsafe`.
//!
//! All are for launches in one dimension; the harness refuses others. [`PerItem2d`](crate::PerItem2d) is for
//! two. Each is made once a work-item, of a buffer that the launch borrows mutably, and cannot be copied.

use core::marker::PhantomData;

use crate::kernel_arg::KernelArg;
use crate::{global_id_x, global_size_x, local_id, workgroup_id_x};

/// `N` elements for each work-item (one, if `N` is not given): those from `N · global_id_x()` on.
///
/// ```
/// use amdinst_device::{PerItem, global_id_x, kernel};
///
/// /// `y += a · x`.
/// #[kernel]
/// pub fn saxpy(a: f32, x: &[f32], mut y: PerItem<f32>) {
///     if let Some(y) = y.get() {
///         *y += a * x[global_id_x() as usize];
///     }
/// }
/// # fn main() {}
/// ```
#[derive(Debug)]
pub struct PerItem<T, const N: usize = 1>(Elements<T>);

/// One element for each workgroup, which its first work-item may write: the result of a reduction.
#[derive(Debug)]
pub struct PerGroup<T>(Elements<T>);

/// Every `global_size_x()`-th element for each work-item: those of a loop over more elements than there are
/// work-items.
///
/// ```
/// use amdinst_device::{Strided, kernel};
///
/// #[kernel]
/// pub fn squares(mut output: Strided<u32>) {
///     for (i, element) in output.iter_mut() {
///         *element = (i * i) as u32;
///     }
/// }
/// # fn main() {}
/// ```
#[derive(Debug)]
pub struct Strided<T>(Elements<T>);

/// A buffer that some elements of are this work-item's.
#[derive(Debug)]
struct Elements<T> {
    first: *mut T,
    len: usize,
    element: PhantomData<T>,
}

impl<T> Elements<T> {
    /// The element at `index`, if there is one.
    ///
    /// # Safety
    /// It is this work-item's alone.
    #[inline(always)]
    unsafe fn get(&mut self, index: usize) -> Option<&mut T> {
        // SAFETY: within the buffer, and as the caller vouches.
        (index < self.len).then(|| unsafe { &mut *self.first.add(index) })
    }
}

impl<T> PerItem<T> {
    /// The work-item's element; `None` of a work-item beyond the last element.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
    pub fn get(&mut self) -> Option<&mut T> {
        // SAFETY: no other work-item of a launch in one dimension has this index.
        unsafe { self.0.get(global_id_x() as usize) }
    }
}

impl<T, const N: usize> PerItem<T, N> {
    /// Elements of the whole buffer.
    #[inline(always)]
    #[expect(clippy::len_without_is_empty, reason = "what counts is whether the work-item has an element")]
    pub const fn len(&self) -> usize {
        self.0.len
    }

    /// The work-item's elements: fewer than `N`, or none, at the buffer's end.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
    pub fn chunk(&mut self) -> &mut [T] {
        let begin = (global_id_x() as usize).saturating_mul(N).min(self.0.len);
        let len = N.min(self.0.len - begin);
        // SAFETY: within the buffer, and no other work-item has an index of these.
        unsafe { core::slice::from_raw_parts_mut(self.0.first.add(begin), len) }
    }
}

impl<T> PerGroup<T> {
    /// Elements of the whole buffer.
    #[inline(always)]
    #[expect(clippy::len_without_is_empty, reason = "what counts is whether the workgroup has an element")]
    pub const fn len(&self) -> usize {
        self.0.len
    }

    /// The workgroup's element, for its first work-item; `None` for others and beyond the last element.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
    pub fn get(&mut self) -> Option<&mut T> {
        if local_id() != 0 {
            return None;
        }
        // SAFETY: no other workgroup of a launch in one dimension has this index, and no other work-item of
        // it comes here.
        unsafe { self.0.get(workgroup_id_x() as usize) }
    }
}

impl<T> Strided<T> {
    /// Elements of the whole buffer.
    #[inline(always)]
    #[expect(clippy::len_without_is_empty, reason = "what counts is whether the work-item has an element")]
    pub const fn len(&self) -> usize {
        self.0.len
    }

    /// The work-item's elements, each with its index in the buffer.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
    pub fn iter_mut(&mut self) -> StridedIter<'_, T> {
        StridedIter {
            next: global_id_x() as usize,
            step: global_size_x() as usize,
            first: self.0.first,
            len: self.0.len,
            elements: PhantomData,
        }
    }
}

/// What [`Strided::iter_mut`] gives.
#[derive(Debug)]
pub struct StridedIter<'a, T> {
    next: usize,
    step: usize,
    first: *mut T,
    len: usize,
    elements: PhantomData<&'a mut T>,
}

impl<'a, T> Iterator for StridedIter<'a, T> {
    type Item = (usize, &'a mut T);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let index = self.next;
        if index >= self.len {
            return None;
        }
        self.next += self.step;
        // SAFETY: within the buffer; other work-items have other remainders of their indices by the step, and
        // this one comes once.
        Some((index, unsafe { &mut *self.first.add(index) }))
    }
}

macro_rules! parameters {
    ($($ty:ident $(<$n:ident>)?)*) => {$(
        // SAFETY: the launch passes a buffer of so many elements that nothing else has, and each work-item
        // makes one value of it.
        unsafe impl<T: 'static $(, const $n: usize)?> KernelArg for $ty<T $(, $n)?> {
            type Wire = *mut T;
            type Tail = usize;
            const IN_MEMORY: Option<core::alloc::Layout> = None;
            const HAS_POINTER: bool = false;

            #[inline(always)]
            unsafe fn from_wire(first: *mut T, len: usize) -> Self {
                Self(Elements { first, len, element: PhantomData })
            }
        }
    )*};
}

parameters!(PerItem<N> PerGroup Strided);
