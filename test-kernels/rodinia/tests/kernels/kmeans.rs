//! Points and centres.

use harness::{Device, Launch as _, Outcome, TestResult};
use rodinia::{invert_mapping, kmeans_point};

use crate::{branch, numbers, optimised};

const FEATURES: usize = 34;

/// 500 points in two workgroups of 256: the last wave has fewer.
#[harness::test]
fn the_last_points_share_a_wave_with_nobody(device: &Device) -> TestResult {
    let points = 500;
    let input = numbers(points * FEATURES, 13);
    let mut output = device.zeroed(points * FEATURES);
    let arguments = (&device.buffer(&input), &mut output, points as u32, FEATURES as u32);
    let run = invert_mapping::invert_mapping.launch(device, 2, 256, arguments)?;
    assert_eq!(output.to_vec(), invert_mapping::reference(&input, points, FEATURES));

    let lanes = invert_mapping::invert_mapping.wave_size(device)?;
    let expected = branch((0..512).map(|i| i < points), 256, lanes);
    let point = run.report().branch("point");
    assert_eq!((point.all(), point.none(), point.diverged()), (expected.all, 0, 1));
    assert_eq!(point.lanes_taken(), 500);
    Ok(())
}

/// 900 points in 2 by 2 workgroups of 256: one wave of 4 points, and some of none. Which centre is nearer depends on the data, and is a
/// select.
#[harness::test]
fn the_nearest_centre_is_selected_without_a_branch(device: &Device) -> TestResult {
    let (points, clusters) = (900, 5);
    let features = numbers(points * FEATURES, 14);
    let centres = numbers(clusters * FEATURES, 15);
    let mut membership = device.zeroed(points);
    let (feature_buffer, centre_buffer) = (device.buffer(&features), device.buffer(&centres));
    let (count, points_u, clusters_u) = (FEATURES as u32, points as u32, clusters as u32);
    let arguments = (&feature_buffer, count, points_u, clusters_u, &mut membership, &centre_buffer);
    let run = kmeans_point::kmeans_point.launch(device, (2, 2), 256, arguments)?;
    assert_eq!(membership.to_vec(), kmeans_point::reference(&features, FEATURES, points, &centres));

    let expected = branch((0..1024).map(|i| i < points), 256, kmeans_point::kmeans_point.wave_size(device)?);
    let point = run.report().branch("point");
    assert_eq!((point.all(), point.none(), point.diverged()), (expected.all, expected.none, 1));
    if optimised(&run) {
        assert_eq!(run.report().probe("nearer").outcome, Outcome::IfConverted);
    }
    Ok(())
}
