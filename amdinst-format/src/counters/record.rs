//! Counter records, read back after a launch.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::header::{DecodeError, Header, word};
use super::lanes::Lanes;
use super::layout::{HEADER_BYTES, Probe, RECORD_HEADER_WORDS, TIME_WORDS, WORDS_PER_SITE};

/// What a site counted, of one wave or summed over several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SiteCounts {
    /// Times that a wave ran the narrowing instruction.
    pub executions: u64,
    /// Of these: all active lanes stayed active (NEW == OLD ≠ 0).
    pub all: u64,
    /// Of these: no lane stayed active (NEW == 0, also when OLD was 0).
    pub none: u64,
    /// Active lanes before, summed over executions.
    pub lanes_in: u64,
    /// Active lanes after, summed over executions.
    pub lanes_taken: u64,
}

impl SiteCounts {
    /// Executions in which some active lanes went on and others did not.
    pub const fn diverged(&self) -> u64 {
        self.executions.saturating_sub(self.all).saturating_sub(self.none)
    }

    /// Whether the counters of one wave, 32 bits wide each, may have overflowed. A counter stopped at its end
    /// (those in lanes of VGPRs do), or the counters contradict each other. Or the sum of lanes may have
    /// passed 32 bits, by the number of executions.
    ///
    /// The launcher must find out whether `executions` itself wrapped around. It compares with another count,
    /// or looks at the time of the launch ([`seconds_to_overflow`](super::seconds_to_overflow)).
    pub const fn may_have_overflowed(&self) -> bool {
        const SAFE_EXECUTIONS: u64 = (u32::MAX / Lanes::MOST) as u64;
        let counts_lanes = self.lanes_in != 0 || self.lanes_taken != 0;
        const LAST: u64 = u32::MAX as u64;
        self.executions >= LAST
            || self.lanes_in >= LAST
            || self.lanes_taken >= LAST
            || self.all + self.none > self.executions
            || self.lanes_taken > self.lanes_in
            || counts_lanes && self.executions > SAFE_EXECUTIONS
    }
}

impl AddAssign for SiteCounts {
    fn add_assign(&mut self, other: Self) {
        self.executions += other.executions;
        self.all += other.all;
        self.none += other.none;
        self.lanes_in += other.lanes_in;
        self.lanes_taken += other.lanes_taken;
    }
}

impl std::iter::Sum for SiteCounts {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::default(), |mut sum, counts| {
            sum += counts;
            sum
        })
    }
}

/// The record of one wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaveRecord {
    /// Workgroup id in x, y, z.
    pub workgroup: [u32; 3],
    /// Which wave of its workgroup.
    pub wave: u32,
    /// The wave reached an `s_endpgm`. If not, its counters are not valid (`register`) or not complete
    /// (`global`).
    pub flushed: bool,
    /// One entry a site, in the order of the kernel's probe map.
    pub sites: Vec<SiteCounts>,
    /// One entry a block, in the order of the kernel's probe map; there may be one more, which is padding.
    pub blocks: Vec<BlockCounts>,
    /// When it began and ended, if times were measured.
    pub time: Option<WaveTime>,
}

/// What a block counted, of one wave or summed over several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BlockCounts {
    /// Times that a wave ran it.
    pub executions: u64,
    /// Active lanes, summed over executions.
    pub lanes: u64,
}

impl BlockCounts {
    /// Whether the counters of one wave, 32 bits wide each, may have overflowed. A counter stopped at its end
    /// (those in lanes of VGPRs do). Or the sum of lanes may have passed 32 bits, by the number of
    /// executions, or needs more executions than were counted.
    pub const fn may_have_overflowed(&self) -> bool {
        self.executions >= u32::MAX as u64
            || self.lanes >= u32::MAX as u64
            || self.lanes > Lanes::MOST as u64 * self.executions
            || self.lanes > 0 && self.executions > (u32::MAX / Lanes::MOST) as u64
    }
}

impl AddAssign for BlockCounts {
    fn add_assign(&mut self, other: Self) {
        self.executions += other.executions;
        self.lanes += other.lanes;
    }
}

/// When a wave began and ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaveTime {
    /// The clock right before the kernel's first instruction: `s_memtime`, from RDNA 3 on the clock of
    /// constant frequency (REALTIME).
    pub begin: u64,
    /// That clock at its `s_endpgm`.
    pub end: u64,
}

impl WaveTime {
    /// How long the wave ran, in ticks. The counter is 64 bits wide and never wraps in practice.
    pub const fn ticks(&self) -> u64 {
        self.end.wrapping_sub(self.begin)
    }
}

/// Reads every record of a counter buffer, in the order of the wave index.
///
/// # Errors
/// When the header is not one, or the length is not that of whole records.
pub fn decode(buffer: &[u8]) -> Result<Vec<WaveRecord>, DecodeError> {
    let truncated = DecodeError::Truncated(buffer.len());
    let (header, records) = buffer.split_at_checked(HEADER_BYTES as usize).ok_or(truncated)?;
    decode_part(header, records, 0)
}

/// Decodes records as [`decode`] does, of some workgroups that follow one another, from number `first` on.
///
/// # Errors
/// As those of [`decode`].
pub fn decode_part(header: &[u8], records: &[u8], first: u64) -> Result<Vec<WaveRecord>, DecodeError> {
    let truncated = DecodeError::Truncated(header.len() + records.len());
    let header = Header::read(header, records.len())?;
    let waves = header.waves_in(records.len() as u64).ok_or(truncated)?;
    let group_bytes = header.group_bytes();
    let wave_record = |index: u64| {
        let (group, wave, at) = header.record_of(index);
        let record = &records[at as usize..][..header.stride as usize];
        let place = first * group_bytes + at + u64::from(HEADER_BYTES);
        wave_record(&header, (first + group, wave), record, place)
    };
    Ok((0..waves).map(wave_record).collect())
}

/// The record of a wave of a workgroup, by their numbers; it stands at `place` in the buffer of all.
fn wave_record(header: &Header, (group, wave): (u64, u32), record: &[u8], place: u64) -> WaveRecord {
    let Header { probe, lanes, forms, .. } = *header;
    let words = |site: u32| match &header.packing {
        Some(packing) => forms.unpack(site, |at| word(record, (packing.first[site as usize] + at) as usize)),
        None => {
            let first = (RECORD_HEADER_WORDS + WORDS_PER_SITE * site) as usize;
            std::array::from_fn(|index| word(record, first + index))
        }
    };
    let block = |block: u32| {
        let first = (RECORD_HEADER_WORDS + probe.words() * block) as usize;
        let count = |index: usize| u64::from(word(record, first + index));
        BlockCounts { executions: count(0), lanes: count(1) }
    };
    let long = |at: u32| {
        let at = (RECORD_HEADER_WORDS + at) as usize;
        u64::from(word(record, at + 1)) << 32 | u64::from(word(record, at))
    };
    let place_word = header.place_word();
    WaveRecord {
        workgroup: header.workgroup(group),
        wave,
        flushed: header.packing.is_none() && word(record, 0) == 1
            || record.len() > 4 * place_word && u64::from(word(record, place_word)) == place,
        sites: forms.counts((lanes, header.started(wave)), (0..header.sites()).map(words)),
        blocks: (0..header.blocks()).map(block).collect(),
        time: (probe == Probe::Time).then(|| WaveTime { begin: long(0), end: long(TIME_WORDS / 2) }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Layout, SiteForms, record_stride};
    use super::*;

    #[test]
    fn records_come_back_in_order_with_their_wave() {
        let layout = Layout::new([2, 1, 3], [128, 1, 1], record_stride(2));
        let mut buffer = layout.initial_buffer();
        let index = layout.wave_index([1, 0, 2], 1);
        let start = HEADER_BYTES as usize + index as usize * layout.record_stride as usize;
        for (slot, value) in [1u32, 0, 10, 4, 3, 640, 200, 7, 7, 0, 9, 9].into_iter().enumerate() {
            buffer[start + 4 * slot..][..4].copy_from_slice(&value.to_le_bytes());
        }
        let records = decode(&buffer).unwrap();
        assert_eq!(records.len() as u64, layout.waves());
        let record = &records[index as usize];
        assert_eq!((record.workgroup, record.wave, record.flushed), ([1, 0, 2], 1, true));
        assert_eq!(record.sites.len(), 2);
        assert_eq!(record.sites[0].diverged(), 3);
        assert_eq!(record.sites[1].lanes_taken, 9);
        assert_eq!(records.iter().filter(|record| record.flushed).count(), 1);
        assert_eq!(record.sites[0].lanes_in, 640);
    }

    #[test]
    fn two_times_of_64_bits_come_back() {
        let layout = Layout::new([1, 1, 1], [128, 1, 1], Probe::Time.record_stride(0)).holding(Probe::Time);
        assert_eq!(layout.record_stride, 32);
        let mut buffer = layout.initial_buffer();
        let start = HEADER_BYTES as usize + layout.record_stride as usize;
        for (slot, value) in [1u32, 0, 0xffff_fff0, 5, 0x10, 6].into_iter().enumerate() {
            buffer[start + 4 * slot..][..4].copy_from_slice(&value.to_le_bytes());
        }
        let records = decode(&buffer).unwrap();
        assert!(!records[0].flushed && records[1].flushed && records[1].sites.is_empty());
        let time = records[1].time.unwrap();
        assert_eq!((time.begin, time.ticks()), (0x5_ffff_fff0, 0x20));
    }

    #[test]
    fn waves_of_32_lanes_come_back() {
        let layout = Layout::new([2, 1, 1], [72, 1, 1], record_stride(1)).with_lanes(Lanes::Wave32).hashed();
        assert_eq!((layout.waves_per_workgroup(), layout.waves()), (3, 6));
        let mut buffer = layout.initial_buffer();
        let index = layout.wave_index([1, 0, 0], 2);
        let start = HEADER_BYTES as usize + index as usize * layout.record_stride as usize;
        for (slot, value) in [1u32, 0, 10, 4, 3, 80, 20].into_iter().enumerate() {
            buffer[start + 4 * slot..][..4].copy_from_slice(&value.to_le_bytes());
        }
        let records = decode(&buffer).unwrap();
        let flushed: Vec<_> = records.iter().filter(|record| record.flushed).collect();
        assert_eq!((records.len(), flushed.len()), (6, 1));
        assert_eq!((flushed[0].workgroup, flushed[0].wave, flushed[0].sites[0].lanes_in), ([1, 0, 0], 2, 80));
        // No wave has 16.
        buffer[33] = 16;
        assert_eq!(decode(&buffer), Err(DecodeError::Header("what the records hold")));
    }

    #[test]
    fn version_1_holds_branches() {
        let mut buffer = Layout::new([1, 1, 1], [64, 1, 1], record_stride(1)).initial_buffer();
        buffer[4] = 1;
        assert_eq!(decode(&buffer).unwrap()[0].sites.len(), 1);
    }

    #[test]
    fn counters_that_may_have_overflowed_are_told() {
        let counts =
            SiteCounts { executions: u64::from(u32::MAX) / 64, all: 5, none: 6, lanes_in: 9, lanes_taken: 9 };
        assert!(!counts.may_have_overflowed());
        assert!(!SiteCounts::default().may_have_overflowed());
        let more = SiteCounts { executions: counts.executions + 1, ..counts };
        assert!(more.may_have_overflowed());
        // Without lane sums nothing else can have.
        assert!(!SiteCounts { lanes_in: 0, lanes_taken: 0, ..more }.may_have_overflowed());
        assert!(SiteCounts { lanes_taken: 10, ..counts }.may_have_overflowed());
        assert!(SiteCounts { executions: 10, ..counts }.may_have_overflowed());
        let last = u64::from(u32::MAX);
        let basic = SiteCounts { lanes_in: 0, lanes_taken: 0, ..counts };
        assert!(!SiteCounts { executions: last - 1, ..basic }.may_have_overflowed());
        assert!(SiteCounts { executions: last, ..basic }.may_have_overflowed());
        assert!(SiteCounts { lanes_in: last, ..counts }.may_have_overflowed());
        let block = |executions, lanes| BlockCounts { executions, lanes }.may_have_overflowed();
        assert!(!block(0, 0) && !block(2, 128) && !block(last - 1, 0) && !block(last / 64, 64));
        assert!(block(2, 129) && block(last, 0) && block(last / 64 + 1, 1) && block(1 << 27, last));
    }

    #[test]
    fn packed_records_come_back() {
        use super::super::SiteForm::{Counts, Masks, Start};
        let forms = SiteForms::new(&[Counts, Start, Masks], false).packed(3);
        let layout = Layout::new([1, 1, 1], [100, 1, 1], forms.packing().record_stride()).with_forms(forms);
        assert_eq!(layout.record_stride, 64);
        let mut buffer = layout.initial_buffer();
        let place = HEADER_BYTES + layout.record_stride;
        // Of the second wave: NEW; NEW and OLD; three counts; where it stands.
        let words = [0xffff_ffff, 0xf, 1, 0, 3, 0, 9, 4, 5, place];
        for (word, value) in words.into_iter().enumerate() {
            buffer[place as usize + 4 * word..][..4].copy_from_slice(&value.to_le_bytes());
        }
        let records = decode(&buffer).unwrap();
        assert_eq!(records.iter().map(|record| record.flushed).collect::<Vec<_>>(), [false, true]);
        let counts = |executions, all, none| SiteCounts { executions, all, none, ..SiteCounts::default() };
        assert_eq!(records[1].sites, [counts(9, 4, 5), counts(1, 1, 0), counts(1, 0, 0)]);
        let with = |index: usize, value: u32| {
            let mut buffer = buffer.clone();
            buffer[4 * index..][..4].copy_from_slice(&value.to_le_bytes());
            decode(&buffer)
        };
        assert_eq!(with(15, 9), Err(DecodeError::Header("sites of packed records")));
        assert_eq!(with(15, 8), Err(DecodeError::Header("sites of packed records")));
        assert_eq!(with(7, 0xffff_fff0), Err(DecodeError::Truncated(buffer.len())));
        // Nobody writes one in the first word.
        let place = HEADER_BYTES as usize;
        buffer[place..place + 4].copy_from_slice(&1u32.to_le_bytes());
        assert!(!decode(&buffer).unwrap()[0].flushed);
    }

    #[test]
    fn broken_buffers_have_named_errors() {
        let layout = Layout::new([1, 1, 1], [64, 1, 1], record_stride(1));
        let buffer = layout.initial_buffer();
        assert_eq!(decode(&buffer[..63]), Err(DecodeError::Truncated(63)));
        assert_eq!(decode(&buffer[..buffer.len() - 1]), Err(DecodeError::Truncated(buffer.len() - 1)));
        let with = |index: usize, value: u32| {
            let mut buffer = buffer.clone();
            buffer[4 * index..][..4].copy_from_slice(&value.to_le_bytes());
            decode(&buffer)
        };
        assert_eq!(with(0, 7), Err(DecodeError::Magic(7)));
        assert_eq!(with(1, 9), Err(DecodeError::Version(9)));
        assert_eq!(with(6, 0), Err(DecodeError::Header("no workgroups or no waves")));
        assert_eq!(with(8, 7), Err(DecodeError::Header("what the records hold")));
        let short = Layout::new([1, 1, 1], [64, 1, 1], record_stride(0)).holding(Probe::Time);
        assert_eq!(decode(&short.initial_buffer()), Err(DecodeError::Header("record stride")));
        assert_eq!(with(7, 6), Err(DecodeError::Header("record stride")));
    }
}
