//! The user's directory for what can be made again: `$XDG_CACHE_HOME/cargo-amdinst`, else
//! `~/.cache/cargo-amdinst`.

use std::env;
use std::path::PathBuf;

use crate::exit::{CommandResult, Exit, Failure};

/// The directory of this command in the user's cache; it need not be there yet.
///
/// # Errors
/// The environment names no absolute path.
pub(crate) fn directory() -> CommandResult<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let root = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    root.map(|root| root.join("cargo-amdinst")).ok_or_else(|| {
        Failure::msg(Exit::OutputFailed, "neither XDG_CACHE_HOME nor HOME is an absolute path")
    })
}
