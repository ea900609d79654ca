//! Code objects into programs: mapped into device memory, relocated, and decoded once. What a program needs
//! to know of a processor is looked up here.

mod lower;
mod memory_ops;
mod properties;
mod resident;
mod scalar_memory;

pub(crate) use lower::bare;
pub use resident::Resident;
pub(crate) use resident::{is_current, program as resident};

use std::sync::Arc;

use amdgpu_isa::{Arch, NotExecuted, Target, WaveSize};
use amdgpu_object::{CodeObject, Relocation, RelocationKind, Text};

use crate::memory::{Memory, MemoryError, Protection, Room};
use crate::program::Program;

/// Why a code object cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// Built for a processor whose code is not executed.
    #[error(transparent)]
    NotExecuted(#[from] NotExecuted),
    /// Built for another processor.
    #[error(
        "the code object is for {object}, the machine is a {machine}: build it for {machine}, or make the machine a {object}"
    )]
    WrongArch {
        /// The code object's processor.
        object: Arch,
        /// The machine's processor.
        machine: Arch,
    },
    /// Kernels of one code object that have waves of different sizes.
    #[error(
        "the code object has kernels for waves of 32 lanes (`{narrow}`) and of 64 (`{wide}`), which are not executed from one code object: build them apart"
    )]
    TwoWaveSizes {
        /// A kernel for 32 lanes.
        narrow: String,
        /// A kernel for 64 lanes.
        wide: String,
    },
    /// A relocation against a symbol that nothing defines.
    #[error("undefined symbol `{0}`: link the code object with its definition")]
    UndefinedSymbol(String),
    /// A relocation that the loader does not know.
    #[error("relocation type {kind:?} at {address:#x} is not supported in a loaded code object")]
    UnknownRelocation {
        /// Its type.
        kind: RelocationKind,
        /// The field's address.
        address: u64,
    },
    /// A segment, relocation or section that lies outside the file or the image.
    #[error("{what} at {address:#x} lies outside {outside}")]
    OutOfRange {
        /// Its kind.
        what: &'static str,
        /// Where.
        address: u64,
        /// The range that it should be inside.
        outside: &'static str,
    },
    /// Descriptor and metadata of a kernel say different things.
    #[error("kernel `{kernel}`: the code object is damaged: {problem}")]
    Contradiction {
        /// The kernel.
        kernel: String,
        /// Their contradiction.
        problem: String,
    },
    /// No room in device memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// Most bytes a loaded image may span.
const LARGEST_IMAGE: u64 = 4 << 30;
/// Alignment of the image: that of the largest page that a code object asks for.
const IMAGE_ALIGN: u64 = 0x1000;

/// Map the segments, apply the relocations, decode the text, and that of loaded programs beside it.
pub(crate) fn load_beside(
    arch: Arch,
    memory: &mut Memory,
    object: &CodeObject,
    others: &[Program],
) -> Result<Program, LoadError> {
    let (target, mapped, bias) = map(arch, memory, object)?;
    Ok(lower::program(target, object, mapped, bias, others))
}

/// As [`load_beside`], with nothing beside it; where `like` was loaded from the same text to the same
/// address, its decoded form serves again.
pub(crate) fn load_like(
    arch: Arch,
    memory: &mut Memory,
    object: &CodeObject,
    like: &Arc<Program>,
) -> Result<Arc<Program>, LoadError> {
    let (target, mapped, bias) = map(arch, memory, object)?;
    let is_same = (like.target, like.bias, like.text_address) == (target, bias, object.code_span().start)
        && like.text == mapped;
    if is_same { Ok(like.clone()) } else { Ok(Arc::new(lower::program(target, object, mapped, bias, &[]))) }
}

/// Map the segments and apply the relocations: the target, the code as mapped, and device address minus code
/// object address.
fn map(arch: Arch, memory: &mut Memory, object: &CodeObject) -> Result<(Target, Vec<u8>, u64), LoadError> {
    object.target.arch.to_execute()?;
    if !arch.runs(object.target.arch) {
        return Err(LoadError::WrongArch { object: object.target.arch, machine: arch });
    }
    let target = target(arch, object)?;
    let low = object.segments.iter().map(|segment| segment.address).min().unwrap_or(0) & !(IMAGE_ALIGN - 1);
    let mut high = low;
    for segment in &object.segments {
        let end = segment.address.checked_add(segment.size).filter(|end| end - low <= LARGEST_IMAGE).ok_or(
            LoadError::OutOfRange { what: "a segment", address: segment.address, outside: "a 4 GiB image" },
        )?;
        high = high.max(end);
    }
    // One span of addresses, so that the segments keep their distances; one allocation each, so that each
    // keeps its protection and the gaps between them stay unmapped.
    let base = memory.reserve(high - low, IMAGE_ALIGN)?;
    let bias = base.wrapping_sub(low);
    for segment in &object.segments {
        let kind = match (segment.executable, segment.writable) {
            (true, _) => "code",
            (false, true) => "data",
            (false, false) => "constants",
        };
        let label = format!("{kind} of the code object at {:#x}", segment.address);
        let outside =
            || LoadError::OutOfRange { what: "a segment", address: segment.address, outside: "the file" };
        let bytes = object.bytes.get(segment.range.clone()).ok_or_else(outside)?;
        if bytes.len() as u64 > segment.size {
            return Err(outside());
        }
        let address = segment.address.wrapping_add(bias);
        memory.place(address, segment.size, &label)?;
        memory.write(address, bytes)?;
    }
    for relocation in &object.relocations {
        relocate(memory, relocation, bias)?;
    }
    for segment in object.segments.iter().filter(|segment| !segment.writable) {
        memory.protect(segment.address.wrapping_add(bias), Protection::ReadOnly);
    }
    room_for_code(object)?;
    // The code as mapped: relocations may have changed it. What lies between two sections with code is never
    // looked at.
    let span = object.code_span();
    let mut mapped = vec![0; (span.end - span.start) as usize];
    for section in object.code().map(Text::memory) {
        let place = (section.start - span.start) as usize..(section.end - span.start) as usize;
        memory.read(section.start.wrapping_add(bias), &mut mapped[place])?;
    }
    Ok((target, mapped, bias))
}

/// The machine's processor, and the size of the waves of all kernels. Functions are code for either as the
/// kernels are.
fn target(arch: Arch, object: &CodeObject) -> Result<Target, LoadError> {
    let of = |wave| object.kernels.iter().find(|kernel| kernel.descriptor.wave_size(arch) == wave);
    match (of(WaveSize::Wave32), of(WaveSize::Wave64)) {
        (Some(narrow), Some(wide)) => {
            Err(LoadError::TwoWaveSizes { narrow: narrow.name.clone(), wide: wide.name.clone() })
        }
        (Some(_), None) => Ok(Target { arch, wave: WaveSize::Wave32 }),
        (None, Some(_)) => Ok(Target { arch, wave: WaveSize::Wave64 }),
        (None, None) => Ok(arch.into()),
    }
}

/// Bytes of code from which on it is asked whether there is memory for its decoded form.
const LARGE_CODE: u64 = 4 << 20;

/// Looks whether decoded code fits into memory: it takes many times what the code does.
fn room_for_code(object: &CodeObject) -> Result<(), LoadError> {
    let code: u64 = object.code().map(|section| section.range.len() as u64).sum();
    if code < LARGE_CODE {
        return Ok(());
    }
    let size = Program::DECODED * (code / 4);
    let available = Room::here().bytes();
    let no_room = MemoryError::NoRoom { size, before: code, available };
    if size > available { Err(no_room.into()) } else { Ok(()) }
}

/// The formulas of the AMDGPU user guide, "Relocation Records".
fn relocate(memory: &Memory, relocation: &Relocation, bias: u64) -> Result<(), LoadError> {
    let Relocation { address, kind, addend, symbol } = relocation;
    let place = address.wrapping_add(bias);
    let symbol = match symbol {
        Some((_, Some(value))) => value.wrapping_add(bias),
        Some((name, None)) => return Err(LoadError::UndefinedSymbol(name.clone())),
        None => 0,
    };
    let absolute = symbol.wrapping_add_signed(*addend);
    let relative = absolute.wrapping_sub(place);
    let (value, size) = match kind {
        RelocationKind::Abs64 => (absolute, 8),
        RelocationKind::Relative64 => (bias.wrapping_add_signed(*addend), 8),
        RelocationKind::Abs32 | RelocationKind::Abs32Lo => (absolute, 4),
        RelocationKind::Abs32Hi => (absolute >> 32, 4),
        RelocationKind::Rel64 => (relative, 8),
        RelocationKind::Rel32 | RelocationKind::Rel32Lo => (relative, 4),
        RelocationKind::Rel32Hi => (relative >> 32, 4),
        RelocationKind::Other(_) => {
            return Err(LoadError::UnknownRelocation { kind: *kind, address: *address });
        }
    };
    memory.write(place, &value.to_le_bytes()[..size]).map_err(|_| LoadError::OutOfRange {
        what: "a relocated field",
        address: *address,
        outside: "every segment",
    })
}
