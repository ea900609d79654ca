//! What may be passed to a kernel.

/// A type that a kernel takes as a parameter: a scalar or a raw pointer.
///
/// Structs are left out: how the `gpu-kernel` ABI passes them is not settled (rust-lang/rust#162177).
///
/// # Safety
/// Every bit pattern that the host writes for a value of the type means the same value on the device, and the `gpu-kernel`
/// ABI puts it at its natural alignment in the kernarg segment.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot take `{Self}` by value",
    label = "not a scalar or a raw pointer",
    note = "pass its fields one by one, or a pointer to a buffer that holds it"
)]
pub unsafe trait KernelArg: Copy + 'static {}

macro_rules! scalars {
    ($($ty:ty)*) => {$(
        // SAFETY: a little-endian scalar of the same size and alignment on both sides.
        unsafe impl KernelArg for $ty {}
    )*};
}

scalars!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64 bool);

// SAFETY: a 64-bit flat address on both sides.
unsafe impl<T: 'static> KernelArg for *const T {}
// SAFETY: as above.
unsafe impl<T: 'static> KernelArg for *mut T {}

/// Compiles if `T` is a [`KernelArg`]; for the expansion of `#[kernel]`.
#[doc(hidden)]
pub const fn assert_kernel_arg<T: KernelArg>() {}
