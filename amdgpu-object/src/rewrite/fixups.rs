//! Everything that points into `.text`, corrected where it stands.

use object::LittleEndian as LE;
use object::elf::{self, Rela64, Sym64};
use object::pod;
use rustc_hash::{FxHashMap, FxHashSet};

use super::corrected::Corrected;
use super::{Edge, Edit, KernelEdit, RewriteError};
use crate::elf::{Elf, ProgramHeader, RELA_SIZE, Section, section_of, symbols_cut_short};
use crate::parse::header_at;
use crate::{CodeObject, Kernel, RelocationKind};

/// What the parts of the rewriter share.
pub(super) struct Context<'a> {
    pub(super) object: &'a CodeObject,
    pub(super) elf: &'a Elf,
    /// Index of the section `.text`.
    pub(super) text: usize,
    pub(super) edit: &'a Edit<'a>,
    pub(super) address_map: &'a dyn Fn(u64, Edge) -> Option<u64>,
    /// Its kernels by name.
    pub(super) kernels: FxHashMap<&'a str, &'a KernelEdit>,
    /// Virtual address of the new `.text`.
    pub(super) text_address: u64,
}

impl Context<'_> {
    pub(super) fn text_section(&self) -> &Section {
        &self.elf.sections[self.text]
    }

    /// The edit of a kernel, if it has one.
    pub(super) fn edit_of(&self, kernel: &Kernel) -> Option<&KernelEdit> {
        self.kernels.get(kernel.name.as_str()).copied()
    }

    /// The address of an instruction of the old code, or of the end of the old code.
    fn points_into_text(&self, address: u64) -> bool {
        let memory = self.text_section().memory();
        memory.contains(&address) || (address == memory.end && !memory.is_empty())
    }

    fn map(&self, address: u64, edge: Edge, what: impl Fn() -> String) -> Result<u64, RewriteError> {
        (self.address_map)(address, edge).ok_or_else(|| RewriteError::Unmapped { what: what(), address })
    }

    /// Where something that may stand at an instruction or after the last one went.
    fn map_any(&self, address: u64, what: impl Fn() -> String) -> Result<u64, RewriteError> {
        let edge = if address == self.text_section().memory().end { Edge::End } else { Edge::Start };
        self.map(address, edge, what)
    }
}

/// Corrects symbols, relocations, the dynamic table and the descriptors in the original file, where every one
/// of them keeps its size. Returns the new `e_entry`.
pub(super) fn apply(context: &Context<'_>, bytes: &mut Corrected<'_>) -> Result<u64, RewriteError> {
    for (index, section) in context.elf.sections.iter().enumerate() {
        match section.kind {
            elf::SHT_SYMTAB | elf::SHT_DYNSYM => symbols(context, index, bytes)?,
            elf::SHT_RELA if section.is_alloc() => relocations(context, section, bytes)?,
            elf::SHT_DYNAMIC => dynamic(context, section, bytes)?,
            _ => {}
        }
    }
    descriptors(context, bytes)?;
    for (&address, value) in &context.edit.data {
        let unsupported = || RewriteError::Unsupported {
            what: format!("a dword to change at {address:#x}, which the file does not have,"),
            advice: "leave this code object uninstrumented",
        };
        let at = file_offset(context.elf, address, 4).ok_or_else(unsupported)?;
        bytes.get_mut(at..at + 4).copy_from_slice(&value.to_le_bytes());
    }
    let entry = u64::from_le_bytes(context.object.bytes[24..32].try_into().expect("eight bytes"));
    // No code object has an entry point of its own; 0 is what linkers write, and what a .text at 0 cannot
    // mean.
    if entry != 0 && context.points_into_text(entry) {
        return context.map_any(entry, || "the ELF entry point".to_owned());
    }
    Ok(entry)
}

fn symbols(context: &Context<'_>, index: usize, bytes: &mut Corrected<'_>) -> Result<(), RewriteError> {
    let section = &context.elf.sections[index];
    let cut_short = |()| symbols_cut_short(section);
    let range = section.file_range();
    let old = pod::slice_from_all_bytes::<Sym64<LE>>(&context.object.bytes[range.clone()]);
    let new = pod::slice_from_all_bytes_mut::<Sym64<LE>>(bytes.get_mut(range));
    for (number, (old, new)) in old.map_err(cut_short)?.iter().zip(new.map_err(cut_short)?).enumerate() {
        if section_of(old) != Some(context.text as u32) {
            continue;
        }
        if old.st_type() == elf::STT_SECTION {
            new.st_value.set(LE, context.text_address);
            continue;
        }
        let what = || symbol_name(context, index, number);
        let (value, size) = (old.st_value.get(LE), old.st_size.get(LE));
        let start = context.map_any(value, what)?;
        new.st_value.set(LE, start);
        if size != 0 {
            let end = context.map(value.wrapping_add(size), Edge::End, what)?;
            new.st_size.set(LE, end.saturating_sub(start));
        }
    }
    Ok(())
}

/// A symbol, for messages.
fn symbol_name(context: &Context<'_>, table: usize, number: usize) -> String {
    let symbols = context.elf.symbols(&context.object.bytes, table).unwrap_or_default();
    symbols
        .get(number)
        .map_or_else(|| format!("symbol {number}"), |symbol| format!("symbol `{}`", symbol.name))
}

fn relocations(
    context: &Context<'_>,
    section: &Section,
    bytes: &mut Corrected<'_>,
) -> Result<(), RewriteError> {
    let symbols = match context.elf.sections.get(section.link as usize) {
        Some(table) if matches!(table.kind, elf::SHT_DYNSYM | elf::SHT_SYMTAB) => {
            context.elf.symbols(&context.object.bytes, section.link as usize)?
        }
        _ => Vec::new(),
    };
    // All of them at once, of which each is then a part.
    bytes.get_mut(section.file_range());
    for at in section.file_range().step_by(RELA_SIZE) {
        let raw = bytes.get_mut(at..at + RELA_SIZE);
        let (raw, _) = pod::from_bytes_mut::<Rela64<LE>>(raw).expect("as many bytes as it has");
        let place = raw.r_offset.get(LE);
        if context.text_section().memory().contains(&place) {
            return Err(RewriteError::Unsupported {
                what: format!("a relocation inside .text, at {place:#x}"),
                advice: "link with -z text",
            });
        }
        let symbol = match raw.r_sym(LE, false) {
            0 => None,
            number => symbols.get(number as usize),
        };
        // Without a symbol the addend is the address; with one it is the distance from it.
        let base = match symbol {
            None => 0,
            Some(symbol) if symbol.section == Some(context.text as u32) => symbol.value,
            Some(_) => continue,
        };
        let target = base.wrapping_add_signed(raw.r_addend.get(LE));
        if !context.points_into_text(target) {
            continue;
        }
        let what = || format!("the relocation at {place:#x}");
        let new_target = context.map_any(target, what)?;
        let new_base = if symbol.is_some() { context.map_any(base, what)? } else { 0 };
        raw.r_addend.set(LE, new_target.wrapping_sub(new_base) as i64);

        // Linkers can store the value in the field as well (--apply-dynamic-relocs).
        let kind = RelocationKind::from_number(raw.r_type(LE, false).0);
        if matches!(kind, RelocationKind::Abs64 | RelocationKind::Relative64)
            && let Some(load) = load_of(context.elf, place, 8)
        {
            // There can be many of them: all of the segment at once, of which each is a part.
            let field = &mut bytes.get_mut(load.file_range())[(place - load.address) as usize..][..8];
            if *field == target.to_le_bytes() {
                field.copy_from_slice(&new_target.to_le_bytes());
            }
        }
    }
    Ok(())
}

/// `DT_INIT` and `DT_FINI` are the tags that can name code.
fn dynamic(context: &Context<'_>, section: &Section, bytes: &mut Corrected<'_>) -> Result<(), RewriteError> {
    const INIT: u64 = 12;
    const FINI: u64 = 13;
    for entry in bytes.get_mut(section.file_range()).chunks_exact_mut(16) {
        let (tag, value) = entry.split_at_mut(8);
        let tag = u64::from_le_bytes((&*tag).try_into().expect("eight bytes"));
        let address = u64::from_le_bytes((&*value).try_into().expect("eight bytes"));
        if matches!(tag, INIT | FINI) && context.points_into_text(address) {
            let new = context.map_any(address, || format!("dynamic tag {tag}"))?;
            value.copy_from_slice(&new.to_le_bytes());
        }
    }
    Ok(())
}

fn descriptors(context: &Context<'_>, bytes: &mut Corrected<'_>) -> Result<(), RewriteError> {
    let known: FxHashSet<&str> = context.object.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    for edit in &context.edit.kernels {
        if !known.contains(edit.kernel.as_str()) {
            return Err(RewriteError::UnknownKernel { kernel: edit.kernel.clone() });
        }
    }
    let mut new = Vec::with_capacity(context.object.kernels.len());
    for kernel in &context.object.kernels {
        let what = || format!("kernel `{}`", kernel.name);
        let entry = context.map(kernel.code.start, Edge::Start, what)?;
        if entry % 256 != 0 {
            return Err(RewriteError::EntryMisaligned { kernel: kernel.name.clone(), entry });
        }
        if context.object.version == 2 {
            continue;
        }
        let mut descriptor = context.edit_of(kernel).map_or(kernel.descriptor, |edit| edit.descriptor);
        descriptor.set_entry_offset(entry.wrapping_sub(kernel.descriptor_address) as i64);
        let at = file_offset(context.elf, kernel.descriptor_address, 64)
            .ok_or_else(|| RewriteError::Unmapped { what: what(), address: kernel.descriptor_address })?;
        new.push((at, descriptor));
    }
    // They stand together, mostly: all of that place at once, of which each is then a part.
    let places = new.iter().map(|&(at, _)| at);
    if let (Some(first), Some(last)) = (places.clone().min(), places.max()) {
        bytes.get_mut(first..last + 64);
    }
    for (at, descriptor) in new {
        bytes.get_mut(at..at + 64).copy_from_slice(&descriptor.bytes);
    }
    Ok(())
}

/// The new code with the headers of code object version 2 in it. They stand in front of the code and so have
/// moved with it.
pub(super) fn text_with_headers(context: &Context<'_>) -> Result<Vec<u8>, RewriteError> {
    let mut text = context.edit.text.to_vec();
    for kernel in &context.object.kernels {
        let what = || format!("kernel `{}`", kernel.name);
        let old = kernel.descriptor_address;
        let unmapped = || RewriteError::Unmapped { what: what(), address: old };
        let (address, entry) =
            (context.map(old, Edge::Start, what)?, context.map(kernel.code.start, Edge::Start, what)?);
        let edit = context.edit_of(kernel);
        let mut descriptor = edit.map_or(kernel.descriptor, |edit| edit.descriptor);
        descriptor.set_entry_offset(entry.wrapping_sub(address) as i64);
        let counts = edit.map(|edit| (edit.metadata.sgpr_count, edit.metadata.vgpr_count));
        let (sgprs, vgprs) = counts.unwrap_or_default();
        let mut header = header_at(context.object, old).ok_or_else(unmapped)?;
        header.update(&descriptor, sgprs, vgprs);
        let at = usize::try_from(address.wrapping_sub(context.text_address)).map_err(|_| unmapped())?;
        let place = at.checked_add(header.bytes.len()).and_then(|end| text.get_mut(at..end));
        place.ok_or_else(unmapped)?.copy_from_slice(&header.bytes);
    }
    Ok(text)
}

/// Where `size` bytes of initialised memory stand in the file.
fn file_offset(elf: &Elf, address: u64, size: u64) -> Option<usize> {
    load_of(elf, address, size).map(|header| (header.offset + (address - header.address)) as usize)
}

/// The segment that has them.
fn load_of(elf: &Elf, address: u64, size: u64) -> Option<&ProgramHeader> {
    elf.program_headers
        .iter()
        .filter(|header| header.kind == elf::PT_LOAD && header.address <= address)
        .find(|header| address.checked_add(size).is_some_and(|end| end - header.address <= header.file_size))
}
