//! Decompression of bundles and debug sections.

use std::io::Read;

/// Most bytes anything may unpack to, so that a damaged header cannot ask for all memory.
pub(crate) const MAX_SIZE: u64 = 1 << 32;

/// Unpacks zlib data that promises to become `size` bytes.
pub(crate) fn zlib(packed: &[u8], size: u64) -> Result<Vec<u8>, String> {
    read(flate2::read::ZlibDecoder::new(packed), size)
}

/// Unpacks zstd data that promises to become `size` bytes.
pub(crate) fn zstd(packed: &[u8], size: u64) -> Result<Vec<u8>, String> {
    let decoder = ruzstd::decoding::StreamingDecoder::new(packed).map_err(|error| error.to_string())?;
    read(decoder, size)
}

fn read(decoder: impl Read, size: u64) -> Result<Vec<u8>, String> {
    if size > MAX_SIZE {
        return Err(format!("its header promises {size:#x} bytes, more than 4 GiB"));
    }
    let mut bytes = Vec::new();
    // One byte more than promised shows that there is more.
    decoder.take(size + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 != size {
        return Err(format!("its header promises {size:#x} bytes, there are {:#x}", bytes.len()));
    }
    Ok(bytes)
}
