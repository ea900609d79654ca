//! Archives that Python packages are (`.whl`), and other `.zip` files.

use std::io::{Cursor, Read as _};
use std::ops::Range;

use zip::ZipArchive;
use zip::result::ZipError;

use super::{ContainerError, WINDOWS, archive, bundle, compressed, offloading};
use crate::inflate::{self, Allowance};

pub(super) fn starts_here(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
}

/// An archive.
pub(super) struct Archive<'a>(ZipArchive<Cursor<&'a [u8]>>);

/// A file of an archive.
pub(super) struct Member {
    pub(super) name: String,
    /// Where it stands, packed.
    pub(super) packed: Range<usize>,
    pub(super) bytes: Vec<u8>,
}

impl<'a> Archive<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, ContainerError> {
        ZipArchive::new(Cursor::new(bytes)).map(Self).map_err(|error| damaged(&error))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Unpacks a file, if it begins as one does that may have GPU code.
    pub(super) fn member(
        &mut self,
        number: usize,
        allowance: &mut Allowance,
    ) -> Result<Option<Member>, ContainerError> {
        let mut file = self.0.by_index(number).map_err(|error| damaged(&error))?;
        let name = amdinst_text::name_of(&file.name().map_err(|error| damaged(&error))?).into_owned();
        let start = file.data_start().unwrap_or_default() as usize;
        let packed = start..start.saturating_add(file.compressed_size() as usize);
        let failed = |problem| ContainerError::Packed { at: start, problem: format!("`{name}`: {problem}") };
        let mut head = Vec::new();
        file.by_ref().take(HEAD).read_to_end(&mut head).map_err(|error| failed(error.to_string()))?;
        if !is_looked_into(&head) {
            return Ok(None);
        }
        let size = file.size();
        let bytes = inflate::unpack(Cursor::new(head).chain(file), size, allowance).map_err(failed)?;
        Ok(Some(Member { name, packed, bytes }))
    }
}

/// Bytes that tell what a file is.
const HEAD: u64 = 32;

fn is_looked_into(head: &[u8]) -> bool {
    head.starts_with(b"\x7fELF")
        || head.starts_with(WINDOWS)
        || bundle::starts_here(head)
        || compressed::starts_here(head)
        || offloading::starts_here(head)
        || archive::starts_here(head)
        || starts_here(head)
}

/// Names in an archive that lead out of the directory into which it is unpacked, or that look like others:
/// nobody who means well gives such. None of a file that is no such archive.
pub fn odd_names(bytes: &[u8]) -> Vec<String> {
    if !starts_here(bytes) {
        return Vec::new();
    }
    let Ok(Archive(archive)) = Archive::read(bytes) else { return Vec::new() };
    let names = archive.file_names().flatten().map(|name| amdinst_text::name_of(&name).into_owned());
    let mut odd: Vec<String> = names.filter(|name| is_odd(name)).collect();
    odd.sort_unstable();
    odd
}

fn is_odd(name: &str) -> bool {
    let is_drive = name.as_bytes().get(1) == Some(&b':');
    let leads_out =
        name.starts_with(['/', '\\']) || is_drive || name.split(['/', '\\']).any(|part| part == "..");
    leads_out || amdinst_text::shown(name) != name
}

fn damaged(error: &ZipError) -> ContainerError {
    ContainerError::Archive { problem: error.to_string() }
}
