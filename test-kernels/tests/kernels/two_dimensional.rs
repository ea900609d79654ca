//! Grids and workgroups of two dimensions.

use harness::{Device, Launch as _, TestResult};
use test_kernels::{stencil, transpose};

use crate::optimised;

/// A matrix of 24 rows of 40, in tiles of 16 by 16: 3 by 2 workgroups of four waves, each wave four rows of a tile.
///
/// Loading, tile by tile (columns 32 to 47 are half inside; of the rows 16 to 31 the waves 0 and 1 hold 16 to 23, which
/// are inside): left and middle tiles above, 8 waves all; right tile above, 4 diverged; left and middle below, 4 all and
/// 4 none; right below, 2 diverged and 2 none. Storing, with the sides exchanged: 8 all; 2 all and 2 none; 8 diverged;
/// 2 diverged and 2 none.
#[harness::test]
fn a_transpose_diverges_at_the_edge_tiles(device: &Device) -> TestResult {
    let (width, height) = (40, 24);
    let input: Vec<f32> = (0..width * height).map(|i| i as f32).collect();
    let mut output = device.zeroed(width * height);
    let arguments = (width as u32, height as u32, &device.buffer(&input), &mut output);
    let run = transpose::transpose.launch(device, (3, 2), (16, 16), arguments)?;
    assert_eq!(output.to_vec(), transpose::reference(width, height, &input));

    if optimised(&run) {
        let load = run.report().site("load");
        assert_eq!((load.executions(), load.all(), load.none(), load.diverged()), (24, 12, 6, 6));
        let store = run.report().site("store");
        assert_eq!((store.executions(), store.all(), store.none(), store.diverged()), (24, 10, 4, 10));
        assert_eq!((load.lanes_taken(), store.lanes_taken()), (960, 960));
    }
    Ok(())
}

/// A field of 18 by 10 on two workgroups of 10 by 10 work-items, each a wave of 64 lanes and one of 36: partial waves
/// that do not diverge for being partial.
///
/// Inside the field: the left workgroup is; of the right one (columns 10 to 19) 8 of 10 columns are, so both its waves
/// diverge. On the rim, of the lanes inside: left 16 of 64 and 12 of 36, right 13 of 52 and 11 of 28; together the
/// 2 · 18 + 2 · 8 = 52 points of the rim.
#[harness::test]
fn a_stencil_on_partial_waves(device: &Device) -> TestResult {
    let (width, height) = (18, 10);
    let input: Vec<f32> = (0..width * height).map(|i| ((i * 37) % 101) as f32).collect();
    let mut output = device.zeroed(width * height);
    let arguments = (width as u32, height as u32, &device.buffer(&input), &mut output);
    let run = stencil::stencil.launch(device, (2, 1), (10, 10), arguments)?;
    assert_eq!(output.to_vec(), stencil::reference(width, height, &input));

    if optimised(&run) {
        let inside = run.report().site("inside");
        assert_eq!((inside.executions(), inside.all(), inside.diverged()), (4, 2, 2));
        assert_eq!((inside.lanes_in(), inside.lanes_taken()), (200, 180));
        let rim = run.report().site("rim");
        assert_eq!((rim.executions(), rim.diverged(), rim.lanes_in()), (4, 4, 180));
        // The compiler may turn the condition around.
        assert!([52, 180 - 52].contains(&rim.lanes_taken()), "{}", rim.lanes_taken());
    }
    Ok(())
}
