//! Maps by number that share what they have in common.
//!
//! A data flow keeps one at the start and one at the end of each block, and from one block to the next little
//! changes. So these maps are binary tries of which a change makes only those parts anew that have the number
//! in them, no more than a number has bits, and keeps the others. Parts that two maps share are known to be
//! equal, and are not looked at where these are compared.

use std::ops::Range;

/// A map. The default is the empty one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Trie(u32);

/// A map that is not empty.
#[derive(Clone, Copy, Debug)]
enum Node<V> {
    Leaf(u32, V),
    /// Numbers that differ in `bit`, and are equal in all bits above it: those without it, and those that
    /// have it.
    Fork {
        bit: u8,
        /// One of the numbers, without this bit and those below.
        first: u32,
        halves: [Trie; 2],
    },
}

/// All maps of a function.
#[derive(Debug)]
pub(super) struct Tries<V> {
    /// Of trie n + 1.
    nodes: Vec<Node<V>>,
}

impl<V> Default for Tries<V> {
    fn default() -> Self {
        Self { nodes: Vec::new() }
    }
}

/// A number without a bit and those below it.
const fn above(number: u32, bit: u8) -> u32 {
    number & (u32::MAX << bit) << 1
}

/// Which half of a fork has a number.
const fn half(number: u32, bit: u8) -> usize {
    (number >> bit & 1) as usize
}

impl<V: Copy + Eq> Tries<V> {
    fn node(&self, trie: Trie) -> Option<Node<V>> {
        self.nodes.get((trie.0 as usize).checked_sub(1)?).copied()
    }

    fn trie(&mut self, node: Node<V>) -> Trie {
        self.nodes.push(node);
        Trie(self.nodes.len() as u32)
    }

    /// A fork with other halves: itself, if they are its own.
    fn changed(&mut self, trie: Trie, halves: [Trie; 2]) -> Trie {
        match (self.node(trie), halves) {
            (Some(Node::Fork { halves: own, .. }), _) if halves == own => trie,
            (_, [Trie(0), only] | [only, Trie(0)]) => only,
            (Some(Node::Fork { bit, first, .. }), _) => self.trie(Node::Fork { bit, first, halves }),
            _ => trie,
        }
    }

    /// Whether both maps say the same.
    pub(super) fn equal(&self, a: Trie, b: Trie) -> bool {
        if a == b {
            return true;
        }
        match (self.node(a), self.node(b)) {
            (Some(Node::Leaf(number, value)), Some(Node::Leaf(other, held))) => {
                (number, value) == (other, held)
            }
            (
                Some(Node::Fork { bit, first, halves }),
                Some(Node::Fork { bit: other, first: second, halves: others }),
            ) => {
                (bit, first) == (other, second)
                    && halves.iter().zip(others).all(|(&half, other)| self.equal(half, other))
            }
            _ => false,
        }
    }

    /// Two tries whose numbers differ, of which `a` and `b` are some.
    fn apart(&mut self, (a, left): (u32, Trie), (b, right): (u32, Trie)) -> Trie {
        let bit = (a ^ b).ilog2() as u8;
        let halves = if half(a, bit) == 0 { [left, right] } else { [right, left] };
        self.trie(Node::Fork { bit, first: above(a, bit), halves })
    }

    /// The value of a number.
    pub(super) fn get(&self, trie: Trie, number: u32) -> Option<V> {
        let mut at = trie;
        loop {
            match self.node(at)? {
                Node::Leaf(known, value) => return (known == number).then_some(value),
                Node::Fork { bit, first, .. } if above(number, bit) != first => return None,
                Node::Fork { bit, halves, .. } => at = halves[half(number, bit)],
            }
        }
    }

    /// The map in which a number has this value.
    pub(super) fn with(&mut self, trie: Trie, number: u32, value: V) -> Trie {
        match self.node(trie) {
            None => self.trie(Node::Leaf(number, value)),
            Some(Node::Leaf(known, held)) if (known, held) == (number, value) => trie,
            Some(Node::Leaf(known, _)) if known == number => self.trie(Node::Leaf(number, value)),
            Some(Node::Fork { bit, first, mut halves }) if above(number, bit) == first => {
                let half = &mut halves[half(number, bit)];
                *half = self.with(*half, number, value);
                self.changed(trie, halves)
            }
            Some(Node::Leaf(other, _) | Node::Fork { first: other, .. }) => {
                let leaf = self.trie(Node::Leaf(number, value));
                self.apart((number, leaf), (other, trie))
            }
        }
    }

    /// What both maps say alike: parts of the first, as far as it can be.
    pub(super) fn both(&mut self, a: Trie, b: Trie) -> Trie {
        if a == b {
            return a;
        }
        let (Some(left), Some(right)) = (self.node(a), self.node(b)) else { return Trie::default() };
        match (left, right) {
            (Node::Leaf(number, value), _) => {
                if self.get(b, number) == Some(value) {
                    a
                } else {
                    Trie::default()
                }
            }
            (_, Node::Leaf(..)) => self.both(b, a),
            (Node::Fork { bit, .. }, Node::Fork { bit: other, .. }) if bit < other => self.both(b, a),
            (Node::Fork { bit, first, halves }, Node::Fork { bit: other, first: second, halves: others }) => {
                if bit == other && first == second {
                    let halves = [0, 1].map(|half| self.both(halves[half], others[half]));
                    self.changed(a, halves)
                } else if bit > other && above(second, bit) == first {
                    self.both(halves[half(second, bit)], b)
                } else {
                    Trie::default()
                }
            }
        }
    }

    /// The map without the numbers from `from` on, as many as `count`: a power of two, of which `from` is a
    /// multiple.
    pub(super) fn without(&mut self, trie: Trie, from: u32, count: u32) -> Trie {
        let is_within = |number: u32| number & !(count - 1) == from;
        match self.node(trie) {
            None => trie,
            Some(Node::Leaf(number, _)) => {
                if is_within(number) {
                    Trie::default()
                } else {
                    trie
                }
            }
            Some(Node::Fork { bit, first, mut halves }) => {
                if 1 << bit < count {
                    return if is_within(first) { Trie::default() } else { trie };
                }
                if above(from, bit) != first {
                    return trie;
                }
                let half = &mut halves[half(from, bit)];
                *half = self.without(*half, from, count);
                self.changed(trie, halves)
            }
        }
    }

    /// The numbers from `from` on, as many as `count`, with their values, ascending: as in [`Self::without`].
    pub(super) fn entries(&self, trie: Trie, from: u32, count: u32) -> Vec<(u32, V)> {
        let mut entries = Vec::new();
        let range = from..from + count;
        self.visit(trie, &range, &mut |node| match node {
            Node::Leaf(number, value) => {
                entries.push((number, value));
                false
            }
            Node::Fork { .. } => true,
        });
        entries
    }

    /// The multiples of `size`, a power of two, from which on there are numbers in `range` before the next
    /// multiple, ascending.
    pub(super) fn groups(&self, trie: Trie, range: Range<u32>, size: u32) -> Vec<u32> {
        let mut groups = Vec::new();
        self.visit(trie, &range, &mut |node| match node {
            Node::Fork { bit, .. } if 1 << bit >= size => true,
            Node::Leaf(number, _) | Node::Fork { first: number, .. } => {
                groups.push(number & !(size - 1));
                false
            }
        });
        groups
    }

    /// Shows the parts of a map that have numbers in `range`, the lower first, and those within them where
    /// `look` asks for that.
    fn visit(&self, trie: Trie, range: &Range<u32>, look: &mut impl FnMut(Node<V>) -> bool) {
        let Some(node) = self.node(trie) else { return };
        let (first, last) = match node {
            Node::Leaf(number, _) => (number, number),
            Node::Fork { bit, first, .. } => (first, first | !(u32::MAX << bit << 1)),
        };
        if last < range.start || first >= range.end || !look(node) {
            return;
        }
        if let Node::Fork { halves, .. } = node {
            halves.iter().for_each(|&half| self.visit(half, range, look));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    /// A step that makes a map of those that are there, by place.
    #[derive(Clone, Debug)]
    enum Step {
        With(prop::sample::Index, u32, u8),
        Both(prop::sample::Index, prop::sample::Index),
        Without(prop::sample::Index, u32, u32),
    }

    /// Numbers that share bits at the bottom, and some that differ in the highest.
    fn number() -> impl Strategy<Value = u32> {
        prop_oneof![0u32..40, 240u32..300, (0u32..6).prop_map(|n| u32::MAX - n)]
    }

    fn step() -> impl Strategy<Value = Step> {
        let at = any::<prop::sample::Index>;
        prop_oneof![
            4 => (at(), number(), 0u8..3).prop_map(|(at, number, value)| Step::With(at, number, value)),
            2 => (at(), at()).prop_map(|(a, b)| Step::Both(a, b)),
            1 => (at(), number(), 0u32..9).prop_map(|(at, number, bits)| Step::Without(at, number, 1 << bits)),
        ]
    }

    proptest! {
        /// Tries are the maps that they stand for, however they came about.
        #[test]
        fn tries_are_maps(steps in prop::collection::vec(step(), 1..60)) {
            let mut tries = Tries::default();
            let mut made = vec![(Trie::default(), BTreeMap::new())];
            for step in steps {
                made.push(match step {
                    Step::With(at, number, value) => {
                        let (trie, mut map) = at.get(&made).clone();
                        map.insert(number, value);
                        (tries.with(trie, number, value), map)
                    }
                    Step::Both(a, b) => {
                        let ((a, mut map), (b, other)) = (a.get(&made).clone(), b.get(&made).clone());
                        map.retain(|number, value| other.get(number) == Some(value));
                        (tries.both(a, b), map)
                    }
                    Step::Without(at, number, count) => {
                        let (trie, mut map) = at.get(&made).clone();
                        let from = number & !(count - 1);
                        map.retain(|&number, _| number & !(count - 1) != from);
                        (tries.without(trie, from, count), map)
                    }
                });
            }
            for (trie, map) in &made {
                for number in (0..310).chain(u32::MAX - 9..=u32::MAX) {
                    prop_assert_eq!(tries.get(*trie, number), map.get(&number).copied());
                }
                let low = map.range(..256).map(|(&number, &value)| (number, value));
                prop_assert_eq!(tries.entries(*trie, 0, 256), low.collect::<Vec<_>>());
                let groups: BTreeSet<u32> = map.range(..1024).map(|(number, _)| number & !15).collect();
                prop_assert_eq!(tries.groups(*trie, 0..1024, 16), groups.into_iter().collect::<Vec<_>>());
                for (other, equal) in &made {
                    prop_assert_eq!(tries.equal(*trie, *other), map == equal);
                }
            }
        }
    }

    /// What maps share is not looked at, and not made again: of many that grow by one number each, each costs
    /// as little as the first.
    #[test]
    fn each_of_many_maps_costs_little() {
        let mut tries = Tries::default();
        let mut trie = Trie::default();
        let all: Vec<Trie> = (0..4096)
            .map(|number| {
                trie = tries.with(trie, number, ());
                trie
            })
            .collect();
        assert!(tries.nodes.len() < 4096 * 14, "{} parts", tries.nodes.len());
        let made = tries.nodes.len();
        for pair in all.windows(2) {
            assert_eq!(tries.both(pair[0], pair[1]), pair[0]);
        }
        assert_eq!(tries.nodes.len(), made);
    }
}
