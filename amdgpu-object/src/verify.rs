//! A second opinion on a code object: read with `goblin`, compared with what the first reader makes of it.
//!
//! The rewriter asks for it twice, by the same code: of what it is given, where a contradiction is damage
//! that is named, and of what it writes, where it is a defect.

mod names;

use std::borrow::Cow;

use amdgpu_isa::Arch;
use goblin::elf::program_header::{PT_DYNAMIC, PT_LOAD, PT_PHDR};
use goblin::elf::section_header::{
    SHF_ALLOC, SHT_DYNAMIC, SHT_DYNSYM, SHT_GNU_HASH, SHT_HASH, SHT_NOBITS, SHT_RELA, SHT_STRTAB, SHT_SYMTAB,
    SectionHeader,
};
use goblin::elf::{Elf, Sym};
use rustc_hash::FxHashMap;

use names::StringTable;

use super::elf::SYMBOL_SIZE;
use super::registers::MOST_USER_SGPRS;
use super::{CodeObject, Kernel, KernelMetadata, ObjectError};

/// What does not hold in a code object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The first reader refuses it.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// The second reader refuses it.
    #[error("goblin cannot read it: {0}")]
    SecondReader(String),
    /// Headers that contradict each other.
    #[error("{part}: {problem}")]
    Headers {
        /// Which structure.
        part: String,
        /// What contradicts what.
        problem: String,
    },
    /// A kernel whose symbols, descriptor and metadata contradict each other.
    #[error("kernel `{kernel}`: {problem}")]
    Kernel {
        /// The kernel.
        kernel: String,
        /// What contradicts what.
        problem: String,
    },
}

/// Checks that two readers agree about a code object, that its headers are consistent, and that each kernel's
/// descriptor and metadata say the same. Returns the first reader's result.
///
/// # Errors
/// The first contradiction, as a [`VerifyError`].
pub fn verify(bytes: &[u8]) -> Result<CodeObject, VerifyError> {
    verify_owned(bytes.to_vec())
}

/// Checks a code object as [`verify`] does, from bytes that the result may keep.
pub(super) fn verify_owned(bytes: Vec<u8>) -> Result<CodeObject, VerifyError> {
    let object = CodeObject::parse(bytes)?;
    check(&object)?;
    Ok(object)
}

/// Checks the first reader's view of a code object, as [`verify`] does.
///
/// # Errors
/// The first contradiction, as a [`VerifyError`].
pub fn check(object: &CodeObject) -> Result<(), VerifyError> {
    let bytes = &object.bytes;
    let unread = |error: goblin::error::Error| VerifyError::SecondReader(error.to_string());
    let readable = names::readable(bytes).map_err(unread)?;
    let elf = Elf::parse(&readable).map_err(unread)?;
    segments(&elf, bytes)?;
    sections(&elf, bytes)?;
    dynamic(&elf)?;
    kernels(object, &elf)
}

fn headers(part: impl Into<String>, problem: impl Into<String>) -> VerifyError {
    VerifyError::Headers { part: part.into(), problem: problem.into() }
}

fn segments(elf: &Elf<'_>, bytes: &[u8]) -> Result<(), VerifyError> {
    let mut end = 0;
    for (index, header) in elf.program_headers.iter().enumerate() {
        let part = || format!("program header {index}");
        if header.p_offset.checked_add(header.p_filesz).is_none_or(|end| end > bytes.len() as u64) {
            return Err(headers(part(), "its contents end after the file"));
        }
        match header.p_type {
            PT_LOAD => {
                if header.p_vaddr < end {
                    return Err(headers(part(), "loads are not in order of address"));
                }
                end = header
                    .p_vaddr
                    .checked_add(header.p_memsz)
                    .ok_or_else(|| headers(part(), "it ends behind the last address"))?;
                let misplaced = header.p_vaddr.wrapping_sub(header.p_offset).checked_rem(header.p_align);
                if misplaced.is_some_and(|rest| rest != 0) {
                    return Err(headers(part(), "offset and address are not congruent"));
                }
            }
            PT_PHDR => {
                let size = u64::from(elf.header.e_phentsize) * elf.program_headers.len() as u64;
                if (header.p_offset, header.p_filesz) != (elf.header.e_phoff, size) {
                    return Err(headers(part(), "it does not describe the program header table"));
                }
                let loaded = elf.program_headers.iter().any(|load| {
                    load.p_type == PT_LOAD && holds(load.p_offset, load.p_filesz, header.p_offset, size)
                });
                if !loaded {
                    return Err(headers(part(), "no segment loads the program header table"));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a range, by its start and size, holds another one.
fn holds(start: u64, size: u64, inner: u64, inner_size: u64) -> bool {
    // Sizes are compared with what is left, as ends could overflow.
    inner
        .checked_sub(start)
        .and_then(|before| size.checked_sub(before))
        .is_some_and(|left| inner_size <= left)
}

/// Every loaded section must stand in the file where its segment puts it, and no two may overlap.
fn sections(elf: &Elf<'_>, bytes: &[u8]) -> Result<(), VerifyError> {
    let names = StringTable::of_sections(elf, bytes);
    let mut ranges = Vec::new();
    let holds_names =
        |of: u32| elf.section_headers.get(of as usize).is_some_and(|section| section.sh_type == SHT_STRTAB);
    if !holds_names(elf.header.e_shstrndx.into()) {
        return Err(headers(
            "section header table",
            "the section with the names of sections is of another kind",
        ));
    }
    for (index, section) in elf.section_headers.iter().enumerate() {
        let name = match names.at(section.sh_name) {
            [] => Cow::Owned(format!("number {index}")),
            name => amdinst_text::name(name),
        };
        if matches!(section.sh_type, SHT_SYMTAB | SHT_DYNSYM) && !holds_names(section.sh_link) {
            return Err(headers(format!("section {name}"), "the section with its names is of another kind"));
        }
        let in_file = section.sh_type != SHT_NOBITS && section.sh_size != 0;
        if section.sh_flags & u64::from(SHF_ALLOC) != 0 && in_file {
            let placed = elf.program_headers.iter().any(|load| {
                load.p_type == PT_LOAD
                    && holds(load.p_vaddr, load.p_filesz, section.sh_addr, section.sh_size)
                    && (section.sh_addr - load.p_vaddr).checked_add(load.p_offset) == Some(section.sh_offset)
            });
            if !placed {
                return Err(headers(format!("section {name}"), "no segment loads it at its address"));
            }
        }
        if in_file {
            ranges.push((section.sh_offset, section.sh_offset.saturating_add(section.sh_size), name));
        }
    }
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        if pair[0].1 > pair[1].0 {
            return Err(headers(
                format!("sections {} and {}", pair[0].2, pair[1].2),
                "they overlap in the file",
            ));
        }
    }
    Ok(())
}

/// What loaders find through the dynamic table is what sections of its kind describe, and the other way round
/// for its symbols.
fn dynamic(elf: &Elf<'_>) -> Result<(), VerifyError> {
    let wrong = |problem: String| Err(headers("dynamic table", problem));
    let loaded = |kind: u32| {
        let is_one = move |section: &&SectionHeader| {
            section.sh_type == kind && section.sh_flags & u64::from(SHF_ALLOC) != 0
        };
        elf.section_headers.iter().filter(is_one)
    };
    let Some(dynamic) = &elf.dynamic else {
        return match loaded(SHT_DYNSYM).next() {
            Some(_) => wrong("there are dynamic symbols and no table that tells of them".to_owned()),
            None => Ok(()),
        };
    };
    let info = &dynamic.info;
    let told = |table: usize| Some(table as u64).filter(|&table| table != 0);
    let header = elf.program_headers.iter().find(|header| header.p_type == PT_DYNAMIC);
    let tables = [
        ("PT_DYNAMIC", header.map(|header| header.p_offset), SHT_DYNAMIC),
        ("DT_SYMTAB", told(info.symtab), SHT_DYNSYM),
        ("DT_STRTAB", told(info.strtab), SHT_STRTAB),
        ("DT_RELA", told(info.rela).filter(|_| info.relasz != 0), SHT_RELA),
        ("DT_HASH", info.hash, SHT_HASH),
        ("DT_GNU_HASH", info.gnu_hash, SHT_GNU_HASH),
    ];
    for (name, table, kind) in tables {
        if table.is_some_and(|at| loaded(kind).all(|section| section.sh_offset != at)) {
            return wrong(format!("no loaded section of its kind stands where {name} points"));
        }
    }
    let sizes = loaded(SHT_DYNAMIC).map(|section| section.sh_size);
    if header.is_some_and(|header| sizes.clone().any(|size| size != header.p_filesz)) {
        return wrong("its section and its segment are not of one size".to_owned());
    }
    if let Some(header) = header
        && loaded(SHT_DYNAMIC).all(|section| section.sh_addr != header.p_vaddr)
    {
        return wrong("it does not stand at the address that PT_DYNAMIC has".to_owned());
    }
    for symbols in loaded(SHT_DYNSYM) {
        if told(info.symtab) != Some(symbols.sh_offset) {
            return wrong("it does not point at the section of dynamic symbols".to_owned());
        }
        let names = elf.section_headers.get(symbols.sh_link as usize).map(|names| names.sh_offset);
        if names != told(info.strtab) {
            return wrong("it does not point at the names of the dynamic symbols".to_owned());
        }
        let (counted, there) = (elf.dynsyms.len() as u64, symbols.sh_size / SYMBOL_SIZE as u64);
        if counted > there {
            return wrong(format!("its hash table counts {counted} symbols, and there are {there}"));
        }
    }
    Ok(())
}

/// A symbol that others see lies in its section.
fn inside(elf: &Elf<'_>, symbol: &Sym) -> bool {
    let Some(section) = elf.section_headers.get(symbol.st_shndx) else { return true };
    let end = section.sh_addr.saturating_add(section.sh_size);
    section.sh_flags & u64::from(SHF_ALLOC) == 0 || (section.sh_addr..=end).contains(&symbol.st_value)
}

fn kernels(object: &CodeObject, elf: &Elf<'_>) -> Result<(), VerifyError> {
    let bytes = &object.bytes;
    let symbols = [
        (&elf.syms, StringTable::of_symbols(elf, bytes)),
        (&elf.dynsyms, StringTable::of_dynamic_symbols(elf, bytes)),
    ];
    let mut values = FxHashMap::default();
    for (table, names) in symbols {
        for symbol in table.iter() {
            let name = names.at(symbol.st_name);
            if !name.is_empty()
                && symbol.st_shndx != 0
                && !symbol.is_import()
                && symbol.st_bind() != goblin::elf::sym::STB_LOCAL
            {
                if !inside(elf, &symbol) {
                    let part = format!("symbol `{}`", amdinst_text::name(name));
                    return Err(headers(part, "it does not lie in its section"));
                }
                let place = (symbol.st_value, symbol.st_shndx, symbol.st_type());
                if *values.entry(name).or_insert(place) != place {
                    return Err(headers(
                        format!("symbol `{}`", amdinst_text::name(name)),
                        "the two symbol tables disagree about it",
                    ));
                }
            }
        }
    }
    let by_name: FxHashMap<_, _> =
        values.into_iter().map(|(name, (value, ..))| (amdinst_text::name(name), value)).collect();
    for kernel in &object.kernels {
        let fail = |problem: String| VerifyError::Kernel { kernel: kernel.name.clone(), problem };
        let value = |name: &str| by_name.get(name).copied();
        if value(&kernel.symbol).is_some_and(|value| value != kernel.descriptor_address) {
            return Err(fail("the readers disagree about its descriptor's address".to_owned()));
        }
        let entry = kernel.symbol.strip_suffix(".kd").and_then(value);
        if entry.is_some_and(|entry| entry != kernel.code.start) {
            return Err(fail("the readers disagree about its entry point".to_owned()));
        }
        if let Some(problem) = contradiction(kernel, object.target.arch) {
            return Err(fail(problem));
        }
    }
    Ok(())
}

/// What a kernel's descriptor says in two ways: of the number of its user SGPRs, or, in other words than the
/// metadata, of its segments' sizes. One launcher believes the one, another the other. Also more user SGPRs
/// than there are. `None` if all agrees, or there is no metadata.
pub fn contradiction(kernel: &Kernel, arch: Arch) -> Option<String> {
    let (descriptor, metadata) = (&kernel.descriptor, &kernel.metadata);
    let (enabled, counted) = (descriptor.user_sgprs(arch).count, descriptor.user_sgpr_count());
    if enabled > counted {
        return Some(format!("its descriptor enables {enabled} user SGPRs and counts {counted}"));
    }
    if counted > MOST_USER_SGPRS {
        return Some(format!("its descriptor counts {counted} user SGPRs, and there are {MOST_USER_SGPRS}"));
    }
    if *metadata == KernelMetadata::default() {
        return None;
    }
    let sizes = [
        // Compilers before LLVM 12 left the descriptor's kernarg size zero.
        ("kernarg", descriptor.kernarg_size(), metadata.kernarg_segment_size, true),
        ("group", descriptor.group_segment_fixed_size(), metadata.group_segment_fixed_size, false),
        ("private", descriptor.private_segment_fixed_size(), metadata.private_segment_fixed_size, false),
    ];
    sizes.into_iter().find_map(|(segment, descriptor, metadata, may_be_silent)| {
        let agree = descriptor == metadata || may_be_silent && descriptor == 0;
        (!agree).then(|| {
            format!("{segment} segment of {descriptor} bytes in its descriptor, {metadata} in its metadata")
        })
    })
}
