//! Assertions on the elements of a buffer. What fails says which element differs first, and where a kernel
//! has its value from.

use std::fmt::Debug;

use crate::buffer::{bytes_of, label};
use crate::{Buffer, Element};

/// A float whose neighbors are counted: [`Buffer::assert_close`].
pub trait Float: Element + PartialEq + Debug {
    /// Units in the last place between two numbers: how many floats lie between them, and one. Zeros of both
    /// signs are one number, and so are all NaNs; a NaN and a number are as far apart as can be.
    fn ulps(self, other: Self) -> u64;
}

macro_rules! floats {
    ($($float:ident $signed:ident)*) => {$(
        impl Float for $float {
            fn ulps(self, other: Self) -> u64 {
                // In the order of numbers, from the smallest negative one on.
                let place = |value: Self| {
                    let bits = value.to_bits().cast_signed();
                    i128::from(if bits < 0 { $signed::MIN.wrapping_sub(bits) } else { bits })
                };
                match (self.is_nan(), other.is_nan()) {
                    (true, true) => 0,
                    (false, false) => u64::try_from(place(self).abs_diff(place(other))).unwrap_or(u64::MAX),
                    _ => u64::MAX,
                }
            }
        }
    )*};
}

floats!(f32 i32 f64 i64);

impl<T: Element + PartialEq + Debug> Buffer<T> {
    /// Asserts that it holds these elements.
    ///
    /// # Panics
    /// When it does not. The message has the first element that differs, how many do, and on the emulator the
    /// source lines that the element's value comes from.
    #[track_caller]
    pub fn assert_eq(&self, expected: impl AsRef<[T]>) {
        let (values, expected) = (self.elements_for(expected.as_ref()), expected.as_ref());
        let differ = |(_, (own, other)): &(usize, (&T, &T))| own != other;
        let pairs = || values.iter().zip(expected).enumerate();
        let Some((first, (own, other))) = pairs().find(differ) else { return };
        let count = pairs().filter(differ).count();
        let also = self.also(count);
        let message =
            format!("element {first} of a {} is {own:?}, not {other:?}{also}", label::<T>(self.len()));
        self.fail(&message, first, &[*own], &[*other]);
    }
}

impl<T: Float> Buffer<T> {
    /// Asserts that each of its elements is at most so many units in the last place from the one that is
    /// expected ([`Float::ulps`]).
    ///
    /// # Panics
    /// When one is not. The message is that of [`Buffer::assert_eq`], with the worst element, and how many
    /// elements are how far off.
    #[track_caller]
    pub fn assert_close(&self, expected: impl AsRef<[T]>, ulps: u64) {
        let (values, expected) = (self.elements_for(expected.as_ref()), expected.as_ref());
        let apart: Vec<u64> = values.iter().zip(expected).map(|(own, other)| own.ulps(*other)).collect();
        let Some(first) = apart.iter().position(|&apart| apart > ulps) else { return };
        let count = apart.iter().filter(|&&apart| apart > ulps).count();
        let element = |index: usize| {
            let (own, other) = (values[index], expected[index]);
            let off = if apart[index] == u64::MAX {
                String::new()
            } else {
                format!(", {} ULP apart", apart[index])
            };
            format!("{own:?}, not {other:?}{off}")
        };
        let mut message = format!(
            "element {first} of a {} is {}{}",
            label::<T>(self.len()),
            element(first),
            self.also(count)
        );
        let worst = (0..apart.len()).rev().max_by_key(|&index| apart[index]).unwrap_or(first);
        if apart[worst] > apart[first] {
            message += &format!("\nthe worst is element {worst}: {}", element(worst));
        }
        message += &format!("\nat most {ulps} ULP are allowed; elements by ULP: {}", histogram(&apart));
        // A NaN says more than a number that is wrong.
        let index = if apart[worst] == u64::MAX { worst } else { first };
        self.fail(&message, index, &values[index..=index], &expected[index..=index]);
    }
}

/// How many elements are how far off, by powers of two up to where digits are still alike.
fn histogram(apart: &[u64]) -> String {
    const FAR: u32 = 11;
    let class = |apart: u64| (u64::BITS - apart.leading_zeros()).min(FAR);
    let mut text = Vec::new();
    for bits in 0..=FAR {
        let count = apart.iter().filter(|&&apart| apart != u64::MAX && class(apart) == bits).count();
        if count > 0 {
            let low: u64 = if bits == 0 { 0 } else { 1 << (bits - 1) };
            let high = low | low.saturating_sub(1);
            let range = match bits {
                FAR => format!("{low} and more"),
                _ if low == high => low.to_string(),
                _ => format!("{low} to {high}"),
            };
            text.push(format!("{range}: {count}"));
        }
    }
    let nans = apart.iter().filter(|&&apart| apart == u64::MAX).count();
    if nans > 0 {
        text.push(format!("a NaN or none: {nans}"));
    }
    text.join(", ")
}

impl<T: Element> Buffer<T> {
    /// The elements, as many as are expected.
    #[track_caller]
    fn elements_for(&self, expected: &[T]) -> Vec<T> {
        assert_eq!(
            self.len(),
            expected.len(),
            "a {} has not as many elements as are expected",
            label::<T>(self.len())
        );
        self.to_vec()
    }

    fn also(&self, count: usize) -> String {
        if count > 1 { format!("; {count} of {} elements differ", self.len()) } else { String::new() }
    }

    /// Fails, and says where an element has its value from that is another one.
    #[track_caller]
    fn fail(&self, message: &str, index: usize, own: &[T], other: &[T]) -> ! {
        // The highest byte that differs: of a double, sign and exponent say more than the last digits.
        let differing = bytes_of(own).iter().zip(bytes_of(other)).rposition(|(own, other)| own != other);
        match self.why(index * size_of::<T>() + differing.unwrap_or(0)) {
            Some(why) => panic!("{message}\nelement {index}: {why}"),
            None => panic!("{message}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbors_are_one_apart() {
        assert_eq!(1.0_f32.ulps(1.0 + f32::EPSILON), 1);
        assert_eq!(0.0_f64.ulps(-0.0), 0);
        assert_eq!(f32::from_bits(1).ulps(-f32::from_bits(1)), 2);
        assert_eq!(f64::NAN.ulps(-f64::NAN), 0);
        assert_eq!(f64::NAN.ulps(1.0), u64::MAX);
        assert_eq!(f32::MAX.ulps(f32::INFINITY), 1);
        assert!(f64::MIN.ulps(f64::MAX) > 1 << 62);
    }

    #[test]
    fn distances_are_counted_by_powers_of_two() {
        assert_eq!(
            histogram(&[0, 0, 1, 2, 3, 4, u64::MAX]),
            "0: 2, 1: 1, 2 to 3: 2, 4 to 7: 1, a NaN or none: 1"
        );
        assert_eq!(histogram(&[u64::MAX - 1, 1023]), "512 to 1023: 1, 1024 and more: 1");
    }
}
