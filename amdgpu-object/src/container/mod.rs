//! Finding the code objects in a file: a code object itself, a container of some, or a file that has some
//! anywhere in it.

mod archive;
mod bundle;
mod compressed;
mod host;
mod offloading;
mod overlay;
mod pieces;
mod raw;
mod replace;
mod windows;
mod zip;

pub use pieces::Pieces;
pub use replace::{replace, replaceable};
pub use zip::odd_names;

use std::ops::{Deref, Range};

use super::inflate::Allowance;
use super::{Bytes, ObjectError, elf::Elf, target};

/// A code object found in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embedded<'a> {
    /// Its target: the bundle entry's id (`hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-`), or for a bare code
    /// object the same without the offload kind (`amdgcn-amd-amdhsa--gfx90a:xnack-`).
    pub target: String,
    /// Its place among the code objects of the file, from 0.
    pub index: usize,
    /// Where it stands in the input. For a compressed bundle: where that bundle stands.
    pub range: Range<usize>,
    /// The container that it was found in.
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
        // The environment part of the triple is empty in practice, which leaves two dashes before the
        // processor. Feature signs are dashes too, but only at the end of a word.
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
    /// One of LLVM's offload binaries.
    Offloading,
    /// A file in which it stands as it is.
    Raw,
}

/// Why no code object can be had from a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContainerError {
    /// An ELF file for AMDGPU that is no linked code object, or bytes that are no known container.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// A host program or an archive without GPU code.
    #[error(
        "a file without GPU code (no .hip_fatbin or .llvm.offloading section, and no code object anywhere in it): give the program or library that was linked from HIP sources"
    )]
    NoGpuCode,
    /// GPU code that is not compiled yet.
    #[error(
        "its GPU code is LLVM bitcode ({}), which becomes machine code when the program is linked: give the linked program or library",
        targets.join(", ")
    )]
    Bitcode {
        /// The processors that it is for.
        targets: Vec<String>,
    },
    /// The problem of a file in an archive.
    #[error("its member `{name}`: {error}")]
    Member {
        /// The file's name there.
        name: String,
        /// Its problem.
        error: Box<ContainerError>,
    },
    /// An archive that cannot be read.
    #[error("the archive is damaged: {problem}; build or copy it again")]
    Archive {
        /// The problem.
        problem: String,
    },
    /// A bundle or an offload binary that is cut short or inconsistent.
    #[error("GPU code at file offset {at:#x}: {problem}; the file is damaged: build or copy it again")]
    Damaged {
        /// Where the bundle starts in the file.
        at: usize,
        /// The problem.
        problem: String,
    },
    /// A compressed bundle or member that is damaged, or unpacks to more than it may ([`open_within`]).
    #[error("the compressed data at file offset {at:#x} cannot be unpacked: {problem}")]
    Packed {
        /// Where the bundle starts in the file.
        at: usize,
        /// The problem.
        problem: String,
    },
    /// A container of a kind or version that is not known.
    #[error(
        "GPU code at file offset {at:#x}: {what} is not supported; take it out with LLVM's `clang-offload-bundler` or `llvm-offload-binary` first"
    )]
    Unsupported {
        /// Where the bundle starts in the file.
        at: usize,
        /// The unsupported feature.
        what: String,
    },
    /// Code objects that cannot be replaced where they stand.
    #[error("code objects cannot be replaced in {kind}: take one with --object N, and without --whole")]
    InPlace {
        /// The kind of file.
        kind: &'static str,
    },
    /// A host file whose bundles cannot be moved.
    #[error(
        "the bundles of this host file cannot be replaced by larger ones: {problem}; take one with --object N, and without --whole"
    )]
    Immovable {
        /// The obstacle.
        problem: String,
    },
    /// Bundles, but none with an AMDGPU code object.
    #[error("no AMDGPU code object among the bundled targets ({}): give a file built for an AMD GPU", targets.join(", "))]
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
/// The file may be:
///
/// - a linked code object;
/// - offload bundles (`__CLANG_OFFLOAD_BUNDLE__`, or compressed, `CCOB`), one or several;
/// - LLVM's offload binaries;
/// - a host program, library or object with either of these in `.hip_fatbin` or `.llvm.offloading`;
/// - an archive of libraries (`.a`) or of Python (`.whl`, `.zip`) with any of these;
/// - any other file that contains linked code objects as they are.
///
/// Host entries of bundles are left out. Only the headers of the code objects are read;
/// [`super::CodeObject::parse`] reads the rest.
///
/// # Errors
/// [`ContainerError`]; never an empty list.
pub fn open(bytes: &[u8]) -> Result<Vec<Embedded<'_>>, ContainerError> {
    open_within(bytes, UNPACKED_LIMIT)
}

/// The most bytes that the compressed parts of a file may unpack to, unless another limit is given.
pub const UNPACKED_LIMIT: u64 = 1 << 30;

/// As [`open`], of a file whose compressed parts may unpack to `limit` bytes in all.
///
/// # Errors
/// As [`open`].
pub fn open_within(bytes: &[u8], limit: u64) -> Result<Vec<Embedded<'_>>, ContainerError> {
    let mut search = Search {
        allowance: Allowance::new(limit),
        found: Vec::new(),
        others: Vec::new(),
        bitcode: Vec::new(),
    };
    search.file(&Source::InFile(bytes, 0..bytes.len()), 0)?;
    let Search { found, others, bitcode, .. } = search;
    match found.is_empty() {
        false => Ok(found),
        true if !others.is_empty() => Err(ContainerError::NoCodeObject { targets: others }),
        true if !bitcode.is_empty() => Err(ContainerError::Bitcode { targets: bitcode }),
        true => Err(ContainerError::NoGpuCode),
    }
}

/// How Windows' programs and libraries begin (`MZ`, of MS-DOS).
const WINDOWS: &[u8] = b"MZ";

/// Files inside files that are looked into, at most: a library in an archive in an archive.
const DEPTH: usize = 3;

/// Bytes that are looked through.
enum Source<'a> {
    /// The file, or a part of it that is a file of its own.
    InFile(&'a [u8], Range<usize>),
    /// The bytes unpacked from a part of it.
    Unpacked(Bytes, Range<usize>),
}

impl<'a> Source<'a> {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::InFile(bytes, part) => &bytes[part.clone()],
            Self::Unpacked(bytes, _) => bytes,
        }
    }

    /// The bytes of a range, which is inside.
    fn code(&self, range: Range<usize>) -> Option<Code<'a>> {
        match self {
            Self::InFile(bytes, _) => bytes.get(self.place(range)).map(Code::InFile),
            Self::Unpacked(bytes, _) => bytes.part(range).map(Code::Unpacked),
        }
    }

    /// Where a range stands in the file; for one of unpacked bytes, where they stand packed.
    fn place(&self, range: Range<usize>) -> Range<usize> {
        match self {
            Self::Unpacked(_, packed) => packed.clone(),
            Self::InFile(_, part) => part.start + range.start..part.start + range.end,
        }
    }

    /// A part as a file of its own.
    fn part(&self, range: Range<usize>) -> Option<Self> {
        Some(match self {
            Self::InFile(bytes, _) => Self::InFile(bytes, self.place(range)),
            Self::Unpacked(bytes, packed) => Self::Unpacked(bytes.part(range)?, packed.clone()),
        })
    }
}

/// What has been found so far.
struct Search<'a> {
    allowance: Allowance,
    found: Vec<Embedded<'a>>,
    /// Targets of what is no code object for AMDGPU.
    others: Vec<String>,
    /// Processors of what is bitcode.
    bitcode: Vec<String>,
}

impl<'a> Search<'a> {
    /// Looks for the code objects of a file, which stands in `depth` others.
    fn file(&mut self, source: &Source<'a>, depth: usize) -> Result<(), ContainerError> {
        let bytes = source.bytes();
        let all = 0..bytes.len();
        if bundle::starts_here(bytes) || compressed::starts_here(bytes) {
            return self.bundles(source, all);
        }
        if offloading::starts_here(bytes) {
            return self.offload_binaries(source, all);
        }
        if archive::starts_here(bytes) {
            return archive::members(bytes)?.into_iter().try_for_each(|(name, range)| {
                let member = source.part(range);
                member.map_or(Ok(()), |member| self.member(&member, &name, depth))
            });
        }
        if zip::starts_here(bytes) {
            let mut archive = zip::Archive::read(bytes)?;
            for number in 0..archive.len() {
                let Some(member) = archive.member(number, &mut self.allowance)? else { continue };
                let unpacked = Source::Unpacked(member.bytes.into(), source.place(member.packed));
                self.member(&unpacked, &member.name, depth)?;
            }
            return Ok(());
        }
        match host::gpu_code(bytes)? {
            host::HostFile::Fatbin(range) => self.bundles(source, range),
            host::HostFile::Offloading(range) => self.offload_binaries(source, range),
            host::HostFile::Neither => self.raw(source),
            host::HostFile::NotHost => {
                let identity = Elf::read(bytes).and_then(|elf| target::identify(&elf, bytes));
                match identity {
                    Ok((id, _)) => {
                        let target = format!("amdgcn-amd-amdhsa--{id}");
                        let origin = if depth == 0 { Origin::CodeObject } else { Origin::Raw };
                        self.found(source, target, all, origin);
                        Ok(())
                    }
                    Err(error) => {
                        let known = self.found.len();
                        self.raw(source)?;
                        if self.found.len() == known { Err(error.into()) } else { Ok(()) }
                    }
                }
            }
        }
    }

    /// Looks into a file of an archive. That one has no GPU code, or is no file of a known kind, is no error.
    fn member(&mut self, source: &Source<'a>, name: &str, depth: usize) -> Result<(), ContainerError> {
        if depth == DEPTH {
            return Ok(());
        }
        match self.file(source, depth + 1) {
            Ok(()) | Err(ContainerError::NoGpuCode | ContainerError::Object(_)) => Ok(()),
            Err(error @ ContainerError::Packed { .. }) => Err(error),
            Err(error) => Err(ContainerError::Member { name: name.to_owned(), error: Box::new(error) }),
        }
    }

    /// Notes a code object that stands in a range.
    fn found(&mut self, source: &Source<'a>, target: String, range: Range<usize>, origin: Origin) {
        // The range was read from these bytes, so it is inside.
        let Some(bytes) = source.code(range.clone()) else { return };
        self.found.push(Embedded {
            target,
            index: self.found.len(),
            range: source.place(range),
            origin,
            bytes,
        });
    }

    /// The code objects of all bundles in a range.
    fn bundles(&mut self, source: &Source<'a>, range: Range<usize>) -> Result<(), ContainerError> {
        let mut at = range.start;
        while let Some(start) = next_bundle(&source.bytes()[..range.end], at) {
            at = start + self.bundle(source, start..range.end)?;
        }
        Ok(())
    }

    /// The code objects of the bundle at the start of a range, and its size.
    fn bundle(&mut self, source: &Source<'a>, range: Range<usize>) -> Result<usize, ContainerError> {
        let (start, bytes) = (range.start, &source.bytes()[range]);
        if !compressed::starts_here(bytes) {
            let inner = bundle::read(bytes, start)?;
            self.entries(source, start, inner.entries, Origin::Bundle);
            return Ok(inner.size);
        }
        let unpacked = compressed::unpack(bytes, start, &mut self.allowance)?;
        let inner = bundle::read(&unpacked.bytes, start)?;
        let packed = source.place(start..start + unpacked.size);
        self.entries(&Source::Unpacked(unpacked.bytes, packed), 0, inner.entries, Origin::CompressedBundle);
        Ok(unpacked.size)
    }

    /// Keeps the entries of a bundle that are AMDGPU code objects, and notes the targets of the others.
    fn entries(
        &mut self,
        source: &Source<'a>,
        start: usize,
        entries: Vec<bundle::BundleEntry>,
        origin: Origin,
    ) {
        for bundle::BundleEntry { id, range } in entries {
            let range = start + range.start..start + range.end;
            if source.bytes().get(range.clone()).is_some_and(|code| is_code_object(&id, code)) {
                self.found(source, id, range, origin);
            } else {
                self.others.push(id);
            }
        }
    }

    /// The images of all offload binaries in a range.
    fn offload_binaries(&mut self, source: &Source<'a>, range: Range<usize>) -> Result<(), ContainerError> {
        for image in offloading::read(source.bytes(), range)? {
            let target = format!("{}--{}", image.triple, image.processor);
            let code = source.bytes().get(image.range.clone());
            if code.is_some_and(|code| is_code_object(&target, code)) {
                self.found(source, target, image.range, Origin::Offloading);
            } else if image.is_bitcode {
                self.bitcode.push(image.processor);
            } else {
                self.others.push(target);
            }
        }
        Ok(())
    }

    /// Code objects and bundles that stand somewhere in the bytes: what begins like one and is none is passed
    /// over.
    fn raw(&mut self, source: &Source<'a>) -> Result<(), ContainerError> {
        let bytes = source.bytes();
        let others = self.others.len();
        let mut sizes = raw::Sizes::of(bytes);
        let mut end = 0;
        for start in raw::candidates(bytes) {
            if start < end {
                continue;
            }
            if self.found.len() == raw::MOST {
                return Err(ContainerError::damaged(
                    start,
                    format!("there are {} code objects before it", raw::MOST),
                ));
            }
            if bytes[start..].starts_with(raw::CODE_OBJECT) {
                let Some(size) = sizes.at(start)? else { continue };
                let code = &bytes[start..start + size];
                let target = match Elf::read(code).and_then(|elf| target::identify(&elf, code)) {
                    Ok((id, _)) => id.to_string(),
                    // It is told where code objects are read.
                    Err(ObjectError::Processor { name: Some(name), .. }) => name.to_owned(),
                    Err(ObjectError::Processor { name: None, mach, .. }) => format!("unknown-{mach:#04x}"),
                    Err(_) => continue,
                };
                end = start + size;
                self.found(source, format!("amdgcn-amd-amdhsa--{target}"), start..end, Origin::Raw);
            } else {
                match self.bundle(source, start..bytes.len()) {
                    Ok(size) => end = start + size,
                    Err(error @ ContainerError::Packed { .. }) => return Err(error),
                    Err(_) => {}
                }
            }
        }
        // A bundle without a code object, in the midst of other bytes, may be anything.
        self.others.truncate(others);
        Ok(())
    }
}

/// Whether a bundle entry is one that we work on.
fn is_code_object(target: &str, bytes: &[u8]) -> bool {
    ["amdgcn", "amdgpu"].iter().any(|name| target.contains(name)) && bytes.starts_with(b"\x7fELF")
}

/// Where the next bundle starts: bundles are padded to page boundaries with zeros.
fn next_bundle(bytes: &[u8], from: usize) -> Option<usize> {
    let skipped = bytes.get(from..)?.iter().position(|&byte| byte != 0)?;
    let start = from + skipped;
    let rest = &bytes[start..];
    if bundle::starts_here(rest) || compressed::starts_here(rest) {
        return Some(start);
    }
    // Something else between bundles (an entry's padding that is not zero): look at the following page
    // boundaries.
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
