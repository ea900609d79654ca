//! Matrices of a wave: WMMA (RDNA3 ISA, section 7.9; AMD's matrix instruction calculator).
//!
//! All matrices have 16 rows and 16 columns. Lane `l` holds row `l % 16` of A and column `l % 16` of B, in every group of 16 lanes
//! the same. Of C and D, register `r` and lane `l` hold row `groups · r + l / 16`, column `l % 16`, a wave having 2 or 4 groups.
//!
//! *Approximate*: the order of additions is not published. Products are added to C one after the other, each sum rounded as a
//! single; results of 16 bits are rounded once more at the end.

use amdgpu_isa::{Mods, Op};

use super::float::single;
use super::{Context, half};
use crate::check::{Outcome, Trap};
use crate::program::{Handler, Src, Step};
use crate::wave::{Half, LANES, Wave, odd_operand};

/// Rows and columns of each matrix.
const SIZE: usize = 16;

/// What the elements of A and B are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Element {
    F16,
    BF16,
    /// Whole numbers of 8 bits.
    Byte,
    /// Whole numbers of 4 bits.
    Nibble,
}

/// What the elements of C and D are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sum {
    F32,
    F16,
    BF16,
    I32,
}

fn form(op: Op) -> Option<(Element, Sum)> {
    Some(match op {
        Op::v_wmma_f32_16x16x16_f16 => (Element::F16, Sum::F32),
        Op::v_wmma_f32_16x16x16_bf16 => (Element::BF16, Sum::F32),
        Op::v_wmma_f16_16x16x16_f16 => (Element::F16, Sum::F16),
        Op::v_wmma_bf16_16x16x16_bf16 => (Element::BF16, Sum::BF16),
        Op::v_wmma_i32_16x16x16_iu8 => (Element::Byte, Sum::I32),
        Op::v_wmma_i32_16x16x16_iu4 => (Element::Nibble, Sum::I32),
        _ => return None,
    })
}

/// The function that executes such an instruction.
pub(super) fn handler(op: Op) -> Option<Handler> {
    form(op).map(|_| multiply as Handler)
}

/// In what a result may differ from a device's.
pub(super) fn bound(op: Op) -> Option<&'static str> {
    let (_, sum) = form(op)?;
    (sum != Sum::I32).then_some(
        "the order of additions is not published; here one product after the other, in single precision",
    )
}

fn multiply(context: &mut Context<'_>, step: &Step) -> Outcome {
    let (Some((element, sum)), Some(extra)) = (form(step.op), &step.extra) else {
        return Err(odd_operand(step.op));
    };
    let mods = &extra.inst.mods;
    let w = &mut *context.wave;
    let lanes = w.lanes();
    if w.exec.count_ones() as usize != lanes {
        return Err(Trap::unimplemented(step.op, "with lanes that are switched off"));
    }
    let [a, b] = [0, 1].map(|source| elements(w, step, mods, element, source));
    let groups = lanes / SIZE;
    let registers = SIZE / groups;
    let mut result = [[0u32; LANES]; SIZE];
    for (register, row_of_result) in result.iter_mut().enumerate().take(registers) {
        for (lane, value) in row_of_result.iter_mut().enumerate().take(lanes) {
            let (row, column) = (groups * register + lane / SIZE, lane % SIZE);
            let c = addend(w, step.src[2], register, lane);
            *value = match (&a, &b) {
                (Elements::Floats(a), Elements::Floats(b)) => {
                    let start = negated(addend_value(c, sum, mods.op_sel >> 2 & 1 != 0), mods);
                    let total = (0..SIZE).fold(start, |total, k| single::fma(a[row][k], b[column][k], total));
                    rounded(total, sum)
                }
                (Elements::Integers(a), Elements::Integers(b)) => {
                    let products: i32 = (0..SIZE).map(|k| a[row][k] * b[column][k]).sum();
                    let exact = i64::from(c as i32) + i64::from(products);
                    if mods.clamp {
                        exact.clamp(i32::MIN.into(), i32::MAX.into()) as u32
                    } else {
                        exact as u32
                    }
                }
                _ => return Err(odd_operand(step.op)),
            };
        }
    }
    let halves = matches!(sum, Sum::F16 | Sum::BF16);
    for (register, values) in result.iter().enumerate().take(registers) {
        for (old, &value) in w.rows[usize::from(step.dst) + register].iter_mut().zip(values).take(lanes) {
            *old = match (halves, mods.op_sel >> 2 & 1 != 0) {
                (false, _) => value,
                (true, false) => *old & 0xffff_0000 | value,
                (true, true) => *old & 0xffff | value << 16,
            };
        }
    }
    Ok(())
}

/// A or B, by the lanes of a group of 16.
enum Elements {
    Floats([[f32; SIZE]; SIZE]),
    Integers([[i32; SIZE]; SIZE]),
}

fn elements(w: &Wave, step: &Step, mods: &Mods, element: Element, source: usize) -> Elements {
    let Src::Row(first) = step.src[source] else { return Elements::Integers([[0; SIZE]; SIZE]) };
    let bits = match element {
        Element::F16 | Element::BF16 => 16,
        Element::Byte => 8,
        Element::Nibble => 4,
    };
    let field = |lane: usize, k: usize| {
        let in_register = 32 / bits;
        let value = w.rows[usize::from(first) + k / in_register][lane];
        value >> (bits * (k % in_register))
    };
    // NEG is of the lower halves, NEG_HI of the upper ones; of whole numbers NEG says that they are signed.
    let negative = |k: usize| (if k.is_multiple_of(2) { mods.neg } else { mods.neg_hi }) >> source & 1 != 0;
    let sign = |k: usize| if negative(k) { 0x8000 } else { 0 };
    let is_signed = mods.neg >> source & 1 != 0;
    let each = |lane: usize| std::array::from_fn(|k| (field(lane, k), k));
    let matrix: [[(u32, usize); SIZE]; SIZE] = std::array::from_fn(each);
    match element {
        Element::F16 => Elements::Floats(
            matrix.map(|row| row.map(|(value, k)| half::value(Half(value as u16 ^ sign(k))))),
        ),
        Element::BF16 => {
            Elements::Floats(matrix.map(|row| row.map(|(value, k)| half::bf16(value as u16 ^ sign(k)))))
        }
        Element::Byte | Element::Nibble => Elements::Integers(matrix.map(|row| {
            row.map(|(value, _)| {
                let top = value << (32 - bits);
                if is_signed { top as i32 >> (32 - bits) } else { (top >> (32 - bits)) as i32 }
            })
        })),
    }
}

/// The dword of C, which may be a constant.
fn addend(w: &Wave, source: Src, register: usize, lane: usize) -> u32 {
    match source {
        Src::Row(first) => w.rows[usize::from(first) + register][lane],
        other => w.scalar32(other),
    }
}

fn addend_value(bits: u32, sum: Sum, high: bool) -> f32 {
    let part = if high { bits >> 16 } else { bits } as u16;
    match sum {
        Sum::F16 => half::value(Half(part)),
        Sum::BF16 => half::bf16(part),
        Sum::F32 | Sum::I32 => f32::from_bits(bits),
    }
}

/// C with its absolute value taken, and negated.
fn negated(value: f32, mods: &Mods) -> f32 {
    let value = if mods.neg_hi >> 2 & 1 != 0 { value.abs() } else { value };
    if mods.neg >> 2 & 1 != 0 { -value } else { value }
}

fn rounded(value: f32, sum: Sum) -> u32 {
    match sum {
        Sum::F16 => half::from_f32(value, 0).0.into(),
        Sum::BF16 => half::to_bf16(value).into(),
        Sum::F32 | Sum::I32 => value.to_bits(),
    }
}
