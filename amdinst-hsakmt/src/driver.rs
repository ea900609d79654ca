//! The state of the library: one for a process, made when the runtime opens the driver.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::abi::{MemoryFlags, Outcome, QueueResource, Status};
use crate::allocations::Allocations;
use crate::cells::Cell64;
use crate::devices::Devices;
use crate::events::{self, Events};
use crate::gpu::Gpu;
use crate::host_memory::Mapping;
use crate::queue::{self, Queue, Ring};
use crate::settings::Settings;
use crate::stopping;
use crate::tell::tell;

/// Queues there may be: the runtime keeps its tables by a doorbell's place in a page.
const DOORBELLS: usize = 1024;
/// Bytes of a packet.
const PACKET: u64 = 64;

/// An emulated machine.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) devices: Devices,
    allocations: Mutex<Allocations>,
    queues: Mutex<HashMap<u64, Queue>>,
    /// One word for each queue that may be.
    doorbells: Mapping,
    /// The process that it was made in: a child of it has none of its threads.
    process: u32,
}

static DRIVER: OnceLock<Result<Driver, ()>> = OnceLock::new();
static OPENED: AtomicU32 = AtomicU32::new(0);

/// The driver that is open.
pub(crate) fn driver() -> Result<&'static Driver, Status> {
    if OPENED.load(SeqCst) == 0 {
        return Err(Status::NotOpened);
    }
    match DRIVER.get() {
        Some(Ok(driver)) if driver.process == std::process::id() => Ok(driver),
        _ => Err(Status::NotOpened),
    }
}

/// Gives something back. A process that was forked has nothing of the driver's: what it knows of is its
/// parent's and stays so. When it exits, its copy of the runtime takes everything down, and insists on
/// success.
pub(crate) fn give_back(give: impl FnOnce(&'static Driver) -> Outcome) -> Outcome {
    match DRIVER.get() {
        Some(Ok(driver)) if driver.process != std::process::id() => Ok(()),
        _ => give(driver()?),
    }
}

/// `hsaKmtOpenKFD`.
pub(crate) fn open() -> Result<(), Status> {
    match DRIVER.get_or_init(Driver::new) {
        Ok(driver) if driver.process == std::process::id() => {
            OPENED.fetch_add(1, SeqCst);
            Ok(())
        }
        Ok(_) => {
            tell("a process that was forked after its parent had used the GPU cannot use it; use `exec`");
            Err(Status::NotOpened)
        }
        Err(()) => Err(Status::NotOpened),
    }
}

/// `hsaKmtCloseKFD`: the last one ends all queues.
pub(crate) fn close() -> Result<(), Status> {
    let driver = driver()?;
    let before = OPENED.try_update(SeqCst, SeqCst, |opened| opened.checked_sub(1));
    if before.map_err(|_| Status::NotOpened)? == 1 {
        let queues = std::mem::take(&mut *driver.queues());
        drop(queues);
    }
    Ok(())
}

impl Driver {
    fn new() -> Result<Self, ()> {
        let settings = Settings::read(|name| std::env::var(name).ok()).map_err(tell)?;
        let profile = settings.profile;
        let gpus: Vec<Gpu> =
            (1..=settings.gpus).map(|node| Gpu::new(node, profile.arch, &settings)).collect();
        let nodes: Vec<u32> = gpus.iter().map(|gpu| gpu.node).collect();
        let mut allocations = Allocations::default();
        let mailboxes = allocations
            .allocate(0, 8 * u64::from(events::MOST), MemoryFlags::default(), None, 0)
            .and_then(|address| allocations.map(&gpus, address, &nodes))
            .map_err(|_| tell("there is no memory for the emulated GPU's events"))?;
        let doorbells = Mapping::new(8 * DOORBELLS as u64, None)
            .ok_or_else(|| tell("there is no memory for the emulated GPU's doorbells"))?;
        stopping::begin();
        Ok(Self {
            // SAFETY: pages that are never freed: no other function gives this address away.
            devices: Devices::new(settings, gpus, Events::new(unsafe { Cell64::at(mailboxes) })),
            allocations: Mutex::new(allocations),
            queues: Mutex::default(),
            doorbells,
            process: std::process::id(),
        })
    }

    /// The one of this process, if there ever was one, whether it is open or not.
    pub(crate) fn existing() -> Option<&'static Self> {
        DRIVER.get()?.as_ref().ok().filter(|driver| driver.process == std::process::id())
    }

    /// The allocations, locked.
    pub(crate) fn allocations(&self) -> MutexGuard<'_, Allocations> {
        self.allocations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<u64, Queue>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new queue, whose ring has that many bytes. Gives what is to be filled into the resource: its number
    /// and doorbell.
    pub(crate) fn create_queue(
        &'static self,
        node: u32,
        base: u64,
        bytes: u64,
        resource: &QueueResource,
    ) -> Result<(u64, u64), Status> {
        let gpu = self.devices.gpu_index(node)?;
        let packets = bytes / PACKET;
        let read = resource.read_pointer;
        if base == 0
            || !base.is_multiple_of(PACKET)
            || !packets.is_power_of_two()
            || read == 0
            || !read.is_multiple_of(8)
        {
            return Err(Status::InvalidParameter);
        }
        let mut queues = self.queues();
        let taken = |index: &usize| queues.values().any(|queue| queue.doorbell == *index);
        let index = (0..DOORBELLS).find(|index| !taken(index)).ok_or(Status::OutOfResources)?;
        // SAFETY: a word of the doorbells' pages, which live as long as the driver.
        let doorbell = unsafe { Cell64::at(self.doorbells.address()) }.nth(index);
        doorbell.store(queue::NEVER_RUNG);
        // SAFETY: the runtime keeps it until the queue is destroyed.
        let read = unsafe { Cell64::at(read) };
        let ring = Ring { base, packets, read, doorbell };
        let queue = Queue::start(&self.devices, gpu, ring, index)?;
        // Numbers are the doorbells' and never zero.
        let id = index as u64 + 1;
        queues.insert(id, queue);
        Ok((id, doorbell.address()))
    }

    /// Let a queue take packets, or not.
    pub(crate) fn suspend_queue(&self, id: u64, suspended: bool) -> Result<(), Status> {
        self.queues().get(&id).map(|queue| queue.suspend(suspended)).ok_or(Status::InvalidHandle)
    }

    /// Checks that there is a queue with this id.
    pub(crate) fn check_queue(&self, id: u64) -> Result<(), Status> {
        self.queues().contains_key(&id).then_some(()).ok_or(Status::InvalidHandle)
    }

    /// End a queue, and stop the kernel that it runs.
    pub(crate) fn destroy_queue(&self, id: u64) -> Result<(), Status> {
        let queue = self.queues().remove(&id).ok_or(Status::InvalidHandle)?;
        // Not under the lock: it waits for the queue's thread.
        drop(queue);
        Ok(())
    }
}
