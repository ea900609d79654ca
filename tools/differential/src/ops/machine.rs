//! Instructions that clang offers as builtins; the prelude has models of them for the host.

use super::{Place, Table};
use crate::ty::Ty::{Bool, F16x2, F32, I16x2, I32, U16x2, U32, U64};

pub(super) fn add(table: &mut Table) {
    for name in ["lerp", "sad_u8", "msad_u8", "sad_hi_u8", "sad_u16", "alignbit", "alignbyte", "perm"] {
        table.op(format!("M_{name}({{0}}, {{1}}, {{2}})"), U32, &[U32, U32, U32]);
    }
    table.op("M_ubfe({0}, {1} & 31, {2} & 31)", U32, &[U32, U32, U32]);
    table.op("M_sbfe({0}, {1} & 31, {2} & 31)", U32, &[U32, U32, U32]);
    for name in ["udot2", "udot4", "udot8"] {
        table.op(format!("M_{name}({{0}}, {{1}}, {{2}})"), U32, &[U32, U32, U32]).weight(4);
    }
    for name in ["sdot2", "sdot4", "sdot8"] {
        table.op(format!("M_{name}({{0}}, {{1}}, {{2}})"), I32, &[U32, U32, I32]).weight(4);
    }
    for name in ["qsad_pk_u16_u8", "mqsad_pk_u16_u8"] {
        table.op(format!("M_{name}({{0}}, {{1}}, {{2}})"), U64, &[U64, U32, U64]).weight(4);
    }
    table.op("M_mqsad_u32_u8({0}, {1}, {2})", U32, &[U64, U32, U32]).weight(4);
    table.op("(u32)__builtin_clrsb({0})", U32, &[I32]);
    table.op("M_cvt_pkrtz({0}, {1})", F16x2, &[F32, F32]);
    table.op("M_cvt_pk_i16({0}, {1})", I16x2, &[I32, I32]);
    table.op("M_cvt_pk_u16({0}, {1})", U16x2, &[U32, U32]);
    table.op("M_cvt_pk_u8_f32({0}, {1}, {2})", U32, &[F32, U32, U32]).weight(4);
    table.op("M_fmed3({0}, {1}, {2})", F32, &[F32, F32, F32]).weight(6);
    table.op("M_fract({0})", F32, &[F32]).weight(6);
    table.op("M_mbcnt({0})", U32, &[U64]).at(Place::Divergent);
    table.op("M_class({0}, {1})", Bool, &[F32, U32]).weight(4);
}
