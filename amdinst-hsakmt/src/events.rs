//! Events: what the host waits for, and the GPU, or the host itself, sets.
//!
//! As in the driver, a signal reaches all who wait for the event just then, and only what nobody waits for is
//! kept. The runtime counts on it: when a queue ends, the thread that ends it and the one that looks after
//! queues wait for the same event.
//!
//! An event has an age, the count of its signals: a waiter that tells the age it knows is not made to wait if
//! the event is older by now, so no signal is missed between two waits.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::cells::Cell64;
use crate::errno::{Errno, Outcome};

/// Events there may be at one time, as in the driver.
pub(crate) const MOST: u32 = 4096;
/// How often a waiter looks at mailboxes: kernels write them, and no interrupt comes with that.
const GLANCE: Duration = Duration::from_millis(1);
/// After this long a wait ends as if its event had come. The runtime looks at the signals that it waits for,
/// whatever ended the wait, and waits again. It must look now and then: who changes a signal sets its event
/// only if someone is seen to wait, and the runtime reads that without a fence behind the store, so one who
/// has just begun to wait may be overlooked.
const RELOOK: Duration = Duration::from_millis(20);
/// Milliseconds that never end.
const FOREVER: u32 = u32::MAX;
/// The age of an event that has not been signaled yet.
const NEW: u64 = 1;

/// An access that a GPU must not make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryFault {
    /// The GPU's node.
    pub(crate) node: u32,
    pub(crate) address: u64,
    /// The memory is there, and may only be read.
    pub(crate) read_only: bool,
}

/// Who signals an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The program and its kernels.
    Program,
    /// Faults of memory.
    Faults,
    /// Nothing that happens to an emulated GPU.
    Nothing,
}

/// An event to wait for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) id: u32,
    /// The age that the waiter knows; zero if it knows of none.
    pub(crate) age: u64,
}

/// What is told of an event when a wait ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// Its age, if it has been signaled.
    pub(crate) age: Option<u64>,
    /// The fault that has signaled it.
    pub(crate) fault: Option<MemoryFault>,
}

/// How a wait ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// One event has come, or all have, or it is time to look at what is waited for.
    Complete(Vec<Told>),
    Timeout,
}

#[derive(Debug)]
struct Event {
    source: Source,
    signaled: bool,
    /// The last fault.
    fault: Option<MemoryFault>,
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

    fn age(&self) -> u64 {
        NEW + self.signals
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

/// One word for each number. A kernel that sends a signal writes its event's number there.
#[derive(Debug)]
struct Mailboxes {
    first: Cell64,
    _keep: Arc<dyn Any + Send + Sync>,
}

/// All events, by number.
#[derive(Debug)]
pub(crate) struct Events {
    table: Mutex<Table>,
    changed: Condvar,
    mailboxes: OnceLock<Mailboxes>,
}

/// Bytes of all mailboxes.
pub(crate) const MAILBOXES: u64 = 8 * MOST as u64;

impl Default for Events {
    /// No events.
    fn default() -> Self {
        let table = Table { live: HashMap::new(), free: (1..MOST).rev().collect(), made: 0 };
        Self { table: Mutex::new(table), changed: Condvar::new(), mailboxes: OnceLock::new() }
    }
}

impl Events {
    /// From now on kernels signal events by words of memory, of [`MAILBOXES`] bytes. The first ones stay.
    ///
    /// # Safety
    /// There are that many aligned bytes from `first` on, for as long as `keep` lives.
    pub(crate) unsafe fn set_mailboxes(&self, first: u64, keep: Arc<dyn Any + Send + Sync>) {
        // SAFETY: the caller's.
        let first = unsafe { Cell64::at(first) };
        self.mailboxes.get_or_init(|| Mailboxes { first, _keep: keep });
    }

    /// The mailbox of an event, if there is one.
    fn mailbox(&self, id: u32) -> Option<Cell64> {
        self.mailboxes.get().map(|mailboxes| mailboxes.first.nth(id as usize))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new event's number, from 1.
    pub(crate) fn create(&self, source: Source, manual: bool) -> Result<u32, Errno> {
        let mut table = self.table();
        let id = table.free.pop().ok_or(Errno::NoneLeft)?;
        table.made += 1;
        let serial = table.made;
        let event = Event { source, signaled: false, fault: None, manual, signals: 0, waiting: 0, serial };
        table.live.insert(id, event);
        if let Some(mailbox) = self.mailbox(id) {
            mailbox.store(0);
        }
        Ok(id)
    }

    /// Forget an event.
    pub(crate) fn destroy(&self, id: u32) -> Outcome {
        let mut table = self.table();
        table.live.remove(&id).ok_or(Errno::Invalid)?;
        table.free.push(id);
        drop(table);
        self.changed.notify_all();
        Ok(())
    }

    /// Signal an event, or take its signal back.
    pub(crate) fn set(&self, id: u32, signaled: bool) -> Outcome {
        let mut table = self.table();
        let event = table.live.get_mut(&id).ok_or(Errno::Invalid)?;
        if signaled {
            event.signal();
            self.changed.notify_all();
        } else {
            event.signaled = false;
        }
        Ok(())
    }

    /// Signal the events of those who look after faults of memory.
    pub(crate) fn raise(&self, fault: MemoryFault) {
        let mut table = self.table();
        for event in table.live.values_mut().filter(|event| event.source == Source::Faults) {
            event.fault = Some(fault);
            event.signal();
        }
        self.changed.notify_all();
    }

    /// An event, with what has come by its mailbox.
    fn look<'a>(&self, table: &'a mut Table, id: u32) -> Result<&'a mut Event, Errno> {
        let event = table.live.get_mut(&id).ok_or(Errno::Invalid)?;
        if self.mailbox(id).is_some_and(|mailbox| mailbox.swap(0) != 0) {
            event.signal();
            self.changed.notify_all();
        }
        Ok(event)
    }

    /// Wait until one event is signaled, or all of them, for at most that many milliseconds. It may end
    /// early.
    pub(crate) fn wait(&self, wanted: &[Wanted], all: bool, milliseconds: u32) -> Result<Woken, Errno> {
        self.wait_until(wanted, all, milliseconds, Some(RELOOK))
    }

    /// Waits until one event is signaled, or all of them, for at most that many milliseconds, or for `relook`
    /// if that is less.
    fn wait_until(
        &self,
        wanted: &[Wanted],
        all: bool,
        milliseconds: u32,
        relook: Option<Duration>,
    ) -> Result<Woken, Errno> {
        let deadline =
            (milliseconds != FOREVER).then(|| Instant::now() + Duration::from_millis(milliseconds.into()));
        let begin = Instant::now();
        let mut table = self.table();
        let mut awaited = self.begin(&mut table, wanted)?;
        let outcome = loop {
            match self.activated(&mut table, &mut awaited) {
                Err(error) => break Err(error),
                Ok(0) => {}
                Ok(activated) if all && activated < wanted.len() => {}
                Ok(_) => break Ok(true),
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                break Ok(false);
            }
            if relook.is_some_and(|relook| begin.elapsed() > relook) {
                break Ok(true);
            }
            let pause = left.map_or(GLANCE, |left| left.min(GLANCE));
            (table, _) = self.changed.wait_timeout(table, pause).unwrap_or_else(PoisonError::into_inner);
        };
        let told = end(&mut table, &awaited);
        outcome.map(|complete| if complete { Woken::Complete(told) } else { Woken::Timeout })
    }

    /// Begin to wait for events.
    fn begin(&self, table: &mut Table, wanted: &[Wanted]) -> Result<Vec<Awaited>, Errno> {
        if wanted.iter().any(|one| !table.live.contains_key(&one.id)) {
            return Err(Errno::Invalid);
        }
        let mut awaited = Vec::with_capacity(wanted.len());
        for &Wanted { id, age } in wanted {
            let event = self.look(table, id)?;
            let is_older = event.source == Source::Program && age != 0 && age != event.age();
            let activated = event.signaled || is_older;
            event.signaled &= event.manual;
            event.waiting += 1;
            awaited.push(Awaited { id, serial: event.serial, before: event.signals, activated });
        }
        Ok(awaited)
    }

    /// How many of the awaited events have been signaled since the wait began, or were then.
    fn activated(&self, table: &mut Table, awaited: &mut [Awaited]) -> Result<usize, Errno> {
        for one in &mut *awaited {
            let event = self.look(table, one.id)?;
            if event.serial != one.serial {
                return Err(Errno::Gone);
            }
            one.activated |= event.signals > one.before;
        }
        Ok(awaited.iter().filter(|one| one.activated).count())
    }
}

/// End a wait; gives what is told of each event.
fn end(table: &mut Table, awaited: &[Awaited]) -> Vec<Told> {
    let tell = |one: &Awaited| {
        let event = table.live.get_mut(&one.id).filter(|event| event.serial == one.serial)?;
        event.waiting -= 1;
        one.activated.then(|| Told { age: Some(event.age()), fault: event.fault })
    };
    awaited.iter().map(tell).map(Option::unwrap_or_default).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(events: &Events, manual: bool) -> u32 {
        events.create(Source::Program, manual).unwrap()
    }

    /// Whether a wait ends because of its events.
    fn strictly(events: &Events, ids: &[u32], all: bool, milliseconds: u32) -> Result<bool, Errno> {
        let wanted: Vec<_> = ids.iter().map(|&id| Wanted { id, age: 0 }).collect();
        events.wait_until(&wanted, all, milliseconds, None).map(|woken| woken != Woken::Timeout)
    }

    fn is_set(events: &Events, id: u32) -> bool {
        events.table().live[&id].signaled
    }

    #[test]
    fn automatic_events_wake_one_waiter_and_manual_ones_stay() {
        let events = Events::default();
        let (auto, manual) = (program(&events, false), program(&events, true));
        events.set(manual, true).unwrap();
        assert_eq!(strictly(&events, &[auto], false, 0), Ok(false));
        events.set(auto, true).unwrap();
        assert_eq!(strictly(&events, &[auto, manual], true, 0), Ok(true));
        assert!(!is_set(&events, auto) && is_set(&events, manual));
        assert_eq!(strictly(&events, &[auto, manual], true, 2), Ok(false));
        assert_eq!(strictly(&events, &[auto, manual], false, FOREVER), Ok(true));
    }

    /// What the runtime does when a queue ends: one thread signals, and then waits for the same event as the
    /// other, which signals back.
    #[test]
    fn a_signal_reaches_all_who_wait() {
        let events = Events::default();
        for _ in 0..200 {
            let id = program(&events, false);
            std::thread::scope(|scope| {
                let other = scope.spawn(|| {
                    assert_eq!(strictly(&events, &[id], false, 10_000), Ok(true));
                    events.set(id, true).unwrap();
                });
                // Until the other one waits.
                while events.table().live[&id].waiting == 0 {
                    std::thread::yield_now();
                }
                events.set(id, true).unwrap();
                assert_eq!(strictly(&events, &[id], false, 10_000), Ok(true));
                other.join().unwrap();
            });
            assert!(!is_set(&events, id), "the second signal has been used up");
            events.destroy(id).unwrap();
        }
    }

    #[test]
    fn an_event_that_is_destroyed_ends_the_wait_even_if_its_number_comes_back() {
        let events = Events::default();
        let id = program(&events, false);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| strictly(&events, &[id], false, 10_000));
            while events.table().live[&id].waiting == 0 {
                std::thread::yield_now();
            }
            let mut table = events.table();
            let event = table.live.remove(&id).unwrap();
            table.live.insert(id, Event { serial: event.serial + 1, waiting: 0, ..event });
            drop(table);
            events.changed.notify_all();
            assert_eq!(waiter.join().unwrap(), Err(Errno::Gone));
        });
        assert_eq!(events.table().live[&id].waiting, 0);
    }

    #[test]
    fn a_mailbox_written_by_a_kernel_signals() {
        let events = Events::default();
        let words = Arc::new(vec![0u64; MOST as usize]);
        let address = words.as_ptr().expose_provenance() as u64;
        // SAFETY: the words, which the events keep.
        unsafe { events.set_mailboxes(address, words.clone()) };
        let id = program(&events, false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(5));
                events.mailbox(id).unwrap().store(u64::from(id));
            });
            assert_eq!(strictly(&events, &[id], false, 10_000), Ok(true));
        });
    }

    #[test]
    fn a_wait_ends_now_and_then_so_that_the_waiter_looks_again() {
        let events = Events::default();
        let wanted = [Wanted { id: program(&events, false), age: NEW }];
        assert_eq!(events.wait(&wanted, false, FOREVER), Ok(Woken::Complete(vec![Told::default()])));
        assert_eq!(events.wait(&wanted, false, 1), Ok(Woken::Timeout));
    }

    #[test]
    fn who_tells_an_age_misses_no_signal_between_two_waits() {
        let events = Events::default();
        let id = program(&events, false);
        events.set(id, true).unwrap();
        events.set(id, false).unwrap();
        let told = |age| events.wait_until(&[Wanted { id, age }], false, 0, None);
        let older = Told { age: Some(NEW + 1), fault: None };
        assert_eq!(told(NEW), Ok(Woken::Complete(vec![older])));
        assert_eq!(told(NEW + 1), Ok(Woken::Timeout));
        assert_eq!(told(0), Ok(Woken::Timeout));
    }

    #[test]
    fn faults_come_to_those_who_look_after_them() {
        let events = Events::default();
        let faults = events.create(Source::Faults, false).unwrap();
        let others = [program(&events, false), events.create(Source::Nothing, false).unwrap()];
        let fault = MemoryFault { node: 1, address: 4096, read_only: true };
        events.raise(fault);
        assert_eq!(strictly(&events, &others, false, 0), Ok(false));
        let woken = events.wait(&[Wanted { id: faults, age: 0 }], false, 0);
        assert_eq!(woken, Ok(Woken::Complete(vec![Told { age: Some(NEW + 1), fault: Some(fault) }])));
    }

    #[test]
    fn numbers_run_out_and_come_back() {
        let events = Events::default();
        let ids: Vec<_> = (1..MOST).map(|_| program(&events, false)).collect();
        assert_eq!(events.create(Source::Program, false), Err(Errno::NoneLeft));
        events.destroy(ids[7]).unwrap();
        assert_eq!(events.create(Source::Program, false), Ok(ids[7]));
        assert_eq!(events.destroy(0), Err(Errno::Invalid));
        assert_eq!(strictly(&events, &[5000], false, 0), Err(Errno::Invalid));
    }
}
