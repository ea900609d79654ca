//! The original file with corrections: only the parts that change are copied.

use std::borrow::Cow;
use std::ops::Range;

/// A file, some parts of which differ from the original.
pub(super) struct Corrected<'a> {
    original: &'a [u8],
    /// The parts that can differ, in order. None overlaps another one.
    parts: Vec<Part>,
}

struct Part {
    start: usize,
    bytes: Vec<u8>,
}

impl Part {
    fn end(&self) -> usize {
        self.start + self.bytes.len()
    }
}

impl<'a> Corrected<'a> {
    pub(super) fn new(original: &'a [u8]) -> Self {
        Self { original, parts: Vec::new() }
    }

    /// Bytes to be changed. Like all ranges here it lies inside the file.
    pub(super) fn get_mut(&mut self, range: Range<usize>) -> &mut [u8] {
        let touched = self.touched(&range);
        let index = touched.start;
        let is_there = match &self.parts[touched.clone()] {
            [part] => part.start <= range.start && range.end <= part.end(),
            _ => false,
        };
        if !is_there {
            let parts = &self.parts[touched.clone()];
            let start = parts.first().map_or(range.start, |part| part.start.min(range.start));
            let end = parts.last().map_or(range.end, |part| part.end().max(range.end));
            let bytes = self.read(start..end).into_owned();
            self.parts.splice(touched, [Part { start, bytes }]);
        }
        let part = &mut self.parts[index];
        &mut part.bytes[range.start - part.start..range.end - part.start]
    }

    /// The bytes as they are now.
    pub(super) fn read(&self, range: Range<usize>) -> Cow<'_, [u8]> {
        match &self.parts[self.touched(&range)] {
            [] => Cow::Borrowed(&self.original[range]),
            [part] if part.start <= range.start && range.end <= part.end() => {
                Cow::Borrowed(&part.bytes[range.start - part.start..range.end - part.start])
            }
            _ => {
                let mut bytes = Vec::with_capacity(range.len());
                self.append(range, &mut bytes);
                Cow::Owned(bytes)
            }
        }
    }

    /// Appends the bytes as they are now.
    pub(super) fn append(&self, range: Range<usize>, out: &mut Vec<u8>) {
        let mut done = range.start;
        for part in &self.parts[self.touched(&range)] {
            let (start, end) = (part.start.max(range.start), part.end().min(range.end));
            out.extend_from_slice(&self.original[done..start]);
            out.extend_from_slice(&part.bytes[start - part.start..end - part.start]);
            done = end;
        }
        out.extend_from_slice(&self.original[done..range.end]);
    }

    /// The parts that have bytes of a range.
    fn touched(&self, range: &Range<usize>) -> Range<usize> {
        let first = self.parts.partition_point(|part| part.end() <= range.start);
        let end = self.parts.partition_point(|part| part.start < range.end);
        first..end.max(first)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LENGTH: usize = 40;

    fn range() -> impl Strategy<Value = Range<usize>> {
        (0..=LENGTH, 0..=LENGTH).prop_map(|(one, other)| one.min(other)..one.max(other))
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_is_like_a_copy(changes in prop::collection::vec((range(), any::<u8>()), 0..8), asked in range()) {
            let original: Vec<u8> = (0..LENGTH as u8).collect();
            let (mut copy, mut corrected) = (original.clone(), Corrected::new(&original));
            for (range, byte) in changes {
                let part = corrected.get_mut(range.clone());
                prop_assert_eq!(&*part, &copy[range.clone()]);
                part.fill(byte);
                copy[range].fill(byte);
            }
            prop_assert_eq!(&*corrected.read(asked.clone()), &copy[asked.clone()]);
            let mut out = vec![255];
            corrected.append(asked.clone(), &mut out);
            prop_assert_eq!(&out[1..], &copy[asked]);
        }
    }

    #[test]
    fn what_does_not_change_is_not_copied() {
        let original = [0; LENGTH];
        let mut corrected = Corrected::new(&original);
        corrected.get_mut(8..16)[0] = 1;
        corrected.get_mut(12..16)[0] = 1;
        corrected.get_mut(20..24)[0] = 1;
        assert_eq!(corrected.parts.iter().map(|part| part.bytes.len()).collect::<Vec<_>>(), [8, 4]);
        assert!(matches!(corrected.read(16..20), Cow::Borrowed(_)));
        assert!(matches!(corrected.read(8..16), Cow::Borrowed(_)));
    }
}
