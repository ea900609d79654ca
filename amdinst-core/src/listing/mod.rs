//! The disassembly of a code object, line for line as `llvm-objdump -d` prints that of its `.text` section,
//! and of the code that a rewriter left where it was ([`KEPT_SECTION`]).
//!
//! Equal are the labels (of every symbol kind), the instructions with their addresses and bytes, the targets
//! of branches, words that are no instruction, runs of zeros that are left out, and data symbols among the
//! code. One thing is not: a kernel descriptor inside `.text` is shown as bytes, like other data, not as
//! `.amdhsa_` directives, and so is the `amd_kernel_code_t` of code object version 2, which LLVM shows as an
//! error and single bytes.
//!
//! Where a processor has waves of two sizes, a kernel's code is shown for that of its descriptor, and a
//! function's for that of most kernels; LLVM shows all for waves of 32 lanes unless it is told otherwise
//! (`--mattr=+wavefrontsize64`).

mod data;
mod line;

use std::fmt::Write as _;
use std::io;
use std::ops::Range;

use amdgpu_isa::{Flow, Inst, Target, WaveSize};
use amdgpu_object::labels::{LabelledRange, Labels};
use amdgpu_object::{CodeObject, KEPT_SECTION};

/// The text is handed on when it has grown to this many bytes.
const CHUNK: usize = 1 << 16;

/// The text before the lines of instructions.
pub trait Annotate {
    /// Adds lines for the instruction at `address`, which `symbol` covers.
    fn before(&mut self, address: u64, symbol: &str, out: &mut String);
}

/// Nothing is added.
impl Annotate for () {
    fn before(&mut self, _address: u64, _symbol: &str, _out: &mut String) {}
}

/// A piece of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// A symbol begins.
    Label {
        /// Its address.
        address: u64,
        /// Its name.
        name: &'a str,
    },
    /// An instruction.
    Instruction {
        /// Its address.
        address: u64,
        /// Its bytes.
        bytes: &'a [u8],
        /// The instruction, as LLVM writes it.
        text: String,
        /// Where it branches to, if it names that.
        target: Option<u64>,
    },
    /// Bytes that are no instruction: data, zeros, words that no instruction begins with.
    Data {
        /// Address of the first.
        address: u64,
        /// The bytes.
        bytes: &'a [u8],
    },
}

/// What is listed under one label.
struct Place<'a> {
    label: LabelledRange<'a>,
    /// The addresses that are listed.
    range: Range<u64>,
    /// Where code begins among them, behind data.
    code: u64,
}

/// A code object's symbols, ready for its disassembly.
pub struct Listing<'a> {
    object: &'a CodeObject,
    symbols: Labels,
    /// The size of waves that functions are for.
    wave: WaveSize,
}

impl<'a> Listing<'a> {
    /// Sorts the symbols of a code object.
    pub fn new(object: &'a CodeObject) -> Self {
        Self { object, symbols: Labels::read(object), wave: object.code_target().wave }
    }

    /// What the code at an address is for.
    fn target_at(&self, address: u64) -> Target {
        let arch = self.object.target.arch;
        if let [only] = arch.generation().wave_sizes() {
            return Target { arch, wave: *only };
        }
        let kernel = self.object.kernels.iter().find(|kernel| kernel.code.contains(&address));
        Target { arch, wave: kernel.map_or(self.wave, |kernel| kernel.descriptor.wave_size(arch)) }
    }

    /// Writes the listing of all code, each section beginning with an empty line and its name.
    ///
    /// # Errors
    /// The error of writing to `out`.
    pub fn write(&self, out: &mut impl io::Write) -> io::Result<()> {
        self.write_range(self.object.code_span(), out)
    }

    /// Writes the listing as [`Self::write`] does, with the code at some addresses only. Data is left out.
    ///
    /// # Errors
    /// What writing to `out` gives.
    pub fn write_range(&self, range: Range<u64>, out: &mut impl io::Write) -> io::Result<()> {
        self.write_annotated(range, out, &mut ())
    }

    /// Writes the listing as [`Self::write_range`] does, with lines before those of instructions.
    ///
    /// # Errors
    /// What writing to `out` gives.
    pub fn write_annotated(
        &self,
        range: Range<u64>,
        out: &mut impl io::Write,
        annotate: &mut impl Annotate,
    ) -> io::Result<()> {
        let mut buffer = String::with_capacity(2 * CHUNK);
        for (name, section) in self.sections() {
            let met = section.start.max(range.start)..section.end.min(range.end);
            if met.is_empty() {
                continue;
            }
            let _ = writeln!(buffer, "\nDisassembly of section {name}:");
            for Place { label: LabelledRange { address, name, .. }, range: Range { start, end }, code } in
                self.places(&section, &met)
            {
                if start == address {
                    line::label(&mut buffer, address, name);
                }
                data::dump(&mut buffer, start, &self.bytes(start)[..(code - start) as usize]);
                let mut at = code;
                while at < end {
                    annotate.before(at, name, &mut buffer);
                    at += self.line(&mut buffer, at, end, self.bytes(at));
                    if buffer.len() >= CHUNK {
                        out.write_all(buffer.as_bytes())?;
                        buffer.clear();
                    }
                }
            }
        }
        out.write_all(buffer.as_bytes())
    }

    /// Shows the code at some addresses to `visit`, in the order of the listing.
    ///
    /// # Errors
    /// The error of `visit`.
    pub fn items<E>(
        &self,
        range: Range<u64>,
        mut visit: impl FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let sections = self.sections();
        let places = sections.iter().flat_map(|(_, section)| self.places(section, &range));
        for Place { label: LabelledRange { address, name, .. }, range: Range { start, end }, code } in places
        {
            if start == address {
                visit(Item::Label { address, name })?;
            }
            if code > start {
                visit(Item::Data { address: start, bytes: &self.bytes(start)[..(code - start) as usize] })?;
            }
            let mut at = code;
            while at < end {
                let here = self.bytes(at);
                let zeros = data::zeros_to_skip(&here[..(end - at) as usize]);
                let target = self.target_at(at);
                let item = match amdgpu_isa::decode_for_listing(target, here) {
                    _ if zeros > 0 => Item::Data { address: at, bytes: &here[..zeros] },
                    Ok(inst) => Item::Instruction {
                        address: at,
                        bytes: &here[..usize::from(inst.size)],
                        text: inst.text(target).to_string(),
                        target: target_of(&inst, at),
                    },
                    Err(_) => Item::Data { address: at, bytes: &here[..here.len().min(4)] },
                };
                let (Item::Instruction { bytes, .. } | Item::Data { bytes, .. }) = &item else { break };
                at += bytes.len() as u64;
                visit(item)?;
            }
        }
        Ok(())
    }

    /// The sections of code with their names, in order of their headers.
    fn sections(&self) -> Vec<(&'static str, Range<u64>)> {
        let kept = self.object.kept.iter().map(|kept| (KEPT_SECTION, kept.memory()));
        [(".text", self.object.text.memory())].into_iter().chain(kept).collect()
    }

    /// The places of a section of code that meet `range`.
    fn places(&self, section: &Range<u64>, range: &Range<u64>) -> impl Iterator<Item = Place<'_>> {
        let (section, range) = (section.clone(), range.clone());
        self.symbols.places(section.start).filter_map(move |label| {
            // Each place is listed from its own address, even when an instruction before it reached beyond
            // that.
            let start = label.address.max(range.start);
            let end = label.next.unwrap_or(section.end).min(range.end);
            let code = label.address.saturating_add(label.data_bytes);
            (start < end && section.contains(&start)).then(|| Place {
                label,
                range: start..end,
                code: code.clamp(start, end),
            })
        })
    }

    /// The bytes of code from an address on.
    fn bytes(&self, address: u64) -> &[u8] {
        self.object.code_at(address).unwrap_or_default()
    }

    /// Writes one line for what stands at `at`, and returns its size in bytes. `bytes` go on to the end of
    /// the section: an instruction may reach over `end`, where the next symbol stands, but zeros are left out
    /// only up to there.
    fn line(&self, out: &mut String, at: u64, end: u64, bytes: &[u8]) -> u64 {
        let zeros = data::zeros_to_skip(&bytes[..(end - at) as usize]);
        if zeros > 0 {
            out.push_str("\t\t...\n");
            return zeros as u64;
        }
        let target = self.target_at(at);
        match amdgpu_isa::decode_for_listing(target, bytes) {
            Ok(inst) => {
                let size = usize::from(inst.size);
                line::instruction(out, &inst, target, at, &bytes[..size], |target| {
                    self.symbols.target(target)
                });
                size as u64
            }
            Err(_) => data::line(out, at, bytes) as u64,
        }
    }
}

/// Where a branch at `pc` leads, if it names that.
fn target_of(inst: &Inst, pc: u64) -> Option<u64> {
    let offset = match inst.flow() {
        Flow::Branch { offset } | Flow::CondBranch { offset, .. } => offset,
        Flow::Call { offset } => offset?,
        _ => return None,
    };
    Some(pc.wrapping_add(inst.size.into()).wrapping_add_signed(offset.into()))
}
