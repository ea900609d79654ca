//! The language of `--arg`, `--print`, `--save` and `--expect`: one parser, one style of error.
//!
//! Each value reads itself by [`FromStr`](std::str::FromStr) and writes itself by
//! [`Display`](std::fmt::Display) in its shortest form; reading that gives the same value. `docs/src/run.md`
//! is the page for users, [`HELP`] the one of `--help`.

mod argument;
mod element;
mod error;
mod reader;
mod selector;
#[cfg(test)]
mod tests;
mod tolerance;

pub use argument::{ArgSpec, Argument, Elements, Size, is_npy};
pub use element::{Element, Scalar};
pub use error::SyntaxError;
pub use selector::{ElementAt, Expectation, FollowedBack, Save, Selector, Which};
pub use tolerance::Tolerance;

/// The page of `run --help`.
pub const HELP: &str = "\
Arguments, --arg [NAME=]VALUE, in the order of the kernel's own but for those with a name:
  TYPE:NUMBER        a number by value
  hex:DIGITS         a structure by value: its bytes in hexadecimal, in the order of memory
  bytes:FILE         a structure by value: the file's bytes
  TYPE[COUNT]        a zeroed buffer of elements, as f32[100]
  TYPE:[A,B,...]     a buffer of these elements, as f32:[1,2.5,-inf]
  iota:TYPE[COUNT][:START[:STEP]]
                     a buffer of START, START + STEP, ... (default: from 0 by 1)
  fill:TYPE[COUNT]:VALUE
                     a buffer of one value
  random:TYPE[COUNT][:LOW..HIGH][:seed=N]
                     a buffer of random values from LOW to below HIGH (default: floats 0..1, else
                     all values); one seed gives one result (default: the argument's number)
  FILE.npy           a buffer with the elements of a NumPy array
  in:FILE            a buffer with the file's bytes (of a .npy file: its elements)
  out:SIZE:FILE      a zeroed buffer, written to the file after the launch
  inout:FILE:FILE    a buffer with the first file's bytes, written to the second after the launch
  buf:SIZE           a zeroed buffer
  symbol:NAME        the address of a function or variable of a file given by --with
TYPE is u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32 or f64; SIZE is bytes or TYPE[COUNT].
Whole numbers may be 0x1f; sizes and counts may end in k, M or G (4k is 4096).
A file to write may be - for standard output, or end in .npy, and is an array then.

Results, of an argument by its number from 1 or its name:
  --print ARG[:TYPE][RANGE]                as 2:f32[16], out:u32[8..24], out[..4], out
  --save ARG=FILE                          as 2=out.npy
  --expect ARG[:TYPE][RANGE]=FILE[~TOL]    as 2:f32=ref.bin~1e-5; FILE is raw or .npy
RANGE is [COUNT], [FROM..TO], [FROM..] or [..TO] in elements.
TYPE is that of --arg, else of FILE.npy, else u8.
TOL is ABSOLUTE, RELATIVErel, ABSOLUTE+RELATIVErel or Nulp. Without it all bits must be equal;
with it a NaN equals every NaN, and -0.0 is 0.0. The exit code is 1 if a result differs.";
