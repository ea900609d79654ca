//! Bandwidth: a resource that serves so many bytes a cycle, to requests that arrive out of order.
//!
//! Time is cut into windows of a fixed length, each of a fixed capacity. A request takes what it needs from the first
//! windows that have room, from the time of its arrival on. A plain "next free" time would make a request that arrives
//! early wait for one that was seen before it and arrives late.

use std::collections::VecDeque;

/// Cycles a window.
const WINDOW: u64 = 16;

/// A resource's future.
#[derive(Clone, Debug)]
pub(super) struct Calendar {
    /// Units that a window serves.
    capacity: f64,
    /// What is taken of the windows from `first` on.
    taken: VecDeque<f64>,
    /// Number of the first window that is kept.
    first: u64,
    /// No window before this one has room.
    open: u64,
}

impl Calendar {
    /// A resource that serves so many units (bytes, or whatever requests are counted in) a cycle.
    pub(super) fn new(per_cycle: f64) -> Self {
        Self { capacity: per_cycle * WINDOW as f64, taken: VecDeque::new(), first: 0, open: 0 }
    }

    /// Serve so many units that arrive at a time; returns when the last of them is served.
    pub(super) fn serve(&mut self, arrival: u64, units: f64) -> u64 {
        let mut window = (arrival / WINDOW).max(self.open);
        let mut left = units;
        loop {
            let index = (window - self.first) as usize;
            if index >= self.taken.len() {
                self.taken.resize(index + 1, 0.0);
            }
            let taken = &mut self.taken[index];
            let share = left.min(self.capacity - *taken);
            *taken += share;
            left -= share;
            let served = window * WINDOW + (*taken / self.capacity * WINDOW as f64) as u64;
            if left <= 1e-9 {
                // No sooner than it takes to serve it.
                return served.max(arrival);
            }
            if window == self.open {
                self.open += 1;
            }
            window += 1;
        }
    }

    /// Forget what lies before a time: no request will arrive there.
    pub(super) fn forget(&mut self, now: u64) {
        let keep = now / WINDOW;
        while self.first < keep && !self.taken.is_empty() {
            self.taken.pop_front();
            self.first += 1;
        }
        if self.taken.is_empty() {
            self.first = self.first.max(keep);
        }
        self.open = self.open.max(self.first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_served_at_the_rate() {
        let mut calendar = Calendar::new(64.0);
        let end = (0..1000).map(|_| calendar.serve(100, 128.0)).max().unwrap();
        assert!((2096..=2116).contains(&end), "{end}");
    }

    #[test]
    fn early_requests_do_not_wait_for_late_ones() {
        let mut calendar = Calendar::new(1.0);
        assert!(calendar.serve(10_000, 8.0) >= 10_000);
        assert!(calendar.serve(100, 8.0) < 130);
        calendar.forget(5_000);
        assert!(calendar.serve(5_000, 8.0) < 5_030);
    }
}
