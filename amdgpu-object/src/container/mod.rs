//! Finding the code objects in a file: a code object itself, an offload bundle, or a host program that embeds them.

mod bundle;
mod compressed;
mod host;
mod overlay;
mod pieces;
mod replace;

pub use pieces::Pieces;
pub use replace::replace;

use std::ops::{Deref, Range};

use super::inflate::Allowance;
use super::{Bytes, ObjectError, elf::Elf, target};

/// A code object found in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embedded<'a> {
    /// Its target: the bundle entry's id (`hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-`), or for a bare code object the
    /// same without the offload kind (`amdgcn-amd-amdhsa--gfx90a:xnack-`).
    pub target: String,
    /// Its place among the code objects of the file, from 0.
    pub index: usize,
    /// Where it stands in the input. For a compressed bundle: where that bundle stands.
    pub range: Range<usize>,
    /// What it was found in.
    pub origin: Origin,
    /// The code object.
    pub bytes: Code<'a>,
}

/// The bytes of a code object in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code<'a> {
    /// They stand in the file.
    InFile(&'a [u8]),
    /// They were unpacked, and are shared with the others of their bundle.
    Unpacked(Bytes),
}

impl Deref for Code<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::InFile(bytes) => bytes,
            Self::Unpacked(bytes) => bytes,
        }
    }
}

impl Embedded<'_> {
    /// Processor and features: `gfx90a:xnack-`.
    pub fn target_id(&self) -> &str {
        // The environment part of the triple is empty in practice, which leaves two dashes before the processor. Feature
        // signs are dashes too, but only at the end of a word.
        match self.target.rfind("-gfx") {
            Some(dash) => &self.target[dash + 1..],
            None => &self.target,
        }
    }
}

/// What a code object was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The file is the code object.
    CodeObject,
    /// An offload bundle.
    Bundle,
    /// A compressed offload bundle.
    CompressedBundle,
}

/// Why no code object can be had from a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContainerError {
    /// An ELF file for AMDGPU that is no linked code object, or bytes that are no known container.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// A host program without GPU code.
    #[error(
        "an ELF file for the host without GPU code (no .hip_fatbin section): give the program or library that was linked from HIP sources"
    )]
    NoGpuCode,
    /// A bundle that is cut short or inconsistent.
    #[error("offload bundle at file offset {at:#x}: {problem}; the file is damaged: build or copy it again")]
    Damaged {
        /// Where the bundle starts in the file.
        at: usize,
        /// What is wrong.
        problem: String,
    },
    /// A compressed bundle that is damaged, or unpacks to more than it may ([`open_within`]).
    #[error("compressed offload bundle at file offset {at:#x} cannot be unpacked: {problem}")]
    Packed {
        /// Where the bundle starts in the file.
        at: usize,
        /// What is wrong.
        problem: String,
    },
    /// A compressed bundle of a kind that cannot be unpacked.
    #[error(
        "compressed offload bundle at file offset {at:#x}: {what} is not supported; unpack it with `clang-offload-bundler --unbundle` first"
    )]
    Unsupported {
        /// Where the bundle starts in the file.
        at: usize,
        /// What is not supported.
        what: String,
    },
    /// A host file whose bundles cannot be moved.
    #[error("the bundles of this host file cannot be replaced by larger ones: {problem}")]
    Immovable {
        /// What stands in the way.
        problem: String,
    },
    /// Bundles, but none with an AMDGPU code object.
    #[error("no AMDGPU code object among the bundled targets ({}): give a file built for a GFX9 processor", targets.join(", "))]
    NoCodeObject {
        /// The targets that are there.
        targets: Vec<String>,
    },
}

impl ContainerError {
    fn damaged(at: usize, problem: impl Into<String>) -> Self {
        Self::Damaged { at, problem: problem.into() }
    }
}

/// Every AMDGPU code object in a file, in the order in which they stand there.
///
/// Accepted are a linked code object, an offload bundle (`__CLANG_OFFLOAD_BUNDLE__`, or compressed, `CCOB`), several
/// of them one after another, and a host program or library that carries them in `.hip_fatbin`. Host entries of bundles
/// are left out. Only the headers of the code objects are read; [`super::CodeObject::parse`] reads the rest.
///
/// # Errors
/// [`ContainerError`]; never an empty list.
pub fn open(bytes: &[u8]) -> Result<Vec<Embedded<'_>>, ContainerError> {
    open_within(bytes, UNPACKED_LIMIT)
}

/// Bytes that the compressed bundles of a file may unpack to, unless another limit is given.
pub const UNPACKED_LIMIT: u64 = 1 << 30;

/// As [`open`], of a file whose compressed bundles may unpack to `limit` bytes in all.
///
/// # Errors
/// As [`open`].
pub fn open_within(bytes: &[u8], limit: u64) -> Result<Vec<Embedded<'_>>, ContainerError> {
    if bundle::starts_here(bytes) || compressed::starts_here(bytes) {
        return bundles(bytes, 0..bytes.len(), limit);
    }
    match host::fatbin(bytes)? {
        host::Contents::Fatbin(range) => bundles(bytes, range, limit),
        host::Contents::NoFatbin => Err(ContainerError::NoGpuCode),
        host::Contents::NotHost => {
            let elf = Elf::read(bytes)?;
            let (id, _) = target::identify(&elf, bytes)?;
            Ok(vec![Embedded {
                target: format!("amdgcn-amd-amdhsa--{id}"),
                index: 0,
                range: 0..bytes.len(),
                origin: Origin::CodeObject,
                bytes: Code::InFile(bytes),
            }])
        }
    }
}

/// The code objects of all bundles in a range of the file.
fn bundles(bytes: &[u8], range: Range<usize>, limit: u64) -> Result<Vec<Embedded<'_>>, ContainerError> {
    let mut allowance = Allowance::new(limit);
    let mut found = Vec::new();
    let mut others = Vec::new();
    let mut at = range.start;
    while let Some(start) = next_bundle(&bytes[..range.end], at) {
        if compressed::starts_here(&bytes[start..range.end]) {
            let unpacked = compressed::unpack(&bytes[start..range.end], start, &mut allowance)?;
            at = start + unpacked.size;
            let inner = bundle::read(&unpacked.bytes, start)?;
            for entry in inner.entries {
                // The table was read from these bytes, so each entry is inside.
                let Some(code) = unpacked.bytes.part(entry.range).map(Code::Unpacked) else { continue };
                add(&mut found, &mut others, entry.id, code, start..at, Origin::CompressedBundle);
            }
        } else {
            let inner = bundle::read(&bytes[start..range.end], start)?;
            at = start + inner.size;
            for entry in inner.entries {
                let place = start + entry.range.start..start + entry.range.end;
                let code = Code::InFile(&bytes[place.clone()]);
                add(&mut found, &mut others, entry.id, code, place, Origin::Bundle);
            }
        }
    }
    if found.is_empty() {
        return Err(ContainerError::NoCodeObject { targets: others });
    }
    Ok(found)
}

/// Keeps a bundle entry if it is an AMDGPU code object, else notes its target.
fn add<'a>(
    found: &mut Vec<Embedded<'a>>,
    others: &mut Vec<String>,
    target: String,
    bytes: Code<'a>,
    range: Range<usize>,
    origin: Origin,
) {
    if is_code_object(&target, &bytes) {
        found.push(Embedded { target, index: found.len(), range, origin, bytes });
    } else {
        others.push(target);
    }
}

/// Whether a bundle entry is one that we work on.
fn is_code_object(target: &str, bytes: &[u8]) -> bool {
    target.contains("amdgcn") && bytes.starts_with(b"\x7fELF")
}

/// Where the next bundle starts: bundles are padded to page boundaries with zeros.
fn next_bundle(bytes: &[u8], from: usize) -> Option<usize> {
    let skipped = bytes.get(from..)?.iter().position(|&byte| byte != 0)?;
    let start = from + skipped;
    let rest = &bytes[start..];
    if bundle::starts_here(rest) || compressed::starts_here(rest) {
        return Some(start);
    }
    // Something else between bundles (an entry's padding that is not zero): look at the following page boundaries.
    let mut at = start.next_multiple_of(ALIGNMENT);
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        if bundle::starts_here(rest) || compressed::starts_here(rest) {
            return Some(at);
        }
        at += ALIGNMENT;
    }
    None
}

/// Alignment that compilers give to bundles in `.hip_fatbin` (file offsets of that section are aligned too).
const ALIGNMENT: usize = 4096;
