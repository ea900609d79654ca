//! The code object that a kernel's descriptor is in, as the runtime's loader put it into device memory: its
//! segments at their distances, the first one with the ELF header, the symbols that the dynamic section
//! names.

use std::ops::Range;

use amdinst_emu::Machine;

/// A code object in device memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Image {
    /// Device address of its address zero.
    pub(crate) start: u64,
    /// Device addresses of its executable segment.
    pub(crate) code: Option<Range<u64>>,
    /// Device address of the dynamic section.
    dynamic: Option<Range<u64>>,
}

/// Program headers that are read at most.
const MOST_HEADERS: u64 = 64;
/// Symbols that are read at most.
const MOST_SYMBOLS: u64 = 1 << 20;
/// Bytes of a symbol's name that are read at most.
const LONGEST_NAME: usize = 4096;

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const EXECUTABLE: u32 = 1;
const DT_HASH: u64 = 4;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;

impl Image {
    /// The image that begins where the allocation around `address` does; `None` if none does, as for the
    /// runtime's own kernels, which are bare code.
    pub(crate) fn around(machine: &Machine, address: u64) -> Option<Self> {
        let (start, size, _) = machine.allocation_around(address)?;
        let header: [u8; 64] = read(machine, start)?;
        if header[..6] != *b"\x7fELF\x02\x01" {
            return None;
        }
        let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().unwrap_or_default());
        let half = |at: usize| u64::from(u16::from_le_bytes([header[at], header[at + 1]]));
        let (table, entry, count) = (word(32), half(54), half(56).min(MOST_HEADERS));
        let mut image = Self { start, code: None, dynamic: None };
        for index in 0..count {
            let header: [u8; 56] = read(machine, start.checked_add(table)?.checked_add(index * entry)?)?;
            let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().unwrap_or_default());
            let (kind, flags) = (word(0) as u32, (word(0) >> 32) as u32);
            let (from, bytes) = (word(16), word(40));
            let range = from.checked_add(bytes).filter(|end| *end <= size);
            let range = range.map(|end| start + from..start + end);
            match kind {
                // Where a rewrite left code in place, there are two segments with some.
                PT_LOAD if flags & EXECUTABLE != 0 => {
                    image.code = match (image.code, range) {
                        (Some(one), Some(other)) => Some(one.start.min(other.start)..one.end.max(other.end)),
                        (one, other) => one.or(other),
                    }
                }
                PT_DYNAMIC => image.dynamic = range,
                _ => {}
            }
        }
        Some(image)
    }

    /// The name of the kernel whose descriptor is at a device address.
    pub(crate) fn kernel_name(&self, machine: &Machine, descriptor: u64) -> Option<String> {
        let value = descriptor - self.start;
        let name = self.symbols(machine)?.find(|symbol| symbol.value == value)?.name(machine)?;
        Some(name.strip_suffix(".kd").map_or(name.clone(), str::to_owned))
    }

    /// The device address of a symbol.
    pub(crate) fn symbol(&self, machine: &Machine, wanted: &str) -> Option<u64> {
        let is_it = |symbol: &Symbol| symbol.name(machine).is_some_and(|name| name == wanted);
        self.symbols(machine)?.find(is_it).map(|symbol| self.start + symbol.value)
    }

    /// The symbols of the dynamic section.
    fn symbols<'a>(&self, machine: &'a Machine) -> Option<impl Iterator<Item = Symbol> + use<'a>> {
        let (mut hash, mut strings, mut symbols) = (None, None, None);
        for at in self.dynamic.clone()?.step_by(16) {
            let entry: [u64; 2] = [word(machine, at)?, word(machine, at + 8)?];
            let place = self.start.checked_add(entry[1]);
            match entry[0] {
                0 => break,
                DT_HASH => hash = place,
                DT_STRTAB => strings = place,
                DT_SYMTAB => symbols = place,
                _ => {}
            }
        }
        let (hash, strings, symbols) = (hash?, strings?, symbols?);
        // `nchain` is the number of symbols.
        let count = u64::from(u32::from_le_bytes(read(machine, hash.checked_add(4)?)?)).min(MOST_SYMBOLS);
        Some((0..count).map_while(move |index| {
            let symbol: [u8; 24] = read(machine, symbols.checked_add(24 * index)?)?;
            let offset = u32::from_le_bytes(symbol[..4].try_into().unwrap_or_default());
            let value = u64::from_le_bytes(symbol[8..16].try_into().unwrap_or_default());
            Some(Symbol { name: strings.checked_add(u64::from(offset))?, value })
        }))
    }
}

/// A symbol: where its name stands, and its value.
struct Symbol {
    name: u64,
    value: u64,
}

impl Symbol {
    fn name(&self, machine: &Machine) -> Option<String> {
        text(machine, self.name)
    }
}

fn read<const N: usize>(machine: &Machine, address: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    machine.read(address, &mut bytes).ok().map(|()| bytes)
}

fn word(machine: &Machine, address: u64) -> Option<u64> {
    read(machine, address).map(u64::from_le_bytes)
}

/// A NUL-terminated string.
fn text(machine: &Machine, address: u64) -> Option<String> {
    let mut bytes = Vec::new();
    for at in address..address.checked_add(LONGEST_NAME as u64)? {
        match read::<1>(machine, at)? {
            [0] => break,
            [byte] => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok()
}
