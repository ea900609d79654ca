use amdinst_device::{Element, KernelArg};

#[derive(Clone, Copy, KernelArg)]
#[repr(C)]
pub struct Between {
    pub kind: u8,
    pub mass: f32,
}

#[derive(Clone, Copy, KernelArg)]
#[repr(C)]
pub struct Behind {
    pub mass: f64,
    pub kind: u32,
}

#[derive(Clone, Copy, KernelArg)]
#[repr(C)]
pub struct Flag {
    pub mass: f32,
    pub is: [bool; 4],
}

#[derive(Clone, Copy, KernelArg)]
#[repr(C)]
pub struct Inner<T> {
    pub first: T,
    pub second: u32,
}

#[derive(Clone, Copy, KernelArg)]
#[repr(C, packed)]
pub struct Packed {
    pub kind: u8,
    pub mass: f32,
}

#[derive(Clone, Copy, KernelArg)]
#[repr(C)]
pub struct Outer {
    pub inner: [Between; 2],
}

// As a buffer has it looked at.
const _: () = <Packed as Element>::IS_ELEMENT;
const _: () = <Inner<i32> as Element>::IS_ELEMENT;
const _: () = <Between as Element>::IS_ELEMENT;
const _: () = <[Behind; 2] as Element>::IS_ELEMENT;
const _: () = <Flag as Element>::IS_ELEMENT;
const _: () = <Inner<u8> as Element>::IS_ELEMENT;
const _: () = <Outer as Element>::IS_ELEMENT;

fn main() {}
