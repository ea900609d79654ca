//! Events.

use super::{put, status, take_all};
use crate::abi::{Event, EventDescriptor, MemoryAccessFault, Outcome, Status, event_kind};
use crate::driver::{Driver, driver, give_back};

/// The number of an event.
///
/// # Safety
/// `event` is null or an event of this library's.
unsafe fn id(event: *const Event) -> Result<u32, Status> {
    if event.is_null() {
        return Err(Status::InvalidHandle);
    }
    // SAFETY: the caller's.
    Ok(unsafe { (&raw const (*event).id).read_unaligned() })
}

/// Makes an event.
///
/// # Safety
/// See the module.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hsaKmtCreateEvent(
    descriptor: *const EventDescriptor,
    manual: bool,
    signaled: bool,
    event: *mut *mut Event,
) -> u32 {
    status(|| {
        if descriptor.is_null() || event.is_null() {
            return Err(Status::InvalidParameter);
        }
        let driver = driver()?;
        // SAFETY: the runtime's.
        let descriptor = unsafe { descriptor.read_unaligned() };
        let (id, mailbox) = driver.devices.events.create(manual, signaled)?;
        let value = Box::into_raw(Box::new(Event {
            id,
            kind: descriptor.kind,
            data: MemoryAccessFault::default(),
            hw_data1: u64::from(id),
            hw_data2: mailbox,
            hw_data3: id,
        }));
        if descriptor.kind == event_kind::MEMORY {
            driver.devices.set_fault_event(value);
        }
        // SAFETY: the runtime's.
        unsafe { put(event, value) }
    })
}

/// Frees an event.
///
/// # Safety
/// See the module.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hsaKmtDestroyEvent(event: *mut Event) -> u32 {
    let destroy = |driver: &Driver| {
        // SAFETY: the runtime's.
        driver.devices.events.destroy(unsafe { id(event) }?)?;
        driver.devices.forget_fault_event(event);
        // SAFETY: `hsaKmtCreateEvent` made it, and its number was valid still, so this is the first time.
        drop(unsafe { Box::from_raw(event) });
        Ok(())
    };
    status(|| give_back(destroy))
}

/// Signals an event.
///
/// # Safety
/// See the module.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hsaKmtSetEvent(event: *mut Event) -> u32 {
    // SAFETY: the runtime's.
    status(|| driver()?.devices.events.set(unsafe { id(event) }?, true))
}

/// Takes an event's signal back.
///
/// # Safety
/// See the module.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hsaKmtResetEvent(event: *mut Event) -> u32 {
    // SAFETY: the runtime's.
    status(|| driver()?.devices.events.set(unsafe { id(event) }?, false))
}

/// Whether an event is signaled; if not, this is a time-out.
///
/// # Safety
/// See the module.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hsaKmtQueryEventState(event: *mut Event) -> u32 {
    status(|| {
        // SAFETY: the runtime's.
        let signaled = driver()?.devices.events.is_set(unsafe { id(event) }?)?;
        if signaled { Ok(()) } else { Err(Status::WaitTimeout) }
    })
}

/// Waits for an event.
///
/// # Safety
/// See the module.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hsaKmtWaitOnEvent(event: *mut Event, milliseconds: u32) -> u32 {
    // SAFETY: the runtime's.
    status(|| driver()?.devices.events.wait(&[unsafe { id(event) }?], false, milliseconds))
}

/// Waits for one of some events, or for all.
///
/// # Safety
/// See the module.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hsaKmtWaitOnMultipleEvents(
    events: *const *mut Event,
    count: u32,
    all: bool,
    milliseconds: u32,
) -> u32 {
    status(|| -> Outcome {
        let driver = driver()?;
        // SAFETY: the runtime's.
        let ids = unsafe {
            take_all(events, count.into())?
                .into_iter()
                .filter(|event| !event.is_null())
                .map(|event| id(event))
        }
        .collect::<Result<Vec<_>, _>>()?;
        driver.devices.events.wait(&ids, all, milliseconds)
    })
}
