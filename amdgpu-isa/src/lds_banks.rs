//! The banks of LDS: which lanes of an instruction it serves together.
//!
//! An instruction goes in phases. A bank gives each phase one dword; lanes of one phase that want different
//! dwords of one bank wait for each other, and lanes of different phases never do.
//!
//! Sources: **M** measurements of reads of one, two and four dwords on an MI300X (gfx942), an MI350X
//! (gfx950), a W7900 (gfx1100) and an RX 9070 XT (gfx1201), by `nod-ai/amd-shark-ai`, `docs/empirical-lds`
//! (2026). **R** the vendor's model in rocRoller (`ROCm/rocm-libraries`, `LDSBankModel.cpp`): reads of three
//! dwords go in eights of neighbors, and on gfx950 they and stores go over 32 banks. **C** the guide of
//! Composable Kernel ("Understanding AMD GPU LDS and Bank Conflicts"): stores of four dwords go in eights of
//! neighbors. Nothing is published of other processors; [`LdsBanks::measured_on`] is `None` there.

/// How the LDS of a processor serves the lanes of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LdsBanks {
    /// Loads of one to four dwords a lane.
    pub loads: [LdsPhases; Self::WIDTHS],
    /// Stores and atomics of one to four dwords a lane.
    pub stores: [LdsPhases; Self::WIDTHS],
    /// The processor on which the phases of loads were measured; `None` where they are assumed to be those of
    /// the next of kin.
    pub measured_on: Option<&'static str>,
}

/// The phases of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LdsPhases {
    /// Banks that a phase has.
    pub banks: u32,
    /// Bits of a lane's number that stand in one sum: two lanes are in one phase if each of these sums is
    /// even for both, or odd for both.
    sums: &'static [u32],
}

/// Lanes 0 to 63 together.
const ALL: &[u32] = &[];
/// Lanes 0 to 31, and 32 to 63.
const HALVES: &[u32] = &[0b10_0000];
/// Sixteen neighbors each.
const QUARTERS: &[u32] = &[0b10_0000, 0b01_0000];
/// Eight neighbors each.
const EIGHTHS: &[u32] = &[0b10_0000, 0b01_0000, 0b00_1000];
/// Lanes 0 to 3 with 20 to 23, 4 to 7 with 16 to 19, 8 to 11 with 28 to 31, 12 to 15 with 24 to 27; and the
/// same of the other half.
const CROSSED_EIGHTHS: &[u32] = &[0b10_0000, 0b00_1000, 0b01_0100];
/// Lanes 0 to 3, 12 to 15, 20 to 23 and 24 to 27; the other lanes up to 31; and the same of the other half.
const CROSSED_QUARTERS: &[u32] = &[0b10_0000, 0b01_1100];

const fn of_32_banks(sums: &'static [u32]) -> LdsPhases {
    LdsPhases { banks: 32, sums }
}

const fn of_64_banks(sums: &'static [u32]) -> LdsPhases {
    LdsPhases { banks: 64, sums }
}

/// R and C.
const STORES: [LdsPhases; LdsBanks::WIDTHS] =
    [of_32_banks(HALVES), of_32_banks(QUARTERS), of_32_banks(EIGHTHS), of_32_banks(EIGHTHS)];

impl LdsBanks {
    /// Bytes of a bank's word.
    pub const WORD_BYTES: u32 = 4;
    /// Widths of an access that have phases of their own: dwords of a lane, from one.
    pub const WIDTHS: usize = 4;

    /// M (loads of three dwords: R).
    pub(crate) const CDNA3: Self = Self {
        loads: [
            of_32_banks(HALVES),
            of_32_banks(QUARTERS),
            of_32_banks(EIGHTHS),
            of_32_banks(CROSSED_EIGHTHS),
        ],
        stores: STORES,
        measured_on: Some("gfx942"),
    };

    /// GFX8, and GFX9 up to gfx90a: assumed to be as CDNA 3.
    pub(crate) const GCN: Self = Self { measured_on: None, ..Self::CDNA3 };

    /// M (loads of three dwords: R).
    pub(crate) const CDNA4: Self = Self {
        loads: [of_64_banks(ALL), of_64_banks(HALVES), of_32_banks(EIGHTHS), of_64_banks(CROSSED_QUARTERS)],
        measured_on: Some("gfx950"),
        ..Self::CDNA3
    };

    /// M: as CDNA 3, lanes 32 to 63 in a pass of their own.
    pub(crate) const RDNA3: Self = Self { measured_on: Some("gfx1100"), ..Self::CDNA3 };

    /// RDNA 1 and 2: assumed to be as RDNA 3.
    pub(crate) const RDNA: Self = Self { measured_on: None, ..Self::RDNA3 };

    /// M.
    pub(crate) const RDNA4: Self = Self {
        loads: [of_32_banks(HALVES), of_32_banks(QUARTERS), of_32_banks(EIGHTHS), of_32_banks(EIGHTHS)],
        measured_on: Some("gfx1201"),
        ..Self::CDNA3
    };

    /// The phases of an access of so many bytes a lane: a load, or what changes LDS.
    pub const fn phases(&self, loads: bool, bytes: u32) -> LdsPhases {
        let dwords = bytes.div_ceil(Self::WORD_BYTES) as usize;
        let width = if dwords < 1 {
            0
        } else if dwords > Self::WIDTHS {
            Self::WIDTHS - 1
        } else {
            dwords - 1
        };
        if loads { self.loads[width] } else { self.stores[width] }
    }
}

impl LdsPhases {
    /// How many there are, for 64 lanes.
    pub const fn count(&self) -> u32 {
        1 << self.sums.len()
    }

    /// The phase of a lane, from 0 to less than [`Self::count`].
    pub fn of(&self, lane: u32) -> u32 {
        let odd = |sum: &u32| (lane & sum).count_ones() % 2;
        self.sums.iter().rev().fold(0, |phase, sum| phase << 1 | odd(sum))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ops::RangeInclusive;

    use super::*;

    /// The lanes of each phase, in order of the first.
    fn groups(phases: LdsPhases, lanes: u32) -> Vec<Vec<u32>> {
        let mut groups = BTreeMap::<u32, Vec<u32>>::new();
        for lane in 0..lanes {
            groups.entry(phases.of(lane)).or_default().push(lane);
        }
        let mut groups: Vec<_> = groups.into_values().collect();
        groups.sort();
        groups
    }

    fn listed(groups: &[&[RangeInclusive<u32>]]) -> Vec<Vec<u32>> {
        groups.iter().map(|group| group.iter().cloned().flatten().collect()).collect()
    }

    /// The groups as the measurements list them.
    #[test]
    fn groups_are_those_that_were_measured() {
        assert_eq!(groups(LdsBanks::CDNA3.phases(true, 4), 64), listed(&[&[0..=31], &[32..=63]]));
        assert_eq!(groups(LdsBanks::CDNA4.phases(true, 4), 64), listed(&[&[0..=63]]));
        assert_eq!(groups(LdsBanks::CDNA4.phases(true, 8), 64), listed(&[&[0..=31], &[32..=63]]));
        let quarters = listed(&[&[0..=15], &[16..=31], &[32..=47], &[48..=63]]);
        assert_eq!(groups(LdsBanks::CDNA3.phases(true, 8), 64), quarters);
        let crossed = listed(&[
            &[0..=3, 20..=23],
            &[4..=7, 16..=19],
            &[8..=11, 28..=31],
            &[12..=15, 24..=27],
            &[32..=35, 52..=55],
            &[36..=39, 48..=51],
            &[40..=43, 60..=63],
            &[44..=47, 56..=59],
        ]);
        assert_eq!(groups(LdsBanks::CDNA3.phases(true, 16), 64), crossed);
        assert_eq!(groups(LdsBanks::RDNA3.phases(true, 16), 32), crossed[..4]);
        let crossed = listed(&[
            &[0..=3, 12..=15, 20..=23, 24..=27],
            &[4..=7, 8..=11, 16..=19, 28..=31],
            &[32..=35, 44..=47, 52..=55, 56..=59],
            &[36..=39, 40..=43, 48..=51, 60..=63],
        ]);
        assert_eq!(groups(LdsBanks::CDNA4.phases(true, 16), 64), crossed);
        let eighths = listed(&[&[0..=7], &[8..=15], &[16..=23], &[24..=31]]);
        assert_eq!(groups(LdsBanks::RDNA4.phases(true, 16), 32), eighths);
        assert_eq!(groups(LdsBanks::CDNA3.phases(false, 16), 32), eighths);
    }
}
