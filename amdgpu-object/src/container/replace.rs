//! Putting other code objects into a file that holds some.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::Allowance;
use super::{ALIGNMENT, ContainerError, Elf, Pieces, bundle, compressed, host, is_code_object, next_bundle};

/// The file with some of its code objects replaced, by [`Embedded::index`](super::Embedded::index).
///
/// A bundle that was compressed and has a replaced code object comes out uncompressed. If the bundles of a host file
/// outgrow `.hip_fatbin`, the section moves to a new segment at the end. The pointers to the bundles follow.
///
/// Compressed bundles may unpack to `limit` bytes in all.
///
/// # Errors
/// [`ContainerError`], as [`open`](super::open) gives, and when a host file has no way to point at larger bundles.
pub fn replace<'a>(
    bytes: &'a [u8],
    replacements: &'a BTreeMap<usize, impl AsRef<[u8]>>,
    limit: u64,
) -> Result<Pieces<'a>, ContainerError> {
    if bundle::starts_here(bytes) || compressed::starts_here(bytes) {
        return Ok(rebuild(bytes, 0..bytes.len(), replacements, limit)?.pieces);
    }
    match host::gpu_code(bytes)? {
        host::Contents::Fatbin(range) => {
            let bundles = rebuild(bytes, range.clone(), replacements, limit)?;
            if bundles.pieces.len() <= range.len() && bundles.moves.iter().all(|(old, new)| old == new) {
                let rest = range.len() - bundles.pieces.len();
                let mut out = Pieces::default();
                out.push(&bytes[..range.start]);
                out.append(bundles.pieces);
                out.push_zeros(rest);
                out.push(&bytes[range.end..]);
                return Ok(out);
            }
            host::move_fatbin(bytes, bundles.pieces, &bundles.moves)
        }
        host::Contents::Offloading(_) | host::Contents::Neither => Err(ContainerError::InPlace),
        // Of a file that is none itself, some may stand in it.
        host::Contents::NotHost if Elf::read(bytes).is_err() => Err(ContainerError::InPlace),
        host::Contents::NotHost => {
            let mut out = Pieces::default();
            out.push(replacements.get(&0).map_or(bytes, AsRef::as_ref));
            Ok(out)
        }
    }
}

/// Bundles one after another.
struct Bundles<'a> {
    pieces: Pieces<'a>,
    /// Where each bundle started in the old range and starts in the new bytes.
    moves: BTreeMap<u64, u64>,
}

fn rebuild<'a>(
    bytes: &'a [u8],
    range: Range<usize>,
    replacements: &'a BTreeMap<usize, impl AsRef<[u8]>>,
    limit: u64,
) -> Result<Bundles<'a>, ContainerError> {
    let mut allowance = Allowance::new(limit);
    let mut bundles = Bundles { pieces: Pieces::default(), moves: BTreeMap::new() };
    let mut index = 0;
    let mut at = range.start;
    while let Some(start) = next_bundle(&bytes[..range.end], at) {
        let rest = &bytes[start..range.end];
        let unpacked = match compressed::starts_here(rest) {
            true => Some(compressed::unpack(rest, start, &mut allowance)?),
            false => None,
        };
        let inner = bundle::read(unpacked.as_ref().map_or(rest, |unpacked| &unpacked.bytes), start)?;
        let size = unpacked.as_ref().map_or(inner.size, |unpacked| unpacked.size);
        at = start + size;
        let mut entries = Vec::new();
        let mut is_changed = false;
        for entry in inner.entries {
            let mut code = match &unpacked {
                Some(unpacked) => Cow::Owned(unpacked.bytes[entry.range].to_vec()),
                None => Cow::Borrowed(&rest[entry.range]),
            };
            if is_code_object(&entry.id, &code) {
                if let Some(replacement) = replacements.get(&index) {
                    code = Cow::Borrowed(replacement.as_ref());
                    is_changed = true;
                }
                index += 1;
            }
            entries.push((entry.id, code));
        }
        bundles.pieces.align(ALIGNMENT);
        bundles.moves.insert((start - range.start) as u64, bundles.pieces.len() as u64);
        match is_changed {
            true => bundle::write(entries, &mut bundles.pieces),
            false => bundles.pieces.push(&bytes[start..at]),
        }
    }
    Ok(bundles)
}
