//! What may be passed to a kernel, and how it gets there.
//!
//! How the `gpu-kernel` ABI passes anything but a scalar differs between compilers (rust-lang/rust#162177).
//! So an entry point takes scalars and pointers alone. A slice is a pointer and a length. A structure is a
//! pointer to the kernarg segment, where the link step makes room for the structure itself (`byref` in LLVM's
//! terms): the note of the code object then has its size and offset.

use core::marker::PhantomData;
use core::ptr::NonNull;

/// A value whose bytes mean the same on host and device: a number, `bool`, a raw pointer, an array of such, a
/// structure with `#[derive(KernelArg)]`, or `PhantomData`, which has no bytes.
///
/// # Safety
/// Size, alignment and place of each field are the same on both sides. Every value that the host writes is a
/// valid one on the device. `store` writes all bytes that the device reads.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed to a kernel by value",
    label = "neither a scalar, a raw pointer, an array of such, nor a structure with `#[derive(KernelArg)]`",
    note = "write `#[derive(Clone, Copy, KernelArg)] #[repr(C)]` above a structure of yours; the layout of a tuple is not defined, so it needs one",
    note = "what stands in the host's memory is passed as a buffer: `&device.buffer(&values)`"
)]
pub unsafe trait Plain: Copy + 'static {
    /// Whether it is or holds a raw pointer.
    #[doc(hidden)]
    const HAS_POINTER: bool;
    /// Whether it is or holds a `bool`.
    #[doc(hidden)]
    const HAS_BOOL: bool = false;
    /// Whether some of its bytes are none of a field's.
    #[doc(hidden)]
    const HAS_PADDING: bool = false;
    /// Does not compile for a structure that no buffer holds: one with padding, or with a `bool`.
    #[doc(hidden)]
    const IS_ELEMENT: () = ();

    /// Writes its little-endian bytes to the beginning of `bytes`, and leaves padding as it is.
    #[doc(hidden)]
    fn store(&self, bytes: &mut [u8]);
}

/// A type that a kernel takes as a parameter.
///
/// | parameter | what a launch passes |
/// |---|---|
/// | a number, `bool`, an array, a structure with `#[derive(KernelArg)]` | the value |
/// | `*const T`, `&[T]` | `&Buffer<T>` or a part of one |
/// | `*mut T`, [`PerItem<T>`](crate::PerItem), [`Strided<T>`](crate::Strided), [`PerGroup<T>`](crate::PerGroup) | `&mut Buffer<T>` or a part of one |
/// | `&[AtomicU32]` and other atomics | `&mut Buffer<u32>` |
/// | [`Slice2d<T>`](crate::Slice2d), [`PerItem2d<T>`](crate::PerItem2d) | `buffer.rows(width)`, `buffer.rows_mut(width)` |
/// | a pointer, `Option<NonNull<T>>`, `Option<&[T]>` | `Option` of that: `None` is null |
///
/// # Safety
/// `from_wire` makes a valid value of each value that the host passes for the type.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot take `{Self}` by value",
    label = "neither a scalar, a raw pointer, a slice, an array, nor a structure with `#[derive(KernelArg)]`",
    note = "write `#[derive(Clone, Copy, KernelArg)] #[repr(C)]` above a structure of yours; the layout of a tuple is not defined, so it needs one",
    note = "for anything else, pass its parts, or a pointer to a buffer that holds it"
)]
pub unsafe trait KernelArg: Sized {
    /// What the entry point takes.
    #[doc(hidden)]
    type Wire;
    /// What it takes behind that; of no size where there is nothing.
    #[doc(hidden)]
    type Tail;
    /// The layout of what stands in the kernarg segment in place of the pointer `Wire`.
    #[doc(hidden)]
    const IN_MEMORY: Option<core::alloc::Layout>;
    /// Whether the caller must vouch for a pointer.
    #[doc(hidden)]
    const HAS_POINTER: bool;

    /// The value in the kernel.
    ///
    /// # Safety
    /// Both are what the launch gave to this work-item, and this is done once.
    #[doc(hidden)]
    unsafe fn from_wire(wire: Self::Wire, tail: Self::Tail) -> Self;
}

/// Stands for a value that is not passed.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct NoTail;

macro_rules! directly {
    ($({$($generics:tt)*} $ty:ty, $has_pointer:literal, |$value:ident| $bytes:expr $(, $has_bool:literal)?;)*) => {$(
        // SAFETY: a little-endian scalar or address of the same size and alignment on both sides.
        #[diagnostic::do_not_recommend]
        unsafe impl<$($generics)*> Plain for $ty {
            const HAS_POINTER: bool = $has_pointer;
            $(const HAS_BOOL: bool = $has_bool;)?

            #[inline(always)]
            fn store(&self, bytes: &mut [u8]) {
                let $value = *self;
                let own = $bytes;
                bytes[..own.len()].copy_from_slice(&own);
            }
        }

        // SAFETY: the value itself.
        unsafe impl<$($generics)*> KernelArg for $ty {
            type Wire = Self;
            type Tail = NoTail;
            const IN_MEMORY: Option<core::alloc::Layout> = None;
            const HAS_POINTER: bool = $has_pointer;

            #[inline(always)]
            unsafe fn from_wire(wire: Self, NoTail: NoTail) -> Self {
                wire
            }
        }
    )*};
}

macro_rules! numbers {
    ($($ty:ty)*) => {
        directly!($({} $ty, false, |value| value.to_le_bytes();)*);
    };
}

// Not those of 128 bits, which the device aligns to 8 bytes and the host to 16.
numbers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64);
directly! {
    {} bool, false, |value| [u8::from(value)], true;
    {T: 'static} *const T, true, |value| value.addr().to_le_bytes();
    {T: 'static} *mut T, true, |value| value.addr().to_le_bytes();
    {T: 'static} Option<NonNull<T>>, true, |value| value.map_or(0, |pointer| pointer.addr().get()).to_le_bytes();
}

#[cfg(feature = "half")]
directly! {
    {} half::f16, false, |value| value.to_le_bytes();
    {} half::bf16, false, |value| value.to_le_bytes();
}

// SAFETY: no bytes.
#[diagnostic::do_not_recommend]
unsafe impl<T: 'static> Plain for PhantomData<T> {
    const HAS_POINTER: bool = false;

    #[inline(always)]
    fn store(&self, _: &mut [u8]) {}
}

// SAFETY: as its elements, which stand one behind the other.
#[diagnostic::do_not_recommend]
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {
    const HAS_POINTER: bool = T::HAS_POINTER;
    const HAS_BOOL: bool = T::HAS_BOOL;
    const HAS_PADDING: bool = T::HAS_PADDING;
    const IS_ELEMENT: () = T::IS_ELEMENT;

    fn store(&self, bytes: &mut [u8]) {
        for (element, place) in self.iter().zip(bytes.chunks_mut(size_of::<T>().max(1))) {
            element.store(place);
        }
    }
}

// SAFETY: it is read where the launch has put it.
unsafe impl<T: Plain, const N: usize> KernelArg for [T; N] {
    type Wire = *const Self;
    type Tail = NoTail;
    const IN_MEMORY: Option<core::alloc::Layout> = Some(core::alloc::Layout::new::<Self>());
    const HAS_POINTER: bool = T::HAS_POINTER;

    #[inline(always)]
    unsafe fn from_wire(wire: *const Self, NoTail: NoTail) -> Self {
        // SAFETY: it points to the kernarg segment, where the launch has put a value.
        unsafe { wire.read() }
    }
}

// SAFETY: the launch passes a buffer of so many elements, which nobody writes while the kernel runs; or, of
// atomics, that all write as such.
unsafe impl<T: 'static> KernelArg for &[T] {
    type Wire = *const T;
    type Tail = usize;
    const IN_MEMORY: Option<core::alloc::Layout> = None;
    const HAS_POINTER: bool = false;

    #[inline(always)]
    unsafe fn from_wire(wire: *const T, tail: usize) -> Self {
        // SAFETY: as above. An empty buffer has an address, too.
        unsafe { core::slice::from_raw_parts(wire, tail) }
    }
}

// SAFETY: as a slice; the address is zero where there is none.
unsafe impl<T: 'static> KernelArg for Option<&[T]> {
    type Wire = *const T;
    type Tail = usize;
    const IN_MEMORY: Option<core::alloc::Layout> = None;
    const HAS_POINTER: bool = false;

    #[inline(always)]
    unsafe fn from_wire(wire: *const T, tail: usize) -> Self {
        // SAFETY: as of a slice.
        (!wire.is_null()).then(|| unsafe { core::slice::from_raw_parts(wire, tail) })
    }
}

/// Compiles if `T` is a [`KernelArg`], and without a pointer unless somebody vouches for it; for the
/// expansion of `#[kernel]`.
#[doc(hidden)]
#[track_caller]
pub const fn assert_kernel_arg<T: KernelArg>(vouched: bool, message: &str) {
    if T::HAS_POINTER && !vouched {
        panic!("{}", message);
    }
}

/// How one parameter of a kernel is passed; for the expansion of `#[kernel]`.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Passed {
    in_memory: Option<core::alloc::Layout>,
    has_tail: bool,
}

impl Passed {
    /// As the compiler passes it.
    pub const DIRECTLY: Self = Self { in_memory: None, has_tail: false };

    /// As `T` is.
    pub const fn of<T: KernelArg>() -> Self {
        Self { in_memory: T::IN_MEMORY, has_tail: size_of::<T::Tail>() != 0 }
    }
}

/// The length of [`kernel_record`].
#[doc(hidden)]
pub const fn kernel_record_length(passed: &[Passed], text: &str) -> usize {
    let (mut length, mut at) = (4 + text.len(), 0);
    while at < passed.len() {
        length += if passed[at].has_tail { 16 } else { 8 };
        at += 1;
    }
    length
}

/// The record of a kernel for the link step: how many parameters its entry point has, then size and alignment
/// of each that stands in memory, or zeros (all little-endian u32); then `text`: its symbol, its module's
/// path and its name, each with a NUL behind, and the most work-items of a workgroup, likewise, if the kernel
/// says so.
#[doc(hidden)]
pub const fn kernel_record<const N: usize>(passed: &[Passed], text: &str) -> [u8; N] {
    let mut record = [0; N];
    let (head, mut rest) = record.split_at_mut(4);
    head.copy_from_slice(&(((N - 4 - text.len()) / 8) as u32).to_le_bytes());
    let mut at = 0;
    while at < passed.len() {
        let (one, others) = rest.split_at_mut(if passed[at].has_tail { 16 } else { 8 });
        if let Some(layout) = passed[at].in_memory {
            let (size, align) = one.split_at_mut(4);
            size.copy_from_slice(&(layout.size() as u32).to_le_bytes());
            align.copy_from_slice(&(layout.align() as u32).to_le_bytes());
        }
        rest = others;
        at += 1;
    }
    rest.copy_from_slice(text.as_bytes());
    record
}
