//! hotspot, two steps of heat on a chip, tile by tile with a halo in LDS.

use amdinst_device::{
    barrier, kernel, mul_add, probe, shared, workgroup_id_x, workgroup_id_y, workitem_id_x, workitem_id_y,
};

/// Rows and columns of a tile, halo included.
pub const TILE: i32 = 16;
/// Steps of a launch, and the width of the halo.
pub const STEPS: i32 = 2;
/// Rows and columns of a tile that are stored.
pub const INNER: i32 = TILE - 2 * STEPS;
/// Temperature around the chip.
pub const AMBIENT: f32 = 80.0;

const SIZE: usize = (TILE * TILE) as usize;

shared! {
    static TEMPERATURE: [f32; SIZE];
}

shared! {
    static POWER: [f32; SIZE];
}

shared! {
    static NEXT: [f32; SIZE];
}

/// `output` is the temperature [`STEPS`] steps after `input`, under `power`.
///
/// # Safety
/// All three are to `columns · rows` elements. Launched with workgroups of [`TILE`] by [`TILE`], one for each [`INNER`] by
/// [`INNER`] elements.
#[kernel]
pub unsafe fn hotspot(
    power: *const f32,
    input: *const f32,
    output: *mut f32,
    columns: i32,
    rows: i32,
    capacity: f32,
    resistance_x: f32,
    resistance_y: f32,
    resistance_z: f32,
    step: f32,
) {
    let rates =
        Rates { step: step / capacity, x: 1.0 / resistance_x, y: 1.0 / resistance_y, z: 1.0 / resistance_z };
    let (tx, ty) = (workitem_id_x() as i32, workitem_id_y() as i32);
    let left = INNER * workgroup_id_x() as i32 - STEPS;
    let top = INNER * workgroup_id_y() as i32 - STEPS;
    let (x, y) = (left + tx, top + ty);
    let index = (columns * y + x) as usize;
    let at = (TILE * ty + tx) as usize;
    let temperature: *mut f32 = TEMPERATURE.as_mut_ptr();
    let power_here: *mut f32 = POWER.as_mut_ptr();
    let next: *mut f32 = NEXT.as_mut_ptr();
    // SAFETY: loads and stores are inside the chip and the tile; each work-item writes its own element, and reads those of
    // its neighbors between barriers.
    unsafe {
        #[probe("load")]
        if y >= 0 && y < rows && x >= 0 && x < columns {
            *temperature.add(at) = *input.add(index);
            *power_here.add(at) = *power.add(index);
        }
        barrier();
        // What of the tile is on the chip; neighbors beyond it are the element itself.
        let (first_x, last_x) = valid(left, columns);
        let (first_y, last_y) = valid(top, rows);
        let north = (TILE * (ty - 1).max(first_y) + tx) as usize;
        let south = (TILE * (ty + 1).min(last_y) + tx) as usize;
        let west = (TILE * ty + (tx - 1).max(first_x)) as usize;
        let east = (TILE * ty + (tx + 1).min(last_x)) as usize;
        let mut computed = false;
        for i in 0..STEPS {
            computed = false;
            let (low, high) = (i + 1, TILE - 2 - i);
            #[probe("inside")]
            if tx >= low.max(first_x)
                && tx <= high.min(last_x)
                && ty >= low.max(first_y)
                && ty <= high.min(last_y)
            {
                computed = true;
                *next.add(at) = rates.next(
                    *temperature.add(at),
                    *power_here.add(at),
                    [*temperature.add(north), *temperature.add(south)],
                    [*temperature.add(west), *temperature.add(east)],
                );
            }
            barrier();
            if i == STEPS - 1 {
                break;
            }
            #[probe("copy")]
            if computed {
                *temperature.add(at) = *next.add(at);
            }
            barrier();
        }
        #[probe("store")]
        if computed {
            *output.add(index) = *next.add(at);
        }
    }
}

/// First and last row or column of a tile that starts at `start` which are among `count`.
#[inline(always)]
fn valid(start: i32, count: i32) -> (i32, i32) {
    let first = if start < 0 { -start } else { 0 };
    let beyond = start + TILE - count;
    let last = if beyond > 0 { TILE - 1 - beyond } else { TILE - 1 };
    (first, last)
}

/// Factors of a step.
#[derive(Clone, Copy)]
struct Rates {
    step: f32,
    x: f32,
    y: f32,
    z: f32,
}

impl Rates {
    /// The temperature of an element a step later; the doubled temperature makes the sum a double one.
    #[inline(always)]
    fn next(self, here: f32, power: f32, rows: [f32; 2], columns: [f32; 2]) -> f32 {
        let here_f64 = f64::from(here);
        let vertical = mul_add(-2.0, here_f64, f64::from(rows[1] + rows[0]));
        let horizontal = mul_add(-2.0, here_f64, f64::from(columns[1] + columns[0]));
        let outward = (AMBIENT - here) * self.z;
        let sum = mul_add(vertical, f64::from(self.y), f64::from(power));
        let sum = mul_add(horizontal, f64::from(self.x), sum) + f64::from(outward);
        mul_add(f64::from(self.step), sum, here_f64) as f32
    }
}

/// What a chip is made of: capacity, three resistances, the length of a step.
#[cfg(not(target_arch = "amdgpu"))]
pub type Chip = (f32, f32, f32, f32, f32);

/// The kernel's result, computed on the host.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(power: &[f32], input: &[f32], columns: usize, rows: usize, chip: Chip) -> Vec<f32> {
    let (capacity, x, y, z, step) = chip;
    let rates = Rates { step: step / capacity, x: 1.0 / x, y: 1.0 / y, z: 1.0 / z };
    let mut field = input.to_vec();
    for _ in 0..STEPS {
        let old = field.clone();
        for row in 0..rows {
            for column in 0..columns {
                let value = |row: usize, column: usize| old[row * columns + column];
                let (above, below) = (row.saturating_sub(1), (row + 1).min(rows - 1));
                let (before, behind) = (column.saturating_sub(1), (column + 1).min(columns - 1));
                field[row * columns + column] = rates.next(
                    value(row, column),
                    power[row * columns + column],
                    [value(above, column), value(below, column)],
                    [value(row, before), value(row, behind)],
                );
            }
        }
    }
    field
}
