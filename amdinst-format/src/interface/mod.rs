//! What test programs and the runtime say to each other.
//!
//! The runtime (`amdinst-runtime`) is a shared library that the installed command brings: emulator, HIP
//! launches, and the comparison of counters. A test program loads it, asks for the symbol [`SYMBOL`], and
//! gets an [`Interface`]: a table of functions. Requests and answers are JSON of the types in this module;
//! buffers are copied as they are.
//!
//! The first field of the table is its version. What follows it may be read only if that is [`VERSION`].

mod checks;
mod embedded;
mod failure;
mod junit;
mod launch;
mod settings;
mod table;

use std::path::{Path, PathBuf};

pub use checks::Checks;
pub use embedded::{Embedded, EmbeddedCodeObject, EmbeddedForm};
pub use failure::{BufferDifference, LaunchFailure};
pub use junit::{JunitCase, JunitEnding, JunitSuite};
pub use launch::{
    Doubt, LaunchRequest, LaunchTiming, Launched, LineTime, Occupancy, Opened, Residency, TimingReport,
    Traffic,
};
pub use settings::{CounterChoice, DeviceChoice, Settings, SettingsError, allowed};
pub use table::{EmbeddedCode, EmbeddedKind, Entry, Interface, Owned, Slice};

/// The version of the table and of the messages. Any change of either that the other side could misread is a
/// new one.
pub const VERSION: u32 = 6;

/// The function of the shared library that gives the table: an [`Entry`].
pub const SYMBOL: &str = "amdinst_runtime_interface";

/// The file beside `cargo-amdinst` that is the runtime, as `cargo install` and release archives bring it.
pub const INSTALLED_FILE: &str = "amdinst-runtime";

/// The file of the same content that cargo leaves in a target directory.
pub const BUILT_FILE: &str = "libamdinst_runtime.so";

/// A variable that names the file of the runtime, before all other places.
pub const VARIABLE: &str = "AMDINST_RUNTIME";

/// Where the runtime may be, if the command is in `directory`: in a target directory, beside it, and where
/// packages of distributions put libraries.
pub fn places(directory: &Path) -> [PathBuf; 4] {
    [
        directory.join("deps").join(BUILT_FILE),
        directory.join(INSTALLED_FILE),
        directory.join(BUILT_FILE),
        directory.join("../lib/cargo-amdinst").join(BUILT_FILE),
    ]
}
