//! What a wave writes for a site: counts, or the masks from which they follow.
//!
//! A site that a wave comes by once at most needs no counters. OLD and NEW tell all five of them, and are there to be moved, one
//! instruction each; often OLD is known besides.

use serde::{Deserialize, Serialize};

use super::record::SiteCounts;

/// What the words of a site in a record are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SiteForm {
    /// Counts.
    #[default]
    Counts,
    /// NEW in words 0 and 1, OLD in words 3 and 4, which is not zero if the wave came by, and zero if it did not.
    Masks,
    /// NEW alone: every wave comes by once, with the lanes that it was started with.
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
}

impl SiteForms {
    /// Counts alone.
    pub(super) const COUNTS: Self = Self { codes: 0, lanes: false };

    /// How many sites may have another form than counts.
    pub const MOST: usize = 32;

    /// Those of the sites of a record, in order.
    pub fn new(forms: &[SiteForm], lanes: bool) -> Self {
        let code = |form: &SiteForm| match form {
            SiteForm::Counts => 0,
            SiteForm::Masks => 1,
            SiteForm::Start => 2,
            SiteForm::Next => 3,
        };
        let codes = forms.iter().take(Self::MOST).enumerate();
        Self { codes: codes.fold(0, |codes, (site, form)| codes | code(form) << (2 * site)), lanes }
    }

    /// What the header says of them: three words.
    pub(super) const fn words(self) -> [u32; 3] {
        [self.codes as u32, (self.codes >> 32) as u32, self.lanes as u32]
    }

    pub(super) fn of_words([low, high, lanes]: [u32; 3]) -> Self {
        Self { codes: u64::from(high) << 32 | u64::from(low), lanes: lanes != 0 }
    }

    /// That of a site.
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

    /// The word of a record that tells where it stands, if its wave wrote it from one lane: behind the masks of the first site, if
    /// it has masks, before its counts otherwise.
    pub const fn place_word(self) -> u32 {
        match self.of(0) {
            SiteForm::Counts => 1,
            _ => 4,
        }
    }

    /// The counts of the sites of a wave that was started with these lanes; `words` are those of each site in the record.
    pub(super) fn counts(self, started: u64, words: impl Iterator<Item = [u32; 5]>) -> Vec<SiteCounts> {
        let mut left = 0;
        let count = |(site, words): (usize, [u32; 5])| {
            let mask = |at: usize| u64::from(words[at + 1]) << 32 | u64::from(words[at]);
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

#[cfg(test)]
mod tests {
    use super::*;

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
        let found = forms.counts(0xff, words.into_iter());
        assert_eq!(found[..3], [counts(1, 0, 0, 8, 4), counts(1, 1, 0, 4, 4), counts(1, 0, 1, 4, 0)]);
        assert_eq!(found[3..], [counts(1, 0, 0, 3, 2), counts(0, 0, 0, 0, 0), counts(9, 1, 2, 400, 200)]);
        // Nobody was left for the second: it did not run, whatever its words are.
        let none_left = [[0, 0, 0, 0, 0], [3, 3, 3, 3, 3]];
        let forms = SiteForms::new(&[Start, Next], false);
        assert_eq!(forms.counts(3, none_left.into_iter()), [counts(1, 0, 1, 0, 0), counts(0, 0, 0, 0, 0)]);
    }
}
