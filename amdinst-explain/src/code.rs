//! The code that faulted.

use amdgpu_object::CodeObject;
use amdinst_core::panics;

/// Facts about the code that faulted.
pub struct Code<'a> {
    /// The code object, as compilers made it, if there is one.
    pub object: Option<&'a CodeObject>,
    /// Makes an address of the code object that ran one of `object`: none of an instruction that was
    /// inserted.
    pub original_pc: &'a dyn Fn(u64) -> Option<u64>,
    /// The workspace's directory: files in there are named from there.
    pub root: Option<&'a str>,
    /// Reads a source file by its name.
    pub source: &'a dyn Fn(&str) -> Option<String>,
    /// The kernel's explicit arguments, to name the buffer that an access went astray from. Empty if they are
    /// not known.
    pub kernarg: &'a [u8],
    /// The parameter of the source that each of them is of. Empty if they are not known.
    pub parameters: &'a [String],
    /// The messages of its waves' panics, if the code was built to leave them.
    pub panics: &'a [panics::Panic],
}
