//! From words of a generator to the numbers asked for.

use half::f16;

use crate::foreign::bytes::{Plain, bytes};
use crate::foreign::case::Tolerance;

/// The numbers for some words.
type Map<T> = Box<dyn Fn(&[u32]) -> Vec<T>>;

/// How words become numbers of a type.
pub(super) struct Distribution<T> {
    /// What the library calls it.
    pub(super) name: &'static str,
    /// Words taken at once.
    pub(super) inputs: usize,
    /// Numbers given for them.
    pub(super) outputs: usize,
    /// The distribution by value, as the kernel takes it.
    pub(super) argument: Vec<u8>,
    /// The numbers for the words.
    pub(super) map: Map<T>,
    /// How near the kernel's numbers must be.
    pub(super) tolerance: Tolerance,
}

/// To the last bit.
pub(super) const EXACT: Tolerance = Tolerance { relative: 0.0, absolute: 0.0 };
/// Mean and standard deviation of the distributions that have them.
pub(super) const MEAN: f64 = 0.75;
/// See [`MEAN`].
pub(super) const DEVIATION: f64 = 0.375;

/// Powers of two, as singles: what the library's constants are.
const P16: f32 = 1.0 / 65536.0;
const P32: f32 = 1.0 / 4_294_967_296.0;
const P53: f64 = 1.0 / 9_007_199_254_740_992.0;
const TWO_PI: f32 = 6.283_185_5;

/// From (0, 1], as a single.
pub(super) fn single(word: u32) -> f32 {
    P32 + word as f32 * P32
}

/// From (0, 1], of 53 bits.
pub(super) fn double(bits: u64) -> f64 {
    P53 + bits as f64 * P53
}

/// From (0, 1], as a half.
pub(super) fn half(word: u16) -> f16 {
    f16::from_f32(P16 + f32::from(word) * P16)
}

/// From (0, 1], of MRG32k3a's numbers.
fn mrg_double(word: u32) -> f64 {
    f64::from(word) * 2.328_306_549_837_829e-10
}

/// All 32 bits, of MRG32k3a's numbers.
fn mrg_word(word: u32) -> u32 {
    (f64::from(word - 1) * 1.000_000_048_661_607) as u32
}

/// Box and Muller's two normally distributed numbers.
fn box_muller(u: f64, angle: f64) -> [f64; 2] {
    let radius = (-2.0 * u.ln()).sqrt();
    [angle.sin() * radius, angle.cos() * radius]
}

fn singles(x: u32, y: u32) -> [f64; 2] {
    let turn = P32 * TWO_PI;
    box_muller(f64::from(single(x)), f64::from(turn + y as f32 * turn))
}

fn mrg_singles(x: u32, y: u32) -> [f64; 2] {
    box_muller(f64::from(mrg_double(x) as f32), f64::from(mrg_double(y) as f32 * TWO_PI))
}

fn doubles(words: &[u32]) -> [f64; 2] {
    let bits = |low: u32, high: u32| u64::from(low) ^ u64::from(high) << 21;
    let turns = 2.0 * P53 + bits(words[2], words[3]) as f64 * (2.0 * P53);
    box_muller(double(bits(words[0], words[1])), turns * std::f64::consts::PI)
}

fn mrg_doubles(x: u32, y: u32) -> [f64; 2] {
    let turns = f64::from(mrg_double(y) as f32) * 2.0;
    box_muller(f64::from(mrg_double(x) as f32), turns * std::f64::consts::PI)
}

/// In halves, each step rounded. Of the sine nothing is left: the library's `hsin` gives 0x7e00, a NaN, for
/// every finite angle. It was compiled so (`v_cmp_class_f16` with 0x1f8, all finite classes, and
/// `v_cndmask_b32` that takes the NaN where it holds; the cosine beside it takes the NaN where it does not).
fn halves(word: u32) -> [f64; 2] {
    let round = |x: f64| f16::from_f64(x).to_f64();
    let turn = P16 * TWO_PI;
    let angle = f16::from_f32(turn + (word >> 16) as f32 * turn).to_f64();
    let radius = round(round(-2.0 * round(half(word as u16).to_f64().ln())).sqrt());
    [f64::NAN, round(round(angle.cos()) * radius)]
}

fn scaled(pair: [f64; 2]) -> [f64; 2] {
    pair.map(|x| MEAN + x * DEVIATION)
}

/// An empty structure takes a byte.
const EMPTY: [u8; 1] = [0];

fn uniform<T: Plain>(
    name: &'static str,
    inputs: usize,
    outputs: usize,
    map: impl Fn(&[u32]) -> Vec<T> + 'static,
) -> Distribution<T> {
    Distribution { name, inputs, outputs, argument: EMPTY.to_vec(), map: Box::new(map), tolerance: EXACT }
}

/// The uniform distributions, and MRG32k3a's own (`mrg`).
pub(super) fn words(mrg: bool) -> Distribution<u32> {
    if mrg {
        return uniform("mrg_uniform_distribution<unsigned int>", 1, 1, |words| vec![mrg_word(words[0])]);
    }
    uniform("uniform_distribution<unsigned int>", 1, 1, |words| vec![words[0]])
}

pub(super) fn shorts(mrg: bool) -> Distribution<u16> {
    let split = |word: u32| vec![word as u16, (word >> 16) as u16];
    if mrg {
        let name = "mrg_uniform_distribution<unsigned short>";
        return uniform(name, 1, 2, move |words| split(mrg_word(words[0])));
    }
    uniform("uniform_distribution<unsigned short>", 1, 2, move |words| split(words[0]))
}

pub(super) fn chars(mrg: bool) -> Distribution<u8> {
    if mrg {
        let name = "mrg_uniform_distribution<unsigned char>";
        return uniform(name, 1, 4, |words| mrg_word(words[0]).to_le_bytes().to_vec());
    }
    uniform("uniform_distribution<unsigned char>", 1, 4, |words| words[0].to_le_bytes().to_vec())
}

pub(super) fn uniform_singles(mrg: bool) -> Distribution<f32> {
    if mrg {
        let name = "mrg_uniform_distribution<float>";
        return uniform(name, 1, 1, |words| vec![mrg_double(words[0]) as f32]);
    }
    uniform("uniform_distribution<float>", 1, 1, |words| vec![single(words[0])])
}

pub(super) fn uniform_doubles(mrg: bool) -> Distribution<f64> {
    if mrg {
        return uniform("mrg_uniform_distribution<double>", 1, 1, |words| vec![mrg_double(words[0])]);
    }
    uniform("uniform_distribution<double>", 2, 1, |words| {
        vec![double(u64::from(words[0]) | u64::from(words[1] >> 11) << 32)]
    })
}

pub(super) fn uniform_halves(mrg: bool) -> Distribution<f16> {
    let split = |word: u32| vec![half(word as u16), half((word >> 16) as u16)];
    if mrg {
        let name = "mrg_uniform_distribution<__half>";
        return uniform(name, 1, 2, move |words| split(mrg_word(words[0])));
    }
    uniform("uniform_distribution<__half>", 1, 2, move |words| split(words[0]))
}

/// Normal distributions (`log`: their exponentials).
pub(super) fn normal_singles(mrg: bool, log: bool) -> Distribution<f32> {
    let name = match (mrg, log) {
        (false, false) => "normal_distribution<float>",
        (false, true) => "log_normal_distribution<float>",
        (true, false) => "mrg_normal_distribution<float>",
        (true, true) => "mrg_log_normal_distribution<float>",
    };
    let map = move |words: &[u32]| {
        let pair = if mrg { mrg_singles(words[0], words[1]) } else { singles(words[0], words[1]) };
        scaled(pair).map(|x| (if log { x.exp() } else { x }) as f32).to_vec()
    };
    // The angle is a single of up to 2 pi, and the sine that of the hardware.
    let tolerance = if log {
        Tolerance { relative: 1e-5, absolute: 0.0 }
    } else {
        Tolerance { relative: 1e-6, absolute: 5e-6 }
    };
    let argument = bytes(&[MEAN as f32, DEVIATION as f32]);
    Distribution { name, inputs: 2, outputs: 2, argument, map: Box::new(map), tolerance }
}

pub(super) fn normal_doubles(mrg: bool, log: bool) -> Distribution<f64> {
    let (name, inputs) = match (mrg, log) {
        (false, false) => ("normal_distribution<double>", 4),
        (false, true) => ("log_normal_distribution<double>", 4),
        (true, false) => ("mrg_normal_distribution<double>", 2),
        (true, true) => ("mrg_log_normal_distribution<double>", 2),
    };
    let map = move |words: &[u32]| {
        let pair = if mrg { mrg_doubles(words[0], words[1]) } else { doubles(words) };
        scaled(pair).map(|x| if log { x.exp() } else { x }).to_vec()
    };
    let tolerance = Tolerance { relative: 1e-14, absolute: 4e-15 };
    let argument = bytes(&[MEAN, DEVIATION]);
    Distribution { name, inputs, outputs: 2, argument, map: Box::new(map), tolerance }
}

pub(super) fn normal_halves(mrg: bool, log: bool) -> Distribution<f16> {
    let name = match (mrg, log) {
        (false, false) => "normal_distribution<__half>",
        (false, true) => "log_normal_distribution<__half>",
        (true, false) => "mrg_normal_distribution<__half>",
        (true, true) => "mrg_log_normal_distribution<__half>",
    };
    let map = move |words: &[u32]| {
        let pair = halves(if mrg { mrg_word(words[0]) } else { words[0] });
        let round = f16::from_f64;
        scaled(pair).map(|x| if log { round(round(x).to_f64().exp()) } else { round(x) }).to_vec()
    };
    // Halves have eleven bits: two units in the last place.
    let tolerance = Tolerance { relative: 2e-3, absolute: 1e-3 };
    let (mean, deviation) = (f16::from_f64(MEAN), f16::from_f64(DEVIATION));
    let argument = bytes(&[mean, mean, deviation, deviation]);
    Distribution { name, inputs: 1, outputs: 2, argument, map: Box::new(map), tolerance }
}

/// Winitzki's approximation of the inverse error function, which the library uses for quasi-random numbers,
/// in singles.
fn inverse_error_single(x: f32) -> f32 {
    let product = (1.0 - x) * (1.0 + x);
    let log = product.ln();
    if log.is_infinite() {
        return 0.0;
    }
    let t1 = 2.0 / (3.141_592_5 * 0.147) + 0.5 * log;
    let t2 = 1.0 / 0.147 * log;
    (if x < 0.0 { -1.0 } else { 1.0 }) * (-t1 + (t1 * t1 - t2).sqrt()).sqrt()
}

/// The inverse of the error function, in double precision.
fn inverse_error_double(x: f64) -> f64 {
    let log = ((1.0 - x) * (1.0 + x)).ln();
    if log.is_infinite() {
        return 0.0;
    }
    let t1 = 2.0 / (std::f64::consts::PI * 0.147) + 0.5 * log;
    let t2 = 1.0 / 0.147 * log;
    (if x < 0.0 { -1.0 } else { 1.0 }) * (-t1 + (t1 * t1 - t2).sqrt()).sqrt()
}

/// A normally distributed number from one that is uniform in (0, 1].
pub(super) fn normal_of_single(p: f32) -> f64 {
    f64::from(std::f32::consts::SQRT_2 * inverse_error_single(2.0 * p - 1.0))
}

/// A normally distributed number of a uniform one, in double precision; the square root of two is a single
/// all the same.
pub(super) fn normal_of_double(p: f64) -> f64 {
    f64::from(std::f32::consts::SQRT_2) * inverse_error_double(2.0 * p - 1.0)
}
