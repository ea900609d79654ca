//! Kernel arguments, checked against the kernel's parameters when the test is compiled.

use std::ptr::NonNull;
use std::sync::atomic::{
    AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32, AtomicU64,
    AtomicUsize,
};

use amdinst_device::__private::Written;
use amdinst_device::{
    AtomicF32, AtomicF64, Element, KernelArg, PerGroup, PerItem, PerItem2d, Plain, Slice2d, Strided,
};

use crate::buffer::{Buffer, BufferSlice, BufferSliceMut, Region};
use crate::dim3::Dim3;
use crate::rows::{BufferRows, BufferRowsMut, Rows};

/// A value that may be passed for a kernel parameter of type `P`. `N` is for messages: a type with the
/// parameter's name.
///
/// Numbers, arrays and structures with `#[derive(KernelArg)]` are passed by value. What a kernel reads
/// (`*const T`, `&[T]`) is a `&Buffer<T>` or a part of one; for writing (`*mut T`, `PerItem<T>`,
/// `Strided<T>`, `PerGroup<T>`, atomics), a `&mut Buffer<T>` or a part of one. Rows are `buffer.rows(width)`
/// (`Slice2d<T>`) and `buffer.rows_mut(width)` (`PerItem2d<T>`).
///
/// The compiler recommends none of its implementations: it would list them all.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for `{N}: {P}`",
    label = "the kernel's parameter is a `{P}`",
    note = "numbers and structures are passed by value, `&Buffer<T>` for what is read (`*const T`, `&[T]`), and `&mut Buffer<T>` for what is \
            written (`*mut T`, `PerItem<T>`, atomics)",
    note = "what stands in the host's memory is passed as a buffer, `&device.buffer(&values)`, and rows as `buffer.rows(width)` (`Slice2d<T>`) or \
            `buffer.rows_mut(width)` (`PerItem2d<T>`)"
)]
pub trait Argument<P: KernelArg, N = ()> {
    /// Adds the argument to those of a launch.
    fn push(self, values: &mut Values);
}

/// A tuple of arguments for a kernel whose parameters are the tuple `P`. `N` is for messages: types with the
/// parameters' names.
///
/// All tuples have it by one implementation. Those of each length would be listed behind each error about an
/// argument.
#[diagnostic::on_unimplemented(
    message = "these arguments do not fit a kernel with the parameters `{P}`",
    label = "expected arguments for `{P}`",
    note = "pass one argument for each parameter, in a tuple; a single one is written `(value,)`"
)]
pub trait Arguments<P, N = ()> {
    /// Adds each argument in order.
    fn push_all(self, values: &mut Values);
}

impl<P, N, A: ArgumentTuple<P, N>> Arguments<P, N> for A {
    fn push_all(self, values: &mut Values) {
        self.push_each(values);
    }
}

/// [`Arguments`] of one number.
#[diagnostic::on_unimplemented(
    message = "these arguments do not fit a kernel with the parameters `{P}`",
    label = "expected arguments for `{P}`",
    note = "pass one argument for each parameter, in a tuple; a single one is written `(value,)`"
)]
pub trait ArgumentTuple<P, N = ()> {
    #[doc(hidden)]
    fn push_each(self, values: &mut Values);
}

/// The arguments of a launch, as bytes.
#[derive(Debug, Default)]
pub struct Values {
    values: Vec<Value>,
    /// The parameter that is passed.
    parameter: usize,
}

/// One argument of the code object; a slice has two.
#[derive(Debug)]
pub(crate) struct Value {
    /// Its little-endian bytes.
    pub(crate) bytes: Vec<u8>,
    /// For a buffer: the device that it lives on.
    pub(crate) device: Option<u64>,
    /// The kernel's parameter, from 0.
    pub(crate) parameter: usize,
    /// Which elements it lets work-items write.
    pub(crate) reach: Option<Reach>,
}

/// Which elements of a buffer work-items may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Elements of the buffer.
    pub(crate) elements: usize,
    /// For whom there are some.
    pub(crate) each: Each,
}

/// For whom there are elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Each {
    /// So many for each work-item, by its index in x.
    WorkItem(usize),
    /// One for each work-item, by its place in x and y in rows of so many.
    Place(usize),
    /// One for each workgroup, by its index in x.
    Workgroup,
    /// All, whoever launches how many in x.
    Any,
}

impl Reach {
    /// Elements that nobody has in a launch of such sizes.
    pub(crate) fn left_over(&self, grid: Dim3, block: Dim3) -> u64 {
        let launched = |axis: usize| u64::from(grid.0[axis]) * u64::from(block.0[axis]);
        let reached = match self.each {
            Each::WorkItem(elements) => launched(0).saturating_mul(elements as u64),
            Each::Place(width) => {
                launched(0).min(width as u64) * launched(1).min((self.elements / width) as u64)
            }
            Each::Workgroup => u64::from(grid.0[0]),
            Each::Any => u64::MAX,
        };
        (self.elements as u64).saturating_sub(reached)
    }

    /// In how many dimensions no two work-items have the same element.
    pub(crate) fn dimensions(&self) -> usize {
        match self.each {
            Each::Place(_) => 2,
            Each::WorkItem(_) | Each::Workgroup | Each::Any => 1,
        }
    }
}

impl Value {
    /// What the kernel calls it.
    pub(crate) fn name(&self, kernel: Written) -> &'static str {
        kernel.parameters.get(self.parameter).copied().unwrap_or("_")
    }
}

impl Values {
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.values.iter()
    }

    fn add(&mut self, bytes: Vec<u8>, device: Option<u64>) {
        self.values.push(Value { bytes, device, parameter: self.parameter, reach: None });
    }

    fn plain<T: Plain>(&mut self, value: &T) {
        let mut bytes = vec![0; size_of::<T>()];
        value.store(&mut bytes);
        self.add(bytes, None);
    }

    fn address(&mut self, region: &Region) {
        self.add(region.address.to_le_bytes().to_vec(), Some(region.device));
    }

    fn slice(&mut self, region: &Region) {
        self.address(region);
        self.add((region.len as u64).to_le_bytes().to_vec(), None);
    }

    fn reach(&mut self, region: &Region, each: Each) {
        self.slice(region);
        if let Some(value) = self.values.last_mut() {
            value.reach = Some(Reach { elements: region.len, each });
        }
    }

    fn rows(&mut self, rows: &Rows) {
        self.address(&rows.region);
        self.add(rows.sizes().to_vec(), None);
    }

    fn reach_rows(&mut self, rows: &Rows) {
        self.rows(rows);
        if let Some(value) = self.values.last_mut() {
            value.reach = Some(Reach { elements: rows.region.len, each: Each::Place(rows.width) });
        }
    }

    fn null(&mut self, values: usize) {
        for _ in 0..values {
            self.add(vec![0; 8], None);
        }
    }
}

#[diagnostic::do_not_recommend]
impl<P: Plain + KernelArg, N> Argument<P, N> for P {
    fn push(self, values: &mut Values) {
        values.plain(&self);
    }
}

/// What is passed for parameters that a kernel reads, and for those that it writes.
macro_rules! buffers {
    ($($parameter:ty => $how:ident, $([$argument:ty])*;)*) => {$($(
        #[diagnostic::do_not_recommend]
        impl<T: Element, N> Argument<$parameter, N> for $argument {
            fn push(self, values: &mut Values) {
                values.$how(&self.region());
            }
        }
    )*)*};
}

buffers! {
    *const T => address, [&Buffer<T>] [&mut Buffer<T>] [BufferSlice<'_, T>] [BufferSliceMut<'_, T>];
    &'static [T] => slice, [&Buffer<T>] [BufferSlice<'_, T>];
    *mut T => address, [&mut Buffer<T>] [BufferSliceMut<'_, T>];
    Option<NonNull<T>> => address, [&mut Buffer<T>] [BufferSliceMut<'_, T>];
}

macro_rules! reaching {
    ($({$($n:ident)?} $parameter:ty, $each:expr;)*) => {$(
        reaching!(@one {$($n)?} $parameter, $each, [&mut Buffer<T>] [BufferSliceMut<'_, T>]);
    )*};
    (@one $n:tt $parameter:ty, $each:expr, $([$argument:ty])*) => {$(
        reaching!(@of $n $parameter, $each, $argument);
    )*};
    (@of {$($n:ident)?} $parameter:ty, $each:expr, $argument:ty) => {
        #[diagnostic::do_not_recommend]
        impl<T: Element, N $(, const $n: usize)?> Argument<$parameter, N> for $argument {
            fn push(self, values: &mut Values) {
                values.reach(&self.region(), $each);
            }
        }
    };
}

reaching! {
    {S} PerItem<T, S>, Each::WorkItem(S);
    {} Strided<T>, Each::Any;
    {} PerGroup<T>, Each::Workgroup;
}

/// What a kernel has of elements `T` that are borrowed mutably, in a slice: themselves, or atomics.
pub trait InSlice<T>: 'static {}

impl<T: Element> InSlice<T> for T {}

macro_rules! atomics {
    ($($atomic:ident $of:ty;)*) => {$(
        impl InSlice<$of> for $atomic {}
    )*};
}

atomics! {
    AtomicU8 u8;
    AtomicI8 i8;
    AtomicU16 u16;
    AtomicI16 i16;
    AtomicU32 u32;
    AtomicI32 i32;
    AtomicU64 u64;
    AtomicI64 i64;
    AtomicUsize usize;
    AtomicIsize isize;
    AtomicF32 f32;
    AtomicF64 f64;
}

macro_rules! slices {
    ($([$argument:ty])*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: Element, S: InSlice<T>, N> Argument<&'static [S], N> for $argument {
            fn push(self, values: &mut Values) {
                values.slice(&self.region());
            }
        }
    )*};
}

slices!([&mut Buffer<T>] [BufferSliceMut<'_, T>]);

macro_rules! rows {
    ($($parameter:ty => $how:ident, $([$argument:ty])*;)*) => {$($(
        #[diagnostic::do_not_recommend]
        impl<T: Element, N> Argument<$parameter, N> for $argument {
            fn push(self, values: &mut Values) {
                values.$how(&self.rows());
            }
        }
    )*)*};
}

rows! {
    Slice2d<T> => rows, [BufferRows<'_, T>] [BufferRowsMut<'_, T>];
    PerItem2d<T> => reach_rows, [BufferRowsMut<'_, T>];
}

macro_rules! options {
    ($($parameter:ty => $how:ident $values:literal, $([$argument:ty])*;)*) => {$($(
        #[diagnostic::do_not_recommend]
        impl<T: Element, N> Argument<$parameter, N> for Option<$argument> {
            fn push(self, values: &mut Values) {
                match self {
                    Some(argument) => values.$how(&argument.region()),
                    None => values.null($values),
                }
            }
        }
    )*)*};
}

options! {
    *const T => address 1, [&Buffer<T>] [&mut Buffer<T>] [BufferSlice<'_, T>] [BufferSliceMut<'_, T>];
    *mut T => address 1, [&mut Buffer<T>] [BufferSliceMut<'_, T>];
    Option<NonNull<T>> => address 1, [&mut Buffer<T>] [BufferSliceMut<'_, T>];
    Option<&'static [T]> => slice 2, [&Buffer<T>] [&mut Buffer<T>] [BufferSlice<'_, T>] [BufferSliceMut<'_, T>];
}

impl ArgumentTuple<()> for () {
    fn push_each(self, _: &mut Values) {}
}

/// For tuples of each length up to that of the list: those of the first ones, since the compiler shows some
/// of them, the shortest first.
macro_rules! tuples {
    ($($argument:ident $parameter:ident $name:ident),+) => {
        tuples!(@longer [] $($argument $parameter $name),+);
    };
    (@longer [$($before:tt)*] $argument:ident $parameter:ident $name:ident) => {
        tuples!(@one [$($before)* $argument $parameter $name]);
    };
    (@longer [$($before:tt)*] $argument:ident $parameter:ident $name:ident, $($rest:tt)+) => {
        tuples!(@one [$($before)* $argument $parameter $name]);
        tuples!(@longer [$($before)* $argument $parameter $name] $($rest)+);
    };
    (@one [$($argument:ident $parameter:ident $name:ident)+]) => {
        tuples!(@with [$($name)+] [($($name,)+)] $($argument $parameter, $name;)+);
        tuples!(@with [] [()] $($argument $parameter, ();)+);
    };
    (@with [$($named:ident)*] [$names:ty] $($argument:ident $parameter:ident, $name:ty;)+) => {
        impl<$($argument, $parameter,)+ $($named),*> ArgumentTuple<($($parameter,)+), $names> for ($($argument,)+)
        where
            $($parameter: KernelArg, $argument: Argument<$parameter, $name>,)+
        {
            #[expect(non_snake_case, reason = "type parameters' names")]
            fn push_each(self, values: &mut Values) {
                let ($($argument,)+) = self;
                $(
                    $argument.push(values);
                    values.parameter += 1;
                )+
            }
        }
    };
}

tuples!(
    A0 P0 N0, A1 P1 N1, A2 P2 N2, A3 P3 N3, A4 P4 N4, A5 P5 N5, A6 P6 N6, A7 P7 N7, A8 P8 N8, A9 P9 N9, A10 P10 N10, A11 P11 N11,
    A12 P12 N12, A13 P13 N13, A14 P14 N14, A15 P15 N15, A16 P16 N16, A17 P17 N17, A18 P18 N18, A19 P19 N19, A20 P20 N20,
    A21 P21 N21, A22 P22 N22, A23 P23 N23, A24 P24 N24, A25 P25 N25, A26 P26 N26, A27 P27 N27, A28 P28 N28, A29 P29 N29,
    A30 P30 N30, A31 P31 N31
);

#[cfg(test)]
mod tests {
    use super::*;

    fn push<P, A: Arguments<P>>(arguments: A) -> Vec<(usize, Vec<u8>)> {
        let mut values = Values::default();
        arguments.push_all(&mut values);
        values.iter().map(|value| (value.parameter, value.bytes.clone())).collect()
    }

    #[test]
    fn arguments_are_bytes_in_order() {
        let bytes = push::<(u8, f32, i64, bool), _>((7, 1.0, -2, true));
        let expected: [(usize, &[u8]); 4] =
            [(0, &[7]), (1, &[0, 0, 0x80, 0x3f]), (2, &[0xfe, 255, 255, 255, 255, 255, 255, 255]), (3, &[1])];
        assert_eq!(bytes, expected.map(|(parameter, bytes)| (parameter, bytes.to_vec())));
        assert!(push::<(), _>(()).is_empty());
    }

    #[test]
    fn padding_of_structures_is_zero() {
        #[derive(Clone, Copy, amdinst_device::KernelArg)]
        #[repr(C)]
        struct Inner {
            narrow: u8,
            wide: u32,
        }
        #[derive(Clone, Copy, amdinst_device::KernelArg)]
        #[repr(C)]
        struct Outer<T> {
            is: bool,
            inner: [Inner; 2],
            pointer: *const T,
        }
        let inner = [Inner { narrow: 1, wide: 2 }, Inner { narrow: 3, wide: 4 }];
        let outer = Outer::<f32> { is: true, inner, pointer: std::ptr::without_provenance(0x0506) };
        let bytes = push::<(Outer<f32>, u8), _>((outer, 9));
        let dwords = [1_u32, 1, 2, 3, 4, 0, 0x0506, 0];
        let expected: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
        assert_eq!(bytes, [(0, expected), (1, vec![9])]);
    }

    #[test]
    fn elements_that_nobody_has() {
        let left = |each, grid: u32, block: (u32, u32)| {
            Reach { elements: 10, each }.left_over(grid.into(), block.into())
        };
        assert_eq!(left(Each::WorkItem(2), 1, (4, 1)), 2);
        assert_eq!(left(Each::WorkItem(1), 1, (64, 1)), 0);
        assert_eq!(left(Each::Workgroup, 3, (21, 1)), 7);
        assert_eq!(left(Each::Any, 1, (1, 1)), 0);
        // Two rows of five.
        assert_eq!(left(Each::Place(5), 1, (64, 1)), 5);
        assert_eq!(left(Each::Place(5), 1, (4, 16)), 2);
        assert_eq!(left(Each::Place(5), 2, (4, 2)), 0);
    }

    #[test]
    fn nothing_is_null_and_has_no_length() {
        type Slice = Option<&'static [f32]>;
        let bytes = push::<(*const f32, Slice, u8), _>((None::<&Buffer<f32>>, None::<&Buffer<f32>>, 1));
        assert_eq!(bytes, [(0, vec![0; 8]), (1, vec![0; 8]), (1, vec![0; 8]), (2, vec![1])]);
    }
}
