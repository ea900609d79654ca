use amdinst_device::*;

// No launch passes it.
#[kernel]
pub fn without(mut output: PerItem<f32>, tile: Lds<f32, 64>) {
    let _ = (output.get(), tile);
}

// What the type says.
#[kernel]
pub fn with_a_size(#[shared(64)] tile: Lds<f32, 64>) {
    let _ = tile;
}

fn main() {}
