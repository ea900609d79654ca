//! Sparse vectors, and kernels that fill, scale and reduce arrays.

use super::Kernel;
use super::data::{Matrix, distinct, index_input, index_output, indices, int, vector};
use crate::foreign::case::{Arg, Case, changed, input, output};

/// Entries of the sparse vector.
const NNZ: usize = 700;
/// Length of the dense one.
const LENGTH: usize = 1000;

/// The kernels that this file knows.
pub(super) const FAMILIES: &[&str] = &[
    "abs_kernel",
    "axpby_scale_kernel",
    "axpyi_kernel",
    "check_row_ptr_array",
    "compute_nnz_from_row_ptr_array_kernel",
    "conjugate",
    "coomv_scale",
    "coosort_permute_kernel",
    "csr2csc_permute_kernel",
    "csr_max_nnz_per_row",
    "csrcolor_reordering_identity",
    "csrgemm_index_base",
    "csrgemm_max_row_nnz_part1",
    "csrgemm_max_row_nnz_part2",
    "csrgemm_set_base",
    "csrmvt_scale_kernel",
    "csrsort_shift_kernel",
    "doti_kernel_part1",
    "doti_kernel_part2",
    "ell2csr_index_base",
    "ell_width_kernel_part1",
    "ell_width_kernel_part2",
    "ellmvt_scale_kernel",
    "fill_row_ptr_device",
    "gebsr2gebsc_permute_kernel",
    "gemvi_scale_kernel",
    "gthr_kernel",
    "gthrz_kernel",
    "identity_kernel",
    "nnz_total_device_kernel",
    "roti_kernel",
    "scale_array",
    "sctr_kernel",
    "set_array_to_value",
    "shift_offsets_kernel",
];

/// The launch of a kernel, if it is one of these.
pub(super) fn case(kernel: &Kernel<'_>) -> Option<Case> {
    if !FAMILIES.contains(&kernel.family) {
        return None;
    }
    let base = kernel.base();
    let x = vector(NNZ, 1);
    let y = vector(LENGTH, 2);
    let places = distinct(NNZ, LENGTH, 3);
    let alpha = -1.5;
    let (nnz, base_arg, at) = (int(NNZ), int(base), index_input(&places, base));
    let flat = |count: usize, args: Vec<Arg>| Some(kernel.launch(count, args));
    let gathered: Vec<f64> = places.iter().map(|place| y[*place]).collect();
    match kernel.family {
        "axpyi_kernel" => {
            let (t, by_pointer) = (kernel.real(2)?, kernel.is_pointer(3));
            let mut after = y.clone();
            places.iter().zip(&x).for_each(|(place, x)| after[*place] += alpha * x);
            let args =
                vec![nnz, t.factor(by_pointer, alpha), t.input(&x), at, t.changed(&y, &after), base_arg];
            flat(NNZ, args)
        }
        "gthr_kernel" => {
            let t = kernel.real(2)?;
            flat(NNZ, vec![nnz, t.input(&y), t.output(&gathered), at, base_arg])
        }
        "gthrz_kernel" => {
            let t = kernel.real(1)?;
            let mut after = y.clone();
            places.iter().for_each(|place| after[*place] = 0.0);
            flat(NNZ, vec![nnz, t.changed(&y, &after), t.output(&gathered), at, base_arg])
        }
        "sctr_kernel" => {
            let t = kernel.real(2)?;
            let mut after = y.clone();
            places.iter().zip(&x).for_each(|(place, x)| after[*place] = *x);
            flat(NNZ, vec![nnz, t.input(&x), at, t.changed(&y, &after), base_arg])
        }
        "roti_kernel" => {
            let (t, by_pointer) = (kernel.real(2)?, kernel.is_pointer(3));
            let (c, s) = (0.75, -0.5);
            let mut after = y.clone();
            let turned = |(x, y): (&f64, &f64)| c * x + s * y;
            let new_x: Vec<f64> = x.iter().zip(&gathered).map(turned).collect();
            places.iter().zip(&x).for_each(|(place, x)| after[*place] = c * y[*place] - s * x);
            let factors = [t.factor(by_pointer, c), t.factor(by_pointer, s)];
            let vectors = [nnz, t.changed(&x, &new_x), at, t.changed(&y, &after)];
            flat(NNZ, vectors.into_iter().chain(factors).chain([base_arg]).collect())
        }
        "doti_kernel_part1" => {
            let t = kernel.real(2)?;
            // Two workgroups, each with every second stretch of 256.
            let mut partial = [0.0; 2];
            let products = x.iter().zip(&gathered).map(|(x, y)| x * y);
            products.enumerate().for_each(|(i, product)| partial[i / 256 % 2] += product);
            let args = vec![nnz, t.input(&x), at, t.input(&y), t.output(&partial), base_arg];
            flat(2 * 256, args)
        }
        "doti_kernel_part2" => {
            let t = kernel.real(1)?;
            let partial = vector(256, 4);
            flat(256, vec![t.input(&partial), t.output(&[partial.iter().sum()])])
        }
        "axpby_scale_kernel"
        | "csrmvt_scale_kernel"
        | "ellmvt_scale_kernel"
        | "gemvi_scale_kernel"
        | "coomv_scale" => {
            let (t, by_pointer) = (kernel.real(2)?, kernel.is_pointer(3));
            let after: Vec<f64> = y.iter().map(|y| alpha * y).collect();
            flat(LENGTH, vec![int(LENGTH), t.factor(by_pointer, alpha), t.changed(&y, &after)])
        }
        "scale_array" => {
            let t = kernel.real(2)?;
            let by_pointer = kernel.parameters.ends_with("const*");
            let after: Vec<f64> = y.iter().map(|y| alpha * y).collect();
            flat(LENGTH, vec![int(LENGTH), t.changed(&y, &after), t.factor(by_pointer, alpha)])
        }
        "conjugate" => {
            let t = kernel.real(2)?;
            flat(LENGTH, vec![int(LENGTH), t.input(&y)])
        }
        "abs_kernel" => {
            let t = kernel.real(1)?;
            let after: Vec<f64> = y.iter().map(|y| y.abs()).collect();
            // The other form is of a dense matrix with a leading dimension.
            if kernel.parameters.matches(',').count() == 2 {
                return flat(LENGTH, vec![int(LENGTH), t.input(&y), t.output(&after)]);
            }
            let (rows, columns, leading) = (24, 40, 25);
            let mut after = vec![0.0; rows * columns];
            (0..rows * columns).for_each(|i| after[i] = y[i / rows * leading + i % rows].abs());
            flat(rows * columns, vec![int(rows), int(columns), t.input(&y), int(leading), t.output(&after)])
        }
        "identity_kernel" | "csrcolor_reordering_identity" => {
            flat(LENGTH, vec![int(LENGTH), index_output(&(0..LENGTH).collect::<Vec<_>>(), 0)])
        }
        "set_array_to_value" => flat(LENGTH, vec![int(LENGTH), index_output(&vec![99; LENGTH], 0), int(99)]),
        "csrgemm_set_base" => flat(LENGTH, vec![int(LENGTH), index_output(&vec![base; LENGTH], 0), base_arg]),
        "shift_offsets_kernel" => {
            let starts = Matrix::sample(LENGTH - 1, 90, 5).starts;
            flat(LENGTH, vec![int(LENGTH), index_input(&starts, 1), index_output(&starts, 0)])
        }
        "csrsort_shift_kernel" => flat(NNZ, vec![nnz, index_input(&places, 1), index_output(&places, 0)]),
        "coosort_permute_kernel" => {
            let order = distinct(NNZ, NNZ, 6);
            let after: Vec<usize> = order.iter().map(|from| places[*from]).collect();
            flat(NNZ, vec![nnz, index_input(&places, 0), index_input(&order, 0), index_output(&after, 0)])
        }
        "csr2csc_permute_kernel" => {
            let t = kernel.real(1)?;
            let order = distinct(NNZ, NNZ, 6);
            let moved: Vec<usize> = order.iter().map(|from| places[*from]).collect();
            let values: Vec<f64> = order.iter().map(|from| x[*from]).collect();
            let from = [nnz, index_input(&places, 0), t.input(&x), index_input(&order, 0)];
            flat(NNZ, from.into_iter().chain([index_output(&moved, 0), t.output(&values)]).collect())
        }
        "gebsr2gebsc_permute_kernel" => {
            let t = kernel.real(1)?;
            let (blocks, size) = (150, 6);
            let order = distinct(blocks, blocks, 7);
            let values = vector(blocks * size, 8);
            let moved: Vec<usize> = order.iter().map(|from| places[*from]).collect();
            let after: Vec<f64> =
                order.iter().flat_map(|from| values[from * size..][..size].to_vec()).collect();
            let from = [int(blocks), int(size), index_input(&places[..blocks], 0), t.input(&values)];
            let to = [index_input(&order, 0), index_output(&moved, 0), t.output(&after)];
            flat(blocks, from.into_iter().chain(to).collect())
        }
        "ell_width_kernel_part1" => {
            let matrix = Matrix::sample(LENGTH, 90, 9);
            let block = kernel.number(0);
            let mut widest = [0; 2];
            matrix.row_lengths().iter().enumerate().for_each(|(row, length)| {
                let group = &mut widest[row / block % 2];
                *group = (*group).max(*length);
            });
            flat(2 * block, vec![int(LENGTH), index_input(&matrix.starts, base), index_output(&widest, 0)])
        }
        "csrgemm_max_row_nnz_part1" => {
            let matrix = Matrix::sample(300, 90, 10);
            let widest = matrix.row_lengths().into_iter().max()?;
            flat(256, vec![int(300), index_input(&matrix.starts, base), index_output(&[widest], 0)])
        }
        "ell_width_kernel_part2" | "csrgemm_max_row_nnz_part2" => {
            let numbers = indices(&distinct(256, LENGTH, 11), 0);
            let mut after = numbers.clone();
            after[0] = numbers.iter().copied().max()?;
            let workspace = changed(&numbers, &after);
            if kernel.family == "ell_width_kernel_part2" {
                return flat(kernel.number(0), vec![int(256), workspace]);
            }
            flat(256, vec![workspace])
        }
        "csr_max_nnz_per_row" => {
            let matrix = Matrix::sample(600, 90, 12);
            let widest = matrix.row_lengths().into_iter().max()?;
            flat(600, vec![int(600), index_input(&matrix.starts, base), output(&[widest as i32])])
        }
        "compute_nnz_from_row_ptr_array_kernel" | "nnz_total_device_kernel" => {
            let matrix = Matrix::sample(60, 90, 13);
            let args = vec![int(60), index_input(&matrix.starts, base), output(&[matrix.len() as i32])];
            Some(kernel.launch_sized(1, 1, args))
        }
        "ell2csr_index_base" | "csrgemm_index_base" => {
            Some(kernel.launch_sized(1, 1, vec![changed(&[41i32], &[40])]))
        }
        "check_row_ptr_array" => {
            let matrix = Matrix::sample(600, 90, 14);
            // All is well: the status stays.
            flat(600, vec![int(600), index_input(&matrix.starts, base), input(&[0i32])])
        }
        "fill_row_ptr_device" => {
            let lengths = distinct(LENGTH, LENGTH, 15);
            let counts = kernel.parameters.contains("const*");
            let mut after = vec![base as i32];
            after.extend(lengths.iter().map(|length| if counts { *length as i32 } else { base as i32 }));
            let mut args = vec![int(LENGTH), base_arg];
            if counts {
                args.push(index_input(&lengths, 0));
            }
            args.push(output(&after));
            flat(LENGTH, args)
        }
        _ => None,
    }
}
