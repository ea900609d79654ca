//! A wave on the host.

use super::LaneMask;

/// What each lane of a wave holds; `None` of a lane that is inactive. Its functions give what those of
/// [`wave`](super) of the same names give in the active lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lanes<T>(Vec<Option<T>>);

impl<T, I: IntoIterator<Item = T>> From<I> for Lanes<T> {
    fn from(values: I) -> Self {
        Self(values.into_iter().map(Some).collect())
    }
}

impl<T: Copy> Lanes<T> {
    /// A wave of which some lanes are inactive.
    pub fn some(values: impl IntoIterator<Item = Option<T>>) -> Self {
        Self(values.into_iter().collect())
    }

    /// What `of` gives for each active lane's number and value.
    fn active<U>(&self, of: impl Fn(usize, T) -> U) -> Vec<U> {
        (0..).zip(&self.0).filter_map(|(lane, value)| value.map(|value| of(lane, value))).collect()
    }

    fn other_or_own(&self, lane: impl Fn(usize) -> Option<usize>) -> Vec<T> {
        self.active(|own, value| {
            let other = lane(own).and_then(|lane| self.0.get(lane).copied().flatten());
            other.unwrap_or(value)
        })
    }

    /// What [`shuffle`](super::shuffle) gives for lanes that ask for active ones.
    pub fn shuffle(&self, lane: impl Fn(usize) -> usize) -> Vec<T> {
        self.other_or_own(|own| Some(lane(own)))
    }

    /// What [`shuffle_xor`](super::shuffle_xor) gives.
    pub fn shuffle_xor(&self, mask: usize) -> Vec<T> {
        self.other_or_own(|own| Some(own ^ mask))
    }

    /// What [`shuffle_up`](super::shuffle_up) gives.
    pub fn shuffle_up(&self, by: usize) -> Vec<T> {
        self.other_or_own(|own| own.checked_sub(by))
    }

    /// What [`shuffle_down`](super::shuffle_down) gives.
    pub fn shuffle_down(&self, by: usize) -> Vec<T> {
        self.other_or_own(|own| own.checked_add(by))
    }

    /// What [`reduce`](super::reduce) gives: in the order of the device, if all lanes are active and there
    /// are a power of two of them.
    ///
    /// # Panics
    /// When no lane is active.
    pub fn reduce(&self, operation: impl Fn(T, T) -> T) -> T {
        let mut values = self.active(|_, value| value);
        assert!(!values.is_empty(), "no lane is active");
        if values.len() < self.0.len() || !values.len().is_power_of_two() {
            let first = values.remove(0);
            return values.into_iter().fold(first, operation);
        }
        while values.len() > 1 {
            values = values.chunks(2).map(|pair| operation(pair[0], pair[1])).collect();
        }
        values[0]
    }

    /// What [`scan`](super::scan) gives, where the order of operations makes no difference.
    pub fn scan(&self, operation: impl Fn(T, T) -> T) -> Vec<T> {
        let mut sum = None;
        let values = self.active(|_, value| value).into_iter();
        values
            .map(|value| {
                let next = sum.map_or(value, |sum| operation(sum, value));
                sum = Some(next);
                next
            })
            .collect()
    }

    /// What [`scan_exclusive`](super::scan_exclusive) gives, where the order of operations makes no
    /// difference.
    pub fn scan_exclusive(&self, nothing: T, operation: impl Fn(T, T) -> T) -> Vec<T> {
        let mut sums = self.scan(operation);
        sums.pop();
        sums.insert(0, nothing);
        sums
    }

    /// What [`ballot`](super::ballot) gives.
    pub fn ballot(&self, condition: impl Fn(&T) -> bool) -> LaneMask {
        let set = (0..).zip(&self.0).filter(|(_, value)| value.as_ref().is_some_and(&condition));
        LaneMask::from_bits(set.fold(0, |bits, (lane, _)| bits | 1 << lane))
    }

    /// What [`any`](super::any) gives.
    pub fn any(&self, condition: impl Fn(&T) -> bool) -> bool {
        !self.ballot(condition).is_empty()
    }

    /// What [`all`](super::all) gives.
    pub fn all(&self, condition: impl Fn(&T) -> bool) -> bool {
        self.ballot(|value| !condition(value)).is_empty()
    }
}
