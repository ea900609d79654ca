//! The offload bundle (Clang's documentation, "Clang Offload Bundler", section "Bundled Binary File Layout").

use std::borrow::Cow;
use std::ops::Range;

use super::{ContainerError, Pieces};

pub(super) const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";

/// One entry of a bundle.
pub(super) struct BundleEntry {
    /// Offload kind and target: `hipv4-amdgcn-amd-amdhsa--gfx90a`.
    pub(super) id: String,
    /// Where it stands, from the start of the bundle.
    pub(super) range: Range<usize>,
}

/// The entries of a bundle.
pub(super) struct Bundle {
    pub(super) entries: Vec<BundleEntry>,
    /// Bytes from its start to the end of its last entry.
    pub(super) size: usize,
}

pub(super) fn starts_here(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Reads the table of the bundle at the start of `bytes`; `at` is its file offset, for messages.
pub(super) fn read(bytes: &[u8], at: usize) -> Result<Bundle, ContainerError> {
    if !starts_here(bytes) {
        return Err(ContainerError::damaged(at, "it does not start with __CLANG_OFFLOAD_BUNDLE__"));
    }
    let cut = |what: String| ContainerError::damaged(at, format!("{what} is cut short"));
    let mut position = MAGIC.len();
    let count = bytes.get(position..position + 8).ok_or_else(|| cut("its number of entries".to_owned()))?;
    let count = u64::from_le_bytes(count.try_into().expect("eight bytes"));
    position += 8;
    let mut entries = Vec::new();
    let mut end = position;
    for index in 0..count {
        let what = || format!("entry {index} of {count}");
        let header = bytes.get(position..position + 24).ok_or_else(|| cut(what()))?;
        let field = |number: usize| {
            u64::from_le_bytes(header[number * 8..number * 8 + 8].try_into().expect("eight bytes"))
        };
        let (offset, size, id_size) = (field(0), field(1), field(2));
        position += 24;
        let id = usize::try_from(id_size)
            .ok()
            .and_then(|size| bytes.get(position..position.checked_add(size)?))
            .ok_or_else(|| cut(format!("the target of {}", what())))?;
        position += id.len();
        let range = offset
            .checked_add(size)
            .filter(|&end| end <= bytes.len() as u64)
            .map(|end| offset as usize..end as usize)
            .ok_or_else(|| {
                ContainerError::damaged(
                    at,
                    format!(
                        "{} spans {size:#x} bytes from {offset:#x}, outside the {:#x} bytes there are",
                        what(),
                        bytes.len()
                    ),
                )
            })?;
        end = end.max(position).max(range.end);
        entries.push(BundleEntry { id: amdinst_text::name(id).into_owned(), range });
    }
    Ok(Bundle { entries, size: end })
}

/// Appends a bundle of (id, contents); entries with contents start at multiples of a page from its start,
/// which `out` has come to.
pub(super) fn write<'a>(entries: Vec<(String, Cow<'a, [u8]>)>, out: &mut Pieces<'a>) {
    let mut table = [MAGIC, &(entries.len() as u64).to_le_bytes()].concat();
    let mut end = table.len() + entries.iter().map(|(id, _)| 24 + id.len()).sum::<usize>();
    for (id, contents) in &entries {
        if !contents.is_empty() {
            end = end.next_multiple_of(super::ALIGNMENT);
        }
        for field in [end, contents.len(), id.len()] {
            table.extend((field as u64).to_le_bytes());
        }
        table.extend(id.as_bytes());
        end += contents.len();
    }
    out.push(table);
    for (_, contents) in entries.into_iter().filter(|(_, contents)| !contents.is_empty()) {
        out.align(super::ALIGNMENT);
        out.push(contents);
    }
}
