//! From registers to dense matrices and back.
//!
//! A and B are kept depth first: element (k, i) at k·size + i. The result is kept row by row.

use amdgpu_isa::{Element, MatrixProduct};

use super::layout::{ElementLanes, Input, result};
use crate::exec::half;
use crate::wave::{Half, Wave};

/// Blocks of all matrices at most: 64 lanes of 32 elements.
pub(super) const ELEMENTS: usize = 64 * 32;

/// Which lane an input operand reads in place of another: blocks of A broadcast (CBSZ, ABID), lanes of B
/// rearranged (BLGP).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lanes {
    Own,
    /// Within each 2^size blocks, block `id` stands for all (AMD matrix instruction calculator).
    Broadcast {
        size: u8,
        id: u8,
    },
    /// BLGP: CDNA3 ISA manual, table 29.
    Pattern(u8),
}

impl Lanes {
    fn block(self, block: usize) -> usize {
        match self {
            Self::Broadcast { size, id } => block >> size << size | usize::from(id),
            _ => block,
        }
    }

    /// The first of the 16 lanes that are read in place of those from `lane` on, a multiple of 16 or within
    /// one.
    fn lane(self, lane: usize) -> usize {
        let Self::Pattern(pattern) = self else { return lane };
        match pattern {
            0 => lane,
            1 => lane % 32,
            2 => lane % 32 + 32,
            3 => (lane + 16) % 64,
            _ => lane % 16 + 16 * usize::from(pattern & 3),
        }
    }
}

/// Read a matrix into `to`, as `get` reads one lane of one item.
#[inline(always)]
fn gather<T: Copy>(
    shape: &MatrixProduct,
    input: &Input,
    depth: usize,
    lanes: Lanes,
    to: &mut [T],
    get: impl Fn(usize, usize) -> T,
) {
    let size = shape.size;
    let run = size.min(16);
    for block in 0..shape.blocks {
        for k in 0..depth {
            let ElementLanes { item, lane } = input.place(lanes.block(block), k);
            let row = &mut to[(block * depth + k) * size..][..size];
            for (part, values) in row.chunks_exact_mut(run).enumerate() {
                let first = lanes.lane(lane + part * run);
                for (at, value) in values.iter_mut().enumerate() {
                    *value = get(item, (first + at) & 63);
                }
            }
        }
    }
}

/// Read A or B as singles, exact. `small` has the values of the codes of formats of 8 bits and less, `bits`
/// their width.
#[inline(always)]
pub(super) fn singles(
    w: &Wave,
    shape: &MatrixProduct,
    element: Element,
    small: (&[f32; 256], usize),
    depth: usize,
    (input, first, lanes): (Input, u16, Lanes),
    to: &mut [f32],
) {
    let rows = &*w.rows;
    let first = usize::from(first);
    match element {
        Element::F32 => {
            gather(shape, &input, depth, lanes, to, |item, lane| f32::from_bits(rows[first + item][lane]))
        }
        // Measured on hardware: the rest of the mantissa is cut off (MMA-Sim, arXiv 2511.10909).
        Element::Xf32 => gather(shape, &input, depth, lanes, to, |item, lane| {
            let value = f32::from_bits(rows[first + item][lane]);
            if value.is_nan() { value } else { f32::from_bits(value.to_bits() & !0x1fff) }
        }),
        Element::F16 => gather(shape, &input, depth, lanes, to, |item, lane| {
            half::value(Half((rows[first + item / 2][lane] >> (16 * (item % 2))) as u16))
        }),
        Element::Bf16 => gather(shape, &input, depth, lanes, to, |item, lane| {
            f32::from_bits(rows[first + item / 2][lane] >> (16 * (item % 2)) << 16)
        }),
        _ => {
            let (values, bits) = small;
            let mask = (1u64 << bits) - 1;
            gather(shape, &input, depth, lanes, to, |item, lane| {
                let bit = item * bits;
                let low = rows[first + bit / 32][lane];
                let high = if bit % 32 + bits > 32 { rows[first + bit / 32 + 1][lane] } else { 0 };
                let code = (u64::from(high) << 32 | u64::from(low)) >> (bit % 32) & mask;
                values[code as usize & 255]
            });
        }
    }
}

/// Read A or B as signed bytes.
#[inline(always)]
pub(super) fn bytes(
    w: &Wave,
    shape: &MatrixProduct,
    depth: usize,
    (input, first, lanes): (Input, u16, Lanes),
    to: &mut [i32],
) {
    let rows = &*w.rows;
    gather(shape, &input, depth, lanes, to, |item, lane| {
        i32::from((rows[usize::from(first) + item / 4][lane] >> (8 * (item % 4))) as u8 as i8)
    });
}

/// Read A or B as doubles; a change of sign is part of the instruction.
#[inline(always)]
pub(super) fn doubles(w: &Wave, shape: &MatrixProduct, (first, negate): (u16, bool), to: &mut [f64]) {
    let input = Input::new(shape, shape.depth, 64);
    gather(shape, &input, shape.depth, Lanes::Own, to, |item, lane| {
        let value: f64 = w.lane(first + 2 * item as u16, lane);
        if negate { -value } else { value }
    });
}

/// Visit every row of every block of the result: its place, and its columns in `values`.
#[inline(always)]
pub(super) fn rows<T>(
    shape: &MatrixProduct,
    height: usize,
    values: &mut [T],
    mut visit: impl FnMut(ElementLanes, &mut [T]),
) {
    for block in 0..shape.blocks {
        for row in 0..shape.size {
            let at = (block * shape.size + row) * shape.size;
            visit(result(shape, height, block, row), &mut values[at..at + shape.size]);
        }
    }
}
