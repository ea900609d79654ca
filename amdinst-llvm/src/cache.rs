//! The user's directory for what can be made again: `$XDG_CACHE_HOME/cargo-amdinst`, else
//! `~/.cache/cargo-amdinst`.

use std::env;
use std::path::PathBuf;

/// The environment names no directory for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("neither XDG_CACHE_HOME nor HOME is an absolute path")]
pub struct NoDirectory;

/// The directory of this command in the user's cache; it need not be there yet.
///
/// # Errors
/// The environment names no absolute path.
pub fn directory() -> Result<PathBuf, NoDirectory> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let root = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    root.map(|root| root.join("cargo-amdinst")).ok_or(NoDirectory)
}
