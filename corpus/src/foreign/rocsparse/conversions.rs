//! From one format of sparse matrices to another.

use super::Kernel;
use super::data::{Matrix, Real, ell_columns, index_input, index_output, int, vector};
use crate::foreign::case::{Arg, Case, changed, input, output};

/// `rocsparse_order_column`; rows are 0.
const BY_COLUMNS: usize = 1;
/// Rows of the matrix.
const ROWS: usize = 75;
/// Columns of it: more than a wave.
const COLUMNS: usize = 90;

/// The kernels that this file knows.
pub(super) const FAMILIES: &[&str] = &[
    "bsr2csr_block_dim_equals_one_kernel",
    "bsr2csr_kernel",
    "bsr2csr_unroll_kernel",
    "coo2csr_kernel",
    "coo2dense_kernel",
    "csc2dense_kernel",
    "csr2bsr_2_32_kernel",
    "csr2bsr_block_dim_equals_one_kernel",
    "csr2bsr_nnz_2_32_kernel",
    "csr2coo_kernel",
    "csr2csr_compress_kernel",
    "csr2dense_kernel",
    "csr2ell_kernel",
    "csr2hyb_kernel",
    "csrgemm_intermediate_products",
    "dense2csc_kernel",
    "dense2csr_kernel",
    "dense_transpose_back",
    "ell2csr_fill",
    "ell2csr_nnz_per_row",
    "gebsr2csr_kernel",
    "hyb2csr_fill_kernel",
    "hyb2csr_nnz_kernel",
    "hyb_coo_nnz",
    "nnz_compress_kernel",
    "nnz_kernel_col",
    "nnz_kernel_row",
    "prune_dense2csr_kernel",
    "prune_dense2csr_nnz_kernel",
];

/// The launch of a kernel, if it is one of these.
pub(super) fn case(kernel: &Kernel<'_>) -> Option<Case> {
    if !FAMILIES.contains(&kernel.family) {
        return None;
    }
    let base = kernel.base();
    let matrix = Matrix::sample(ROWS, COLUMNS, 40);
    let starts = || index_input(&matrix.starts, base);
    let columns = || index_input(&matrix.column, base);
    match kernel.family {
        "coo2csr_kernel" => {
            let rows = index_input(&matrix.row_of_each(), base);
            let args =
                vec![int(ROWS), int(matrix.len()), rows, index_output(&matrix.starts, base), int(base)];
            Some(kernel.launch(ROWS, args))
        }
        "csr2coo_kernel" => {
            let args = vec![int(ROWS), starts(), index_output(&matrix.row_of_each(), base), int(base)];
            Some(kernel.launch_sized(2, kernel.number(0), args))
        }
        "coo2dense_kernel" => {
            let t = kernel.real(2)?;
            let sizes = [int(ROWS), int(COLUMNS), int(matrix.len()), int(ROWS + 1), int(base)];
            let coo = [t.input(&matrix.values), index_input(&matrix.row_of_each(), base), columns()];
            let dense = [t.output(&matrix.dense(true, ROWS + 1)), int(BY_COLUMNS)];
            Some(kernel.launch(matrix.len(), sizes.into_iter().chain(coo).chain(dense).collect()))
        }
        "csr2ell_kernel" => {
            let t = kernel.real(1)?;
            // Longer rows are cut.
            let width = 6;
            let (ell, values) = matrix.ell(width);
            let csr = [int(ROWS), t.input(&matrix.values), starts(), columns(), int(base), int(width)];
            let written = changed(&vec![-9i32; ell.len()], &ell_columns(&ell, 1 - base));
            let args = csr.into_iter().chain([written, t.output(&values), int(1 - base)]).collect();
            Some(kernel.launch(ROWS, args))
        }
        "ell2csr_nnz_per_row" => {
            let width = matrix.row_lengths().into_iter().max()?;
            let (ell, _) = matrix.ell(width);
            let mut lengths = vec![base as i32];
            lengths.extend(matrix.row_lengths().iter().map(|length| *length as i32));
            let sizes = [int(ROWS), int(COLUMNS), int(width), input(&ell_columns(&ell, 1 - base))];
            let args = sizes.into_iter().chain([int(1 - base), output(&lengths), int(base)]).collect();
            Some(kernel.launch(ROWS, args))
        }
        "ell2csr_fill" => {
            let t = kernel.real(1)?;
            let width = matrix.row_lengths().into_iter().max()?;
            let (ell, values) = matrix.ell(width);
            let sizes = [int(ROWS), int(COLUMNS), int(width), input(&ell_columns(&ell, 1 - base))];
            let rest = [t.input(&values), int(1 - base), starts(), index_output(&matrix.column, base)];
            let args = sizes.into_iter().chain(rest).chain([t.output(&matrix.values), int(base)]).collect();
            Some(kernel.launch(ROWS, args))
        }
        "hyb_coo_nnz" => {
            let width = 4;
            let mut beyond = vec![base as i32];
            beyond.extend(matrix.row_lengths().iter().map(|length| length.saturating_sub(width) as i32));
            Some(kernel.launch(ROWS, vec![int(ROWS), int(width), starts(), output(&beyond), int(base)]))
        }
        "csr2hyb_kernel" => csr2hyb(kernel, &matrix),
        "hyb2csr_nnz_kernel" | "hyb2csr_fill_kernel" => hyb2csr(kernel, &matrix),
        "nnz_kernel_row" => {
            let t = kernel.real(4)?;
            let dense = matrix.dense(false, COLUMNS + 3);
            // By rows.
            let args = vec![
                int(0),
                int(ROWS),
                int(COLUMNS),
                t.input(&dense),
                int(COLUMNS + 3),
                index_output(&matrix.row_lengths(), 0),
            ];
            let block = [kernel.number(0) as u32, kernel.number(1) as u32, 1];
            Some(
                kernel
                    .launch_sized(1, 1, args)
                    .sized([ROWS.div_ceil(4 * kernel.number(0)) as u32, 1, 1], block),
            )
        }
        "nnz_kernel_col" => {
            let t = kernel.real(3)?;
            // Taller than a workgroup.
            let matrix = Matrix::sample(COLUMNS, 300, 41).transposed();
            let lengths = matrix.transposed().row_lengths();
            let args = vec![
                int(BY_COLUMNS),
                int(300),
                int(COLUMNS),
                t.input(&matrix.dense(true, 301)),
                int(301),
                index_output(&lengths, 0),
            ];
            Some(kernel.launch_sized(COLUMNS, kernel.number(0), args))
        }
        "prune_dense2csr_nnz_kernel" => {
            let (t, by_pointer) = (kernel.real(2)?, kernel.is_pointer(3));
            let kept = pruned(&matrix);
            let args = vec![
                int(ROWS),
                int(COLUMNS),
                t.input(&matrix.dense(true, ROWS + 2)),
                int(ROWS + 2),
                t.factor(by_pointer, THRESHOLD),
                index_output(&kept.row_lengths(), 0),
            ];
            let block = [kernel.number(0) as u32, kernel.number(1) as u32, 1];
            Some(
                kernel
                    .launch_sized(1, 1, args)
                    .sized([ROWS.div_ceil(4 * kernel.number(0)) as u32, 1, 1], block),
            )
        }
        "prune_dense2csr_kernel" if kernel.number(1) == kernel.lanes => {
            let (t, by_pointer) = (kernel.real(2)?, kernel.is_pointer(3));
            let kept = pruned(&matrix);
            let dense = [int(base), int(ROWS), int(COLUMNS), t.input(&matrix.dense(true, ROWS + 2))];
            let rest = [int(ROWS + 2), t.factor(by_pointer, THRESHOLD), t.output(&kept.values)];
            let args = dense
                .into_iter()
                .chain(rest)
                .chain([index_input(&kept.starts, base), index_output(&kept.column, base)])
                .collect();
            Some(kernel.launch_sized(ROWS.div_ceil(kernel.number(0)), kernel.number(0) * kernel.lanes, args))
        }
        // Those for waves of other sizes count lanes that a wave of this one has twice, or not.
        "dense2csr_kernel" | "dense2csc_kernel" if kernel.number(1) == kernel.lanes => {
            let t = kernel.real(4)?;
            let by_column = kernel.family == "dense2csc_kernel";
            let compressed = if by_column { matrix.transposed() } else { matrix.clone() };
            let dense =
                [int(base), int(0), int(ROWS), int(COLUMNS), t.input(&matrix.dense(false, COLUMNS + 1))];
            let rest =
                [int(COLUMNS + 1), t.output(&compressed.values), index_input(&compressed.starts, base)];
            let written = index_output(&compressed.column, base);
            let args = dense.into_iter().chain(rest).chain([written]).collect();
            Some(kernel.launch_sized(
                compressed.rows.div_ceil(kernel.number(0)),
                kernel.number(0) * kernel.lanes,
                args,
            ))
        }
        "csr2dense_kernel" | "csc2dense_kernel" => {
            let t = kernel.real(4)?;
            let by_column = kernel.family == "csc2dense_kernel";
            let compressed = if by_column { matrix.transposed() } else { matrix.clone() };
            let from = [int(base), int(ROWS), int(COLUMNS), t.input(&compressed.values)];
            let places = [index_input(&compressed.starts, base), index_input(&compressed.column, base)];
            let dense = [t.output(&matrix.dense(true, ROWS + 1)), int(ROWS + 1), int(BY_COLUMNS)];
            let args = from.into_iter().chain(places).chain(dense).collect();
            let groups = compressed.rows.div_ceil(kernel.number(0));
            Some(kernel.launch_sized(groups, kernel.number(0) * kernel.number(1), args))
        }
        // A wave reduces at most its own lanes: the library launches others of the kernel on smaller waves.
        "nnz_compress_kernel" if kernel.number(3) <= kernel.lanes => {
            let t = kernel.real(4)?;
            let kept = pruned(&matrix);
            let threshold = t.factor(kernel.args.len() > 5 && kernel.is_pointer(5), THRESHOLD);
            let args = vec![
                int(ROWS),
                int(base),
                t.input(&matrix.values),
                starts(),
                index_output(&kept.row_lengths(), 0),
                threshold,
            ];
            Some(kernel.launch_sized(ROWS.div_ceil(kernel.number(1)), kernel.number(0), args))
        }
        "csr2csr_compress_kernel" if kernel.number(3) == kernel.lanes => {
            let t = kernel.real(4)?;
            let kept = pruned(&matrix);
            let threshold = t.factor(kernel.args.len() > 5 && kernel.is_pointer(5), THRESHOLD);
            let from = [int(ROWS), int(COLUMNS), int(base), t.input(&matrix.values), starts(), columns()];
            let to = [int(matrix.len()), int(1 - base), t.output(&kept.values)];
            let places =
                [index_input(&kept.starts, 1 - base), index_output(&kept.column, 1 - base), threshold];
            let args = from.into_iter().chain(to).chain(places).collect();
            Some(kernel.launch_sized(ROWS.div_ceil(kernel.number(1)), kernel.number(0), args))
        }
        "bsr2csr_block_dim_equals_one_kernel" => {
            let t = kernel.real(1)?;
            let from = [int(ROWS), int(COLUMNS), int(base), t.input(&matrix.values), starts(), columns()];
            let to = [int(1 - base), t.output(&matrix.values), index_output(&matrix.starts, 1 - base)];
            let args = from.into_iter().chain(to).chain([index_output(&matrix.column, 1 - base)]).collect();
            Some(kernel.launch(ROWS, args))
        }
        "csr2bsr_block_dim_equals_one_kernel" => {
            let t = kernel.real(1)?;
            let sizes = [int(ROWS), int(COLUMNS), int(ROWS), int(COLUMNS), int(base)];
            let from = [t.input(&matrix.values), starts(), columns(), int(1 - base)];
            // The starts of rows are not its business.
            let untouched = index_input(&matrix.starts, base);
            let to = [t.output(&matrix.values), untouched, index_output(&matrix.column, 1 - base)];
            Some(kernel.launch(ROWS, sizes.into_iter().chain(from).chain(to).collect()))
        }
        "bsr2csr_kernel" => blocks_to_rows(kernel, Dimensions::Given(6, 6), kernel.real(2)?),
        "bsr2csr_unroll_kernel" => {
            blocks_to_rows(kernel, Dimensions::Fixed(kernel.number(2)), kernel.real(3)?)
        }
        "gebsr2csr_kernel" => blocks_to_rows(kernel, Dimensions::Given(3, 5), kernel.real(3)?),
        "csr2bsr_nnz_2_32_kernel" | "csr2bsr_2_32_kernel" => rows_to_blocks(kernel, &matrix),
        "dense_transpose_back" => {
            let t = kernel.real(3)?;
            let (rows, columns) = (45, 70);
            let (before, mut after) = (vector((columns + 1) * rows, 42), vec![0.0; (rows + 2) * columns]);
            for row in 0..rows {
                for column in 0..columns {
                    after[column * (rows + 2) + row] = before[row * (columns + 1) + column];
                }
            }
            let from = [int(rows), int(columns), t.input(&before), int(columns + 1)];
            let args = from.into_iter().chain([t.output(&after), int(rows + 2)]).collect();
            let (across, down) = (kernel.number(0), kernel.number(1));
            Some(kernel.launch_sized(rows.div_ceil(across), across * down, args))
        }
        "csrgemm_intermediate_products" => {
            let right = Matrix::sample(COLUMNS, 60, 43);
            let added = Matrix::sample(ROWS, 60, 44);
            let lengths = right.row_lengths();
            let mut products = added.row_lengths();
            matrix.entries().for_each(|(row, column, _)| products[row] += lengths[column]);
            let from = [int(ROWS), starts(), columns(), index_input(&right.starts, base)];
            let yes = || Arg::Value(vec![1]);
            let to = [index_input(&added.starts, base), index_output(&products, 0), int(base), yes(), yes()];
            let groups = ROWS.div_ceil(kernel.number(0) / kernel.number(1));
            Some(kernel.launch_sized(groups, kernel.number(0), from.into_iter().chain(to).collect()))
        }
        _ => None,
    }
}

/// What pruning keeps is larger.
const THRESHOLD: f64 = 1.25;

/// The matrix without its small entries.
fn pruned(matrix: &Matrix) -> Matrix {
    let kept = matrix.entries().filter(|entry| entry.2.abs() > THRESHOLD).collect();
    Matrix::of_entries(matrix.rows, matrix.columns, kept)
}

/// The part of each row up to `width` in ELLPACK, the rest by coordinates.
fn csr2hyb(kernel: &Kernel<'_>, matrix: &Matrix) -> Option<Case> {
    let (t, base, width) = (kernel.real(1)?, kernel.base(), 4);
    let (ell, values) = matrix.ell(width);
    let rest = beyond(matrix, width);
    let rows: Vec<usize> = rest.row_of_each();
    let from = [int(ROWS), t.input(&matrix.values), index_input(&matrix.starts, base)];
    let written = changed(&vec![-9i32; ell.len()], &ell_columns(&ell, base));
    let to = [index_input(&matrix.column, base), int(width), written, t.output(&values)];
    let coo = [index_output(&rows, base), index_output(&rest.column, base), t.output(&rest.values)];
    let args =
        from.into_iter().chain(to).chain(coo).chain([index_input(&rest.starts, base), int(base)]).collect();
    Some(kernel.launch(ROWS, args))
}

/// The entries of each row after the first `width`.
fn beyond(matrix: &Matrix, width: usize) -> Matrix {
    let mut places = vec![0; matrix.rows];
    let rest = matrix.entries().filter(|entry| {
        places[entry.0] += 1;
        places[entry.0] > width
    });
    Matrix::of_entries(matrix.rows, matrix.columns, rest.collect())
}

fn hyb2csr(kernel: &Kernel<'_>, matrix: &Matrix) -> Option<Case> {
    let (base, width) = (kernel.base(), 4);
    let (ell, values) = matrix.ell(width);
    let rest = beyond(matrix, width);
    let sizes = [int(ROWS), int(COLUMNS), int(ell.len()), int(width), input(&ell_columns(&ell, base))];
    let coo = [int(rest.len()), index_input(&rest.starts, base)];
    if kernel.family == "hyb2csr_nnz_kernel" {
        let lengths = index_output(&matrix.row_lengths(), 0);
        return Some(kernel.launch(ROWS, sizes.into_iter().chain(coo).chain([lengths, int(base)]).collect()));
    }
    let t = kernel.real(1)?;
    let coo_rest = [index_input(&rest.column, base), t.input(&rest.values)];
    let csr =
        [index_input(&matrix.starts, base), index_output(&matrix.column, base), t.output(&matrix.values)];
    let args = sizes
        .into_iter()
        .chain([t.input(&values)])
        .chain(coo)
        .chain(coo_rest)
        .chain(csr)
        .chain([int(base)])
        .collect();
    Some(kernel.launch(ROWS, args))
}

/// How a kernel knows the sides of blocks.
enum Dimensions {
    /// By arguments: rows and columns.
    Given(usize, usize),
    /// The kernel was compiled for squares of this side.
    Fixed(usize),
}

/// Blocks, each whole, as entries of rows.
fn blocks_to_rows(kernel: &Kernel<'_>, dimensions: Dimensions, t: Real) -> Option<Case> {
    let base = kernel.base();
    let by_rows = kernel.args[0].ends_with('0');
    let (tall, wide, square) = match dimensions {
        Dimensions::Given(tall, wide) => (tall, wide, tall == wide),
        Dimensions::Fixed(side) => (side, side, true),
    };
    let (rows, columns) = (7, 80);
    let blocks = Matrix::sample(rows, columns, 45);
    let values = vector(blocks.len() * tall * wide, 46);
    let mut entries = Vec::new();
    for (block, (row, column, _)) in blocks.entries().enumerate() {
        for r in 0..tall {
            for c in 0..wide {
                let inside = if by_rows { r * wide + c } else { c * tall + r };
                let value = values[block * tall * wide + inside];
                entries.push((row * tall + r, column * wide + c, value));
            }
        }
    }
    entries.sort_by_key(|(row, column, _)| (*row, *column));
    let csr = Matrix::of_entries(rows * tall, columns * wide, entries);
    let from = [int(rows), int(columns), int(base), t.input(&values)];
    let places = [index_input(&blocks.starts, base), index_input(&blocks.column, base)];
    let sides = match dimensions {
        Dimensions::Fixed(_) => vec![],
        Dimensions::Given(side, _) if square => vec![int(side)],
        Dimensions::Given(tall, wide) => vec![int(tall), int(wide)],
    };
    let to = [int(1 - base), t.output(&csr.values), index_output(&csr.starts, 1 - base)];
    let args = from
        .into_iter()
        .chain(places)
        .chain(sides)
        .chain(to)
        .chain([index_output(&csr.column, 1 - base)])
        .collect();
    // 64 threads a row, whatever the wave's size.
    let threads = kernel.number(1);
    Some(kernel.launch_sized((rows * tall * 64).div_ceil(threads), threads, args))
}

/// Entries of rows as blocks of a given side, and how many of them a row of blocks has.
fn rows_to_blocks(kernel: &Kernel<'_>, matrix: &Matrix) -> Option<Case> {
    let base = kernel.base();
    let counts_only = kernel.family == "csr2bsr_nnz_2_32_kernel";
    // The last two template arguments before the type are the workgroup's size and the lanes of a row of blocks.
    let (block, segment) =
        if counts_only { (kernel.number(0), kernel.number(1)) } else { (kernel.number(1), kernel.number(2)) };
    let side = segment - usize::from(segment > 2);
    let (rows, columns) = (ROWS.div_ceil(side), COLUMNS.div_ceil(side));
    let mut places: Vec<(usize, usize)> = matrix.entries().map(|(r, c, _)| (r / side, c / side)).collect();
    places.sort_unstable();
    places.dedup();
    let blocks = Matrix::of_entries(rows, columns, places.iter().map(|(r, c)| (*r, *c, 0.0)).collect());
    let sizes = [int(ROWS), int(COLUMNS), int(rows), int(columns), int(side), int(base)];
    let groups = rows.div_ceil(block / segment);
    if counts_only {
        let mut lengths = vec![1 - base as i32];
        lengths.extend(blocks.row_lengths().iter().map(|length| *length as i32));
        let csr = [index_input(&matrix.starts, base), index_input(&matrix.column, base), int(1 - base)];
        let args = sizes.into_iter().chain(csr).chain([output(&lengths)]).collect();
        return Some(kernel.launch_sized(groups, block, args));
    }
    let t = kernel.real(3)?;
    let by_rows = kernel.args[0].ends_with('0');
    let mut values = vec![0.0; places.len() * side * side];
    for (r, c, v) in matrix.entries() {
        let place = places.binary_search(&(r / side, c / side)).ok()?;
        let inside = if by_rows { r % side * side + c % side } else { c % side * side + r % side };
        values[place * side * side + inside] = v;
    }
    let csr = [t.input(&matrix.values), index_input(&matrix.starts, base), index_input(&matrix.column, base)];
    let bsr = [
        int(1 - base),
        t.output(&values),
        index_input(&blocks.starts, 1 - base),
        index_output(&blocks.column, 1 - base),
    ];
    Some(kernel.launch_sized(groups, block, sizes.into_iter().chain(csr).chain(bsr).collect()))
}
