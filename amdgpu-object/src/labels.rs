//! Which symbol a listing shows where, by the rules of `llvm-objdump`.

use std::collections::BTreeMap;

use object::elf;

use crate::elf::Elf;
use crate::{CodeObject, KEPT_SECTION, v2};

/// What a listing shows for the target of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// A label stands there (`STT_NOTYPE`, as assemblers make them): its name takes the place of the number.
    Label(&'a str),
    /// The symbol that covers the address, and the distance from its start: shown behind the bytes.
    Inside(&'a str, u64),
}

/// A symbol. The order of the fields is the order of the symbols: by address, then by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Symbol {
    address: u64,
    name: String,
    kind: u8,
}

/// A section that a branch may lead to.
struct Section {
    address: u64,
    is_code: bool,
    symbols: Vec<Symbol>,
}

/// A part of a section of code under one label.
#[derive(Clone, Copy, Debug)]
pub struct LabelledRange<'a> {
    /// Its virtual address.
    pub address: u64,
    /// The symbol's name.
    pub name: &'a str,
    /// Bytes of data that it begins with: all of a data symbol, the header of a kernel of code object version
    /// 2.
    pub data_bytes: u64,
    /// Where the next label is, if there is one.
    pub next: Option<u64>,
}

/// The symbols of a code object, by section.
pub struct Labels {
    /// By address, empty ones before others of the same address.
    sections: Vec<Section>,
    /// Labels without a section.
    absolute: Vec<Symbol>,
}

impl Labels {
    /// Reads the symbol table, or the dynamic one if there is no other.
    pub fn read(object: &CodeObject) -> Self {
        let mut by_section: BTreeMap<u32, Vec<Symbol>> = BTreeMap::new();
        let mut absolute = Vec::new();
        // The headers and symbols were valid when the code object was read.
        let elf = Elf::read(&object.bytes).ok();
        let sections = elf.as_ref().map_or(&[][..], |elf| &elf.sections);
        let table = |kind| sections.iter().position(|section| section.kind == kind);
        for kind in [elf::SHT_SYMTAB, elf::SHT_DYNSYM] {
            let Some((elf, index)) = elf.as_ref().zip(table(kind)) else { continue };
            for symbol in elf.symbols(&object.bytes, index).unwrap_or_default().into_iter().skip(1) {
                let is_shown = !matches!(symbol.kind, elf::STT_FILE | elf::STT_SECTION);
                if symbol.name.is_empty() || !is_shown {
                    continue;
                }
                let section = symbol.section;
                let symbol =
                    Symbol { address: symbol.value, name: symbol.name.into_owned(), kind: symbol.kind.0 };
                match section {
                    Some(section) => by_section.entry(section).or_default().push(symbol),
                    None => absolute.push(symbol),
                }
            }
            if !by_section.is_empty() {
                break;
            }
        }
        absolute.sort_unstable();
        let mut order: Vec<usize> = (0..sections.len()).collect();
        order.sort_by_key(|&index| (sections[index].address, sections[index].size));
        let in_order = order.iter().map(|&index| {
            let mut symbols = by_section.remove(&(index as u32)).unwrap_or_default();
            symbols.sort_unstable();
            let (address, name) = (sections[index].address, &sections[index].name);
            let is_code = [".text", KEPT_SECTION].contains(&&**name);
            // Code in front of every symbol is the section's own.
            if is_code && symbols.first().is_none_or(|first| first.address > address) {
                symbols.insert(0, Symbol { address, name: name.to_string(), kind: elf::STT_FUNC.0 });
            }
            Section { address, is_code, symbols }
        });
        Self { sections: in_order.collect(), absolute }
    }

    /// The sections of code.
    fn code(&self) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(|section| section.is_code)
    }

    /// The places of the section of code at an address, in order of address. Where several symbols stand, the
    /// last one is shown.
    pub fn places(&self, section: u64) -> impl Iterator<Item = LabelledRange<'_>> {
        let section = self.code().find(|code| code.address == section);
        let symbols = section.map_or(&[][..], |section| &section.symbols);
        (0..symbols.len()).filter_map(|index| {
            let next = symbols.get(index + 1).map(|next| next.address);
            let Symbol { address, name, kind } = &symbols[index];
            let data_bytes = match elf::SymbolType(*kind) {
                elf::STT_OBJECT | elf::STT_COMMON => u64::MAX,
                v2::STT_KERNEL => v2::HEADER_SIZE as u64,
                _ => 0,
            };
            (next != Some(*address)).then_some(LabelledRange { address: *address, name, data_bytes, next })
        })
    }

    /// The label of a branch to an address.
    pub fn target(&self, address: u64) -> Option<Target<'_>> {
        let label = self.code().find_map(|Section { symbols, .. }| {
            let here = symbols.partition_point(|symbol| symbol.address < address);
            let mut here = symbols[here..].iter().take_while(|symbol| symbol.address == address);
            here.find(|symbol| symbol.kind == elf::STT_NOTYPE.0)
        });
        if let Some(label) = label {
            return Some(Target::Label(&label.name));
        }
        let before = self.sections.partition_point(|section| section.address <= address);
        let nearest = self.sections[..before].last()?.address;
        let candidates =
            self.sections[..before].iter().rev().take_while(|section| section.address == nearest);
        let lists = candidates.map(|section| &section.symbols).chain([&self.absolute]);
        lists.into_iter().find_map(|symbols| {
            let next = symbols.partition_point(|symbol| symbol.address <= address);
            let symbol = &symbols[..next].last()?;
            Some(Target::Inside(&symbol.name, address - symbol.address))
        })
    }
}
