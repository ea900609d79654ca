//! From bytes to instructions and back, whatever the generation: no opcode stands in here.
//!
//! A generation (in `gcn`, `gfx10`) is a [`Model`](model::Model): formats, tables, and the rules that its
//! operands obey.
//! [`table`] derives everything that decoding and encoding ask for from it, once a processor. [`forms`] makes
//! the longer forms of short encodings, [`operand`] reads and writes operands, [`modifiers`] the other
//! fields; [`taken`] says which an opcode has.

pub(crate) mod decode;
mod encode;
pub(crate) mod format;
mod forms;
mod immediate;
pub(crate) mod model;
pub(crate) mod modifiers;
pub(crate) mod operand;
pub(crate) mod sdwa;
pub(crate) mod table;
pub(crate) mod taken;

pub use decode::{decode, decode_for_listing, significant_bytes};
pub use encode::{Words, assemble, assemble_legal, with_values};
