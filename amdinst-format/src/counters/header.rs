//! The header of a counter buffer, read back: how records are laid out, and whose they are.

use thiserror::Error;

use super::forms::{Packing, SiteForms};
use super::lanes::Lanes;
use super::layout::{
    HEADER_BYTES, LAYOUT_VERSION, MAGIC, Probe, RECORD_HEADER_WORDS, WORDS_PER_SITE, contents_of,
};
use super::slots::Slots;

/// Why a counter buffer cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The buffer ends within its header or within a record.
    #[error("counter buffer is {0} bytes long, which is not a header and whole records")]
    Truncated(usize),
    /// Word 0 is something else: the buffer was overwritten, or is no counter buffer.
    #[error(
        "counter buffer starts with {0:#010x}, not with the magic number {MAGIC:#010x}: something overwrote it"
    )]
    Magic(u32),
    /// Written for another layout.
    #[error("counter buffer has layout version {0}, this build reads {LAYOUT_VERSION}")]
    Version(u32),
    /// A header word makes no sense.
    #[error("counter buffer's header is inconsistent: {0}")]
    Header(&'static str),
}

/// A header that makes sense.
pub(super) struct Header {
    /// The contents of records.
    pub(super) probe: Probe,
    /// Lanes of a wave.
    pub(super) lanes: Lanes,
    /// Bytes of a record.
    pub(super) stride: u32,
    /// Which words sites have in a record.
    pub(super) forms: SiteForms,
    /// Where the words of packed records are; none if records are not packed.
    pub(super) packing: Option<Packing>,
    /// Workgroups in x and y.
    groups: [u32; 2],
    /// Waves of a workgroup.
    waves: u32,
    /// Work-items of a workgroup in x and y, as far as they decide which record is whose.
    size: [u32; 3],
    /// Which record is which wave's, if not that of its number.
    slots: Option<Slots>,
    /// Work-items of a workgroup.
    work_items: u32,
}

impl Header {
    /// Reads the header of a buffer with so many bytes of records.
    ///
    /// # Errors
    /// It is none, or it has packed records of which none is whole.
    pub(super) fn read(header: &[u8], records: usize) -> Result<Self, DecodeError> {
        let truncated = DecodeError::Truncated(header.len() + records);
        if header.len() < HEADER_BYTES as usize {
            return Err(truncated);
        }
        let word = |index: usize| word(header, index);
        if word(0) != MAGIC {
            return Err(DecodeError::Magic(word(0)));
        }
        let (probe, lanes) = match word(1) {
            1 => (Probe::Branches, Lanes::default()),
            2..=LAYOUT_VERSION => contents_of(word(8)).ok_or(DecodeError::Header("what the records hold"))?,
            version => return Err(DecodeError::Version(version)),
        };
        let (groups, waves, stride) = ([word(2), word(3)], word(6), word(7));
        if groups.contains(&0) || waves == 0 {
            return Err(DecodeError::Header("no workgroups or no waves"));
        }
        if stride % 4 != 0
            || stride < probe.record_stride(0) && probe == Probe::Time
            || stride < 4 * RECORD_HEADER_WORDS
        {
            return Err(DecodeError::Header("record stride"));
        }
        let size = [word(4), word(5).checked_div(word(4)).unwrap_or(0), 1];
        let slots = match (word(9), word(10)) {
            (0, 0) => None,
            (multiplier, shift @ 16..=31) if size[0] > 0 && size[1] > 0 && waves <= 1 << 16 => {
                Some(Slots { multiplier, shift, lanes })
            }
            _ => return Err(DecodeError::Header("which record is which wave's")),
        };
        let forms = SiteForms::of_words([11, 12, 14, 15].map(word));
        let packing = match forms.packed_sites() {
            // A site has two words at least.
            Some(sites) if probe != Probe::Branches || sites > stride / 8 => {
                return Err(DecodeError::Header("sites of packed records"));
            }
            Some(_) if records < stride as usize => return Err(truncated),
            Some(_) => Some(forms.packing()),
            None => None,
        };
        if packing.as_ref().is_some_and(|packing| packing.place >= stride / 4) {
            return Err(DecodeError::Header("sites of packed records"));
        }
        let work_items = word(13);
        Ok(Self { probe, lanes, stride, forms, packing, groups, waves, size, slots, work_items })
    }

    /// Bytes of the records of a workgroup.
    pub(super) fn group_bytes(&self) -> u64 {
        u64::from(self.slots.map_or(self.waves, Slots::count)) * u64::from(self.stride)
    }

    /// How many waves have records in so many bytes; none if these are not whole records, of whole workgroups
    /// where some records are nobody's.
    pub(super) fn waves_in(&self, bytes: u64) -> Option<u64> {
        let (group, stride) = (self.group_bytes(), u64::from(self.stride));
        match self.slots {
            Some(_) if bytes.is_multiple_of(group) => Some(bytes / group * u64::from(self.waves)),
            None if bytes.is_multiple_of(stride) => Some(bytes / stride),
            _ => None,
        }
    }

    /// The workgroup of the wave of a number and its number there, and where its record begins behind those
    /// of the workgroups before the first.
    pub(super) fn record_of(&self, index: u64) -> (u64, u32, u64) {
        let (group, wave) = (index / u64::from(self.waves), (index % u64::from(self.waves)) as u32);
        let slot = self.slots.map_or(wave, |slots| slots.of_wave(self.size, wave));
        (group, wave, group * self.group_bytes() + u64::from(slot) * u64::from(self.stride))
    }

    /// The id in x, y and z of the workgroup of a number.
    pub(super) fn workgroup(&self, number: u64) -> [u32; 3] {
        let [x, y] = self.groups.map(u64::from);
        [(number % x) as u32, (number / x % y) as u32, (number / x / y) as u32]
    }

    /// The lanes that a wave of a workgroup is started with: of the last one some may be missing.
    pub(super) fn started(&self, wave: u32) -> u64 {
        let lanes = self.lanes;
        match u64::from(self.work_items).saturating_sub(u64::from(lanes.get()) * u64::from(wave)) {
            left if left < lanes.get().into() => (1 << left) - 1,
            _ => lanes.mask(),
        }
    }

    /// The word of a record that tells where it stands, if its wave wrote it from one lane.
    pub(super) fn place_word(&self) -> usize {
        self.packing.as_ref().map_or(self.forms.place_word(), |packing| packing.place) as usize
    }

    /// How many sites a record has.
    pub(super) fn sites(&self) -> u32 {
        match (self.probe, self.forms.packed_sites()) {
            (Probe::Branches, Some(sites)) => sites,
            (Probe::Branches, None) => (self.stride / 4 - RECORD_HEADER_WORDS) / WORDS_PER_SITE,
            (Probe::Blocks | Probe::Time, _) => 0,
        }
    }

    /// How many blocks a record has.
    pub(super) fn blocks(&self) -> u32 {
        match self.probe {
            Probe::Blocks => (self.stride / 4 - RECORD_HEADER_WORDS) / self.probe.words(),
            Probe::Branches | Probe::Time => 0,
        }
    }
}

/// A word of a header or a record.
pub(super) fn word(bytes: &[u8], index: usize) -> u32 {
    u32::from_le_bytes([bytes[4 * index], bytes[4 * index + 1], bytes[4 * index + 2], bytes[4 * index + 3]])
}
