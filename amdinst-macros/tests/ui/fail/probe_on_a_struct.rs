use amdinst_device::*;

#[probe]
pub struct Nothing;

fn main() {}
