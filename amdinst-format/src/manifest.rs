//! The manifest of a package's built code objects: `target/amdinst/<package>/manifest.json`.
//!
//! Written by the build, read by the harness. Paths are relative to the manifest's directory, so that the tree can be
//! moved (a CI artifact, a container).

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::probes::Home;
use crate::schema;

/// The version of the manifest's JSON.
pub const SCHEMA: u32 = 1;

/// What the build of one package made.
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
    /// It is of another version.
    #[error("it has schema {found}, and this version reads schema {SCHEMA}")]
    Schema {
        /// The document's.
        found: u32,
    },
    /// It is damaged, or something else.
    #[error("it is no manifest of built kernels: {0}")]
    Damaged(#[from] serde_json::Error),
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// Another version, or no such document.
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
    /// What it was made from: hashes of the original's inputs, by name. For the build's own freshness check.
    #[serde(default)]
    pub inputs: Vec<(String, String)>,
}

/// An instrumented code object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instrumented {
    /// The counter home that was asked for; `None` is `auto`.
    pub home: Option<Home>,
    /// The instrumented code object; `None` when no kernel has a site or all were refused. The probe map tells why.
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
