//! Accesses to device memory, once the allocation is known.

use super::LaneAddress;
use amdgpu_isa::AtomicOp;

use crate::check::{FaultKind, MemorySpace, Outcome, Trap};
use crate::exec::atomic;
use crate::exec::atomic_float::FloatRules;
use crate::exec::lane_data::{get_small, operand, put_small, set_result};
use crate::memory::Allocation;
use crate::program::{Action, MemoryAccess};
use crate::wave::{LANES, Wave};

/// The fast path: every active lane's bytes are inside one allocation that may be accessed so.
pub(super) fn one_allocation(
    w: &mut Wave,
    access: &MemoryAccess,
    allocation: &Allocation,
    places: &[LaneAddress; LANES],
    float_rules: FloatRules,
) -> Outcome {
    let exec = w.exec;
    let offset = |lane: usize| match places[lane] {
        LaneAddress::Global(address) => (address - allocation.address) as usize,
        _ => 0,
    };
    let active = (0..LANES).filter(|lane| exec >> lane & 1 != 0);
    let bytes = &allocation.bytes;
    match access.action {
        Action::Load { bytes: 4, .. } => {
            for lane in active {
                w.rows[usize::from(access.dst)][lane] = bytes.load::<4>(offset(lane)) as u32;
            }
        }
        Action::Store { bytes: 4, .. } => {
            for lane in active {
                bytes.store::<4>(offset(lane), u64::from(w.rows[usize::from(access.data[0])][lane]));
            }
        }
        _ => {
            for lane in active {
                let address = allocation.address + offset(lane) as u64;
                in_allocation(w, access, allocation, address, lane, float_rules)?;
            }
        }
    }
    Ok(())
}

/// One lane's access, within an allocation.
pub(super) fn in_allocation(
    w: &mut Wave,
    access: &MemoryAccess,
    allocation: &Allocation,
    address: u64,
    lane: usize,
    float_rules: FloatRules,
) -> Outcome {
    let at = (address - allocation.address) as usize;
    let memory = &allocation.bytes;
    match access.action {
        Action::Load { bytes, signed, part } if bytes < 4 => {
            let value = if bytes == 1 { memory.load::<1>(at) } else { memory.load::<2>(at) };
            put_small(w, access.dst, lane, value, bytes, signed, part);
        }
        Action::Load { bytes, .. } => {
            for dword in 0..usize::from(bytes / 4) {
                w.rows[usize::from(access.dst) + dword][lane] = memory.load::<4>(at + 4 * dword) as u32;
            }
        }
        Action::Store { bytes, part } if bytes < 4 => {
            let value = get_small(w, access.data[0], lane, part);
            if bytes == 1 { memory.store::<1>(at, value) } else { memory.store::<2>(at, value) }
        }
        Action::Store { bytes, .. } => {
            for dword in 0..usize::from(bytes / 4) {
                memory
                    .store::<4>(at + 4 * dword, u64::from(w.rows[usize::from(access.data[0]) + dword][lane]));
            }
        }
        Action::Atomic { op, bytes, returns } => {
            let required = u32::from(bytes);
            if !address.is_multiple_of(u64::from(required)) {
                let kind = FaultKind::Misaligned {
                    space: MemorySpace::Global,
                    address,
                    size: required,
                    required,
                    write: true,
                };
                return Err(Trap::at_lane(kind, lane));
            }
            let (data, second) = atomic_operands(w, access, op, bytes, lane);
            let f = |old| atomic::apply(op, bytes, old, data, second, float_rules);
            let old = if bytes == 8 { memory.update::<8>(at, f) } else { memory.update::<4>(at, f) };
            if returns {
                set_result(w, access.dst, lane, bytes, old);
            }
        }
    }
    Ok(())
}

/// The operands as [`atomic::apply`] takes them: compare-and-swap has the new value first, then what to
/// compare with.
pub(super) fn atomic_operands(
    w: &Wave,
    access: &MemoryAccess,
    op: AtomicOp,
    bytes: u8,
    lane: usize,
) -> (u64, u64) {
    let first = operand(w, access.data[0], lane, bytes);
    if matches!(op, AtomicOp::CmpSwap | AtomicOp::FCmpSwap) {
        let compare = operand(w, access.data[0] + u16::from(bytes / 4), lane, bytes);
        (compare, first)
    } else {
        (first, 0)
    }
}
