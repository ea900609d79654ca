//! Events: what the host waits for, and the GPU, or the host itself, sets.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::abi::Status;
use crate::cells::Cell64;

/// Events there may be at one time, as in the driver.
pub(crate) const MOST: u32 = 4096;
/// How often a waiter looks at mailboxes: kernels write them, and no interrupt comes with that.
const GLANCE: Duration = Duration::from_millis(1);
/// `HSA_EVENTTIMEOUT_INFINITE`.
const FOREVER: u32 = u32::MAX;

#[derive(Debug)]
struct Event {
    signaled: bool,
    /// It stays signaled until it is reset; else the first waiter resets it.
    manual: bool,
}

#[derive(Debug)]
struct Table {
    live: HashMap<u32, Event>,
    /// Numbers that are not in use; the last one is taken next.
    free: Vec<u32>,
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
        let table = Table { live: HashMap::new(), free: (1..MOST).rev().collect() };
        Self { table: Mutex::new(table), changed: Condvar::new(), mailboxes }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new event's number, from 1, and the address of its mailbox.
    pub(crate) fn create(&self, manual: bool, signaled: bool) -> Result<(u32, u64), Status> {
        let mut table = self.table();
        let id = table.free.pop().ok_or(Status::OutOfResources)?;
        table.live.insert(id, Event { signaled, manual });
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
        self.table().live.get_mut(&id).ok_or(Status::InvalidHandle)?.signaled = signaled;
        if signaled {
            self.changed.notify_all();
        }
        Ok(())
    }

    /// Whether an event is signaled.
    pub(crate) fn is_set(&self, id: u32) -> Result<bool, Status> {
        self.look(&mut self.table(), id)
    }

    /// Whether an event is signaled, by the host or by its mailbox.
    fn look(&self, table: &mut Table, id: u32) -> Result<bool, Status> {
        let event = table.live.get_mut(&id).ok_or(Status::InvalidHandle)?;
        event.signaled |= self.mailboxes.nth(id as usize).swap(0) != 0;
        Ok(event.signaled)
    }

    /// Wait until one event is signaled, or all of them, for at most that many milliseconds.
    pub(crate) fn wait(&self, ids: &[u32], all: bool, milliseconds: u32) -> Result<(), Status> {
        let deadline =
            (milliseconds != FOREVER).then(|| Instant::now() + Duration::from_millis(milliseconds.into()));
        let mut table = self.table();
        loop {
            let mut ready = Vec::new();
            for id in ids {
                if self.look(&mut table, *id)? {
                    ready.push(*id);
                }
            }
            if !ready.is_empty() && (!all || ready.len() == ids.len()) {
                for id in ready {
                    if let Some(event) = table.live.get_mut(&id)
                        && !event.manual
                    {
                        event.signaled = false;
                    }
                }
                return Ok(());
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Err(Status::WaitTimeout);
            }
            let pause = left.map_or(GLANCE, |left| left.min(GLANCE));
            (table, _) = self.changed.wait_timeout(table, pause).unwrap_or_else(PoisonError::into_inner);
        }
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

    #[test]
    fn automatic_events_wake_one_waiter_and_manual_ones_stay() {
        let (events, _words) = events();
        let (auto, _) = events.create(false, false).unwrap();
        let (manual, _) = events.create(true, true).unwrap();
        assert_eq!(events.wait(&[auto], false, 0), Err(Status::WaitTimeout));
        events.set(auto, true).unwrap();
        assert_eq!(events.wait(&[auto, manual], true, 0), Ok(()));
        assert_eq!(events.is_set(auto), Ok(false));
        assert_eq!(events.is_set(manual), Ok(true));
        assert_eq!(events.wait(&[auto, manual], true, 2), Err(Status::WaitTimeout));
        assert_eq!(events.wait(&[auto, manual], false, FOREVER), Ok(()));
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
            assert_eq!(events.wait(&[id], false, 10_000), Ok(()));
        });
    }

    #[test]
    fn numbers_run_out_and_come_back() {
        let (events, _words) = events();
        let ids: Vec<_> = (1..MOST).map(|_| events.create(false, false).unwrap().0).collect();
        assert_eq!(events.create(false, false), Err(Status::OutOfResources));
        events.destroy(ids[7]).unwrap();
        assert_eq!(events.create(false, false).map(|(id, _)| id), Ok(ids[7]));
        assert_eq!(events.destroy(0), Err(Status::InvalidHandle));
        assert_eq!(events.wait(&[5000], false, 0), Err(Status::InvalidHandle));
    }
}
