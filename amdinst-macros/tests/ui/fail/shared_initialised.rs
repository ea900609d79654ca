use amdinst_device::*;

shared! {
    static TILE: [f32; 4] = [0.0; 4];
}

shared! {
    static mut OTHER: [f32; 4];
}

fn main() {}
