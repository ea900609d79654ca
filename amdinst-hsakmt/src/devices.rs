//! The emulated GPUs, and what their kernels and queues share.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Mutex, PoisonError};

use crate::abi::{Event, MemoryAccessFault, Status};
use crate::counting::Reports;
use crate::events::Events;
use crate::gpu::Gpu;
use crate::objects::Objects;
use crate::settings::Settings;

/// The GPUs of a process.
#[derive(Debug)]
pub(crate) struct Devices {
    pub(crate) settings: Settings,
    /// The GPUs: that of node N has index N - 1.
    pub(crate) gpus: Vec<Gpu>,
    pub(crate) events: Events,
    /// Code objects that have been given to the loader.
    pub(crate) objects: Objects,
    /// The counts of instrumented kernels.
    pub(crate) reports: Reports,
    /// The runtime's event for memory faults, by its address.
    fault_event: Mutex<Option<usize>>,
}

impl Devices {
    /// GPUs of which no kernel has run.
    pub(crate) fn new(settings: Settings, gpus: Vec<Gpu>, events: Events) -> Self {
        Self {
            settings,
            gpus,
            events,
            objects: Objects::default(),
            reports: Reports::default(),
            fault_event: Mutex::new(None),
        }
    }

    /// The GPU of a node, by its index.
    pub(crate) fn gpu_index(&self, node: u32) -> Result<usize, Status> {
        let index = (node as usize).checked_sub(1).filter(|index| *index < self.gpus.len());
        index.ok_or(Status::InvalidNodeUnit)
    }

    /// Note the runtime's event for memory faults.
    pub(crate) fn set_fault_event(&self, event: *mut Event) {
        *self.fault_event.lock().unwrap_or_else(PoisonError::into_inner) = Some(event.expose_provenance());
    }

    /// Forget it, if it is this one.
    pub(crate) fn forget_fault_event(&self, event: *mut Event) {
        let mut known = self.fault_event.lock().unwrap_or_else(PoisonError::into_inner);
        if *known == Some(event.expose_provenance()) {
            *known = None;
        }
    }

    /// Tell the runtime of an access to memory that a GPU must not make.
    pub(crate) fn raise_memory_fault(&self, node: u32, address: u64, read_only: bool) {
        let known = self.fault_event.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(event) = *known else { return };
        let event: *mut Event = std::ptr::with_exposed_provenance_mut(event);
        let failure = if read_only { MemoryAccessFault::READ_ONLY } else { MemoryAccessFault::NOT_PRESENT };
        let flags = MemoryAccessFault::FATAL_PROCESS;
        let data = MemoryAccessFault { node, address, failure, flags: 0 };
        // SAFETY: an event that `hsaKmtCreateEvent` made and `hsaKmtDestroyEvent` has not freed: it would
        // have taken the lock.
        let id = unsafe {
            (&raw mut (*event).data).write_unaligned(data);
            // The runtime takes the rest as valid when it sees the flags.
            std::sync::atomic::fence(SeqCst);
            (&raw mut (*event).data.flags).write_unaligned(flags);
            (&raw const (*event).id).read_unaligned()
        };
        let _ = self.events.set(id, true);
    }
}
