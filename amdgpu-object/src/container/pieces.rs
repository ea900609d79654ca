//! A file in pieces: most of a large file is as it was, and need not be copied to be written again.

use std::borrow::Cow;
use std::io::{self, Seek, SeekFrom, Write};

/// The contents of a file, in pieces one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pieces<'a> {
    pieces: Vec<Piece<'a>>,
    len: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece<'a> {
    Bytes(Cow<'a, [u8]>),
    Zeros(usize),
}

/// Zeros that are worth a hole in the file: what file systems give out at once.
const HOLE: usize = 4096;

impl<'a> Pieces<'a> {
    /// Bytes of the file.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the file has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All of it in memory.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len);
        for piece in &self.pieces {
            match piece {
                Piece::Bytes(piece) => bytes.extend_from_slice(piece),
                Piece::Zeros(number) => bytes.resize(bytes.len() + number, 0),
            }
        }
        bytes
    }

    /// Writes it into a file that is empty. Long runs of zeros are skipped, and take no room where the file
    /// system lets files have holes.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_to(&self, file: &mut (impl Write + Seek)) -> io::Result<()> {
        for piece in &self.pieces {
            match piece {
                Piece::Bytes(bytes) => file.write_all(bytes)?,
                Piece::Zeros(number) if *number >= HOLE => {
                    // The last of them is written, as the file may end here.
                    file.seek(SeekFrom::Current(*number as i64 - 1))?;
                    file.write_all(&[0])?;
                }
                Piece::Zeros(number) => file.write_all(&[0; HOLE][..*number])?,
            }
        }
        file.flush()
    }

    pub(super) fn push(&mut self, bytes: impl Into<Cow<'a, [u8]>>) {
        let bytes = bytes.into();
        self.len += bytes.len();
        if !bytes.is_empty() {
            self.pieces.push(Piece::Bytes(bytes));
        }
    }

    pub(super) fn push_zeros(&mut self, number: usize) {
        self.len += number;
        if number > 0 {
            self.pieces.push(Piece::Zeros(number));
        }
    }

    /// Zeros up to a multiple of `alignment`.
    pub(super) fn align(&mut self, alignment: usize) {
        self.push_zeros(self.len.next_multiple_of(alignment) - self.len);
    }

    pub(super) fn append(&mut self, more: Self) {
        self.len += more.len;
        self.pieces.extend(more.pieces);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_as_in_memory() {
        let mut pieces = Pieces::default();
        assert!(pieces.is_empty());
        pieces.push(&b"abc"[..]);
        pieces.push(&b""[..]);
        pieces.align(8);
        pieces.push_zeros(3 * HOLE);
        pieces.push(b"def".to_vec());
        let mut more = Pieces::default();
        more.push_zeros(HOLE);
        pieces.append(more);
        let expected = [&b"abc"[..], &[0; 5 + 3 * HOLE], b"def", &[0; HOLE]].concat();
        assert_eq!((pieces.len(), pieces.to_vec()), (expected.len(), expected.clone()));
        let mut file = io::Cursor::new(Vec::new());
        pieces.write_to(&mut file).unwrap();
        assert_eq!(file.into_inner(), expected);
    }
}
