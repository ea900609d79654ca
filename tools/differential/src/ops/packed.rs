//! Pairs of halves, of 16-bit integers and of singles.

use super::Table;
use super::float::conversion;
use crate::ty::Ty::{self, Bool, F16, F16x2, F32, F32x2, I16, I16x2, U16, U16x2, U32, U64};

pub(super) fn add(table: &mut Table) {
    for ty in [I16x2, U16x2, F16x2, F32x2] {
        common(table, ty);
    }
    for ty in [I16x2, U16x2] {
        integers(table, ty);
    }
    table.op("__builtin_elementwise_abs({0})", I16x2, &[I16x2]);
    table.op("AS_u16x2({0})", U16x2, &[I16x2]);
    table.op("AS_i16x2({0})", I16x2, &[U16x2]);
    table.op("AS_U32_u16x2({0})", U32, &[U16x2]);
    table.op("U32_AS_u16x2({0})", U16x2, &[U32]);
    table.op("U32_AS_i16x2({0})", I16x2, &[U32]);
    table.op("AS_U32_f16x2({0})", U32, &[F16x2]).weight(4);
    table.op("U32_AS_f16x2({0})", F16x2, &[U32]).weight(4);
    table.op("AS_U64_f32x2({0})", U64, &[F32x2]).weight(4);
    table.op("U64_AS_f32x2({0})", F32x2, &[U64]).weight(4);
    // Through the casts of vectors: conversions of each element.
    for (to, from) in [(F32x2, F16x2), (F16x2, F32x2), (F16x2, I16x2), (F16x2, U16x2), (F32x2, U16x2)] {
        table.op(conversion(to, from), to, &[from]).weight(4);
    }
    for ty in [F16x2, F32x2] {
        floats(table, ty);
    }
}

fn common(table: &mut Table, ty: Ty) {
    let (name, element) = (ty.name(), ty.element());
    for operator in ["+", "-", "*"] {
        table.op(format!("({{0}} {operator} {{1}})"), ty, &[ty, ty]).weight(12);
    }
    table.op("-{0}", ty, &[ty]);
    table.op("{0}.yx", ty, &[ty]);
    table.op(format!("({name}){{ {{0}}, {{1}} }}"), ty, &[element, element]);
    table.op(format!("({name})({{0}})"), ty, &[element]);
    table.op("{0}.x", element, &[ty]);
    table.op("{0}.y", element, &[ty]);
    table.op("({0} ? {1} : {2})", ty, &[Bool, ty, ty]);
    table.op("({0} < {1} ? {2} : {3})", ty, &[ty, ty, ty, ty]).weight(4);
    table.op("({0} == {1} ? {2} : {3})", ty, &[ty, ty, ty, ty]).weight(4);
    table.op("({0} + {1}.yx)", ty, &[ty, ty]);
    table.op("({0} * {1}.xx)", ty, &[ty, ty]);
    table.op("({0} * {1}.yy + {2})", ty, &[ty, ty, ty]);
    table.op("({0} * {1} + {2})", ty, &[ty, ty, ty]);
    table.op(format!("({name}){{ {{0}}.y, {{1}}.x }}"), ty, &[ty, ty]);
}

fn integers(table: &mut Table, ty: Ty) {
    for function in ["min", "max", "add_sat", "sub_sat"] {
        table.op(format!("__builtin_elementwise_{function}({{0}}, {{1}})"), ty, &[ty, ty]);
    }
    for operator in ["<<", ">>"] {
        table.op(format!("({{0}} {operator} ({{1}} & 15))"), ty, &[ty, ty]);
        table.op(format!("({{0}} {operator} 3)"), ty, &[ty]).weight(4);
    }
    for operator in ["&", "|", "^"] {
        table.op(format!("({{0}} {operator} {{1}})"), ty, &[ty, ty]);
    }
    let element = if ty == I16x2 { I16 } else { U16 };
    table.op(format!("({})({{0}}.x * {{1}}.y)", element.name()), element, &[ty, ty]);
    table.op("(u32)({0}.x * {1}.x + {0}.y * {1}.y)", U32, &[ty, ty]);
}

fn floats(table: &mut Table, ty: Ty) {
    let name = ty.name();
    table.op(format!("FMA_{name}({{0}}, {{1}}, {{2}})"), ty, &[ty, ty, ty]).weight(12);
    table.op(format!("FMA_{name}({{0}}, -{{1}}.yx, {{2}})"), ty, &[ty, ty, ty]);
    table.op(format!("MIN_{name}({{0}}, {{1}})"), ty, &[ty, ty]);
    table.op(format!("MAX_{name}({{0}}, {{1}})"), ty, &[ty, ty]);
    table.op(format!("({name}){{ {{0}}.x, -{{0}}.y }}"), ty, &[ty]);
    table.op("__builtin_elementwise_abs({0})", ty, &[ty]);
    if ty == F16x2 {
        table.op("__builtin_fmaf((f32){0}.x, (f32){1}.y, {2})", F32, &[F16x2, F16x2, F32]);
        table.op("(f16)((f32){0}.y * (f32){1}.y + {2})", F16, &[F16x2, F16x2, F32]);
    }
}
