//! Code objects: read, found in containers, mapped to source lines, rewritten. LLVM 22's tools are the
//! referee.

mod container;
mod debug_info;
mod descriptor;
mod hostile;
mod joined;
mod lines;
mod occupancy;
#[path = "../support/once.rs"]
mod once;
mod parse;
mod replace;
mod rewrite;
#[path = "../support/symbolized.rs"]
mod symbolized;
#[path = "../support/tools.rs"]
mod tools;
#[path = "../support/version2.rs"]
mod version2;
mod version_2;
