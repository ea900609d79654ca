use amdinst_device::*;

#[kernel]
pub unsafe fn fill<T>(output: *mut T) {
    let _ = output;
}

fn main() {}
