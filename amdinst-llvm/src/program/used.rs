//! `#[used]` statics, of which rustc makes bitcode that LLVM does not read: "Incorrect type in array
//! initializer".
//!
//! rustc lists them in `llvm.used` or `llvm.compiler.used` as pointers of address space 0, and on this target
//! statics are in address space 1. No tool of LLVM reads such a file, so the list's type is mended in its
//! bits: the elements of its array become pointers of address space 1. Types are told once in a file, and no
//! other value that rustc makes is an array of pointers. (Bitstreams:
//! <https://llvm.org/docs/BitCodeFormat.html>.)

use std::collections::BTreeMap;

/// The variables that list what is used.
const LISTS: [&[u8]; 2] = [b"llvm.used", b"llvm.compiler.used"];
/// The address space of statics.
const OF_STATICS: u64 = 1;

/// Blocks of a file.
const BLOCK_INFO: u64 = 0;
const MODULE: u64 = 8;
const TYPES: u64 = 17;
const STRINGS: u64 = 23;
/// Records: of `BLOCK_INFO`, `MODULE`, `TYPES`, `STRINGS`.
const SET_BLOCK: u64 = 1;
const VARIABLE: u64 = 7;
const COUNT_OF_TYPES: u64 = 1;
const ARRAY: u64 = 11;
const NAME_OF_STRUCTURE: u64 = 19;
const POINTER: u64 = 25;
const ALL_STRINGS: u64 = 1;

/// Whether a file has such a list.
pub(crate) fn are_in(bitcode: &[u8]) -> bool {
    LISTS.iter().any(|name| bitcode.windows(name.len()).any(|window| window == *name))
}

/// A file with lists of the right type; `None` if it has none, or is of another form.
pub(crate) fn mended(bitcode: &[u8]) -> Option<Vec<u8>> {
    let mut reader = Reader::new(bitcode)?;
    let file = reader.file()?;
    let pointer = file.types.iter().position(|of| matches!(of, Type::Pointer(OF_STATICS)))?;
    let mut mended = bitcode.to_vec();
    let mut is_any = false;
    for variable in &file.variables {
        let (from, size) = (usize::try_from(variable.name).ok()?, usize::try_from(variable.size).ok()?);
        let name = file.strings.get(from..from.checked_add(size)?)?;
        if LISTS.contains(&name)
            && let Type::Array(element) = file.types.get(usize::try_from(variable.of).ok()?)?
        {
            element.write(pointer as u64, &mut mended)?;
            is_any = true;
        }
    }
    is_any.then_some(mended)
}

/// What is read of a file.
#[derive(Debug, Default)]
struct File<'a> {
    types: Vec<Type>,
    variables: Vec<Variable>,
    strings: &'a [u8],
}

#[derive(Debug)]
enum Type {
    /// With the type of its elements.
    Array(Field),
    /// With its address space.
    Pointer(u64),
    Other,
}

/// A variable: where its name stands among the strings, and its type.
#[derive(Debug)]
struct Variable {
    name: u64,
    size: u64,
    of: u64,
}

/// How a field is written.
#[derive(Clone, Copy, Debug)]
enum Encoding {
    Literal(u64),
    Fixed(u32),
    /// Chunks of so many bits, the highest of which says whether another one follows.
    Chunks(u32),
    Array,
    Character,
    Blob,
}

/// A field of a record.
#[derive(Clone, Copy, Debug)]
struct Field {
    value: u64,
    /// The first bit, and how many there are.
    at: usize,
    bits: usize,
    encoding: Encoding,
}

impl Field {
    /// Writes another value in its place.
    fn write(&self, value: u64, bytes: &mut [u8]) -> Option<()> {
        let bits = match self.encoding {
            Encoding::Fixed(width) => {
                value.checked_shr(width).is_none_or(|rest| rest == 0).then_some(value)?
            }
            Encoding::Chunks(width) => {
                let (payload, chunks) = (width - 1, self.bits / width as usize);
                let mut bits = 0;
                for chunk in 0..chunks {
                    let part = value.checked_shr(payload * chunk as u32).unwrap_or(0) & ((1 << payload) - 1);
                    let more = u64::from(chunk + 1 < chunks) << payload;
                    bits |= (part | more) << (width as usize * chunk);
                }
                let fits = value.checked_shr(payload * chunks as u32).is_none_or(|rest| rest == 0);
                fits.then_some(bits)?
            }
            Encoding::Literal(_) | Encoding::Array | Encoding::Character | Encoding::Blob => return None,
        };
        for bit in 0..self.bits {
            let at = self.at + bit;
            let byte = bytes.get_mut(at / 8)?;
            *byte = *byte & !(1 << (at % 8)) | (((bits >> bit) & 1) as u8) << (at % 8);
        }
        Some(())
    }
}

type Abbreviation = Vec<Encoding>;

/// A record: its code, its fields, its blob.
struct Record<'a> {
    code: u64,
    fields: Vec<Field>,
    blob: &'a [u8],
}

/// What may stand at a place of a block.
enum Item<'a> {
    Block { id: u64, width: u32, end: usize },
    Record(Record<'a>),
    Abbreviation(Abbreviation),
    End,
}

/// A place in a file, in bits.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Those that blocks of a kind have from the beginning.
    abbreviations: BTreeMap<u64, Vec<Abbreviation>>,
}

impl<'a> Reader<'a> {
    /// The beginning of a file.
    fn new(bytes: &'a [u8]) -> Option<Self> {
        let magic = bytes.starts_with(b"BC\xc0\xde");
        magic.then(|| Self { bytes, at: 32, abbreviations: BTreeMap::new() })
    }

    fn file(&mut self) -> Option<File<'a>> {
        let mut file = File::default();
        // What follows the last block is no whole word of one.
        while self.at + 64 <= self.bytes.len() * 8 {
            let Item::Block { id, width, end } = self.item(2, &[])? else { return None };
            self.block(id, width, end, &mut file)?;
        }
        Some(file)
    }

    /// Reads a block, and what is in it.
    fn block(&mut self, id: u64, width: u32, end: usize, file: &mut File<'a>) -> Option<()> {
        if ![BLOCK_INFO, MODULE, TYPES, STRINGS].contains(&id) {
            self.at = end;
            return Some(());
        }
        let mut abbreviations = self.abbreviations.get(&id).cloned().unwrap_or_default();
        let mut described = None;
        loop {
            match self.item(width, &abbreviations)? {
                Item::End => return Some(()),
                Item::Block { id, width, end } => self.block(id, width, end, file)?,
                Item::Abbreviation(new) if id == BLOCK_INFO => {
                    self.abbreviations.entry(described?).or_default().push(new);
                }
                Item::Abbreviation(new) => abbreviations.push(new),
                Item::Record(record) => {
                    if id == BLOCK_INFO && record.code == SET_BLOCK {
                        described = Some(record.fields.first()?.value);
                    }
                    file.add(id, &record)?;
                }
            }
        }
    }

    fn item(&mut self, width: u32, abbreviations: &[Abbreviation]) -> Option<Item<'a>> {
        Some(match self.fixed(width)? {
            0 => {
                self.align();
                Item::End
            }
            1 => {
                let id = self.chunks(8)?;
                let width = u32::try_from(self.chunks(4)?).ok().filter(|width| (2..=32).contains(width))?;
                self.align();
                let words = usize::try_from(self.fixed(32)?).ok()?;
                Item::Block { id, width, end: self.at.checked_add(words.checked_mul(32)?)? }
            }
            2 => Item::Abbreviation(self.abbreviation()?),
            3 => {
                let (code, count) = (self.chunks(6)?, self.chunks(6)?);
                let fields = (0..count).map(|_| self.field(Encoding::Chunks(6))).collect::<Option<_>>()?;
                Item::Record(Record { code, fields, blob: &[] })
            }
            other => {
                let abbreviation = abbreviations.get(usize::try_from(other).ok()?.checked_sub(4)?)?;
                Item::Record(self.record(abbreviation)?)
            }
        })
    }

    fn abbreviation(&mut self) -> Option<Abbreviation> {
        let count = self.chunks(5)?;
        let mut encodings = Vec::new();
        for _ in 0..count {
            let encoding = if self.fixed(1)? == 1 {
                Encoding::Literal(self.chunks(8)?)
            } else {
                match self.fixed(3)? {
                    1 => Encoding::Fixed(self.width()?),
                    2 => Encoding::Chunks(self.width().filter(|width| *width > 1)?),
                    3 => Encoding::Array,
                    4 => Encoding::Character,
                    5 => Encoding::Blob,
                    _ => return None,
                }
            };
            encodings.push(encoding);
        }
        Some(encodings)
    }

    fn width(&mut self) -> Option<u32> {
        u32::try_from(self.chunks(5)?).ok().filter(|width| *width <= 32)
    }

    fn record(&mut self, abbreviation: &[Encoding]) -> Option<Record<'a>> {
        let (mut fields, mut blob): (Vec<Field>, &[u8]) = (Vec::new(), &[]);
        let mut encodings = abbreviation.iter();
        while let Some(encoding) = encodings.next() {
            match encoding {
                Encoding::Array => {
                    let element = *encodings.next()?;
                    for _ in 0..self.chunks(6)? {
                        fields.push(self.field(element)?);
                    }
                }
                Encoding::Blob => {
                    let size = usize::try_from(self.chunks(6)?).ok()?;
                    self.align();
                    let from = self.at / 8;
                    blob = self.bytes.get(from..from.checked_add(size)?)?;
                    self.at += size * 8;
                    self.align();
                }
                other => fields.push(self.field(*other)?),
            }
        }
        if fields.is_empty() {
            return None;
        }
        Some(Record { code: fields.remove(0).value, fields, blob })
    }

    fn field(&mut self, encoding: Encoding) -> Option<Field> {
        let at = self.at;
        let value = match encoding {
            Encoding::Literal(value) => value,
            Encoding::Fixed(width) => self.fixed(width)?,
            Encoding::Chunks(width) => self.chunks(width)?,
            Encoding::Character => self.fixed(6)?,
            Encoding::Array | Encoding::Blob => return None,
        };
        Some(Field { value, at, bits: self.at - at, encoding })
    }

    fn fixed(&mut self, width: u32) -> Option<u64> {
        let mut value = 0;
        for bit in 0..width as usize {
            let at = self.at + bit;
            value |= u64::from(self.bytes.get(at / 8)? >> (at % 8) & 1) << bit;
        }
        self.at += width as usize;
        Some(value)
    }

    fn chunks(&mut self, width: u32) -> Option<u64> {
        let (mut value, mut shift) = (0, 0);
        loop {
            let chunk = self.fixed(width)?;
            value |= (chunk & ((1 << (width - 1)) - 1)).checked_shl(shift)?;
            shift += width - 1;
            if chunk >> (width - 1) == 0 {
                return Some(value);
            }
        }
    }

    fn align(&mut self) {
        self.at = self.at.next_multiple_of(32);
    }
}

impl<'a> File<'a> {
    /// Adds what a record of a block says.
    fn add(&mut self, block: u64, record: &Record<'a>) -> Option<()> {
        let value = |index: usize| record.fields.get(index).map(|field| field.value);
        match (block, record.code) {
            (TYPES, COUNT_OF_TYPES | NAME_OF_STRUCTURE) => {}
            (TYPES, ARRAY) => self.types.push(Type::Array(*record.fields.get(1)?)),
            (TYPES, POINTER) => self.types.push(Type::Pointer(value(0)?)),
            (TYPES, _) => self.types.push(Type::Other),
            (MODULE, VARIABLE) => {
                self.variables.push(Variable { name: value(0)?, size: value(1)?, of: value(2)? });
            }
            (STRINGS, ALL_STRINGS) => self.strings = record.blob,
            _ => {}
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_in_place() {
        let mut bytes = [0xff; 4];
        let fixed = Field { value: 0, at: 3, bits: 7, encoding: Encoding::Fixed(7) };
        assert_eq!(fixed.write(5, &mut bytes), Some(()));
        let mut reader = Reader { bytes: &bytes, at: 3, abbreviations: BTreeMap::new() };
        assert_eq!((reader.fixed(7), reader.fixed(6)), (Some(5), Some(0x3f)));
        assert_eq!(fixed.write(128, &mut bytes), None);

        let chunked = Field { value: 0, at: 6, bits: 12, encoding: Encoding::Chunks(6) };
        for value in [0, 31, 32, 1023] {
            assert_eq!(chunked.write(value, &mut bytes), Some(()));
            let mut reader = Reader { bytes: &bytes, at: 6, abbreviations: BTreeMap::new() };
            assert_eq!((reader.chunks(6), reader.at), (Some(value), 18));
        }
        assert_eq!(chunked.write(1024, &mut bytes), None);
    }

    /// Whatever the bytes, there is an answer.
    #[test]
    fn other_files_are_left_alone() {
        assert_eq!(mended(b""), None);
        assert_eq!(mended(b"\x7fELF llvm.used"), None);
        let mut bytes = b"BC\xc0\xde".to_vec();
        for step in 0..2000_u32 {
            bytes.push((step.wrapping_mul(0x9e37_79b9) >> 21) as u8);
            assert_eq!(mended(&bytes), None);
        }
    }
}
