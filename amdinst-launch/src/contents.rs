//! What a buffer holds before the launch: a file's bytes, or numbers that the command line asks for.

use std::path::Path;

use crate::files;
use crate::language::{Element, Elements, Scalar, is_npy};
use crate::npy;
use crate::refused::{Refused, RefusedKind};

/// Bytes, and facts about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The type of their elements, where there is one.
    pub element: Option<Element>,
    /// The dimensions of an array.
    pub shape: Option<Vec<u64>>,
}

impl Contents {
    /// Elements of a type.
    pub fn of(element: Element, numbers: impl Iterator<Item = Scalar>) -> Self {
        let bytes = numbers.flat_map(Scalar::bytes).collect();
        Self { bytes, element: Some(element), shape: None }
    }

    /// Zeros.
    pub fn zeroed(bytes: u64, element: Option<Element>) -> Self {
        Self { bytes: vec![0; bytes as usize], element, shape: None }
    }

    /// A file's bytes; of a `.npy` file its elements. A message begins with `what`.
    ///
    /// # Errors
    /// A file that cannot be read, or is no array by its content.
    pub fn of_file(path: &Path, what: &str) -> Result<Self, Refused> {
        let mut bytes = files::read(path).map_err(|error| Refused::from(error).context(what))?;
        if !is_npy(path) {
            return Ok(Self { bytes, element: None, shape: None });
        }
        let array = npy::Array::read(&bytes).map_err(|error| {
            Refused::new(RefusedKind::Unreadable, format!("{what}: {}: {error}", path.display()))
        })?;
        bytes.drain(..array.data.start);
        Ok(Self { bytes, element: Some(array.element), shape: Some(array.shape) })
    }
}

/// START, START + STEP, … Floats are worked out as `f64`s and rounded once.
pub fn iota(elements: Elements, start: Scalar, step: Scalar) -> impl Iterator<Item = Scalar> {
    (0..elements.count).map(move |index| match (start.as_whole(), step.as_whole()) {
        // It fits: reading made sure that the last one does.
        (Some(start), Some(step)) => {
            elements.element.whole(start + step * i128::from(index)).unwrap_or(Scalar::U8(0))
        }
        _ => elements.element.nearest(start.to_f64() + step.to_f64() * index as f64),
    })
}

/// Random numbers from `low` to below `high`; without those, floats from 0 to below 1, and all values of
/// other types.
///
/// Number `i` is made from output `i` of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", 2014), begun at the seed: what a seed gives does not depend on anything else.
pub fn random(
    elements: Elements,
    range: Option<(Scalar, Scalar)>,
    seed: u64,
) -> impl Iterator<Item = Scalar> {
    let element = elements.element;
    (0..elements.count).map(move |index| {
        let bits = split_mix(seed, index);
        if let Some((least, most)) = element.limits() {
            let end = |(low, high): (Scalar, Scalar)| Some((low.as_whole()?, high.as_whole()?));
            let (low, high) = range.and_then(end).unwrap_or((least, most + 1));
            // The upper half of the product: every value as often as another, but for one part in 2^64 of the
            // range.
            let offset = (bits as u128 * (high - low) as u128) >> 64;
            return element.whole(low + offset as i128).unwrap_or(Scalar::U8(0));
        }
        let (low, high) = range.unwrap_or((element.nearest(0.0), element.nearest(1.0)));
        // 53 bits: as many as an f64 has.
        let unit = (bits >> 11) as f64 / (1_u64 << 53) as f64;
        let value = element.nearest(low.to_f64() * (1.0 - unit) + high.to_f64() * unit);
        // Rounding may have reached the end, which is not in the range.
        if value.order() < high.order() && value.order() >= low.order() { value } else { low }
    })
}

/// Output `index` of the generator that was begun at `seed`.
fn split_mix(seed: u64, index: u64) -> u64 {
    const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = seed.wrapping_add(GAMMA.wrapping_mul(index.wrapping_add(1)));
    state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ state >> 31
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The outputs that are published with the generator, for the seed 1234567.
    #[test]
    fn the_generator_is_the_published_one() {
        let outputs = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        for (index, output) in outputs.into_iter().enumerate() {
            assert_eq!(split_mix(1_234_567, index as u64), output);
        }
    }

    #[test]
    fn numbers_count_up() {
        let of = |element, count| Elements { element, count };
        let numbers: Vec<_> = iota(of(Element::I8, 3), Scalar::I8(1), Scalar::I8(-2)).collect();
        assert_eq!(numbers, [Scalar::I8(1), Scalar::I8(-1), Scalar::I8(-3)]);
        let numbers: Vec<_> = iota(of(Element::F32, 3), Scalar::F32(0.5), Scalar::F32(0.25)).collect();
        assert_eq!(numbers, [Scalar::F32(0.5), Scalar::F32(0.75), Scalar::F32(1.0)]);
    }

    fn scalar_pair(element: Element, a: u64, b: u64) -> Option<(Scalar, Scalar)> {
        let (a, b) = (element.read(&a.to_le_bytes()), element.read(&b.to_le_bytes()));
        let finite = a.to_f64().is_finite() && b.to_f64().is_finite();
        match a.order().cmp(&b.order()) {
            std::cmp::Ordering::Less if finite => Some((a, b)),
            std::cmp::Ordering::Greater if finite => Some((b, a)),
            _ => None,
        }
    }

    proptest! {
        #[test]
        fn random_numbers_are_in_their_range(type_ in 0..12_usize, a: u64, b: u64, seed: u64) {
            let element = Element::ALL[type_];
            let Some((low, high)) = scalar_pair(element, a, b) else { return Ok(()) };
            let elements = Elements { element, count: 50 };
            let numbers: Vec<_> = random(elements, Some((low, high)), seed).collect();
            for number in &numbers {
                prop_assert!(number.order() >= low.order() && number.order() < high.order(), "{number}");
            }
            let again: Vec<_> = random(Elements { count: 7, ..elements }, Some((low, high)), seed).collect();
            prop_assert_eq!(&numbers[..7], &again[..]);
        }
    }

    /// Of 10000 numbers from 0 to below 10 each comes about 1000 times, and the mean of the floats is about a
    /// half.
    #[test]
    fn random_numbers_are_even() {
        let of = |element| Elements { element, count: 10_000 };
        let mut seen = [0_u32; 10];
        for number in random(of(Element::U8), Some((Scalar::U8(0), Scalar::U8(10))), 1) {
            seen[number.as_whole().unwrap() as usize] += 1;
        }
        assert!(seen.iter().all(|count| (850..1150).contains(count)), "{seen:?}");
        let sum: f64 = random(of(Element::F32), None, 1).map(Scalar::to_f64).sum();
        assert!((4800.0..5200.0).contains(&sum), "{sum}");
    }
}
