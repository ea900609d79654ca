//! Grids and workgroups of two dimensions.

use harness::{Device, Launch as _, TestResult};
use test_kernels::{stencil, transpose};

use crate::{branches, optimised};

/// A matrix of 24 rows of 40, in tiles of 16 by 16: 3 by 2 workgroups, of which those at the right and those below are in part outside.
/// Tiles are stored with the sides exchanged.
#[harness::test]
fn a_transpose_diverges_at_the_edge_tiles(device: &Device) -> TestResult {
    let (width, height) = (40, 24);
    let input: Vec<f32> = (0..width * height).map(|i| i as f32).collect();
    let mut output = device.zeroed(width * height);
    let arguments = (width as u32, height as u32, &device.buffer(&input), &mut output);
    let run = transpose::transpose.launch(device, (3, 2), (16, 16), arguments)?;
    assert_eq!(output.to_vec(), transpose::reference(width, height, &input));

    if optimised(&run) {
        let lanes = transpose::transpose.wave_size(device)?;
        // Tile by tile, of each the work-items row by row.
        let items =
            || (0..2).flat_map(|y| (0..3).flat_map(move |x| (0..256).map(move |i| (x, y, i % 16, i / 16))));
        let loads = items().map(|(x, y, column, row)| Some(16 * x + column < width && 16 * y + row < height));
        let stores =
            items().map(|(x, y, column, row)| Some(16 * y + column < height && 16 * x + row < width));
        for (name, expected) in
            [("load", branches(loads, 256, lanes)), ("store", branches(stores, 256, lanes))]
        {
            let site = run.report().branch(name);
            assert_eq!(
                (site.executions(), site.all(), site.none(), site.diverged()),
                (expected.executions, expected.all, expected.none, expected.diverged),
                "{name}"
            );
            assert_eq!(site.lanes_taken(), 960, "{name}");
        }
    }
    Ok(())
}

/// A field of 18 by 10 on two workgroups of 10 by 10 work-items, whose last waves are partial: they do not diverge for that.
///
/// Inside the field: the left workgroup is; of the right one (columns 10 to 19) 8 of 10 columns are, so its waves diverge.
/// The rim has 2 · 18 + 2 · 8 = 52 points.
#[harness::test]
fn a_stencil_on_partial_waves(device: &Device) -> TestResult {
    let (width, height) = (18, 10);
    let input: Vec<f32> = (0..width * height).map(|i| ((i * 37) % 101) as f32).collect();
    let mut output = device.zeroed(width * height);
    let arguments = (width as u32, height as u32, &device.buffer(&input), &mut output);
    let run = stencil::stencil.launch(device, (2, 1), (10, 10), arguments)?;
    assert_eq!(output.to_vec(), stencil::reference(width, height, &input));

    if optimised(&run) {
        let lanes = stencil::stencil.wave_size(device)?;
        let points = || (0..2).flat_map(|group| (0..100).map(move |i| (10 * group + i % 10, i / 10)));
        let expected = branches(points().map(|(x, _)| Some(x < width)), 100, lanes);
        let inside = run.report().branch("inside");
        assert_eq!(
            (inside.executions(), inside.all(), inside.diverged()),
            (expected.executions, expected.all, expected.diverged)
        );
        assert_eq!((inside.lanes_in(), inside.lanes_taken()), (200, 180));
        let on_rim = |x: usize, y: usize| x == 0 || x == width - 1 || y == 0 || y == height - 1;
        let expected = branches(points().map(|(x, y)| (x < width).then(|| on_rim(x, y))), 100, lanes);
        let rim = run.report().branch("rim");
        assert_eq!(
            (rim.executions(), rim.diverged(), rim.lanes_in()),
            (expected.executions, expected.diverged, 180)
        );
        // The compiler may turn the condition around.
        assert!([52, 180 - 52].contains(&rim.lanes_taken()), "{}", rim.lanes_taken());
    }
    Ok(())
}
