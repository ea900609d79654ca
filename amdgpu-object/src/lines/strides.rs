//! Where in a table in order of address to look for one: a search through all of it would mostly wait for
//! memory.

/// For each stride of code, how many of a table's entries start before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Strides {
    /// Where the first stride starts.
    base: u64,
    before: Vec<u32>,
}

/// Bytes of code, a power of two: about a dozen rows of a line table.
const STRIDE: u64 = 256;

impl Strides {
    /// Of a table with these starts, in order.
    pub(super) fn new(mut starts: impl Iterator<Item = u64>) -> Self {
        let Some(base) = starts.next() else { return Self::default() };
        let mut before: Vec<u32> = vec![0];
        for (start, number) in starts.zip(1..) {
            before.resize(before.len().max(((start - base) / STRIDE) as usize + 1), number);
        }
        Self { base, before }
    }

    /// How many of the table's entries start at an address or before it.
    pub(super) fn next<T>(&self, pc: u64, table: &[T], start: impl Fn(&T) -> u64) -> usize {
        let stride = pc.checked_sub(self.base).and_then(|offset| usize::try_from(offset / STRIDE).ok());
        let Some(stride) = stride else { return 0 };
        // All that start within the stride, and the last one before.
        let before = |stride: usize| self.before.get(stride).map_or(table.len(), |&count| count as usize);
        let (first, end) = (before(stride), before(stride.saturating_add(1)));
        first + table[first..end].partition_point(|entry| start(entry) <= pc)
    }
}
