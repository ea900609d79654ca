//! Single values at device addresses, the wave's own scratch among them.

use crate::check::{FaultKind, MemorySpace, Outcome, Trap};
use crate::memory::{Allocation, Memory, Protection};
use crate::wave::Wave;

/// The allocation that an access may go to, or what is wrong with it.
pub(super) fn checked(
    memory: &Memory,
    address: u64,
    bytes: u8,
    write: bool,
    lane: usize,
) -> Outcome<&Allocation> {
    let size = u32::from(bytes);
    let Some((allocation, _)) = memory.find(address, u64::from(size)) else {
        return Err(Trap::at_lane(memory.diagnose(MemorySpace::Global, address, size, write), lane));
    };
    if write && allocation.protection == Protection::ReadOnly {
        let kind = FaultKind::ReadOnly { address, size, label: allocation.label.clone() };
        return Err(Trap::at_lane(kind, lane));
    }
    Ok(allocation)
}

/// Little-endian load of 1, 2 or 4 bytes.
pub(super) fn load(w: &Wave, memory: &Memory, address: u64, bytes: u8, lane: usize) -> Outcome<u32> {
    if let Some(at) = w.scratch.offset_of(address)
        && w.scratch.offset_of(address + u64::from(bytes) - 1).is_some()
    {
        let byte = |index: usize| u32::from(w.scratch.load(at + index).unwrap_or(0)) << (8 * index);
        return Ok((0..usize::from(bytes)).map(byte).sum());
    }
    let allocation = checked(memory, address, bytes, false, lane)?;
    let at = (address - allocation.address) as usize;
    Ok(match bytes {
        1 => allocation.bytes.load::<1>(at),
        2 => allocation.bytes.load::<2>(at),
        _ => allocation.bytes.load::<4>(at),
    } as u32)
}

/// Little-endian store of 1, 2 or 4 bytes.
pub(super) fn store(
    w: &mut Wave,
    memory: &Memory,
    address: u64,
    bytes: u8,
    value: u32,
    lane: usize,
) -> Outcome {
    if let Some(at) = w.scratch.offset_of(address)
        && w.scratch.offset_of(address + u64::from(bytes) - 1).is_some()
    {
        for (index, byte) in value.to_le_bytes().into_iter().take(usize::from(bytes)).enumerate() {
            w.scratch.store(at + index, byte);
        }
        return Ok(());
    }
    let allocation = checked(memory, address, bytes, true, lane)?;
    let at = (address - allocation.address) as usize;
    let value = u64::from(value);
    match bytes {
        1 => allocation.bytes.store::<1>(at, value),
        2 => allocation.bytes.store::<2>(at, value),
        _ => allocation.bytes.store::<4>(at, value),
    }
    Ok(())
}
