use amdinst_device::*;

#[derive(Clone, Copy, KernelArg)]
#[repr(C)]
pub struct Input {
    pub values: *const f32,
    pub count: u32,
}

#[kernel]
pub fn sum(input: Input, mut output: PerItem<f32>) {
    let _ = (input, output.get());
}

fn main() {}
