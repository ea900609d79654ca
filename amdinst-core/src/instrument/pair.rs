//! What holds a probe map and its code objects together: each carries the hash of the other.
//!
//! The map has the hash of the original and of the instrumented code object, as `xxh128sum` prints them. The
//! instrumented one has that of the map in its section [`MAP_SECTION`]: of the map's file with zeros for the
//! digits of the instrumented one's hash, since neither could be made before the other. Counters that are
//! read with the map of another code object are wrong numbers that look right, so whoever launches checks
//! this ([`check`]).
//!
//! The hash is XXH3 of 128 bits. It tells files that got mixed, not files that somebody forged: who can write
//! the code object can write the map. SHA-256 took a sixth of the time of rewriting a library.

use amdgpu_object::CodeObject;
use thiserror::Error;
use twox_hash::XxHash3_128;

use amdinst_format::probes::{ProbeMap, ProbeMapError};

/// The section of an instrumented code object that has its map's hash.
pub const MAP_SECTION: &str = ".amdinst.map";

/// What a hash begins with.
const KIND: &str = "xxh128:";
/// Digits of a hash.
const DIGITS: usize = 32;

/// A hash that is not known yet: as long as each, with zeros for digits.
pub(super) fn unknown() -> String {
    format!("{KIND}{:0DIGITS$}", 0)
}

/// Files that do not belong together. Each says which.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PairError {
    /// The map says nothing of the code objects it was made for, or has hashes of another kind.
    #[error("the probe map does not say which code object it belongs to: it is of an older version")]
    Unknown,
    /// The original is another one.
    #[error("the probe map belongs to another original: to {wanted}, and this is {found}")]
    Original {
        /// The file that the map belongs to.
        wanted: String,
        /// What there is.
        found: String,
    },
    /// The instrumented code object is another one.
    #[error("the probe map belongs to another instrumented code object: to {wanted}, and this is {found}")]
    CodeObject {
        /// The file that the map belongs to.
        wanted: String,
        /// What there is.
        found: String,
    },
    /// There is no instrumented code object, and the map has one, or the other way round.
    #[error("the probe map belongs to {}", if *.0 { "an instrumented code object" } else { "no instrumented code object" })]
    Form(bool),
    /// The code object has another map.
    #[error("the instrumented code object belongs to another probe map: to {wanted}, and this is {found}")]
    Map {
        /// The map that the code object belongs to.
        wanted: String,
        /// What there is.
        found: String,
    },
}

/// The hash of a file.
pub fn digest(bytes: &[u8]) -> String {
    told(XxHash3_128::oneshot(bytes))
}

fn told(hash: u128) -> String {
    format!("{KIND}{hash:0DIGITS$x}")
}

/// The hash of a map's file, as its code object has it. `code_object` is what the map says of that.
pub(super) fn map_digest(map: &[u8], code_object: &str) -> String {
    let at = map.windows(code_object.len()).position(|part| part == code_object.as_bytes());
    let Some(at) = at.filter(|_| code_object.len() == KIND.len() + DIGITS) else { return digest(map) };
    let mut hash = XxHash3_128::new();
    for part in [&map[..at], unknown().as_bytes(), &map[at + code_object.len()..]] {
        hash.write(part);
    }
    told(hash.finish_128())
}

/// The hash of its map that a code object carries. `None` if it carries none, as those do that were not
/// instrumented.
pub fn map_of(object: &CodeObject) -> Option<String> {
    let contents = object.section_bytes(MAP_SECTION)?;
    (contents.len() == KIND.len() + DIGITS).then(|| String::from_utf8_lossy(contents).into_owned())
}

/// Between a map and the one before it, in a file that has both.
const BEFORE: &str = r#","before":{"schema":"#;

/// Of a map's file that also has the map before it: both, each as a file of its own.
fn parts(file: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    // Texts in JSON have no quotes, so that this is found where a map ends, and nowhere else.
    let at = file.windows(BEFORE.len()).rposition(|part| part == BEFORE.as_bytes())?;
    let before = file[at..].strip_suffix(b"}\n")?;
    let before = &before[r#","before":"#.len()..];
    Some(([&file[..at], b"}\n"].concat(), [before, b"\n"].concat()))
}

/// A map's file that also contains the map before it: for the moment in which the old code object is still
/// there.
pub fn with_before(file: &[u8], before: &[u8]) -> Option<Vec<u8>> {
    // Of three, the last two.
    let before = parts(before).map_or_else(|| before.to_vec(), |(last, _)| last);
    let is_map = before.starts_with(br#"{"schema":"#) && ProbeMap::from_json(&before).is_ok();
    let (open, before) = (file.strip_suffix(b"}\n")?, before.strip_suffix(b"\n")?);
    is_map.then(|| [open, br#","before":"#, before, b"}\n"].concat())
}

/// The map in a file that belongs to an instrumented code object. This is the file's own map or the one
/// before it. The latter is right if the new code object has not taken its place yet, for instance because
/// its writer was killed.
///
/// # Errors
/// It is no map, or none that belongs to the code object.
pub fn map_for(file: &[u8], object: &CodeObject) -> Result<ProbeMap, ReadError> {
    let read = |file: &[u8]| -> Result<ProbeMap, ReadError> {
        let map = ProbeMap::from_json(file)?;
        check(&map, file, None, Some(object))?;
        Ok(map)
    };
    match parts(file) {
        Some((last, before)) => read(&last).or_else(|error| read(&before).map_err(|_| error)),
        None => read(file),
    }
}

/// Why there is no map for a code object.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file is no probe map.
    #[error(transparent)]
    Map(#[from] ProbeMapError),
    /// The map belongs to another code object.
    #[error(transparent)]
    Pair(#[from] PairError),
}

/// Checks that a map, whose file is `file`, belongs to these code objects. `instrumented` is `None` where
/// nothing was instrumented.
///
/// # Errors
/// The first two that do not belong together.
pub fn check(
    map: &ProbeMap,
    file: &[u8],
    original: Option<&[u8]>,
    instrumented: Option<&CodeObject>,
) -> Result<(), PairError> {
    if !map.original.starts_with(KIND) {
        return Err(PairError::Unknown);
    }
    if let Some(found) = original.map(digest)
        && found != map.original
    {
        return Err(PairError::Original { wanted: map.original.clone(), found });
    }
    let (wanted, object) = match (&map.code_object, instrumented) {
        (Some(wanted), Some(object)) => (wanted, object),
        (None, None) => return Ok(()),
        (wanted, _) => return Err(PairError::Form(wanted.is_some())),
    };
    let found = digest(&object.bytes);
    if found != *wanted {
        return Err(PairError::CodeObject { wanted: wanted.clone(), found });
    }
    match (map_of(object), map_digest(file, wanted)) {
        (Some(wanted), found) if wanted != found => Err(PairError::Map { wanted, found }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_two_maps_gives_both_back_as_they_were() {
        let map = |target: &str| {
            let map = ProbeMap {
                schema: crate::instrument::SCHEMA,
                target: target.to_owned(),
                original: digest(target.as_bytes()),
                code_object: None,
                kernels: Vec::new(),
                addresses: Default::default(),
            };
            map.to_json().unwrap()
        };
        // A name may look like anything.
        let (one, two, three) = (map("one"), map(r#"two ,"before":{"schema":2}"#), map("three"));
        let both = with_before(&two, &one).unwrap();
        assert_eq!(parts(&both), Some((two.clone(), one.clone())));
        assert!(ProbeMap::from_json(&both).is_ok_and(|map| map.target.starts_with("two")));
        assert_eq!(with_before(&three, &both).as_deref().and_then(parts), Some((three.clone(), two)));
        assert_eq!(parts(&one), None);
        assert_eq!((with_before(&one, b"{}"), with_before(b"", &one)), (None, None));
    }

    #[test]
    fn hashes_are_those_that_everybody_computes() {
        // What `xxh128sum` prints of "abc".
        let abc = "xxh128:06b05ab6733a618578af5f94892f3950";
        assert_eq!(digest(b"abc"), abc);
        assert_eq!(unknown().len(), abc.len());
        let map = |code_object: &str| format!("{{\"schema\":2,\"code_object\":\"{code_object}\",\"x\":1}}");
        assert_eq!(map_digest(map(abc).as_bytes(), abc), digest(map(&unknown()).as_bytes()));
        assert_ne!(map_digest(map(abc).as_bytes(), abc), digest(map(abc).as_bytes()));
    }
}
