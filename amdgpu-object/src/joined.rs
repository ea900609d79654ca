//! One metadata note of several: linkers put those of their inputs side by side, and loaders read the first.
//!
//! The file stays as it is but for the note section, which gets shorter at its end: nothing moves.

use object::elf as names;

use super::ObjectError;
use super::elf::{Elf, PROGRAM_HEADER_SIZE, SECTION_HEADER_SIZE};
use super::messagepack::{Damaged, Item, Stream, write};
use super::note::{self, Notes};

/// Where a section header says how large its section is (`sh_size`).
const SECTION_SIZE: usize = 32;
/// Where a program header says how much of the file its segment has (`p_filesz`), and of memory (`p_memsz`).
const SEGMENT_SIZES: [usize; 2] = [32, 40];
/// Where a file header says at what offset section headers begin (`e_shoff`).
const SECTION_HEADERS: usize = 40;

/// Makes the metadata notes of a linked code object (version 3 and later) one that names all kernels, in the
/// order of the notes. The first note gives all that is neither a kernel nor a format of `printf`: inputs
/// that link agree in it.
///
/// # Errors
/// The file is no code object, or a note of it is damaged.
pub fn join_metadata(bytes: &mut [u8]) -> Result<(), ObjectError> {
    let elf = Elf::read(bytes)?;
    let Some(Notes { section, descriptions }) = note::all(&elf, bytes)? else { return Ok(()) };
    let [first, .., _] = &descriptions[..] else { return Ok(()) };
    let mut maps = Vec::new();
    for description in &descriptions {
        let map = Metadata::read(Stream::new(bytes, description.clone())).map_err(|damaged| {
            ObjectError::malformed("metadata note", damaged.at as u64, damaged.to_string())
        })?;
        maps.push(map);
    }
    let joined = joined(&maps);
    let mut note = Vec::new();
    note::encode(&mut note, |out| out.extend(&joined));

    let range = elf.sections[section].file_range();
    let too_long = || {
        let problem = "the notes of its parts leave no room for one of all";
        ObjectError::malformed("metadata note", first.start as u64, problem)
    };
    let saved = range.len().checked_sub(note.len()).ok_or_else(too_long)? as u64;
    bytes[range.clone()].fill(0);
    bytes[range.start..range.start + note.len()].copy_from_slice(&note);
    let section_headers = u64_at(bytes, SECTION_HEADERS) as usize;
    shrink(bytes, section_headers + section * SECTION_HEADER_SIZE + SECTION_SIZE, saved);
    for (index, header) in elf.program_headers.iter().enumerate() {
        if header.kind == names::PT_NOTE && header.file_range() == range {
            let at = elf.program_header_offset as usize + index * PROGRAM_HEADER_SIZE;
            SEGMENT_SIZES.iter().for_each(|size| shrink(bytes, at + size, saved));
        }
    }
    Ok(())
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].try_into().map_or(0, u64::from_le_bytes)
}

fn shrink(bytes: &mut [u8], at: usize, by: u64) {
    let size = u64_at(bytes, at) - by;
    bytes[at..at + 8].copy_from_slice(&size.to_le_bytes());
}

/// The metadata of one input. All values as they are encoded.
#[derive(Default)]
struct Metadata<'a> {
    /// Keys and values that are not lists.
    entries: Vec<(&'a [u8], &'a [u8])>,
    /// The keys of [`LISTS`]: how many items, and the items.
    lists: [(u32, &'a [u8]); LISTS.len()],
}

/// What each input has its own part of.
const LISTS: [&[u8]; 2] = [b"amdhsa.kernels", b"amdhsa.printf"];

impl<'a> Metadata<'a> {
    fn read(mut stream: Stream<'a>) -> Result<Self, Damaged> {
        let mut metadata = Self::default();
        if let Item::Map(length) = stream.item()? {
            stream.entries(length, |stream, key| {
                let start = *stream;
                let item = stream.item()?;
                let inside = *stream;
                stream.skip_inside(item)?;
                let taken = |from: Stream<'a>| &from.rest()[..stream.position() - from.position()];
                match (key, item) {
                    (Some(key), Item::Array(length)) if LISTS.contains(&key) => {
                        let list = LISTS.iter().position(|list| *list == key);
                        list.into_iter().for_each(|list| metadata.lists[list] = (length, taken(inside)));
                    }
                    (Some(key), _) => metadata.entries.push((key, taken(start))),
                    (None, _) => {}
                }
                Ok::<_, Damaged>(())
            })?;
        }
        Ok(metadata)
    }
}

fn joined(maps: &[Metadata<'_>]) -> Vec<u8> {
    let total = |list: usize| maps.iter().map(|map| map.lists[list].0).sum::<u32>();
    let lists: Vec<usize> = (0..LISTS.len()).filter(|list| total(*list) > 0).collect();
    let entries = maps.first().map_or(&[][..], |map| &map.entries);
    let mut out = Vec::new();
    let key = |out: &mut Vec<u8>, key: &[u8]| write::string(out, &String::from_utf8_lossy(key));
    write::map(&mut out, (lists.len() + entries.len()) as u32);
    for list in lists {
        key(&mut out, LISTS[list]);
        write::array(&mut out, total(list));
        maps.iter().for_each(|map| out.extend(map.lists[list].1));
    }
    for (name, value) in entries {
        key(&mut out, name);
        out.extend(*value);
    }
    out
}
