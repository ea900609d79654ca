//! Reports of launches, from `amdinst_format`; and whether the blocks of a probe map are the code.

pub mod cover;

pub use amdinst_format::report::*;
