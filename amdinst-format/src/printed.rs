//! What kernels print, as the buffer in their code object has it.
//!
//! The buffer begins with how many bytes of lines are taken, and how many lines found no room. A line is its
//! length, workgroup and work-item in x, y and z (u32, little-endian), and its text, up to a multiple of
//! four.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The buffer's symbol.
pub const SYMBOL: &str = "__amdinst_printed";
/// The symbol of the function that adds a line to a buffer: it is of no source.
pub const WRITER: &str = "__amdinst_write";
/// Bytes of its head.
pub const HEAD: usize = 8;
/// Bytes of its lines, at most.
pub const ROOM: usize = 1 << 16;
/// Words before a line's text.
const WORDS: usize = 7;

/// The output of a launch's kernels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Printed {
    /// The lines: by workgroup, and those of one workgroup as they came.
    pub lines: Vec<PrintedLine>,
    /// Lines for which there was no room.
    pub lost: u32,
}

/// A line that a work-item printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrintedLine {
    /// Its workgroup, in x, y, z.
    pub workgroup: [u32; 3],
    /// Its place in the workgroup, in x, y, z.
    pub item: [u32; 3],
    /// Its output.
    pub text: String,
}

impl Printed {
    /// Reads the buffer at an address: `read` reads so many bytes at one.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn at<E>(address: u64, mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E>) -> Result<Self, E> {
        let mut head = [0; HEAD];
        read(address, &mut head)?;
        let mut lines = vec![0; Self::taken(head)];
        if !lines.is_empty() {
            read(address + HEAD as u64, &mut lines)?;
        }
        Ok(Self::read(head, &lines))
    }

    /// Bytes of lines that a buffer's head says there are.
    fn taken(head: [u8; HEAD]) -> usize {
        let [a, b, c, d, ..] = head;
        (u32::from_le_bytes([a, b, c, d]) as usize).min(ROOM)
    }

    /// What a buffer says: its head, and as many bytes of lines as that has taken. Where these are no lines,
    /// they end.
    fn read(head: [u8; HEAD], mut bytes: &[u8]) -> Self {
        let [.., a, b, c, d] = head;
        let mut lines = Vec::new();
        while let Some((line, rest)) = line(bytes) {
            lines.push(line);
            bytes = rest;
        }
        lines.sort_by_key(|line: &PrintedLine| {
            let [x, y, z] = line.workgroup;
            [z, y, x]
        });
        Self { lines, lost: u32::from_le_bytes([a, b, c, d]) }
    }

    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.lost == 0
    }
}

/// The first line of some bytes, and the others.
fn line(bytes: &[u8]) -> Option<(PrintedLine, &[u8])> {
    let (head, rest) = bytes.split_at_checked(4 * WORDS)?;
    let word = |index: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| head[4 * index + byte]));
    let len = word(0) as usize;
    // No line is of no bytes and of the first work-item but one that is written.
    let text = rest.get(..len)?;
    let rest = rest.get(len.next_multiple_of(4)..)?;
    let text = String::from_utf8_lossy(text).into_owned();
    Some((PrintedLine { workgroup: [1, 2, 3].map(word), item: [4, 5, 6].map(word), text }, rest))
}

/// A line for each, with its place before it.
impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for PrintedLine { workgroup: [x, y, z], item: [i, j, k], text } in &self.lines {
            writeln!(f, "workgroup ({x}, {y}, {z}), work-item ({i}, {j}, {k}): {text}")?;
        }
        match self.lost {
            0 => Ok(()),
            1 => writeln!(f, "1 line more found no room"),
            lost => writeln!(f, "{lost} lines more found no room"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(words: &[u32], text: &str) -> Vec<u8> {
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend(text.bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn lines_are_sorted_by_workgroup() {
        let mut all = bytes(&[5, 1, 0, 0, 3, 0, 0], "hello");
        all.extend(bytes(&[0, 0, 0, 0, 9, 0, 0], ""));
        all.extend(bytes(&[2, 1, 0, 0, 1, 2, 0], "no"));
        let head = [all.len() as u8, 0, 0, 0, 2, 0, 0, 0];
        assert_eq!(Printed::taken(head), all.len());
        assert_eq!(
            Printed::read(head, &all).to_string(),
            "workgroup (0, 0, 0), work-item (9, 0, 0): \nworkgroup (1, 0, 0), work-item (3, 0, 0): hello\n\
             workgroup (1, 0, 0), work-item (1, 2, 0): no\n2 lines more found no room\n"
        );
    }

    #[test]
    fn what_is_no_line_ends_them() {
        let all = bytes(&[u32::MAX, 1, 0, 0, 3, 0, 0], "hello");
        assert!(Printed::read([0; HEAD], &all).is_empty());
        assert!(Printed::read([0; HEAD], &all[..9]).is_empty());
        assert_eq!(Printed::taken([255; HEAD]), ROOM);
    }
}
