//! Generators of random numbers, from the papers that define them.

/// A generator of 32-bit numbers with its state.
pub(super) trait Engine: Clone {
    /// The state, as the library keeps it in memory.
    fn words(&self) -> Vec<u32>;
    /// The next number.
    fn draw(&mut self) -> u32;
}

/// Marsaglia, "Xorshift RNGs" (2003), section 3.1: five words of xorshift, and a Weyl sequence.
#[derive(Clone, Debug)]
pub(super) struct Xorwow {
    weyl: u32,
    x: [u32; 5],
}

impl Engine for Xorwow {
    fn words(&self) -> Vec<u32> {
        [&[self.weyl], &self.x[..]].concat()
    }

    fn draw(&mut self) -> u32 {
        self.x = step(self.x);
        self.weyl = self.weyl.wrapping_add(362_437);
        self.weyl.wrapping_add(self.x[4])
    }
}

/// One step of the xorshift, linear over GF(2).
fn step([x, y, z, w, v]: [u32; 5]) -> [u32; 5] {
    let t = x ^ x >> 2;
    [y, z, w, v, v ^ v << 4 ^ t ^ t << 1]
}

/// A linear map of 160 bits: where each bit goes.
type BitMatrix = Vec<[u32; 5]>;

fn apply(matrix: &BitMatrix, x: [u32; 5]) -> [u32; 5] {
    let mut sum = [0; 5];
    for (bit, row) in matrix.iter().enumerate() {
        if x[bit / 32] >> (bit % 32) & 1 == 1 {
            sum.iter_mut().zip(row).for_each(|(sum, row)| *sum ^= row);
        }
    }
    sum
}

impl Xorwow {
    /// The first `count` generators of a seed: each 2^67 numbers after the one before, then `offset` numbers
    /// further, those below `start` one more.
    pub(super) fn engines(seed: u64, count: usize, start: usize, offset: u64) -> Vec<Self> {
        // The library's own way from a seed to Marsaglia's starting values.
        let [low, high] = [seed as u32 ^ 0x2c7f_967f, (seed >> 32) as u32 ^ 0xa036_97cb];
        let (t0, t1) = (low.wrapping_mul(1_228_688_033), high.wrapping_mul(2_073_658_381));
        let mut x = [
            123_456_789u32.wrapping_add(t0),
            362_436_069 ^ t0,
            521_288_629u32.wrapping_add(t1),
            88_675_123 ^ t1,
            5_783_321u32.wrapping_add(t0),
        ];
        let weyl = 6_615_241u32.wrapping_add(t1).wrapping_add(t0);
        let unit =
            |bit: usize| std::array::from_fn(|word| if word == bit / 32 { 1 << (bit % 32) } else { 0 });
        let mut jump: BitMatrix = (0..160).map(|bit| step(unit(bit))).collect();
        for _ in 0..67 {
            jump = jump.iter().map(|row| apply(&jump, *row)).collect();
        }
        let mut engines = Vec::new();
        for id in 0..count {
            let mut engine = Self { weyl, x };
            for _ in 0..offset + u64::from(id < start) {
                engine.draw();
            }
            engines.push(engine);
            // The Weyl sequence is back where it was after 2^32 numbers.
            x = apply(&jump, x);
        }
        engines
    }
}

/// L'Ecuyer, "Good Parameters and Implementations for Combined Multiple Recursive Random Number Generators"
/// (1999).
#[derive(Clone, Debug)]
pub(super) struct Mrg32k3a {
    g: [[u64; 3]; 2],
}

/// Moduli of the two recurrences.
const MODULI: [u64; 2] = [4_294_967_087, 4_294_944_443];
/// One step of each, as a matrix.
const STEPS: [[[u64; 3]; 3]; 2] = [
    [[0, 1, 0], [0, 0, 1], [MODULI[0] - 810_728, 1_403_580, 0]],
    [[0, 1, 0], [0, 0, 1], [MODULI[1] - 1_370_589, 0, 527_612]],
];

fn times(matrix: &[[u64; 3]; 3], x: [u64; 3], modulus: u64) -> [u64; 3] {
    matrix.map(|row| row.iter().zip(x).fold(0, |sum, (a, x)| (sum + a * x % modulus) % modulus))
}

impl Engine for Mrg32k3a {
    fn words(&self) -> Vec<u32> {
        self.g.iter().flatten().map(|word| *word as u32).collect()
    }

    fn draw(&mut self) -> u32 {
        for (component, g) in self.g.iter_mut().enumerate() {
            *g = times(&STEPS[component], *g, MODULI[component]);
        }
        let (p1, p2) = (self.g[0][2], self.g[1][2]);
        // From 1 to the first modulus.
        (if p1 <= p2 { p1 + MODULI[0] - p2 } else { p1 - p2 }) as u32
    }
}

impl Mrg32k3a {
    /// Engines 2^76 numbers apart: L'Ecuyer's substreams, whatever the library's documentation says of 2^67.
    /// See [`Xorwow::engines`]. The seed has 32 bits: beyond, the library's products overflow.
    pub(super) fn engines(seed: u32, count: usize, start: usize, offset: u64) -> Vec<Self> {
        // The library's own way from a seed to six words.
        let seed = u64::from(seed);
        let (x, y) = (seed ^ 0x5555_5555, 0xaaaa_aaaa);
        let product = |a: u64, component: usize| {
            (u128::from(a) * u128::from(seed) % u128::from(MODULI[component])) as u64
        };
        let mut g =
            [[product(x, 0), product(y, 0), product(x, 0)], [product(y, 1), product(x, 1), product(y, 1)]];
        let mut jumps = STEPS;
        for (jump, modulus) in jumps.iter_mut().zip(MODULI) {
            for _ in 0..76 {
                let columns: [[u64; 3]; 3] =
                    std::array::from_fn(|c| times(jump, std::array::from_fn(|r| jump[r][c]), modulus));
                *jump = std::array::from_fn(|r| std::array::from_fn(|c| columns[c][r]));
            }
        }
        let mut engines = Vec::new();
        for id in 0..count {
            let mut engine = Self { g };
            for _ in 0..offset + u64::from(id < start) {
                engine.draw();
            }
            engines.push(engine);
            for component in 0..2 {
                g[component] = times(&jumps[component], g[component], MODULI[component]);
            }
        }
        engines
    }
}

/// Salmon and others, "Parallel Random Numbers: As Easy as 1, 2, 3" (2011): Philox4x32 of ten rounds.
#[derive(Clone, Debug)]
pub(crate) struct Philox {
    key: [u32; 2],
    /// Numbers drawn so far.
    position: u128,
}

impl Philox {
    pub(crate) fn new(seed: u64, position: u128) -> Self {
        Self { key: [seed as u32, (seed >> 32) as u32], position }
    }

    /// The four numbers of a counter.
    fn block(&self, counter: u128) -> [u32; 4] {
        let mut c: [u32; 4] = std::array::from_fn(|word| (counter >> (32 * word)) as u32);
        let mut key = self.key;
        for _ in 0..10 {
            let [left, right] = [(0xd251_1f53u64, c[0]), (0xcd9e_8d57, c[2])].map(|(m, x)| m * u64::from(x));
            let high = |product: u64| (product >> 32) as u32;
            c = [high(right) ^ c[1] ^ key[0], right as u32, high(left) ^ c[3] ^ key[1], left as u32];
            key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
        }
        c
    }

    /// A number far on in the sequence.
    pub(crate) fn number(&self, at: u128) -> u32 {
        let at = self.position + at;
        self.block(at / 4)[(at % 4) as usize]
    }

    /// The state by value: counter, block, key, place in the block, and padding.
    pub(super) fn argument(&self) -> Vec<u8> {
        let counter = self.position / 4;
        let mut words: Vec<u32> = (0..4).map(|word| (counter >> (32 * word)) as u32).collect();
        words.extend(self.block(counter));
        words.extend(self.key);
        words.extend([(self.position % 4) as u32, 0]);
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// Saito and Matsumoto, "Variants of Mersenne Twister Suitable for Graphic Processors" (2012), MTGP32-11213:
/// one generator a workgroup, 256 numbers at once. Its parameters are given; these are any that the
/// recurrence allows.
#[derive(Clone, Debug)]
pub(super) struct Mtgp {
    pub(super) offset: usize,
    pub(super) id: u32,
    pub(super) status: Vec<u32>,
    pub(super) position: usize,
    pub(super) recursion: [u32; 16],
    pub(super) tempering: [u32; 16],
    pub(super) shifts: [u32; 2],
    pub(super) single_tempering: [u32; 16],
    pub(super) mask: u32,
}

/// Words of the recurrence.
const MTGP_N: usize = 351;

impl Mtgp {
    /// The state, as the library keeps it in memory.
    pub(super) fn words(&self) -> Vec<u32> {
        let mut words = vec![self.offset as u32, self.id];
        words.extend(&self.status);
        words.push(self.position as u32);
        words.extend(self.recursion);
        words.extend(self.tempering);
        words.extend(self.shifts);
        words.extend(self.single_tempering);
        words.push(self.mask);
        words
    }

    /// One number for each of 256 work-items.
    pub(super) fn draw(&mut self) -> Vec<u32> {
        let at = |place: usize| place % 1024;
        let base = self.offset;
        let mut numbers = Vec::new();
        for place in base..base + 256 {
            let [x1, x2, y] = [0, 1, self.position].map(|step| self.status[at(place + step)]);
            let mut x = (x1 & self.mask) ^ x2;
            x ^= x << self.shifts[0];
            let y = x ^ y >> self.shifts[1];
            let next = y ^ self.recursion[y as usize % 16];
            self.status[at(place + MTGP_N)] = next;
            let mut t = self.status[at(place + self.position - 1)];
            t ^= t >> 16;
            t ^= t >> 8;
            numbers.push(next ^ self.tempering[t as usize % 16]);
        }
        self.offset = at(base + 256);
        numbers
    }
}

/// A Sobol sequence in the order of the Gray code (Antonov and Saleev, 1979): the direction numbers of the
/// bits of the place's Gray code, added without carry.
pub(super) fn sobol(directions: &[u64], place: u64) -> u64 {
    let gray = place ^ place >> 1;
    directions.iter().enumerate().filter(|(bit, _)| gray >> bit & 1 == 1).fold(0, |sum, (_, v)| sum ^ v)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn philox_gives_the_papers_test_vector() {
        // Random123's known answers: all zeros, and all ones.
        let zero = Philox::new(0, 0).block(0);
        assert_eq!(zero, [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        let ones = Philox::new(u64::MAX, 0).block(u128::MAX);
        assert_eq!(ones, [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    }

    #[test]
    fn mrg32k3a_gives_the_papers_first_number() {
        // L'Ecuyer: all six words 12345 begin with 0.1270111.
        let mut engine = Mrg32k3a { g: [[12345; 3]; 2] };
        let first = f64::from(engine.draw()) / 4_294_967_088.0;
        assert!((first - 0.127_011_1).abs() < 1e-6, "{first}");
    }

    #[test]
    fn gray_code_order_has_one_change_a_step() {
        let directions: Vec<u64> = (0..32).map(|bit| 1 << (31 - bit)).collect();
        let sequence: Vec<u64> = (0..5).map(|place| sobol(&directions, place)).collect();
        assert_eq!(sequence, [0, 1 << 31, 3 << 30, 1 << 30, 3 << 29]);
    }
}
