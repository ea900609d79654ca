//! How one lane writes a record: which words at a time, and the VGPRs that have them.

use super::layout::{CounterPlace, SgprCounters};
use crate::counters::{RECORD_HEADER_WORDS, WORDS_PER_SITE};

/// The stores that write a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stores {
    /// The VGPR with the record's offset, which is one of the first store's words, too.
    pub(super) address: u8,
    pub(super) stores: Vec<Store>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Store {
    /// Word of the record that the first goes to.
    pub(super) at: u32,
    /// SGPRs with its one to four words; none for the offset.
    pub(super) words: Vec<Option<u8>>,
    /// The first VGPR, an even one, for the first word.
    pub(super) data: u8,
}

/// Words of a record and where they are.
type Words = Vec<(u32, Option<u8>)>;

impl Stores {
    /// Those of a record of counters in these places, in VGPRs of which some are free. None where too few are, or where counters are
    /// not in SGPRs.
    pub(super) fn plan(places: &[CounterPlace], free: impl Fn(u8) -> bool) -> Option<Self> {
        let words = words(places)?;
        [4, 3, 2].into_iter().find_map(|most| Self::of_words(&words, most, &free))
    }

    /// The same with so many words at a time at most.
    fn of_words(words: &[(u32, Option<u8>)], most: usize, free: impl Fn(u8) -> bool) -> Option<Self> {
        let runs = words.chunk_by(|one, next| one.0 + 1 == next.0);
        let mut chunks: Vec<&[(u32, Option<u8>)]> = runs.flat_map(|run| run.chunks(most)).collect();
        // The offset goes first: the others have it as their address.
        let offset = |chunk: &[(u32, Option<u8>)]| chunk.iter().position(|(_, word)| word.is_none());
        chunks.sort_by_key(|chunk| offset(chunk).is_none());
        let mut stores: Vec<Store> = Vec::new();
        let mut address = None;
        for chunk in chunks {
            let run = |data: u8| data..data.saturating_add(chunk.len() as u8);
            let fits = |&data: &u8| {
                run(data).len() == chunk.len() && run(data).all(|vgpr| free(vgpr) && Some(vgpr) != address)
            };
            // What is stored is read a little later, so the next store has other registers, where there are any.
            let last = stores.last().map_or(0..0, |last| last.data..last.data + last.words.len() as u8);
            let apart = |&data: &u8| run(data).all(|vgpr| !last.contains(&vgpr));
            let candidates = || (0..u8::MAX).step_by(2).filter(fits);
            let data = candidates().find(apart).or_else(|| candidates().next())?;
            address = address.or_else(|| Some(data + offset(chunk)? as u8));
            stores.push(Store { at: chunk[0].0, words: chunk.iter().map(|&(_, word)| word).collect(), data });
        }
        Some(Self { address: address?, stores })
    }
}

/// The words of a record, in order; `None` where a counter is not in SGPRs.
fn words(places: &[CounterPlace]) -> Option<Words> {
    let offset = match places.first() {
        Some(CounterPlace::Masks { .. }) => RECORD_HEADER_WORDS + 2,
        _ => RECORD_HEADER_WORDS - 1,
    };
    let mut words: Words = vec![(offset, None)];
    for (site, place) in (0u32..).zip(places) {
        let first = RECORD_HEADER_WORDS + WORDS_PER_SITE * site;
        match *place {
            CounterPlace::Sgprs(SgprCounters { executions, all, none, lanes }) => {
                let counters = [executions, all, none].into_iter().chain(lanes.into_iter().flatten());
                words.extend((first..).zip(counters.map(Some)));
            }
            CounterPlace::Masks { new, old } => {
                words.extend([(first, Some(new)), (first + 1, Some(new + 1))]);
                let old = old.map(|old| [(first + 3, Some(old)), (first + 4, Some(old + 1))]);
                words.extend(old.into_iter().flatten());
            }
            _ => return None,
        }
    }
    words.sort_unstable();
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: CounterPlace =
        CounterPlace::Sgprs(SgprCounters { executions: 32, all: 30, none: 31, lanes: None });
    const MASK: CounterPlace = CounterPlace::Masks { new: 40, old: None };

    fn shape(places: &[CounterPlace], free: impl Fn(u8) -> bool) -> Option<Vec<(u32, usize, u8)>> {
        let stores = Stores::plan(places, free)?.stores;
        Some(stores.iter().map(|store| (store.at, store.words.len(), store.data)).collect())
    }

    #[test]
    fn records_are_stored_four_words_at_a_time() {
        let plan = Stores::plan(&[SITE], |_| true).unwrap();
        assert_eq!(plan.stores, [Store { at: 1, words: vec![None, Some(32), Some(30), Some(31)], data: 0 }]);
        assert_eq!(plan.address, 0);
        assert_eq!(shape(&[SITE, SITE], |_| true), Some(vec![(1, 4, 0), (7, 3, 4)]));
        // Behind the first masks stands the offset.
        let plan = Stores::plan(&[MASK, MASK], |_| true).unwrap();
        assert_eq!(plan.stores[0], Store { at: 2, words: vec![Some(40), Some(41), None], data: 0 });
        assert_eq!((plan.stores[1].at, plan.address), (7, 2));
    }

    #[test]
    fn registers_are_whole_runs_that_leave_the_address_alone() {
        let free = |vgpr: u8| (1..4).contains(&vgpr) || (6..12).contains(&vgpr);
        assert_eq!(shape(&[MASK, MASK], free), Some(vec![(2, 3, 6), (7, 2, 2)]));
        // What has been stored makes room if it must, the address does not.
        assert_eq!(shape(&[MASK, MASK], |vgpr| vgpr < 4), Some(vec![(2, 3, 0), (7, 2, 0)]));
        // Fewer at a time, where runs are short.
        let pairs = |vgpr: u8| vgpr < 12 && vgpr % 3 != 2;
        assert_eq!(shape(&[SITE], pairs), Some(vec![(1, 2, 0), (3, 2, 6)]));
        assert_eq!(shape(&[SITE, SITE], |vgpr| vgpr < 2), None);
    }
}
