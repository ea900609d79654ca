use amdinst_device::{PerItem, kernel};
use harness::{Device, Launch as _};

#[kernel]
pub fn add(input: &[f32], output: PerItem<f32>) {
    let _ = (input, output);
}

fn test(device: &Device) {
    let mut both = device.zeroed::<f32>(64);
    let _ = add.launch(device, 1, 64, (&both, &mut both));
}

fn main() {}
