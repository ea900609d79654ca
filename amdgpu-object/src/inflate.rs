//! Decompression of bundles, members of archives and debug sections.

use std::io::Read;

/// How many bytes may still be unpacked, so that a small file cannot take all memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    limit: u64,
    left: u64,
}

impl Allowance {
    /// So many in all.
    pub(crate) const fn new(limit: u64) -> Self {
        Self { limit, left: limit }
    }

    /// Takes what a header promises.
    fn take(&mut self, size: u64) -> Result<(), String> {
        self.left = self.left.checked_sub(size).ok_or_else(|| {
            let before = self.limit - self.left;
            let before =
                if before == 0 { String::new() } else { format!(" besides {before} unpacked before") };
            format!("its header promises {size} bytes{before}, more than the limit of {} in all", self.limit)
        })?;
        Ok(())
    }
}

/// Unpacks zlib data that promises to become `size` bytes.
pub(crate) fn zlib(packed: &[u8], size: u64, allowance: &mut Allowance) -> Result<Vec<u8>, String> {
    unpack(flate2::read::ZlibDecoder::new(packed), size, allowance)
}

/// Unpacks zstd data that promises to become `size` bytes.
pub(crate) fn zstd(packed: &[u8], size: u64, allowance: &mut Allowance) -> Result<Vec<u8>, String> {
    let decoder = ruzstd::decoding::StreamingDecoder::new(packed).map_err(|error| error.to_string())?;
    unpack(decoder, size, allowance)
}

/// Reads `size` bytes from what unpacks them, and to its end.
pub(crate) fn unpack(decoder: impl Read, size: u64, allowance: &mut Allowance) -> Result<Vec<u8>, String> {
    allowance.take(size)?;
    let mut bytes = Vec::new();
    // A vector that grows is there twice for a moment.
    let promised = usize::try_from(size).ok().filter(|size| bytes.try_reserve_exact(*size).is_ok());
    promised.ok_or_else(|| format!("its header promises {size} bytes, for which there is no memory"))?;
    // One byte more than promised shows that there is more.
    decoder.take(size.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 != size {
        return Err(format!("its header promises {size:#x} bytes, there are {:#x}", bytes.len()));
    }
    Ok(bytes)
}
