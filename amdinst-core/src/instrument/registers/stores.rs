//! How one lane writes a packed record: which words at a time, and the VGPRs that have them.
//!
//! Up to four words are stored at a time, from VGPRs that cost no occupancy and that no load may still write
//! to. If these are too few, one VGPR has the counters as lanes, and the record is not packed.

use super::layout::{CounterPlace, SgprCounters};
use crate::counters::{Packing, SiteWords};

/// The stores that write a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stores {
    /// The VGPR with the record's offset, which is one of the first store's words, too.
    pub(crate) address: u8,
    pub(crate) stores: Vec<Store>,
}

/// One store of a packed record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Store {
    /// Word of the record that the first goes to.
    pub(crate) at: u32,
    /// SGPRs with its one to four words; none for the offset.
    pub(crate) words: Vec<Option<u8>>,
    /// The first VGPR, an even one, for the first word.
    pub(crate) data: u8,
}

/// Words of a record and where they are.
type Words = Vec<(u32, Option<u8>)>;

impl Stores {
    /// The stores of a packed record of counters in these places, in VGPRs of which some are free. `None` if
    /// too few are, or if counters are not in SGPRs.
    pub(crate) fn plan(places: &[CounterPlace], free: impl Fn(u8) -> bool) -> Option<Self> {
        let words = words(places)?;
        [4, 3, 2].into_iter().find_map(|most| Self::of_words(&words, most, &free))
    }

    /// The stores of these words, at most `most` words at a time.
    fn of_words(words: &[(u32, Option<u8>)], most: usize, free: impl Fn(u8) -> bool) -> Option<Self> {
        let mut chunks = chunks(words, most);
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
            // What is stored is read a little later, so the next store has other registers, where there are
            // any.
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

/// Words in chunks of so many at most. None is left alone behind others: a store of one word takes as long as
/// one of four.
fn chunks(words: &[(u32, Option<u8>)], most: usize) -> Vec<&[(u32, Option<u8>)]> {
    match words.len() % most {
        1 if most == 4 && words.len() > most => {
            let (whole, last) = words.split_at(words.len() - 5);
            whole.chunks(most).chain([&last[..2], &last[2..]]).collect()
        }
        _ => words.chunks(most).collect(),
    }
}

/// What a packed record has of sites with counters in these places; `None` where a counter is not in SGPRs.
pub(crate) fn packing(places: &[CounterPlace]) -> Option<Packing> {
    let sites: Option<Vec<SiteWords>> = places.iter().map(site_words).collect();
    Some(Packing::new(sites?.into_iter()))
}

fn site_words(place: &CounterPlace) -> Option<SiteWords> {
    match place {
        CounterPlace::Sgprs(counters) => Some(SiteWords::Counts { lanes: counters.lanes.is_some() }),
        CounterPlace::Masks { old, .. } => Some(SiteWords::Masks { old: old.is_some() }),
        _ => None,
    }
}

/// The words of a record, in order; `None` where a counter is not in SGPRs.
fn words(places: &[CounterPlace]) -> Option<Words> {
    let packing = packing(places)?;
    let mut words: Words = vec![(packing.place, None)];
    for (first, place) in packing.first.into_iter().zip(places) {
        match *place {
            CounterPlace::Sgprs(SgprCounters { executions, all, none, lanes }) => {
                let counters = [executions, all, none].into_iter().chain(lanes.into_iter().flatten());
                words.extend((first..).zip(counters.map(Some)));
            }
            CounterPlace::Masks { new, old } => {
                let masks = [Some(new), old].into_iter().flatten();
                words.extend((first..).zip(masks.flat_map(|pair| [Some(pair), Some(pair + 1)])));
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
        CounterPlace::Sgprs(SgprCounters { executions: 30, all: 31, none: 32, lanes: None });
    const MASK: CounterPlace = CounterPlace::Masks { new: 40, old: None };
    const BOTH: CounterPlace = CounterPlace::Masks { new: 42, old: Some(44) };

    fn shape(places: &[CounterPlace], free: impl Fn(u8) -> bool) -> Option<Vec<(u32, usize, u8)>> {
        let stores = Stores::plan(places, free)?.stores;
        Some(stores.iter().map(|store| (store.at, store.words.len(), store.data)).collect())
    }

    #[test]
    fn records_are_stored_four_words_at_a_time() {
        let plan = Stores::plan(&[SITE], |_| true).unwrap();
        assert_eq!(plan.stores, [Store { at: 0, words: vec![Some(30), Some(31), Some(32), None], data: 0 }]);
        assert_eq!(plan.address, 3);
        // The place, which comes last, goes first.
        assert_eq!(shape(&[SITE, SITE], |_| true), Some(vec![(4, 3, 0), (0, 4, 4)]));
        // Masks come before counts.
        let plan = Stores::plan(&[SITE, BOTH, MASK], |_| true).unwrap();
        assert_eq!(plan.stores[0], Store { at: 8, words: vec![Some(32), None], data: 0 });
        let words = [42, 43, 44, 45, 40, 41, 30, 31].map(Some);
        assert_eq!(plan.stores[1..].iter().map(|store| &store.words[..]).collect::<Vec<_>>().concat(), words);
        assert_eq!(plan.address, 1);
    }

    #[test]
    fn registers_are_whole_runs_that_leave_the_address_alone() {
        let free = |vgpr: u8| (1..4).contains(&vgpr) || (6..12).contains(&vgpr);
        assert_eq!(shape(&[MASK, MASK], free), Some(vec![(2, 3, 6), (0, 2, 2)]));
        // What has been stored makes room if it must, the address does not.
        assert_eq!(shape(&[MASK, MASK, MASK], |vgpr| vgpr < 8), Some(vec![(4, 3, 0), (0, 4, 4)]));
        // Fewer at a time, where runs are short.
        assert_eq!(shape(&[MASK, MASK, MASK], |vgpr| vgpr < 7), Some(vec![(6, 1, 0), (0, 3, 2), (3, 3, 2)]));
        let pairs = |vgpr: u8| vgpr < 12 && vgpr % 3 != 2;
        assert_eq!(shape(&[SITE], pairs), Some(vec![(2, 2, 0), (0, 2, 6)]));
        assert_eq!(shape(&[SITE, SITE], |vgpr| vgpr < 2), None);
    }
}
