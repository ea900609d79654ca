//! How long the banks of LDS work at an instruction.

use amdgpu_isa::LdsBanks;

use super::Footprint;
use crate::check::AccessKind;
use crate::wave::{LANES, lanes_of};

/// Dwords that a lane's access touches, at most: four, and one more where it is not aligned.
const MOST_DWORDS: usize = LdsBanks::WIDTHS + 1;

/// Cycles of the banks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BankCycles {
    /// All of them.
    pub(crate) all: u64,
    /// Those that the same lanes take where each finds its banks free: one a phase.
    pub(crate) least: u64,
}

/// The cycles that an instruction takes. A cycle serves one dword of each bank: lanes that want the same one
/// share it, unless each changes it by an atomic.
pub(crate) fn bank_cycles(footprint: &Footprint, how: AccessKind, banks: &LdsBanks) -> BankCycles {
    let bytes = u32::from(footprint.bytes.max(1));
    let phases = banks.phases(how == AccessKind::Read, bytes);
    let mut cycles = BankCycles::default();
    for shift in [Some(0), footprint.second].into_iter().flatten() {
        // Phase by phase, what the lanes want.
        let mut wanted = [0u64; LANES * MOST_DWORDS];
        let mut count = 0;
        for lane in lanes_of(footprint.local) {
            let first = footprint.offset[lane].wrapping_add_signed(shift);
            let last = first.wrapping_add(bytes - 1) / LdsBanks::WORD_BYTES;
            let first = first / LdsBanks::WORD_BYTES;
            let phase = u64::from(phases.of(lane as u32)) << u32::BITS;
            let dwords = last.wrapping_sub(first).min(MOST_DWORDS as u32 - 1);
            for dword in 0..=dwords {
                wanted[count] = phase | u64::from(first.wrapping_add(dword));
                count += 1;
            }
        }
        let wanted = &mut wanted[..count];
        wanted.sort_unstable();
        for phase in wanted.chunk_by(|one, other| one >> u32::BITS == other >> u32::BITS) {
            let mut busy = [0u64; 64];
            let mut before = None;
            for &dword in phase {
                if how == AccessKind::Atomic || before != Some(dword) {
                    busy[(dword % u64::from(phases.banks)) as usize % busy.len()] += 1;
                }
                before = Some(dword);
            }
            cycles.all += busy.into_iter().max().unwrap_or(0);
            cycles.least += 1;
        }
    }
    cycles
}

#[cfg(test)]
mod tests {
    use amdgpu_isa::Arch;

    use super::*;

    fn strided(lanes: u32, bytes: u8, stride: u32) -> Footprint {
        let local = if lanes == 64 { !0 } else { (1 << lanes) - 1 };
        let mut footprint = Footprint { local, bytes, ..Footprint::default() };
        for (lane, offset) in footprint.offset.iter_mut().enumerate() {
            *offset = stride * lane as u32;
        }
        footprint
    }

    fn cycles(arch: Arch, footprint: &Footprint, how: AccessKind) -> [u64; 2] {
        let BankCycles { all, least } = bank_cycles(footprint, how, &arch.limits().lds_banks);
        [all, least]
    }

    /// By hand: 64 lanes of 4 bytes are two phases; a stride of 8 bytes uses every other bank, so twice as
    /// many; at 128 bytes all lanes want one bank. One address for all is a broadcast, or 64 changes one
    /// after the other.
    #[test]
    fn conflicts() {
        for (bytes, stride, loads, atomics) in [
            (4, 4, 2, 2),
            (4, 8, 4, 4),
            (4, 12, 2, 2),
            (4, 128, 64, 64),
            (4, 0, 2, 64),
            (8, 8, 4, 4),
            (16, 16, 8, 8),
        ] {
            let footprint = strided(64, bytes, stride);
            let of = |how| cycles(Arch::Gfx90a, &footprint, how)[0];
            assert_eq!(of(AccessKind::Read), loads, "{bytes} bytes, stride {stride}");
            assert_eq!(of(AccessKind::Atomic), atomics, "{bytes} bytes, stride {stride}, atomic");
        }
    }

    /// By hand, of the phases as they were measured. A dword a lane, s dwords apart: of a phase of 32 lanes,
    /// gcd(s, 32) meet in the fullest of 32 banks.
    #[test]
    fn conflicts_by_processor() {
        for (arch, lanes, bytes, stride, expected) in [
            // All lanes want bank 0: 32 a phase, two phases; on gfx950 32 banks apart are two banks.
            (Arch::Gfx942, 64, 4, 128, [64, 2]),
            (Arch::Gfx950, 64, 4, 128, [32, 1]),
            (Arch::Gfx950, 64, 4, 256, [64, 1]),
            (Arch::Gfx1100, 32, 4, 128, [32, 1]),
            // One dword of padding: none meets another.
            (Arch::Gfx942, 64, 4, 132, [2, 2]),
            (Arch::Gfx1100, 32, 4, 132, [1, 1]),
            // Two dwords, four apart: sixteen lanes of a phase take each pair of banks twice.
            (Arch::Gfx942, 64, 8, 16, [8, 4]),
            (Arch::Gfx950, 64, 8, 16, [4, 2]),
            // Four dwords in a row: lanes n and n + 8 share banks, and no phase has both.
            (Arch::Gfx942, 64, 16, 16, [8, 8]),
            (Arch::Gfx1201, 32, 16, 16, [4, 4]),
            (Arch::Gfx950, 64, 16, 16, [4, 4]),
            // Three dwords in a row: eight lanes touch 24 banks.
            (Arch::Gfx942, 64, 12, 12, [8, 8]),
        ] {
            let found = cycles(arch, &strided(lanes, bytes, stride), AccessKind::Read);
            assert_eq!(found, expected, "{arch}, {lanes} lanes of {bytes} bytes, stride {stride}");
        }
    }

    /// What tells crossed phases from neighbors: lanes 0 to 3 and 20 to 23 take 16 dwords each of their own
    /// half of the banks. Loads find that free, stores find two at a time.
    #[test]
    fn loads_of_four_dwords_cross() {
        let mut footprint = strided(64, 16, 0);
        for (lane, offset) in footprint.offset.iter_mut().enumerate() {
            // Bank 16 · half + 4 · (lane % 4), another row for each lane.
            let half = u32::from(lane & 16 != 0);
            *offset = 4 * (16 * half + 4 * (lane as u32 % 4)) + 128 * lane as u32;
        }
        assert_eq!(cycles(Arch::Gfx942, &footprint, AccessKind::Read), [8, 8]);
        assert_eq!(cycles(Arch::Gfx942, &footprint, AccessKind::Write), [16, 8]);
        assert_eq!(cycles(Arch::Gfx1201, &footprint, AccessKind::Read), [16, 8]);
    }

    /// A dword that is not aligned touches two, and two lanes' halves of one dword are one.
    #[test]
    fn a_dword_that_is_not_aligned_takes_two_banks() {
        let mut footprint = strided(64, 4, 4);
        footprint.offset.iter_mut().for_each(|offset| *offset += 2);
        // Each phase wants 33 dwords in a row.
        assert_eq!(cycles(Arch::Gfx942, &footprint, AccessKind::Read), [4, 2]);
        assert_eq!(cycles(Arch::Gfx942, &strided(64, 2, 2), AccessKind::Read), [2, 2]);
    }

    /// No lane, no cycle; two places are two accesses.
    #[test]
    fn places_are_summed_up() {
        let footprint = Footprint { second: Some(128), ..strided(64, 4, 4) };
        assert_eq!(cycles(Arch::Gfx942, &footprint, AccessKind::Read), [4, 4]);
        assert_eq!(cycles(Arch::Gfx942, &Footprint::default(), AccessKind::Read), [0, 0]);
    }
}
