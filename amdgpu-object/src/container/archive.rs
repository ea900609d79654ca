//! Archives of object files (`.a`).

use std::ops::Range;

use object::read::archive::ArchiveFile;

use super::ContainerError;

pub(super) fn starts_here(bytes: &[u8]) -> bool {
    bytes.starts_with(&object::archive::MAGIC) || bytes.starts_with(&object::archive::THIN_MAGIC)
}

/// The files of an archive: their names, and where they stand.
pub(super) fn members(bytes: &[u8]) -> Result<Vec<(String, Range<usize>)>, ContainerError> {
    let damaged = |error: object::read::Error| ContainerError::Archive { problem: error.to_string() };
    let archive = ArchiveFile::parse(bytes).map_err(damaged)?;
    if archive.is_thin() {
        let problem = "it is a thin one, whose files stand elsewhere: give those".to_owned();
        return Err(ContainerError::Archive { problem });
    }
    archive
        .members()
        .map(|member| {
            let member = member.map_err(damaged)?;
            // What is not all there is damage.
            let size = member.data(bytes).map_err(damaged)?.len();
            let start = member.file_range().0 as usize;
            Ok((amdinst_text::name(member.name()).into_owned(), start..start + size))
        })
        .collect()
}
