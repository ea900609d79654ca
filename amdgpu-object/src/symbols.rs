//! Functions and data objects that the symbol tables define.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use object::elf;
use rustc_hash::{FxHashMap, FxHashSet};

use super::elf::{Elf, Symbol};
use super::{Function, Kernel, ObjectError, Text, Variable, v2};

/// The defined functions and data objects of both symbol tables.
pub(super) struct Symbols<'a> {
    /// Functions of `.text`: entry address to name, end, and whether that is only where the next one starts.
    functions: BTreeMap<u64, (Cow<'a, str>, u64, bool)>,
    /// Each function name's entry, and the size that its symbol gives.
    entries: FxHashMap<Cow<'a, str>, Extent>,
    /// Data objects by name.
    objects: FxHashMap<Cow<'a, str>, Extent>,
    /// Kernels of code object version 2 by name, from their headers on.
    kernels: FxHashMap<Cow<'a, str>, Extent>,
}

/// What a symbol stands for.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    /// Virtual address.
    pub(super) address: u64,
    /// Size in bytes.
    pub(super) size: u64,
}

impl<'a> Symbols<'a> {
    /// Reads both tables. Every function lies inside one of the sections with code, which are told with their
    /// indices.
    pub(super) fn read(elf: &Elf, bytes: &'a [u8], sections: &[(usize, Text)]) -> Result<Self, ObjectError> {
        let code = |section: u32| {
            sections.iter().find(|(index, _)| *index == section as usize).map(|(_, code)| code)
        };
        let mut functions: Vec<Symbol<'_>> = Vec::new();
        let (mut objects, mut kernels) = (FxHashMap::default(), FxHashMap::default());
        // .symtab first: it has the local functions too, and its names win over those of .dynsym.
        let mut tables: Vec<usize> = (0..elf.sections.len())
            .filter(|&index| matches!(elf.sections[index].kind, elf::SHT_SYMTAB | elf::SHT_DYNSYM))
            .collect();
        tables.sort_by_key(|&index| elf.sections[index].kind != elf::SHT_SYMTAB);
        for index in tables {
            for symbol in elf.symbols(bytes, index)? {
                let extent = Extent { address: symbol.value, size: symbol.size };
                match symbol.section {
                    Some(section) if symbol.kind == elf::STT_FUNC && code(section).is_some() => {
                        functions.push(symbol);
                    }
                    Some(section) if symbol.kind == v2::STT_KERNEL && code(section).is_some() => {
                        kernels.entry(symbol.name).or_insert(extent);
                    }
                    Some(_) if symbol.kind == elf::STT_OBJECT => {
                        objects.entry(symbol.name).or_insert(extent);
                    }
                    _ => {}
                }
            }
        }

        let section_of =
            |symbol: &Symbol<'_>| symbol.section.and_then(code).map(Text::memory).unwrap_or_default();
        for symbol in &functions {
            let end = symbol.value.checked_add(symbol.size);
            let section = section_of(symbol);
            if symbol.value < section.start || end.is_none_or(|end| end > section.end) {
                return Err(ObjectError::malformed(
                    format!("function symbol `{}`", symbol.name),
                    symbol.value,
                    format!("its {:#x} bytes do not lie inside .text", symbol.size),
                ));
            }
        }
        // Of several at one address, those with code are first.
        functions.sort_by_key(|symbol| (symbol.value, symbol.size == 0));
        let headers = kernels.values().map(|kernel: &Extent| kernel.address);
        let mut starts: Vec<u64> = functions.iter().map(|symbol| symbol.value).chain(headers).collect();
        starts.sort_unstable();
        let mut by_address = BTreeMap::new();
        let mut entries = FxHashMap::default();
        for symbol in functions {
            // Hand-written code often has no `.size`: such a function ends where the next one starts.
            let next = starts.partition_point(|&start| start <= symbol.value);
            let end = match symbol.size {
                0 => {
                    let section = section_of(&symbol).end;
                    starts.get(next).map_or(section, |&start| start.min(section))
                }
                size => symbol.value + size,
            };
            let extent = Extent { address: symbol.value, size: symbol.size };
            entries.entry(symbol.name.clone()).or_insert(extent);
            by_address.entry(symbol.value).or_insert((symbol.name, end, symbol.size == 0));
        }
        Ok(Self { functions: by_address, entries, objects, kernels })
    }

    /// Entry address of the function of that name.
    pub(super) fn entry(&self, name: &str) -> Option<u64> {
        self.entries.get(name).map(|extent| extent.address)
    }

    /// Whether the function of that name has no instructions: its symbol has no size, and at its address
    /// another one with code begins.
    pub(super) fn is_empty(&self, name: &str) -> bool {
        let Some(extent) = self.entries.get(name).filter(|extent| extent.size == 0) else { return false };
        self.functions.get(&extent.address).is_some_and(|(_, _, has_no_size)| !has_no_size)
    }

    /// The data object of that name.
    pub(super) fn object(&self, name: &str) -> Option<Extent> {
        self.objects.get(name).copied()
    }

    /// The kernel of that name in code object version 2: its header and its code.
    pub(super) fn kernel(&self, name: &str) -> Option<Extent> {
        self.kernels.get(name).copied()
    }

    /// The name of every kernel of code object version 2, in no order.
    pub(super) fn kernels(&self) -> impl Iterator<Item = &str> {
        self.kernels.keys().map(Cow::as_ref)
    }

    /// Every data object, in no order.
    pub(super) fn objects(&self) -> impl Iterator<Item = (&str, Extent)> {
        self.objects.iter().map(|(name, &extent)| (name.as_ref(), extent))
    }

    /// Where the code that starts at an address ends.
    pub(super) fn end_of(&self, entry: u64, text: &Text) -> u64 {
        match self.functions.get(&entry) {
            Some((_, end, _)) => *end,
            None => {
                let headers =
                    self.kernels.values().map(|kernel| kernel.address).filter(|&start| start >= entry);
                let function = self.functions.range(entry..).next().map(|(&start, _)| start);
                headers.chain(function).fold(text.memory().end, u64::min)
            }
        }
    }

    /// Functions other than kernels, in order of address, one for each address.
    pub(super) fn functions(&self, kernels: &[Kernel]) -> Vec<Function> {
        let entries: BTreeSet<u64> = kernels.iter().map(|kernel| kernel.code.start).collect();
        self.functions
            .iter()
            .filter(|(entry, _)| !entries.contains(entry))
            .map(|(&entry, (name, end, _))| Function { name: name.clone().into_owned(), code: entry..*end })
            .collect()
    }

    /// Data objects other than descriptors, in order of address.
    pub(super) fn variables(&self, kernels: &[Kernel]) -> Vec<Variable> {
        let descriptors: FxHashSet<&str> = kernels.iter().map(|kernel| kernel.symbol.as_str()).collect();
        let mut variables: Vec<Variable> = self
            .objects()
            .filter(|(name, _)| !descriptors.contains(name))
            .map(|(name, Extent { address, size })| Variable { name: name.to_owned(), address, size })
            .collect();
        variables.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
        variables
    }
}
