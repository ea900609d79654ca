//! What the emulator has beside what the GPU had.

use amdinst_launch::language::Element;

use super::results::{First, Verdict};

/// Elements that differ and whose writers are looked for, at most.
const WATCHED: usize = 4096;

/// A comparison of as many bytes of both.
#[derive(Clone, Debug)]
pub(super) struct Compared {
    pub(super) verdict: Verdict,
    /// The first elements that differ, by their places.
    pub(super) differing: Vec<u64>,
}

/// Compares what the GPU had with what the emulator has. Floats may differ by `allowed` units in the last
/// place.
pub(super) fn compare(gpu: &[u8], emulator: &[u8], element: Option<Element>, allowed: u64) -> Compared {
    if gpu == emulator {
        return Compared { verdict: Verdict::Equal, differing: Vec::new() };
    }
    // What is left over at the end is compared as bytes.
    let element = element.filter(|element| gpu.len().is_multiple_of(element.size())).unwrap_or(Element::U8);
    let size = element.size();
    let mut differing = Vec::new();
    let (mut number, mut greatest, mut first) = (0, Some(0), None);
    for (index, (theirs, ours)) in gpu.chunks(size).zip(emulator.chunks(size)).enumerate() {
        if theirs == ours {
            continue;
        }
        number += 1;
        greatest = greatest.zip(distance(element, theirs, ours)).map(|(one, other)| one.max(other));
        if differing.len() < WATCHED {
            differing.push(index as u64);
        }
        first.get_or_insert(index as u64);
    }
    let of = (gpu.len() / size) as u64;
    let verdict = match (greatest, first) {
        (Some(ulp), _) if ulp <= allowed && element.is_float() => {
            Verdict::Within { ulp, differing: number, of }
        }
        (ulp, Some(index)) => {
            Verdict::Differs { ulp, differing: number, of, first: first_at(gpu, emulator, element, index) }
        }
        // They have other lengths, which whoever calls has looked at.
        (_, None) => Verdict::NotComparable("they have other sizes".to_owned()),
    };
    Compared { verdict, differing }
}

/// The element of a place in both.
pub(super) fn first_at(gpu: &[u8], emulator: &[u8], element: Element, index: u64) -> First {
    let offset = index as usize * element.size();
    let shown = |bytes: &[u8]| {
        let scalar = element.read(bytes.get(offset..).unwrap_or_default());
        if element == Element::U8 {
            format!("{:#04x}", bytes.get(offset).copied().unwrap_or_default())
        } else {
            scalar.to_string()
        }
    };
    First { offset: offset as u64, index, gpu: shown(gpu), emulator: shown(emulator), writer: None }
}

/// How many floats of their type lie between two; `None` where one of them is a NaN and the other not, and
/// for whole numbers. All NaNs are one.
fn distance(element: Element, one: &[u8], other: &[u8]) -> Option<u64> {
    let (one, other) = (element.read(one), element.read(other));
    if !element.is_float() {
        return None;
    }
    if one.to_f64().is_nan() || other.to_f64().is_nan() {
        return (one.to_f64().is_nan() && other.to_f64().is_nan()).then_some(0);
    }
    u64::try_from(one.order().abs_diff(other.order())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn units_in_the_last_place_are_counted() {
        let next = f32::from_bits(1.0_f32.to_bits() + 2);
        let gpu = floats(&[1.0, -0.0, 3.0, f32::NAN]);
        let own = floats(&[next, 0.0, 3.0, f32::from_bits(0x7fc0_0001)]);
        let verdict = |allowed| compare(&gpu, &own, Some(Element::F32), allowed).verdict;
        assert_eq!(verdict(2), Verdict::Within { ulp: 2, differing: 3, of: 4 });
        let Verdict::Differs { ulp, differing, first, .. } = verdict(1) else { panic!() };
        assert_eq!((ulp, differing, first.index, first.offset), (Some(2), 3, 0, 0));
        assert_eq!(compare(&gpu, &gpu, None, 0).verdict, Verdict::Equal);
        let Verdict::Differs { ulp, of, first, .. } = compare(&gpu, &own, None, 0).verdict else { panic!() };
        assert_eq!((ulp, of, first.gpu.as_str(), first.emulator.as_str()), (None, 16, "0x00", "0x02"));
    }

    #[test]
    fn a_nan_is_no_distance_from_a_number() {
        let verdict = compare(&floats(&[f32::NAN]), &floats(&[1.0]), Some(Element::F32), u64::MAX).verdict;
        assert!(matches!(verdict, Verdict::Differs { ulp: None, .. }));
        let signs =
            compare(&floats(&[-f32::MIN_POSITIVE]), &floats(&[f32::MIN_POSITIVE]), Some(Element::F32), 0)
                .verdict;
        assert!(matches!(signs, Verdict::Differs { ulp: Some(0x0100_0000), .. }));
    }
}
