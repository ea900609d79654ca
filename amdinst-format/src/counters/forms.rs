//! What a wave writes for a site: counts, or the masks from which they follow.
//!
//! A site that a wave passes at most once needs no counters. All five follow from OLD and NEW, which one
//! instruction each moves. Often OLD is known besides. Only kernels that share no code have such sites, with
//! counters in SGPRs.
//!
//! | form | words | the site |
//! |---|---|---|
//! | 0 | counts | any |
//! | 1, `masks` | NEW and OLD; OLD is zero if the wave did not pass | runs at most once |
//! | 2, `start` | NEW | every wave that ends has passed it, with the lanes that it was started with |
//! | 3, `next` | NEW | its block has one predecessor, which holds the site before it; only that site's `s_cbranch_execz` leads around the block |
//!
//! A site of form 3 ran if the site before it left lanes, and ran with these lanes. [`decode`](super::decode)
//! makes counts of all forms.

use serde::{Deserialize, Serialize};

use super::lanes::Lanes;
use super::record::SiteCounts;

/// The meaning of a site's words in a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SiteForm {
    /// Counts.
    #[default]
    Counts,
    /// NEW in words 0 and 1, OLD in words 3 and 4. OLD is zero if the wave did not come by.
    Masks,
    /// NEW alone: every wave that ends came by once, with the lanes that it was started with.
    Start,
    /// NEW alone: a wave comes by, with the lanes that the site before it in the record left, if it left any.
    Next,
}

/// The forms of a kernel's sites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SiteForms {
    /// Two bits a site; sites beyond these have counts.
    codes: u64,
    /// The sums of lanes are counted.
    pub lanes: bool,
    /// Sites of a packed record; 0 if records are not packed.
    packed: u32,
}

impl SiteForms {
    /// Counts alone.
    pub(super) const COUNTS: Self = Self { codes: 0, lanes: false, packed: 0 };

    /// How many sites may have another form than counts.
    pub const MOST: usize = 32;

    /// The forms of a record's sites, in order; `lanes` says whether lanes are summed.
    pub fn new(forms: &[SiteForm], lanes: bool) -> Self {
        let code = |form: &SiteForm| match form {
            SiteForm::Counts => 0,
            SiteForm::Masks => 1,
            SiteForm::Start => 2,
            SiteForm::Next => 3,
        };
        let codes = forms.iter().take(Self::MOST).enumerate();
        let codes = codes.fold(0, |codes, (site, form)| codes | code(form) << (2 * site));
        Self { codes, lanes, packed: 0 }
    }

    /// These forms in packed records of so many sites ([`Packing`]).
    pub const fn packed(self, sites: u32) -> Self {
        Self { packed: sites, ..self }
    }

    /// What the header says of them: four words.
    pub(super) const fn words(self) -> [u32; 4] {
        [self.codes as u32, (self.codes >> 32) as u32, self.lanes as u32, self.packed]
    }

    pub(super) fn of_words([low, high, lanes, packed]: [u32; 4]) -> Self {
        Self { codes: u64::from(high) << 32 | u64::from(low), lanes: lanes != 0, packed }
    }

    /// Sites of a packed record; none if records are not packed.
    pub(super) fn packed_sites(self) -> Option<u32> {
        (self.packed > 0).then_some(self.packed)
    }

    /// What the words of a site of a packed record are in one that is not, by what it has there.
    pub(super) fn unpack(self, site: u32, word: impl Fn(u32) -> u32) -> [u32; 5] {
        let mut words = [0; 5];
        match self.of(site as usize) {
            SiteForm::Counts if self.lanes => words = [0, 1, 2, 3, 4].map(word),
            SiteForm::Counts => words[..3].copy_from_slice(&[0, 1, 2].map(word)),
            SiteForm::Masks => [words[0], words[1], words[3], words[4]] = [0, 1, 2, 3].map(word),
            SiteForm::Start | SiteForm::Next => words[..2].copy_from_slice(&[0, 1].map(word)),
        }
        words
    }

    /// Where the words of packed records are.
    pub(super) fn packing(self) -> Packing {
        let words = |site: u32| match self.of(site as usize) {
            SiteForm::Counts => SiteWords::Counts { lanes: self.lanes },
            SiteForm::Masks => SiteWords::Masks { old: true },
            SiteForm::Start | SiteForm::Next => SiteWords::Masks { old: false },
        };
        Packing::new((0..self.packed).map(words))
    }

    /// The form of a site.
    pub const fn of(self, site: usize) -> SiteForm {
        if site >= Self::MOST {
            return SiteForm::Counts;
        }
        match self.codes >> (2 * site) & 3 {
            0 => SiteForm::Counts,
            1 => SiteForm::Masks,
            2 => SiteForm::Start,
            _ => SiteForm::Next,
        }
    }

    /// The word of a record of layout version 3 that tells where it stands, if its wave wrote it from one
    /// lane: behind the masks of the first site, if it has masks, before its counts otherwise.
    pub(super) const fn place_word(self) -> u32 {
        match self.of(0) {
            SiteForm::Counts => 1,
            _ => 4,
        }
    }

    /// The counts of the sites of a wave of a size that was started with these lanes; `words` are those of
    /// each site in the record. In waves of 32 lanes the upper half of a mask means nothing.
    pub(super) fn counts(
        self,
        (size, started): (Lanes, u64),
        words: impl Iterator<Item = [u32; 5]>,
    ) -> Vec<SiteCounts> {
        let mut left = 0;
        let count = |(site, words): (usize, [u32; 5])| {
            let mask = |at: usize| (u64::from(words[at + 1]) << 32 | u64::from(words[at])) & size.mask();
            let old = match self.of(site) {
                SiteForm::Counts => {
                    left = 0;
                    let [executions, all, none, lanes_in, lanes_taken] = words.map(u64::from);
                    return SiteCounts { executions, all, none, lanes_in, lanes_taken };
                }
                SiteForm::Masks => mask(3),
                SiteForm::Start => started,
                SiteForm::Next => left,
            };
            if old == 0 {
                left = 0;
                return SiteCounts::default();
            }
            let new = mask(0);
            left = new;
            let lanes = |mask: u64| if self.lanes { mask.count_ones().into() } else { 0 };
            SiteCounts {
                executions: 1,
                all: u64::from(new == old),
                none: u64::from(new == 0),
                lanes_in: lanes(old),
                lanes_taken: lanes(new),
            }
        };
        words.enumerate().map(count).collect()
    }
}

/// What a packed record has of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteWords {
    /// NEW; OLD behind it, unless that is known.
    Masks {
        /// OLD is there.
        old: bool,
    },
    /// Counts: three, or five with the sums of lanes.
    Counts {
        /// Sums of lanes are kept.
        lanes: bool,
    },
}

impl SiteWords {
    /// How many these are.
    pub const fn count(self) -> u32 {
        match self {
            Self::Masks { old: false } => 2,
            Self::Masks { old: true } => 4,
            Self::Counts { lanes: false } => 3,
            Self::Counts { lanes: true } => 5,
        }
    }
}

/// Where the words of a packed record are. It has no gaps: the masks of all sites come first, in pairs that
/// start at even words, then the counts, each in the order of the sites; the place of the record in the
/// buffer comes last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packing {
    /// The first word of each site.
    pub first: Vec<u32>,
    /// The word with the record's place.
    pub place: u32,
}

impl Packing {
    /// The packing of a record whose sites have these words.
    pub fn new(sites: impl Iterator<Item = SiteWords> + Clone) -> Self {
        let is_mask = |words: SiteWords| matches!(words, SiteWords::Masks { .. });
        let mut next = 0;
        let mut first = vec![0; sites.clone().count()];
        for masks in [true, false] {
            for (first, words) in
                first.iter_mut().zip(sites.clone()).filter(|&(_, words)| is_mask(words) == masks)
            {
                *first = next;
                next += words.count();
            }
        }
        Self { first, place: next }
    }

    /// Bytes from one wave's record to the next: a record that fits into a sector of 64 bytes stands in one
    /// alone.
    pub const fn record_stride(&self) -> u32 {
        let bytes = 4 * (self.place + 1);
        match bytes {
            0..=64 => bytes.next_power_of_two(),
            _ => bytes.next_multiple_of(16),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_records_have_masks_first_and_no_gaps() {
        use SiteForm::{Counts, Masks, Next, Start};
        let forms = SiteForms::new(&[Counts, Start, Counts, Masks, Next], false);
        let packing = forms.packed(6).packing();
        assert_eq!((packing.first, packing.place), (vec![8, 0, 11, 2, 6, 14], 17));
        let packing = SiteForms::new(&[Counts, Start], true).packed(2).packing();
        assert_eq!((packing.record_stride(), packing.first, packing.place), (32, vec![2, 0], 7));
    }

    #[test]
    fn masks_tell_what_counters_would_have() {
        use SiteForm::{Counts, Masks, Next, Start};
        let forms = SiteForms::new(&[Start, Next, Next, Masks, Masks, Counts], true);
        assert_eq!(SiteForms::of_words(forms.words()), forms);
        let words = [
            [0xf, 0, 0, 0, 0],
            [0xf, 0, 0, 0, 0],
            [0, 0, 9, 9, 9],
            [1, 0x8000_0000, 0, 1, 0xc000_0000],
            [7, 7, 7, 0, 0],
            [9, 1, 2, 400, 200],
        ];
        let counts = |executions, all, none, lanes_in, lanes_taken| SiteCounts {
            executions,
            all,
            none,
            lanes_in,
            lanes_taken,
        };
        let found = forms.counts((Lanes::Wave64, 0xff), words.into_iter());
        assert_eq!(found[..3], [counts(1, 0, 0, 8, 4), counts(1, 1, 0, 4, 4), counts(1, 0, 1, 4, 0)]);
        assert_eq!(found[3..], [counts(1, 0, 0, 3, 2), counts(0, 0, 0, 0, 0), counts(9, 1, 2, 400, 200)]);
        // Nobody was left for the second: it did not run, whatever its words are.
        let none_left = [[0, 0, 0, 0, 0], [3, 3, 3, 3, 3]];
        let forms = SiteForms::new(&[Start, Next], false);
        assert_eq!(
            forms.counts((Lanes::Wave64, 3), none_left.into_iter()),
            [counts(1, 0, 1, 0, 0), counts(0, 0, 0, 0, 0)]
        );
    }
}
