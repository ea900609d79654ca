//! Drawing words.
//!
//! Uniform words seldom hit an opcode of the long encodings, and then mostly with illegal fields. So most
//! words are built: an encoding, an opcode, then a value for each field; a part of them gets one bit flipped;
//! and some stay uniform. Which opcodes exist is not asked, so that the opcodes that do not exist are drawn
//! as well.

mod gcn;
mod gfx10;
mod gfx11;
mod gfx12;

use amdgpu_isa::{Arch, Generation, Target, opcodes};

use super::referee::{SEPARATOR_WORD as SEPARATOR, is_suspect};
use Kind::{Any, Flag, Gap, Ones, Rare, Saddr, Scalar, Source, Vector};

/// Dword at the end of each block, so that none ends inside an instruction: LLVM crashes where a literal is
/// cut off.
pub(super) const PAD: u32 = 0xbf80_0000;

/// `size` blocks of one to six dwords: those of one word, then [`PAD`].
pub(super) fn blocks(target: Target, seed: u64, batch: u64, size: usize) -> Vec<Vec<u32>> {
    let arch = target.arch;
    // Other words for each size of waves.
    let wave = if target == arch.into() { 0 } else { u64::from(target.wave.lanes()) };
    let mut random = Random::new([seed, arch as u64 | wave << 8, batch]);
    let mut block = || {
        loop {
            let block = block(arch, &mut random);
            // LLVM is hardly asked about these, so they are thinned out.
            let separates = block.contains(&SEPARATOR);
            if !separates && (!is_suspect(arch, &block) || random.below(64) == 0) {
                return block;
            }
        }
    };
    (0..size).map(|_| block()).collect()
}

/// Every opcode in its plainest form.
pub(super) fn plain(target: Target) -> Vec<Vec<u32>> {
    let words = opcodes(target).filter_map(|opcode| opcode.plain().and_then(|inst| inst.encode(target)).ok());
    words.map(|words| [&words[..], &[PAD]].concat()).collect()
}

/// Every opcode in its plainest form, and that with each bit flipped: which bits mean something, and which
/// are let pass.
pub(super) fn neighbours(target: Target) -> Vec<Vec<u32>> {
    let mut blocks = Vec::new();
    for plain in plain(target) {
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
    for (index, shape) in shapes(arch).iter().enumerate() {
        for opcode in 0..1_u64 << shape.fields[0].1 {
            for attempt in 0..tries {
                let mut random = Random::new([index as u64, opcode, attempt]);
                let mut block = of_shape(arch, shape, Some(opcode), &mut random);
                block.push(PAD);
                if !is_suspect(arch, &block) {
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
    // The flipped bit may ask for a literal, or for one more dword.
    let needed = match arch.generation() {
        Generation::Gfx8 | Generation::Gfx9 => gcn::needed,
        Generation::Gfx10 => gfx10::needed,
        Generation::Gfx11 => gfx11::needed,
        Generation::Gfx12 => gfx12::needed,
    };
    while words.len() < needed(&words) {
        words.push(literal(random));
    }
    words.push(PAD);
    words
}

/// The shape of an encoding: its fixed bits, and its fields as (lowest bit, width, kind), counted through two
/// dwords; the opcode first.
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
    /// An address in scalar registers, often none: NULL.
    Saddr,
}

/// The shapes of every encoding of a processor.
fn shapes(arch: Arch) -> &'static [Shape] {
    match arch.generation() {
        Generation::Gfx8 | Generation::Gfx9 => gcn::SHAPES,
        Generation::Gfx10 => gfx10::SHAPES,
        Generation::Gfx11 => gfx11::SHAPES,
        Generation::Gfx12 => gfx12::SHAPES,
    }
}

/// A word of one encoding.
fn built(arch: Arch, random: &mut Random) -> Vec<u32> {
    let shapes = shapes(arch);
    let shape = &shapes[random.below(shapes.len() as u32) as usize];
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
    match arch.generation() {
        Generation::Gfx8 | Generation::Gfx9 => gcn::complete(arch, shape, bits, random),
        Generation::Gfx10 => gfx10::complete(shape, bits, random),
        Generation::Gfx11 => gfx11::complete(shape, bits, random),
        Generation::Gfx12 => gfx12::complete(shape, bits, random),
    }
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
        // NULL is the one or the other.
        Saddr => match random.below(4) {
            0 | 1 => any,
            2 => 124,
            _ => 125,
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
