use amdinst_device::*;

#[derive(Clone, Copy, KernelArg)]
pub struct NoLayout {
    pub x: f32,
}

#[derive(Clone, Copy, KernelArg)]
#[repr(u8)]
pub enum Choice {
    A,
    B,
}

#[derive(Clone, Copy, KernelArg)]
#[repr(C)]
pub struct OddField {
    pub pair: (u8, u32),
}

#[derive(KernelArg)]
#[repr(C)]
pub struct NotCopy {
    pub x: f32,
}

fn main() {}
