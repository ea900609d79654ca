//! MessagePack as a stream: metadata is read and edited where it stands, without a tree of it.
//!
//! `rmp` knows the markers; this knows what follows each of them, and how to pass over it.

mod describe;
mod recent;
#[cfg(test)]
pub(super) mod tests;
pub(super) mod write;

use std::ops::Range;

use rmp::Marker;

pub(super) use describe::describe;
pub(super) use recent::Recent;

/// Deepest nesting of maps and arrays that is followed; the metadata of the user guide needs 5.
const MAX_DEPTH: u8 = 15;

/// A value. Of an array or a map it is the length: what is in it comes next in the stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Item<'a> {
    Nil,
    Boolean(bool),
    Unsigned(u64),
    Negative(i64),
    F32(f32),
    F64(f64),
    /// Which need not be UTF-8.
    String(&'a [u8]),
    Binary(&'a [u8]),
    Extension(i8, &'a [u8]),
    Array(u32),
    Map(u32),
}

/// Bytes that are not MessagePack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not valid MessagePack: {problem}")]
pub(super) struct Damaged {
    /// Where in the file.
    pub(super) at: usize,
    pub(super) problem: StreamProblem,
}

/// What is wrong with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum StreamProblem {
    #[error("it ends in the middle of a value")]
    CutShort,
    #[error("maps and arrays are nested too deeply")]
    TooDeep,
}

/// A place between values. A copy stays there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream<'a> {
    rest: &'a [u8],
    /// Where the rest ends in the file.
    end: usize,
    /// Maps and arrays that have begun and not ended.
    depth: u8,
}

impl<'a> Stream<'a> {
    /// The MessagePack in a range of a file.
    pub(super) fn new(file: &'a [u8], range: Range<usize>) -> Self {
        Self { end: range.end, rest: &file[range], depth: 0 }
    }

    /// The offset in the file.
    pub(super) fn position(&self) -> usize {
        self.end - self.rest.len()
    }

    /// What comes next, to its end.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Passes over what comes next if it is this.
    fn strip(&mut self, value: &[u8]) -> bool {
        let rest = self.rest.strip_prefix(value);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// The next value.
    pub(super) fn item(&mut self) -> Result<Item<'a>, Damaged> {
        self.read()
    }

    /// Reads the next item; what is not asked for costs nothing.
    #[inline(always)]
    fn read(&mut self) -> Result<Item<'a>, Damaged> {
        let [marker] = self.chunk()?;
        Ok(match Marker::from_u8(marker) {
            // Nobody writes what is reserved. Readers take it for nothing.
            Marker::Null | Marker::Reserved => Item::Nil,
            Marker::False => Item::Boolean(false),
            Marker::True => Item::Boolean(true),
            Marker::FixPos(number) => Item::Unsigned(number.into()),
            Marker::U8 => Item::Unsigned(u8::from_be_bytes(self.chunk()?).into()),
            Marker::U16 => Item::Unsigned(u16::from_be_bytes(self.chunk()?).into()),
            Marker::U32 => Item::Unsigned(self.u32()?.into()),
            Marker::U64 => Item::Unsigned(u64::from_be_bytes(self.chunk()?)),
            Marker::FixNeg(number) => signed(number.into()),
            Marker::I8 => signed(i8::from_be_bytes(self.chunk()?).into()),
            Marker::I16 => signed(i16::from_be_bytes(self.chunk()?).into()),
            Marker::I32 => signed(i32::from_be_bytes(self.chunk()?).into()),
            Marker::I64 => signed(i64::from_be_bytes(self.chunk()?)),
            Marker::F32 => Item::F32(f32::from_be_bytes(self.chunk()?)),
            Marker::F64 => Item::F64(f64::from_be_bytes(self.chunk()?)),
            Marker::FixStr(length) => Item::String(self.take(length.into())?),
            Marker::Str8 => Item::String(self.take8()?),
            Marker::Str16 => Item::String(self.take16()?),
            Marker::Str32 => Item::String(self.take32()?),
            Marker::Bin8 => Item::Binary(self.take8()?),
            Marker::Bin16 => Item::Binary(self.take16()?),
            Marker::Bin32 => Item::Binary(self.take32()?),
            Marker::FixExt1 => self.extension(1)?,
            Marker::FixExt2 => self.extension(2)?,
            Marker::FixExt4 => self.extension(4)?,
            Marker::FixExt8 => self.extension(8)?,
            Marker::FixExt16 => self.extension(16)?,
            Marker::Ext8 => {
                let length = u8::from_be_bytes(self.chunk()?).into();
                self.extension(length)?
            }
            Marker::Ext16 => {
                let length = u16::from_be_bytes(self.chunk()?).into();
                self.extension(length)?
            }
            Marker::Ext32 => {
                let length = self.u32()?;
                self.extension(length)?
            }
            Marker::FixArray(length) => Item::Array(length.into()),
            Marker::Array16 => Item::Array(u16::from_be_bytes(self.chunk()?).into()),
            Marker::Array32 => Item::Array(self.u32()?),
            Marker::FixMap(length) => Item::Map(length.into()),
            Marker::Map16 => Item::Map(u16::from_be_bytes(self.chunk()?).into()),
            Marker::Map32 => Item::Map(self.u32()?),
        })
    }

    /// Passes over the next value and all that is in it.
    pub(super) fn skip(&mut self) -> Result<(), Damaged> {
        self.skip_all(1)
    }

    /// Passes over what is in a value that was read.
    pub(super) fn skip_inside(&mut self, item: Item<'a>) -> Result<(), Damaged> {
        match item {
            Item::Array(length) => self.inside(|stream| stream.skip_all(length.into())),
            Item::Map(length) => self.inside(|stream| stream.skip_all(2 * u64::from(length))),
            _ => Ok(()),
        }
    }

    fn skip_all(&mut self, values: u64) -> Result<(), Damaged> {
        for _ in 0..values {
            let item = self.read()?;
            if let Item::Array(_) | Item::Map(_) = item {
                self.skip_inside(item)?;
            }
        }
        Ok(())
    }

    /// Reads what is in an array of that length; `each` reads one value, with all that is in it.
    pub(super) fn items<E: From<Damaged>>(
        &mut self,
        length: u32,
        mut each: impl FnMut(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        self.inside(|stream| (0..length).try_for_each(|_| each(stream)))
    }

    /// Reads what is in a map of that length; `each` gets the key, if that is a string, and reads the value.
    pub(super) fn entries<E: From<Damaged>>(
        &mut self,
        length: u32,
        mut each: impl FnMut(&mut Self, Option<&'a [u8]>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.inside(|stream| {
            (0..length).try_for_each(|_| {
                let key = stream.key()?;
                each(stream, key)
            })
        })
    }

    fn key(&mut self) -> Result<Option<&'a [u8]>, Damaged> {
        match self.read()? {
            Item::String(key) => Ok(Some(key)),
            other => self.skip_inside(other).map(|()| None),
        }
    }

    fn inside<E: From<Damaged>>(&mut self, read: impl FnOnce(&mut Self) -> Result<(), E>) -> Result<(), E> {
        if self.depth == MAX_DEPTH {
            return Err(Damaged { at: self.position(), problem: StreamProblem::TooDeep }.into());
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    #[cold]
    fn cut_short(&self) -> Damaged {
        Damaged { at: self.position(), problem: StreamProblem::CutShort }
    }

    fn chunk<const N: usize>(&mut self) -> Result<[u8; N], Damaged> {
        let (chunk, rest) = self.rest.split_first_chunk().ok_or_else(|| self.cut_short())?;
        self.rest = rest;
        Ok(*chunk)
    }

    fn u32(&mut self) -> Result<u32, Damaged> {
        Ok(u32::from_be_bytes(self.chunk()?))
    }

    fn take(&mut self, length: u32) -> Result<&'a [u8], Damaged> {
        let taken = self.rest.split_at_checked(length as usize);
        let (taken, rest) = taken.ok_or_else(|| self.cut_short())?;
        self.rest = rest;
        Ok(taken)
    }

    fn take8(&mut self) -> Result<&'a [u8], Damaged> {
        let length = u8::from_be_bytes(self.chunk()?);
        self.take(length.into())
    }

    fn take16(&mut self) -> Result<&'a [u8], Damaged> {
        let length = u16::from_be_bytes(self.chunk()?);
        self.take(length.into())
    }

    fn take32(&mut self) -> Result<&'a [u8], Damaged> {
        let length = self.u32()?;
        self.take(length)
    }

    fn extension(&mut self, length: u32) -> Result<Item<'a>, Damaged> {
        let kind = i8::from_be_bytes(self.chunk()?);
        Ok(Item::Extension(kind, self.take(length)?))
    }
}

fn signed<'a>(number: i64) -> Item<'a> {
    u64::try_from(number).map_or(Item::Negative(number), Item::Unsigned)
}
