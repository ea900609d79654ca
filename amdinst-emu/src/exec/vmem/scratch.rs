//! Accesses to private memory.

use super::allocation::atomic_operands;
use super::bytes_of;
use crate::check::{FaultKind, MemorySpace, NearestAllocation, Outcome, Trap};
use crate::exec::atomic;
use crate::exec::atomic_float::FloatRules;
use crate::exec::lane_data::{get_small, put_small, set_result};
use crate::program::{Action, MemoryAccess};
use crate::wave::Wave;

/// One lane's access to scratch; `place` gives a byte's position in the wave's part.
pub(super) fn scratch(
    w: &mut Wave,
    access: &MemoryAccess,
    lane: usize,
    place: &dyn Fn(u64) -> Option<usize>,
    offset: u64,
    float_rules: FloatRules,
) -> Outcome {
    let bytes = bytes_of(access.action);
    let write = !matches!(access.action, Action::Load { .. });
    let outside = |w: &Wave| {
        let size = u64::from(w.scratch.per_lane());
        let nearest = NearestAllocation {
            label: "the work-item's scratch".to_owned(),
            address: 0,
            size,
            distance: offset.saturating_sub(size) as i64,
        };
        let kind = FaultKind::OutOfBounds {
            space: MemorySpace::Scratch,
            address: offset,
            size: u32::from(bytes),
            write,
            nearest: Some(Box::new(nearest)),
        };
        Trap::at_lane(kind, lane)
    };
    // Stay in bytes where an access crosses dwords, which lie apart.
    let read = |w: &Wave, first: u64, count: u64| -> Option<u64> {
        if count == 4 && offset.is_multiple_of(4) {
            return w.scratch.load_dword(place(first)?).map(u64::from);
        }
        (0..count).try_fold(0, |value, byte| {
            Some(value | u64::from(w.scratch.load(place(first + byte)?)?) << (8 * byte))
        })
    };
    let store = |w: &mut Wave, first: u64, count: u64, value: u64| -> Option<()> {
        if count == 4 && offset.is_multiple_of(4) {
            return w.scratch.store_dword(place(first)?, value as u32).then_some(());
        }
        (0..count).try_for_each(|byte| {
            w.scratch.store(place(first + byte)?, (value >> (8 * byte)) as u8).then_some(())
        })
    };
    match access.action {
        Action::Load { bytes, signed, part } if bytes < 4 => {
            let value = read(w, 0, u64::from(bytes)).ok_or_else(|| outside(w))?;
            put_small(w, access.dst, lane, value, bytes, signed, part);
        }
        Action::Load { bytes, .. } => {
            for dword in 0..u64::from(bytes / 4) {
                let value = read(w, 4 * dword, 4).ok_or_else(|| outside(w))?;
                w.rows[usize::from(access.dst) + dword as usize][lane] = value as u32;
            }
        }
        Action::Store { bytes, part } if bytes < 4 => {
            let value = get_small(w, access.data[0], lane, part);
            store(w, 0, u64::from(bytes), value).ok_or_else(|| outside(w))?;
        }
        Action::Store { bytes, .. } => {
            for dword in 0..u64::from(bytes / 4) {
                let value = u64::from(w.rows[usize::from(access.data[0]) + dword as usize][lane]);
                store(w, 4 * dword, 4, value).ok_or_else(|| outside(w))?;
            }
        }
        Action::Atomic { op, bytes, returns } => {
            if !offset.is_multiple_of(u64::from(bytes)) {
                let (size, required) = (u32::from(bytes), u32::from(bytes));
                let space = MemorySpace::Scratch;
                let kind = FaultKind::Misaligned { space, address: offset, size, required, write };
                return Err(Trap::at_lane(kind, lane));
            }
            let (data, second) = atomic_operands(w, access, op, bytes, lane);
            let halves = |w: &Wave| -> Option<u64> {
                let low = read(w, 0, 4)?;
                Some(if bytes == 8 { low | read(w, 4, 4)? << 32 } else { low })
            };
            let old = halves(w).ok_or_else(|| outside(w))?;
            let new = atomic::apply(op, bytes, old, data, second, float_rules);
            store(w, 0, 4, new & 0xffff_ffff).ok_or_else(|| outside(w))?;
            if bytes == 8 {
                store(w, 4, 4, new >> 32).ok_or_else(|| outside(w))?;
            }
            if returns {
                set_result(w, access.dst, lane, bytes, old);
            }
        }
    }
    Ok(())
}
