//! Putting other code objects into a file that holds some.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{ALIGNMENT, ContainerError, bundle, compressed, host, is_code_object, next_bundle};

/// The file with some of its code objects replaced, by [`Embedded::index`](super::Embedded::index).
///
/// A bundle that was compressed and has a replaced code object comes out uncompressed. In a host file whose bundles have
/// outgrown `.hip_fatbin`, that section goes to a new segment at the end, and the pointers to the bundles follow.
///
/// # Errors
/// [`ContainerError`], as [`open`](super::open) gives, and when a host file has no way to point at larger bundles.
pub fn replace(bytes: &[u8], replacements: &BTreeMap<usize, Vec<u8>>) -> Result<Vec<u8>, ContainerError> {
    if bundle::starts_here(bytes) || compressed::starts_here(bytes) {
        return Ok(rebuild(bytes, 0..bytes.len(), replacements)?.bytes);
    }
    match host::fatbin(bytes)? {
        host::Contents::Fatbin(range) => {
            let bundles = rebuild(bytes, range.clone(), replacements)?;
            if bundles.bytes.len() <= range.len() && bundles.moves.iter().all(|(old, new)| old == new) {
                let mut out = bytes.to_vec();
                out[range.clone()].fill(0);
                out[range.start..range.start + bundles.bytes.len()].copy_from_slice(&bundles.bytes);
                return Ok(out);
            }
            host::move_fatbin(bytes, &bundles.bytes, &bundles.moves)
        }
        host::Contents::NoFatbin => Err(ContainerError::NoGpuCode),
        host::Contents::NotHost => Ok(replacements.get(&0).cloned().unwrap_or_else(|| bytes.to_vec())),
    }
}

/// Bundles one after another.
struct Bundles {
    bytes: Vec<u8>,
    /// Where each bundle started in the old range and starts in the new bytes.
    moves: BTreeMap<u64, u64>,
}

fn rebuild(
    bytes: &[u8],
    range: Range<usize>,
    replacements: &BTreeMap<usize, Vec<u8>>,
) -> Result<Bundles, ContainerError> {
    let mut bundles = Bundles { bytes: Vec::new(), moves: BTreeMap::new() };
    let mut index = 0;
    let mut at = range.start;
    while let Some(start) = next_bundle(&bytes[..range.end], at) {
        let rest = &bytes[start..range.end];
        let unpacked = match compressed::starts_here(rest) {
            true => Some(compressed::unpack(rest, start)?),
            false => None,
        };
        let contents = unpacked.as_ref().map_or(rest, |unpacked| &unpacked.bytes);
        let inner = bundle::read(contents, start)?;
        let size = unpacked.as_ref().map_or(inner.size, |unpacked| unpacked.size);
        at = start + size;
        let mut entries = Vec::new();
        let mut is_changed = false;
        for entry in inner.entries {
            let mut code = &contents[entry.range];
            if is_code_object(&entry.id, code) {
                if let Some(replacement) = replacements.get(&index) {
                    code = replacement;
                    is_changed = true;
                }
                index += 1;
            }
            entries.push((entry.id, code));
        }
        bundles.bytes.resize(bundles.bytes.len().next_multiple_of(ALIGNMENT), 0);
        bundles.moves.insert((start - range.start) as u64, bundles.bytes.len() as u64);
        match is_changed {
            true => bundle::write(&entries, &mut bundles.bytes),
            false => bundles.bytes.extend(&bytes[start..at]),
        }
    }
    Ok(bundles)
}
