//! The arguments of a call: a structure of integers in the program's memory, copied.

use crate::errno::{Errno, Outcome};
use crate::user_memory;

/// Bytes of the largest structure that a call looks at.
const LARGEST: usize = 512;

/// The number by which a program makes a call: its letter and its number there, the size of its arguments,
/// and which way they go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request(pub(crate) u64);

impl Request {
    /// What tells the calls of a file from those of others.
    pub(crate) const fn letter(self) -> u8 {
        (self.0 >> 8) as u8
    }

    pub(crate) const fn number(self) -> u8 {
        self.0 as u8
    }

    /// Bytes of the arguments as far as they are looked at.
    fn size(self) -> usize {
        ((self.0 >> 16) as usize & 0x3fff).min(LARGEST)
    }

    /// The program reads what is given back.
    const fn gives(self) -> bool {
        self.0 >> 31 & 1 != 0
    }

    /// The call reads what the program has written.
    const fn takes(self) -> bool {
        self.0 >> 30 & 1 != 0
    }
}

/// The four bytes of a structure at an offset; zero beyond its end.
pub(super) fn word(bytes: &[u8], offset: usize) -> u32 {
    u32::from_ne_bytes([0, 1, 2, 3].map(|byte| bytes.get(offset + byte).copied().unwrap_or(0)))
}

/// The eight bytes of a structure at an offset, likewise.
pub(super) fn long(bytes: &[u8], offset: usize) -> u64 {
    u64::from(word(bytes, offset)) | u64::from(word(bytes, offset + 4)) << 32
}

/// The arguments of a call. What an older program does not pass is zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arguments([u8; LARGEST]);

impl Arguments {
    /// What the program has passed.
    pub(crate) fn take(request: Request, address: u64) -> Result<Self, Errno> {
        let mut arguments = Self([0; LARGEST]);
        if request.takes() {
            user_memory::read(address, &mut arguments.0[..request.size()])?;
        }
        Ok(arguments)
    }

    /// Give the program what the call has filled in.
    pub(crate) fn give(&self, request: Request, address: u64) -> Outcome {
        if request.gives() { user_memory::write(address, &self.0[..request.size()]) } else { Ok(()) }
    }

    /// The field of four bytes at an offset.
    pub(crate) fn word(&self, offset: usize) -> u32 {
        word(&self.0, offset)
    }

    /// The field of eight bytes at an offset.
    pub(crate) fn long(&self, offset: usize) -> u64 {
        long(&self.0, offset)
    }

    /// Fill in a field of four bytes.
    pub(crate) fn set_word(&mut self, offset: usize, value: u32) {
        if let Some(field) = self.0.get_mut(offset..offset + 4) {
            field.copy_from_slice(&value.to_ne_bytes());
        }
    }

    /// Fill in a field of eight bytes.
    pub(crate) fn set_long(&mut self, offset: usize, value: u64) {
        self.set_word(offset, value as u32);
        self.set_word(offset + 4, (value >> 32) as u32);
    }
}
