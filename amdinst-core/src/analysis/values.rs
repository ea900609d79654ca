//! Value numbers of lane masks: equal numbers stand for equal values, and the expression behind a number
//! tells which mask is part of which.

use std::cell::Cell;

use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::hash::FACTOR;

/// A value number. Above the lowest two bits, its place in the table; these tell whether it is that value
/// (0), or its low (2) or high (3) half. So halves, which nearly all masks are kept as, need no place of
/// their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Vn(u32);

impl Vn {
    const fn whole(place: usize) -> Self {
        Self((place as u32) << 2)
    }

    /// Another number for each value.
    pub(super) const fn number(self) -> u32 {
        self.0
    }

    const fn place(self) -> usize {
        (self.0 >> 2) as usize
    }

    /// Which half of another value it is, if it is one.
    const fn half_of(self) -> Option<(Self, u8)> {
        match self.0 & 3 {
            0 => None,
            which => Some((Self(self.0 & !3), (which & 1) as u8)),
        }
    }
}

/// How a value came about. The values of the second group are 64 bits wide, those of the first 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Expr {
    Const32(u32),
    /// Low (0) or high (1) half of a 64-bit value.
    Half(Vn, u8),
    /// What a register held at the function's entry.
    Entry(u8),
    /// Result number `.1` of instruction `.0`.
    Opaque(usize, u8),
    /// Joined at the start of block `.0` from paths with different values; `.1` numbers the place.
    Phi(usize, u32),

    Const64(u64),
    Pair(Vn, Vn),
    /// A mask of 32 lanes that no operation on masks made.
    Widened(Vn),
    And(Vn, Vn),
    Or(Vn, Vn),
    Xor(Vn, Vn),
    Not(Vn),
    /// Instruction `.0` takes one of the two, which are 64 or 32 bits wide.
    Select(usize, Vn, Vn),
}

/// The table of all values of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    exprs: Vec<Expr>,
    /// What each is made of in the end.
    parts: Vec<Parts>,
    numbers: FxHashMap<Expr, Vn>,
    /// Searches whether one value is part of another.
    searches: Searches,
}

/// What a value is made of in the end, a bit for each part. Parts can share a bit.
#[derive(Clone, Copy, Debug)]
struct Parts {
    all: u128,
    /// Parts that another value must have to be a subset of this one.
    needed: u128,
}

impl Parts {
    /// Of a value that is not taken apart.
    const fn own(vn: Vn) -> Self {
        let own = 1 << ((vn.place() as u32 + (vn.0 & 3)) % 128);
        Self { all: own, needed: own }
    }

    /// Whether a value of these parts may be found to be a subset of one of those. Most searches would be in
    /// vain.
    const fn may_be_within(self, other: Self) -> bool {
        other.needed & !self.all == 0 && self.all & other.all != 0
    }
}

/// What searches found lately. The same pairs come up again and again, soon one after the other; each has a
/// place that others may take, so that this stays small.
#[derive(Clone, Debug, Default)]
struct Searches {
    /// A power of two of them, or none.
    places: Vec<SearchPlace>,
}

/// A pair, and what was found of it.
type SearchPlace = Cell<Option<(Vn, Vn, Found)>>;

impl Searches {
    /// With places for about so many.
    fn with_capacity(pairs: usize) -> Self {
        Self { places: vec![Cell::new(None); pairs.next_power_of_two()] }
    }

    fn place(&self, a: Vn, b: Vn) -> Option<&SearchPlace> {
        let mixed = (u64::from(a.0) << 32 | u64::from(b.0)).wrapping_mul(FACTOR);
        self.places.get((mixed >> 32) as usize & self.places.len().wrapping_sub(1))
    }

    fn found(&self, a: Vn, b: Vn) -> Option<Found> {
        let (left, right, found) = self.place(a, b)?.get()?;
        ((left, right) == (a, b)).then_some(found)
    }

    fn note(&self, a: Vn, b: Vn, found: Found) {
        if let Some(place) = self.place(a, b) {
            place.set(Some((a, b, found)));
        }
    }
}

/// What a search of two expressions to a depth found.
#[derive(Clone, Copy, Debug)]
struct Found {
    is_subset: bool,
    depth: u8,
}

impl Found {
    /// What a search to `depth` would find, if this one tells: what is found stays found further down.
    fn at(self, depth: u8) -> Option<bool> {
        let tells = if self.is_subset { self.depth <= depth } else { self.depth >= depth };
        tells.then_some(self.is_subset)
    }
}

impl Values {
    /// With room for what about so many instructions make of values.
    pub(super) fn with_capacity(instructions: usize) -> Self {
        let values = 2 * instructions;
        Self {
            // With those that nobody looks for.
            exprs: Vec::with_capacity(2 * values),
            parts: Vec::with_capacity(2 * values),
            numbers: FxHashMap::with_capacity_and_hasher(values, FxBuildHasher),
            searches: Searches::with_capacity(values),
        }
    }

    pub(super) fn expr(&self, vn: Vn) -> Expr {
        match vn.half_of() {
            None => self.exprs[vn.place()],
            Some((whole, which)) => Expr::Half(whole, which),
        }
    }

    /// The number of a value that is no half of another.
    pub(super) fn number(&mut self, expr: Expr) -> Vn {
        let next = Vn::whole(self.exprs.len());
        let known = *self.numbers.entry(expr).or_insert(next);
        if known == next { self.new_number(expr) } else { known }
    }

    /// The number of a value that was not there before, and that nobody looks for: whoever asks for it keeps
    /// it.
    pub(super) fn new_number(&mut self, expr: Expr) -> Vn {
        let next = Vn::whole(self.exprs.len());
        self.exprs.push(expr);
        self.parts.push(self.parts_of(next, expr));
        next
    }

    fn parts(&self, vn: Vn) -> Parts {
        if vn.half_of().is_some() { Parts::own(vn) } else { self.parts[vn.place()] }
    }

    fn parts_of(&self, vn: Vn, expr: Expr) -> Parts {
        match expr {
            Expr::And(a, b) | Expr::Or(a, b) | Expr::Xor(a, b) | Expr::Select(_, a, b) => {
                let (a, b) = (self.parts(a), self.parts(b));
                let all = a.all | b.all;
                let needed = match expr {
                    Expr::Or(..) => a.needed & b.needed,
                    // It is never taken apart.
                    Expr::Xor(..) => all,
                    _ => a.needed | b.needed,
                };
                Parts { all, needed }
            }
            // The mask of no lane is part of every other, and every other is part of that of all.
            Expr::Const64(_) => Parts { all: u128::MAX, needed: 0 },
            _ => Parts::own(vn),
        }
    }

    pub(super) fn const64(&mut self, value: u64) -> Vn {
        self.number(Expr::Const64(value))
    }

    /// The low (0) or high (1) half of a 64-bit value.
    pub(super) fn half(&mut self, vn: Vn, which: u8) -> Vn {
        match self.expr(vn) {
            Expr::Const64(value) => self.number(Expr::Const32((value >> (32 * which)) as u32)),
            Expr::Pair(low, high) => [low, high][usize::from(which)],
            Expr::Widened(low) if which == 0 => low,
            _ => Vn(vn.0 | 2 | u32::from(which)),
        }
    }

    /// The 64-bit value of two halves.
    pub(super) fn pair(&mut self, low: Vn, high: Vn) -> Vn {
        // Most pairs are: this tells it soonest.
        if let (Some((whole, 0)), Some((other, 1))) = (low.half_of(), high.half_of())
            && whole == other
        {
            return whole;
        }
        match (self.expr(low), self.expr(high)) {
            (Expr::Const32(a), Expr::Const32(b)) => self.const64(u64::from(b) << 32 | u64::from(a)),
            _ => self.number(Expr::Pair(low, high)),
        }
    }

    /// The mask that one register holds, of a wave of 32 lanes.
    ///
    /// All masks are values of 64 bits here. Such a one stands for its low half, with bit 31 in all bits
    /// above: what operations on masks make of such masks is such a mask again, and one of them is part of
    /// another if that is so of the halves.
    pub(super) fn widened(&mut self, half: Vn) -> Vn {
        match (half.half_of(), self.expr(half)) {
            (Some((mask, 0)), _) => mask,
            (_, Expr::Const32(value)) => self.const64(i64::from(value as i32) as u64),
            _ => self.number(Expr::Widened(half)),
        }
    }

    pub(super) fn and(&mut self, a: Vn, b: Vn) -> Vn {
        match (self.expr(a), self.expr(b)) {
            (Expr::Const64(x), Expr::Const64(y)) => self.const64(x & y),
            _ if self.is_subset(a, b) => a,
            _ if self.is_subset(b, a) => b,
            _ => self.number(Expr::And(a.min(b), a.max(b))),
        }
    }

    /// What of `a` is not in `b`.
    pub(super) fn and_not(&mut self, a: Vn, b: Vn) -> Vn {
        let rest = self.not(b);
        self.and(a, rest)
    }

    pub(super) fn or(&mut self, a: Vn, b: Vn) -> Vn {
        match (self.expr(a), self.expr(b)) {
            (Expr::Const64(x), Expr::Const64(y)) => self.const64(x | y),
            _ if self.is_subset(a, b) => b,
            _ if self.is_subset(b, a) => a,
            _ => self.number(Expr::Or(a.min(b), a.max(b))),
        }
    }

    /// `a`, and what is not in `b`.
    pub(super) fn or_not(&mut self, a: Vn, b: Vn) -> Vn {
        let rest = self.not(b);
        self.or(a, rest)
    }

    pub(super) fn xor(&mut self, a: Vn, b: Vn) -> Vn {
        match (self.expr(a), self.expr(b)) {
            (Expr::Const64(x), Expr::Const64(y)) => self.const64(x ^ y),
            (Expr::Const64(u64::MAX), _) => self.not(b),
            (_, Expr::Const64(u64::MAX)) => self.not(a),
            _ if a == b => self.const64(0),
            _ => self.number(Expr::Xor(a.min(b), a.max(b))),
        }
    }

    pub(super) fn not(&mut self, a: Vn) -> Vn {
        match self.expr(a) {
            Expr::Const64(x) => self.const64(!x),
            Expr::Not(x) => x,
            _ => self.number(Expr::Not(a)),
        }
    }

    /// Whether `a` is known to have no lane that `b` has not.
    pub(super) fn is_subset(&self, a: Vn, b: Vn) -> bool {
        self.subset(a, b, 8)
    }

    fn subset(&self, a: Vn, b: Vn, depth: u8) -> bool {
        if a == b {
            return true;
        }
        // Of most pairs this tells, and it is soon asked.
        if !self.parts(a).may_be_within(self.parts(b)) {
            return false;
        }
        let (left, right) = (self.expr(a), self.expr(b));
        match (left, right) {
            (Expr::Const64(0), _) | (_, Expr::Const64(u64::MAX)) => return true,
            (Expr::Const64(x), Expr::Const64(y)) => return x & !y == 0,
            _ if depth == 0 => return false,
            // These are part of themselves alone, and of what was made of them, which has a higher number.
            (_, Expr::Opaque(..) | Expr::Phi(..) | Expr::Entry(_) | Expr::Half(..)) if b > a => return false,
            _ => {}
        }
        // Those near the bottom are sooner done than found.
        if depth < 4 {
            return self.part_is_subset((a, left), (b, right), depth);
        }
        if let Some(known) = self.searches.found(a, b).and_then(|found| found.at(depth)) {
            return known;
        }
        let is_subset = self.part_is_subset((a, left), (b, right), depth);
        self.searches.note(a, b, Found { is_subset, depth });
        is_subset
    }

    /// Whether what one of two values is made of tells that the first is part of the second.
    fn part_is_subset(&self, (a, left): (Vn, Expr), (b, right): (Vn, Expr), depth: u8) -> bool {
        let within_left = match left {
            Expr::And(x, y) => self.subset(x, b, depth - 1) || self.subset(y, b, depth - 1),
            Expr::Or(x, y) | Expr::Xor(x, y) | Expr::Select(_, x, y) => {
                self.subset(x, b, depth - 1) && self.subset(y, b, depth - 1)
            }
            _ => false,
        };
        within_left
            || match right {
                Expr::And(x, y) | Expr::Select(_, x, y) => {
                    self.subset(a, x, depth - 1) && self.subset(a, y, depth - 1)
                }
                Expr::Or(x, y) => self.subset(a, x, depth - 1) || self.subset(a, y, depth - 1),
                _ => false,
            }
    }

    /// The value that instruction `inst` selects from two, by a condition.
    pub(super) fn select(&mut self, inst: usize, a: Vn, b: Vn) -> Vn {
        if a == b { a } else { self.number(Expr::Select(inst, a, b)) }
    }

    /// The values that the expression of `vn` mentions, a few levels deep, itself among them.
    pub(super) fn mentioned(&self, vn: Vn, depth: u32) -> Vec<Vn> {
        let mut all = vec![vn];
        let mut level = 0..1;
        for _ in 0..depth {
            for at in level.clone() {
                match self.expr(all[at]) {
                    Expr::And(a, b) | Expr::Or(a, b) | Expr::Xor(a, b) => all.extend([a, b]),
                    Expr::Not(a) => all.push(a),
                    _ => {}
                }
            }
            level = level.end..all.len();
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_joined_mask_is_the_saved_one_again() {
        let mut values = Values::default();
        let old = values.number(Expr::Opaque(0, 0));
        let condition = values.number(Expr::Opaque(1, 0));
        let new = values.and(old, condition);
        assert!(values.is_subset(new, old) && !values.is_subset(old, new));
        assert_eq!(values.or(new, old), old);
        let (low, high) = (values.half(old, 0), values.half(old, 1));
        assert_eq!(values.pair(low, high), old);
        let flipped = values.xor(new, old);
        assert!(values.is_subset(flipped, old));
    }

    /// Evaluates a value with the leaves `Opaque(n, _)` set to `leaves[n]`.
    fn evaluate(values: &Values, vn: Vn, leaves: &[u64]) -> u64 {
        match values.expr(vn) {
            Expr::Const64(value) => value,
            Expr::Opaque(n, _) => leaves[n],
            Expr::And(a, b) => evaluate(values, a, leaves) & evaluate(values, b, leaves),
            Expr::Or(a, b) => evaluate(values, a, leaves) | evaluate(values, b, leaves),
            Expr::Xor(a, b) => evaluate(values, a, leaves) ^ evaluate(values, b, leaves),
            Expr::Not(a) => !evaluate(values, a, leaves),
            // Instruction 0 takes the first, instruction 1 the second.
            Expr::Select(inst, a, b) => evaluate(values, [a, b][inst], leaves),
            _ => unreachable!("only masks are built here"),
        }
    }

    /// [`Values::is_subset`] by its rules alone, looked for wherever they lead.
    fn searched(values: &Values, a: Vn, b: Vn, depth: u32) -> bool {
        let (left, right) = (values.expr(a), values.expr(b));
        if let (Expr::Const64(x), Expr::Const64(y)) = (left, right) {
            return x & !y == 0;
        }
        let always = a == b || left == Expr::Const64(0) || right == Expr::Const64(u64::MAX);
        let Some(depth) = depth.checked_sub(1).filter(|_| !always) else { return always };
        let within_left = match left {
            Expr::And(x, y) => searched(values, x, b, depth) || searched(values, y, b, depth),
            Expr::Or(x, y) | Expr::Xor(x, y) | Expr::Select(_, x, y) => {
                searched(values, x, b, depth) && searched(values, y, b, depth)
            }
            _ => false,
        };
        within_left
            || match right {
                Expr::And(x, y) | Expr::Select(_, x, y) => {
                    searched(values, a, x, depth) && searched(values, a, y, depth)
                }
                Expr::Or(x, y) => searched(values, a, x, depth) || searched(values, a, y, depth),
                _ => false,
            }
    }

    proptest! {
        /// Whatever is built and simplified means what it says, a claimed subset is one, and none is missed
        /// that was looked for.
        #[test]
        fn simplification_keeps_values(
            steps in prop::collection::vec((0u8..6, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..20),
            leaves in prop::array::uniform3(any::<u64>()),
        ) {
            let mut values = Values::default();
            let mut known: Vec<(Vn, u64)> = (0..3).map(|n| (values.number(Expr::Opaque(n, 0)), leaves[n])).collect();
            known.push((values.const64(u64::MAX), u64::MAX));
            for (operation, a, b) in steps {
                let ((a, x), (b, y)) = (*a.get(&known), *b.get(&known));
                known.push(match operation {
                    0 => (values.and(a, b), x & y),
                    1 => (values.or(a, b), x | y),
                    2 => (values.xor(a, b), x ^ y),
                    3 => (values.not(a), !x),
                    take => (values.select(usize::from(take) - 4, a, b), [x, y][usize::from(take) - 4]),
                });
            }
            for &(a, x) in &known {
                prop_assert_eq!(evaluate(&values, a, &leaves), x);
                for &(b, y) in &known {
                    let found = values.is_subset(a, b);
                    prop_assert!(!found || x & !y == 0);
                    // Less deep: this search is a slow one.
                    prop_assert_eq!(values.subset(a, b, 4), searched(&values, a, b, 4));
                }
            }
        }
    }
}
