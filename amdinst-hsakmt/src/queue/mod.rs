//! AQL queues: each has a thread that takes packets from its ring as the packet processor of a GPU does.
//!
//! Doorbells are plain memory, so the threads look at them: without a pause just after a packet, every 50 µs
//! for 0.2 s, then every millisecond. A doorbell says that there is something. What there is, the packets'
//! headers say, for several producers ring in any order.

mod packet;
mod processor;
mod signal;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::JoinHandle;

use crate::cells::Cell64;
use crate::devices::Devices;
use crate::errno::Errno;
use processor::Processor;

/// What a doorbell holds until it is rung: one less than the first packet's number.
pub(crate) const NEVER_RUNG: u64 = u64::MAX;
/// Bytes of a packet.
const PACKET: u64 = 64;
/// Bytes from the start of `amd_queue_t` to `read_dispatch_id`.
const READ_INDEX: u64 = 128;
/// Bytes from the start of `amd_queue_t` to `queue_inactive_signal`.
const INACTIVE_SIGNAL: u64 = 192;

/// Whether the memory of a queue is there: its packets, and the `amd_queue_t` that the number of the next
/// packet is part of.
pub(crate) fn memory(base: u64, bytes: u64, read: u64, is_there: impl Fn(u64, u64) -> bool) -> bool {
    /// Bytes of `amd_queue_t` as far as it is used.
    const QUEUE: u64 = INACTIVE_SIGNAL + 8;
    let queue = read.checked_sub(READ_INDEX);
    is_there(base, bytes) && queue.is_some_and(|queue| is_there(queue, QUEUE))
}

/// What a queue is made of: the runtime's memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ring {
    /// The first packet.
    pub(crate) base: u64,
    /// Packets, a power of two.
    pub(crate) packets: u64,
    /// Number of the packet to take next.
    pub(crate) read: Cell64,
    /// [`NEVER_RUNG`], or what the host has rung with last.
    pub(crate) doorbell: Cell64,
}

impl Ring {
    /// The packet of that number: its first word, the header in its lower half.
    fn slot(&self, number: u64) -> Cell64 {
        let address = self.base + PACKET * (number & (self.packets - 1));
        // SAFETY: the runtime keeps the ring, which is aligned to a page, until the queue is destroyed.
        unsafe { Cell64::at(address) }
    }

    /// `amd_queue_t`.
    const fn queue(&self) -> u64 {
        self.read.address() - READ_INDEX
    }
}

/// What the thread is told.
#[derive(Debug, Default)]
struct Control {
    stop: AtomicBool,
    suspended: AtomicBool,
}

/// A queue. Dropping it stops its thread, and the kernel that it runs.
#[derive(Debug)]
pub(crate) struct Queue {
    control: Arc<Control>,
    thread: Option<JoinHandle<()>>,
    /// Which doorbell is its own.
    pub(crate) doorbell: usize,
}

impl Queue {
    /// Start a queue of the GPU of that index.
    pub(crate) fn start(
        devices: &'static Devices,
        gpu: usize,
        ring: Ring,
        doorbell: usize,
    ) -> Result<Self, Errno> {
        let control = Arc::new(Control::default());
        let mut processor = Processor::new(devices, gpu, ring, control.clone());
        let thread = std::thread::Builder::new()
            .name(format!("amdinst-queue-{doorbell}"))
            .spawn(move || processor.run())
            .map_err(|_| Errno::NoneLeft)?;
        Ok(Self { control, thread: Some(thread), doorbell })
    }

    /// Take packets, or leave them.
    pub(crate) fn suspend(&self, suspended: bool) {
        self.control.suspended.store(suspended, SeqCst);
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.control.stop.store(true, SeqCst);
        if let Some(thread) = self.thread.take() {
            // The thread catches its own panics.
            let _ = thread.join();
        }
    }
}
