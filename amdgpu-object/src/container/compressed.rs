//! The compressed offload bundle (`CCOB`; Clang's documentation, "Clang Offload Bundler", section
//! "Compression and Decompression").

use super::ContainerError;
use crate::Bytes;
use crate::inflate::{self, Allowance};

pub(super) const MAGIC: &[u8] = b"CCOB";

/// An unpacked bundle.
pub(super) struct Unpacked {
    /// The bundle.
    pub(super) bytes: Bytes,
    /// Bytes that the compressed form takes, header included.
    pub(super) size: usize,
}

pub(super) fn starts_here(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Unpacks the compressed bundle at the start of `bytes`; `at` is its file offset, for messages.
pub(super) fn unpack(bytes: &[u8], at: usize, allowance: &mut Allowance) -> Result<Unpacked, ContainerError> {
    let number = |start: usize, width: usize| {
        let field = bytes
            .get(start..start + width)
            .ok_or_else(|| ContainerError::damaged(at, "its compression header is cut short"))?;
        Ok::<_, ContainerError>(field.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte)))
    };
    let (version, method) = (number(4, 2)?, number(6, 2)?);
    // After version and method: the compressed size (from version 2 on), the unpacked size, and a 64-bit
    // hash.
    let (header, size, unpacked) = match version {
        1 => (20, bytes.len() as u64, number(8, 4)?),
        2 => (24, number(8, 4)?, number(12, 4)?),
        3 => (32, number(8, 8)?, number(16, 8)?),
        other => return Err(ContainerError::Unsupported { at, what: format!("header version {other}") }),
    };
    let packed = usize::try_from(size).ok().and_then(|size| bytes.get(header..size)).ok_or_else(|| {
        let problem = format!("its header says {size:#x} bytes, there are {:#x}", bytes.len());
        ContainerError::damaged(at, problem)
    })?;
    let bytes = match method {
        0 => inflate::zlib(packed, unpacked, allowance),
        1 => inflate::zstd(packed, unpacked, allowance),
        other => return Err(ContainerError::Unsupported { at, what: format!("compression method {other}") }),
    }
    .map_err(|problem| ContainerError::Packed { at, problem })?;
    Ok(Unpacked { bytes: bytes.into(), size: size as usize })
}
