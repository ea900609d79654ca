use core::cell::Cell;

use amdinst_device::{Lds, kernel};

// No array in LDS.
#[kernel]
pub fn an_array(#[shared] tile: [f32; 64]) {
    let _ = tile;
}

// Other bytes than 0 and 1 are no `bool`.
#[kernel]
pub fn flags(#[shared] flags: Lds<bool, 64>) {
    let _ = flags;
}

// Not `Sync`.
#[kernel]
pub fn cells(#[shared] cells: Lds<Cell<u32>, 64>) {
    let _ = cells;
}

// Read before it is filled.
#[kernel]
pub fn unfilled(#[shared] a: Lds<u32, 64>) {
    let _ = a.share(|a| a[0]);
}

fn main() {}
