//! The shapes of GFX11's words.

use super::{Kind, Random, Shape, fields, literal};
use Kind::{Any, Flag, Gap, Ones, Rare, Saddr, Scalar, Source, Vector};

/// The codes of a first source that announce a dword of lane permutation: DPP8, that with inactive lanes,
/// DPP16.
const PERMUTED: [u32; 3] = [233, 234, 250];
/// The code of a literal.
const LITERAL: u32 = 255;

/// Dwords that the first ones ask for at least.
pub(super) fn needed(words: &[u32]) -> usize {
    let first = words[0];
    let short = first >> 31 == 0 || first >> 30 == 0b10 || first >> 24 == 0xce;
    if short {
        let marks = first >> 31 == 0 && PERMUTED.contains(&(first & 0x1ff));
        let literal = first & 0xff == LITERAL || first >> 8 & 0xff == LITERAL;
        return if marks || literal || takes_literal(first) { 2 } else { 1 };
    }
    let Some(&second) = words.get(1) else { return 2 };
    let sources = [second & 0x1ff, second >> 9 & 0x1ff, second >> 18 & 0x1ff];
    let asks = match first >> 26 {
        // VOPD.
        0b11_0010 => {
            let has_literal = |opcode: u32| matches!(opcode, 1 | 2);
            first & 0x1ff == LITERAL
                || sources[0] == LITERAL
                || has_literal(first >> 22 & 0xf)
                || has_literal(first >> 17 & 0x1f)
        }
        // VOP3, VOP3P.
        0b11_0011 | 0b11_0101 => PERMUTED.contains(&sources[0]) || sources.contains(&LITERAL),
        // Images with named registers.
        0b11_1100 => first & 1 != 0,
        _ => false,
    };
    if asks { 3 } else { 2 }
}

/// Instructions whose second dword is a literal by opcode: multiply-adds with a constant and
/// `s_setreg_imm32_b32`.
fn takes_literal(word: u32) -> bool {
    (word >> 31 == 0 && matches!(word >> 25, 44 | 45 | 55 | 56))
        || word >> 23 == 0b1_0111_0011
        // `s_fmaak_f32`, `s_fmamk_f32`.
        || matches!(word >> 23, 0b1_0100_0101 | 0b1_0100_0110)
}

const DPP16: [(u8, u8, Kind); 8] = [
    (0, 8, Any),
    (8, 9, Any),
    (17, 1, Gap),
    (18, 1, Flag),
    (19, 1, Flag),
    (20, 4, Rare),
    (24, 4, Any),
    (28, 4, Any),
];

/// Every encoding. The dwords of lane permutation are drawn with each.
pub(super) const SHAPES: &[Shape] = &[
    // SOP2, SOPK, SOP1, SOPC, SOPP.
    Shape {
        prefix: 0x8000_0000,
        dwords: 1,
        fields: &[(23, 7, Any), (16, 7, Scalar), (8, 8, Source), (0, 8, Source)],
    },
    Shape { prefix: 0xb000_0000, dwords: 1, fields: &[(23, 5, Any), (16, 7, Scalar), (0, 16, Any)] },
    Shape { prefix: 0xbe80_0000, dwords: 1, fields: &[(8, 8, Any), (16, 7, Scalar), (0, 8, Source)] },
    Shape { prefix: 0xbf00_0000, dwords: 1, fields: &[(16, 7, Any), (8, 8, Source), (0, 8, Source)] },
    Shape { prefix: 0xbf80_0000, dwords: 1, fields: &[(16, 7, Any), (0, 16, Any)] },
    // SMEM.
    Shape {
        prefix: 0xf400_0000,
        dwords: 2,
        fields: &[
            (18, 8, Any),
            (0, 6, Any),
            (6, 7, Scalar),
            (13, 1, Flag),
            (14, 1, Flag),
            (15, 3, Gap),
            (32, 21, Any),
            (53, 4, Gap),
            (57, 7, Scalar),
        ],
    },
    // VOP1, VOP2, VOPC.
    Shape { prefix: 0x7e00_0000, dwords: 1, fields: &[(9, 8, Any), (17, 8, Vector), (0, 9, Source)] },
    Shape { prefix: 0, dwords: 1, fields: &[(25, 6, Any), (17, 8, Vector), (9, 8, Vector), (0, 9, Source)] },
    Shape { prefix: 0x7c00_0000, dwords: 1, fields: &[(17, 8, Any), (9, 8, Vector), (0, 9, Source)] },
    // VOP3, VOP3P, matrices among them.
    Shape {
        prefix: 0xd400_0000,
        dwords: 2,
        fields: &[
            (16, 10, Any),
            (0, 8, Vector),
            (8, 3, Rare),
            (11, 4, Rare),
            (15, 1, Flag),
            (32, 9, Source),
            (41, 9, Source),
            (50, 9, Source),
            (59, 2, Rare),
            (61, 3, Rare),
        ],
    },
    Shape {
        prefix: 0xcc00_0000,
        dwords: 2,
        fields: &[
            (16, 7, Any),
            (0, 8, Vector),
            (8, 3, Rare),
            (11, 3, Rare),
            (14, 1, Ones),
            (15, 1, Flag),
            (23, 1, Gap),
            (32, 9, Source),
            (41, 9, Source),
            (50, 9, Source),
            (59, 2, Ones),
            (61, 3, Rare),
        ],
    },
    // VOPD.
    Shape {
        prefix: 0xc800_0000,
        dwords: 2,
        fields: &[
            (22, 4, Any),
            (0, 9, Source),
            (9, 8, Any),
            (17, 5, Any),
            (32, 9, Source),
            (41, 8, Any),
            (49, 7, Any),
            (56, 8, Vector),
        ],
    },
    // VINTERP, LDSDIR.
    Shape {
        prefix: 0xcd00_0000,
        dwords: 2,
        fields: &[
            (16, 7, Any),
            (0, 8, Vector),
            (8, 3, Any),
            (11, 4, Rare),
            (15, 1, Flag),
            (23, 1, Gap),
            (32, 9, Source),
            (41, 9, Source),
            (50, 9, Source),
            (59, 2, Gap),
            (61, 3, Rare),
        ],
    },
    Shape {
        prefix: 0xce00_0000,
        dwords: 1,
        fields: &[(20, 2, Any), (0, 8, Vector), (8, 8, Any), (16, 4, Any), (22, 2, Gap)],
    },
    // DS.
    Shape {
        prefix: 0xd800_0000,
        dwords: 2,
        fields: &[
            (18, 8, Any),
            (0, 16, Any),
            (16, 1, Gap),
            (17, 1, Flag),
            (32, 8, Vector),
            (40, 8, Vector),
            (48, 8, Vector),
            (56, 8, Vector),
        ],
    },
    // FLAT, SCRATCH, GLOBAL.
    Shape {
        prefix: 0xdc00_0000,
        dwords: 2,
        fields: &[
            (18, 7, Any),
            (0, 13, Any),
            (13, 1, Flag),
            (14, 1, Flag),
            (15, 1, Flag),
            (16, 2, Any),
            (25, 1, Gap),
            (32, 8, Vector),
            (40, 8, Vector),
            (48, 7, Saddr),
            (55, 1, Flag),
            (56, 8, Vector),
        ],
    },
    // MUBUF, MTBUF.
    Shape {
        prefix: 0xe000_0000,
        dwords: 2,
        fields: &[
            (18, 8, Any),
            (0, 12, Any),
            (12, 1, Flag),
            (13, 1, Flag),
            (14, 1, Flag),
            (15, 3, Gap),
            (32, 8, Vector),
            (40, 8, Vector),
            (48, 5, Any),
            (53, 1, Flag),
            (54, 2, Any),
            (56, 8, Source),
        ],
    },
    Shape {
        prefix: 0xe800_0000,
        dwords: 2,
        fields: &[
            (15, 4, Any),
            (0, 12, Any),
            (12, 1, Flag),
            (13, 1, Flag),
            (14, 1, Flag),
            (19, 7, Any),
            (32, 8, Vector),
            (40, 8, Vector),
            (48, 5, Any),
            (53, 1, Flag),
            (54, 2, Any),
            (56, 8, Source),
        ],
    },
    // MIMG.
    Shape {
        prefix: 0xf000_0000,
        dwords: 2,
        fields: &[
            (18, 8, Any),
            (0, 1, Any),
            (1, 1, Gap),
            (2, 3, Any),
            (5, 2, Gap),
            (7, 1, Ones),
            (8, 4, Ones),
            (12, 3, Rare),
            (15, 1, Ones),
            (16, 2, Rare),
            (32, 8, Vector),
            (40, 8, Vector),
            (48, 5, Any),
            (53, 2, Rare),
            (55, 3, Gap),
            (58, 5, Rare),
            (63, 1, Gap),
        ],
    },
    // EXP.
    Shape {
        prefix: 0xf800_0000,
        dwords: 2,
        fields: &[
            (0, 4, Any),
            (4, 6, Any),
            (10, 1, Gap),
            (11, 1, Any),
            (12, 1, Gap),
            (13, 1, Any),
            (14, 12, Gap),
            (32, 8, Vector),
            (40, 8, Vector),
            (48, 8, Vector),
            (56, 8, Vector),
        ],
    },
];

/// The words of drawn bits, with what the encoding adds.
pub(super) fn complete(shape: &Shape, bits: u64, random: &mut Random) -> Vec<u32> {
    let mut words = vec![bits as u32];
    if shape.dwords > 1 {
        words.push((bits >> 32) as u32);
    }
    // One in three of the vector instructions permutes lanes.
    let source = match words[0] >> 26 {
        _ if words[0] >> 31 == 0 => Some(0),
        0b11_0101 => Some(1),
        0b11_0011 if words[0] >> 24 == 0xcc => Some(1),
        _ => None,
    };
    if let Some(source) = source
        && random.below(3) == 0
    {
        words[source] = words[source] & !0x1ff | PERMUTED[random.below(3) as usize];
        let control = match words[source] & 0x1ff {
            250 => fields(&DPP16, random) as u32,
            _ => random.next() as u32,
        };
        words.push(control);
        return words;
    }
    if words.len() < needed(&words) || random.below(8) == 0 {
        words.push(literal(random));
    }
    words
}
