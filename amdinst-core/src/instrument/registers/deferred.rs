//! Registers from which the address of a wave's record follows, where that is worked out later than at entry
//! (`emit/deferred`).

use amdgpu_isa::{Arch, Feature, LAST_SGPR};

/// Registers that hold a wave's ids, and the argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deferred {
    /// First of eight with the argument: the buffer's address, bytes between workgroups in x (where the
    /// record's offset comes to be), y and z, two words of which a wave's number follows, bytes between
    /// records.
    pub(crate) block: u8,
    /// Ids of the wave's first work-item. Where all come in one VGPR (gfx90a and later), the first has that.
    pub(crate) ids: [u8; 3],
    /// Ids of the workgroup, where the program overwrites those that it was started with. Where it cannot,
    /// one register for an id that is taken out of another.
    pub(crate) workgroup: [u8; 3],
}

/// The lowest SGPR that it may take: those below are filled when a wave starts.
const LOWEST: u8 = 24;

impl Deferred {
    /// Takes registers from a list; none where there are too few that cost no occupancy.
    pub(crate) fn take(arch: Arch, sgprs: &mut Vec<u8>) -> Option<Self> {
        let highest = sgprs_that_cost_nothing(arch);
        let mut left: Vec<u8> =
            sgprs.iter().copied().filter(|&register| (LOWEST..highest).contains(&register)).collect();
        left.sort_unstable();
        let mut tuple = |count: u8, align: u8| {
            let whole = |run: &[u8]| run[0].is_multiple_of(align) && run[run.len() - 1] == run[0] + count - 1;
            let at = left.windows(usize::from(count)).position(whole)?;
            left.drain(at..at + usize::from(count)).next()
        };
        let block = tuple(8, 4)?;
        let mut single = || tuple(1, 1);
        let workgroup = match arch.has(Feature::WorkgroupIdsInTtmps) {
            true => [single()?; 3],
            false => [single()?, single()?, single()?],
        };
        let first = single()?;
        let ids =
            if arch.has(Feature::PackedWorkItemIds) { [first; 3] } else { [first, single()?, single()?] };
        let deferred = Self { block, ids, workgroup };
        sgprs.retain(|register| !(LOWEST..highest).contains(register) || left.contains(register));
        Some(deferred)
    }

    /// In SGPRs from one on that is a multiple of four, [`Deferred::REGISTERS`] of them: for a prologue that
    /// works out all by itself, and keeps nothing of the workgroup.
    pub(crate) const fn at(arch: Arch, first: u8) -> Self {
        let id = first + 8;
        let ids = if arch.has(Feature::PackedWorkItemIds) { [id; 3] } else { [id, id + 1, id + 2] };
        Self { block: first, ids, workgroup: [id + 1; 3] }
    }

    /// How many those are at most.
    pub(crate) const REGISTERS: u8 = 11;
}

/// VCC, FLAT_SCRATCH and XNACK_MASK, which are counted with the SGPRs.
pub(crate) const SPECIAL_SGPRS: u32 = 6;

/// SGPRs below this number cost no occupancy, on a SIMD that is full of waves.
fn sgprs_that_cost_nothing(arch: Arch) -> u8 {
    // Of 800 a SIMD, 8 waves or 10 take a share each in granules of 16, 6 of it for special registers. The
    // table would allow a few more to 8 waves.
    if arch.limits().fixed_sgprs {
        return LAST_SGPR + 1;
    }
    let share = 800 / arch.limits().waves_per_simd / 16 * 16;
    (share - SPECIAL_SGPRS) as u8
}

/// VGPRs in which ids of work-items arrive.
pub(crate) fn id_vgprs(arch: Arch) -> u8 {
    if arch.has(Feature::PackedWorkItemIds) { 1 } else { 3 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_whole_tuples_above_those_of_a_start_and_below_those_that_cost_occupancy() {
        let counts = [(Arch::Gfx90a, 12), (Arch::Gfx908, 14), (Arch::Gfx1100, 12), (Arch::Gfx1201, 10)];
        for (arch, count) in counts {
            let mut sgprs: Vec<u8> = (0..24).chain(26..102).collect();
            let deferred = Deferred::take(arch, &mut sgprs).unwrap();
            let block = deferred.block;
            assert_eq!(block % 4, 0);
            let taken: Vec<u8> = (0..102)
                .filter(|register| !(24..26).contains(register) && !sgprs.contains(register))
                .collect();
            assert_eq!(taken.len(), count);
            assert!(taken.iter().all(|register| (26..74).contains(register)));
            assert!((block..block + 8).all(|register| taken.contains(&register)));
            // Too few: nothing is taken.
            let mut few: Vec<u8> = (0..33).collect();
            assert!(Deferred::take(arch, &mut few).is_none() && few.len() == 33);
        }
    }
}
