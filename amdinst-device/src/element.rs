//! What a buffer holds.

use core::ptr::NonNull;

use crate::kernel_arg::Plain;

/// A type whose values are plain bytes, the same on host and device: a number, a raw pointer, an array of
/// such, or a structure with [`#[derive(KernelArg)]`](macro@crate::KernelArg) that has no padding and no
/// `bool`.
///
/// # Safety
/// Every bit pattern of the type's size is a valid value, and the type has no padding.
#[diagnostic::on_unimplemented(
    message = "a buffer cannot hold `{Self}`",
    label = "neither a number, an array of such, nor a structure with `#[derive(KernelArg)]`",
    note = "write `#[derive(Clone, Copy, KernelArg)] #[repr(C)]` above a structure of yours, in the crate that defines it",
    note = "a `bool` is passed as a `u8`: other bytes than 0 and 1 are none"
)]
pub unsafe trait Element: Copy + 'static {
    /// Does not compile for a type that has the trait without being such.
    #[doc(hidden)]
    const IS_ELEMENT: () = ();
}

macro_rules! elements {
    ($($({$($generics:tt)*})? $ty:ty;)*) => {$(
        // SAFETY: a number or an address, without padding or invalid values.
        #[diagnostic::do_not_recommend]
        unsafe impl $(<$($generics)*>)? Element for $ty {}
    )*};
}

elements! {
    u8; u16; u32; u64; u128; usize; i8; i16; i32; i64; i128; isize; f32; f64;
    {T: 'static} *const T; {T: 'static} *mut T; {T: 'static} Option<NonNull<T>>;
}

#[cfg(feature = "half")]
elements!(half::f16; half::bf16;);

// SAFETY: no padding between elements of one type, none of which has an invalid value.
#[diagnostic::do_not_recommend]
unsafe impl<T: Element, const N: usize> Element for [T; N] {
    const IS_ELEMENT: () = T::IS_ELEMENT;
}

/// A structure with `#[derive(KernelArg)]`; for the expansion of that.
///
/// # Safety
/// Its fields have no invalid values but those of `bool`, and [`Plain::IS_ELEMENT`] does not compile if there
/// is one, or padding.
#[doc(hidden)]
pub unsafe trait Structure {}

// SAFETY: the constant, which every buffer looks at.
#[diagnostic::do_not_recommend]
unsafe impl<T: Structure + Plain> Element for T {
    const IS_ELEMENT: () = <T as Plain>::IS_ELEMENT;
}
