use amdinst_device::{KernelArg, PerItem, kernel};
use harness::{Device, Launch as _};

#[derive(Clone, Copy, KernelArg)]
#[repr(C)]
pub struct Size {
    pub width: u32,
    pub height: u32,
}

#[kernel]
pub fn blur(size: Size, radius: f32, image: &[f32], blurred: PerItem<f32>) {
    let _ = (size, radius, image, blurred);
}

fn test(device: &Device) {
    let size = Size { width: 8, height: 8 };
    let image = device.zeroed::<f32>(64);
    let mut blurred = device.zeroed::<f32>(64);
    // Another number.
    let _ = blur.launch(device, 1, 64, (size, 1_u32, &image, &mut blurred));
    // Another structure.
    let _ = blur.launch(device, 1, 64, ((8, 8), 1.0, &image, &mut blurred));
    // What is written is not borrowed mutably.
    let _ = blur.launch(device, 1, 64, (size, 1.0, &image, &blurred));
    // Other elements.
    let _ = blur.launch(device, 1, 64, (size, 1.0, &device.zeroed::<f64>(64), &mut blurred));
    // The host's memory.
    let _ = blur.launch(device, 1, 64, (size, 1.0, &[1.0_f32][..], &mut blurred));
    // One too few.
    let _ = blur.launch(device, 1, 64, (size, 1.0, &mut blurred));
}

fn main() {}
