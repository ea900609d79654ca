//! How far a result may be from what is expected.

use std::fmt;

use super::error::SyntaxError;
use super::reader::Reader;

/// How far a number may be from the one that is expected.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Tolerance {
    /// No bit may differ.
    #[default]
    Exact,
    /// By as much as `absolute + relative × |expected|`.
    Within {
        /// Whatever the expected number is.
        absolute: f64,
        /// For each unit of it.
        relative: f64,
    },
    /// By so many representable numbers.
    Ulps(u64),
}

/// What a tolerance looks like.
const ACCEPTED: &str =
    "ABSOLUTE, RELATIVErel, ABSOLUTE+RELATIVErel, Nulp or exact, as 1e-6, 1e-5rel, 1e-6+1e-5rel, 4ulp";

impl Tolerance {
    /// Reads up to the end.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, SyntaxError> {
        let start = reader.position();
        let end = start + reader.rest().len();
        if reader.rest() == "exact" {
            reader.take_rest();
            return Ok(Self::Exact);
        }
        if let Some(number) = reader.rest().strip_suffix("ulp") {
            let ulps = number.parse();
            reader.take_rest();
            return ulps
                .map(Self::Ulps)
                .map_err(|_| reader.error_since(start, "before `ulp` stands no whole number", ACCEPTED));
        }
        // `1e+5` has a `+` of its own.
        let rest = reader.rest();
        let is_plus = |&(at, _): &(usize, &str)| at > 0 && !rest[..at].ends_with(['e', 'E']);
        let plus = rest.match_indices('+').find(is_plus).map(|(at, _)| start + at);
        let (mut absolute, mut relative) = (None, None);
        for part in [plus.map(|plus| plus..plus + 1), Some(end..end)].into_iter().flatten() {
            let first = reader.position();
            let text = reader.take_to(part.start);
            let (number, place) = match text.strip_suffix("rel") {
                Some(number) => (number, &mut relative),
                None => (text, &mut absolute),
            };
            let value = number.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
            match (value, &place) {
                (Some(value), None) => *place = Some(value),
                _ => {
                    let what = format!("`{text}` is no tolerance here");
                    return Err(reader.error_since(first, what, ACCEPTED));
                }
            }
            reader.take_to(part.end);
        }
        Ok(Self::Within { absolute: absolute.unwrap_or(0.0), relative: relative.unwrap_or(0.0) })
    }
}

impl fmt::Display for Tolerance {
    /// Writes a tolerance as it stands behind `~`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => f.write_str("exact"),
            Self::Within { absolute, relative: 0.0 } => write!(f, "{absolute:?}"),
            Self::Within { absolute: 0.0, relative } => write!(f, "{relative:?}rel"),
            Self::Within { absolute, relative } => write!(f, "{absolute:?}+{relative:?}rel"),
            Self::Ulps(ulps) => write!(f, "{ulps}ulp"),
        }
    }
}
