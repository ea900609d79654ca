//! What every command works in.

use crate::cli::GlobalArgs;
use crate::shell::Shell;

/// What every command works in.
#[derive(Debug)]
pub struct Context {
    /// Where progress and errors are told.
    pub shell: Shell,
}

impl Context {
    /// A context as the global options ask for it.
    pub fn new(args: &GlobalArgs) -> Self {
        Self { shell: Shell::new(args) }
    }
}
