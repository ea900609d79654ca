//! The turns of workgroups on a host thread.
//!
//! A workgroup runs to its end before the next one begins, unless it waits for another one (`waiting`), or
//! runs for long and reads what others may write (`asks`). Then it is set aside and the next ones begin, as
//! many as the processor holds at a time. Those set aside get their turns, so that barriers of the whole grid
//! come to their ends, and flags that later workgroups set are seen. On one thread the order of turns depends
//! on the launch alone.
//!
//! Where all that run wait and no other can begin, nothing will be written any more: that is a fault. Where
//! the host, or another thread of the launch, may still write, workgroups wait on. While all threads wait,
//! that uses up what workgroups may run; while one is at work it does not, for how long that takes depends on
//! the host.

#![expect(
    clippy::vec_box,
    reason = "workgroups are passed from one list to another, which copies what is not in a box"
)]

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use amdgpu_object::{Resources, workgroups_at_a_time};

use super::Shared;
use super::asks::Asks;
use super::group::{Awaited, Group, Turn, Unobserved, Waiter};
use super::schedule;
use crate::check::{Fault, FaultKind, Wanted};
use crate::config::Schedule;

/// Wave-instructions of a workgroup after which it is asked for the first time whether it waits. What is
/// asked costs as much as some thousand.
const FIRST: u64 = 1 << 18;

/// Wave-instructions of a workgroup after which it is set aside though nothing says that it waits, if it asks
/// for something: it may count the rounds of a loop that waits, as instrumented ones do.
const LONG: u64 = 1 << 20;

/// Wave-instructions of a turn from then on.
const AGAIN: u64 = 1 << 17;

/// How long a thread sleeps that has nothing to do until others have written something.
const PAUSE: Duration = Duration::from_millis(1);

/// The numbers of workgroups, given out to the threads of a launch in order.
pub(super) struct Numbers<'a> {
    next: &'a AtomicU64,
    all: Range<u64>,
    chunk: u64,
    taken: Range<u64>,
    /// Another order.
    schedule: Option<Schedule>,
}

/// Workgroups that a thread takes at a time, at most: neighbours often share cache lines.
const CHUNK: u64 = 16;

impl<'a> Numbers<'a> {
    pub(super) fn new(
        next: &'a AtomicU64,
        all: Range<u64>,
        threads: usize,
        schedule: Option<Schedule>,
    ) -> Self {
        let number = all.end.saturating_sub(all.start);
        // Small enough that the threads end at about the same time.
        let chunk = (number / (32 * threads as u64)).clamp(1, CHUNK);
        Self { next, all, chunk, taken: 0..0, schedule }
    }

    /// Those that no thread has begun; of several threads, what this one knows of.
    fn left(&self) -> u64 {
        let others = self.all.end.saturating_sub(self.next.load(Relaxed).max(self.all.start));
        others + self.taken.end - self.taken.start
    }
}

impl Iterator for Numbers<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.taken.is_empty() {
            let first = self.next.fetch_add(self.chunk, Relaxed);
            self.taken = first..(first + self.chunk).min(self.all.end);
        }
        let number = self.taken.next()?;
        Some(self.schedule.map_or(number, |schedule| schedule::workgroup(schedule, number, &self.all)))
    }
}

/// A workgroup that has begun and does not run.
struct Aside {
    /// Its state is large, and is passed on each time that it begins, is set aside or ends.
    group: Box<Group>,
    /// It waits for another one, as of its last turn.
    waits: Option<Waiter>,
}

/// Whether a thread is at work, which others ask while they wait: it is until it waits with all its
/// workgroups, or ends.
struct AtWork<'a> {
    /// How many threads of the launch are, those that have not begun among them.
    threads: &'a AtomicUsize,
    /// This one is.
    is_one: bool,
}

impl AtWork<'_> {
    fn set(&mut self, is_one: bool) {
        match (self.is_one, is_one) {
            (true, false) => _ = self.threads.fetch_sub(1, Relaxed),
            (false, true) => _ = self.threads.fetch_add(1, Relaxed),
            _ => {}
        }
        self.is_one = is_one;
    }
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.set(false);
    }
}

/// What a thread runs.
pub(super) struct Turns<'a, 'b> {
    shared: &'a Shared<'b>,
    threads: usize,
    at_work: AtWork<'a>,
    /// How many workgroups there can be at a time.
    room: usize,
    aside: VecDeque<Aside>,
    took_turns: bool,
    idle: Vec<Box<Group>>,
    /// Looks at the turns of workgroups that have run for long, from the first such turn on.
    asks: Option<Asks>,
}

/// What goes wrong, and in which workgroup.
type Failure = (u64, Fault);

/// What one host thread did.
pub(super) struct Part {
    /// With what their workgroups did.
    pub(super) groups: Vec<Box<Group>>,
    /// Some were set aside.
    pub(super) took_turns: bool,
    /// What ended it early.
    pub(super) failure: Option<Failure>,
}

impl<'a, 'b> Turns<'a, 'b> {
    /// Of a thread of so many, with how many of them are at work: all at first.
    pub(super) fn new(shared: &'a Shared<'b>, threads: usize, at_work: &'a AtomicUsize) -> Self {
        let resources = Resources {
            lds_bytes: shared.lds_bytes,
            workgroup_size: shared.launch.block.iter().product(),
            ..Resources::of(shared.program.target.arch, &shared.kernel.metadata)
        };
        let room = workgroups_at_a_time(shared.program.target.arch, &resources) as usize / threads.max(1);
        Self {
            shared,
            threads,
            at_work: AtWork { threads: at_work, is_one: true },
            room: room.max(1),
            aside: VecDeque::new(),
            took_turns: false,
            idle: vec![Box::new(Group::new(shared))],
            asks: None,
        }
    }

    /// Runs workgroups of these numbers to their ends, those behind the first fault of any thread left out.
    pub(super) fn run(mut self, mut numbers: Numbers<'_>, first_fault: &AtomicU64) -> Part {
        let outcome = self.run_all(&mut numbers, first_fault).map_err(|failure| self.first_stopped(failure));
        if let Err((index, _)) = &outcome {
            first_fault.fetch_min(*index, Relaxed);
        }
        self.idle.extend(self.aside.into_iter().map(|aside| aside.group));
        Part { groups: self.idle, took_turns: self.took_turns, failure: outcome.err() }
    }

    /// Of workgroups that are stopped it is the first that is told, whichever has its turn.
    fn first_stopped(&self, failure: Failure) -> Failure {
        let first = self.aside.iter().map(|aside| &*aside.group).min_by_key(|group| group.index);
        match first {
            Some(group) if failure.1.kind == FaultKind::Stopped && group.index < failure.0 => {
                (group.index, *group.stopped(self.shared, failure.1.kind))
            }
            _ => failure,
        }
    }

    fn run_all(&mut self, numbers: &mut Numbers<'_>, first_fault: &AtomicU64) -> Result<(), Failure> {
        let shared = self.shared;
        while let Some(place) = numbers.next() {
            let index = shared.sample.map_or(place, |sample| sample.at(place));
            if index > first_fault.load(Relaxed) {
                break;
            }
            let mut group = self.idle.pop().unwrap_or_else(|| Box::new(Group::new(shared)));
            group.begin(shared, index);
            self.advance(Aside { group, waits: None }, first_fault)?;
            while self.aside.len() >= self.room {
                self.round(numbers, first_fault)?;
            }
        }
        while !self.aside.is_empty() {
            self.round(numbers, first_fault)?;
        }
        Ok(())
    }

    /// Gives each workgroup that is set aside a turn.
    fn round(&mut self, numbers: &Numbers<'_>, first_fault: &AtomicU64) -> Result<(), Failure> {
        let last = first_fault.load(Relaxed);
        self.aside.retain(|aside| aside.group.index <= last);
        let mut gets_on = false;
        for _ in 0..self.aside.len() {
            let Some(mut aside) = self.aside.pop_front() else { break };
            if aside.waits.is_some() {
                aside.waits = self.ask(&mut aside.group)?;
                if aside.waits.is_some() {
                    self.aside.push_back(aside);
                    continue;
                }
            }
            gets_on = true;
            self.advance(aside, first_fault)?;
        }
        if gets_on || self.aside.is_empty() { Ok(()) } else { self.stand(numbers.left(), last) }
    }

    /// Lets a workgroup run until it ends, waits, or has run for long and asks for something, or stands
    /// behind a fault.
    fn advance(&mut self, mut aside: Aside, first_fault: &AtomicU64) -> Result<(), Failure> {
        self.at_work.set(true);
        loop {
            let ran = aside.group.ran(self.shared);
            let is_long = ran >= LONG;
            let turn = if is_long {
                let asks = self.asks.get_or_insert_with(|| Asks::new(self.shared.program));
                aside.group.turn(self.shared, AGAIN, asks)
            } else {
                aside.group.turn(self.shared, ran.max(FIRST), &mut Unobserved)
            };
            match turn {
                Ok(Turn::Ended) => {
                    self.idle.push(aside.group);
                    return Ok(());
                }
                Ok(Turn::Over) => {}
                Err(fault) => {
                    let index = aside.group.index;
                    self.idle.push(aside.group);
                    return Err((index, *fault));
                }
            }
            aside.waits = self.ask(&mut aside.group)?;
            let has_asked = is_long && self.asks.as_mut().is_some_and(Asks::take);
            let is_behind = aside.group.index > first_fault.load(Relaxed);
            if aside.waits.is_some() || has_asked || is_behind {
                self.took_turns = true;
                self.aside.push_back(aside);
                return Ok(());
            }
        }
    }

    /// The wave of a workgroup that waits, if it waits for another workgroup.
    fn ask(&self, group: &mut Group) -> Result<Option<Waiter>, Failure> {
        let index = group.index;
        let waiter = group.waits(self.shared).map_err(|fault| (index, *fault))?;
        if let (Some(waiter), Some(scan), 2..) = (&waiter, self.shared.look.scan(), self.threads) {
            // Whether another one has written yet is chance: one thread settles it.
            scan.report_wait();
            return Err((index, *group.located(self.shared, waiter, FaultKind::Stopped)));
        }
        Ok(waiter)
    }

    /// All that are set aside wait.
    fn stand(&mut self, not_begun: u64, last: u64) -> Result<(), Failure> {
        // What the host writes lets no wave pass that waits at global wave sync.
        let is_sync =
            |aside: &Aside| aside.waits.is_some_and(|waiter| matches!(waiter.awaited, Awaited::Waves { .. }));
        let alone = self.threads <= 1 && (!self.shared.memory.is_shared() || self.aside.iter().all(is_sync));
        let waiting = self.aside.len() as u64;
        let first = self.aside.iter().min_by_key(|aside| aside.group.index);
        let Some((first, waiter)) = first.and_then(|aside| Some((&aside.group, aside.waits?))) else {
            return Ok(());
        };
        let fail =
            |group: &Group, waiter: &Waiter, kind| (group.index, *group.located(self.shared, waiter, kind));
        if alone {
            let wanted = match waiter.awaited {
                Awaited::Change { address, bytes } => {
                    Wanted::Change { bytes, address, inside: self.shared.memory.inside(address) }
                }
                Awaited::Waves { resource } => Wanted::Waves { resource },
            };
            let kind = FaultKind::Deadlock { waiting, not_begun, wanted: Box::new(wanted) };
            return Err(fail(first, &waiter, kind));
        }
        if let Some(kind) = self.shared.stopped() {
            return Err(fail(first, &waiter, kind));
        }
        if last < u64::MAX {
            // They may wait for the one that had the fault.
            self.aside.clear();
            return Ok(());
        }
        self.at_work.set(false);
        std::thread::sleep(PAUSE);
        if self.at_work.threads.load(Relaxed) > 0 {
            return Ok(());
        }
        let budget = self.shared.budget;
        for aside in &mut self.aside {
            if let (false, Some(waiter)) = (aside.group.charge(FIRST), aside.waits) {
                let kind = FaultKind::Budget { budget, waiting: 0 };
                return Err((aside.group.index, *aside.group.located(self.shared, &waiter, kind)));
            }
        }
        Ok(())
    }
}
