//! Matrices and vectors to compute with. Their numbers are multiples of an eighth, small enough that every sum and
//! product in these launches is exact, in singles too: so the order in which a kernel adds does not matter.

use crate::foreign::bytes::{bytes, random32};
use crate::foreign::case::{Arg, Tolerance, changed, changed_near, input, value};

/// A type of real numbers, by its name in C++.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Real {
    Single,
    Double,
}

impl Real {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "float" => Some(Self::Single),
            "double" => Some(Self::Double),
            _ => None,
        }
    }

    fn bytes(self, numbers: &[f64]) -> Vec<u8> {
        match self {
            Self::Single => bytes(&numbers.iter().map(|x| *x as f32).collect::<Vec<f32>>()),
            Self::Double => bytes(numbers),
        }
    }

    /// A number by value.
    pub(super) fn value(self, number: f64) -> Arg {
        Arg::Value(self.bytes(&[number]))
    }

    /// A factor, by value or (`as_pointer`) in memory.
    pub(super) fn factor(self, as_pointer: bool, number: f64) -> Arg {
        if as_pointer { self.input(&[number]) } else { self.value(number) }
    }

    /// A buffer that the kernel reads.
    pub(super) fn input(self, numbers: &[f64]) -> Arg {
        input(&self.bytes(numbers))
    }

    /// A buffer that the kernel changes.
    pub(super) fn changed(self, before: &[f64], after: &[f64]) -> Arg {
        self.near(before, after, Tolerance { relative: 0.0, absolute: 0.0 })
    }

    /// A buffer of zeros for what the kernel writes.
    pub(super) fn output(self, after: &[f64]) -> Arg {
        self.changed(&vec![0.0; after.len()], after)
    }

    /// A buffer that the kernel changes, within a tolerance.
    pub(super) fn near(self, before: &[f64], after: &[f64], tolerance: Tolerance) -> Arg {
        let before = self.bytes(before);
        match self {
            Self::Single => {
                changed_near(before, after.iter().map(|x| *x as f32).collect::<Vec<f32>>(), tolerance)
            }
            Self::Double => changed_near(before, after.to_vec(), tolerance),
        }
    }
}

/// `rocsparse_int` by value.
pub(super) fn int(number: usize) -> Arg {
    value(number as i32)
}

/// Indices with a base.
pub(super) fn indices(numbers: &[usize], base: usize) -> Vec<i32> {
    numbers.iter().map(|number| (number + base) as i32).collect()
}

/// A buffer of indices that the kernel reads.
pub(super) fn index_input(numbers: &[usize], base: usize) -> Arg {
    input(&indices(numbers, base))
}

/// A buffer for indices that the kernel writes; what it leaves alone holds -7 before.
pub(super) fn index_output(after: &[usize], base: usize) -> Arg {
    changed(&vec![-7; after.len()], &indices(after, base))
}

/// Multiples of an eighth between -4 and 4, none of them zero.
pub(super) fn vector(count: usize, seed: u64) -> Vec<f64> {
    let one = |x: u32| {
        let x = f64::from(x >> 8 & 31) + 1.0;
        x / 8.0
    };
    random32(count, seed).iter().map(|x| if x & 1 == 1 { one(*x) } else { -one(*x) }).collect()
}

/// `count` distinct numbers below `limit`, in any order.
pub(super) fn distinct(count: usize, limit: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<(u32, usize)> = random32(limit, seed).into_iter().zip(0..limit).collect();
    order.sort_unstable();
    order.into_iter().take(count).map(|(_, number)| number).collect()
}

/// A sparse matrix by rows.
#[derive(Clone, Debug)]
pub(super) struct Matrix {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Where each row begins, and the end of the last.
    pub(super) starts: Vec<usize>,
    pub(super) column: Vec<usize>,
    pub(super) values: Vec<f64>,
}

impl Matrix {
    /// A matrix with empty rows, short ones, and a few longer than a wave.
    pub(super) fn sample(rows: usize, columns: usize, seed: u64) -> Self {
        let mut starts = vec![0];
        let mut column = Vec::new();
        for (row, x) in random32(rows, seed).into_iter().enumerate() {
            let count = match x % 8 {
                0 => 0,
                1 => columns.min(70),
                x => x as usize,
            };
            let mut chosen = distinct(count.min(columns), columns, seed.wrapping_mul(1000) + row as u64);
            chosen.sort_unstable();
            column.extend(chosen);
            starts.push(column.len());
        }
        let values = vector(column.len(), seed + 1);
        Self { rows, columns, starts, column, values }
    }

    pub(super) fn len(&self) -> usize {
        self.column.len()
    }

    /// The row of each entry.
    pub(super) fn row_of_each(&self) -> Vec<usize> {
        (0..self.rows).flat_map(|row| vec![row; self.starts[row + 1] - self.starts[row]]).collect()
    }

    /// Row, column and value of each entry.
    pub(super) fn entries(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        self.row_of_each().into_iter().zip(&self.column).zip(&self.values).map(|((r, c), v)| (r, *c, *v))
    }

    /// The product with a vector.
    pub(super) fn times(&self, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.rows];
        self.entries().for_each(|(r, c, v)| y[r] += v * x[c]);
        y
    }

    /// The product of the transpose with a vector.
    pub(super) fn transposed_times(&self, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.columns];
        self.entries().for_each(|(r, c, v)| y[c] += v * x[r]);
        y
    }

    /// All entries, by columns (`by_columns`) or rows that are `leading` apart.
    pub(super) fn dense(&self, by_columns: bool, leading: usize) -> Vec<f64> {
        let mut dense = vec![0.0; leading * if by_columns { self.columns } else { self.rows }];
        for (r, c, v) in self.entries() {
            dense[if by_columns { c * leading + r } else { r * leading + c }] = v;
        }
        dense
    }

    /// The matrix with rows and columns exchanged.
    pub(super) fn transposed(&self) -> Self {
        let mut entries: Vec<_> = self.entries().map(|(r, c, v)| (c, r, v)).collect();
        entries.sort_by_key(|(r, c, _)| (*r, *c));
        Self::of_entries(self.columns, self.rows, entries)
    }

    /// From entries in order.
    pub(super) fn of_entries(rows: usize, columns: usize, entries: Vec<(usize, usize, f64)>) -> Self {
        let starts = (0..=rows).map(|row| entries.partition_point(|entry| entry.0 < row)).collect();
        let column = entries.iter().map(|entry| entry.1).collect();
        let values = entries.iter().map(|entry| entry.2).collect();
        Self { rows, columns, starts, column, values }
    }

    /// Entries a row of each.
    pub(super) fn row_lengths(&self) -> Vec<usize> {
        self.starts.windows(2).map(|bounds| bounds[1] - bounds[0]).collect()
    }

    /// The ELLPACK form of at most `width` entries a row: columns (`None` where there is none) and values, by places.
    pub(super) fn ell(&self, width: usize) -> (Vec<Option<usize>>, Vec<f64>) {
        let (mut columns, mut values) = (vec![None; width * self.rows], vec![0.0; width * self.rows]);
        for row in 0..self.rows {
            for (place, entry) in (self.starts[row]..self.starts[row + 1]).take(width).enumerate() {
                columns[place * self.rows + row] = Some(self.column[entry]);
                values[place * self.rows + row] = self.values[entry];
            }
        }
        (columns, values)
    }
}

/// ELLPACK's columns as the library writes them: -1 where there is none.
pub(super) fn ell_columns(columns: &[Option<usize>], base: usize) -> Vec<i32> {
    columns.iter().map(|column| column.map_or(-1, |column| (column + base) as i32)).collect()
}
