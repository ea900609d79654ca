//! Sizes and offsets of the counter buffer, and the header that the launcher writes.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::forms::SiteForms;
use super::lanes::Lanes;
use super::slots::Slots;

/// Header word 0: "AMIT" in memory order.
pub const MAGIC: u32 = 0x5449_4d41;
/// Header word 1. Version 2 added word 8; version 1 has branches, always. Version 3 added words 9 to 14, and
/// words of records that tell where these stand. Version 4 added word 15, and packed records. Version 5 added
/// the lanes of a wave to word 8.
pub const LAYOUT_VERSION: u32 = 5;
/// Bytes before the first record.
pub const HEADER_BYTES: u32 = 64;
/// Words of a record before its first site: the flushed flag and a zero.
pub const RECORD_HEADER_WORDS: u32 = 2;
/// Counters a site.
pub const WORDS_PER_SITE: u32 = 5;
/// Words of the two times of a wave.
pub const TIME_WORDS: u32 = 4;

/// What an instrumented kernel measures, and so what a record holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Probe {
    /// Five counters a site: how branches diverge.
    #[default]
    Branches,
    /// Two counters a basic block: executions, and the lanes of each.
    Blocks,
    /// When each wave began and ended, 64 bits each, in ticks of the processor's clock.
    Time,
}

impl Probe {
    /// The word for it on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Branches => "branches",
            Self::Blocks => "blocks",
            Self::Time => "time",
        }
    }

    /// Its subject, in the plural: for messages.
    pub const fn things(self) -> &'static str {
        match self {
            Self::Branches | Self::Time => "sites",
            Self::Blocks => "blocks",
        }
    }

    /// Words of each counted thing.
    pub const fn words(self) -> u32 {
        match self {
            Self::Branches => WORDS_PER_SITE,
            Self::Blocks => 2,
            Self::Time => 0,
        }
    }

    /// The low byte of header word 8.
    const fn code(self) -> u32 {
        match self {
            Self::Branches => 0,
            Self::Blocks => 1,
            Self::Time => 2,
        }
    }

    /// What the low byte of header word 8 says.
    pub(super) const fn of_code(code: u32) -> Option<Self> {
        match code {
            0 => Some(Self::Branches),
            1 => Some(Self::Blocks),
            2 => Some(Self::Time),
            _ => None,
        }
    }

    /// Bytes from one wave's record to the next, for a kernel with `number` things that are counted.
    pub const fn record_stride(self, number: u32) -> u32 {
        let fixed = match self {
            Self::Time => TIME_WORDS,
            Self::Branches | Self::Blocks => 0,
        };
        (4 * (RECORD_HEADER_WORDS + fixed + self.words() * number)).next_multiple_of(16)
    }
}

/// Bytes from one wave's record to the next, for a kernel with `sites` sites. Rounded up to 16 so that
/// records do not straddle more cache lines than they must; the padding is less than one site, so the number
/// of sites can be told from the stride.
pub const fn record_stride(sites: u32) -> u32 {
    Probe::Branches.record_stride(sites)
}

/// How a kernel that is told strides by its argument tells the waves of a workgroup apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaveIds {
    /// Its work-items' ids come in one register each: by z · size_xy + y · size_x + x, divided by the lanes
    /// of a wave.
    Apart,
    /// The ids of a work-item come in one register; a hash of it tells the waves apart ([`Slots`]).
    Together,
}

/// Bytes of the argument of a kernel that is told strides: the buffer's address, then six words.
pub const ARGUMENT_BYTES: u32 = 32;

/// Why a kernel cannot be told where the records of a launch are.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ArgumentError {
    /// The kernel works with offsets of 32 bits.
    #[error(
        "the launch needs {0} bytes of counters, and its kernel reaches 4 GiB: launch fewer workgroups at once, or instrument with \
         `--abi global`"
    )]
    TooLarge(u64),
    /// No device launches such workgroups.
    #[error("workgroups of {0:?} work-items cannot be launched")]
    WorkgroupSize([u32; 3]),
}

/// The shape of the counter buffer of one launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Workgroups in x, y, z.
    pub workgroups: [u32; 3],
    /// Work-items of a workgroup in x, y, z.
    pub workgroup_size: [u32; 3],
    /// Lanes of a wave.
    pub lanes: Lanes,
    /// Bytes a record, as the kernel's probe map has it (`record_stride`).
    pub record_stride: u32,
    /// What a record holds.
    pub probe: Probe,
    /// Which of a workgroup's records a wave takes; `None` if they stand in the order of the waves.
    pub slots: Option<Slots>,
    /// The forms of the sites' words.
    pub forms: SiteForms,
}

impl Layout {
    /// The layout of a launch of `workgroups` workgroups of `workgroup_size` work-items, whose records hold
    /// branches.
    pub const fn new(workgroups: [u32; 3], workgroup_size: [u32; 3], record_stride: u32) -> Self {
        Self {
            workgroups,
            workgroup_size,
            lanes: Lanes::Wave64,
            record_stride,
            probe: Probe::Branches,
            slots: None,
            forms: SiteForms::COUNTS,
        }
    }

    /// This layout, of waves with so many lanes.
    pub const fn with_lanes(self, lanes: Lanes) -> Self {
        Self { lanes, ..self }
    }

    /// This layout, with records that hold what `probe` measures.
    pub const fn holding(self, probe: Probe) -> Self {
        Self { probe, ..self }
    }

    /// This layout, with sites whose words are in these forms.
    pub const fn with_forms(self, forms: SiteForms) -> Self {
        Self { forms, ..self }
    }

    /// This layout, for a kernel whose waves find their records by a hash of their ids.
    pub fn hashed(self) -> Self {
        Self { slots: Slots::find(self.workgroup_size, self.lanes), ..self }
    }

    /// Records of one workgroup: as many as waves, or more.
    pub const fn records_per_workgroup(&self) -> u32 {
        match self.slots {
            Some(slots) => slots.count(),
            None => self.waves_per_workgroup(),
        }
    }

    /// Waves of one workgroup; the last may be partial.
    pub const fn waves_per_workgroup(&self) -> u32 {
        let [x, y, z] = self.workgroup_size;
        self.lanes.waves(x * y * z)
    }

    /// Waves of the whole launch.
    pub const fn waves(&self) -> u64 {
        let [x, y, z] = self.workgroups;
        x as u64 * y as u64 * z as u64 * self.waves_per_workgroup() as u64
    }

    /// Bytes to allocate.
    pub const fn buffer_size(&self) -> u64 {
        let [x, y, z] = self.workgroups;
        let records = x as u64 * y as u64 * z as u64 * self.records_per_workgroup() as u64;
        HEADER_BYTES as u64 + records * self.record_stride as u64
    }

    /// What a kernel gets as its argument that is told strides: the buffer's address, bytes between
    /// workgroups in x, y and z; two numbers by which it tells waves apart (multiplier and shift, or
    /// work-items in x and in x times y); bytes between records.
    ///
    /// # Errors
    /// When it could not reach all records.
    pub fn argument(
        &self,
        address: u64,
        ids: WaveIds,
    ) -> Result<[u8; ARGUMENT_BYTES as usize], ArgumentError> {
        let size = self.buffer_size();
        let too_large = |_| ArgumentError::TooLarge(size);
        u32::try_from(size).map_err(too_large)?;
        let [groups_x, groups_y, _] = self.workgroups.map(u64::from);
        let x = u64::from(self.records_per_workgroup()) * u64::from(self.record_stride);
        // Where there is but one workgroup that way, the stride is never used, and may be anything.
        let strides = [x, x * groups_x, x * groups_x * groups_y].map(|stride| stride as u32);
        let [size_x, size_y, _] = self.workgroup_size;
        let waves = match ids {
            WaveIds::Apart => [size_x, size_x * size_y],
            WaveIds::Together => {
                let slots = self.slots.ok_or(ArgumentError::WorkgroupSize(self.workgroup_size))?;
                [slots.multiplier, slots.shift]
            }
        };
        let mut bytes = [0; ARGUMENT_BYTES as usize];
        bytes[..8].copy_from_slice(&address.to_le_bytes());
        let words = strides.into_iter().chain(waves).chain([self.record_stride]);
        for (to, word) in bytes[8..].chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        Ok(bytes)
    }

    /// The header: 64 bytes.
    pub fn header_bytes(&self) -> [u8; HEADER_BYTES as usize] {
        let [size_x, size_y, _] = self.workgroup_size;
        let words = [
            MAGIC,
            LAYOUT_VERSION,
            self.workgroups[0],
            self.workgroups[1],
            size_x,
            size_x * size_y,
            self.waves_per_workgroup(),
            self.record_stride,
            self.probe.code() | lanes_code(self.lanes),
            self.slots.map_or(0, |slots| slots.multiplier),
            self.slots.map_or(0, |slots| slots.shift),
        ];
        let [codes_low, codes_high, lanes, packed] = self.forms.words();
        let [_, _, size_z] = self.workgroup_size;
        let forms = [codes_low, codes_high, size_x * size_y * size_z, lanes, packed];
        let words = words.into_iter().chain(forms);
        let mut bytes = [0; HEADER_BYTES as usize];
        for (to, word) in bytes.chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// The whole buffer as it is before the launch: the header, then zeroed records.
    pub fn initial_buffer(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.buffer_size() as usize];
        bytes[..HEADER_BYTES as usize].copy_from_slice(&self.header_bytes());
        bytes
    }

    /// Index of a wave's record: of workgroup `workgroup`, the wave whose first work-item has flat id
    /// `lanes * wave`.
    pub const fn wave_index(&self, workgroup: [u32; 3], wave: u32) -> u64 {
        let [x, y, z] = workgroup;
        ((z as u64 * self.workgroups[1] as u64 + y as u64) * self.workgroups[0] as u64 + x as u64)
            * self.records_per_workgroup() as u64
            + self.slot(wave) as u64
    }

    /// Which of a workgroup's records a wave takes.
    pub const fn slot(&self, wave: u32) -> u32 {
        match self.slots {
            Some(slots) => slots.of_wave(self.workgroup_size, wave),
            None => wave,
        }
    }
}

/// The second byte of header word 8: the lanes of a wave, or zero for the most.
const fn lanes_code(lanes: Lanes) -> u32 {
    match lanes {
        Lanes::Wave64 => 0,
        Lanes::Wave32 => lanes.get() << 8,
    }
}

/// What header word 8 says: what records hold, and the lanes of a wave.
pub(super) fn contents_of(word: u32) -> Option<(Probe, Lanes)> {
    let lanes = match word >> 8 {
        0 => Lanes::default(),
        lanes => Lanes::of(lanes)?,
    };
    Some((Probe::of_code(word & 0xff)?, lanes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stride_tells_the_number_of_sites() {
        for sites in 0..500 {
            let stride = record_stride(sites);
            assert_eq!((stride / 4 - RECORD_HEADER_WORDS) / WORDS_PER_SITE, sites);
        }
    }

    #[test]
    fn header_words_are_those_of_the_contract() {
        let layout = Layout::new([3, 2, 4], [10, 5, 3], record_stride(2));
        let words: Vec<u32> = layout
            .header_bytes()
            .chunks_exact(4)
            .map(|bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes")))
            .collect();
        assert_eq!(words[..8], [0x5449_4d41, 5, 3, 2, 10, 50, 3, 48]);
        assert!(words[8..13].iter().chain(&words[14..]).all(|&word| word == 0) && words[13] == 150);
        assert_eq!(layout.waves(), 24 * 3);
        assert_eq!(layout.wave_index([2, 1, 3], 2), 24 * 3 - 1);
        assert_eq!(layout.buffer_size(), 64 + 72 * 48);
    }
}
