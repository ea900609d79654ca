//! Drawing words.
//!
//! Uniform words seldom hit an opcode of the long encodings, and then mostly with illegal fields. So most words are
//! built: an encoding, an opcode, then a value for each field; a part of them gets one bit flipped; and some stay
//! uniform. Which opcodes exist is not asked, so that the opcodes that do not exist are drawn as well.

use amdgpu_isa::{Arch, opcodes};

use super::referee::is_suspect;

/// Dword at the end of each block, so that none ends inside an instruction: LLVM crashes where a literal is cut off.
pub(super) const PAD: u32 = 0xbf80_0000;

/// `size` blocks of one to five dwords: those of one word, then [`PAD`].
pub(super) fn blocks(arch: Arch, seed: u64, batch: u64, size: usize) -> Vec<Vec<u32>> {
    let mut random = Random::new([seed, arch as u64, batch]);
    let mut block = || {
        loop {
            let block = block(arch, &mut random);
            // LLVM is hardly asked about these, so they are thinned out.
            if !is_suspect(&block) || random.below(64) == 0 {
                return block;
            }
        }
    };
    (0..size).map(|_| block()).collect()
}

/// Every opcode in its plainest form.
pub(super) fn plain(arch: Arch) -> Vec<Vec<u32>> {
    let words = opcodes(arch).filter_map(|opcode| opcode.plain().and_then(|inst| inst.encode(arch)).ok());
    words.map(|words| [&words[..], &[PAD]].concat()).collect()
}

/// Every opcode in its plainest form, and that with each bit flipped: which bits mean something, and which are let pass.
pub(super) fn neighbours(arch: Arch) -> Vec<Vec<u32>> {
    let mut blocks = Vec::new();
    for plain in plain(arch) {
        for bit in 0..(plain.len() - 1) * 32 {
            let mut block = plain.clone();
            block[bit / 32] ^= 1 << (bit % 32);
            blocks.push(block);
        }
        blocks.push(plain);
    }
    blocks
}

/// `tries` words for each number that an opcode can have, in each shape; the same for every processor.
pub(super) fn of_each_opcode(arch: Arch, tries: u64) -> Vec<Vec<u32>> {
    let mut blocks = Vec::new();
    for (index, shape) in SHAPES.iter().enumerate() {
        for opcode in 0..1_u64 << shape.fields[0].1 {
            for attempt in 0..tries {
                let mut random = Random::new([index as u64, opcode, attempt]);
                let mut block = of_shape(arch, shape, Some(opcode), &mut random);
                block.push(PAD);
                if !is_suspect(&block) {
                    blocks.push(block);
                }
            }
        }
    }
    blocks
}

fn block(arch: Arch, random: &mut Random) -> Vec<u32> {
    let mut words = match random.below(16) {
        0 => (0..2).map(|_| random.next() as u32).collect(),
        _ => built(arch, random),
    };
    if random.below(3) == 0 {
        let bit = random.below(words.len() as u32 * 32);
        words[bit as usize / 32] ^= 1 << (bit % 32);
    }
    // The flipped bit may ask for a literal, or for a second dword.
    if words.len() == 1 && (words[0] & 0xff == 0xff || words[0] >> 8 & 0xff == 0xff || is_long(words[0])) {
        words.push(literal(random));
    }
    words.push(PAD);
    words
}

/// Whether a first dword begins one of the encodings of two dwords, or an SDWA or DPP form.
fn is_long(word: u32) -> bool {
    word >> 30 == 0b11 || (word >> 31 == 0 && matches!(word & 0x1ff, 249 | 250))
}

/// The shape of an encoding: its fixed bits, and its fields as (lowest bit, width, kind), counted through two dwords; the
/// opcode first.
struct Shape {
    prefix: u64,
    dwords: usize,
    fields: &'static [(u8, u8, Kind)],
}

/// What values a field is likely to hold.
#[derive(Clone, Copy)]
enum Kind {
    /// Any value: opcodes, immediates.
    Any,
    /// A bit that is more often clear than set.
    Flag,
    /// A scalar register.
    Scalar,
    /// Any source, 8 or 9 bits.
    Source,
    /// A vector register.
    Vector,
    /// A field that is at rest more often than not.
    Rare,
    /// Bits that nothing is known of.
    Gap,
    /// OP_SEL_HI and the like: all ones or anything.
    Ones,
}

use Kind::{Any, Flag, Gap, Ones, Rare, Scalar, Source, Vector};

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
const SHAPES: &[Shape] = &[
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

/// A word of one encoding.
fn built(arch: Arch, random: &mut Random) -> Vec<u32> {
    let shape = &SHAPES[random.below(SHAPES.len() as u32) as usize];
    of_shape(arch, shape, None, random)
}

/// A word of an encoding, with this opcode or any.
fn of_shape(arch: Arch, shape: &Shape, opcode: Option<u64>, random: &mut Random) -> Vec<u32> {
    let mut bits = shape.prefix | fields(shape.fields, random);
    if random.below(3) == 0 {
        // Fields that an opcode has no use for must often be zero.
        for &(lsb, width, _) in &shape.fields[1..] {
            let keep = u64::from(random.below(2));
            bits &= !((((1 << width) - 1) * (1 - keep)) << lsb);
        }
    }
    if let (Some(opcode), [(lsb, width, _), ..]) = (opcode, shape.fields) {
        bits = bits & !(((1 << width) - 1) << lsb) | opcode << lsb;
    }
    let mut dwords = shape.dwords;
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

fn fields(fields: &[(u8, u8, Kind)], random: &mut Random) -> u64 {
    fields
        .iter()
        .map(|&(lsb, width, kind)| value(kind, width, random) << lsb)
        .fold(0, |all, field| all | field)
}

fn value(kind: Kind, width: u8, random: &mut Random) -> u64 {
    let mask = (1_u64 << width) - 1;
    let any = random.next() & mask;
    let usual = match kind {
        Any => any,
        Flag => any & u64::from(random.below(4) == 0),
        // SGPRs, VCC, M0 and EXEC, with tuples aligned to four more often than chance has it.
        Scalar => match random.below(4) {
            0 => any,
            1 => any & 0x7c,
            _ => any & 0x7e,
        },
        Source => match random.below(8) {
            0 => any,
            // A literal.
            1 => 255,
            // An inline constant or a special source.
            2 => 128 + u64::from(random.below(128)),
            3 => any & 0x7e,
            _ if width > 8 => 256 | any & !1,
            _ => any & 0xfc,
        },
        Vector => match random.below(3) {
            0 => any,
            _ => any & !1,
        },
        Rare | Gap => match random.below(if matches!(kind, Gap) { 24 } else { 4 }) {
            0 => any,
            _ => 0,
        },
        Ones => match random.below(2) {
            0 => any,
            _ => mask,
        },
    };
    usual & mask
}

/// A literal, often one that could have been an inline constant of some type.
fn literal(random: &mut Random) -> u32 {
    let small = random.below(100) as i32 - 20;
    let float =
        [0.5_f64, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0, 0.159_154_943_091_895_32][random.below(9) as usize];
    let single = (float as f32).to_bits();
    // The half of the same number: all of them are powers of two, but the last.
    let half =
        [0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118][random.below(9) as usize];
    match random.below(9) {
        0 => small as u32,
        1 => small as u32 & 0xffff,
        2 => single,
        3 => half,
        4 => half << 16 | half,
        5 => single >> 16,
        6 => (float.to_bits() >> 32) as u32,
        7 => random.next() as u32 & 0xffff,
        _ => random.next() as u32,
    }
}

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
struct Random {
    state: u64,
}

impl Random {
    fn new(seeds: [u64; 3]) -> Self {
        let mut random = Self { state: 0 };
        for seed in seeds {
            random.state ^= seed;
            random.state = random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `limit`.
    fn below(&mut self, limit: u32) -> u32 {
        (((self.next() >> 32) * u64::from(limit)) >> 32) as u32
    }
}
