//! Which masks are known to have some lane, on the way to a point.
//!
//! A branch on EXEC adds a mask to what was known before it, and where paths meet again, most of what each of them had is the
//! same. So these sets are chains that share what is behind their last mask, and the same chain is made only once.

use rustc_hash::FxHashMap;

use crate::analysis::values::Vn;

/// A set of masks. The default is the empty one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Chain(u32);

/// A set with more in it than another.
#[derive(Debug)]
struct Link {
    value: Vn,
    rest: Chain,
    length: u32,
}

/// All sets of a function.
#[derive(Debug, Default)]
pub(super) struct Chains {
    /// Of chain n + 1.
    links: Vec<Link>,
    known: FxHashMap<(Chain, Vn), Chain>,
}

impl Chains {
    fn link(&self, chain: Chain) -> Option<&Link> {
        self.links.get((chain.0 as usize).checked_sub(1)?)
    }

    fn length(&self, chain: Chain) -> u32 {
        self.link(chain).map_or(0, |link| link.length)
    }

    fn rest(&self, chain: Chain) -> Chain {
        self.link(chain).map(|link| link.rest).unwrap_or_default()
    }

    /// The values of a chain, those that were added last first.
    fn values(&self, chain: Chain) -> impl Iterator<Item = Vn> {
        let mut at = chain;
        std::iter::from_fn(move || {
            let link = self.link(at)?;
            at = link.rest;
            Some(link.value)
        })
    }

    pub(super) fn contains(&self, chain: Chain, value: Vn) -> bool {
        self.values(chain).any(|known| known == value)
    }

    /// The set with a further value.
    pub(super) fn with(&mut self, chain: Chain, value: Vn) -> Chain {
        if let Some(&known) = self.known.get(&(chain, value)) {
            return known;
        }
        let longer = if self.contains(chain, value) {
            chain
        } else {
            let length = self.length(chain) + 1;
            self.links.push(Link { value, rest: chain, length });
            Chain(self.links.len() as u32)
        };
        self.known.insert((chain, value), longer);
        longer
    }

    /// The values that both sets have.
    pub(super) fn both(&mut self, a: Chain, b: Chain) -> Chain {
        let (mut common, mut other) = (a, b);
        while common != other {
            if self.length(common) >= self.length(other) {
                common = self.rest(common);
            } else {
                other = self.rest(other);
            }
        }
        let own = (self.length(a) - self.length(common)) as usize;
        let shared: Vec<Vn> = self.values(a).take(own).filter(|&value| self.contains(b, value)).collect();
        shared.into_iter().rev().fold(common, |chain, value| self.with(chain, value))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::analysis::values::{Expr, Values};

    proptest! {
        /// Chains are sets, however they came about.
        #[test]
        fn chains_are_sets(steps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0usize..12), 1..30)) {
            let mut values = Values::default();
            let values: Vec<Vn> = (0..9).map(|n| values.number(Expr::Opaque(n, 0))).collect();
            let mut chains = Chains::default();
            let mut made = vec![(Chain::default(), BTreeSet::new())];
            for (a, b, value) in steps {
                let ((a, in_a), (b, in_b)) = (a.get(&made).clone(), b.get(&made).clone());
                made.push(match values.get(value) {
                    Some(&value) => (chains.with(a, value), in_a.into_iter().chain([value]).collect()),
                    None => (chains.both(a, b), in_a.intersection(&in_b).copied().collect()),
                });
            }
            for (chain, set) in made {
                prop_assert_eq!(chains.values(chain).collect::<BTreeSet<_>>(), set.clone());
                prop_assert_eq!(chains.length(chain) as usize, set.len());
                for &value in &values {
                    prop_assert_eq!(chains.contains(chain, value), set.contains(&value));
                }
            }
        }
    }
}
