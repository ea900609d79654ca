//! The tests of this crate, in one program: linking one more takes longer than they run. Tables from LLVM are
//! under `tests/`.

mod effects;
mod gfx10;
mod gfx11;
mod gfx12;
mod gfx8;
mod opcodes;
mod operations;
mod processors;
mod properties;
mod rdna;
mod registers;
mod text;
