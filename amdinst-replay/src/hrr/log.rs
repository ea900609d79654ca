//! `events.bin`: a header, then one record after another.
//!
//! | bytes | header of the file |
//! |---|---|
//! | 4 | `EHRR`: 0x52524845 |
//! | 2 | version |
//! | 2 | 0 |
//!
//! | bytes | header of a record |
//! |---|---|
//! | 2 | number of the function |
//! | 8 | number of the call |
//! | 8 | time in nanoseconds |
//! | 8 | thread |
//! | 2 | bytes of the record, with this header |
//! | 4 | 0 |
//!
//! A program that ends well leaves a last record of 44 bytes: function 0xffff, the number of events, `HEOF`.
//! Programs that crash leave none, and their last record may be torn: what stands before it holds.

use std::io::{BufReader, Read};

use amdinst_emu::Room;

use super::EVENTS;
use super::fields::{Fields, TooShort};
use crate::error::ArchiveError;
use crate::folder::{Folder, FolderError};

/// What a log begins with.
pub const MAGIC: [u8; 4] = 0x5252_4845_u32.to_le_bytes();
/// The version that is read.
pub const VERSION: u16 = 3;
/// Bytes of the file's header.
pub const FILE_HEADER: usize = 8;
/// Bytes of a record's header.
pub const HEADER: usize = 32;
/// The function of the last record.
const END: u16 = 0xffff;
/// Bytes of the last record.
const END_BYTES: usize = 44;
/// What the last record ends with.
const END_MAGIC: [u8; 4] = *b"HEOF";

/// How often events take the bytes of their log in memory, at most.
const COPIES: u64 = 8;

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Where it stands in the file.
    pub at: u64,
    /// The number of the function.
    pub function: u16,
    /// The number of the call.
    pub number: u64,
    /// The thread.
    pub thread: u64,
    /// All of it, the header included.
    pub bytes: Vec<u8>,
}

/// How a log ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With the mark of a program that ended well.
    Whole,
    /// Without it, behind a record.
    Between,
    /// In the middle of a record.
    Torn {
        /// Where that begins.
        at: u64,
        /// How many bytes of it are there.
        left: u64,
    },
}

/// A log.
#[derive(Clone, Debug)]
pub struct Log {
    /// Its records, as they stand there.
    pub records: Vec<Record>,
    /// How it ends.
    pub end: End,
}

/// Reads the log of a folder.
///
/// # Errors
/// There is none, or one of another version, or it takes more memory than there is.
pub fn read(folder: &Folder) -> Result<Log, ArchiveError> {
    let (file, size) = folder.open(EVENTS)?;
    let path = folder.file(EVENTS);
    let most = Room::here().bytes() / COPIES;
    if size > most {
        return Err(FolderError::TooLarge { path, size, most }.into());
    }
    let mut file = BufReader::new(file.take(size));
    let failed = |source| FolderError::Io { path: path.clone(), source };
    let header = up_to(&mut file, FILE_HEADER).map_err(failed)?;
    let found = header.get(..MAGIC.len()).unwrap_or(&header);
    if found != MAGIC {
        return Err(ArchiveError::Magic { path, found: found.to_vec(), expected: MAGIC });
    }
    // A file that ends here has the version of none.
    let version = Fields::new(&header, MAGIC.len()).half().unwrap_or_default();
    if version != VERSION {
        return Err(ArchiveError::Version { path, found: version, read: VERSION });
    }
    let mut log = Log { records: Vec::new(), end: End::Between };
    let mut at = FILE_HEADER as u64;
    loop {
        let mut bytes = up_to(&mut file, HEADER).map_err(failed)?;
        if bytes.is_empty() {
            return Ok(log);
        }
        let torn = |left: usize| End::Torn { at, left: left as u64 };
        let Ok((record, length)) = header_of(&bytes, at) else {
            log.end = torn(bytes.len());
            return Ok(log);
        };
        let Some(rest) = length.checked_sub(HEADER) else {
            log.end = torn(bytes.len());
            return Ok(log);
        };
        bytes.extend(up_to(&mut file, rest).map_err(failed)?);
        if bytes.len() < length {
            log.end = torn(bytes.len());
            return Ok(log);
        }
        if record.function == END && length == END_BYTES && bytes.ends_with(&END_MAGIC) {
            log.end = End::Whole;
        } else {
            // A process may go on with the log of another.
            log.end = End::Between;
            log.records.push(Record { bytes, ..record });
        }
        at += length as u64;
    }
}

/// A record's header, and the bytes of the record.
fn header_of(bytes: &[u8], at: u64) -> Result<(Record, usize), TooShort> {
    let mut fields = Fields::new(bytes, 0);
    let (function, number) = (fields.half()?, fields.long()?);
    let _time = fields.long()?;
    let (thread, length) = (fields.long()?, fields.half()?);
    fields.bytes(4)?;
    Ok((Record { at, function, number, thread, bytes: Vec::new() }, usize::from(length)))
}

/// The next bytes: so many, or all that there are.
fn up_to(file: &mut impl Read, size: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(size as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}
