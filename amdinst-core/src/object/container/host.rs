//! Host programs and libraries: where their GPU code stands.

use std::ops::Range;

use object::elf::{FileHeader64, SHT_NOBITS};
use object::read::elf::{FileHeader as _, SectionHeader as _};
use object::{LittleEndian as LE, elf};

use super::{ContainerError, ObjectError};

/// What an ELF file is to us.
pub(super) enum Contents {
    /// A host file with a `.hip_fatbin` section at this range.
    Fatbin(Range<usize>),
    /// A host file without.
    NoFatbin,
    /// Not a 64-bit little-endian ELF file for a machine other than AMDGPU.
    NotHost,
}

/// Looks for `.hip_fatbin`.
pub(super) fn fatbin(bytes: &[u8]) -> Result<Contents, ContainerError> {
    let Ok(header) = FileHeader64::<LE>::parse(bytes) else { return Ok(Contents::NotHost) };
    if header.e_machine(LE) == elf::EM_AMDGPU {
        return Ok(Contents::NotHost);
    }
    let damaged = |part: &str, at: u64, error: object::read::Error| {
        ContainerError::Object(ObjectError::malformed(part, at, error.to_string()))
    };
    let table = header.e_shoff(LE);
    let sections =
        header.sections(LE, bytes).map_err(|error| damaged("section header table", table, error))?;
    for section in sections.iter() {
        let name = sections.section_name(LE, section).unwrap_or_default();
        if name == b".hip_fatbin" && section.sh_type(LE) != SHT_NOBITS {
            let contents = section
                .data(LE, bytes)
                .map_err(|error| damaged("section .hip_fatbin", section.sh_offset(LE), error))?;
            let start = section.sh_offset(LE) as usize;
            return Ok(Contents::Fatbin(start..start + contents.len()));
        }
    }
    Ok(Contents::NoFatbin)
}
