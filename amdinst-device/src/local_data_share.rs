//! Variables in the local data share (LDS).

use core::marker::PhantomData;

/// A variable in LDS, one copy a workgroup, declared with [`shared!`](crate::shared).
///
/// It is uninitialized when the kernel starts. Work-items see each other's writes after a
/// [`barrier`](crate::barrier).
pub struct Shared<T, B>(PhantomData<(fn() -> T, B)>);

impl<T, B> Clone for Shared<T, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, B> Copy for Shared<T, B> {}

impl<T, B: Backing<T>> Shared<T, B> {
    /// The address of the variable in the workgroup's LDS.
    #[inline(always)]
    pub fn get(self) -> *mut T {
        B::base()
    }
}

impl<T, const N: usize, B: Backing<[T; N]>> Shared<[T; N], B> {
    /// The address of the first element.
    #[inline(always)]
    pub fn as_mut_ptr(self) -> *mut T {
        B::base().cast()
    }

    /// How many elements it has.
    #[expect(clippy::len_without_is_empty, reason = "an array of no elements is of no use in LDS")]
    pub const fn len(self) -> usize {
        N
    }
}

/// LDS whose size the launch decides (`launch_with_lds`), declared with [`shared!`](crate::shared) as a
/// slice: `static TILE: [f32];`. All such variables of a kernel begin at one place, behind those of a size of
/// their own. How many elements there is room for is the launch's to say, as a parameter: the packet of a
/// dispatch also counts the LDS of an instrumented kernel's counters.
pub struct DynamicShared<T, B>(PhantomData<(fn() -> T, B)>);

impl<T, B> Clone for DynamicShared<T, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, B> Copy for DynamicShared<T, B> {}

impl<T, B: Backing<[T; 0]>> DynamicShared<T, B> {
    /// The address of the first element.
    #[inline(always)]
    pub fn as_mut_ptr(self) -> *mut T {
        B::base().cast()
    }
}

/// Makes the constant; for the expansion of `shared!`.
#[doc(hidden)]
pub const fn dynamic_shared<T, B>() -> DynamicShared<T, B> {
    DynamicShared(PhantomData)
}

/// Says where a variable of type `T` is; implemented by [`shared!`](crate::shared) only.
///
/// # Safety
/// `base` gives the address of a variable in LDS of `T`'s size and alignment that nothing else uses.
#[doc(hidden)]
pub unsafe trait Backing<T> {
    /// The variable's address.
    fn base() -> *mut T;
}

/// Makes the constant; for the expansion of `shared!`.
#[doc(hidden)]
pub const fn shared<T, B>() -> Shared<T, B> {
    Shared(PhantomData)
}

/// The record that the link step defines the variable from: size and alignment in bytes (two little-endian
/// u32), the symbol, a NUL. `N` is the symbol's length and 9.
#[doc(hidden)]
pub const fn shared_record<T, const N: usize>(symbol: &str) -> [u8; N] {
    assert!(size_of::<T>() <= u32::MAX as usize, "no GPU has so much LDS");
    let mut record = [0; N];
    let (size, rest) = record.split_at_mut(4);
    let (align, name) = rest.split_at_mut(4);
    size.copy_from_slice(&(size_of::<T>() as u32).to_le_bytes());
    align.copy_from_slice(&(align_of::<T>() as u32).to_le_bytes());
    name.split_at_mut(symbol.len()).0.copy_from_slice(symbol.as_bytes());
    record
}
