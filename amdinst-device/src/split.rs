//! Arrays in LDS without `unsafe`: they are split among the work-items, and whole between two barriers.
//!
//! A kernel has such an array as a parameter with `#[shared]`, for which a launch passes nothing. So there is
//! one value a work-item, and none of two arrays is the same. [`Lds`] is uninitialized. Filled, it is a
//! [`Split`]: each element is one work-item's, to read and write. [`share`] and [`Split::share`] wait until
//! all work-items of the workgroup are there, lend the whole array for reading, and wait again until all are
//! done. Since elements are `Sync`, atomics may be changed then as well.
//!
//! What the compiler cannot see is whether all work-items of a workgroup come to a `share`, and to the same
//! one. The emulator's checks of barriers, races and uninitialized values do, which tests have by default. An
//! element is a type all of whose bit patterns are values, so that what a work-item has not filled is some
//! value.

use core::marker::PhantomData;
use core::sync::atomic::{
    AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32, AtomicU64,
    AtomicUsize,
};

use crate::{
    AtomicF32, AtomicF64, Element, barrier, local_id, workgroup_size_x, workgroup_size_y, workgroup_size_z,
    workitem_id_x, workitem_id_y, workitem_id_z,
};

/// `N` elements in LDS, uninitialized: a parameter with `#[shared]`.
///
/// ```
/// use amdinst_device::{Lds, PerItem, kernel, local_id};
///
/// /// Each workgroup of 64 turns its elements around.
/// #[kernel]
/// pub fn turn(mut values: PerItem<u32>, #[shared] tile: Lds<u32, 64>) {
///     // Work-items without an element come along.
///     let value = values.get();
///     let tile = tile.fill(|_| value.as_deref().copied().unwrap_or(0)).into_shared();
///     if let Some(value) = value {
///         *value = tile[63 - local_id() as usize];
///     }
/// }
/// # fn main() {}
/// ```
#[derive(Debug)]
pub struct Lds<T, const N: usize>(Place<[T; N]>);

/// `H` rows of `W` elements in LDS, uninitialized: a parameter with `#[shared]`.
#[derive(Debug)]
pub struct Lds2d<T, const W: usize, const H: usize>(Place<[[T; W]; H]>);

/// An array in LDS whose elements are split among the work-items of the workgroup: to the one with the flat
/// index `i` ([`local_id`]) belong `i`, `i` and the size of the workgroup, and so on.
#[derive(Debug)]
pub struct Split<T, const N: usize>(Place<[T; N]>);

/// Rows in LDS whose elements are split among the work-items of the workgroup: to the one at (x, y) belong
/// that in column x of row y, and those whole workgroups to the right and below. Work-items with another z
/// have the rows behind.
#[derive(Debug)]
pub struct Split2d<T, const W: usize, const H: usize>(Place<[[T; W]; H]>);

/// An array in LDS that each work-item has once.
#[derive(Debug)]
struct Place<A>(*mut A, PhantomData<A>);

impl<A> Place<A> {
    /// The whole.
    ///
    /// # Safety
    /// No work-item writes it while the reference lives, but through an atomic.
    #[inline(always)]
    unsafe fn whole<'a>(&self) -> &'a A {
        // SAFETY: it is as large and aligned, its bytes are values whatever they are, and the caller vouches
        // for the rest.
        unsafe { &*self.0 }
    }
}

/// What may stand in LDS: an [`Element`], or an atomic.
///
/// # Safety
/// Every bit pattern of the type's size is a valid value.
#[diagnostic::on_unimplemented(
    message = "an array in LDS cannot hold `{Self}`",
    label = "neither a number, an atomic, an array of such, nor a structure with `#[derive(KernelArg)]`",
    note = "LDS is uninitialized, so all that may stand in it must be a value of the type: take a `u8` for a `bool`, a number for an enum"
)]
pub unsafe trait InLds: Send + Sync + 'static {
    /// Does not compile for a type that has the trait without being such.
    #[doc(hidden)]
    const IS_IN_LDS: () = ();
}

// SAFETY: as the trait says.
#[diagnostic::do_not_recommend]
unsafe impl<T: Element + Send + Sync> InLds for T {
    const IS_IN_LDS: () = T::IS_ELEMENT;
}

macro_rules! atomics {
    ($($atomic:ident)*) => {$(
        // SAFETY: as the number in it.
        #[diagnostic::do_not_recommend]
        unsafe impl InLds for $atomic {}
    )*};
}

atomics!(AtomicU8 AtomicI8 AtomicU16 AtomicI16 AtomicU32 AtomicI32 AtomicU64 AtomicI64 AtomicUsize AtomicIsize AtomicF32 AtomicF64);

/// Work-items of the workgroup.
#[inline(always)]
fn workgroup_items() -> usize {
    (workgroup_size_x() * workgroup_size_y() * workgroup_size_z()) as usize
}

impl<T: InLds, const N: usize> Lds<T, N> {
    /// Fills it: each work-item writes its own elements, with what `value` gives for their indices.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
    pub fn fill(self, value: impl FnMut(usize) -> T) -> Split<T, N> {
        const { T::IS_IN_LDS }
        let mut split = Split(self.0);
        split.fill(value);
        split
    }
}

impl<T: InLds, const N: usize> Split<T, N> {
    /// The work-item's first element: the one at its flat index; `None` of a work-item beyond the last
    /// element.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
    pub fn get(&mut self) -> Option<&mut T> {
        let index = local_id() as usize;
        // SAFETY: within the array, and this work-item's.
        (index < N).then(|| unsafe { &mut *self.0.0.cast::<T>().add(index) })
    }

    /// Writes the work-item's elements, with what `value` gives for their indices.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
    pub fn fill(&mut self, mut value: impl FnMut(usize) -> T) {
        let mut index = local_id() as usize;
        while index < N {
            // SAFETY: within the array, and this work-item's.
            unsafe { self.0.0.cast::<T>().add(index).write(value(index)) };
            index += workgroup_items();
        }
    }

    /// Calls `change` with the index and value of each of the work-item's elements.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
    pub fn for_each(&mut self, mut change: impl FnMut(usize, &mut T)) {
        let mut index = local_id() as usize;
        while index < N {
            // SAFETY: within the array, and this work-item's.
            change(index, unsafe { &mut *self.0.0.cast::<T>().add(index) });
            index += workgroup_items();
        }
    }
}

impl<T: InLds, const W: usize, const H: usize> Lds2d<T, W, H> {
    /// Fills it: each work-item writes its own elements, with what `value` gives for their x and y.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
    pub fn fill(self, value: impl FnMut(usize, usize) -> T) -> Split2d<T, W, H> {
        const { T::IS_IN_LDS }
        let mut split = Split2d(self.0);
        split.fill(value);
        split
    }
}

impl<T: InLds, const W: usize, const H: usize> Split2d<T, W, H> {
    /// The row of the work-item's first element.
    #[inline(always)]
    fn row() -> usize {
        (workitem_id_z() * workgroup_size_y() + workitem_id_y()) as usize
    }

    /// An element's place.
    ///
    /// # Safety
    /// There is one, and it is this work-item's.
    #[inline(always)]
    unsafe fn at(&mut self, x: usize, y: usize) -> *mut T {
        // SAFETY: as the caller vouches.
        unsafe { self.0.0.cast::<T>().add(y * W + x) }
    }

    /// The work-item's first element: the one at its x and y; `None` of a work-item beyond the last column or
    /// row.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
    pub fn get(&mut self) -> Option<&mut T> {
        let (x, y) = (workitem_id_x() as usize, Self::row());
        // SAFETY: within the rows, and this work-item's.
        (x < W && y < H).then(|| unsafe { &mut *self.at(x, y) })
    }

    /// Writes the work-item's elements, with what `value` gives for their x and y.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
    pub fn fill(&mut self, mut value: impl FnMut(usize, usize) -> T) {
        self.each(|x, y, place| {
            // SAFETY: this work-item's element.
            unsafe { place.write(value(x, y)) };
        });
    }

    /// Calls `change` with the x, y and value of each of the work-item's elements.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
    pub fn for_each(&mut self, mut change: impl FnMut(usize, usize, &mut T)) {
        self.each(|x, y, place| {
            // SAFETY: this work-item's element.
            change(x, y, unsafe { &mut *place });
        });
    }

    #[inline(always)]
    fn each(&mut self, mut visit: impl FnMut(usize, usize, *mut T)) {
        let mut y = Self::row();
        while y < H {
            let mut x = workitem_id_x() as usize;
            while x < W {
                // SAFETY: within the rows, and this work-item's: the steps are the workgroup's sizes.
                visit(x, y, unsafe { self.at(x, y) });
                x += workgroup_size_x() as usize;
            }
            y += (workgroup_size_y() * workgroup_size_z()) as usize;
        }
    }
}

/// Arrays in LDS that are lent together: `&mut` of one, or a tuple of such.
///
/// # Safety
/// The arrays are whole, and nobody's alone, as long as what `whole` gives lives.
pub unsafe trait Share {
    /// The whole arrays.
    type Whole<'a>;

    /// Lends them.
    ///
    /// # Safety
    /// All work-items are between two barriers while it lives.
    #[doc(hidden)]
    unsafe fn whole<'a>(&self) -> Self::Whole<'a>;
}

/// Lends arrays in LDS for reading, several with one barrier before and one behind.
///
/// All work-items of the workgroup must come here, as to a [`barrier`].
///
/// ```
/// use amdinst_device::{Lds, PerItem, kernel, local_id, share};
///
/// #[kernel]
/// pub fn mix(mut sums: PerItem<u32>, #[shared] ups: Lds<u32, 64>, #[shared] downs: Lds<u32, 64>) {
///     let i = local_id() as usize;
///     let (mut ups, mut downs) = (ups.fill(|i| i as u32), downs.fill(|i| !i as u32));
///     let sum = share((&mut ups, &mut downs), |(ups, downs)| ups[63 - i] ^ downs[i / 2]);
///     if let Some(place) = sums.get() {
///         *place = sum;
///     }
/// }
/// # fn main() {}
/// ```
#[inline(always)]
#[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
pub fn share<S: Share, R>(arrays: S, read: impl for<'a> FnOnce(S::Whole<'a>) -> R) -> R {
    barrier();
    // SAFETY: the work-items' own parts are borrowed, so that nobody writes before the second barrier. What
    // is lent cannot leave `read`.
    let result = read(unsafe { arrays.whole() });
    barrier();
    result
}

macro_rules! arrays {
    ($({$($size:ident)*} $split:ident, $array:ty;)*) => {$(
        impl<T: InLds, $(const $size: usize),*> $split<T, $($size),*> {
            /// Lends the whole array for reading, between two barriers. All work-items of the workgroup must
            /// come here.
            #[inline(always)]
            #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
            pub fn share<R>(&mut self, read: impl FnOnce(&$array) -> R) -> R {
                share(self, read)
            }

            /// The whole array for good, behind one barrier. All work-items of the workgroup must come here.
            #[inline(always)]
            #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
            pub fn into_shared(self) -> &'static $array {
                barrier();
                // SAFETY: nobody has a part of it any more.
                unsafe { self.0.whole() }
            }
        }

        // SAFETY: it is borrowed mutably, and so is every other work-item's part.
        unsafe impl<T: InLds, $(const $size: usize),*> Share for &mut $split<T, $($size),*> {
            type Whole<'a> = &'a $array;

            #[inline(always)]
            unsafe fn whole<'a>(&self) -> &'a $array {
                // SAFETY: passed on to the caller.
                unsafe { self.0.whole() }
            }
        }
    )*};
}

arrays! {
    {N} Split, [T; N];
    {W H} Split2d, [[T; W]; H];
}

macro_rules! tuples {
    ($($($name:ident)*;)*) => {$(
        // SAFETY: each is.
        unsafe impl<$($name: Share),*> Share for ($($name,)*) {
            type Whole<'a> = ($($name::Whole<'a>,)*);

            #[inline(always)]
            #[expect(non_snake_case, reason = "type parameters' names")]
            unsafe fn whole<'a>(&self) -> Self::Whole<'a> {
                let ($($name,)*) = self;
                // SAFETY: passed on to the caller.
                unsafe { ($($name.whole(),)*) }
            }
        }
    )*};
}

tuples! {
    A B;
    A B C;
    A B C D;
}

/// A parameter with `#[shared]`: an array in LDS, which the entry point has room for.
///
/// # Safety
/// For the expansion of `#[kernel]` alone.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a parameter with `#[shared]` is an array in LDS, and `{Self}` is none",
    label = "neither `Lds<T, N>` nor `Lds2d<T, W, H>`",
    note = "without `#[shared]` it is what the launch passes"
)]
pub unsafe trait SharedParameter {
    /// What stands in LDS.
    type Array;

    /// # Safety
    /// It is in LDS, nothing else uses it, and this is done once a work-item.
    unsafe fn new(array: *mut Self::Array) -> Self;
}

macro_rules! parameters {
    ($({$($size:ident)*} $lds:ident, $array:ty;)*) => {$(
        // SAFETY: as the trait says.
        unsafe impl<T: InLds, $(const $size: usize),*> SharedParameter for $lds<T, $($size),*> {
            type Array = $array;

            #[inline(always)]
            unsafe fn new(array: *mut $array) -> Self {
                Self(Place(array, PhantomData))
            }
        }
    )*};
}

parameters! {
    {N} Lds, [T; N];
    {W H} Lds2d, [[T; W]; H];
}

/// Compiles if `T` is a [`SharedParameter`]; for the expansion of `#[kernel]`.
#[doc(hidden)]
pub const fn assert_shared<T: SharedParameter>() {}
