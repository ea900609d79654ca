//! Queries of a tree.

use harness::{Device, Launch as _, TestResult};
use rodinia::find_k::{ORDER, Tree, find_k, reference};

use crate::optimised;

/// A workgroup a query. On each level one lane of 256 finds its key's range, and lane 0 descends; of the
/// leaf, one lane has the key, if it is there.
#[harness::test]
fn one_lane_of_256_goes_down_the_tree(device: &Device) -> TestResult {
    // Even keys only, so odd queries find nothing.
    let keys: Vec<i32> = (0..40_000).map(|i| 2 * i).collect();
    let records: Vec<i32> = keys.iter().map(|key| key * 7 + 1).collect();
    let tree = Tree::new(&keys, 100);
    assert_eq!(tree.height, 2);
    let queries: Vec<i32> = (0..50_i32).map(|i| i * 1_597 % 80_000).collect();
    let present = queries.iter().filter(|query| *query % 2 == 0).count() as u64;
    let all = queries.len() as u64;

    let (mut current, mut offset) = (device.zeroed(queries.len()), device.zeroed(queries.len()));
    let mut answers = device.zeroed(queries.len());
    let (key_buffer, child_buffer) = (device.buffer(&tree.keys), device.buffer(&tree.children));
    let (record_buffer, query_buffer) = (device.buffer(&records), device.buffer(&queries));
    let arguments = (
        tree.height,
        tree.nodes() as u32,
        &key_buffer,
        &child_buffer,
        &record_buffer,
        &mut current,
        &mut offset,
        &query_buffer,
        &mut answers,
    );
    let run = find_k.launch(device, queries.len() as u32, ORDER as u32, arguments)?;
    assert_eq!(answers.to_vec(), reference(&keys, &records, &queries));

    let found = run.report().branch("found");
    let waves = all * (ORDER as u64 / u64::from(find_k.wave_size(device)?));
    assert_eq!(found.diverged(), present);
    // In profile dev overflow is checked, too, where no lane goes its own way.
    if optimised(&run) {
        assert_eq!((found.executions(), found.none()), (waves, waves - present));
        assert_eq!(found.lanes_taken(), present);
        let descend = run.report().branch("descend");
        assert_eq!((descend.executions(), descend.diverged()), (2 * waves, 2 * all));
        assert_eq!(descend.lanes_taken(), 2 * all);
    }
    Ok(())
}
