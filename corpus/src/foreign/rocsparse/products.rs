//! Sparse matrices times vectors and matrices, and solutions of tridiagonal systems.

use super::Kernel;
use super::data::{Matrix, distinct, ell_columns, index_input, int, vector};
use crate::foreign::case::{Case, Tolerance, input, value};

/// `rocsparse_operation_transpose`.
const TRANSPOSE: usize = 112;
/// Rows of the matrix.
const ROWS: usize = 150;
/// Columns of it.
const COLUMNS: usize = 110;
/// Factor of the product.
const ALPHA: f64 = -1.5;
/// Factor of what was there.
const BETA: f64 = 0.5;

/// The kernels that this file knows.
pub(super) const FAMILIES: &[&str] = &[
    "coomvn_atomic_loops",
    "coomvt_aos_kernel",
    "coomvt_kernel",
    "csrmmnn_general_kernel",
    "csrmvn_general_kernel",
    "csrmvt_general_kernel",
    "ellmvn_kernel",
    "ellmvt_kernel",
    "gemvi_kernel",
    "gtsv_interleaved_batch_thomas_kernel",
];

/// The launch of a kernel, if it is one of these.
pub(super) fn case(kernel: &Kernel<'_>) -> Option<Case> {
    if !FAMILIES.contains(&kernel.family) {
        return None;
    }
    let base = kernel.base();
    let matrix = Matrix::sample(ROWS, COLUMNS, 20);
    let (x, y) = (vector(COLUMNS, 22), vector(ROWS, 23));
    let sum = |product: Vec<f64>, beta: f64, before: &[f64]| -> Vec<f64> {
        product.iter().zip(before).map(|(product, before)| ALPHA * product + beta * before).collect()
    };
    // Of y = alpha A x + beta y, and of its transpose, which adds to what is there.
    let after = sum(matrix.times(&x), BETA, &y);
    let added = sum(matrix.times(&x), 1.0, &y);
    let transposed = sum(matrix.transposed_times(&y), 1.0, &x);
    let starts = || index_input(&matrix.starts, base);
    let columns = || index_input(&matrix.column, base);
    match kernel.family {
        // A wave adds up at most its own lanes: the library launches others of the kernel on smaller waves.
        "csrmvn_general_kernel" if kernel.number(1) <= kernel.lanes => {
            let (t, by_pointer) = (kernel.real(4)?, kernel.is_pointer(5));
            let matrix_args = [value(0u8), int(ROWS), t.factor(by_pointer, ALPHA), starts(), columns()];
            let rest =
                [t.input(&matrix.values), t.input(&x), t.factor(by_pointer, BETA), t.changed(&y, &after)];
            let args = matrix_args.into_iter().chain(rest).chain([int(base)]).collect();
            // Fewer waves than rows: each goes round.
            Some(kernel.launch_sized(3, kernel.number(0), args))
        }
        "csrmvt_general_kernel" => {
            let (t, by_pointer) = (kernel.real(4)?, kernel.is_pointer(5));
            let matrix_args = [value(0u8), int(ROWS), t.factor(by_pointer, ALPHA), starts(), columns()];
            let rest = [t.input(&matrix.values), t.input(&y), t.changed(&x, &transposed), int(base)];
            let args = matrix_args.into_iter().chain(rest).collect();
            Some(kernel.launch_sized(3, kernel.number(0), args))
        }
        "ellmvn_kernel" | "ellmvt_kernel" => {
            let (t, by_pointer) = (kernel.real(2)?, kernel.is_pointer(3));
            let width = matrix.row_lengths().into_iter().max()?;
            let (columns, values) = matrix.ell(width);
            let sizes = [int(ROWS), int(COLUMNS), int(width), t.factor(by_pointer, ALPHA)];
            let ell = [input(&ell_columns(&columns, base)), t.input(&values)];
            let args = if kernel.family == "ellmvn_kernel" {
                let rest = [t.input(&x), t.factor(by_pointer, BETA), t.changed(&y, &after), int(base)];
                sizes.into_iter().chain(ell).chain(rest).collect()
            } else {
                let rest = [t.input(&y), t.changed(&x, &transposed), int(base)];
                [int(TRANSPOSE)].into_iter().chain(sizes).chain(ell).chain(rest).collect()
            };
            Some(kernel.launch(ROWS, args))
        }
        "coomvn_atomic_loops" => {
            let (t, by_pointer) = (kernel.real(3)?, kernel.is_pointer(4));
            let rows = index_input(&matrix.row_of_each(), base);
            let sizes = [int(matrix.len()), t.factor(by_pointer, ALPHA), rows, columns()];
            let rest = [t.input(&matrix.values), t.input(&x), t.changed(&y, &added), int(base)];
            let groups = matrix.len().div_ceil(kernel.number(0) * kernel.number(1));
            Some(kernel.launch_sized(groups, kernel.number(0), sizes.into_iter().chain(rest).collect()))
        }
        "coomvt_kernel" => {
            let (t, by_pointer) = (kernel.real(2)?, kernel.is_pointer(3));
            let rows = index_input(&matrix.row_of_each(), base);
            let sizes = [int(TRANSPOSE), int(matrix.len()), t.factor(by_pointer, ALPHA), rows, columns()];
            let rest = [t.input(&matrix.values), t.input(&y), t.changed(&x, &transposed), int(base)];
            Some(kernel.launch(matrix.len(), sizes.into_iter().chain(rest).collect()))
        }
        "coomvt_aos_kernel" => {
            let (t, by_pointer) = (kernel.real(2)?, kernel.is_pointer(3));
            let pairs: Vec<usize> = matrix.entries().flat_map(|(r, c, _)| [r, c]).collect();
            let sizes =
                [int(TRANSPOSE), int(matrix.len()), t.factor(by_pointer, ALPHA), index_input(&pairs, base)];
            let rest = [t.input(&matrix.values), t.input(&y), t.changed(&x, &transposed), int(base)];
            Some(kernel.launch(matrix.len(), sizes.into_iter().chain(rest).collect()))
        }
        "gemvi_kernel" => {
            let (t, by_pointer) = (kernel.real(3)?, kernel.is_pointer(4));
            let (nnz, leading) = (37, ROWS + 3);
            // Indices of a base other than zero would be read past the matrix: the kernel does not take it off.
            let places = distinct(nnz, COLUMNS, 24);
            let (dense, sparse) = (vector(leading * COLUMNS, 25), vector(nnz, 26));
            let mut product = vec![0.0; ROWS];
            for (place, x) in places.iter().zip(&sparse) {
                product.iter_mut().zip(&dense[place * leading..]).for_each(|(sum, a)| *sum += a * x);
            }
            let after = sum(product, BETA, &y);
            let sizes = [int(ROWS), int(COLUMNS), t.factor(by_pointer, ALPHA), t.input(&dense), int(leading)];
            let vectors = [int(nnz), t.input(&sparse), index_input(&places, 0), t.factor(by_pointer, BETA)];
            let args = sizes.into_iter().chain(vectors).chain([t.changed(&y, &after), int(0)]).collect();
            Some(kernel.launch_sized(ROWS.div_ceil(kernel.number(1)), kernel.number(0), args))
        }
        "csrmmnn_general_kernel" => {
            let (t, by_pointer) = (kernel.real(4)?, kernel.is_pointer(5));
            let (width, lane_columns) = (13, kernel.number(1));
            let (ldb, ldc) = (COLUMNS + 1, ROWS + 2);
            let (b, c) = (vector(ldb * width, 27), vector(ldc * width, 28));
            let mut after = c.clone();
            for column in 0..width {
                let product = matrix.times(&b[column * ldb..][..COLUMNS]);
                let place = column * ldc;
                after[place..place + ROWS].copy_from_slice(&sum(product, BETA, &c[place..]));
            }
            let sizes = [value(0u8), value(0u8), int(ROWS), int(width), int(COLUMNS), int(matrix.len())];
            let factors = [int(0), int(0), t.factor(by_pointer, ALPHA), starts(), columns()];
            let right = [t.input(&matrix.values), t.input(&b), int(ldb), int(0), t.factor(by_pointer, BETA)];
            // By columns.
            let rest = [t.changed(&c, &after), int(ldc), int(0), int(1), int(base)];
            let args = sizes.into_iter().chain(factors).chain(right).chain(rest).collect();
            let rows = kernel.number(0) / lane_columns;
            let grid = [ROWS.div_ceil(rows) as u32, width.div_ceil(lane_columns) as u32, 1];
            Some(kernel.launch_sized(1, kernel.number(0), args).sized(grid, [kernel.number(0) as u32, 1, 1]))
        }
        "gtsv_interleaved_batch_thomas_kernel" => {
            let t = kernel.real(1)?;
            let (size, count, stride) = (17, 200, 210);
            let band = |seed| vector(size * stride, seed);
            // The middle outweighs its neighbours.
            let middle: Vec<f64> = band(31).iter().map(|x| x + 20.0f64.copysign(*x)).collect();
            let (below, above, right) = (band(30), band(32), band(33));
            let (mut c1, mut x1) = (vec![0.0; size * count], vec![0.0; size * count]);
            let mut solution = right.clone();
            for system in 0..count {
                for row in 0..size {
                    let at = row * stride + system;
                    let (c, x) = if row == 0 {
                        (0.0, 0.0)
                    } else {
                        (c1[(row - 1) * count + system], x1[(row - 1) * count + system])
                    };
                    let below = if row == 0 { 0.0 } else { below[at] };
                    let pivot = middle[at] - c * below;
                    c1[row * count + system] = above[at] / pivot;
                    x1[row * count + system] = (right[at] - x * below) / pivot;
                }
                for row in (0..size).rev() {
                    let next = if row + 1 < size { solution[(row + 1) * stride + system] } else { 0.0 };
                    let next = if row + 1 < size { c1[row * count + system] * next } else { 0.0 };
                    solution[row * stride + system] = x1[row * count + system] - next;
                }
            }
            let tolerance = match t {
                super::data::Real::Single => Tolerance { relative: 1e-5, absolute: 1e-6 },
                super::data::Real::Double => Tolerance { relative: 1e-13, absolute: 1e-14 },
            };
            let zeros = vec![0.0; size * count];
            let bands = [t.input(&below), t.input(&middle), t.input(&above)];
            let rest = [
                t.near(&zeros, &c1, tolerance),
                t.near(&zeros, &x1, tolerance),
                t.near(&right, &solution, tolerance),
            ];
            let sizes = [int(size), int(count), int(stride)];
            Some(kernel.launch(count, sizes.into_iter().chain(bands).chain(rest).collect()))
        }
        _ => None,
    }
}
