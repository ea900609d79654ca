//! The state of the library: one for a process, made when the program opens a file of the driver.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::allocations::Allocations;
use crate::cells::Cell64;
use crate::device_file::{DeviceFile, Identity};
use crate::devices::Devices;
use crate::errno::{Errno, Outcome};
use crate::gpu::Gpu;
use crate::host_memory::{Mapping, PAGE};
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
    /// `/dev/kfd`.
    kfd: Arc<DeviceFile>,
    /// The GPUs' render nodes: that of node N has index N - 1.
    renders: Vec<Arc<DeviceFile>>,
    allocations: Mutex<Allocations>,
    queues: Mutex<HashMap<u32, Queue>>,
    /// One word for each queue that may be.
    doorbells: Mapping,
    /// A page of registers that programs write to and nothing comes of.
    registers: Mapping,
    /// The process that it was made in: a child of it has none of its threads.
    process: u32,
}

/// A file of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Kfd,
    /// The render node of a GPU, by the GPU's node.
    Render(u32),
}

/// What a queue is made of, as the program asks for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    pub(crate) node: u32,
    /// Where its packets are, and how many bytes.
    pub(crate) base: u64,
    pub(crate) bytes: u64,
    /// Where the number of the next packet to take is.
    pub(crate) read: u64,
}

static DRIVER: OnceLock<Result<Driver, ()>> = OnceLock::new();

/// The driver of this process, made now if there was none.
pub(crate) fn open() -> Result<&'static Driver, Errno> {
    match DRIVER.get_or_init(Driver::new) {
        Ok(driver) if driver.process == std::process::id() => Ok(driver),
        Ok(_) => {
            tell("a process that was forked after its parent had used the GPU cannot use it; use `exec`");
            Err(Errno::NoDevice)
        }
        Err(()) => Err(Errno::NoDevice),
    }
}

/// The driver that a descriptor is of, and which of its files it is: also in a process that was forked from
/// the one that opened it.
pub(crate) fn of_file(identity: Identity) -> Option<(&'static Driver, Node)> {
    let driver = DRIVER.get()?.as_ref().ok()?;
    if driver.kfd.identity() == identity {
        return Some((driver, Node::Kfd));
    }
    let index = driver.renders.iter().position(|file| file.identity() == identity)?;
    Some((driver, Node::Render(index as u32 + 1)))
}

impl Driver {
    fn new() -> Result<Self, ()> {
        let settings = Settings::read(|name| std::env::var(name).ok()).map_err(tell)?;
        Self::with(settings).map_err(|error| tell(format_args!("there is no emulated GPU: {error}")))
    }

    /// The GPUs that are asked for.
    pub(crate) fn with(settings: Settings) -> io::Result<Self> {
        let profile = settings.profile;
        let gpus: Vec<Gpu> =
            (1..=settings.gpus).map(|node| Gpu::new(node, profile.arch, &settings)).collect();
        let file = || DeviceFile::new().map(Arc::new);
        let kfd = file()?;
        let pages = |bytes| Mapping::of_file(&kfd, bytes).ok_or_else(io::Error::last_os_error);
        // The first pages of the file: the program maps them from its beginning.
        let doorbells = pages(8 * DOORBELLS as u64)?;
        let registers = pages(PAGE)?;
        let renders = gpus.iter().map(|_| file()).collect::<io::Result<_>>()?;
        stopping::begin();
        Ok(Self {
            devices: Devices::new(settings, gpus),
            kfd,
            renders,
            allocations: Mutex::default(),
            queues: Mutex::default(),
            doorbells,
            registers,
            process: std::process::id(),
        })
    }

    /// The one of this process, if there is one.
    pub(crate) fn existing() -> Option<&'static Self> {
        DRIVER.get()?.as_ref().ok().filter(|driver| driver.is_own())
    }

    /// Whether it was made in this process, and not in one that this one was forked from.
    pub(crate) fn is_own(&self) -> bool {
        self.process == std::process::id()
    }

    /// One of its files.
    pub(crate) fn file(&self, node: Node) -> Option<&Arc<DeviceFile>> {
        match node {
            Node::Kfd => Some(&self.kfd),
            Node::Render(node) => self.renders.get((node as usize).checked_sub(1)?),
        }
    }

    /// Where in the driver's file the doorbells are, and the registers.
    pub(crate) fn register_offsets(&self) -> (u64, u64) {
        (self.doorbells.offset(), self.registers.offset())
    }

    /// The allocations, locked.
    pub(crate) fn allocations(&self) -> MutexGuard<'_, Allocations> {
        self.allocations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<u32, Queue>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new queue. Gives its number, and where in the driver's file its doorbell is.
    pub(crate) fn create_queue(&'static self, wish: Wish) -> Result<(u32, u64), Errno> {
        let Wish { node, base, bytes, read } = wish;
        let packets = bytes / PACKET;
        let gpu = (node as usize).checked_sub(1).filter(|index| *index < self.devices.gpus.len());
        let gpu = gpu.ok_or(Errno::Invalid)?;
        if !base.is_multiple_of(PACKET) || !packets.is_power_of_two() || !read.is_multiple_of(8) {
            return Err(Errno::Invalid);
        }
        if !queue::memory(base, bytes, read, |at, bytes| self.allocations().holds(at, bytes)) {
            return Err(Errno::Fault);
        }
        let mut queues = self.queues();
        let taken = |index: &usize| queues.values().any(|queue| queue.doorbell == *index);
        let index = (0..DOORBELLS).find(|index| !taken(index)).ok_or(Errno::NoneLeft)?;
        // SAFETY: a word of the doorbells' pages, which live as long as the driver.
        let doorbell = unsafe { Cell64::at(self.doorbells.address()) }.nth(index);
        doorbell.store(queue::NEVER_RUNG);
        // SAFETY: memory that was looked at above; the program keeps it until the queue is destroyed.
        let read = unsafe { Cell64::at(read) };
        let ring = Ring { base, packets, read, doorbell };
        let queue = Queue::start(&self.devices, gpu, ring, index)?;
        // Numbers are the doorbells' and never zero.
        let id = index as u32 + 1;
        queues.insert(id, queue);
        Ok((id, self.doorbells.offset() + 8 * index as u64))
    }

    /// Let a queue take packets, or not.
    pub(crate) fn suspend_queue(&self, id: u32, suspended: bool) -> Outcome {
        self.queues().get(&id).map(|queue| queue.suspend(suspended)).ok_or(Errno::Invalid)
    }

    /// Checks that there is a queue with this id.
    pub(crate) fn check_queue(&self, id: u32) -> Outcome {
        self.queues().contains_key(&id).then_some(()).ok_or(Errno::Invalid)
    }

    /// End a queue, and stop the kernel that it runs.
    pub(crate) fn destroy_queue(&self, id: u32) -> Outcome {
        let queue = self.queues().remove(&id).ok_or(Errno::Invalid)?;
        // Not under the lock: it waits for the queue's thread.
        drop(queue);
        Ok(())
    }
}
