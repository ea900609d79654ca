//! The manifest of a package's built code objects: `target/amdinst/<package>/manifest.json`.
//!
//! It is written by the build and read by the harness, which finds it through `AMDINST_MANIFEST`, else under
//! the target directory of the running test. Paths are relative to the manifest's directory, so that the tree
//! can be moved (a CI artifact, a container).
//!
//! The files are `<cpu>/<profile>/<name>.elf` (original), `<name>.inst.<home>.elf` (instrumented) and
//! `….probes.json` (probe map). The manifest names them all and the inputs that they were made from.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::probes::Home;
use crate::schema;

/// The version of the manifest's JSON.
pub const SCHEMA: u32 = 1;

/// The section of a code object that tells which functions have no code, and why: a line each.
pub const REFUSED_SECTION: &str = ".amdinst.refused";

/// The results of one package's build.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The cargo package.
    pub package: String,
    /// Its code objects, one a processor, in the order they were asked for.
    pub code_objects: Vec<Artifact>,
}

/// A document that cannot be read as a [`Manifest`].
#[derive(Debug, Error)]
pub enum ManifestError {
    /// The document has another version of the schema.
    #[error("it has schema {found}, and this version reads schema {SCHEMA}")]
    Schema {
        /// The document's.
        found: u32,
    },
    /// The document is damaged, or is no manifest.
    #[error("it is no manifest of built kernels: {0}")]
    Damaged(#[from] serde_json::Error),
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// Another version, or no such document.
    // Inlined, so that its code is made in crates that call it: test programs do not, and are built more
    // often.
    #[inline]
    pub fn from_json(bytes: &[u8]) -> Result<Self, ManifestError> {
        schema::read(bytes, SCHEMA)?.map_err(|found| ManifestError::Schema { found })
    }
}

/// One code object and its instrumented forms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// Processor that it was built for (`gfx90a`).
    pub cpu: String,
    /// Cargo profile that it was built with (`release`).
    pub profile: String,
    /// The original code object.
    pub original: String,
    /// Names of its kernels.
    pub kernels: Vec<String>,
    /// Its instrumented forms; empty with `--no-instrument`.
    #[serde(default)]
    pub instrumented: Vec<Instrumented>,
    /// Its inputs: hashes of the original's inputs, by name. For the build's own freshness check.
    #[serde(default)]
    pub inputs: Vec<(String, String)>,
    /// The sources of the original: a launcher can tell whether it is older than they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// What a code object was built from, and how to build it again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Sources, `Cargo.toml` and the like, and the programs that built it.
    pub files: Vec<FileState>,
    /// The features of the package that were active, sorted.
    pub features: Vec<String>,
    /// The command that built it.
    pub command: String,
    /// What follows it to do so again.
    pub arguments: Vec<String>,
    /// Where it ran.
    pub directory: String,
}

/// A file as it was when the code object was built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// Its absolute path.
    pub path: String,
    /// Bytes in it.
    pub size: u64,
    /// When it was written, in nanoseconds since 1970.
    pub modified: u64,
    /// [`content_hash`](crate::report::run::content_hash) of a text; `None` for a program, which is told by
    /// size and time alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

/// An instrumented code object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instrumented {
    /// The counter home that was asked for; `None` is `auto`.
    #[serde(rename = "counter_storage", alias = "home")]
    pub home: Option<Home>,
    /// The instrumented code object; `None` when no kernel has a site or all were refused. The probe map
    /// tells why.
    pub file: Option<String>,
    /// Its probe map.
    pub probes: String,
}

impl Artifact {
    /// The instrumented form for a counter home (`None`: `auto`).
    pub fn instrumented(&self, home: Option<Home>) -> Option<&Instrumented> {
        self.instrumented.iter().find(|form| form.home == home)
    }
}
