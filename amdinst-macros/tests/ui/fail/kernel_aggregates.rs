use amdinst_device::*;

#[kernel]
pub fn aggregates(array: [f32; 2], tuple: (u32, u32)) {
    let _ = (array, tuple);
}

fn main() {}
