//! What the emulator looks for, though hardware lets it pass.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Mistakes of kernels that no result need show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Checks {
    /// Data races: accesses to the same bytes, in LDS or memory, that nothing orders, unless both read, both
    /// are atomic or both write one value; and different values that lanes write to one place by one store.
    pub races: bool,
    /// Barriers that some work-items of the workgroup do not reach.
    pub barriers: bool,
    /// Results that depend on what registers, LDS or scratch memory held before anything was written there.
    pub uninitialised: bool,
    /// Registers that are used before a load has surely brought them, as no wait is between.
    #[serde(default)]
    pub waits: bool,
    /// NaNs and infinities that a kernel makes of numbers and stores. They may be meant: only if they are
    /// asked for.
    #[serde(default)]
    pub nan: bool,
    /// With `races`: if nothing tells whether two accesses are atomic, they are a race. Else they are a
    /// warning.
    #[serde(default)]
    pub atomicity: bool,
}

impl Checks {
    /// All that are mistakes for certain.
    pub const ALL: Self =
        Self { races: true, barriers: true, uninitialised: true, waits: true, nan: false, atomicity: false };
    /// Those, and what may be meant.
    pub const EVERY: Self = Self { nan: true, ..Self::ALL };
    /// None of them.
    pub const NONE: Self = Self {
        races: false,
        barriers: false,
        uninitialised: false,
        waits: false,
        nan: false,
        atomicity: false,
    };
    /// What text they are read from.
    pub const EXPECTED: &str =
        "all, none, or some of races, barriers, uninitialized, waits, nan, atomicity, with commas between";

    /// The checks that are in both sets; how strict they are about races, either says.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            races: self.races && other.races,
            barriers: self.barriers && other.barriers,
            uninitialised: self.uninitialised && other.uninitialised,
            waits: self.waits && other.waits,
            nan: self.nan && other.nan,
            atomicity: self.races && other.races && (self.atomicity || other.atomicity),
        }
    }

    /// Whether there are any.
    pub const fn any(self) -> bool {
        self.races || self.barriers || self.uninitialised || self.waits || self.nan
    }

    /// The checks, in words: `races and uninitialized values`.
    pub fn text(self) -> String {
        let words: Vec<_> = self
            .words()
            .map(|word| match word {
                "uninitialized" => "uninitialized values",
                "waits" => "missing waits",
                "nan" => "NaNs",
                "atomicity" => "unknown atomicity",
                _ => word,
            })
            .collect();
        match words.as_slice() {
            [] => "nothing more".to_owned(),
            [one] => (*one).to_owned(),
            [most @ .., last] => format!("{} and {last}", most.join(", ")),
        }
    }

    /// Each by its word.
    fn words(self) -> impl Iterator<Item = &'static str> {
        let all = [
            (self.races, "races"),
            (self.barriers, "barriers"),
            (self.uninitialised, "uninitialized"),
            (self.waits, "waits"),
            (self.nan, "nan"),
            (self.atomicity, "atomicity"),
        ];
        all.into_iter().filter_map(|(is_set, word)| is_set.then_some(word))
    }
}

/// Writes checks as [`Checks::from_str`] reads them.
impl fmt::Display for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ALL => f.write_str("all"),
            Self::NONE => f.write_str("none"),
            some => f.write_str(&some.words().collect::<Vec<_>>().join(",")),
        }
    }
}

impl FromStr for Checks {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim() == "none" {
            return Ok(Self::NONE);
        }
        text.split(',').try_fold(Self::NONE, |checks, word| {
            Ok(match word.trim() {
                "all" => Self { nan: checks.nan, atomicity: checks.atomicity, ..Self::ALL },
                "races" => Self { races: true, ..checks },
                "barriers" => Self { barriers: true, ..checks },
                // As it was spelled first.
                "uninitialized" | "uninitialised" => Self { uninitialised: true, ..checks },
                "waits" => Self { waits: true, ..checks },
                "nan" => Self { nan: true, ..checks },
                "atomicity" => Self { races: true, atomicity: true, ..checks },
                _ => return Err(Self::EXPECTED),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for number in 0..64 {
            let bit = |bit: u32| number >> bit & 1 != 0;
            let (races, atomicity) = (bit(0), bit(0) && bit(3));
            let [barriers, uninitialised, nan, waits] = [1, 2, 4, 5].map(bit);
            let checks = Checks { races, barriers, uninitialised, waits, nan, atomicity };
            assert_eq!(checks.to_string().parse(), Ok(checks));
        }
        assert_eq!("atomicity".parse(), Ok(Checks { races: true, atomicity: true, ..Checks::NONE }));
        let strict = Checks { atomicity: true, ..Checks::ALL };
        assert_eq!((strict.and(Checks::ALL), Checks::ALL.and(strict)), (strict, strict));
        assert_eq!(strict.and("barriers".parse().unwrap()).to_string(), "barriers");
        assert_eq!(Checks::ALL.text(), "races, barriers, uninitialized values and missing waits");
        let two = Checks { uninitialised: false, waits: false, ..Checks::ALL };
        assert_eq!("barriers, races".parse(), Ok(two));
        assert_eq!("all,nan".parse(), Ok(Checks::EVERY));
        assert_eq!("nan,all".parse(), Ok(Checks::EVERY));
        assert_eq!(Checks::EVERY.and(Checks::ALL), Checks::ALL);
        for text in ["", "race", "races,", "all,none", "races barriers"] {
            assert_eq!(text.parse::<Checks>(), Err(Checks::EXPECTED), "{text}");
        }
    }
}
