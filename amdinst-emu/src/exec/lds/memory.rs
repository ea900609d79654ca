//! Bytes of the workgroup's LDS: checks, loads and stores.

use crate::check::{AccessKind, FaultKind, MemorySpace, NearestAllocation, Outcome, Passed, Trap};
use crate::exec::lane_data::{get_small, put_small};
use crate::lds::Lds;
use crate::program::Action;
use crate::races::Mark;
use crate::wave::Wave;

/// The first byte of an access that a wave is about to make, after checking that it is in bounds, at a
/// multiple of `required`, and, if asked for, no race.
///
/// Loads and stores have no alignment: HSA sets SH_MEM_CONFIG.ALIGNMENT_MODE to "unaligned" (AMDGPU user
/// guide, "Memory Model"), and compilers count on it (`unaligned-access-mode`). Atomics must be at a multiple
/// of their size.
pub(in crate::exec) fn check(
    lds: &mut Lds,
    w: &Wave,
    access: AccessKind,
    address: u64,
    bytes: u8,
    required: u8,
    lane: usize,
) -> Outcome<usize> {
    check_to(lds, w, (access, usize::MAX), address, bytes, required, lane)
}

/// As [`check`], of an instruction that reaches no more than M0 says, where M0 says that (AMDGPU user guide,
/// "M0").
pub(in crate::exec) fn check_to_m0(
    lds: &mut Lds,
    w: &Wave,
    access: AccessKind,
    address: u64,
    bytes: u8,
    required: u8,
    lane: usize,
) -> Outcome<usize> {
    check_to(lds, w, (access, w.lds_limit()), address, bytes, required, lane)
}

/// As [`check`], of an instruction that reaches so many bytes, whatever there are.
fn check_to(
    lds: &mut Lds,
    w: &Wave,
    (access, limit): (AccessKind, usize),
    address: u64,
    bytes: u8,
    required: u8,
    lane: usize,
) -> Outcome<usize> {
    let size = u32::from(bytes);
    let write = access != AccessKind::Read;
    if !address.is_multiple_of(u64::from(required)) {
        let required = u32::from(required);
        let kind = FaultKind::Misaligned { space: MemorySpace::Lds, address, size, required, write };
        return Err(Trap::at_lane(kind, lane));
    }
    let len = lds.len().min(limit) as u64;
    if address + u64::from(size) > len {
        let passed = || {
            let nearest = NearestAllocation {
                label: "the workgroup's LDS".to_owned(),
                address: 0,
                size: len,
                distance: address.saturating_sub(len) as i64,
            };
            let kind = FaultKind::OutOfBounds {
                space: MemorySpace::Lds,
                address,
                size,
                write,
                nearest: Some(Box::new(nearest)),
            };
            Passed { wave: w.index, calls: w.calls.steps().collect(), trap: Trap::at_lane(kind, lane) }
        };
        if let Some(nowhere) =
            lds.beyond(w.current, address, bytes, (write, w.rules.partly_out, limit), passed)?
        {
            return Ok(nowhere);
        }
    }
    let at = address as usize;
    let by = (Mark::new(w.place.number, w.site(w.current)), w.stage());
    lds.note(access, by, at, usize::from(bytes), lane)?;
    Ok(at)
}

/// Little-endian load of up to 8 bytes that have been checked.
pub(in crate::exec) fn load(lds: &[u8], at: usize, bytes: usize) -> u64 {
    lds[at..at + bytes].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Little-endian store of up to 8 bytes that have been checked.
pub(in crate::exec) fn store(lds: &mut [u8], at: usize, bytes: usize, value: u64) {
    lds[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
}

/// Load into a lane's registers from LDS, or store from them.
pub(in crate::exec) fn transfer(
    w: &mut Wave,
    lds: &mut [u8],
    action: Action,
    at: usize,
    lane: usize,
    row: u16,
) {
    match action {
        Action::Load { bytes, signed, part } if bytes < 4 => {
            let value = load(lds, at, usize::from(bytes));
            put_small(w, row, lane, value, bytes, signed, part);
        }
        Action::Load { bytes, .. } => {
            for dword in 0..usize::from(bytes / 4) {
                let value = load(lds, at + 4 * dword, 4) as u32;
                w.rows[usize::from(row) + dword][lane] = value;
            }
        }
        Action::Store { bytes, part } if bytes < 4 => {
            let value = get_small(w, row, lane, part);
            store(lds, at, usize::from(bytes), value);
        }
        Action::Store { bytes, .. } => {
            for dword in 0..usize::from(bytes / 4) {
                let value = w.rows[usize::from(row) + dword][lane];
                store(lds, at + 4 * dword, 4, u64::from(value));
            }
        }
        Action::Atomic { .. } => {}
    }
}
