//! LLVM IR as text, read and written as far as the link step needs.

pub(crate) mod functions;
pub(crate) mod text;
pub(crate) mod tokens;
