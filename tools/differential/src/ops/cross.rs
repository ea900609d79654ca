//! Operations between the lanes of a wave. Their text is a function of the prelude: on the device it wraps a
//! builtin; on the host it gets what all lanes hold and which of them are active.
//!
//! `{0}` is the work-item's value and `{1}` its second operand (a lane, an old value), both `u32`.

use super::{Op, Place, Table};
use crate::ty::Ty::U32;

/// DPP controls: quad permutations, shifts, rotations and mirrors of rows, broadcasts, and those of the whole
/// wave.
const DPP: [u32; 19] = [
    0x1b, 0xb1, 0x4e, 0x00, 0xd8, 0x101, 0x104, 0x10f, 0x111, 0x112, 0x118, 0x121, 0x12c, 0x130, 0x134,
    0x138, 0x13c, 0x140, 0x141,
];

pub(super) fn add(table: &mut Table) {
    let mut add = |text: String, place| {
        table.cross.push(Op {
            text: format!("{text}, {{0}}, {{1}}"),
            result: Some(U32),
            args: vec![U32, U32],
            weight: 8,
            place,
        });
    };
    // A lane that is read whether or not it is active must have computed its value: all lanes must.
    for lane in [0, 3, 17, 31] {
        add(format!("X_readlane, {lane}, 0, 0, 0"), Place::Anywhere);
    }
    let mut cross = |text| add(text, Place::Divergent);
    for name in ["ballot_low", "ballot_high", "ballot_rank", "firstlane", "bpermute", "permute"] {
        cross(format!("X_{name}, 0, 0, 0, 0"));
    }
    for pattern in [0x001f, 0x041f, 0x7c1f, 0x0200, 0x80b1, 0x801b, 0x0c18] {
        cross(format!("X_swizzle, {pattern:#x}, 0, 0, 0"));
    }
    // Broadcasts to the next row, and from the lower half: only to rows that have a source.
    cross("X_dpp, 0x142, 0xa, 0xf, 0".to_owned());
    cross("X_dpp, 0x143, 0xc, 0xf, 0".to_owned());
    for control in DPP {
        for (rows, banks, bound) in [(0xf, 0xf, 0), (0xf, 0xf, 1), (0xa, 0xf, 0), (0xf, 0x5, 1)] {
            cross(format!("X_dpp, {control:#x}, {rows:#x}, {banks:#x}, {bound}"));
        }
        for name in ["X_dpp_add", "X_dpp_umin", "X_dpp_fadd"] {
            cross(format!("{name}, {control:#x}, 0xf, 0xf, 1"));
        }
    }
    for name in ["umin", "umax", "min", "max", "add", "and", "or", "xor"] {
        cross(format!("X_reduce_{name}, 0, 0, 0, 0"));
    }
}
