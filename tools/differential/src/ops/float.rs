//! Floating-point numbers of 16, 32 and 64 bits.

use super::Table;
use crate::ty::Ty::{self, Bool, F16, F32, F64, I8, I16, I32, I64, U16, U32, U64};

pub(super) fn add(table: &mut Table) {
    for ty in Ty::FLOATS {
        arithmetic(table, ty);
        rounding(table, ty);
        comparisons(table, ty);
        table.op("({0} ? {1} : {2})", ty, &[Bool, ty, ty]);
        for from in Ty::FLOATS {
            if from != ty {
                table.op(conversion(ty, from), ty, &[from]);
            }
        }
        // 64-bit integers do not go to f16: C would let an implementation round twice.
        for from in Ty::INTEGERS {
            if ty != F16 || from.bytes() < 8 {
                table.op(format!("({}){{0}}", ty.name()), ty, &[from]).weight(4);
            }
            // C leaves values that do not fit undefined: the prelude's functions saturate.
            table.op(format!("{}_TO_{}({{0}})", ty.name(), from.name()), from, &[ty]).weight(4);
        }
    }
    for (float, bits) in [(F16, U16), (F32, U32), (F64, U64)] {
        table.op(format!("BITS_{}({{0}})", float.name()), bits, &[float]).weight(4);
        table.op(format!("FROM_BITS_{}({{0}})", float.name()), float, &[bits]).weight(4);
    }
    // What the device mixes in one instruction: half operands of a single-precision sum.
    table.op("__builtin_fmaf((f32){0}, (f32){1}, {2})", F32, &[F16, F16, F32]);
    table.op("((f32){0} * {1} + (f32){2})", F32, &[F16, F32, F16]);
    table.op("(f16)__builtin_fmaf((f32){0}, {1}, (f32){2})", F16, &[F16, F32, F16]).weight(5);
    table.op("(f32)(u8)({0} >> 8)", F32, &[U32]).weight(4);
    table.op("(f32)(u8)({0} >> 16)", F32, &[U32]).weight(4);
    table.op("(f32)({0} >> 24)", F32, &[U32]).weight(4);
    table.op("__builtin_ldexpf({0}, {1})", F32, &[F32, I8]).weight(4);
    table.op("__builtin_ldexp({0}, {1})", F64, &[F64, I16]).weight(4);
    for ty in [I8, I16, I32, I64] {
        // Widths without a saturating instruction go through wider ones.
        table.op(format!("({})F32_TO_SMALL({{0}})", ty.name()), ty, &[F32]).weight(2);
    }
}

/// C for a conversion. Clang 22 makes `(f16)(x * y)` of singles one `v_fma_mixlo_f16` with the addend 0,
/// which turns -0 into 0: so zeros are made positive.
pub(super) fn conversion(to: Ty, from: Ty) -> String {
    let name = to.name();
    match (to, from) {
        (F16, F32) => format!("POSITIVE_{name}(({name}){{0}})"),
        (Ty::F16x2, Ty::F32x2) => format!("POSITIVE_{name}(__builtin_convertvector({{0}}, {name}))"),
        (Ty::F16x2 | Ty::F32x2, _) => format!("__builtin_convertvector({{0}}, {name})"),
        _ => format!("({name}){{0}}"),
    }
}

fn suffix(ty: Ty) -> &'static str {
    match ty {
        F16 => "f16",
        F32 => "f",
        _ => "",
    }
}

fn arithmetic(table: &mut Table, ty: Ty) {
    let (name, s) = (ty.name(), suffix(ty));
    for operator in ["+", "-", "*"] {
        table.op(format!("({name})({{0}} {operator} {{1}})"), ty, &[ty, ty]).weight(14);
    }
    table.op(format!("({name})({{0}} / {{1}})"), ty, &[ty, ty]).weight(if ty == F64 { 2 } else { 3 });
    table.op(format!("SQRT_{name}({{0}})"), ty, &[ty]).weight(2);
    table.op(format!("FMA_{name}({{0}}, {{1}}, {{2}})"), ty, &[ty, ty, ty]).weight(12);
    table.op(format!("FMA_{name}(-{{0}}, {{1}}, -{{2}})"), ty, &[ty, ty, ty]).weight(5);
    table.op(format!("({name})({{0}} * {{1}} + {{2}})"), ty, &[ty, ty, ty]).weight(8);
    table.op("-{0}", ty, &[ty]);
    table.op(format!("__builtin_fabs{s}({{0}})"), ty, &[ty]);
    table.op(format!("({name})(__builtin_fabs{s}({{0}}) - {{1}})"), ty, &[ty, ty]).weight(5);
    table.op(format!("(-__builtin_fabs{s}({{0}}))"), ty, &[ty]).weight(5);
    // The sign of a NaN is open, so only numbers give theirs.
    table.op(format!("__builtin_copysign{s}({{0}}, NUM_{name}({{1}}))"), ty, &[ty, ty]);
    table.op(format!("({name})({{0}} * ({name})2.0)"), ty, &[ty]).weight(4);
    table.op(format!("({name})({{0}} * ({name})0.5)"), ty, &[ty]).weight(4);
    table.op(format!("({name})(({{0}} + {{1}}) * ({name})4.0)"), ty, &[ty, ty]).weight(4);
    for function in ["MIN", "MAX"] {
        table.op(format!("{function}_{name}({{0}}, {{1}})"), ty, &[ty, ty]);
        table.op(format!("{function}3_{name}({{0}}, {{1}}, {{2}})"), ty, &[ty, ty, ty]).weight(4);
    }
    table.op(format!("CLAMP_{name}({{0}}, ({name})-2.5, ({name})9.0)"), ty, &[ty]).weight(4);
    table.op(format!("CLAMP_{name}({{0}}, ({name})0.0, ({name})1.0)"), ty, &[ty]).weight(4);
    table.op(format!("CLAMP_{name}({{0}} + {{1}}, ({name})0.0, ({name})1.0)"), ty, &[ty, ty]).weight(4);
    if ty != F16 {
        table.op("__builtin_elementwise_minimum({0}, {1})", ty, &[ty, ty]).weight(4);
        table.op("__builtin_elementwise_maximum({0}, {1})", ty, &[ty, ty]).weight(4);
    }
    table.op(format!("CLEAN_{name}({{0}})"), ty, &[ty]).weight(3);
    table.op(format!("FRACTION_{name}({{0}})"), ty, &[ty]).weight(3);
    table.op(format!("EXPONENT_{name}({{0}})"), I32, &[ty]).weight(3);
}

fn rounding(table: &mut Table, ty: Ty) {
    let (name, s) = (ty.name(), suffix(ty));
    for function in ["floor", "ceil", "trunc", "rint", "roundeven", "round"] {
        table.op(format!("__builtin_{function}{s}({{0}})"), ty, &[ty]).weight(3);
    }
    table.op(format!("({name})({{0}} - __builtin_floor{s}({{0}}))"), ty, &[ty]).weight(3);
}

fn comparisons(table: &mut Table, ty: Ty) {
    for operator in ["<", "<=", ">", ">=", "==", "!="] {
        table.op(format!("({{0}} {operator} {{1}})"), Bool, &[ty, ty]).weight(6);
        table.op(format!("!({{0}} {operator} {{1}})"), Bool, &[ty, ty]).weight(3);
    }
    table.op("__builtin_isunordered({0}, {1})", Bool, &[ty, ty]).weight(4);
    table.op("__builtin_islessgreater({0}, {1})", Bool, &[ty, ty]).weight(3);
    // Zero, subnormal, infinite or normal, of either sign; which kind of NaN is open.
    for mask in [0x03, 0x204, 0x63, 0x90, 0x108, 0x264, 0x3ff & !0x60] {
        table.op(format!("__builtin_isfpclass({{0}}, {mask:#x})"), Bool, &[ty]).weight(1);
    }
}
