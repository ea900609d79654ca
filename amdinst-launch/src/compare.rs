//! `--expect`: elements beside what they should be.

use std::cmp::Ordering;
use std::path::PathBuf;

use serde::Serialize;

use crate::arguments::{Arguments, BufferInfo};
use crate::contents::Contents;
use crate::language::{Element, Expectation, Scalar, Tolerance};
use crate::refused::{Refused, RefusedKind};
use crate::results::ElementRange;

/// An expectation, ready before the launch.
#[derive(Debug)]
pub struct Expected {
    elements: ElementRange,
    path: PathBuf,
    tolerance: Tolerance,
    /// What they should be.
    bytes: Vec<u8>,
}

/// What became of an expectation: the JSON form.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The argument's number, from 1.
    pub argument: usize,
    /// Its name, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The type of the elements.
    #[serde(rename = "type")]
    pub element: String,
    /// The file with the expected elements.
    pub file: String,
    /// How far a number may be from the expected one, as behind `~`.
    pub tolerance: String,
    /// Elements that were compared.
    pub elements: u64,
    /// How many of them differ.
    pub differing: u64,
    /// Elements of the file, if that is another number than those of the argument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements_in_file: Option<u64>,
    /// The first that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Difference>,
    /// The one that differs most, NaNs left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub greatest: Option<Difference>,
    #[serde(skip)]
    what: String,
    /// Elements of the argument.
    #[serde(skip)]
    here: u64,
}

/// An element that is not as expected.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// Its place in the argument.
    pub index: u64,
    /// Its value.
    pub actual: Scalar,
    /// The expected value.
    pub expected: Scalar,
}

impl Expected {
    /// Reads the expected elements, and checks that the argument can equal them.
    ///
    /// # Errors
    /// A file that cannot be read or has elements of another type; no such argument or elements; a tolerance
    /// for bytes.
    pub fn new(arguments: &Arguments, expectation: &Expectation) -> Result<Self, Refused> {
        let Expectation { selector, path, tolerance } = expectation;
        let of = arguments.buffer(&selector.argument, "--expect")?;
        let contents = Contents::of_file(path, "--expect")?;
        let asked = selector.element.or(of.element);
        let usage =
            |message: String| Refused::new(RefusedKind::Usage, format!("--expect {expectation}: {message}"));
        if let (Some(asked), Some(there)) = (asked, contents.element)
            && asked != there
        {
            return Err(usage(format!("{} is {asked}, and {} has {there}", of.what(), path.display())));
        }
        let element = asked.or(contents.element);
        if element.is_none() && *tolerance != Tolerance::Exact {
            let message = usage(format!("a tolerance needs a type, and {} has none", of.what()));
            return Err(message.help("give the type: --expect ARG:f32=FILE~TOL"));
        }
        let element = element.unwrap_or(Element::U8);
        if !contents.bytes.len().is_multiple_of(element.size()) {
            let size = contents.bytes.len();
            return Err(usage(format!(
                "{} has {size} bytes, which are not whole {element}s",
                path.display()
            )));
        }
        let elements = ElementRange::new(of, selector, Some(element), "--expect")?;
        Ok(Self { elements, path: path.clone(), tolerance: *tolerance, bytes: contents.bytes })
    }

    /// Compares the contents of the buffers.
    pub fn compare(&self, buffers: &[Vec<u8>]) -> Comparison {
        let ElementRange { of: BufferInfo { number, name, .. }, element, .. } = &self.elements;
        let actual = self.elements.numbers(buffers);
        let expected = self.bytes.chunks_exact(element.size()).map(|bytes| element.read(bytes));
        let in_file = expected.len() as u64;
        let mut comparison = Comparison {
            argument: *number,
            name: name.clone(),
            element: element.to_string(),
            file: self.path.display().to_string(),
            tolerance: self.tolerance.to_string(),
            elements: self.elements.count().min(in_file),
            differing: 0,
            elements_in_file: (in_file != self.elements.count()).then_some(in_file),
            first: None,
            greatest: None,
            what: self.elements.of.what(),
            here: self.elements.count(),
        };
        let mut most = None;
        for (index, (actual, expected)) in (self.elements.from..).zip(actual.zip(expected)) {
            if agree(actual, expected, self.tolerance) {
                continue;
            }
            comparison.differing += 1;
            let difference = Difference { index, actual, expected };
            let distance = distance(actual, expected);
            if distance.partial_cmp(&most.unwrap_or(-1.0)) == Some(Ordering::Greater) {
                (most, comparison.greatest) = (Some(distance), Some(difference.clone()));
            }
            comparison.first.get_or_insert(difference);
        }
        comparison
    }
}

/// By how much two numbers differ; NaN if one is a NaN.
fn distance(actual: Scalar, expected: Scalar) -> f64 {
    match (actual.as_whole(), expected.as_whole()) {
        (Some(actual), Some(expected)) => actual.abs_diff(expected) as f64,
        _ => (actual.to_f64() - expected.to_f64()).abs(),
    }
}

/// Whether a number is near enough to what is expected.
fn agree(actual: Scalar, expected: Scalar, tolerance: Tolerance) -> bool {
    if tolerance == Tolerance::Exact {
        return actual.bytes() == expected.bytes();
    }
    let (a, b) = (actual.to_f64(), expected.to_f64());
    if a.is_nan() || b.is_nan() {
        return a.is_nan() && b.is_nan();
    }
    if a.is_infinite() || b.is_infinite() {
        return a == b;
    }
    match tolerance {
        Tolerance::Exact => false,
        Tolerance::Within { absolute, relative } => {
            distance(actual, expected) <= absolute + relative * b.abs()
        }
        Tolerance::Ulps(ulps) => actual.order().abs_diff(expected.order()) <= ulps.into(),
    }
}

impl Comparison {
    /// Whether all is as expected, and that is something.
    pub fn is_equal(&self) -> bool {
        self.differing == 0 && self.elements > 0 && self.elements_in_file.is_none()
    }

    /// One line for an expectation that came true.
    pub fn told(&self) -> String {
        let Self { what, file, elements, element, .. } = self;
        format!("{what} is as {file} has it: {elements} {element}, {}", self.rule())
    }

    /// The mismatches, and the facts behind them.
    pub fn failure(&self) -> (String, Vec<String>) {
        let Self { what, file, elements, element, differing, .. } = self;
        let mut notes = Vec::new();
        let error = match self.elements_in_file {
            Some(in_file) => {
                let here = self.here;
                if in_file.min(here) > 0 {
                    notes.push(format!("of the first {elements}, {differing} differ"));
                }
                format!("{what} is not what {file} has: {here} {element}, where {in_file} are expected")
            }
            None if *elements == 0 => format!("{what} and {file} have no {element} that could be compared"),
            None => format!("{what} is not what {file} has: {differing} of {elements} {element} differ"),
        };
        let told = |Difference { index, actual, expected }: &Difference| {
            // Two NaNs can look alike, and be different.
            let bits = |scalar: &Scalar| {
                let bytes = scalar.bytes();
                bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect::<String>()
            };
            if actual.to_string() == expected.to_string() {
                let (actual_bits, expected_bits) = (bits(actual), bits(expected));
                format!("index {index}: {actual} (0x{actual_bits}), expected {expected} (0x{expected_bits})")
            } else {
                format!("index {index}: {actual}, expected {expected}")
            }
        };
        if let Some(first) = &self.first {
            notes.push(format!("first at {}", told(first)));
        }
        if let Some(greatest) = &self.greatest
            && *differing > 1
        {
            let apart = match (greatest.actual.as_whole(), greatest.expected.as_whole()) {
                (Some(actual), Some(expected)) => actual.abs_diff(expected).to_string(),
                _ => format!("{:?}", distance(greatest.actual, greatest.expected)),
            };
            notes.push(format!("furthest at {}: they are {apart} apart", told(greatest)));
        }
        notes.push(format!("how they were compared: {}", self.rule()));
        (error, notes)
    }

    /// How numbers are compared.
    fn rule(&self) -> String {
        let is_float = Element::named(&self.element).is_some_and(Element::is_float);
        match (self.tolerance.as_str(), is_float) {
            ("exact", false) => "bit by bit".to_owned(),
            ("exact", true) => "bit by bit, so -0.0 is not 0.0, and a NaN is one of the same bits".to_owned(),
            (tolerance, false) => format!("within {tolerance}"),
            (tolerance, true) => {
                format!("within {tolerance}; a NaN equals every NaN and nothing else, infinity equals itself")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use half::f16;

    use super::*;

    #[test]
    fn what_agrees() {
        let within = |absolute, relative| Tolerance::Within { absolute, relative };
        let (nan, other_nan) = (f32::from_bits(0x7fc0_0000), f32::from_bits(0xffc0_0001));
        for (actual, expected, tolerance, verdict) in [
            (Scalar::F32(-0.0), Scalar::F32(0.0), Tolerance::Exact, false),
            (Scalar::F32(-0.0), Scalar::F32(0.0), within(0.0, 0.0), true),
            (Scalar::F32(-0.0), Scalar::F32(0.0), Tolerance::Ulps(0), true),
            (Scalar::F32(nan), Scalar::F32(nan), Tolerance::Exact, true),
            (Scalar::F32(nan), Scalar::F32(other_nan), Tolerance::Exact, false),
            (Scalar::F32(nan), Scalar::F32(other_nan), within(0.0, 0.0), true),
            (Scalar::F32(nan), Scalar::F32(1.0), within(1e30, 0.0), false),
            (Scalar::F32(nan), Scalar::F32(1.0), Tolerance::Ulps(u64::MAX), false),
            (Scalar::F32(f32::INFINITY), Scalar::F32(f32::INFINITY), within(0.0, 0.0), true),
            (Scalar::F32(f32::INFINITY), Scalar::F32(f32::MAX), Tolerance::Ulps(1), false),
            (Scalar::F32(f32::MAX), Scalar::F32(f32::INFINITY), within(0.0, 1.0), false),
            (Scalar::F32(1.0), Scalar::F32(1.0 + f32::EPSILON), Tolerance::Ulps(1), true),
            (Scalar::F32(-1.0e-45), Scalar::F32(1.0e-45), Tolerance::Ulps(1), false),
            (Scalar::F32(-1.0e-45), Scalar::F32(1.0e-45), Tolerance::Ulps(2), true),
            (Scalar::F64(1.5), Scalar::F64(1.0), within(0.5, 0.0), true),
            (Scalar::F64(1.5), Scalar::F64(1.0), within(0.25, 0.2), false),
            (Scalar::F64(-11.0), Scalar::F64(-10.0), within(0.0, 0.1), true),
            (Scalar::F16(f16::from_f32(2.0)), Scalar::F16(f16::from_f32(2.002)), Tolerance::Ulps(1), true),
            (Scalar::I64(i64::MIN), Scalar::I64(i64::MIN + 3), within(2.0, 0.0), false),
            (Scalar::I64(i64::MIN), Scalar::I64(i64::MIN + 2), within(2.0, 0.0), true),
            (Scalar::U8(255), Scalar::U8(0), within(254.0, 0.0), false),
        ] {
            assert_eq!(agree(actual, expected, tolerance), verdict, "{actual} {expected} ~{tolerance}");
        }
    }
}
