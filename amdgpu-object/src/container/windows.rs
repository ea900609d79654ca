//! Programs and libraries of Windows: where their GPU code stands, and giving it a new place.
//!
//! Names of sections have eight bytes there: `.hip_fat` has the bundles, and `.hipFatB` the wrappers that
//! point at them, as on Linux ([`super::host`]). Pointers are addresses of an image at its preferred base,
//! and base relocations list them. (Microsoft's "PE Format"; of 64 bits alone, PE32+.)

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::host::{WRAPPER_MAGIC, WRAPPER_SIZE, immovable};
use super::overlay::Overlay;
use super::{ALIGNMENT, ContainerError, Pieces, WINDOWS};

const FATBIN: &[u8; 8] = b".hip_fat";
const WRAPPERS: &[u8; 8] = b".hipFatB";
/// What the section is called that had the bundles before.
const LEFT: &[u8; 8] = b".hip_old";

/// Bytes of a section's header, and where its fields begin that change.
const SECTION: usize = 40;
/// Of the optional header: the directories of the signature and of base relocations.
const SIGNATURE: usize = 112 + 8 * 4;
const RELOCATIONS: usize = 112 + 8 * 5;
/// A base relocation of a pointer of 64 bits.
const POINTER: u16 = 10;

/// A section.
#[derive(Clone, Copy)]
struct Section {
    name: [u8; 8],
    /// Its address, from the image's base, and its bytes in memory.
    address: u32,
    size: u32,
    /// Where it stands in the file, and how many bytes of it.
    at: u32,
    there: u32,
    characteristics: u32,
}

impl Section {
    fn file(&self) -> Range<usize> {
        self.at as usize..self.at as usize + self.there as usize
    }

    /// The address behind it.
    fn end(&self) -> u64 {
        u64::from(self.address) + u64::from(self.size.max(self.there))
    }
}

/// A file being changed.
pub(super) struct WindowsImage<'a> {
    bytes: Overlay<'a>,
    /// Where its headers begin: that of COFF, the optional one, those of sections.
    coff: usize,
    optional: usize,
    table: usize,
    base: u64,
    sections: Vec<Section>,
}

/// Where new bundles come to stand.
struct Room {
    /// The address of the new section, from the image's base, and its place in the file.
    address: u64,
    at: usize,
}

impl<'a> WindowsImage<'a> {
    /// Reads the headers. `None` for a file of another kind, and for one whose sections are not all there.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let half = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
        let signature = word(0x3c).filter(|_| bytes.starts_with(WINDOWS))? as usize;
        let coff = signature.checked_add(4)?;
        let optional = coff.checked_add(20)?;
        if bytes.get(signature..coff)? != b"PE\0\0" || half(optional)? != 0x20b {
            return None;
        }
        let table = optional + usize::from(half(coff + 16)?);
        let section = |number: usize| -> Option<Section> {
            let at = table + number * SECTION;
            let section = Section {
                name: bytes.get(at..at + 8)?.try_into().ok()?,
                size: word(at + 8)?,
                address: word(at + 12)?,
                there: word(at + 16)?,
                at: word(at + 20)?,
                characteristics: word(at + 36)?,
            };
            bytes.get(section.file()).map(|_| section)
        };
        let sections = (0..usize::from(half(coff + 2)?)).map(section).collect::<Option<Vec<_>>>()?;
        let base = u64::from(word(optional + 24)?) | u64::from(word(optional + 28)?) << 32;
        Some(Self { bytes: Overlay::new(bytes), coff, optional, table, base, sections })
    }

    /// Where the bundles stand in the file.
    pub(super) fn fatbin(&self) -> Option<Range<usize>> {
        Some(self.section(FATBIN)?.file())
    }

    fn section(&self, name: &[u8; 8]) -> Option<Section> {
        self.sections.iter().find(|section| section.name == *name).copied()
    }

    /// Finds out whether larger bundles can be given a place, of which `is_bundle` tells where in the file
    /// one begins.
    pub(super) fn movable(mut self, is_bundle: impl Fn(usize) -> bool) -> Result<(), ContainerError> {
        let fatbin = self.section(FATBIN).ok_or(ContainerError::NoGpuCode)?;
        self.room(0)?;
        self.point(fatbin, |within| is_bundle(fatbin.at as usize + within as usize).then_some(within))
    }

    /// Puts new bundles into a new section, and lets pointers point there. `moves` has the start of each
    /// bundle in the old section and in the new contents.
    pub(super) fn move_fatbin(
        mut self,
        mut contents: Pieces<'a>,
        moves: &BTreeMap<u64, u64>,
    ) -> Result<Pieces<'a>, ContainerError> {
        let fatbin = self.section(FATBIN).ok_or(ContainerError::NoGpuCode)?;
        let size = contents.len();
        contents.align(self.alignment(36));
        let there = contents.len();
        let Room { address, at } = self.room(there as u64)?;
        self.point(fatbin, |within| moves.get(&within).map(|new| address + new))?;

        self.bytes.clear(fatbin.file());
        if let Some(number) = self.sections.iter().position(|section| section.name == *FATBIN) {
            self.bytes.write(self.table + number * SECTION, LEFT);
        }
        // Of so many bytes, `room` has made sure.
        let fields = [size as u32, address as u32, there as u32, at as u32];
        let header = self.table + self.sections.len() * SECTION;
        self.bytes.write(header, FATBIN);
        for (number, field) in fields.into_iter().enumerate() {
            self.bytes.write(header + 8 + 4 * number, &field.to_le_bytes());
        }
        self.bytes.write(header + 36, &fatbin.characteristics.to_le_bytes());
        let count = self.sections.len() as u16 + 1;
        self.bytes.write(self.coff + 2, &count.to_le_bytes());
        let data = self.word(self.optional + 8).wrapping_add(there as u32);
        self.bytes.write(self.optional + 8, &data.to_le_bytes());
        let image = (address + size as u64).next_multiple_of(self.alignment(32) as u64) as u32;
        self.bytes.write(self.optional + 56, &image.to_le_bytes());
        // Neither the sum of all bytes nor a signature of them is theirs any more. Libraries need none.
        self.bytes.write(self.optional + 64, &[0; 4]);
        if self.directories() > 4 {
            self.bytes.write(self.optional + SIGNATURE, &[0; 8]);
        }
        let old_size = self.bytes.len();
        let mut out = self.bytes.into_pieces();
        out.push_zeros(at - old_size);
        out.append(contents);
        Ok(out)
    }

    /// Where another section of so many bytes would stand.
    fn room(&self, bytes: u64) -> Result<Room, ContainerError> {
        let header = self.table + self.sections.len() * SECTION;
        let is_free = |range: Range<usize>| {
            let first = self.sections.iter().filter(|section| section.there > 0).map(|section| section.at);
            let end = first.min().unwrap_or(0).min(self.word(self.optional + 60)) as usize;
            range.end <= end
                && self.bytes.read(range).is_some_and(|bytes| bytes.iter().all(|&byte| byte == 0))
        };
        if !is_free(header..header + SECTION) {
            return Err(immovable("its headers have no room for another section"));
        }
        let last = self.sections.iter().map(Section::end).max().unwrap_or(0);
        let address = last.next_multiple_of(self.alignment(32).max(ALIGNMENT) as u64);
        // Bundles are looked for at whole pages of the file.
        let at = self.bytes.len().next_multiple_of(self.alignment(36).max(ALIGNMENT));
        if address.saturating_add(bytes) > i32::MAX as u64 || at as u64 + bytes > u64::from(u32::MAX) {
            return Err(immovable("an image of Windows has no more than 2 GiB"));
        }
        Ok(Room { address, at })
    }

    /// Lets all that points at a bundle point at where `place` has it, by its distance from the old section's
    /// start.
    fn point(&mut self, old: Section, place: impl Fn(u64) -> Option<u64>) -> Result<(), ContainerError> {
        let wrappers =
            self.section(WRAPPERS).ok_or_else(|| immovable("it has no .hipFatB that points at them"))?;
        let is_wrapper = |at: &usize| {
            self.bytes.read(*at..at + 4).is_some_and(|magic| magic == WRAPPER_MAGIC.to_le_bytes())
        };
        let pointers: BTreeSet<usize> =
            wrappers.file().step_by(WRAPPER_SIZE).filter(is_wrapper).map(|at| at + 8).collect();
        let start = self.base.wrapping_add(old.address.into());
        let mut is_pointed = false;
        let mut all = pointers.clone();
        all.extend(self.relocated());
        for at in all {
            let Some(value) = self.bytes.read(at..at + 8).and_then(|bytes| bytes.try_into().ok()) else {
                continue;
            };
            let value = u64::from_le_bytes(value);
            let within = value.wrapping_sub(start);
            if within >= u64::from(old.size.max(old.there)) {
                continue;
            }
            let new = place(within)
                .ok_or_else(|| immovable(&format!("{value:#x} points into .hip_fat, but at no bundle")))?;
            self.bytes.write(at, &self.base.wrapping_add(new).to_le_bytes());
            is_pointed |= pointers.contains(&at);
        }
        if is_pointed { Ok(()) } else { Err(immovable("its .hipFatB holds no wrapper that points at them")) }
    }

    /// Where in the file pointers stand that base relocations list.
    fn relocated(&self) -> Vec<usize> {
        let mut found = Vec::new();
        let field = |number: usize| self.word(self.optional + RELOCATIONS + 4 * number);
        let (address, size) = if self.directories() > 5 { (field(0), field(1)) } else { (0, 0) };
        let table =
            self.place(address).and_then(|at| self.bytes.read(at..at + size as usize)).unwrap_or_default();
        let mut rest = &table[..];
        while let Some((head, behind)) = rest.split_at_checked(8) {
            let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
            let (page, size) = (word(0), word(4) as usize);
            let Some((entries, next)) = size.checked_sub(8).and_then(|size| behind.split_at_checked(size))
            else {
                break;
            };
            for entry in entries.chunks_exact(2) {
                let entry = u16::from_le_bytes([entry[0], entry[1]]);
                if entry >> 12 == POINTER {
                    found.extend(self.place(page.wrapping_add(u32::from(entry & 0xfff))));
                }
            }
            rest = next;
        }
        found
    }

    /// Where an address of the image stands in the file.
    fn place(&self, address: u32) -> Option<usize> {
        let within =
            |section: &Section| address.checked_sub(section.address).filter(|within| *within < section.there);
        self.sections.iter().find_map(|section| Some(section.at as usize + within(section)? as usize))
    }

    /// How many directories the optional header has.
    fn directories(&self) -> u32 {
        self.word(self.optional + 108)
    }

    /// The alignment in memory (32) or in the file (36).
    fn alignment(&self, field: usize) -> usize {
        (self.word(self.optional + field) as usize).clamp(1, 1 << 20)
    }

    /// A word of a header; 0 where the file has none.
    fn word(&self, at: usize) -> u32 {
        let bytes = self.bytes.read(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_le_bytes)
    }
}
