use amdinst_device::*;

#[kernel]
pub fn fill(value: impl Copy) {
    let _ = value;
}

fn main() {}
