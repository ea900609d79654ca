use amdinst_device::*;

#[kernel]
pub fn names(n: u32) {
    #[probe(tail)]
    if n > 1 {}
    #[probe = "tail"]
    if n > 2 {}
    #[probe("")]
    if n > 3 {}
}

#[probe(7)]
fn device_function() {}

fn main() {}
