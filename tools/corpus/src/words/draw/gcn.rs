//! The shapes of GFX8's and GFX9's words. (Those that GFX8 lacks are illegal there.)

use amdgpu_isa::Arch;

use super::{Kind, Random, Shape, fields, literal};
use Kind::{Any, Flag, Gap, Ones, Rare, Scalar, Source, Vector};

/// Dwords that a first one asks for at least: whether it begins one of the encodings of two dwords, or an
/// SDWA or DPP form, or has a literal.
pub(super) fn needed(words: &[u32]) -> usize {
    let first = words[0];
    let is_long = first >> 30 == 0b11 || (first >> 31 == 0 && matches!(first & 0x1ff, 249 | 250));
    if is_long || first & 0xff == 0xff || first >> 8 & 0xff == 0xff { 2 } else { 1 }
}

const SDWA: [(u8, u8, Kind); 12] = [
    (32, 8, Any),
    (40, 3, Any),
    (43, 2, Rare),
    (45, 1, Flag),
    (46, 2, Rare),
    (48, 3, Any),
    (51, 3, Rare),
    (54, 2, Rare),
    (56, 3, Any),
    (59, 3, Rare),
    (62, 1, Gap),
    (63, 1, Flag),
];

const DPP: [(u8, u8, Kind); 7] =
    [(32, 8, Any), (40, 9, Any), (49, 2, Gap), (51, 1, Flag), (52, 4, Rare), (56, 4, Any), (60, 4, Any)];

/// Every encoding. VOPC and the second dwords of SDWA and DPP are drawn with VOP1's and VOP2's.
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
        prefix: 0xc000_0000,
        dwords: 2,
        fields: &[
            (18, 8, Any),
            (0, 6, Any),
            (6, 7, Scalar),
            (13, 1, Gap),
            (14, 1, Flag),
            (15, 1, Gap),
            (16, 1, Flag),
            (17, 1, Any),
            (32, 7, Any),
            (39, 14, Rare),
            (53, 4, Gap),
            (57, 7, Rare),
        ],
    },
    // VOP1, VOP2, VOPC.
    Shape { prefix: 0x7e00_0000, dwords: 1, fields: &[(9, 8, Any), (17, 8, Vector), (0, 9, Source)] },
    Shape { prefix: 0, dwords: 1, fields: &[(25, 6, Any), (17, 8, Vector), (9, 8, Vector), (0, 9, Source)] },
    Shape { prefix: 0x7c00_0000, dwords: 1, fields: &[(17, 8, Any), (9, 8, Vector), (0, 9, Source)] },
    // VOP3, VOP3P and its matrix part.
    Shape {
        prefix: 0xd000_0000,
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
        prefix: 0xd380_0000,
        dwords: 2,
        fields: &[
            (16, 7, Any),
            (0, 8, Vector),
            (8, 3, Rare),
            (11, 3, Rare),
            (14, 1, Ones),
            (15, 1, Flag),
            (32, 9, Source),
            (41, 9, Source),
            (50, 9, Source),
            (59, 2, Ones),
            (61, 3, Rare),
        ],
    },
    Shape {
        prefix: 0xd380_0000,
        dwords: 2,
        fields: &[
            (16, 7, Any),
            (0, 8, Vector),
            (8, 7, Rare),
            (15, 1, Any),
            (32, 8, Vector),
            (40, 1, Ones),
            (41, 8, Vector),
            (49, 1, Ones),
            (50, 9, Source),
            (59, 2, Any),
            (61, 3, Rare),
        ],
    },
    // DS.
    Shape {
        prefix: 0xd800_0000,
        dwords: 2,
        fields: &[
            (17, 8, Any),
            (0, 16, Any),
            (16, 1, Flag),
            (25, 1, Flag),
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
            (0, 12, Any),
            (12, 1, Flag),
            (13, 1, Flag),
            (14, 2, Any),
            (16, 1, Flag),
            (17, 1, Flag),
            (25, 1, Flag),
            (32, 8, Vector),
            (40, 8, Vector),
            (48, 7, Ones),
            (55, 1, Flag),
            (56, 8, Vector),
        ],
    },
    // MUBUF, MTBUF.
    Shape {
        prefix: 0xe000_0000,
        dwords: 2,
        fields: &[
            (18, 7, Any),
            (0, 12, Any),
            (12, 2, Any),
            (14, 1, Flag),
            (15, 1, Flag),
            (16, 1, Flag),
            (17, 1, Flag),
            (25, 1, Gap),
            (32, 8, Vector),
            (40, 8, Vector),
            (48, 5, Any),
            (53, 2, Gap),
            (55, 1, Flag),
            (56, 8, Source),
        ],
    },
    Shape {
        prefix: 0xe800_0000,
        dwords: 2,
        fields: &[
            (15, 4, Any),
            (0, 12, Any),
            (12, 2, Any),
            (14, 1, Flag),
            (19, 7, Any),
            (32, 8, Vector),
            (40, 8, Vector),
            (48, 5, Any),
            (53, 1, Flag),
            (54, 1, Flag),
            (55, 1, Flag),
            (56, 8, Source),
        ],
    },
    // MIMG.
    Shape {
        prefix: 0xf000_0000,
        dwords: 2,
        fields: &[
            (18, 7, Any),
            (0, 1, Flag),
            (1, 6, Gap),
            (7, 1, Flag),
            (8, 4, Any),
            (12, 6, Rare),
            (25, 1, Flag),
            (32, 8, Vector),
            (40, 8, Vector),
            (48, 5, Any),
            (53, 5, Any),
            (58, 5, Gap),
            (63, 1, Flag),
        ],
    },
    // EXP, VINTRP.
    Shape {
        prefix: 0xc400_0000,
        dwords: 2,
        fields: &[
            (0, 4, Any),
            (4, 6, Any),
            (10, 3, Any),
            (13, 13, Gap),
            (32, 8, Vector),
            (40, 8, Vector),
            (48, 8, Vector),
            (56, 8, Vector),
        ],
    },
    Shape {
        prefix: 0xd400_0000,
        dwords: 1,
        fields: &[(16, 2, Any), (0, 8, Vector), (8, 2, Any), (10, 6, Any), (18, 8, Vector)],
    },
];

/// The words of drawn bits, with what the encoding adds.
pub(super) fn complete(arch: Arch, shape: &Shape, bits: u64, random: &mut Random) -> Vec<u32> {
    let (mut bits, mut dwords) = (bits, shape.dwords);
    // One in four of the short vector instructions is SDWA, one in four DPP.
    if bits as u32 >> 31 == 0 {
        let (mark, second) = match random.below(4) {
            0 => (249, &SDWA[..]),
            1 => (250, &DPP[..]),
            _ => (0, &[][..]),
        };
        if mark != 0 {
            bits = bits & !0x1ff | mark | fields(second, random);
            dwords = 2;
        }
    }
    let mut words = vec![bits as u32];
    if dwords > 1 {
        words.push((bits >> 32) as u32);
    } else if random.below(4) == 0 || takes_literal(words[0]) {
        words.push(literal(random));
    }
    if arch == Arch::Gfx950 && shape.prefix == 0xd380_0000 && random.below(4) == 0 {
        scaled_matrix(&mut words, random);
    }
    words
}

/// `v_mfma_ld_scale_b32` before a matrix instruction: one instruction of four dwords on gfx950.
fn scaled_matrix(words: &mut Vec<u32>, random: &mut Random) {
    let scale = 0xd3ac_0000
        | fields(
            &[
                (0, 8, Rare),
                (8, 8, Rare),
                (32, 9, Source),
                (41, 9, Source),
                (50, 9, Rare),
                (59, 2, Any),
                (61, 3, Rare),
            ],
            random,
        );
    if random.below(2) == 0 {
        words[0] = words[0] & !0x007f_0000 | [0x2d_0000, 0x2e_0000][random.below(2) as usize];
    }
    let matrix = std::mem::replace(words, vec![scale as u32, (scale >> 32) as u32]);
    words.extend(matrix);
}

/// Instructions whose second dword is a literal by opcode: the `madmk` kind and `s_setreg_imm32_b32`.
fn takes_literal(word: u32) -> bool {
    (word >> 31 == 0 && matches!(word >> 25, 23 | 24 | 36 | 37)) || word >> 23 == 0b1_0111_0100
}
