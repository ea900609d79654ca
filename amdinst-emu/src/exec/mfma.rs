//! Matrix instructions (VOP3P-MAI): D = A × B + C, for one or more blocks at once.
//!
//! How matrices lie in registers (AMD matrix instruction calculator). For M × N × K with B blocks and `e` elements of
//! A and B packed in a lane's registers: element (i, k) of A's block b is element k mod e of lane
//! i + M·(b + B·⌊k/e⌋), and B alike with j for i. C and D: rows come in groups of g (4, or 1 for doubles); group
//! q = ⌊i/g⌋ + ⌈M/g⌉·b of column j is in lane j + N·(q mod G), G = 64/N, element i mod g + g·⌊q/G⌋. For doubles of
//! several blocks the block counts faster than the row.
//!
//! Sums are formed in ascending k, each step rounded as a fused multiply-add in the result's format; products of half
//! and bfloat16 values are exact before. Hardware may add in another order: results agree to rounding.

use amdinst_core::isa::Op;

use super::float::{double, single};
use super::{Context, half};
use crate::check::{Outcome, Trap};
use crate::program::{Handler, Src, Step};
use crate::wave::{Half, LANES, Wave, odd_operand};

/// Format of the elements of A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    F32,
    F64,
    F16,
    Bf16,
    I8,
}

/// One instruction's shape.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Rows of A, columns of B.
    size: usize,
    depth: usize,
    blocks: usize,
    element: Element,
    /// Elements of A or B in a lane.
    per_lane: usize,
}

fn shape(op: Op) -> Option<Shape> {
    let name = op.name().strip_prefix("v_mfma_")?;
    let (_, name) = name.split_once('_')?;
    let (sizes, element, per_lane) = if let Some(sizes) = name.strip_suffix("bf16_1k") {
        (sizes, Element::Bf16, 4)
    } else if let Some(sizes) = name.strip_suffix("bf16") {
        (sizes, Element::Bf16, 2)
    } else if let Some(sizes) = name.strip_suffix("f16") {
        (sizes, Element::F16, 4)
    } else if let Some(sizes) = name.strip_suffix("f32").filter(|sizes| !sizes.ends_with('x')) {
        (sizes, Element::F32, 1)
    } else if let Some(sizes) = name.strip_suffix("f64") {
        (sizes, Element::F64, 1)
    } else if let Some(sizes) = name.strip_suffix("i8") {
        (sizes, Element::I8, 4)
    } else {
        return None;
    };
    let mut sizes = sizes.split('x').map(|size| size.trim_matches('_').parse::<usize>().ok());
    let (size, columns, depth) = (sizes.next()??, sizes.next()??, sizes.next()??);
    // Every lane holds `per_lane` elements of A: what is not depth is blocks.
    let elements = LANES * per_lane;
    let blocks = elements / (size * depth).max(1);
    let fits = size == columns && blocks >= 1 && blocks * size * depth == elements && depth % per_lane == 0;
    // The wider shapes of later processors pack two registers' worth of bytes; they are not executed.
    fits.then_some(Shape { size, depth, blocks, element, per_lane })
}

/// The function that executes a matrix instruction.
pub(super) fn handler(op: Op) -> Option<Handler> {
    shape(op).map(|_| mfma as Handler)
}

/// Where an element of the result lies: element of the lane's registers, and lane.
fn place(shape: &Shape, block: usize, row: usize, column: usize) -> (usize, usize) {
    let lanes = LANES / shape.size;
    if shape.element == Element::F64 {
        let group = block + shape.blocks * row;
        return (group / lanes, column + shape.size * (group % lanes));
    }
    let group = row / 4 + shape.size / 4 * block;
    (row % 4 + 4 * (group / lanes), column + shape.size * (group % lanes))
}

/// The bits of element `k` of a row of A or a column of B.
fn element(w: &Wave, shape: &Shape, first: u16, block: usize, at: usize, k: usize) -> u64 {
    let lane = at + shape.size * (block + shape.blocks * (k / shape.per_lane));
    let part = k % shape.per_lane;
    match shape.element {
        Element::F64 => w.lane(first, lane),
        Element::F32 => u64::from(w.lane::<u32>(first, lane)),
        Element::F16 | Element::Bf16 => {
            u64::from(w.lane::<u32>(first + part as u16 / 2, lane) >> (16 * (part % 2)) & 0xffff)
        }
        Element::I8 => u64::from(w.lane::<u32>(first, lane) >> (8 * part) & 0xff),
    }
}

/// a × b + c in the result's format.
fn step_of(element: Element, a: u64, b: u64, c: u64) -> u64 {
    let wide = |a: f32, b: f32| u64::from(single::fma(a, b, f32::from_bits(c as u32)).to_bits());
    match element {
        Element::F64 => double::fma(f64::from_bits(a), f64::from_bits(b), f64::from_bits(c)).to_bits(),
        Element::F32 => wide(f32::from_bits(a as u32), f32::from_bits(b as u32)),
        Element::F16 => wide(half::value(Half(a as u16)), half::value(Half(b as u16))),
        Element::Bf16 => wide(half::bf16(a as u16), half::bf16(b as u16)),
        Element::I8 => {
            let product = i32::from(a as u8 as i8) * i32::from(b as u8 as i8);
            u64::from((c as i32).wrapping_add(product) as u32)
        }
    }
}

/// Every lane takes part, whatever EXEC is.
fn mfma(context: &mut Context<'_>, step: &Step) -> Outcome {
    let shape = shape(step.op).ok_or_else(|| Trap::unimplemented(step.op, ""))?;
    let Some(extra) = &step.extra else { return Err(odd_operand(step.op)) };
    let mods = &extra.inst.mods;
    if mods.cbsz != 0 || mods.abid != 0 || mods.blgp != 0 {
        return Err(Trap::unimplemented(step.op, "with broadcasts, swizzles or negation"));
    }
    let w = &mut *context.wave;
    let (Src::Row(a), Src::Row(b)) = (step.src[0], step.src[1]) else { return Err(odd_operand(step.op)) };
    let width = if shape.element == Element::F64 { 2 } else { 1 };
    let registers = shape.size * shape.size * shape.blocks / LANES;
    let mut results = vec![[0u64; LANES]; registers];
    for block in 0..shape.blocks {
        for row in 0..shape.size {
            for column in 0..shape.size {
                let (register, lane) = place(&shape, block, row, column);
                let at = (register * width) as u16;
                let mut sum = match step.src[2] {
                    Src::Row(c) if width == 2 => w.lane::<u64>(c + at, lane),
                    Src::Row(c) => u64::from(w.lane::<u32>(c + at, lane)),
                    other => w.scalar64(other),
                };
                for k in 0..shape.depth {
                    let left = element(w, &shape, a, block, row, k);
                    let right = element(w, &shape, b, block, column, k);
                    sum = step_of(shape.element, left, right, sum);
                }
                results[register][lane] = sum;
            }
        }
    }
    for (register, lanes) in results.into_iter().enumerate() {
        let at = step.dst + (register * width) as u16;
        for (lane, value) in lanes.into_iter().enumerate() {
            w.set_lane(at, lane, value as u32);
            if width == 2 {
                w.set_lane(at + 1, lane, (value >> 32) as u32);
            }
        }
    }
    Ok(())
}
