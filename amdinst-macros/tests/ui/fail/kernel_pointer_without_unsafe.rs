use amdinst_device::*;

#[kernel]
pub fn fill(output: *mut f32, value: f32) {
    let _ = (output, value);
}

fn main() {}
