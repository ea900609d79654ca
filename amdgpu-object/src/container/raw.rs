//! Code objects and bundles in the midst of other bytes, as in libraries that load them by themselves.

use memchr::memmem;
use object::elf::{FileHeader64, SHT_NOBITS};
use object::read::elf::{FileHeader as _, ProgramHeader as _, SectionHeader as _};
use object::{LittleEndian as LE, elf};

use super::{ContainerError, bundle, compressed};

/// What a code object begins with: 64 bits, little-endian, the first version, of HSA.
pub(super) const CODE_OBJECT: &[u8] = b"\x7fELF\x02\x01\x01\x40";

/// Code objects of a file, at most.
pub(super) const MOST: usize = 1 << 18;

/// The places where a code object or a bundle may begin, in order.
pub(super) fn candidates(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let all = |magic: &'static [u8]| memmem::find_iter(bytes, magic);
    let mut places = [CODE_OBJECT, bundle::MAGIC, compressed::MAGIC].map(|magic| {
        let mut places = all(magic);
        (places.next(), places)
    });
    std::iter::from_fn(move || {
        let (next, rest) =
            places.iter_mut().filter(|(next, _)| next.is_some()).min_by_key(|(next, _)| *next)?;
        std::mem::replace(next, rest.next())
    })
}

/// The sizes of ELF files in the midst of other bytes.
pub(super) struct Sizes<'a> {
    bytes: &'a [u8],
    /// Headers of segments and sections that may still be read: files that do not overlap have no more.
    headers: usize,
}

impl<'a> Sizes<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, headers: bytes.len() / size_of::<elf::ProgramHeader64<LE>>() + SPARE }
    }

    /// The size of the AMDGPU file at a place: to the end of its last part. `None` if there is none, or it is
    /// not all there.
    pub(super) fn at(&mut self, start: usize) -> Result<Option<usize>, ContainerError> {
        let rest = &self.bytes[start..];
        let Ok(header) = FileHeader64::<LE>::parse(rest) else { return Ok(None) };
        if header.e_machine(LE) != elf::EM_AMDGPU {
            return Ok(None);
        }
        let tables = header
            .program_headers(LE, rest)
            .and_then(|segments| Ok((segments, header.section_headers(LE, rest)?)));
        let Ok((segments, sections)) = tables else { return Ok(None) };
        self.headers = self.headers.checked_sub(segments.len() + sections.len()).ok_or_else(|| {
            ContainerError::damaged(start, "files that stand in one another, with more headers than bytes")
        })?;
        let segments_end = header.e_phoff(LE).saturating_add(size_of_val(segments) as u64);
        let sections_end = header.e_shoff(LE).saturating_add(size_of_val(sections) as u64);
        let segments =
            segments.iter().map(|segment| segment.p_offset(LE).saturating_add(segment.p_filesz(LE)));
        let sections = sections.iter().filter(|section| section.sh_type(LE) != SHT_NOBITS);
        let sections = sections.map(|section| section.sh_offset(LE).saturating_add(section.sh_size(LE)));
        let end = segments.chain(sections).chain([segments_end, sections_end]).max().unwrap_or_default();
        Ok(usize::try_from(end).ok().filter(|&end| end <= rest.len()))
    }
}

/// Headers that are read beside those that there is room for: of files that are none after all.
const SPARE: usize = 1 << 17;
