//! Decoded kernels, as many as may stay in memory.
//!
//! A library has thousands of kernels, and a program may launch them all, one after the other. Those that
//! were decoded first are forgotten first; one that is launched again is decoded again.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Values by address, of which the last ones are kept that take so many bytes together, or the last one
/// alone.
#[derive(Debug)]
pub(crate) struct Kept<T> {
    values: HashMap<u64, (Arc<T>, u64)>,
    /// Their addresses, in the order in which they came.
    order: VecDeque<u64>,
    bytes: u64,
    most: u64,
}

impl<T> Kept<T> {
    /// None yet, and at most so many bytes of them.
    pub(crate) fn new(most: u64) -> Self {
        Self { values: HashMap::new(), order: VecDeque::new(), bytes: 0, most }
    }

    pub(crate) fn get(&self, address: u64) -> Option<Arc<T>> {
        self.values.get(&address).map(|(value, _)| value.clone())
    }

    /// Takes a value of so many bytes, in place of the one that had its address.
    pub(crate) fn insert(&mut self, address: u64, value: Arc<T>, bytes: u64) {
        self.forget(address);
        self.values.insert(address, (value, bytes));
        self.order.push_back(address);
        self.bytes += bytes;
        while self.bytes > self.most
            && let Some(&first) = self.order.front()
            && first != address
        {
            self.forget(first);
        }
    }

    fn forget(&mut self, address: u64) {
        if let Some((_, bytes)) = self.values.remove(&address) {
            self.bytes -= bytes;
            self.order.retain(|other| *other != address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ones_are_kept_that_fit_and_always_the_last() {
        let mut kept = Kept::new(10);
        let there =
            |kept: &Kept<u64>| (1..=5).filter_map(|at| kept.get(at).map(|value| *value)).collect::<Vec<_>>();
        for (address, bytes) in [(1, 4), (2, 3), (3, 3)] {
            kept.insert(address, Arc::new(address * 10), bytes);
        }
        assert_eq!(there(&kept), [10, 20, 30]);
        // In place of the first, which is now the last.
        kept.insert(1, Arc::new(11), 5);
        assert_eq!(there(&kept), [11, 30]);
        kept.insert(4, Arc::new(40), 100);
        assert_eq!(there(&kept), [40]);
        kept.insert(5, Arc::new(50), 0);
        assert_eq!((there(&kept), kept.bytes, kept.order.len()), (vec![50], 0, 1));
    }
}
