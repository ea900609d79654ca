//! Putting other code objects into a file that holds some.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::Allowance;
use super::{ALIGNMENT, ContainerError, Elf, Embedded, Pieces, WINDOWS};
use super::{archive, bundle, compressed, host, is_code_object, next_bundle, windows, zip};

/// The file with some of its code objects replaced, by [`Embedded::index`](super::Embedded::index).
///
/// A bundle that was compressed and has a replaced code object comes out uncompressed. If the bundles of a
/// host file outgrow `.hip_fatbin`, the section moves to a new segment at the end. The pointers to the
/// bundles follow.
///
/// Compressed bundles may unpack to `limit` bytes in all.
///
/// # Errors
/// [`ContainerError`], as [`open`](super::open) gives, and when a host file has no way to point at larger
/// bundles.
pub fn replace<'a>(
    bytes: &'a [u8],
    replacements: &'a BTreeMap<usize, impl AsRef<[u8]>>,
    limit: u64,
) -> Result<Pieces<'a>, ContainerError> {
    match place(bytes)? {
        Place::Bundles => Ok(rebuild(bytes, 0..bytes.len(), replacements, limit)?.pieces),
        Place::Fatbin(range) => {
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
            match windows::WindowsImage::read(bytes) {
                Some(image) => image.move_fatbin(bundles.pieces, &bundles.moves),
                None => host::move_fatbin(bytes, bundles.pieces, &bundles.moves),
            }
        }
        Place::CodeObject => {
            let mut out = Pieces::default();
            out.push(replacements.get(&0).map_or(bytes, AsRef::as_ref));
            Ok(out)
        }
    }
}

/// Where code objects stand that can be replaced.
enum Place {
    Bundles,
    /// A host file's section.
    Fatbin(Range<usize>),
    /// The file is one.
    CodeObject,
}

/// # Errors
/// [`ContainerError::InPlace`], with the kind of file.
fn place(bytes: &[u8]) -> Result<Place, ContainerError> {
    if bundle::starts_here(bytes) || compressed::starts_here(bytes) {
        return Ok(Place::Bundles);
    }
    let kind = match host::gpu_code(bytes)? {
        host::HostFile::Fatbin(range) => return Ok(Place::Fatbin(range)),
        host::HostFile::NotHost if Elf::read(bytes).is_ok() => return Ok(Place::CodeObject),
        host::HostFile::Offloading(_) => "a host file with LLVM's offload binaries",
        host::HostFile::Neither => "a host file in which they stand as they are, without bundles",
        host::HostFile::NotHost if let Some(range) = fatbin_of_windows(bytes)? => {
            return Ok(Place::Fatbin(range));
        }
        host::HostFile::NotHost if zip::starts_here(bytes) => "an archive (.whl, .zip)",
        host::HostFile::NotHost if archive::starts_here(bytes) => "an archive of objects (.a)",
        host::HostFile::NotHost if bytes.starts_with(WINDOWS) => {
            "a Windows program or library whose code objects are not all in .hip_fat"
        }
        // Some may stand in any file.
        host::HostFile::NotHost => "this kind of file",
    };
    Err(ContainerError::InPlace { kind })
}

/// Finds out, before any work is done, whether [`replace`] knows the kind of file, and whether a host file's
/// bundles can grow.
///
/// # Errors
/// [`ContainerError`], as [`replace`] gives.
pub fn replaceable(bytes: &[u8]) -> Result<(), ContainerError> {
    match place(bytes)? {
        Place::Bundles | Place::CodeObject => Ok(()),
        Place::Fatbin(_) => {
            let is_bundle = |at: usize| {
                bytes.get(at..).is_some_and(|rest| bundle::starts_here(rest) || compressed::starts_here(rest))
            };
            match windows::WindowsImage::read(bytes) {
                Some(image) => image.movable(is_bundle),
                None => host::movable(bytes, is_bundle),
            }
        }
    }
}

/// Where the bundles of a Windows program or library stand, if all of its code objects are in these: they are
/// numbered as they stand in the file.
fn fatbin_of_windows(bytes: &[u8]) -> Result<Option<Range<usize>>, ContainerError> {
    let Some(range) = windows::WindowsImage::read(bytes).and_then(|image| image.fatbin()) else {
        return Ok(None);
    };
    let is_within = |one: &Embedded<'_>| range.start <= one.range.start && one.range.end <= range.end;
    Ok(super::open(bytes)?.iter().all(is_within).then_some(range))
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
