//! What a branch must count, from what each work-item does: so a test holds in waves of any size.

use amdinst_format::report::Counts;

/// What a branch must count, wave by wave.
///
/// `items` are the work-items of the launch, workgroup by workgroup of `workgroup` each, in the order of
/// their flat ids: `Some` if one comes to the branch, with whether it takes it; else `None`. `lanes` is the
/// size of a wave ([`Launch::wave_size`](crate::Launch::wave_size)). A wave without a work-item that comes to
/// the branch has no entry. [`Iterator::sum`] adds entries up.
///
/// ```
/// // 100 elements on two workgroups of 64, in waves of 64 lanes.
/// let waves = harness::branch_counts((0..128).map(|i| Some(i < 100)), 64, 64);
/// assert_eq!((waves[0].all, waves[1].diverged, waves[1].lanes_taken), (1, 1, 36));
/// let sum: harness::Counts = waves.into_iter().sum();
/// assert_eq!((sum.executions, sum.lanes_in, sum.lanes_taken), (2, 128, 100));
/// ```
pub fn branch_counts(
    items: impl IntoIterator<Item = Option<bool>>,
    workgroup: usize,
    lanes: u32,
) -> Vec<Counts> {
    let wave = |items: &[Option<bool>]| {
        let came = items.iter().flatten().count() as u64;
        let taken = items.iter().flatten().filter(|&&takes| takes).count() as u64;
        let (all, none) = (u64::from(taken == came), u64::from(taken == 0));
        Counts { executions: 1, all, none, diverged: 1 - all - none, lanes_in: came, lanes_taken: taken }
    };
    let items: Vec<Option<bool>> = items.into_iter().collect();
    let waves = items.chunks(workgroup).flat_map(|group| group.chunks(lanes as usize));
    waves.filter(|items| items.iter().any(Option::is_some)).map(wave).collect()
}
