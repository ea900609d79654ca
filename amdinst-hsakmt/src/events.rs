//! Events: what the host waits for, and the GPU, or the host itself, sets.
//!
//! As in the driver, a signal reaches all who wait for the event just then, and only what nobody waits for is
//! kept. The runtime counts on it: when a queue ends, the thread that ends it and the one that looks after
//! queues wait for the same event.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::abi::Status;
use crate::cells::Cell64;

/// Events there may be at one time, as in the driver.
pub(crate) const MOST: u32 = 4096;
/// How often a waiter looks at mailboxes: kernels write them, and no interrupt comes with that.
const GLANCE: Duration = Duration::from_millis(1);
/// After this long a wait ends as if its event had come. The runtime looks at the signals that it waits for,
/// whatever ended the wait, and waits again. It must look now and then: who changes a signal sets its event
/// only if someone is seen to wait, and the runtime reads that without a fence behind the store, so one who
/// has just begun to wait may be overlooked.
const RELOOK: Duration = Duration::from_millis(20);
/// `HSA_EVENTTIMEOUT_INFINITE`.
const FOREVER: u32 = u32::MAX;

#[derive(Debug)]
struct Event {
    signaled: bool,
    /// The event stays signaled until it is reset; else one waiter uses the signal up.
    manual: bool,
    /// How often it has been signaled.
    signals: u64,
    /// How many wait for it.
    waiting: usize,
    /// Tells it from others that had its number before.
    serial: u64,
}

impl Event {
    fn signal(&mut self) {
        self.signals += 1;
        self.signaled = self.manual || self.waiting == 0;
    }
}

#[derive(Debug)]
struct Table {
    live: HashMap<u32, Event>,
    /// Numbers that are not in use; the last one is taken next.
    free: Vec<u32>,
    /// Events that there have been.
    made: u64,
}

/// An event in someone's wait.
struct Awaited {
    id: u32,
    serial: u64,
    /// How often it had been signaled when the wait began.
    before: u64,
    /// The wait has been told of it.
    activated: bool,
}

/// All events, by number.
#[derive(Debug)]
pub(crate) struct Events {
    table: Mutex<Table>,
    changed: Condvar,
    /// One word for each number. A kernel that sends a signal writes its event's number there.
    mailboxes: Cell64,
}

impl Events {
    /// No events. `mailboxes` is the first of [`MOST`] words that GPUs see, all zero.
    pub(crate) fn new(mailboxes: Cell64) -> Self {
        let table = Table { live: HashMap::new(), free: (1..MOST).rev().collect(), made: 0 };
        Self { table: Mutex::new(table), changed: Condvar::new(), mailboxes }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new event's number, from 1, and the address of its mailbox.
    pub(crate) fn create(&self, manual: bool, signaled: bool) -> Result<(u32, u64), Status> {
        let mut table = self.table();
        let id = table.free.pop().ok_or(Status::OutOfResources)?;
        table.made += 1;
        let serial = table.made;
        table.live.insert(id, Event { signaled, manual, signals: 0, waiting: 0, serial });
        let mailbox = self.mailboxes.nth(id as usize);
        mailbox.store(0);
        Ok((id, mailbox.address()))
    }

    /// Forget an event.
    pub(crate) fn destroy(&self, id: u32) -> Result<(), Status> {
        let mut table = self.table();
        table.live.remove(&id).ok_or(Status::InvalidHandle)?;
        table.free.push(id);
        drop(table);
        self.changed.notify_all();
        Ok(())
    }

    /// Signal an event, or take its signal back.
    pub(crate) fn set(&self, id: u32, signaled: bool) -> Result<(), Status> {
        let mut table = self.table();
        let event = table.live.get_mut(&id).ok_or(Status::InvalidHandle)?;
        if signaled {
            event.signal();
            self.changed.notify_all();
        } else {
            event.signaled = false;
        }
        Ok(())
    }

    /// Whether an event is signaled.
    pub(crate) fn is_set(&self, id: u32) -> Result<bool, Status> {
        self.look(&mut self.table(), id).map(|event| event.signaled)
    }

    /// An event, with what has come by its mailbox.
    fn look<'a>(&self, table: &'a mut Table, id: u32) -> Result<&'a mut Event, Status> {
        let event = table.live.get_mut(&id).ok_or(Status::InvalidHandle)?;
        if self.mailboxes.nth(id as usize).swap(0) != 0 {
            event.signal();
            self.changed.notify_all();
        }
        Ok(event)
    }

    /// Wait until one event is signaled, or all of them, for at most that many milliseconds. It may end
    /// early.
    pub(crate) fn wait(&self, ids: &[u32], all: bool, milliseconds: u32) -> Result<(), Status> {
        self.wait_until(ids, all, milliseconds, Some(RELOOK))
    }

    /// Waits until one event is signaled, or all of them, for at most that many milliseconds, or for `relook`
    /// if that is less.
    fn wait_until(
        &self,
        ids: &[u32],
        all: bool,
        milliseconds: u32,
        relook: Option<Duration>,
    ) -> Result<(), Status> {
        let deadline =
            (milliseconds != FOREVER).then(|| Instant::now() + Duration::from_millis(milliseconds.into()));
        let begin = Instant::now();
        let mut table = self.table();
        if ids.iter().any(|id| !table.live.contains_key(id)) {
            return Err(Status::InvalidHandle);
        }
        let mut awaited = Vec::with_capacity(ids.len());
        for &id in ids {
            let event = self.look(&mut table, id)?;
            let activated = event.signaled;
            event.signaled &= event.manual;
            event.waiting += 1;
            awaited.push(Awaited { id, serial: event.serial, before: event.signals, activated });
        }
        let outcome = loop {
            match self.activated(&mut table, &mut awaited) {
                Err(error) => break Err(error),
                Ok(0) => {}
                Ok(activated) if all && activated < ids.len() => {}
                Ok(_) => break Ok(()),
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                break Err(Status::WaitTimeout);
            }
            if relook.is_some_and(|relook| begin.elapsed() > relook) {
                break Ok(());
            }
            let pause = left.map_or(GLANCE, |left| left.min(GLANCE));
            (table, _) = self.changed.wait_timeout(table, pause).unwrap_or_else(PoisonError::into_inner);
        };
        for Awaited { id, serial, .. } in awaited {
            if let Some(event) = table.live.get_mut(&id).filter(|event| event.serial == serial) {
                event.waiting -= 1;
            }
        }
        outcome
    }

    /// How many of the awaited events have been signaled since the wait began, or were then.
    fn activated(&self, table: &mut Table, awaited: &mut [Awaited]) -> Result<usize, Status> {
        for one in &mut *awaited {
            let event = self.look(table, one.id)?;
            if event.serial != one.serial {
                return Err(Status::InvalidHandle);
            }
            one.activated |= event.signals > one.before;
        }
        Ok(awaited.iter().filter(|one| one.activated).count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events() -> (Events, Box<[u64]>) {
        let words = vec![0u64; MOST as usize].into_boxed_slice();
        let address = words.as_ptr().expose_provenance() as u64;
        // SAFETY: the words live as long as the events in each test.
        (Events::new(unsafe { Cell64::at(address) }), words)
    }

    fn strictly(events: &Events, ids: &[u32], all: bool, milliseconds: u32) -> Result<(), Status> {
        events.wait_until(ids, all, milliseconds, None)
    }

    #[test]
    fn automatic_events_wake_one_waiter_and_manual_ones_stay() {
        let (events, _words) = events();
        let (auto, _) = events.create(false, false).unwrap();
        let (manual, _) = events.create(true, true).unwrap();
        assert_eq!(strictly(&events, &[auto], false, 0), Err(Status::WaitTimeout));
        events.set(auto, true).unwrap();
        assert_eq!(strictly(&events, &[auto, manual], true, 0), Ok(()));
        assert_eq!(events.is_set(auto), Ok(false));
        assert_eq!(events.is_set(manual), Ok(true));
        assert_eq!(strictly(&events, &[auto, manual], true, 2), Err(Status::WaitTimeout));
        assert_eq!(strictly(&events, &[auto, manual], false, FOREVER), Ok(()));
    }

    /// What the runtime does when a queue ends: one thread signals, and then waits for the same event as the
    /// other, which signals back.
    #[test]
    fn a_signal_reaches_all_who_wait() {
        let (events, _words) = events();
        for _ in 0..200 {
            let (id, _) = events.create(false, false).unwrap();
            std::thread::scope(|scope| {
                let other = scope.spawn(|| {
                    assert_eq!(strictly(&events, &[id], false, 10_000), Ok(()));
                    events.set(id, true).unwrap();
                });
                // Until the other one waits.
                while events.table().live[&id].waiting == 0 {
                    std::thread::yield_now();
                }
                events.set(id, true).unwrap();
                assert_eq!(strictly(&events, &[id], false, 10_000), Ok(()));
                other.join().unwrap();
            });
            assert_eq!(events.is_set(id), Ok(false), "the second signal has been used up");
            events.destroy(id).unwrap();
        }
    }

    #[test]
    fn an_event_that_is_destroyed_ends_the_wait_even_if_its_number_comes_back() {
        let (events, _words) = events();
        let (id, _) = events.create(false, false).unwrap();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| strictly(&events, &[id], false, 10_000));
            while events.table().live[&id].waiting == 0 {
                std::thread::yield_now();
            }
            events.destroy(id).unwrap();
            assert_eq!(events.create(false, false).map(|(again, _)| again), Ok(id));
            assert_eq!(waiter.join().unwrap(), Err(Status::InvalidHandle));
        });
        assert_eq!(events.table().live[&id].waiting, 0);
    }

    #[test]
    fn a_mailbox_written_by_a_kernel_signals() {
        let (events, _words) = events();
        let (id, mailbox) = events.create(false, false).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(5));
                // SAFETY: a word of the table above.
                unsafe { Cell64::at(mailbox) }.store(u64::from(id));
            });
            assert_eq!(strictly(&events, &[id], false, 10_000), Ok(()));
        });
    }

    #[test]
    fn a_wait_ends_now_and_then_so_that_the_waiter_looks_again() {
        let (events, _words) = events();
        let (id, _) = events.create(false, false).unwrap();
        assert_eq!(events.wait(&[id], false, FOREVER), Ok(()));
        assert_eq!(events.wait(&[id], false, 1), Err(Status::WaitTimeout));
    }

    #[test]
    fn numbers_run_out_and_come_back() {
        let (events, _words) = events();
        let ids: Vec<_> = (1..MOST).map(|_| events.create(false, false).unwrap().0).collect();
        assert_eq!(events.create(false, false), Err(Status::OutOfResources));
        events.destroy(ids[7]).unwrap();
        assert_eq!(events.create(false, false).map(|(id, _)| id), Ok(ids[7]));
        assert_eq!(events.destroy(0), Err(Status::InvalidHandle));
        assert_eq!(strictly(&events, &[5000], false, 0), Err(Status::InvalidHandle));
    }
}
