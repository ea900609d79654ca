//! The runtime that the installed command brings, loaded once a process.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use amdinst_format::interface::{self, Entry, Interface, Owned, Slice, VARIABLE, VERSION};
use amdinst_format::report::Layout;
use libloading::Library;
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// Why there is no runtime, so no device. Each says what to do.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// The runtime is not beside the installed command, or no command is installed.
    #[error(
        "the runtime of cargo-amdinst is not found: no `{file}` beside `cargo-amdinst` in PATH\n  \
         run `cargo install cargo-amdinst`, or the tests through `cargo amdinst test`",
        file = interface::INSTALLED_FILE
    )]
    NotFound,
    /// The runtime cannot be loaded.
    #[error(
        "the runtime {} cannot be loaded: {message}\n  run `cargo install cargo-amdinst`, or unset {VARIABLE} if it names another file",
        path.display()
    )]
    Broken {
        /// Its file.
        path: PathBuf,
        /// The error of the system's loader.
        message: String,
    },
    /// The runtime belongs to another version of the harness.
    #[error(
        "the installed cargo-amdinst does not fit these tests: its runtime ({}) has interface {found}, \
         and amdinst-harness {harness} needs {VERSION}: {}",
        path.display(),
        what_to_do(*found, harness)
    )]
    OtherVersion {
        /// Its file.
        path: PathBuf,
        /// Its interface.
        found: u32,
        /// The version of this crate.
        harness: &'static str,
    },
}

fn what_to_do(found: u32, harness: &str) -> String {
    if found > VERSION {
        "run `cargo update -p amdinst-harness`, or raise its version in Cargo.toml".to_owned()
    } else {
        format!("run `cargo install cargo-amdinst --version {harness}`")
    }
}

/// The table of functions.
///
/// # Errors
/// No runtime, or one that does not fit.
pub(crate) fn interface() -> Result<&'static Interface, RuntimeError> {
    #[cfg(feature = "bundled")]
    {
        Ok(amdinst_runtime::interface())
    }
    #[cfg(not(feature = "bundled"))]
    {
        static LOADED: OnceLock<Result<&'static Interface, RuntimeError>> = OnceLock::new();
        LOADED.get_or_init(|| load(&find()?)).clone()
    }
}

#[cfg_attr(feature = "bundled", expect(dead_code, reason = "the runtime is inside"))]
fn load(path: &Path) -> Result<&'static Interface, RuntimeError> {
    let broken = |error: libloading::Error| {
        let mut message = error.to_string();
        // The loader names the file once more.
        if let Some(rest) = message.strip_prefix(&format!("{}: ", path.display())) {
            message = rest.to_owned();
        }
        RuntimeError::Broken { path: path.to_owned(), message }
    };
    // SAFETY: what runs when the library is loaded are its own initialisers, which need nothing.
    let library = unsafe { Library::new(path) }.map_err(broken)?;
    // It stays to the process's end, as what it hands out does.
    let library: &'static Library = Box::leak(Box::new(library));
    // SAFETY: the symbol of this name is a function of this type in every version.
    let table = unsafe {
        let entry = library.get::<Entry>(interface::SYMBOL).map_err(broken)?;
        entry()
    };
    // SAFETY: a table begins with its version in every version, and lives as long as the library.
    let found = unsafe { (&raw const (*table).version).read() };
    if found != VERSION {
        let harness = env!("CARGO_PKG_VERSION");
        return Err(RuntimeError::OtherVersion { path: path.to_owned(), found, harness });
    }
    // SAFETY: of this version, it is what this program knows; it lives as long as the library, which stays.
    Ok(unsafe { &*table })
}

/// The runtime's file: the one that is named, else beside the command.
#[cfg_attr(feature = "bundled", expect(dead_code, reason = "the runtime is inside"))]
fn find() -> Result<PathBuf, RuntimeError> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = variable(VARIABLE) {
        return Ok(path);
    }
    let command = variable("CARGO_AMDINST").and_then(|path| path.parent().map(Path::to_owned));
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Where PATH has a link to the command, the runtime is beside the command itself.
    let command_in = |directory: PathBuf| directory.join("cargo-amdinst").canonicalize().ok();
    let in_path = std::env::split_paths(&path).filter_map(command_in);
    let in_path = in_path.filter_map(|command| command.parent().map(Path::to_owned));
    let cargo = variable("CARGO_HOME").map(|home| home.join("bin"));
    let home = variable("HOME").map(|home| home.join(".cargo/bin"));
    let directories = command.into_iter().chain(in_path).chain(cargo).chain(home);
    let mut places = directories.flat_map(|directory| interface::places(&directory));
    places.find(|place| place.is_file()).ok_or(RuntimeError::NotFound)
}

/// An answer of the runtime, which is given back when dropped.
pub(crate) struct Answer {
    interface: &'static Interface,
    owned: Option<Owned>,
}

impl Answer {
    /// Of a function of `interface`.
    pub(crate) const fn new(interface: &'static Interface, owned: Owned) -> Self {
        Self { interface, owned: Some(owned) }
    }

    fn bytes(&self) -> &[u8] {
        match &self.owned {
            Some(owned) if !owned.data.is_null() => {
                // SAFETY: bytes of the runtime's, which it gets back when this is dropped.
                unsafe { std::slice::from_raw_parts(owned.data, owned.len) }
            }
            _ => &[],
        }
    }

    /// Nothing, or what went wrong.
    pub(crate) fn empty_or_text(&self) -> Result<(), String> {
        match self.bytes() {
            [] => Ok(()),
            text => Err(String::from_utf8_lossy(text).into_owned()),
        }
    }

    /// The value that the JSON says.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_slice(self.bytes())
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if let Some(owned) = self.owned.take() {
            // SAFETY: it is the runtime's, and given back once.
            unsafe { (self.interface.release)(owned) };
        }
    }
}

/// One table for each kernel, over all its launches, in order of the kernels' names.
pub(crate) fn summary(reports: &[impl Serialize], layout: &Layout) -> Result<String, String> {
    let interface = interface().map_err(|error| error.to_string())?;
    let json = |value: serde_json::Result<String>| value.map_err(|error| error.to_string());
    let (reports, layout) = (json(serde_json::to_string(reports))?, json(serde_json::to_string(layout))?);
    // SAFETY: texts that live through the call.
    let owned = unsafe { (interface.summary)(slice(&reports), slice(&layout)) };
    Answer::new(interface, owned).json::<Result<String, String>>().map_err(|error| error.to_string())?
}

/// Text for the runtime.
pub(crate) const fn slice(text: &str) -> Slice {
    Slice::new(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_runtime_is_named_once() {
        let path = std::env::current_exe().unwrap().with_file_name("Cargo.toml");
        let error = load(&path).unwrap_err().to_string();
        assert!(
            error.contains("cannot be loaded") && error.contains("cargo install cargo-amdinst"),
            "{error}"
        );
        assert_eq!(error.matches("Cargo.toml").count(), 1, "{error}");
    }

    #[test]
    fn the_version_is_all_that_is_read_of_another_table() {
        let directory = tempfile::tempdir().unwrap();
        let (source, library) = (directory.path().join("other.c"), directory.path().join("other.so"));
        std::fs::write(
            &source,
            "unsigned table = 99; void *amdinst_runtime_interface(void) { return &table; }",
        )
        .unwrap();
        let mut compiler = std::process::Command::new("cc");
        let compiled =
            compiler.args(["-shared", "-fPIC"]).arg(&source).arg("-o").arg(&library).status().unwrap();
        assert!(compiled.success());
        let error = load(&library).unwrap_err();
        assert!(matches!(error, RuntimeError::OtherVersion { found: 99, .. }), "{error}");
    }

    #[test]
    fn another_version_is_one_line_that_says_what_to_do() {
        let path = PathBuf::from("/x/amdinst-runtime");
        let harness = env!("CARGO_PKG_VERSION");
        let newer =
            RuntimeError::OtherVersion { path: path.clone(), found: VERSION + 1, harness }.to_string();
        assert!(
            newer.ends_with("run `cargo update -p amdinst-harness`, or raise its version in Cargo.toml"),
            "{newer}"
        );
        let older = RuntimeError::OtherVersion { path, found: VERSION - 1, harness }.to_string();
        assert!(
            older.ends_with(&format!("run `cargo install cargo-amdinst --version {harness}`")),
            "{older}"
        );
        assert_eq!(newer.lines().count() + older.lines().count(), 2);
    }
}
