//! Bandwidth: a resource that serves so many bytes a cycle, to requests that arrive out of order.
//!
//! Time is cut into windows of a fixed length, each of a fixed capacity. A request takes what it needs from
//! the first windows that have room, from the time of its arrival on. A plain "next free" time would make a
//! request that arrives early wait for one that was seen before it and arrives late.

use std::collections::VecDeque;

/// Cycles a window.
const WINDOW: u64 = 16;

/// A resource's future.
#[derive(Clone, Debug)]
pub(super) struct Calendar {
    /// Units that a window serves.
    capacity: f64,
    /// The windows from `first` on.
    windows: VecDeque<Window>,
    /// Number of the first window that is kept.
    first: u64,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    /// What of it is taken.
    taken: f64,
    /// Its own number, or, once it is full, that of one behind it: no window before that has room. A long
    /// queue is passed in a few steps by these, as sets that are joined are found.
    open: u64,
}

impl Calendar {
    /// A resource that serves so many units (bytes, or whatever requests are counted in) a cycle.
    pub(super) fn new(per_cycle: f64) -> Self {
        Self { capacity: per_cycle * WINDOW as f64, windows: VecDeque::new(), first: 0 }
    }

    /// Serve so many units that arrive at a time; returns when the last of them is served.
    pub(super) fn serve(&mut self, arrival: u64, units: f64) -> u64 {
        let mut number = self.open_from(arrival / WINDOW);
        let mut left = units;
        loop {
            let capacity = self.capacity;
            let window = self.window(number);
            let share = left.min(capacity - window.taken);
            window.taken += share;
            left -= share;
            if left <= 1e-9 {
                let served = number * WINDOW + (window.taken / capacity * WINDOW as f64) as u64;
                // No sooner than it takes to serve it.
                return served.max(arrival);
            }
            window.open = number + 1;
            number = self.open_from(number + 1);
        }
    }

    /// The window of a number.
    fn window(&mut self, number: u64) -> &mut Window {
        let index = (number - self.first) as usize;
        while self.windows.len() <= index {
            let open = self.first + self.windows.len() as u64;
            self.windows.push_back(Window { taken: 0.0, open });
        }
        &mut self.windows[index]
    }

    /// The first window from one on that has room, as far as is known.
    fn open_from(&mut self, number: u64) -> u64 {
        let number = number.max(self.first);
        let mut open = number;
        while let Some(window) = self.windows.get((open - self.first) as usize)
            && window.open != open
        {
            open = window.open;
        }
        // All that were passed lead there at once from now on.
        let mut passed = number;
        while passed < open {
            let window = &mut self.windows[(passed - self.first) as usize];
            passed = std::mem::replace(&mut window.open, open);
        }
        open
    }

    /// Forget what lies before a time: no request will arrive there.
    pub(super) fn forget(&mut self, now: u64) {
        let keep = now / WINDOW;
        while self.first < keep && self.windows.pop_front().is_some() {
            self.first += 1;
        }
        if self.windows.is_empty() {
            self.first = self.first.max(keep);
        }
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

    /// The definition of windows, each looked at in turn: the reference for [`Calendar`].
    fn plainly(taken: &mut Vec<f64>, capacity: f64, arrival: u64, units: f64) -> u64 {
        let (mut number, mut left) = ((arrival / WINDOW) as usize, units);
        loop {
            taken.resize(taken.len().max(number + 1), 0.0);
            let share = left.min(capacity - taken[number]);
            taken[number] += share;
            left -= share;
            if left <= 1e-9 {
                let served = number as u64 * WINDOW + (taken[number] / capacity * WINDOW as f64) as u64;
                return served.max(arrival);
            }
            number += 1;
        }
    }

    #[test]
    fn full_windows_are_passed_as_if_each_were_looked_at() {
        // Rates whose windows' shares are exact, so that no rounding tells the two apart.
        for (rate, longest) in [(8.0, 64), (17.5, 256), (64.0, 4096)] {
            let mut calendar = Calendar::new(rate);
            let mut taken = Vec::new();
            let mut random = 1u64;
            for step in 0..20_000u64 {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let arrival = step * 2 + (random >> 33) % 5000;
                let units = (1 + (random >> 20) % longest) as f64;
                assert_eq!(
                    calendar.serve(arrival, units),
                    plainly(&mut taken, rate * WINDOW as f64, arrival, units),
                    "{rate} a cycle, request {step}"
                );
                if step % 512 == 0 {
                    calendar.forget(step * 2);
                }
            }
        }
    }
}
