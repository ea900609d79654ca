//! Atomics whose results do not depend on the order of work-items: without a result on shared slots, each of
//! which knows one operation; with a result on the work-item's own bytes.

use super::{Place, Table};
use crate::ty::Ty::{self, F32, F64, I32, I64, U32, U64};

pub(super) fn add(table: &mut Table) {
    // Slots: the output's `acc` and LDS's `lacc` hold 8 kinds of slots of each width; see the prelude.
    for (ty, signed, width) in [(U32, I32, 32), (U64, I64, 64)] {
        for name in ["add", "or", "xor", "and", "umin", "umax"] {
            table.effect(format!("ACC{width}({name}, {{0}}, {{1}})"), None, &[U32, ty]).weight(3);
            table
                .effect(format!("LACC{width}({name}, {{0}}, {{1}})"), None, &[U32, ty])
                .weight(3)
                .at(Place::WritesLds);
            // One slot for all: the compiler combines the lanes first.
            table.effect(format!("ACC{width}({name}, 1, {{0}})"), None, &[ty]).weight(2);
        }
        for name in ["smin", "smax"] {
            table.effect(format!("ACC{width}({name}, {{0}}, {{1}})"), None, &[U32, signed]).weight(3);
            table
                .effect(format!("LACC{width}({name}, {{0}}, {{1}})"), None, &[U32, signed])
                .weight(3)
                .at(Place::WritesLds);
        }
        for (memory, place) in [("own", Place::Divergent), ("mine", Place::WritesLds)] {
            for name in ["add", "sub", "or", "xor", "and", "umin", "umax", "xchg", "inc", "dec"] {
                owned(table, name, memory, place, ty, 3);
            }
            for name in ["smin", "smax"] {
                owned(table, name, memory, place, signed, 3);
            }
            table
                .effect(format!("CAS_{memory}({}, {{0}}, {{1}}, {{2}})", ty.name()), Some(ty), &[U32, ty, ty])
                .weight(4)
                .at(place);
        }
    }
    for ty in [F32, F64] {
        for (memory, place) in [("own", Place::Divergent), ("mine", Place::WritesLds)] {
            for name in ["fadd", "fmin", "fmax"] {
                owned(table, name, memory, place, ty, 4);
            }
        }
    }
}

fn owned(table: &mut Table, name: &str, memory: &str, place: Place, ty: Ty, weight: usize) {
    table
        .effect(format!("FETCH_{memory}({name}, {}, {{0}}, {{1}})", ty.name()), Some(ty), &[U32, ty])
        .weight(weight)
        .at(place);
}
