//! The program as rustc hands it over, made one that LLVM compiles: bitcode mended, records read, entry
//! points and stack slots as they have to be.

pub(crate) mod entries;
pub(crate) mod formatting;
pub(crate) mod hidden;
pub(crate) mod records;
pub(crate) mod stack_slots;
pub(crate) mod used;
