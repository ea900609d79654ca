//! Bytes with changes: pages are copied when something is written to them.

use std::collections::BTreeMap;
use std::ops::Range;

use super::pieces::Pieces;

const PAGE: usize = 4096;

/// Bytes, some of which are changed.
pub(super) struct Overlay<'a> {
    base: &'a [u8],
    /// Pages that were written to.
    pages: BTreeMap<usize, Vec<u8>>,
    /// Pages that are zero unless they were written to since.
    zeros: Range<usize>,
}

impl<'a> Overlay<'a> {
    pub(super) fn new(base: &'a [u8]) -> Self {
        Self { base, pages: BTreeMap::new(), zeros: 0..0 }
    }

    pub(super) fn len(&self) -> usize {
        self.base.len()
    }

    /// A range, as it is now; `None` if it is not all there.
    pub(super) fn read(&self, range: Range<usize>) -> Option<Vec<u8>> {
        let mut bytes = self.base.get(range.clone())?.to_vec();
        if !bytes.is_empty() {
            for number in range.start / PAGE..range.end.div_ceil(PAGE) {
                let start = (number * PAGE).max(range.start);
                let end = ((number + 1) * PAGE).min(range.end);
                let part = &mut bytes[start - range.start..end - range.start];
                match self.pages.get(&number) {
                    Some(page) => part.copy_from_slice(&page[start - number * PAGE..end - number * PAGE]),
                    None if self.zeros.contains(&number) => part.fill(0),
                    None => {}
                }
            }
        }
        Some(bytes)
    }

    /// Writes inside the bytes there are.
    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) {
        let mut done = 0;
        while done < bytes.len() {
            let (number, within) = ((at + done) / PAGE, (at + done) % PAGE);
            let part = &bytes[done..bytes.len().min(done + PAGE - within)];
            self.page(number)[within..within + part.len()].copy_from_slice(part);
            done += part.len();
        }
    }

    /// Fills a range with zeros. Whole pages take no memory for it, in one range at a time.
    pub(super) fn clear(&mut self, range: Range<usize>) {
        let whole = range.start.div_ceil(PAGE)..range.end / PAGE;
        if whole.is_empty() {
            return self.write(range.start, &vec![0; range.len()]);
        }
        for number in std::mem::replace(&mut self.zeros, 0..0) {
            self.pages.entry(number).or_insert_with(|| vec![0; PAGE]);
        }
        self.write(range.start, &vec![0; whole.start * PAGE - range.start]);
        self.write(whole.end * PAGE, &vec![0; range.end - whole.end * PAGE]);
        self.pages.retain(|number, _| !whole.contains(number));
        self.zeros = whole;
    }

    fn page(&mut self, number: usize) -> &mut Vec<u8> {
        let end = self.base.len().min((number + 1) * PAGE);
        self.pages.entry(number).or_insert_with(|| match self.zeros.contains(&number) {
            true => vec![0; end - number * PAGE],
            false => self.base[number * PAGE..end].to_vec(),
        })
    }

    /// All of it, with the changes.
    pub(super) fn into_pieces(self) -> Pieces<'a> {
        let count = self.base.len().div_ceil(PAGE);
        let mut pieces = Pieces::default();
        let mut pages = self.pages.into_iter().peekable();
        let mut number = 0;
        while number < count {
            if let Some((_, page)) = pages.next_if(|(changed, _)| *changed == number) {
                pieces.push(page);
                number += 1;
                continue;
            }
            let is_zero = self.zeros.contains(&number);
            let limit = match is_zero {
                true => self.zeros.end,
                false if number < self.zeros.start => self.zeros.start,
                false => count,
            };
            let next = pages.peek().map_or(count, |(changed, _)| *changed).min(limit);
            let range = number * PAGE..self.base.len().min(next * PAGE);
            match is_zero {
                true => pieces.push_zeros(range.len()),
                false => pieces.push(&self.base[range]),
            }
            number = next;
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn as_a_vector_that_is_changed(
            len in 0usize..5 * PAGE,
            changes in prop::collection::vec((any::<bool>(), 0usize..5 * PAGE, 0usize..2 * PAGE, 1u8..), 0..12),
        ) {
            let base: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
            let mut expected = base.clone();
            let mut overlay = Overlay::new(&base);
            for (clears, at, size, value) in changes {
                let at = at.min(len);
                let range = at..len.min(at + size);
                if clears {
                    expected[range.clone()].fill(0);
                    overlay.clear(range);
                } else {
                    expected[range.clone()].fill(value);
                    overlay.write(at, &vec![value; range.len()]);
                }
                let around = at.saturating_sub(10)..len.min(at + 10);
                prop_assert_eq!(overlay.read(around.clone()).unwrap(), &expected[around]);
            }
            prop_assert_eq!(overlay.read(0..len).unwrap(), &expected[..]);
            prop_assert!(overlay.read(0..len + 1).is_none());
            prop_assert_eq!(overlay.into_pieces().to_vec(), expected);
        }
    }
}
