//! Loads and stores of all widths, aligned and not, in every address space.
//!
//! A work-item writes only bytes of its own (`own` in the output, `mine` in LDS, `arr` on its stack), so the
//! order of work-items does not show.

use super::{Place, Table};
use crate::ty::Ty::{self, Bool, I32, U32, U64};

/// A memory: its name, the address space's qualifier, its bytes less the widest access, and what a load of it
/// needs.
const MEMORIES: [(&str, &str, usize, Place, usize); 5] = [
    ("in", "const G", 2048, Place::Divergent, 8),
    ("own", "G", 112, Place::Divergent, 3),
    ("mine", "L", 48, Place::Divergent, 4),
    ("arr", "", 48, Place::Divergent, 4),
    ("lds", "L", 2048, Place::Shared, 12),
];

pub(super) fn add(table: &mut Table) {
    for ty in Ty::VALUES {
        let name = ty.name();
        for (memory, space, bytes, place, weight) in MEMORIES {
            for mask in [bytes - 1, (bytes - 1) & !(ty.bytes() - 1)] {
                let mask = below_power_of_two(mask);
                let place = if memory == "in" { Place::Anywhere } else { place };
                table
                    .op(format!("LOAD({name}, {space}, {memory} + ({{0}} & {mask}))"), ty, &[U32])
                    .weight(weight)
                    .at(place);
            }
        }
        for (memory, space, bytes, ..) in &MEMORIES[1..4] {
            for mask in [bytes - 1, (bytes - 1) & !(ty.bytes() - 1)] {
                let mask = below_power_of_two(mask);
                let place = if *memory == "mine" { Place::WritesLds } else { Place::Divergent };
                table
                    .effect(
                        format!("STORE({name}, {space}, {memory} + ({{0}} & {mask}), {{1}})"),
                        None,
                        &[U32, ty],
                    )
                    .at(place);
            }
        }
        // A generic pointer, of which only the work-item knows where it points to.
        table
            .op(format!("LOAD({name}, const, FLAT({{0}}, {{1}}))"), ty, &[Bool, U32])
            .weight(4)
            .at(Place::Divergent);
        table
            .effect(format!("STORE({name}, , FLAT_STORE({{0}}, {{1}}), {{2}})"), None, &[Bool, U32, ty])
            .at(Place::WritesLds);
        if matches!(ty.bytes(), 1 | 2 | 4 | 8) && !ty.is_float() && ty.element() == ty && !ty.is_signed() {
            let width = 8 * ty.bytes();
            let mask = !(ty.bytes() - 1) as u16;
            table
                .op(format!("BUFFER_LOAD_{width}({{0}} & {mask:#x}u)"), ty, &[U32])
                .weight(6)
                .at(Place::Divergent);
            table.effect(format!("BUFFER_STORE_{width}({{0}} & {mask:#x}u, {{1}})"), None, &[U32, ty]);
        }
    }
    // Three and four words at once.
    for (memory, space, bytes, place, weight) in MEMORIES {
        for (words, align) in [(3, 4), (4, 16), (4, 8), (4, 1), (2, 4)] {
            let mask = below_power_of_two(bytes - 1) & !(align - 1);
            let place = if memory == "in" { Place::Anywhere } else { place };
            table
                .op(format!("FOLD{words}(LOAD_ALIGNED(u32x{words}, {align}, {space}, {memory} + ({{0}} & {mask})))"), U32, &[U32])
                .weight(weight)
                .at(place);
            if matches!(memory, "own" | "mine" | "arr") {
                let place = if memory == "mine" { Place::WritesLds } else { Place::Divergent };
                table
                    .effect(
                        format!("STORE_ALIGNED(u32x{words}, {align}, {space}, {memory} + ({{0}} & {mask}), SPREAD{words}({{1}}, {{2}}))"),
                        None,
                        &[U32, U32, U32],
                    )
                    .at(place);
            }
        }
    }
    for words in [8, 16] {
        table
            .op(
                format!("FOLD{words}(LOAD_ALIGNED(u32x{words}, 4, const G, in + ({{0}} & 2044)))"),
                U32,
                &[U32],
            )
            .weight(4);
    }
    table.op("SLOT({0})", U32, &[U32]).at(Place::Shared).weight(30);
    table.op("SLOT64({0})", U64, &[U32]).at(Place::Shared).weight(12);
    for (text, ty) in [("lid", U32), ("gid", U32)] {
        table.op(text, ty, &[]).weight(8).at(Place::Divergent);
    }
    for (text, ty) in [("wg", U32), ("n0", U32), ("n2", U64), ("(i32)n1", I32)] {
        table.op(text, ty, &[]).weight(4);
    }
    table.op("n3", Ty::F32, &[]).weight(3);
}

/// The largest mask of low bits that keeps offsets within `mask`, with `mask`'s own low zeros.
fn below_power_of_two(mask: usize) -> usize {
    let bits = usize::BITS - (mask + 1).leading_zeros() - 1;
    mask & ((1 << bits) - 1)
}
