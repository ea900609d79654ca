//! The test of the guide's page "Port a CPU loop".

use blur::{blur, cpu};
use harness::{Device, Launch as _, TestResult};

const WIDTH: u32 = 256;
const HEIGHT: u32 = 16;

#[harness::test]
fn as_on_the_cpu(device: &Device) -> TestResult {
    let image: Vec<u32> = (0..WIDTH * HEIGHT).map(|i| i.wrapping_mul(2_654_435_761) >> 24).collect();
    let mut blurred = device.zeroed(image.len());
    blur.launch(device, HEIGHT, WIDTH, (WIDTH, &device.buffer(&image), &mut blurred))?;
    assert_eq!(blurred.to_vec(), cpu::blur(&image, WIDTH as usize));
    Ok(())
}

harness::main!();
