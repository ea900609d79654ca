use amdinst_device::*;

#[kernel]
pub fn double(values: &mut [f32]) {
    values[0] *= 2.0;
}

#[kernel]
pub fn twice(mut values: PerItem<f32>) {
    let (first, second) = (values.get(), values.get());
    let _ = (first, second);
}

#[kernel]
pub fn copied(values: PerItem<f32>) {
    let (mut one, mut other) = (values, values);
    let _ = (one.get(), other.get());
}

fn main() {}
