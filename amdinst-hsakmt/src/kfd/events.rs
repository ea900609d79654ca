//! Calls about events.

use super::Arguments;
use super::arguments::{long, word};
use crate::driver::Driver;
use crate::errno::{Errno, Outcome};
use crate::events::{MAILBOXES, Source, Told, Wanted, Woken};
use crate::topology;
use crate::user_memory;

/// Kinds of events.
mod kind {
    pub(super) const SIGNAL: u32 = 0;
    pub(super) const DEBUG: u32 = 5;
    pub(super) const MEMORY: u32 = 8;
}

/// Bytes of what is said of one event of a wait, and where in it is which.
mod entry {
    pub(super) const BYTES: usize = 48;
    /// Of a memory fault: not present, read only, address, GPU.
    pub(super) const NOT_PRESENT: usize = 0;
    pub(super) const READ_ONLY: usize = 4;
    pub(super) const ADDRESS: usize = 16;
    pub(super) const GPU: usize = 24;
    /// Of the others.
    pub(super) const AGE: usize = 0;
    pub(super) const ID: usize = 40;
}

/// Events of one wait, at most: all that there may be.
const MOST: u32 = crate::events::MOST;
/// How a wait ended.
const COMPLETE: u32 = 0;
const TIMEOUT: u32 = 1;

/// Makes an event. The first one brings the memory by which kernels signal.
pub(super) fn create(driver: &'static Driver, arguments: &mut Arguments) -> Outcome {
    let events = &driver.devices.events;
    let page = arguments.long(0);
    if let Some((host, keep)) = driver.allocations().host(page, MAILBOXES) {
        // SAFETY: a block of at least so many bytes, aligned to a page, which `keep` keeps. One of the
        // program's own memory is the program's to keep, as all that it registers.
        unsafe { events.set_mailboxes(host, keep) };
    }
    let source = match arguments.word(12) {
        kind::SIGNAL | kind::DEBUG => Source::Program,
        kind::MEMORY => Source::Faults,
        _ => Source::Nothing,
    };
    let id = events.create(source, arguments.word(16) == 0)?;
    if source == Source::Program {
        // Which word is its own. A page without an offset would be none.
        arguments.set_long(0, page.max(1));
        arguments.set_word(8, id);
        arguments.set_word(28, id);
    }
    arguments.set_word(24, id);
    Ok(())
}

/// Forgets an event.
pub(super) fn destroy(driver: &'static Driver, arguments: &mut Arguments) -> Outcome {
    driver.devices.events.destroy(arguments.word(0))
}

/// Signals an event.
pub(super) fn set(driver: &'static Driver, arguments: &mut Arguments) -> Outcome {
    driver.devices.events.set(arguments.word(0), true)
}

/// Takes an event's signal back.
pub(super) fn reset(driver: &'static Driver, arguments: &mut Arguments) -> Outcome {
    driver.devices.events.set(arguments.word(0), false)
}

/// Waits for one of some events, or for all.
pub(super) fn wait(driver: &'static Driver, arguments: &mut Arguments) -> Outcome {
    let (array, count) = (arguments.long(0), arguments.word(8));
    if count > MOST {
        return Err(Errno::Invalid);
    }
    let mut bytes = vec![0; entry::BYTES * count as usize];
    user_memory::read(array, &mut bytes)?;
    let (entries, _) = bytes.as_chunks_mut::<{ entry::BYTES }>();
    let wanted: Vec<Wanted> = entries.iter().map(wanted).collect();
    let woken = driver.devices.events.wait(&wanted, arguments.word(12) != 0, arguments.word(16))?;
    let Woken::Complete(told) = woken else {
        arguments.set_word(20, TIMEOUT);
        return Ok(());
    };
    for ((entry, told), wanted) in entries.iter_mut().zip(told).zip(wanted) {
        fill(driver, entry, told, wanted);
    }
    arguments.set_word(20, COMPLETE);
    user_memory::write(array, &bytes)
}

type Entry = [u8; entry::BYTES];

fn wanted(entry: &Entry) -> Wanted {
    Wanted { id: word(entry, entry::ID), age: long(entry, entry::AGE) }
}

/// Tells what is known of an event.
fn fill(driver: &Driver, entry: &mut Entry, told: Told, wanted: Wanted) {
    let mut put = |offset: usize, value: &[u8]| entry[offset..offset + value.len()].copy_from_slice(value);
    if let Some(fault) = told.fault {
        let gpu = topology::gpu_of(&driver.devices.settings, fault.node);
        put(entry::NOT_PRESENT, &u32::from(!fault.read_only).to_ne_bytes());
        put(entry::READ_ONLY, &u32::from(fault.read_only).to_ne_bytes());
        put(entry::ADDRESS, &fault.address.to_ne_bytes());
        put(entry::GPU, &gpu.to_ne_bytes());
    } else if let Some(age) = told.age.filter(|_| wanted.age != 0) {
        put(entry::AGE, &age.to_ne_bytes());
    }
}
