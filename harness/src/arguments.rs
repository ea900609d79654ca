//! Kernel arguments, checked against the kernel's parameters when the test is compiled.

use amdinst_device::KernelArg;

use crate::buffer::{Buffer, Element};
use crate::device::Allocation;

/// A value that may be passed for a kernel parameter of type `P`.
///
/// Scalars are passed by value, `&Buffer<T>` or `&mut Buffer<T>` for `*const T`, and `&mut Buffer<T>` for `*mut T`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for a kernel parameter of type `{P}`",
    label = "not an argument for `{P}`",
    note = "scalars are passed by value; `&Buffer<T>` goes with `*const T`, and `&mut Buffer<T>` with `*mut T`"
)]
pub trait Argument<P: KernelArg> {
    /// Adds the argument to those of a launch.
    fn push(self, values: &mut Values);
}

/// A tuple of arguments for a kernel whose parameters are the tuple `P`.
#[diagnostic::on_unimplemented(
    message = "these arguments do not fit a kernel with the parameters `{P}`",
    label = "expected arguments for `{P}`",
    note = "pass one argument for each parameter, in a tuple; a single one is written `(value,)`"
)]
pub trait Arguments<P> {
    /// Adds each argument in order.
    fn push_all(self, values: &mut Values);
}

/// The arguments of a launch, as bytes.
#[derive(Debug, Default)]
pub struct Values {
    values: Vec<Value>,
}

/// One argument.
#[derive(Debug)]
pub(crate) struct Value {
    /// Its little-endian bytes.
    pub(crate) bytes: Vec<u8>,
    /// For a buffer: the device that it lives on.
    pub(crate) device: Option<u64>,
}

impl Values {
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.values.iter()
    }

    fn scalar(&mut self, bytes: &[u8]) {
        self.values.push(Value { bytes: bytes.to_vec(), device: None });
    }

    fn buffer(&mut self, allocation: &Allocation) {
        let bytes = allocation.address().to_le_bytes().to_vec();
        self.values.push(Value { bytes, device: Some(allocation.device_id()) });
    }
}

macro_rules! scalars {
    ($($ty:ty)*) => {$(
        impl Argument<$ty> for $ty {
            fn push(self, values: &mut Values) {
                values.scalar(&self.to_le_bytes());
            }
        }
    )*};
}

scalars!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64);

impl Argument<bool> for bool {
    fn push(self, values: &mut Values) {
        values.scalar(&[u8::from(self)]);
    }
}

impl<T: Element> Argument<*const T> for &Buffer<T> {
    fn push(self, values: &mut Values) {
        values.buffer(self.allocation());
    }
}

impl<T: Element> Argument<*const T> for &mut Buffer<T> {
    fn push(self, values: &mut Values) {
        values.buffer(self.allocation());
    }
}

impl<T: Element> Argument<*mut T> for &mut Buffer<T> {
    fn push(self, values: &mut Values) {
        values.buffer(self.allocation());
    }
}

macro_rules! tuples {
    ($($argument:ident $parameter:ident),*) => {
        impl<$($argument, $parameter),*> Arguments<($($parameter,)*)> for ($($argument,)*)
        where
            $($parameter: KernelArg, $argument: Argument<$parameter>,)*
        {
            #[allow(non_snake_case, unused_variables, reason = "type parameters' names; the empty tuple has none")]
            fn push_all(self, values: &mut Values) {
                let ($($argument,)*) = self;
                $($argument.push(values);)*
            }
        }
        tuples!(@shorter $($argument $parameter),*);
    };
    (@shorter $first:ident $first_parameter:ident $(, $argument:ident $parameter:ident)*) => {
        tuples!($($argument $parameter),*);
    };
    (@shorter) => {};
}

tuples!(
    A0 P0, A1 P1, A2 P2, A3 P3, A4 P4, A5 P5, A6 P6, A7 P7, A8 P8, A9 P9, A10 P10, A11 P11, A12 P12, A13 P13, A14 P14,
    A15 P15
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_bytes_in_order() {
        fn push<P, A: Arguments<P>>(arguments: A) -> Vec<Vec<u8>> {
            let mut values = Values::default();
            arguments.push_all(&mut values);
            values.iter().map(|value| value.bytes.clone()).collect()
        }
        let bytes = push::<(u8, f32, i64, bool), _>((7, 1.0, -2, true));
        assert_eq!(
            bytes,
            [vec![7], vec![0, 0, 0x80, 0x3f], vec![0xfe, 255, 255, 255, 255, 255, 255, 255], vec![1]]
        );
        assert!(push::<(), _>(()).is_empty());
    }
}
