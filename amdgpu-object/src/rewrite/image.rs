//! The rewritten file: where segments and sections go, and the headers that say so.
//!
//! Segments keep their addresses and are packed anew in the file, each at an offset congruent to its address.
//! After them stand the new `.text`, memory for a new variable, what outgrew its place (the note, the dynamic
//! symbols), the sections that are not loaded, and the section headers.

use std::borrow::Cow;

use object::LittleEndian as LE;
use object::elf::{self, Sym64};
use object::pod;
use object::read::elf::Sym as _;

use super::corrected::Corrected;
use super::debug::DebugSection;
use super::dynamic::{self, SectionContents};
use super::fixups::Context;
use super::{NewNote, PAGE, RewriteError, variable_address};
use crate::KEPT_SECTION;
use crate::elf::{HEADER_SIZE, PROGRAM_HEADER_SIZE, ProgramHeader, SYMBOL_SIZE, Section, symbols_cut_short};

/// Largest segment alignment that is kept: it can cost as many bytes of file.
const MAX_ALIGN: u64 = 1 << 21;

/// Builds the file from the original in which everything that keeps its size is already corrected.
pub(super) fn build(
    context: &Context<'_>,
    bytes: Corrected<'_>,
    entry: u64,
    note: Option<NewNote>,
    debug: &[DebugSection],
) -> Result<Vec<u8>, RewriteError> {
    let mut image = Image::new(context, bytes, note, debug)?;
    let added = image.add_symbol()?;
    let loads = image.place_segments(&added)?;
    image.place_unloaded_sections()?;
    Ok(image.finish(entry, loads))
}

/// A segment that is kept: its old header, and what to add to file offsets inside it.
struct Kept {
    header: ProgramHeader,
    new_offset: u64,
}

impl Kept {
    fn moved(&self, address: u64) -> u64 {
        self.new_offset + (address - self.header.address)
    }

    fn covers(&self, address: u64) -> bool {
        self.header.address <= address && address <= self.header.memory().end
    }
}

/// The tables of dynamic symbols with one more, and its number.
#[derive(Default)]
struct Added {
    tables: Vec<SectionContents>,
    number: usize,
}

/// A string table, and where in it are the names of what is added: the variable's symbol and section, and the
/// section of code that stays.
struct Strings<'a> {
    contents: Cow<'a, [u8]>,
    symbol: Option<u32>,
    section: Option<u32>,
    kept: Option<u32>,
}

/// The section that the variable stands in.
const VARIABLE_SECTION: &str = ".bss.amdinst";

struct Image<'a> {
    context: &'a Context<'a>,
    /// The original file, corrected, with new section numbers in its symbols.
    bytes: Corrected<'a>,
    /// The note, if it gets new contents or a new place.
    note: Option<NewNote>,
    note_moves: bool,
    /// Sections that have to move because the variable's symbol goes into them.
    tables: Vec<usize>,
    /// Where in the file the code is that stays.
    kept_offset: u64,
    /// The debug sections that are kept.
    debug: &'a [DebugSection],
    /// Whether the segment of `.text` stays: it holds other sections, or its code goes on to run there.
    text_segment_stays: bool,
    /// Sections with new addresses and offsets, by their old number.
    sections: Vec<Section>,
    /// New number of each old section; `None` for those that are left out.
    numbers: Vec<Option<u32>>,
    /// Where the program header table starts.
    table: u64,
    out: Vec<u8>,
}

impl<'a> Image<'a> {
    fn new(
        context: &'a Context<'a>,
        bytes: Corrected<'a>,
        note: Option<NewNote>,
        debug: &'a [DebugSection],
    ) -> Result<Self, RewriteError> {
        let elf = context.elf;
        let text = context.text_section();
        let text_segment_stays = loads(context).find(|load| holds(load, text)).is_some_and(|load| {
            elf.sections.iter().enumerate().any(|(index, section)| {
                index != context.text && section.is_alloc() && section.size != 0 && holds(load, section)
            })
        });
        let text_segment_stays = text_segment_stays || context.edit.keeps_code;
        let length = context.object.bytes.len();
        let mut next = 0;
        let numbers = (0..elf.sections.len()).map(|index| {
            is_kept(context, debug, index).then(|| {
                next += 1;
                next - 1
            })
        });
        let mut image = Self {
            context,
            // The old file without its text, the new text, and what is written anew.
            out: Vec::with_capacity(length + context.edit.text.len() + length / 8),
            bytes,
            note,
            note_moves: false,
            tables: Vec::new(),
            kept_offset: 0,
            debug,
            text_segment_stays,
            sections: elf.sections.clone(),
            numbers: numbers.collect(),
            table: HEADER_SIZE as u64,
        };
        if context.edit.variable.is_some() {
            image.tables = dynamic::tables(elf);
        }
        image.place_note()?;
        image.renumber_symbols()?;
        if text_segment_stays && !context.edit.keeps_code {
            image.bytes.get_mut(text.file_range()).fill(0);
        }
        Ok(image)
    }

    /// Decides whether the note can stay: it must fit its old place, and the program header table must fit
    /// before what stands behind it. The place of a note that moves is free for that table.
    fn place_note(&mut self) -> Result<(), RewriteError> {
        let old_size = |note: &NewNote| self.context.elf.sections[note.section].size as usize;
        self.note_moves = self.note.as_ref().is_some_and(|note| note.contents.len() > old_size(note));
        let fits = |image: &Self| image.header_count() <= image.header_room();
        if !fits(self) && !self.note_moves {
            let notes = self.context.elf.sections.iter().enumerate();
            let first = notes
                .filter(|(_, section)| section.kind == elf::SHT_NOTE && section.is_alloc())
                .min_by_key(|(_, section)| section.offset);
            if let (None, Some((section, header))) = (&self.note, first) {
                self.note =
                    Some(NewNote { section, contents: self.bytes.read(header.file_range()).into_owned() });
            }
            self.note_moves = self.note.is_some();
        }
        if !fits(self) {
            return Err(RewriteError::NoRoom { needed: self.header_count(), room: self.header_room() });
        }
        let Some(note) = &self.note else { return Ok(()) };
        let range = self.context.elf.sections[note.section].file_range();
        let place = self.bytes.get_mut(range);
        place.fill(0);
        if !self.note_moves {
            place[..note.contents.len()].copy_from_slice(&note.contents);
            self.sections[note.section].size = note.contents.len() as u64;
        }
        Ok(())
    }

    /// Whether a note segment holds more note sections than the one that moves.
    fn is_shared_note_segment(&self, header: &ProgramHeader, note: &Section) -> bool {
        header.kind == elf::PT_NOTE && holds(header, note) && header.file_size > note.size
    }

    fn header_count(&self) -> usize {
        let mut count = self.context.elf.program_headers.len() + usize::from(self.text_segment_stays);
        if self.note_moves
            && let Some(note) = &self.note
        {
            let section = &self.context.elf.sections[note.section];
            let headers = self.context.elf.program_headers.iter();
            // A PT_NOTE of its own if it shared one.
            count += headers.filter(|header| self.is_shared_note_segment(header, section)).count();
        }
        // One PT_LOAD for all that moves, one for the variable.
        let moves = self.note_moves || !self.tables.is_empty();
        count + usize::from(moves) + usize::from(self.context.edit.variable.is_some())
    }

    /// Program headers that fit before the first section behind them that stays where it is.
    fn header_room(&self) -> usize {
        let start = self.context.elf.program_header_offset;
        let moved_note = self.note.as_ref().filter(|_| self.note_moves).map(|note| note.section);
        let stays = |index: usize| {
            let section = &self.context.elf.sections[index];
            let moves = Some(index) == moved_note
                || self.tables.contains(&index)
                || (index == self.context.text && !self.text_segment_stays);
            !moves && section.is_alloc() && !section.file_range().is_empty() && section.offset >= start
        };
        let first = (0..self.context.elf.sections.len()).filter(|&index| stays(index));
        let first = first.map(|index| self.context.elf.sections[index].offset).min();
        // The table must also stay inside the segment that loads it.
        let loaded = loads(self.context)
            .find(|load| load.offset <= start && start < load.offset + load.file_size)
            .map(|load| load.offset + load.file_size);
        let end = first.into_iter().chain(loaded).min().unwrap_or(u64::MAX);
        usize::try_from((end - start) / PROGRAM_HEADER_SIZE as u64).unwrap_or(usize::MAX)
    }

    /// Gives symbols the new numbers of their sections.
    fn renumber_symbols(&mut self) -> Result<(), RewriteError> {
        let kept = self.kept_section();
        for section in &self.context.elf.sections {
            if !matches!(section.kind, elf::SHT_SYMTAB | elf::SHT_DYNSYM) {
                continue;
            }
            let table = self.bytes.get_mut(section.file_range());
            let table = pod::slice_from_all_bytes_mut::<Sym64<LE>>(table);
            for raw in table.map_err(|()| symbols_cut_short(section))? {
                let old = raw.st_shndx(LE).0;
                if old == 0 || old >= elf::SHN_LORESERVE {
                    continue;
                }
                // What stays has its old address still.
                let stays = self.context.edit.keeps_code
                    && usize::from(old) == self.context.text
                    && self.context.text_section().memory().contains(&raw.st_value.get(LE));
                match self.numbers[usize::from(old)] {
                    Some(_) if stays => raw.st_shndx.set(LE, elf::SymbolSection(kept)),
                    Some(new) => raw.st_shndx.set(LE, elf::SymbolSection(new as u16)),
                    // Marked for removal: see `kept_symbols`.
                    None if !section.is_alloc() => raw.st_shndx.set(LE, REMOVED),
                    None => {
                        return Err(RewriteError::Unsupported {
                            what: format!(
                                "a dynamic symbol in section {}, which is not loaded,",
                                self.sections[usize::from(old)].name
                            ),
                            advice: "link with ld.lld -shared",
                        });
                    }
                }
            }
        }
        Ok(())
    }

    /// The tables with the variable's symbol in them; their old places are free.
    fn add_symbol(&mut self) -> Result<Added, RewriteError> {
        let Some(variable) = &self.context.edit.variable else { return Ok(Added::default()) };
        let is_loaded = |section: &Section| loads(self.context).any(|load| holds_contents(load, section));
        let mut dynamic = self.sections.iter().filter(|section| section.kind == elf::SHT_DYNAMIC);
        if !dynamic.all(is_loaded) {
            return Err(dynamic::unsupported("a code object that does not load its dynamic table"));
        }
        let (tables, number) =
            dynamic::add_symbol(self.context.elf, &self.context.object.bytes, &mut self.bytes, variable)?;
        for (index, _) in &tables {
            self.bytes.get_mut(self.context.elf.sections[*index].file_range()).fill(0);
        }
        Ok(Added { tables, number })
    }

    /// Lays out everything that is loaded. Returns the new program headers.
    fn place_segments(&mut self, added: &Added) -> Result<Vec<ProgramHeader>, RewriteError> {
        let context = self.context;
        let text_section = context.text_section();
        let mut old: Vec<&ProgramHeader> =
            loads(context).filter(|load| self.text_segment_stays || !holds(load, text_section)).collect();
        // The segment with the ELF header comes first, as its place is fixed.
        old.sort_by_key(|load| (load.offset != 0, load.address));
        let table = context.elf.program_header_offset;
        if old.first().is_some_and(|load| load.offset == 0 && table < load.file_size) {
            self.table = table;
        } else {
            self.out.resize(HEADER_SIZE + self.header_count() * PROGRAM_HEADER_SIZE, 0);
        }
        let mut kept = Vec::new();
        for load in old {
            let align = load.align.max(1);
            if !align.is_power_of_two() || align > MAX_ALIGN {
                return Err(RewriteError::Unsupported {
                    what: format!("a segment alignment of {align:#x}"),
                    advice: "link with a page size of at most 2 MiB",
                });
            }
            let cursor = self.out.len() as u64;
            let new_offset = cursor + (load.address.wrapping_sub(cursor) & (align - 1));
            self.out.resize(new_offset as usize, 0);
            self.bytes.append(load.file_range(), &mut self.out);
            kept.push(Kept { header: load.clone(), new_offset });
        }
        for (index, section) in self.sections.iter_mut().enumerate() {
            if section.is_alloc()
                && index != context.text
                && let Some(load) =
                    kept.iter().find(|load| load.covers(section.address) && holds(&load.header, section))
            {
                section.offset = load.moved(section.address);
            }
        }
        if context.edit.keeps_code
            && let Some(load) = kept.iter().find(|load| holds(&load.header, text_section))
        {
            self.kept_offset = load.moved(text_section.address);
        }
        let new = [Some(self.place_text()), self.variable_segment(), self.place_moved(&added.tables)];
        self.announce(added);
        Ok(self.program_headers(&kept, new.into_iter().flatten().collect()))
    }

    fn place_text(&mut self) -> ProgramHeader {
        let text = &self.context.edit.text;
        self.out.resize(self.out.len().next_multiple_of(PAGE as usize), 0);
        let offset = self.out.len() as u64;
        self.out.extend_from_slice(text);
        let section = &mut self.sections[self.context.text];
        section.address = self.context.text_address;
        section.offset = offset;
        section.size = text.len() as u64;
        section.align = section.align.min(PAGE);
        ProgramHeader {
            kind: elf::PT_LOAD,
            flags: elf::PF_R | elf::PF_X,
            offset,
            address: section.address,
            file_size: section.size,
            memory_size: section.size,
            align: PAGE,
        }
    }

    /// The variable's memory, right behind the code. The file holds nothing of it.
    fn variable_segment(&self) -> Option<ProgramHeader> {
        let variable = self.context.edit.variable.as_ref()?;
        Some(ProgramHeader {
            kind: elf::PT_LOAD,
            flags: elf::PF_R | elf::PF_W,
            offset: self.variable_offset(),
            address: self.variable_memory(),
            file_size: 0,
            memory_size: variable.memory,
            align: PAGE,
        })
    }

    fn variable_memory(&self) -> u64 {
        variable_address(self.context.text_address, self.context.edit.text.len() as u64)
    }

    /// A place in the file that goes with the address; there is nothing there.
    fn variable_offset(&self) -> u64 {
        let text = &self.sections[self.context.text];
        (text.offset + text.size) / PAGE * PAGE
    }

    /// What outgrew its place gets a read-only segment behind the code and the variable.
    fn place_moved(&mut self, tables: &[SectionContents]) -> Option<ProgramHeader> {
        let note = self.note.as_ref().filter(|_| self.note_moves);
        let moved: Vec<(usize, &[u8])> = note
            .map(|note| (note.section, &note.contents[..]))
            .into_iter()
            .chain(tables.iter().map(|(index, contents)| (*index, &contents[..])))
            .collect();
        let align = |section: &Section| section.align.clamp(4, PAGE).next_power_of_two() as usize;
        let first = self.out.len().next_multiple_of(align(&self.sections[moved.first()?.0]));
        let memory = match &self.context.edit.variable {
            Some(variable) => self.variable_memory() + variable.memory,
            None => self.context.text_address + self.context.edit.text.len() as u64,
        };
        let address = memory.next_multiple_of(PAGE) + first as u64 % PAGE;
        for (index, contents) in moved {
            let section = &mut self.sections[index];
            self.out.resize(self.out.len().next_multiple_of(align(section)), 0);
            section.offset = self.out.len() as u64;
            section.address = address + (section.offset - first as u64);
            section.size = contents.len() as u64;
            self.out.extend(contents);
        }
        let size = (self.out.len() - first) as u64;
        Some(ProgramHeader {
            kind: elf::PT_LOAD,
            flags: elf::PF_R,
            offset: first as u64,
            address,
            file_size: size,
            memory_size: size,
            align: PAGE,
        })
    }

    /// Puts the variable's address, and those of the tables that moved, where loaders look for them.
    fn announce(&mut self, added: &Added) {
        let Some(variable) = &self.context.edit.variable else { return };
        let (number, address) = (self.variable_section(), self.variable_memory() + variable.offset);
        for &(index, _) in &added.tables {
            let section = &self.sections[index];
            if section.kind == elf::SHT_DYNSYM {
                dynamic::set_symbol(&mut self.out[section.file_range()], added.number, number, address);
            }
        }
        for section in self.sections.iter().filter(|section| section.kind == elf::SHT_DYNAMIC) {
            let table = &mut self.out[section.file_range()];
            dynamic::correct_table(table, &self.sections, &self.tables);
        }
    }

    /// The number of the section that the variable stands in, behind the old ones.
    fn variable_section(&self) -> u16 {
        self.numbers.iter().flatten().count() as u16
    }

    /// The number of the section with the code that stays: the last.
    fn kept_section(&self) -> u16 {
        self.variable_section() + u16::from(self.context.edit.variable.is_some())
    }

    /// The table: PT_PHDR first, then the loads in order of address, then the rest in its old order.
    fn program_headers(&self, kept: &[Kept], new: Vec<ProgramHeader>) -> Vec<ProgramHeader> {
        let mut first = Vec::new();
        let mut rest = Vec::new();
        for header in &self.context.elf.program_headers {
            let mut header = header.clone();
            let load =
                kept.iter().find(|load| load.covers(header.address) && holds_header(&load.header, &header));
            match header.kind {
                elf::PT_LOAD => continue,
                elf::PT_PHDR => {
                    header.file_size = (self.header_count() * PROGRAM_HEADER_SIZE) as u64;
                    header.memory_size = header.file_size;
                    first.push(header);
                    continue;
                }
                elf::PT_NOTE => {
                    rest.extend(self.note_headers(header, load));
                    continue;
                }
                _ if header.file_size == 0 && header.memory_size == 0 => {}
                _ => {
                    if let Some(load) = load {
                        header.offset = load.moved(header.address);
                    }
                }
            }
            rest.push(header);
        }
        let mut loads: Vec<ProgramHeader> = kept
            .iter()
            .map(|load| ProgramHeader { offset: load.new_offset, ..load.header.clone() })
            .chain(new)
            .collect();
        loads.sort_by_key(|load| load.address);
        first.extend(loads);
        first.extend(rest);
        first
    }

    /// What becomes of a PT_NOTE: it follows a note section that moves or shrinks, and splits if it held
    /// others too.
    fn note_headers(&self, header: ProgramHeader, load: Option<&Kept>) -> Vec<ProgramHeader> {
        let moved = |mut header: ProgramHeader| {
            if let Some(load) = load {
                header.offset = load.moved(header.address);
            }
            header
        };
        let Some(note) = &self.note else { return vec![moved(header)] };
        let old = &self.context.elf.sections[note.section];
        if !holds(&header, old) {
            return vec![moved(header)];
        }
        let shared = self.is_shared_note_segment(&header, old);
        if shared && !self.note_moves {
            return vec![moved(header)];
        }
        let section = &self.sections[note.section];
        let own = ProgramHeader {
            offset: section.offset,
            address: section.address,
            file_size: section.size,
            memory_size: section.size,
            ..header.clone()
        };
        if !shared {
            return vec![own];
        }
        // The old place is zeroed; the remaining notes start behind it or end before it.
        let (start, end) = (header.address, header.address + header.file_size);
        let (address, end) =
            if old.address == start { (old.memory().end, end) } else { (start, old.address) };
        let remaining = ProgramHeader {
            address,
            offset: header.offset + (address - start),
            file_size: end - address,
            memory_size: end - address,
            ..header
        };
        vec![moved(remaining), own]
    }

    fn place_unloaded_sections(&mut self) -> Result<(), RewriteError> {
        let mut out = std::mem::take(&mut self.out);
        for index in 1..self.sections.len() {
            let old = &self.context.elf.sections[index];
            let moved_note = self.note.as_ref().is_some_and(|note| note.section == index) && self.note_moves;
            let loaded = old.is_alloc() && loads(self.context).any(|load| holds(load, old));
            if self.numbers[index].is_none() || loaded || moved_note || index == self.context.text {
                continue;
            }
            let align = old.align.clamp(1, PAGE).next_power_of_two() as usize;
            out.resize(out.len().next_multiple_of(align), 0);
            let offset = out.len();
            let new = self.debug.iter().find(|new| new.section == index);
            if let Some(contents) = new.and_then(|new| new.contents.as_ref()) {
                self.sections[index].flags.0 &= !elf::SHF_COMPRESSED.0;
                out.extend_from_slice(contents);
            } else if old.kind == elf::SHT_SYMTAB {
                let (contents, locals) = kept_symbols(&self.bytes.read(old.file_range()), old.info);
                self.sections[index].info = locals;
                out.extend_from_slice(&contents);
                if let (Some(variable), Some(name)) =
                    (&self.context.edit.variable, self.strings(old.link as usize).symbol)
                {
                    out.extend(dynamic::symbol(name, variable));
                    let address = self.variable_memory() + variable.offset;
                    let number = contents.len() / SYMBOL_SIZE;
                    dynamic::set_symbol(&mut out[offset..], number, self.variable_section(), address);
                }
            } else {
                out.extend_from_slice(&self.strings(index).contents);
            }
            let section = &mut self.sections[index];
            section.offset = offset as u64;
            if section.kind != elf::SHT_NOBITS {
                section.size = (out.len() - offset) as u64;
            }
        }
        self.out = out;
        Ok(())
    }

    /// The contents of a section that is not loaded, with the names of the variable, if it is where they
    /// belong.
    fn strings(&self, index: usize) -> Strings<'_> {
        let mut strings = Strings {
            contents: self.bytes.read(self.context.elf.sections[index].file_range()),
            symbol: None,
            section: None,
            kept: None,
        };
        // What is loaded keeps its place and size.
        if let Some(variable) = &self.context.edit.variable
            && !self.context.elf.sections[index].is_alloc()
        {
            let sections = self.context.elf.sections.iter();
            let mut tables = sections.filter(|section| section.kind == elf::SHT_SYMTAB);
            if tables.any(|table| table.link as usize == index) {
                strings.symbol = Some(dynamic::append_name(strings.contents.to_mut(), variable.name));
            }
            if usize::from(self.section_names()) == index {
                strings.section = Some(dynamic::append_name(strings.contents.to_mut(), VARIABLE_SECTION));
            }
        }
        let is_names = usize::from(self.section_names()) == index;
        if self.context.edit.keeps_code && is_names && !self.context.elf.sections[index].is_alloc() {
            strings.kept = Some(dynamic::append_name(strings.contents.to_mut(), KEPT_SECTION));
        }
        strings
    }

    /// The old number of the section that holds sections' names.
    fn section_names(&self) -> u16 {
        let header = self.bytes.read(0..HEADER_SIZE);
        u16::from_le_bytes([header[62], header[63]])
    }

    /// Writes the headers.
    fn finish(mut self, entry: u64, headers: Vec<ProgramHeader>) -> Vec<u8> {
        self.out.resize(self.out.len().next_multiple_of(8), 0);
        let section_headers = self.out.len() as u64;
        let number = |old: u32| self.numbers.get(old as usize).copied().flatten().unwrap_or(0);
        let mut count = 0u16;
        let mut table = Vec::new();
        for (index, section) in self.sections.iter().enumerate() {
            if self.numbers[index].is_none() {
                continue;
            }
            let mut section = section.clone();
            if index != 0 {
                section.link = number(section.link);
                if section.flags.contains(elf::SHF_INFO_LINK)
                    || matches!(section.kind, elf::SHT_RELA | elf::SHT_REL)
                {
                    section.info = number(section.info);
                }
            }
            section.write(&mut table);
            count += 1;
        }
        if let Some(segment) = self.variable_segment() {
            let names = usize::from(self.section_names());
            let section = Section {
                name: VARIABLE_SECTION.to_owned(),
                name_offset: self
                    .context
                    .elf
                    .sections
                    .get(names)
                    .map_or(0, |_| self.strings(names).section.unwrap_or(0)),
                kind: elf::SHT_NOBITS,
                flags: elf::SHF_ALLOC | elf::SHF_WRITE,
                address: segment.address,
                offset: segment.offset,
                size: segment.memory_size,
                link: 0,
                info: 0,
                align: PAGE,
                entry_size: 0,
            };
            section.write(&mut table);
            count += 1;
        }
        if self.context.edit.keeps_code {
            let names = usize::from(self.section_names());
            let has_names = names < self.context.elf.sections.len();
            let section = Section {
                name: KEPT_SECTION.to_owned(),
                name_offset: if has_names { self.strings(names).kept.unwrap_or(0) } else { 0 },
                offset: self.kept_offset,
                ..self.context.text_section().clone()
            };
            section.write(&mut table);
            count += 1;
        }
        self.out.extend(table);

        let mut header: [u8; HEADER_SIZE] =
            (&*self.bytes.read(0..HEADER_SIZE)).try_into().expect("the size of a slice");
        let names = u32::from(self.section_names());
        header[24..32].copy_from_slice(&entry.to_le_bytes());
        header[32..40].copy_from_slice(&self.table.to_le_bytes());
        header[40..48].copy_from_slice(&section_headers.to_le_bytes());
        header[56..58].copy_from_slice(&(headers.len() as u16).to_le_bytes());
        header[60..62].copy_from_slice(&count.to_le_bytes());
        header[62..64].copy_from_slice(&(number(names) as u16).to_le_bytes());
        self.out[..HEADER_SIZE].copy_from_slice(&header);
        let mut table = Vec::new();
        for header in &headers {
            header.write(&mut table);
        }
        let start = self.table as usize;
        self.out[start..start + table.len()].copy_from_slice(&table);
        self.out
    }
}

/// Section number of symbols whose section is left out, until they are left out as well. Reserved by ELF and
/// used by nothing on this target.
const REMOVED: elf::SymbolSection = elf::SymbolSection(0xff3f);

/// The symbols that stay, and how many of them are local.
fn kept_symbols(table: &[u8], locals: u32) -> (Vec<u8>, u32) {
    let mut kept = Vec::with_capacity(table.len());
    let mut kept_locals = 0;
    for (index, symbol) in table.chunks_exact(SYMBOL_SIZE).enumerate() {
        if u16::from_le_bytes([symbol[6], symbol[7]]) != REMOVED.0 {
            kept.extend(symbol);
            kept_locals += u32::from((index as u32) < locals);
        }
    }
    (kept, kept_locals)
}

fn loads<'a>(context: &'a Context<'_>) -> impl Iterator<Item = &'a ProgramHeader> {
    context.elf.program_headers.iter().filter(|header| header.kind == elf::PT_LOAD)
}

/// Whether a segment holds a section, zero-filled parts included.
fn holds(segment: &ProgramHeader, section: &Section) -> bool {
    section.is_alloc()
        && segment.address <= section.address
        && section.memory().end <= segment.memory().end
        // An empty section on a border belongs to the segment whose file contents it touches.
        && (section.size != 0 || section.address < segment.memory().end || segment.memory_size == 0)
}

/// Whether a segment holds a section whose contents the file has.
fn holds_contents(segment: &ProgramHeader, section: &Section) -> bool {
    holds(segment, section) && section.memory().end <= segment.address + segment.file_size
}

/// Whether a segment holds another one.
fn holds_header(segment: &ProgramHeader, inner: &ProgramHeader) -> bool {
    segment.address <= inner.address && inner.memory().end <= segment.memory().end
}

/// Sections that tell of old code addresses are left out, if they have no new contents and the code object
/// runs without them.
fn is_kept(context: &Context<'_>, debug: &[DebugSection], index: usize) -> bool {
    let section = &context.elf.sections[index];
    let describes_text = section.flags.contains(elf::SHF_LINK_ORDER) && section.link as usize == context.text;
    section.is_alloc()
        || debug.iter().any(|new| new.section == index)
        || !(section.name.starts_with(".debug_")
            || section.name.starts_with(".zdebug_")
            || matches!(section.kind, elf::SHT_RELA | elf::SHT_REL)
            || describes_text)
}
