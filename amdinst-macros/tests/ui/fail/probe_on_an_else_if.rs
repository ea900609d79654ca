use amdinst_device::*;
#[kernel]
pub fn k(n: u32) {
    if n > 1 {} else #[probe("x")] if n > 2 {}
}

fn main() {}
