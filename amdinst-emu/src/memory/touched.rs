//! Which pages of a large block anybody has touched: the others are zero, and need not be looked at. A
//! kernel's image may ask for gigabytes and use a few pages of them.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;

/// What Linux says of each page, in a dword of eight bytes (`/proc/self/pagemap`).
const ENTRY: usize = 8;
/// It is in memory, or was put out of it.
const THERE: u64 = 0b11 << 62;
/// Pages that are asked for at once.
const AT_ONCE: usize = 1 << 13;

/// The bytes of touched pages among `length` bytes from an address on that a page begins at, by their
/// offsets; all of them if the system does not tell.
pub(super) fn touched(address: usize, length: usize) -> Vec<Range<usize>> {
    told(address, length).unwrap_or_else(|| std::iter::once(0..length).collect())
}

fn told(address: usize, length: usize) -> Option<Vec<Range<usize>>> {
    let page = page_size()?;
    if !address.is_multiple_of(page) {
        return None;
    }
    let mut map = File::open("/proc/self/pagemap").ok()?;
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut entries = vec![0; ENTRY * AT_ONCE];
    map.seek(SeekFrom::Start((ENTRY * (address / page)) as u64)).ok()?;
    let pages = length.div_ceil(page);
    for first in (0..pages).step_by(AT_ONCE) {
        let asked = &mut entries[..ENTRY * AT_ONCE.min(pages - first)];
        map.read_exact(asked).ok()?;
        for (index, entry) in asked.chunks_exact(ENTRY).enumerate() {
            let entry = u64::from_le_bytes(entry.try_into().ok()?);
            if entry & THERE == 0 {
                continue;
            }
            let start = (first + index) * page;
            let end = (start + page).min(length);
            match ranges.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => ranges.push(start..end),
            }
        }
    }
    Some(ranges)
}

/// Bytes of a page, as Linux told this process (`AT_PAGESZ` of its auxiliary vector).
fn page_size() -> Option<usize> {
    const PAGE_SIZE: u64 = 6;
    let vector = std::fs::read("/proc/self/auxv").ok()?;
    let word = |bytes: &[u8]| Some(u64::from_le_bytes(bytes.try_into().ok()?));
    let pairs = vector.chunks_exact(16).filter_map(|pair| Some((word(&pair[..8])?, word(&pair[8..])?)));
    let size = pairs.into_iter().find_map(|(key, value)| (key == PAGE_SIZE).then_some(value))?;
    usize::try_from(size).ok().filter(|size| size.is_power_of_two())
}

/// Two lists of ranges in order, as one.
pub(super) fn both(mut one: Vec<Range<usize>>, other: Vec<Range<usize>>) -> Vec<Range<usize>> {
    one.extend(other);
    one.sort_unstable_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(one.len());
    for range in one {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_nobody_touched_are_left_out() {
        let page = page_size().unwrap_or(4096);
        let mut block = memmap2::MmapMut::map_anon(100 * page).unwrap();
        for at in [7 * page, 8 * page + 5, 99 * page] {
            block[at] = 1;
        }
        let found = touched(block.as_ptr().addr(), block.len());
        let covers = |at: usize| found.iter().any(|range| range.contains(&at));
        assert!([7 * page, 8 * page + 5, 100 * page - 1].into_iter().all(covers), "{found:?}");
        // A system may give several pages at once, and need not tell.
        if told(block.as_ptr().addr(), block.len()).is_some() {
            assert!(found.windows(2).all(|pair| pair[0].end < pair[1].start), "{found:?}");
        }
    }

    #[test]
    fn lists_become_one() {
        assert_eq!(both(vec![0..2, 6..8], vec![1..4, 8..9]), [0..4, 6..9]);
    }
}
