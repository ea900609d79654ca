//! Inputs: a small generator of pseudo-random numbers, and the values at which operations go wrong.

use crate::model::Kind;

/// SplitMix64.
pub(crate) struct Random(u64);

impl Random {
    /// A generator of its own for each thing tested, so that adding one changes no other's inputs.
    pub(crate) fn new(name: &str) -> Self {
        // FNV-1a.
        Self(
            name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
            }),
        )
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.next() & 1 != 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

const HALVES: [u16; 26] = [
    0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x3c00, 0xbc00, 0x3bff, 0x3800, 0x3801,
    0x3e00, 0x4100, 0xc100, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7c01, 0xfd23, 0x7e45, 0x5bff,
];

const SINGLES: [u32; 34] = [
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    0x007f_ffff,
    0x807f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3f7f_ffff,
    0x3f00_0000,
    0x3eff_ffff,
    0x3fc0_0000,
    0x4020_0000,
    0xc020_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffc0_0000,
    0x7f80_0001,
    0xffa1_2345,
    0x7fc5_4321,
    0x4f00_0000,
    0x4eff_ffff,
    0xcf00_0000,
    0x4f80_0000,
    0x477f_e000,
    0x477f_f000,
    0x3300_0000,
    0x3880_0000,
    0x4b80_0001,
];

const DOUBLES: [u64; 30] = [
    0,
    1 << 63,
    1,
    1 << 63 | 1,
    0x000f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x8010_0000_0000_0000,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x3fef_ffff_ffff_ffff,
    0x3fe0_0000_0000_0000,
    0x3ff8_0000_0000_0000,
    0x4004_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0xffef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0x7ff0_0000_0000_0001,
    0xfff4_5678_9abc_def0,
    0x41e0_0000_0000_0000,
    0x41df_ffff_ffc0_0000,
    0xc1e0_0000_0000_0000,
    0xc1e0_0000_0020_0000,
    0x41ef_ffff_ffe0_0000,
    0x41f0_0000_0000_0000,
    0x47ef_ffff_e000_0000,
    0x47ef_ffff_f000_0000,
    0x36a0_0000_0000_0000,
    0x3690_0000_0000_0000,
];

const INTEGERS: [u32; 22] = [
    0,
    1,
    2,
    31,
    32,
    33,
    63,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7f_ffff,
    0x80_0000,
    0xff_ffff,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_ffff,
    0xffff_fffe,
    0x8000_7fff,
];

/// A value of a kind: half of the time an edge or its neighbour, else random; registers' unused upper bits
/// are random.
pub(crate) fn value(random: &mut Random, kind: Kind) -> u128 {
    let edge = random.flag();
    let noise = u128::from(random.next()) << 64 | u128::from(random.next());
    let near = |value: u64, random: &mut Random| match random.below(8) {
        0 => value.wrapping_add(1),
        1 => value.wrapping_sub(1),
        _ => value,
    };
    let bits = match kind {
        Kind::F16 if edge => near(random.pick(&HALVES).into(), random) & 0xffff | noise as u64 & !0xffff,
        Kind::F32 if edge => near(random.pick(&SINGLES).into(), random),
        Kind::F64 if edge => near(random.pick(&DOUBLES), random),
        // Exponents that meet each other.
        Kind::F32 if random.flag() => noise as u64 & 0x80ff_ffff | (100 + random.below(56)) << 23,
        Kind::F64 if random.flag() => noise as u64 & 0x800f_ffff_ffff_ffff | (960 + random.below(128)) << 52,
        Kind::I16 if edge => u64::from(random.pick(&INTEGERS)) & 0xffff | noise as u64 & !0xffff,
        Kind::I32 if edge => near(random.pick(&INTEGERS).into(), random),
        Kind::I64 | Kind::I128 if edge => {
            near(u64::from(random.pick(&INTEGERS)) << 32 | u64::from(random.pick(&INTEGERS)), random)
        }
        _ => noise as u64,
    };
    let high = if kind == Kind::I128 { noise & !u128::from(u64::MAX) } else { 0 };
    high | u128::from(bits)
}

/// MODE: the kernel's now and then, else any rounding, denormal, clamp and IEEE bits, and FP16_OVFL.
pub(crate) fn mode(random: &mut Random) -> u32 {
    let overflow = u32::from(random.below(4) == 0) << 23;
    if random.below(3) == 0 {
        amdinst_emu::WaveState::KERNEL_MODE | overflow
    } else {
        random.next() as u32 & 0x3ff | overflow
    }
}

/// EXEC: full, empty, one lane or random.
pub(crate) fn exec(random: &mut Random) -> u64 {
    match random.below(8) {
        0 => 1 << random.below(64),
        1 => random.next() & random.next(),
        2 => random.next(),
        _ => u64::MAX,
    }
}

/// How often each case is tried: `AMDINST_SEMANTICS` times the usual; once where only coverage is asked for.
pub(crate) fn trials(usual: usize) -> usize {
    if crate::coverage::is_recording() {
        return 1;
    }
    let factor = std::env::var("AMDINST_SEMANTICS").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1);
    usual * factor
}
