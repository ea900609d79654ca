//! Values by the address in the old code, found in constant time: every branch asks for two of them.

use std::ops::Range;

/// Bytes of code for each entry of an index.
const BLOCK: u64 = 64;

/// Where among ascending addresses a search may start.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    start: u64,
    /// By block of code: how many of the addresses lie before it.
    before: Vec<u32>,
}

impl Index {
    /// Of addresses in (or at the end of) `code`, ascending.
    pub(super) fn new(code: &Range<u64>, addresses: impl Iterator<Item = u64>) -> Self {
        let blocks = (code.end - code.start) / BLOCK + 1;
        let mut before: Vec<u32> = Vec::with_capacity(blocks as usize);
        for (count, address) in (0..).zip(addresses) {
            while before.len() as u64 * BLOCK <= address.saturating_sub(code.start) {
                before.push(count);
            }
        }
        Self { start: code.start, before }
    }

    /// A number of addresses that all lie before `address`: the others are to be looked at.
    pub(super) fn before(&self, address: u64) -> usize {
        let block = (address.saturating_sub(self.start) / BLOCK) as usize;
        // Without addresses there is no entry, and none lies before.
        self.before.get(block).or(self.before.last()).map_or(0, |&count| count as usize)
    }
}

/// A map from addresses that are put in by ascending order.
#[derive(Clone, Debug, Default)]
pub(super) struct ByAddress {
    pairs: Vec<(u64, u64)>,
    index: Index,
}

impl ByAddress {
    /// Makes room for so many.
    pub(super) fn reserve(&mut self, count: usize) {
        self.pairs.reserve(count);
    }

    /// Puts in a value for an address that is not less than those before; a second one for the same replaces
    /// the first.
    pub(super) fn push(&mut self, address: u64, value: u64) {
        match self.pairs.last_mut() {
            Some(last) if last.0 == address => last.1 = value,
            _ => self.pairs.push((address, value)),
        }
    }

    /// Makes it ready to be searched.
    pub(super) fn finish(&mut self, code: &Range<u64>) {
        self.index = Index::new(code, self.pairs.iter().map(|&(address, _)| address));
    }

    pub(super) fn get(&self, address: u64) -> Option<u64> {
        let rest = &self.pairs[self.index.before(address)..];
        let found = rest.iter().find(|&&(at, _)| at >= address)?;
        (found.0 == address).then_some(found.1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn values_are_found_where_they_are(
            addresses in prop::collection::btree_set(0u64..2000, 0..80), asked in prop::collection::vec(0u64..2100, 1..50)
        ) {
            let code = 1000..3000;
            let mut map = ByAddress::default();
            addresses.iter().for_each(|&address| map.push(1000 + address, address));
            map.finish(&code);
            for asked in asked.into_iter().chain(addresses.iter().copied()) {
                prop_assert_eq!(map.get(1000 + asked), addresses.contains(&asked).then_some(asked));
                let before = map.index.before(1000 + asked);
                prop_assert!(addresses.iter().take(before).all(|&address| address < asked));
            }
        }
    }
}
