//! Heat on a chip.

use harness::{Device, Launch as _, TestResult};
use rodinia::hotspot::{INNER, TILE, hotspot, reference};

use crate::{branch, numbers, optimised};

/// A chip of 36 by 36 in 3 by 3 tiles of 16 by 16, of which 12 by 12 are stored. A tile's columns on the chip are 14, 16 and
/// 14, so 44 by 44 lanes load. In the first step 14 columns of the middle tile are inside, 13 of the outer ones, where the
/// chip ends: 40 by 40 lanes. In the second step they are 12, the chip's 36 by 36.
#[harness::test]
fn tiles_are_computed_on_less_and_less(device: &Device) -> TestResult {
    let size = 3 * INNER as usize;
    let power = numbers(size * size, 11);
    let input: Vec<f32> = numbers(size * size, 12).iter().map(|value| 320.0 + 10.0 * value).collect();
    let mut output = device.zeroed(size * size);
    let chip = (0.5, 0.1, 0.12, 4.75, 0.001);
    let (capacity, x, y, z, step) = chip;
    let (power_buffer, input_buffer, size_i) = (device.buffer(&power), device.buffer(&input), size as i32);
    let arguments = (&power_buffer, &input_buffer, &mut output, size_i, size_i, capacity, x, y, z, step);
    let run = hotspot.launch(device, (3, 3), (TILE as u32, TILE as u32), arguments)?;
    assert_eq!(output.to_vec(), reference(&power, &input, size, size, chip));

    if optimised(&run) {
        let lanes = |name: &str| run.report().branch(name).lanes_taken();
        assert_eq!((lanes("load"), lanes("copy"), lanes("store")), (44 * 44, 40 * 40, 36 * 36));
        let store = run.report().branch("store");
        let (tile, border) = (TILE as usize, (TILE - INNER) as usize / 2);
        let inner = border..tile - border;
        let stores = |i: usize| inner.contains(&(i % tile)) && inner.contains(&(i / tile));
        let items = (0..9).flat_map(|_| (0..tile * tile).map(stores));
        let expected = branch(items, tile * tile, hotspot.wave_size(device)?);
        assert_eq!((store.executions(), store.diverged()), (expected.executions, expected.diverged));
    }
    Ok(())
}
