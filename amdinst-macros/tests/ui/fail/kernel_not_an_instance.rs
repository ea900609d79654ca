use amdinst_device::*;

#[kernel(T = [f32, f64], N = [2])]
pub fn fill<T: Copy, const N: usize>(value: T, mut output: PerItem<T, N>) {
    output.chunk().fill(value);
}

fn main() {
    let _ = fill::<f64, 2>();
    let _ = fill::<u32, 2>();
}
