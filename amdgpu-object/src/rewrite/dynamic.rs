//! One more symbol in the tables that loaders search: `.dynsym`, its strings, and both hash tables.
//!
//! The symbol goes to the end of its bucket's run in `DT_GNU_HASH` (System V gABI, "Hash Table", and the GNU
//! extension), so that no other symbol changes its place among the others; those behind it move up by one,
//! and so do the numbers by which relocations name them. Buckets and Bloom filter keep their sizes.

use object::LittleEndian as LE;
use object::elf::{self, Rela64};
use object::pod;

use super::corrected::Corrected;
use super::{NewVariable, RewriteError};
use crate::elf::{Elf, RELA_SIZE, SYMBOL_SIZE, Section};

/// New contents of a section, by its number.
pub(super) type SectionContents = (usize, Vec<u8>);

/// The sections that a new dynamic symbol goes into: symbols, their names, hash tables.
pub(super) fn tables(elf: &Elf) -> Vec<usize> {
    let kinds = [elf::SHT_DYNSYM, elf::SHT_GNU_HASH, elf::SHT_HASH];
    let is_one = |section: &Section| section.is_alloc() && kinds.contains(&section.kind);
    let of_kind = elf.sections.iter().enumerate().filter(|(_, section)| is_one(section));
    let strings = |section: &Section| (section.kind == elf::SHT_DYNSYM).then_some(section.link as usize);
    of_kind.flat_map(|(index, section)| [Some(index), strings(section)]).flatten().collect()
}

/// Inserts the symbol's number into the relocations in `bytes`. Returns the new contents of the sections that
/// grow, and the number. The symbol's own entry is filled in by [`set_symbol`], once its address is known.
pub(super) fn add_symbol(
    elf: &Elf,
    original: &[u8],
    bytes: &mut Corrected<'_>,
    variable: &NewVariable<'_>,
) -> Result<(Vec<SectionContents>, usize), RewriteError> {
    let (dynsym, table) = the(elf, elf::SHT_DYNSYM, ".dynsym")?;
    if !elf.sections.get(table.link as usize).is_some_and(Section::is_alloc) {
        return Err(unsupported("a code object that does not load its symbols' names"));
    }
    if elf.sections.iter().any(|section| section.kind == elf::SHT_GNU_VERSYM) {
        return Err(unsupported("a table of symbol versions"));
    }
    let mut names: Vec<Vec<u8>> = elf
        .symbols(original, dynsym)?
        .into_iter()
        .map(|symbol| symbol.name.into_owned().into_bytes())
        .collect();
    if names.iter().any(|name| name == variable.name.as_bytes()) {
        return Err(RewriteError::Unsupported {
            what: format!("a code object that has a symbol `{}` already", variable.name),
            advice: "instrument the original",
        });
    }
    let mut contents = Vec::new();

    // .gnu.hash says where the symbol goes.
    let gnu = elf.sections.iter().position(|section| section.kind == elf::SHT_GNU_HASH);
    let number = match gnu {
        Some(index) => {
            let old = bytes.read(elf.sections[index].file_range());
            let mut hash = GnuHash::read(&old, names.len()).ok_or_else(|| damaged(".gnu.hash"))?;
            let number = hash.insert(elf::gnu_hash(variable.name.as_bytes()));
            contents.push((index, hash.write()));
            number
        }
        None => names.len(),
    };
    names.insert(number, variable.name.as_bytes().to_vec());
    if let Some(index) = elf.sections.iter().position(|section| section.kind == elf::SHT_HASH) {
        let old = bytes.read(elf.sections[index].file_range());
        let buckets = old.first_chunk().map(|word| u32::from_le_bytes(*word));
        // There is a word for each.
        let buckets = buckets.filter(|&buckets| buckets > 0 && buckets as usize <= old.len() / 4);
        contents.push((index, sysv_table(buckets.ok_or_else(|| damaged(".hash"))?, &names)));
    }

    let strings_index = table.link as usize;
    let mut strings = bytes.read(elf.sections[strings_index].file_range()).into_owned();
    let name = append_name(&mut strings, variable.name);
    contents.push((strings_index, strings));
    let mut symbols = bytes.read(table.file_range()).into_owned();
    let at = number * SYMBOL_SIZE;
    symbols.splice(at..at, symbol(name, variable));
    contents.push((dynsym, symbols));

    for section in &elf.sections {
        if !section.is_alloc() || section.kind != elf::SHT_RELA || section.link as usize != dynsym {
            continue;
        }
        for raw in bytes.get_mut(section.file_range()).chunks_exact_mut(RELA_SIZE) {
            let (raw, _) = pod::from_bytes_mut::<Rela64<LE>>(raw).expect("as many bytes as it has");
            let (old, kind) = (raw.r_sym(LE, false), raw.r_type(LE, false));
            if old as usize >= number {
                raw.set_r_info(LE, false, old + 1, kind);
            }
        }
    }
    Ok((contents, number))
}

/// A name at the end of a string table: its offset.
pub(super) fn append_name(strings: &mut Vec<u8>, name: &str) -> u32 {
    if strings.last().is_some_and(|&last| last != 0) {
        strings.push(0);
    }
    let at = strings.len() as u32;
    strings.extend(name.as_bytes());
    strings.push(0);
    at
}

/// The variable's symbol, without section and address: global, an object, and protected, as compilers make
/// variables of the device.
pub(super) fn symbol(name: u32, variable: &NewVariable<'_>) -> [u8; SYMBOL_SIZE] {
    let mut symbol = [0; SYMBOL_SIZE];
    symbol[..4].copy_from_slice(&name.to_le_bytes());
    symbol[4] = elf::STB_GLOBAL.0 << 4 | elf::STT_OBJECT.0;
    symbol[5] = elf::STV_PROTECTED.0;
    symbol[16..].copy_from_slice(&variable.size.to_le_bytes());
    symbol
}

/// Puts section and address of a symbol into its table.
pub(super) fn set_symbol(table: &mut [u8], number: usize, section: u16, address: u64) {
    let at = number * SYMBOL_SIZE;
    table[at + 6..at + 8].copy_from_slice(&section.to_le_bytes());
    table[at + 8..at + 16].copy_from_slice(&address.to_le_bytes());
}

/// Corrects the dynamic table for the sections that moved.
pub(super) fn correct_table(dynamic: &mut [u8], sections: &[Section], moved: &[usize]) {
    /// `DT_HASH`, `DT_STRTAB`, `DT_SYMTAB`, `DT_STRSZ`, `DT_GNU_HASH`.
    const TAGS: [(u64, elf::SectionType); 4] =
        [(4, elf::SHT_HASH), (5, elf::SHT_STRTAB), (6, elf::SHT_DYNSYM), (0x6fff_fef5, elf::SHT_GNU_HASH)];
    const STRSZ: u64 = 10;
    let section = |kind| moved.iter().map(|&index| &sections[index]).find(|section| section.kind == kind);
    for entry in dynamic.chunks_exact_mut(16) {
        let (tag, value) = entry.split_at_mut(8);
        let tag = u64::from_le_bytes((&*tag).try_into().expect("eight bytes"));
        let new = match TAGS.iter().find(|&&(known, _)| known == tag) {
            Some(&(_, kind)) => section(kind).map(|section| section.address),
            None if tag == STRSZ => section(elf::SHT_STRTAB).map(|section| section.size),
            None => None,
        };
        if let Some(new) = new {
            value.copy_from_slice(&new.to_le_bytes());
        }
    }
}

fn the<'a>(
    elf: &'a Elf,
    kind: elf::SectionType,
    name: &'static str,
) -> Result<(usize, &'a Section), RewriteError> {
    let found = elf.sections.iter().enumerate().find(|(_, section)| section.kind == kind);
    found
        .filter(|(_, section)| section.is_alloc())
        .ok_or_else(|| unsupported(&format!("a code object without {name}")))
}

pub(super) fn unsupported(what: &str) -> RewriteError {
    RewriteError::Unsupported {
        what: format!("a variable for the buffer in {what}"),
        advice: "pass the buffer as an argument",
    }
}

fn damaged(section: &str) -> RewriteError {
    unsupported(&format!("a code object with a damaged {section}"))
}

/// The words of a `.gnu.hash` section.
struct GnuHash {
    /// The first symbol that is hashed.
    first: usize,
    bloom_shift: u32,
    bloom: Vec<u64>,
    buckets: Vec<u32>,
    /// Of each hashed symbol its hash; the lowest bit is set in the last of a bucket.
    chain: Vec<u32>,
}

impl GnuHash {
    fn read(bytes: &[u8], symbols: usize) -> Option<Self> {
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(4 * at..4 * at + 4)?.try_into().ok()?));
        let [buckets, first, bloom] = [word(0)? as usize, word(1)? as usize, word(2)? as usize];
        if buckets == 0 || bloom == 0 || first > symbols || bytes.len() / 4 < buckets.max(2 * bloom) {
            return None;
        }
        let words = |from: usize, count: usize| (from..from + count).map(word).collect::<Option<Vec<u32>>>();
        let filter = words(4, 2 * bloom)?;
        let table = 4 + 2 * bloom;
        let this = Self {
            first,
            bloom_shift: word(3)?,
            bloom: filter.chunks_exact(2).map(|half| u64::from(half[1]) << 32 | u64::from(half[0])).collect(),
            buckets: words(table, buckets)?,
            chain: words(table + buckets, symbols - first)?,
        };
        // Every bucket that is not empty starts inside the chain.
        let inside = |&bucket: &u32| bucket == 0 || (first..symbols).contains(&(bucket as usize));
        this.buckets.iter().all(inside).then_some(this)
    }

    /// The number that a new symbol with this hash gets.
    fn insert(&mut self, hash: u32) -> usize {
        let bucket = hash as usize % self.buckets.len();
        let position = match self.buckets[bucket] {
            0 => self.chain.len(),
            start => {
                let start = start as usize - self.first;
                let length = self.chain[start..].iter().take_while(|&&link| link & 1 == 0).count();
                let last = (start + length).min(self.chain.len() - 1);
                self.chain[last] &= !1;
                last + 1
            }
        };
        self.chain.insert(position, hash | 1);
        let number = self.first + position;
        for (other, start) in self.buckets.iter_mut().enumerate() {
            if other != bucket && *start as usize >= number {
                *start += 1;
            }
        }
        if self.buckets[bucket] == 0 {
            self.buckets[bucket] = number as u32;
        }
        let word = (hash / 64) as usize % self.bloom.len();
        self.bloom[word] |= 1 << (hash % 64) | 1 << (hash.checked_shr(self.bloom_shift).unwrap_or(0) % 64);
        number
    }

    fn write(&self) -> Vec<u8> {
        let header =
            [self.buckets.len() as u32, self.first as u32, self.bloom.len() as u32, self.bloom_shift];
        let mut bytes: Vec<u8> = header.into_iter().flat_map(u32::to_le_bytes).collect();
        bytes.extend(self.bloom.iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend(self.buckets.iter().chain(&self.chain).flat_map(|word| word.to_le_bytes()));
        bytes
    }
}

/// A `.hash` section for these names, each symbol first in its bucket's chain when it is entered.
fn sysv_table(buckets: u32, names: &[Vec<u8>]) -> Vec<u8> {
    let mut heads = vec![0u32; buckets as usize];
    let mut chain = vec![0u32; names.len()];
    for (number, name) in names.iter().enumerate().skip(1).filter(|(_, name)| !name.is_empty()) {
        let head = &mut heads[(elf::hash(name) % buckets) as usize];
        chain[number] = *head;
        *head = number as u32;
    }
    let header = [buckets, names.len() as u32];
    header.iter().chain(&heads).chain(&chain).flat_map(|word| word.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two buckets, symbols 1 and 2 in the first, 3 in the second.
    #[test]
    fn a_symbol_joins_the_end_of_its_bucket() {
        let table = || GnuHash {
            first: 1,
            bloom_shift: 5,
            bloom: vec![0],
            buckets: vec![1, 3],
            chain: vec![0x10, 0x21, 0x31],
        };
        let mut first = table();
        assert_eq!(first.insert(0x40), 3);
        assert_eq!((first.buckets, first.chain), (vec![1, 4], vec![0x10, 0x20, 0x41, 0x31]));
        assert_eq!(first.bloom, [1 | 1 << 2]);
        let mut second = table();
        assert_eq!(second.insert(0x43), 4);
        assert_eq!((second.buckets, second.chain), (vec![1, 3], vec![0x10, 0x21, 0x30, 0x43]));
        let mut empty = GnuHash { buckets: vec![0, 1], chain: vec![0x11], ..table() };
        assert_eq!(empty.insert(0x40), 2);
        assert_eq!((empty.buckets.clone(), empty.chain.clone()), (vec![2, 1], vec![0x11, 0x41]));
        assert_eq!(GnuHash::read(&empty.write(), 3).map(|read| read.chain), Some(empty.chain));
        for length in 0..24 {
            assert!(GnuHash::read(&table().write()[..length], 4).is_none());
        }
    }
}
