use amdinst_device::*;

#[derive(Clone, Copy)]
pub struct Vector {
    pub x: f32,
    pub y: f32,
}

#[kernel]
pub fn scale(by: Vector) {
    let _ = by;
}

fn main() {}
