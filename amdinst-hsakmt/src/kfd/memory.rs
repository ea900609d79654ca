//! Calls about memory.

use super::Arguments;
use super::machine::node;
use crate::allocations::Pages;
use crate::driver::{Driver, Node};
use crate::errno::{Errno, Outcome};
use crate::user_memory;

/// Kinds of memory, of which an allocation names one.
mod kind {
    pub(super) const DEVICE: u32 = 1 << 0;
    pub(super) const HOST: u32 = 1 << 1;
    pub(super) const REGISTERED: u32 = 1 << 2;
    pub(super) const DOORBELLS: u32 = 1 << 3;
    pub(super) const REGISTERS: u32 = 1 << 4;
    pub(super) const ALL: u32 = DEVICE | HOST | REGISTERED | DOORBELLS | REGISTERS;
}

/// Allocates memory, or registers the program's own.
pub(super) fn allocate(driver: &'static Driver, arguments: &mut Arguments) -> Outcome {
    let (address, size, host) = (arguments.long(0), arguments.long(8), arguments.long(24));
    let node = node(driver, arguments.word(32))?;
    let file = driver.file(Node::Render(node)).ok_or(Errno::Invalid)?;
    let (doorbells, registers) = driver.register_offsets();
    let pages = match arguments.word(36) & kind::ALL {
        kind::DEVICE => Pages::Device { file, limit: driver.devices.settings.profile.memory },
        kind::HOST => Pages::Host(file),
        kind::REGISTERED => Pages::Registered(host),
        kind::DOORBELLS => Pages::Registers { offset: doorbells },
        kind::REGISTERS => Pages::Registers { offset: registers },
        _ => return Err(Errno::Invalid),
    };
    let (handle, offset) = driver.allocations().allocate(node, address, size, &pages)?;
    arguments.set_long(16, handle);
    arguments.set_long(24, offset);
    Ok(())
}

/// Frees memory.
pub(super) fn free(driver: &'static Driver, arguments: &mut Arguments) -> Outcome {
    driver.allocations().free(&driver.devices.gpus, arguments.long(0))
}

/// Does something for each GPU of an array, but for those that it has been done for, and counts them.
fn for_each(
    driver: &'static Driver,
    arguments: &mut Arguments,
    mut act: impl FnMut(u64, u32) -> Outcome,
) -> Outcome {
    let gpus = user_memory::words(arguments.long(8), arguments.word(16))?;
    let done = arguments.word(20);
    if done as usize > gpus.len() {
        return Err(Errno::Invalid);
    }
    for (index, gpu) in gpus.iter().enumerate().skip(done as usize) {
        act(arguments.long(0), node(driver, *gpu)?)?;
        arguments.set_word(20, index as u32 + 1);
    }
    Ok(())
}

/// Lets GPUs see memory.
pub(super) fn map(driver: &'static Driver, arguments: &mut Arguments) -> Outcome {
    for_each(driver, arguments, |handle, node| driver.allocations().map(&driver.devices.gpus, handle, node))
}

/// Hides memory from GPUs.
pub(super) fn unmap(driver: &'static Driver, arguments: &mut Arguments) -> Outcome {
    for_each(driver, arguments, |handle, node| driver.allocations().unmap(&driver.devices.gpus, handle, node))
}

/// How much of a GPU's memory is free.
pub(super) fn available(driver: &'static Driver, arguments: &mut Arguments) -> Outcome {
    let node = node(driver, arguments.word(8))?;
    let used = driver.allocations().used(node);
    arguments.set_long(0, driver.devices.settings.profile.memory.saturating_sub(used));
    Ok(())
}
