//! Integers of 8, 16, 32 and 64 bits, and conditions.

use super::Table;
use crate::ty::Ty::{self, Bool, I8, I16, I32, I64, U8, U16, U32, U64};

/// The weight of what only programs of one operation do. Clang 22 miscompiles `x | ~y` of 64 bits where it
/// knows that the upper half of `y` is zero, as it is after a mask: at -O1 the upper half of the result is
/// that of `x`, not all ones.
const ALONE: usize = 0;

pub(super) fn add(table: &mut Table) {
    for ty in Ty::INTEGERS {
        arithmetic(table, ty);
        bits(table, ty);
        comparisons(table, ty);
        for from in Ty::INTEGERS {
            if from != ty {
                table.op(format!("({}){{0}}", ty.name()), ty, &[from]).weight(3);
            }
        }
        table.op(format!("({}){{0}}", ty.name()), ty, &[Bool]).weight(3);
        table.op("({0} ? {1} : {2})", ty, &[Bool, ty, ty]);
    }
    fused(table);
    wide(table);
    table.op("({0} && {1})", Bool, &[Bool, Bool]).weight(4);
    table.op("({0} || {1})", Bool, &[Bool, Bool]).weight(4);
    table.op("({0} ^ {1})", Bool, &[Bool, Bool]).weight(4);
    table.op("!{0}", Bool, &[Bool]).weight(4);
    table.op("(({0} >> ({1} & 31)) & 1)", Bool, &[U32, U32]);
    table.op("({0} & 1)", Bool, &[U32]);
    table.op("(({0} & {1}) == 0)", Bool, &[U64, U64]);
}

fn arithmetic(table: &mut Table, ty: Ty) {
    let name = ty.name();
    for operator in ["+", "-", "*", "&", "|", "^"] {
        table.op(format!("({name})({{0}} {operator} {{1}})"), ty, &[ty, ty]).weight(12);
    }
    table.op(format!("({name})-{{0}}"), ty, &[ty]);
    let weight = if ty.bytes() == 8 { ALONE } else { 8 };
    table.op(format!("({name})~{{0}}"), ty, &[ty]).weight(weight);
    let weight = if ty.bytes() == 8 { 1 } else { 3 };
    table.op(format!("DIV_{name}({{0}}, {{1}})"), ty, &[ty, ty]).weight(weight);
    table.op(format!("REM_{name}({{0}}, {{1}})"), ty, &[ty, ty]).weight(weight);
    for function in ["min", "max", "add_sat", "sub_sat"] {
        table.op(format!("__builtin_elementwise_{function}({{0}}, {{1}})"), ty, &[ty, ty]);
    }
    if ty.is_signed() {
        table.op(format!("({name})__builtin_elementwise_abs({{0}})"), ty, &[ty]);
    }
    // Clamps: minimum and maximum with constants become one median.
    table.op(
        format!("__builtin_elementwise_max(__builtin_elementwise_min({{0}}, ({name})100), ({name})7)"),
        ty,
        &[ty],
    );
    table.op(
        "__builtin_elementwise_min(__builtin_elementwise_max(__builtin_elementwise_min({0}, {1}), {2}), __builtin_elementwise_max({0}, {1}))",
        ty,
        &[ty, ty, ty],
    );
}

fn bits(table: &mut Table, ty: Ty) {
    let (name, width) = (ty.name(), 8 * ty.bytes());
    let mask = width - 1;
    table.op(format!("({name})({{0}} << ({{1}} & {mask}))"), ty, &[ty, ty]);
    table.op(format!("({name})({{0}} >> ({{1}} & {mask}))"), ty, &[ty, ty]);
    for count in [1, width / 2 - 1, width / 2, mask] {
        table.op(format!("({name})({{0}} << {count})"), ty, &[ty]).weight(3);
        table.op(format!("({name})({{0}} >> {count})"), ty, &[ty]).weight(3);
    }
    table.op(format!("({name})__builtin_elementwise_popcount({{0}})"), ty, &[ty]).weight(4);
    table.op(format!("({name})__builtin_elementwise_bitreverse({{0}})"), ty, &[ty]).weight(4);
    if !ty.is_signed() {
        table.op(format!("({name})__builtin_clzg({{0}}, {width})"), ty, &[ty]).weight(5);
        table.op(format!("({name})__builtin_ctzg({{0}}, {width})"), ty, &[ty]).weight(5);
        table.op(format!("__builtin_rotateleft{width}({{0}}, {{1}})"), ty, &[ty, ty]).weight(4);
        table.op(format!("__builtin_rotateright{width}({{0}}, {{1}})"), ty, &[ty, ty]).weight(4);
        if width > 8 {
            table.op(format!("__builtin_bswap{width}({{0}})"), ty, &[ty]).weight(4);
        }
    }
}

fn comparisons(table: &mut Table, ty: Ty) {
    for operator in ["<", "<=", ">", ">=", "==", "!="] {
        table.op(format!("({{0}} {operator} {{1}})"), Bool, &[ty, ty]).weight(6);
    }
}

/// What the device does in one instruction, and other idioms.
fn fused(table: &mut Table) {
    for text in [
        "({0} * {1} + {2})",
        "(({0} & 0xffffffu) * ({1} & 0xffffffu) + {2})",
        "(({0} & {1}) | (~{0} & {2}))",
        "({2} ^ ({0} & ({1} ^ {2})))",
        "({0} + {1} + {2})",
        "(({0} << 3) + {1} - {2})",
        "((({0} + {1}) << 5) ^ {2})",
        "(({0} ^ {1}) + {2})",
        "(({0} & {1}) | {2})",
        "({0} | {1} | {2})",
        "(({0} << 7) | {1} | ({2} >> 25))",
        "(({0} > {1} ? {0} - {1} : {1} - {0}) + {2})",
        "__builtin_elementwise_min({0}, __builtin_elementwise_min({1}, {2}))",
        "__builtin_elementwise_max({0}, __builtin_elementwise_max({1}, {2}))",
        "(u32)(((u64){0} << 32 | {1}) >> ({2} & 31))",
    ] {
        table.op(text, U32, &[U32, U32, U32]).weight(5);
    }
    for text in [
        "(((i32)({0} << 8) >> 8) * ((i32)({1} << 8) >> 8))",
        "__builtin_elementwise_min(__builtin_elementwise_min({0}, {1}), 17)",
        "__builtin_elementwise_max(__builtin_elementwise_max({0}, {1}), -5)",
        "(i32)(((i64){0} * {1}) >> 32)",
        "(i32)((((i64)((i32)({0} << 8) >> 8)) * ((i32)({1} << 8) >> 8)) >> 32)",
    ] {
        table.op(text, I32, &[I32, I32]).weight(5);
    }
    for text in [
        "(u32)(((u64){0} * {1}) >> 32)",
        "(u32)(((u64)({0} & 0xffffffu) * ({1} & 0xffffffu)) >> 32)",
        "((1u << ({0} & 31)) - 1u) << ({1} & 31)",
        "({0} & ~{1})",
        "({0} | ~{1})",
        "~({0} & {1})",
        "~({0} | {1})",
        "~({0} ^ {1})",
        "(({0} >> 3) & 0x1ffu) + {1}",
        "({0} & (1u << ({1} & 31)))",
        "({0} | (1u << ({1} & 31)))",
        "({0} & ~(1u << ({1} & 31)))",
        "({0} ^ (1u << ({1} & 31)))",
        "({0} << 1) + {1}",
        "({0} << 2) + {1}",
        "({0} << 3) + {1}",
        "({0} << 4) + {1}",
        "({0} & 0xffff0000u | {1} >> 16)",
        "({0} << 16 | ({1} & 0xffffu))",
        "(({0} & 0xff) + ({1} >> 24))",
        "(({0} >> 8 & 0xff) * ({1} >> 16 & 0xff))",
        "ADD_CARRY({0}, {1})",
        "SUB_BORROW({0}, {1})",
    ] {
        table.op(text, U32, &[U32, U32]).weight(5);
    }
    for (ty, signed) in [(U8, I8), (U16, I16)] {
        let (name, of) = (signed.name(), ty.name());
        table.op(format!("(u32){{0}} * (u32){{1}} + {{2}}{}", ""), U32, &[ty, ty, U32]).weight(3);
        table.op(format!("(i32){{0}} * (i32){{1}} - ({name}){{2}}"), I32, &[signed, signed, ty]).weight(3);
        table.op(format!("({of})({{0}} * {{1}} + {{2}})"), ty, &[ty, ty, ty]).weight(5);
        table.op(format!("({name})({{0}} * {{1}} + {{2}})"), signed, &[signed, signed, signed]).weight(5);
    }
}

fn wide(table: &mut Table) {
    table.op("((u64){0} * {1} + {2})", U64, &[U32, U32, U64]);
    table.op("((i64){0} * {1} + {2})", I64, &[I32, I32, I64]);
    table.op("((u64){0} << 32 | {1})", U64, &[U32, U32]);
    table.op("(u32)({0} >> 32)", U32, &[U64]);
    table.op("(u64)(((unsigned __int128){0} * {1}) >> 64)", U64, &[U64, U64]).weight(2);
    table.op("(i64)(((__int128){0} * {1}) >> 64)", I64, &[I64, I64]).weight(2);
    table.op("({0} & ~{1})", U64, &[U64, U64]).weight(4);
    table.op("({0} | ~{1})", U64, &[U64, U64]).weight(ALONE);
    table.op("~({0} ^ {1})", U64, &[U64, U64]).weight(ALONE);
    table.op("~({0} & {1})", U64, &[U64, U64]).weight(ALONE);
    table.op("~({0} | {1})", U64, &[U64, U64]).weight(ALONE);
    table.op("(({0} >> 17) & 0x3fffffffffull)", U64, &[U64]).weight(4);
    table.op("((i64)({0} << 20) >> 25)", I64, &[I64]).weight(4);
    table.op("({0} | (1ull << ({1} & 63)))", U64, &[U64, U64]).weight(4);
    table.op("({0} & ~(1ull << ({1} & 63)))", U64, &[U64, U64]).weight(4);
    table.op("(((1ull << ({0} & 63)) - 1u) << ({1} & 63))", U64, &[U32, U32]).weight(4);
}
