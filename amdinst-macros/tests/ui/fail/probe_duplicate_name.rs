use amdinst_device::*;

#[kernel]
pub fn twice(n: u32) {
    #[probe("tail")]
    if n > 1 {}
    #[probe("tail")]
    while n > 2 {}
}

fn main() {}
