//! SGPRs for one site, handed out one after the other.

use amdgpu_isa::{LAST_SGPR, ScalarSet, scalar};
use arrayvec::ArrayVec;

use super::layout::{MOST_BORROWED, Temps};
use super::needs::Needs;

/// A set of SGPRs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sgprs(u128);

impl Sgprs {
    const EVEN: u128 = u128::MAX / 3;

    /// The SGPRs that a program may use.
    pub(crate) fn of(set: ScalarSet) -> Self {
        Self(set.bits() & ((1 << (LAST_SGPR + 1)) - 1))
    }

    pub(crate) const fn with(self, register: u8) -> Self {
        Self(self.0 | 1 << register)
    }

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    fn lowest(self) -> Option<u8> {
        (self.0 != 0).then(|| self.0.trailing_zeros() as u8)
    }

    /// The first registers of all even pairs.
    const fn pairs(self) -> u128 {
        self.0 & self.0 >> 1 & Self::EVEN
    }

    /// The lowest even pair.
    fn pair(self) -> Option<u8> {
        Self(self.pairs()).lowest()
    }

    /// A register, if possible one that leaves no pair broken.
    fn single(self) -> Option<u8> {
        let partners = (self.0 & Self::EVEN) << 1 | self.0 >> 1 & Self::EVEN;
        Self(self.0 & !partners).lowest().or_else(|| self.lowest())
    }
}

/// Registers to hand out: first such as are free, then such as must be given back as they were, those that
/// loads write to last of all.
pub(crate) struct Pool {
    pub(crate) free: Sgprs,
    pub(crate) borrowable: Sgprs,
    pub(crate) late: Sgprs,
    /// What else is free where nothing can be borrowed yet.
    pub(crate) beside: Beside,
    pub(crate) borrowed: ArrayVec<u8, MOST_BORROWED>,
}

/// Scalar registers that are no SGPRs by their numbers, and dead at a site.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Beside {
    /// VCC: it can have EXEC.
    pub(crate) vcc: bool,
    /// M0: it can keep an SGPR's value.
    pub(crate) m0: bool,
}

impl Pool {
    pub(crate) fn of_free(free: Sgprs) -> Self {
        let none = Sgprs::default();
        Self { free, borrowable: none, late: none, beside: Beside::default(), borrowed: ArrayVec::new() }
    }

    /// A pair that is free.
    fn free_pair(&mut self) -> Option<u8> {
        let pair = self.free.pair()?;
        self.take(pair, 2);
        Some(pair)
    }

    fn pair(&mut self) -> Option<u8> {
        self.free_pair().or_else(|| {
            let pair = self.free.or(self.borrowable).or(self.late).pair()?;
            self.take(pair, 2);
            Some(pair)
        })
    }

    /// A register that is free.
    fn free_single(&mut self) -> Option<u8> {
        let single = self.free.single()?;
        self.take(single, 1);
        Some(single)
    }

    fn single(&mut self) -> Option<u8> {
        let borrowed = || self.borrowable.lowest().or_else(|| self.late.lowest());
        let single = self.free.single().or_else(borrowed)?;
        self.take(single, 1);
        Some(single)
    }

    /// A register in use, of which M0 keeps the value: nothing can be spilled before scratch memory is
    /// reached.
    fn beside_m0(&mut self) -> Option<u8> {
        let register = self.borrowable.lowest().filter(|_| self.beside.m0)?;
        self.borrowable = self.borrowable.without(Sgprs::default().with(register));
        Some(register)
    }

    /// Takes so many registers from the first one on.
    fn take(&mut self, first: u8, count: u8) {
        let taken = Sgprs(((1 << count) - 1) << first);
        let borrowed = self.borrowable.or(self.late).and(taken);
        if borrowed != Sgprs::default() {
            self.borrowed.extend((first..first + count).filter(|&register| borrowed.0 >> register & 1 != 0));
        }
        self.free = self.free.without(taken);
        self.borrowable = self.borrowable.without(taken);
        self.late = self.late.without(taken);
    }
}

/// Takes the lowest even pair out of an ascending list.
pub(crate) fn take_pair(free: &mut Vec<u8>) -> Option<u8> {
    let at = free.windows(2).position(|pair| pair[0] % 2 == 0 && pair[1] == pair[0] + 1)?;
    let first = free[at];
    free.drain(at..at + 2);
    Some(first)
}

/// Whether these registers, all free, serve a site's needs: whether [`temps`] finds some, in less time.
pub(crate) fn serves(needs: Needs, free: Sgprs) -> bool {
    let Needs { old, pair, singles, scc, record, lanes, address, .. } = needs;
    if address {
        // It may break a pair before all pairs are taken.
        return temps(needs, Pool::of_free(free)).is_some();
    }
    let pairs = u32::from(old) + u32::from(pair) + u32::from(record);
    let singles = u32::from(singles) + u32::from(scc) + u32::from(lanes);
    let mut left = free.pairs();
    for _ in 0..pairs {
        if left == 0 {
            return false;
        }
        left &= left - 1;
    }
    free.0.count_ones() >= 2 * pairs + singles
}

/// Serves a site's needs.
pub(crate) fn temps(needs: Needs, mut pool: Pool) -> Option<Temps> {
    let mut temps = Temps::default();
    if needs.pair && needs.pair_at_once {
        let vcc = pool.beside.vcc.then_some(scalar::VCC);
        temps.pair = Some(pool.free_pair().or(vcc)?);
    }
    if needs.address {
        temps.address = pool.free_single();
        if temps.address.is_none() {
            temps.address = Some(pool.beside_m0()?);
            temps.m0_keeps_address = true;
        }
    }
    if needs.old {
        temps.old = Some(pool.pair()?);
    }
    if needs.pair && !needs.pair_at_once {
        temps.pair = Some(pool.pair()?);
    }
    if needs.record {
        temps.record = Some(pool.pair()?);
    }
    for single in temps.singles.iter_mut().take(needs.singles.into()) {
        *single = Some(pool.single()?);
    }
    if needs.scc {
        temps.scc = Some(pool.single()?);
    }
    for lane in temps.lanes.iter_mut().take(needs.lanes.into()) {
        *lane = Some(pool.single()?);
    }
    temps.borrowed = pool.borrowed;
    Some(temps)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pairs_and_singles_are_what_they_are_called(bits in any::<u128>(), thin in any::<u128>()) {
            let set = Sgprs(bits & thin);
            let has = |register: u8| set.0 >> register & 1 != 0;
            prop_assert_eq!(set.pair(), (0..128).step_by(2).find(|&first| has(first) && has(first + 1)));
            let lonely = (0..128).find(|&register| has(register) && !has(register ^ 1));
            prop_assert_eq!(set.single(), lonely.or((0..128).find(|&register| has(register))));
        }

        #[test]
        fn needs_are_served_where_they_are_said_to_be(
            bits in any::<u128>(), thin in any::<[u128; 3]>(), flags in any::<[bool; 5]>(),
            singles in 0u8..4, lanes in 0u8..3,
        ) {
            let [old, pair, scc, record, address] = flags;
            let needs = Needs { old, pair, singles, scc, record, lanes, pair_at_once: false, address };
            let free = Sgprs(thin.iter().fold(bits, |bits, thin| bits & thin & ((1 << 102) - 1)));
            prop_assert_eq!(serves(needs, free), temps(needs, Pool::of_free(free)).is_some());
        }
    }

    #[test]
    fn what_is_free_goes_first_and_what_loads_write_to_last() {
        let set =
            |registers: &[u8]| registers.iter().fold(Sgprs::default(), |all, &register| all.with(register));
        let mut pool = Pool::of_free(set(&[4]));
        (pool.borrowable, pool.late) = (set(&[9]), set(&[2, 5]));
        assert_eq!([pool.single(), pool.single(), pool.single()], [Some(4), Some(9), Some(2)]);
        assert_eq!(pool.borrowed[..], [9, 2]);
        let mut pool = Pool::of_free(set(&[4]));
        (pool.borrowable, pool.late) = (set(&[9]), set(&[2, 5]));
        assert_eq!((pool.pair(), pool.pair()), (Some(4), None));
        assert_eq!(pool.borrowed[..], [5]);
    }
}
