use amdinst_device::*;

#[kernel]
pub struct Nothing;

#[kernel(workgroup_size = 64)]
pub fn sized() {}

fn main() {}
