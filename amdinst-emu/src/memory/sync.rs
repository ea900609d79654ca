//! Global wave sync: counters of the device by which waves of different workgroups wait for each other (Vega
//! ISA, "DS_GWS_BARRIER" and the instructions around it).
//!
//! The runtime of a cooperative launch gives the barrier the number of its workgroups, less one, by a kernel
//! of its own. Where no kernel has done that, each launch finds its barriers so.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many counters a device has.
pub(crate) const RESOURCES: u32 = 64;

#[derive(Clone, Copy, Debug, Default)]
struct Resource {
    /// Waves that a barrier still needs before the last one; what a semaphore may give away.
    counter: u32,
    /// Barriers that are complete.
    phase: u64,
    /// Waves that wait for the semaphore.
    queued: u32,
}

/// All counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counters {
    resources: [Resource; RESOURCES as usize],
    /// An instruction has set one.
    is_set: bool,
}

/// What a wave waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    /// The number of the counter.
    pub(crate) resource: u32,
    /// Barriers that were complete when it came to one; a semaphore has none.
    phase: Option<u64>,
}

/// The counters of a device. Copies of its memory share them.
#[derive(Clone, Debug)]
pub(crate) struct GlobalSync(Arc<Mutex<Counters>>);

impl GlobalSync {
    pub(crate) fn new() -> Self {
        let resources = [Resource::default(); RESOURCES as usize];
        Self(Arc::new(Mutex::new(Counters { resources, is_set: false })))
    }

    fn lock(&self) -> MutexGuard<'_, Counters> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn counters(&self) -> Counters {
        *self.lock()
    }

    pub(crate) fn restore(&self, counters: Counters) {
        *self.lock() = counters;
    }

    /// A launch of so many workgroups begins.
    pub(crate) fn begin(&self, groups: u64) {
        let mut counters = self.lock();
        if !counters.is_set {
            let counter = u32::try_from(groups.saturating_sub(1)).unwrap_or(u32::MAX);
            counters.resources = [Resource { counter, ..Resource::default() }; RESOURCES as usize];
        }
    }

    /// Sets a counter.
    pub(crate) fn set(&self, resource: u32, counter: u32) {
        let mut counters = self.lock();
        counters.is_set = true;
        counters.at(resource).counter = counter;
    }

    /// A wave comes to a barrier, the next one of which is for `counter` waves and one. Nothing if it
    /// completes this one.
    pub(crate) fn arrive(&self, resource: u32, counter: u32) -> Option<Ticket> {
        let mut counters = self.lock();
        let state = counters.at(resource);
        match state.counter.checked_sub(1) {
            Some(left) => {
                state.counter = left;
                Some(Ticket { resource, phase: Some(state.phase) })
            }
            None => {
                state.counter = counter;
                state.phase += 1;
                None
            }
        }
    }

    /// A semaphore may let so many waves more pass.
    pub(crate) fn post(&self, resource: u32, count: u32) {
        let mut counters = self.lock();
        let state = counters.at(resource);
        state.counter = state.counter.saturating_add(count);
    }

    /// A semaphore lets those pass that wait.
    pub(crate) fn post_all(&self, resource: u32) {
        let mut counters = self.lock();
        let state = counters.at(resource);
        state.counter = state.queued;
    }

    /// A wave asks a semaphore to let it pass. Nothing if that does.
    pub(crate) fn wait(&self, resource: u32) -> Option<Ticket> {
        let mut counters = self.lock();
        let state = counters.at(resource);
        match state.counter.checked_sub(1) {
            Some(left) => {
                state.counter = left;
                None
            }
            None => {
                state.queued += 1;
                Some(Ticket { resource, phase: None })
            }
        }
    }

    /// Whether a wave that waits may go on.
    pub(crate) fn is_open(&self, ticket: Ticket) -> bool {
        let mut counters = self.lock();
        let state = counters.at(ticket.resource);
        ticket.phase.map_or(state.counter > 0, |phase| state.phase != phase)
    }

    /// Lets a wave that waits go on, if it may.
    pub(crate) fn pass(&self, ticket: Ticket) -> bool {
        let mut counters = self.lock();
        let state = counters.at(ticket.resource);
        match (ticket.phase, state.counter.checked_sub(1)) {
            (Some(phase), _) => state.phase != phase,
            (None, Some(left)) => {
                state.counter = left;
                state.queued = state.queued.saturating_sub(1);
                true
            }
            (None, None) => false,
        }
    }
}

impl Counters {
    fn at(&mut self, resource: u32) -> &mut Resource {
        &mut self.resources[(resource % RESOURCES) as usize]
    }
}
