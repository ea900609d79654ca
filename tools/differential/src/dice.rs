//! Random numbers that are the same everywhere.

/// A SplitMix64 generator (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The generator of program `index` of a seed.
    pub fn new(seed: u64, index: u64) -> Self {
        let mut dice = Self(seed);
        let start = dice.word();
        Self(start ^ index.wrapping_mul(0xd134_2543_de82_ef95))
    }

    /// 64 random bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    /// A number below `sides`, which is not zero.
    pub fn roll(&mut self, sides: usize) -> usize {
        ((u128::from(self.word()) * sides as u128) >> 64) as usize
    }

    /// True once in `times`.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.roll(times) == 0
    }

    /// Picks one element of a slice that is not empty.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.roll(from.len())]
    }
}
