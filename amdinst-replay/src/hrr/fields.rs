//! Fields of an event, one after another, without padding, little-endian.

/// Why an event cannot be read: it ends within a field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it ends before its field at byte {at}, of {size} bytes")]
pub struct TooShort {
    /// Where the field would be, from the event's begin on.
    pub at: usize,
    /// Its size.
    pub size: usize,
}

/// A place among the fields of an event.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
    stream: Option<u64>,
}

impl<'a> Fields<'a> {
    /// The fields of a record from a byte on.
    pub const fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at, stream: None }
    }

    /// The next bytes.
    ///
    /// # Errors
    /// There are fewer.
    pub fn bytes(&mut self, size: usize) -> Result<&'a [u8], TooShort> {
        let short = TooShort { at: self.at, size };
        let end = self.at.checked_add(size).ok_or(short.clone())?;
        let bytes = self.bytes.get(self.at..end).ok_or(short)?;
        self.at = end;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], TooShort> {
        let short = TooShort { at: self.at, size: N };
        self.bytes(N)?.try_into().map_err(|_| short)
    }

    /// The next byte.
    ///
    /// # Errors
    /// There is none.
    pub fn byte(&mut self) -> Result<u8, TooShort> {
        self.array().map(u8::from_le_bytes)
    }

    /// The next 16 bits.
    ///
    /// # Errors
    /// There are fewer.
    pub fn half(&mut self) -> Result<u16, TooShort> {
        self.array().map(u16::from_le_bytes)
    }

    /// The next 32 bits.
    ///
    /// # Errors
    /// There are fewer.
    pub fn word(&mut self) -> Result<u32, TooShort> {
        self.array().map(u32::from_le_bytes)
    }

    /// The next 64 bits.
    ///
    /// # Errors
    /// There are fewer.
    pub fn long(&mut self) -> Result<u64, TooShort> {
        self.array().map(u64::from_le_bytes)
    }

    /// The next 64 bits, which are a stream. It is remembered as the call's.
    ///
    /// # Errors
    /// There are fewer.
    pub fn take_stream(&mut self) -> Result<(), TooShort> {
        self.stream = Some(self.long()?);
        Ok(())
    }

    /// The call's stream, if its fields so far have one.
    pub const fn stream(&self) -> Option<u64> {
        self.stream
    }

    /// Three words.
    ///
    /// # Errors
    /// There are fewer.
    pub fn sizes(&mut self) -> Result<[u32; 3], TooShort> {
        Ok([self.word()?, self.word()?, self.word()?])
    }
}
