//! A × B + C as a triple loop, and where the elements are.
//!
//! Places after CDNA3 ISA manual, section 7.1.4, and CDNA4 ISA manual, sections 7.1.5.1 and 7.5.1.3; for the
//! small doubles after AMD's matrix instruction calculator.

use amdgpu_isa::Inst;
use amdinst_emu::WaveState;

use super::{Random, Shape, operand, put};
use crate::formats::Format;

/// Register-wise place of an element: index of the item in its lane, and the lane.
pub(super) type Place = (usize, usize);

/// Place of A's row or B's column `i` at depth `k`, of `depth` that are stored in `runs` parts.
pub(super) fn input(shape: &Shape, depth: usize, runs: usize, i: usize, k: usize, block: usize) -> Place {
    let (m, b) = (shape.size, shape.blocks);
    let part = depth / runs;
    let k_l = part / (64 / (m * b));
    (k % part % k_l + k / part * k_l, i + m * (block + b * (k % part / k_l)))
}

/// How many parts an operand has: two if it takes more than 128 bits a lane and elements have whole bytes.
pub(super) fn runs(shape: &Shape, b: Format) -> usize {
    let bits = shape.depth * shape.size * shape.blocks / 64 * b.bits();
    if (8..32).contains(&b.bits()) && bits > 128 { 2 } else { 1 }
}

/// Place of an element of C and D.
pub(super) fn output(shape: &Shape, i: usize, j: usize, block: usize) -> Place {
    let (n, h): (usize, usize) = (shape.size, if shape.a == "f64" { 1 } else { 4 });
    let b_i = (64 * h).div_ceil(n * n);
    if shape.a == "f64" && shape.blocks > 1 {
        return (0, j + n * (block + shape.blocks * i));
    }
    let m_i = 64 / b_i / n;
    let g = n / (h * m_i);
    (i % h + h * (i / (h * m_i) + g * (block / b_i)), j + n * ((i / h) % m_i + m_i * (block % b_i)))
}

/// Matrices of one instruction: blocks, then rows, then columns.
#[derive(Clone, Debug)]
pub(super) struct Matrices {
    /// Codes; of a sparse A, those that are stored.
    pub(super) a: Vec<Vec<Vec<u64>>>,
    pub(super) b: Vec<Vec<Vec<u64>>>,
    /// Codes of single, double or integer results.
    pub(super) c: Vec<Vec<Vec<u64>>>,
    /// For each stored element of A which of the four it is.
    pub(super) index: Vec<Vec<usize>>,
}

impl Matrices {
    /// Matrices of codes that `a`, `b` and `c` give.
    pub(super) fn new(
        shape: &Shape,
        random: &mut Random,
        mut a: impl FnMut(&mut Random) -> u64,
        mut b: impl FnMut(&mut Random) -> u64,
        mut c: impl FnMut(&mut Random) -> u64,
    ) -> Self {
        let mut matrix = |rows: usize, columns: usize, f: &mut dyn FnMut(&mut Random) -> u64| {
            (0..shape.blocks)
                .map(|_| (0..rows).map(|_| (0..columns).map(|_| f(random)).collect()).collect())
                .collect::<Vec<Vec<Vec<u64>>>>()
        };
        let a = matrix(shape.size, shape.stored(), &mut a);
        let b = matrix(shape.depth, shape.size, &mut b);
        let c = matrix(shape.size, shape.size, &mut c);
        let index = (0..shape.size)
            .map(|_| {
                (0..shape.stored() / 2)
                    .flat_map(|_| {
                        let first = random.below(3);
                        [first as usize, (first + 1 + random.below(3 - first)) as usize]
                    })
                    .collect()
            })
            .collect();
        Self { a, b, c, index }
    }

    /// The depth that a stored element of A is at.
    pub(super) fn depth_of(&self, shape: &Shape, i: usize, k: usize) -> usize {
        if shape.is_sparse() { k / 2 * 4 + self.index[i][k] } else { k }
    }

    /// Factors of an element of the result, in ascending depth.
    pub(super) fn factors(&self, shape: &Shape, (block, i, j): (usize, usize, usize)) -> Vec<(u64, u64)> {
        (0..shape.stored())
            .map(|k| (self.a[block][i][k], self.b[block][self.depth_of(shape, i, k)][j]))
            .collect()
    }

    /// Write the operands' registers.
    pub(super) fn write(&self, inst: &Inst, shape: &Shape, [a, b]: [Format; 2], state: &mut WaveState) {
        let parts = runs(shape, b);
        let a_parts = if shape.is_sparse() { parts } else { runs(shape, a) };
        for block in 0..shape.blocks {
            for i in 0..shape.size {
                for k in 0..shape.stored() {
                    let place = input(shape, shape.stored(), a_parts, i, k, block);
                    write_item(inst, 1, place, a.bits(), self.a[block][i][k], state);
                    if shape.is_sparse() {
                        write_item(inst, 3, place, 2, self.index[i][k] as u64, state);
                    }
                }
                for k in 0..shape.depth {
                    let place = input(shape, shape.depth, parts, i, k, block);
                    write_item(inst, 2, place, b.bits(), self.b[block][k][i], state);
                }
                for j in 0..shape.size {
                    let at = if shape.is_sparse() { 0 } else { 3 };
                    let bits = if shape.a == "f64" { 64 } else { 32 };
                    write_item(inst, at, output(shape, i, j, block), bits, self.c[block][i][j], state);
                }
            }
        }
    }
}

/// Set an item of an operand, of which registers are packed with items of `bits` bits.
pub(super) fn write_item(
    inst: &Inst,
    at: usize,
    (item, lane): Place,
    bits: usize,
    code: u64,
    state: &mut WaveState,
) {
    let value = operand(inst, at);
    for bit in 0..bits {
        let position = item * bits + bit;
        let old = super::get(state, value, position / 32, lane);
        let mask = 1 << (position % 32);
        let new = if code >> bit & 1 == 1 { old | mask } else { old & !mask };
        put(state, value, position / 32, lane, new);
    }
}

/// An item of an operand.
pub(super) fn read_item(inst: &Inst, at: usize, (item, lane): Place, bits: usize, state: &WaveState) -> u64 {
    let value = operand(inst, at);
    (0..bits).fold(0, |code, bit| {
        let position = item * bits + bit;
        code | u64::from(super::get(state, value, position / 32, lane) >> (position % 32) & 1) << bit
    })
}

/// Exact dot product in double precision of values that allow it.
pub(super) fn exact(factors: &[(u64, u64)], [a, b]: [Format; 2], c: f64) -> f64 {
    factors.iter().fold(c, |sum, (x, y)| sum + a.value(*x) * b.value(*y))
}
