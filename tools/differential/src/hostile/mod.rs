//! Damaged code objects on the whole path: container, code object, plan, rewriting, verification, launch.
//!
//! A file that a mutator made ([`mutate`]) must be refused, or go all the way ([`check::whole_path`]): what
//! is written can be read, and launches agree with one another in all that makes no difference to a kernel.
//! The fuzz target `whole_path`, a test and the program `mutants` share both.

pub mod check;
pub mod launch;
pub mod launches;
pub mod mutate;
