//! Putting new code and new kernel properties into a code object.
//!
//! The new `.text` goes to fresh memory after the last segment, and so does the metadata note when it has
//! outgrown its place, and the tables of dynamic symbols when one is added. Nothing else moves, so that data,
//! GOT, symbol hashes and dynamic table stay right as they are; what points *at* code (symbols, dynamic
//! relocations, entry offsets of descriptors) is corrected.
//!
//! Debug information is written anew ([`DebugInfo`] says what became of it). Left out of the result, because
//! they tell of addresses of the old code: the relocations that `--emit-relocs` keeps. Not found, hence
//! corrected only as the edit says: distances between code and data that the linker computed and stored in
//! data (relative virtual tables, tables of jumps). Distances computed in code are the business of whoever
//! wrote the new code.
//!
//! The new `.text` has a page of its own, whatever its length, so its address is known before code is
//! emitted. A note that moves makes room for the program header that it needs. The result must be accepted
//! both by `goblin` and by our own reader ([`verify`](mod@crate::verify)), or it is an error.

mod attach;
mod corrected;
mod debug;
mod dynamic;
mod fixups;
mod image;
mod metadata;

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::elf::Elf;
pub use super::metadata::MetadataEdit;
use super::verify::{VerifyError, check, verify_owned};
pub use debug::DebugInfo;

use super::{Bytes, CodeObject, KEPT_REACH, KernelDescriptor, ObjectError};

/// Granule of memory protection, to which the new code is aligned.
const PAGE: u64 = 4096;

/// What to change in a code object.
pub struct Edit<'a> {
    /// The new contents of `.text`.
    pub text: Cow<'a, [u8]>,
    /// The old code also stays where it was, for code that goes on to run there. The address map leaves its
    /// addresses as they were. Not in code object version 2.
    pub keeps_code: bool,
    /// New properties of kernels. Those not named here keep theirs.
    pub kernels: Vec<KernelEdit>,
    /// A variable to add.
    pub variable: Option<NewVariable<'a>>,
    /// A section to add that is not loaded.
    pub section: Option<NewSection<'a>>,
    /// Dwords of initialized memory outside of `.text` that become others, by address.
    pub data: BTreeMap<u64, u32>,
}

/// A section that is not loaded. It takes the place of one that has its name and its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSection<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its contents.
    pub contents: &'a [u8],
}

/// A variable of the device, which launchers find by its symbol (`hipModuleGetGlobal`,
/// `hsa_executable_get_symbol_by_name`). It stands in writable memory of its own, zeroed when the code object
/// is loaded, at [`variable_address`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewVariable<'a> {
    /// The symbol's name, in `.dynsym` with its hash tables, and in `.symtab`.
    pub name: &'a str,
    /// Bytes of the variable.
    pub size: u64,
    /// Where in the memory it begins.
    pub offset: u64,
    /// Bytes of the memory.
    pub memory: u64,
}

/// What an old address stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// The instruction that starts there.
    Start,
    /// One past the last instruction of a function.
    End,
}

/// New properties of one kernel.
#[derive(Clone, Debug)]
pub struct KernelEdit {
    /// Its name as in [`super::Kernel::name`].
    pub kernel: String,
    /// Its new descriptor. The entry offset is set by the rewriter.
    pub descriptor: KernelDescriptor,
    /// What changes in its metadata. Ignored if the code object has no metadata for it.
    pub metadata: MetadataEdit,
}

/// Why a code object could not be rewritten.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// The original cannot be read (its bytes were changed after it was parsed).
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// The new code has no place for something that points into the old code.
    #[error(
        "{what} points at {address:#x} in .text, which is no instruction that was carried over: leave this code object uninstrumented"
    )]
    Unmapped {
        /// Symbol, relocation or kernel.
        what: String,
        /// Where it points.
        address: u64,
    },
    /// An edit of a kernel that is not there.
    #[error("there is no kernel `{kernel}` to edit: give one of the code object's kernels")]
    UnknownKernel {
        /// The name asked for.
        kernel: String,
    },
    /// A new entry point that the hardware cannot start at.
    #[error("kernel `{kernel}`: its new entry point {entry:#x} is not aligned to 256 bytes: align it")]
    EntryMisaligned {
        /// The kernel.
        kernel: String,
        /// Its new entry point.
        entry: u64,
    },
    /// An edit whose descriptor and metadata contradict each other.
    #[error(
        "kernel `{kernel}`: the edit's descriptor has {field} {descriptor}, its metadata {metadata}: make them agree"
    )]
    Disagree {
        /// The kernel.
        kernel: String,
        /// Which property.
        field: &'static str,
        /// The descriptor's value.
        descriptor: u32,
        /// The metadata's value.
        metadata: u32,
    },
    /// Something in the file that cannot be carried over.
    #[error("{what} is not supported by the rewriter: {advice}")]
    Unsupported {
        /// The obstacle.
        what: String,
        /// What to do.
        advice: &'static str,
    },
    /// The program header table cannot grow.
    #[error(
        "no room for {needed} program headers, there is room for {room}: link with ld.lld, which puts the note section after them"
    )]
    NoRoom {
        /// How many are needed.
        needed: usize,
        /// How many fit.
        room: usize,
    },
    /// The original contradicts itself.
    #[error("{0}; the file is damaged: build or copy it again")]
    Damaged(VerifyError),
    /// The result does not hold up: a defect of the rewriter.
    #[error("the rewritten code object is inconsistent: {0}")]
    Inconsistent(#[from] VerifyError),
}

/// Where the new `.text` will stand: page-aligned, and the same for every length of it.
pub fn text_address(object: &CodeObject) -> u64 {
    // Segments are in order of address, and parsing has bounded their span far below overflow.
    let end = object.segments.last().map_or(0, |segment| segment.address + segment.size);
    end.next_multiple_of(PAGE)
}

/// Where the memory of a new variable will stand, behind the new `.text` of that length.
pub fn variable_address(text_address: u64, text_length: u64) -> u64 {
    (text_address + text_length).next_multiple_of(PAGE)
}

/// A code object with an edit applied.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The whole ELF file.
    pub bytes: Bytes,
    /// What became of its debug information.
    pub debug_info: DebugInfo,
}

/// The code object with the edit applied. The same input gives the same bytes. `address_map` maps the virtual
/// address of an old instruction, or of the end of an old function, to the new one. It gives `None` for other
/// addresses.
///
/// # Errors
/// [`RewriteError`]; the original is never changed.
pub fn rewrite(
    object: &CodeObject,
    edit: &Edit<'_>,
    address_map: impl Fn(u64, Edge) -> Option<u64>,
) -> Result<Rewritten, RewriteError> {
    let elf = Elf::read(&object.bytes)?;
    check(object).map_err(RewriteError::Damaged)?;
    let text = text_section(&elf)?;
    if let Some(section) = elf.sections.iter().find(|section| section.kind == object::elf::SHT_SYMTAB_SHNDX) {
        return Err(RewriteError::Unsupported {
            what: format!("section {} (more than 65279 sections)", section.name),
            advice: "link without --emit-relocs and without a section for each function",
        });
    }
    let mut bytes = corrected::Corrected::new(&object.bytes);
    // The first edit of a kernel counts.
    let kernels = edit.kernels.iter().rev().map(|edit| (edit.kernel.as_str(), edit)).collect();
    let mut context = fixups::Context {
        object,
        elf: &elf,
        text,
        edit,
        address_map: &address_map,
        kernels,
        text_address: text_address(object),
    };
    let with_headers;
    let is_far = context.text_address - object.text.address > KEPT_REACH;
    if edit.keeps_code && (object.version == 2 || object.kept.is_some() || is_far) {
        return Err(RewriteError::Unsupported {
            what: "code that stays where it was, in a code object of version 2, a rewritten or a huge one,"
                .to_owned(),
            advice: "leave this code object uninstrumented",
        });
    }
    if object.version == 2 {
        let text = fixups::text_with_headers(&context)?;
        with_headers = Edit {
            text: text.into(),
            keeps_code: false,
            kernels: edit.kernels.clone(),
            variable: edit.variable.clone(),
            section: None,
            data: edit.data.clone(),
        };
        context.edit = &with_headers;
    }
    let entry = fixups::apply(&context, &mut bytes)?;
    let note = metadata::edit(&context)?;
    let (debug_info, debug) = debug::relocated(&context, &address_map);
    let mut bytes = image::build(&context, bytes, entry, note, &debug)?;
    if let Some(section) = &edit.section {
        attach::attach(&mut bytes, section).map_err(VerifyError::from)?;
    }
    let CodeObject { bytes, .. } = verify_owned(bytes)?;
    Ok(Rewritten { bytes, debug_info })
}

fn text_section(elf: &Elf) -> Result<usize, ObjectError> {
    let missing = || ObjectError::malformed("section header table", 0, "there is no .text section");
    elf.section(".text").map(|(index, _)| index).ok_or_else(missing)
}

/// A changed note: the section that holds it and that section's new contents.
struct NewNote {
    section: usize,
    contents: Vec<u8>,
}
