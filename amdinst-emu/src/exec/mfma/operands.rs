//! What an instruction asks for, resolved: formats, registers, broadcasts, arithmetic.

use amdgpu_isa::{Arch, Element, Feature, MatrixProduct, Mods, Op, Value};

use super::layout::Input;
use super::numerics::Numerics;
use super::registers::Lanes;
use super::shape;
use crate::check::{Outcome, Trap};
use crate::exec::minifloat;
use crate::program::{Context, Step};
use crate::wave::{Src, odd_operand, register_row};

/// MODE.FP16_OVFL.
const FP16_OVFL: u32 = 1 << 23;

/// Which subnormal singles are taken for zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flush {
    pub(super) factors: bool,
    pub(super) old: bool,
    pub(super) result: bool,
}

/// An input matrix.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix {
    /// First register.
    pub(super) row: u16,
    pub(super) lanes: Lanes,
    pub(super) input: Input,
    /// Elements along the depth that are stored.
    pub(super) depth: usize,
    /// Values of the codes of a format of at most 8 bits, and its width in bits.
    pub(super) small: (&'static [f32; 256], usize),
    /// The smallest exponent of the format.
    pub(super) least: i32,
    /// Changes the sign of every element (doubles).
    pub(super) negate: bool,
}

/// Where a sparse A's elements belong.
#[derive(Clone, Copy, Debug)]
pub(super) struct Indices {
    /// Register.
    pub(super) row: u16,
    /// First bit of the set.
    pub(super) bit: usize,
    pub(super) input: Input,
}

/// Scales of blocks of 32 elements along the depth.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scale {
    /// One scale for all blocks.
    One(u8),
    /// A byte of a register: row or column i, block q in lane i + size·q.
    Lanes { row: u16, shift: u32 },
}

/// One instruction, ready to execute.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) shape: &'static MatrixProduct,
    pub(super) numerics: Numerics,
    pub(super) a: Matrix,
    pub(super) b: Matrix,
    pub(super) indices: Option<Indices>,
    pub(super) scales: [Scale; 2],
    /// The matrix to add to: registers, or one value for all elements.
    pub(super) c: Src,
    pub(super) negate_c: bool,
    pub(super) dst: u16,
    pub(super) flush: Flush,
    /// Overflow stays at the largest number.
    pub(super) saturate: bool,
}

/// Resolve a step.
pub(super) fn job(context: &Context<'_>, step: &Step) -> Outcome<Job> {
    let arch = context.program.target.arch;
    let shape = shape::of(step.op).ok_or_else(|| Trap::unimplemented(step.op, ""))?;
    let Some(extra) = &step.extra else { return Err(odd_operand(step.op)) };
    let mods = &extra.inst.mods;
    let (Src::Row(a), Src::Row(b)) = (step.src[0], step.src[1]) else { return Err(odd_operand(step.op)) };
    let numerics = Numerics::of(arch, shape);
    let mode = context.wave.mode;
    let saturate = arch.has(Feature::ClampedMatrices) && mode & FP16_OVFL != 0;
    let (indices, c) = if shape.is_sparse {
        let Src::Row(row) = step.src[2] else { return Err(odd_operand(step.op)) };
        (Some(indices(shape, row, mods)), Src::Row(step.dst))
    } else {
        (None, addend(step.src[2], extra.inst.operands.get(3).map(|operand| operand.value), shape))
    };
    let lanes = if shape.is_sparse { [Lanes::Own; 2] } else { lanes(step.op, shape, mods)? };
    let [negate_a, negate_b, negate_c] = negations(step.op, arch, shape, mods)?;
    let runs = if shape::per_lane(shape) * shape.b.bits() > 128 { 2 } else { 1 };
    let a = Matrix {
        lanes: lanes[0],
        negate: negate_a,
        ..matrix(step.op, arch, shape, shape.a, (a, shape.depth >> u32::from(shape.is_sparse)), mods.cbsz)?
    };
    let a = if shape.is_sparse { Matrix { input: Input::in_runs(shape, a.depth, runs), ..a } } else { a };
    let b = Matrix {
        lanes: lanes[1],
        negate: negate_b,
        ..matrix(step.op, arch, shape, shape.b, (b, shape.depth), mods.blgp)?
    };
    let flush = flush(arch, shape, mode);
    let scales = match extra.inst.operands.get(4..6) {
        Some([a, b]) => {
            [scale(context, step.op, a.value, mods, 0)?, scale(context, step.op, b.value, mods, 1)?]
        }
        _ => [Scale::One(127); 2],
    };
    Ok(Job { shape, numerics, a, b, indices, scales, c, negate_c, dst: step.dst, flush, saturate })
}

/// C: constants are singles or integers whatever A and B are (CDNA2 ISA manual, section 7.1), doubles with
/// doubles.
fn addend(source: Src, value: Option<Value>, shape: &MatrixProduct) -> Src {
    match value {
        Some(Value::Inline(code)) if shape.a != Element::F64 => {
            Src::Const(u64::from(minifloat::inline_constant(code, minifloat::F32)))
        }
        _ => source,
    }
}

/// Broadcasts and lane patterns.
fn lanes(op: Op, shape: &MatrixProduct, mods: &Mods) -> Outcome<[Lanes; 2]> {
    if matches!(shape.a, Element::F64 | Element::Small) {
        return Ok([Lanes::Own; 2]);
    }
    let (size, id) = (mods.cbsz, mods.abid);
    if 1usize.checked_shl(u32::from(size)).is_none_or(|blocks| blocks > shape.blocks) {
        return Err(Trap::unimplemented(op, "with CBSZ beyond its number of blocks"));
    }
    if id >= 1 << size {
        return Err(Trap::unimplemented(op, "with ABID beyond 2^CBSZ blocks"));
    }
    let a = if size == 0 { Lanes::Own } else { Lanes::Broadcast { size, id } };
    let b = if mods.blgp == 0 { Lanes::Own } else { Lanes::Pattern(mods.blgp) };
    Ok([a, b])
}

/// Which of A, B and C change their signs: doubles from gfx942 on.
fn negations(op: Op, arch: Arch, shape: &MatrixProduct, mods: &Mods) -> Outcome<[bool; 3]> {
    if shape.a != Element::F64 || mods.blgp == 0 {
        return Ok([false; 3]);
    }
    if !arch.has(Feature::NegatedDoubleMatrices) {
        return Err(Trap::unimplemented(op, "with BLGP, which CDNA2's manual does not define for doubles"));
    }
    Ok([0, 1, 2].map(|bit| mods.blgp >> bit & 1 != 0))
}

/// The register bits that say where a sparse A's elements belong (CDNA3 ISA manual, section 7.4; CDNA4,
/// section 7.5).
fn indices(shape: &MatrixProduct, row: u16, mods: &Mods) -> Indices {
    let width = 2 * shape::per_lane(shape) / 2;
    let sets = 32 / width;
    let set = if mods.cbsz & 3 == 0 { usize::from(mods.abid) & (sets - 1) } else { 0 };
    let runs = if shape::per_lane(shape) * shape.b.bits() > 128 { 2 } else { 1 };
    Indices { row, bit: set * width, input: Input::in_runs(shape, shape.depth / 2, runs) }
}

/// `code`: what CBSZ or BLGP says, where it selects the format.
fn matrix(
    op: Op,
    arch: Arch,
    shape: &MatrixProduct,
    element: Element,
    (row, depth): (u16, usize),
    code: u8,
) -> Outcome<Matrix> {
    let format = match element {
        Element::F64 | Element::F32 | Element::Xf32 | Element::I8 => minifloat::F32,
        Element::F16 => minifloat::F16,
        Element::Bf16 => minifloat::BF16,
        Element::Fp8 => minifloat::fp8(arch),
        Element::Bf8 => minifloat::bf8(arch),
        Element::Small => match code {
            0 => minifloat::FP8_OCP,
            1 => minifloat::BF8_OCP,
            2 => minifloat::FP6,
            3 => minifloat::BF6,
            4 => minifloat::FP4,
            _ => return Err(Trap::unimplemented(op, "with a reserved matrix format")),
        },
        Element::Iu8 | Element::Iu4 => return Err(Trap::unimplemented(op, "with elements of WMMA")),
    };
    let bits = if element == Element::Small { format.bits() as usize } else { element.bits() };
    let small = if format.bits() <= 8 { format.values() } else { minifloat::FP4.values() };
    Ok(Matrix {
        row,
        lanes: Lanes::Own,
        input: Input::new(shape, depth, bits),
        depth,
        small: (small, bits.min(8)),
        least: 1 - format.bias,
        negate: false,
    })
}

/// Scales of A or B: OP_SEL_HI and OP_SEL are the number of the byte that holds them (CDNA4 ISA manual,
/// section 7.2.1). Of a float constant the exponent counts; *approximate*: an integer constant is taken as a
/// register's bits are.
fn scale(context: &Context<'_>, op: Op, value: Value, mods: &Mods, source: u32) -> Outcome<Scale> {
    let byte = u32::from(mods.op_sel >> source & 1) + 2 * u32::from(mods.op_sel_hi >> source & 1);
    let shift = 8 * byte;
    Ok(match value {
        Value::Inline(code @ 240..=248) => {
            Scale::One((minifloat::inline_constant(code, minifloat::F32) >> 23) as u8)
        }
        Value::Inline(code) => Scale::One((minifloat::inline_constant(code, minifloat::F32) >> shift) as u8),
        Value::Scalar(register) => Scale::One((context.wave.scalar32(Src::Scalar(register)) >> shift) as u8),
        _ => match register_row(value) {
            Some(row) => Scale::Lanes { row, shift },
            None => return Err(odd_operand(op)),
        },
    })
}

/// MODE.FP_DENORM for single precision; gfx90a flushes halves and bfloat16 by itself.
fn flush(arch: Arch, shape: &MatrixProduct, mode: u32) -> Flush {
    if shape.a != Element::F32 {
        return Flush::default();
    }
    let (factors, results) = (mode >> 4 & 1 == 0, mode >> 5 & 1 == 0);
    if arch.has(Feature::MatrixSubnormals) {
        Flush { factors, ..Flush::default() }
    } else {
        Flush { factors, old: factors, result: results }
    }
}
