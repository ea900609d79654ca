use amdinst_device::*;

#[kernel]
pub fn answer() -> u32 {
    42
}

fn main() {}
