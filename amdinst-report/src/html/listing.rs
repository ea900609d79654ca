//! The disassembly of a kernel with the source line of each instruction.

use amdinst_core::listing::Listing;
use amdinst_core::object::lines::SourceMap;
use amdinst_core::object::{CodeObject, Kernel};
use amdinst_core::report::is_library_file;

/// The code of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelListing {
    /// The kernel.
    pub kernel: String,
    /// The processor.
    pub cpu: String,
    /// In order of address.
    pub instructions: Vec<Instruction>,
}

/// A line of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instruction {
    /// Its address.
    pub pc: u64,
    /// As LLVM writes it.
    pub text: String,
    /// The file that it was compiled from, and the line: of the innermost frame outside of Rust's own library.
    pub source: Option<(String, u32)>,
}

impl KernelListing {
    /// Of a kernel of a code object; files are named from `root` if they are in there.
    pub fn new(object: &CodeObject, kernel: &Kernel, lines: &SourceMap, cpu: &str, root: &str) -> Self {
        let mut bytes = Vec::new();
        // A vector takes everything.
        let _ = Listing::new(object).write_range(kernel.code.clone(), &mut bytes);
        let text = String::from_utf8_lossy(&bytes);
        let instructions = text.lines().filter_map(|line| instruction(line, lines, root)).collect();
        Self { kernel: kernel.name.clone(), cpu: cpu.to_owned(), instructions }
    }
}

/// `<tab>text // address: bytes` is an instruction; labels and headings are not.
fn instruction(line: &str, lines: &SourceMap, root: &str) -> Option<Instruction> {
    let (text, address) = line.rsplit_once("// ")?;
    let (address, _) = address.split_once(':')?;
    let pc = u64::from_str_radix(address, 16).ok()?;
    let own = |file: &str| !file.is_empty() && !is_library_file(file);
    let frames = lines.frames(pc);
    let frame = frames.iter().find(|frame| own(&frame.file)).filter(|frame| frame.line != 0);
    let source = frame.map(|frame| {
        let file = frame.file.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
        (file.unwrap_or(&frame.file).to_owned(), frame.line)
    });
    Some(Instruction { pc, text: text.trim().to_owned(), source })
}
