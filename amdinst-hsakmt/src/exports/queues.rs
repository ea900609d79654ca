//! Queues.

use std::ffi::c_void;

use super::{put, status};
use crate::abi::{Event, QUEUE_AQL, QueueResource, Status};
use crate::driver::{driver, give_back};
use crate::topology::GLOBAL_SYNCS;

/// Starts a queue. Queues of packets are all there are: the runtime copies with kernels where it gets no
/// other engine.
///
/// # Safety
/// See the module.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hsaKmtCreateQueue(
    node: u32,
    kind: u32,
    _percentage: u32,
    _priority: i32,
    ring: *mut c_void,
    bytes: u64,
    _event: *mut Event,
    resource: *mut QueueResource,
) -> u32 {
    status(|| {
        let driver = driver()?;
        if kind != QUEUE_AQL {
            return Err(Status::NotSupported);
        }
        if resource.is_null() {
            return Err(Status::InvalidParameter);
        }
        // SAFETY: the runtime's.
        let mut value = unsafe { resource.read_unaligned() };
        let (id, doorbell) = driver.create_queue(node, ring.expose_provenance() as u64, bytes, &value)?;
        (value.id, value.doorbell) = (id, doorbell);
        // SAFETY: the runtime's.
        unsafe { put(resource, value) }
    })
}

/// Changes a queue: with no share of the GPU it takes no packets.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn hsaKmtUpdateQueue(
    queue: u64,
    percentage: u32,
    _priority: i32,
    _ring: *mut c_void,
    _bytes: u64,
    _event: *mut c_void,
) -> u32 {
    status(|| driver()?.suspend_queue(queue, percentage == 0))
}

/// Ends a queue.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn hsaKmtDestroyQueue(queue: u64) -> u32 {
    status(|| give_back(|driver| driver.destroy_queue(queue)))
}

/// Gives a queue counters of global wave sync, by which workgroups of a cooperative launch wait for each
/// other.
///
/// # Safety
/// See the module.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hsaKmtAllocQueueGWS(queue: u64, count: u32, first: *mut u32) -> u32 {
    status(|| {
        driver()?.check_queue(queue)?;
        if count > u32::from(GLOBAL_SYNCS) {
            return Err(Status::OutOfResources);
        }
        // SAFETY: the runtime's.
        unsafe { put(first, 0) }
    })
}

/// Which CUs a queue may use: results do not depend on it.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn hsaKmtSetQueueCUMask(queue: u64, _bits: u32, _mask: *mut u32) -> u32 {
    status(|| driver()?.check_queue(queue))
}
