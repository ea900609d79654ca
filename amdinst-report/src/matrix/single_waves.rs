//! Workgroups that happen to be one wave in a column, and several in another. They need no barrier in the
//! one, and race in the other.

use std::collections::BTreeMap;

use amdinst_core::report::run::{Ending, Test};

use super::{MatrixCell, MatrixColumn};

/// The kernels that a test launched in workgroups of one wave each.
pub(super) fn of(test: &Test) -> Vec<String> {
    let mut kernels = BTreeMap::new();
    for launch in &test.launches {
        let workgroups: u64 = launch.grid.iter().map(|&count| u64::from(count)).product();
        *kernels.entry(&launch.kernel).or_insert(true) &= launch.waves == workgroups;
    }
    kernels.into_iter().filter(|(_, single)| *single).map(|(kernel, _)| kernel.clone()).collect()
}

/// Suspects the size of waves of each race in a kernel whose workgroups are single waves in a column where
/// the test passes.
pub(super) fn suspect(cells: &mut [Option<MatrixCell>], columns: &[MatrixColumn]) {
    let known: Vec<(String, Vec<String>)> = cells
        .iter()
        .zip(columns)
        .filter_map(|(cell, column)| Some((cell.as_ref()?, column)))
        .filter(|(cell, _)| cell.ending == Ending::Passed)
        .map(|(cell, column)| (column.title.clone(), cell.single_waves.clone()))
        .collect();
    for cell in cells.iter_mut().flatten() {
        let Some(kernel) = &cell.raced else { continue };
        let there = known.iter().find(|(_, kernels)| kernels.contains(kernel));
        cell.suspect = there.map(|(there, _)| {
            format!("the workgroup is one wave on {there} and needs no barrier there; here it is several")
        });
    }
}
