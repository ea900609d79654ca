//! What `cargo-amdinst build --message-format json` prints: the part that matters here.

use std::path::PathBuf;

use serde::Deserialize;

/// One line.
#[derive(Debug, Deserialize)]
#[serde(tag = "reason")]
pub(crate) enum Message {
    /// A code object and its instrumented forms.
    #[serde(rename = "amdinst-artifact")]
    CodeObject(CodeObject),
    /// What cargo built.
    #[serde(rename = "compiler-artifact")]
    Artifact {
        /// The files.
        filenames: Vec<PathBuf>,
    },
    /// What cargo's compiler says.
    #[serde(rename = "compiler-message")]
    Diagnostic {
        /// The diagnostic.
        message: Diagnostic,
    },
    /// Anything else.
    #[serde(other)]
    Other,
}

/// A diagnostic of rustc.
#[derive(Debug, Deserialize)]
pub(crate) struct Diagnostic {
    /// The message as people read it.
    pub(crate) rendered: Option<String>,
}

/// A code object that was built.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct CodeObject {
    /// The package.
    pub(crate) package: String,
    /// The manifest, to whose directory the artifact's paths are relative.
    pub(crate) manifest: PathBuf,
    /// Its entry in the manifest.
    pub(crate) artifact: Artifact,
}

/// An entry of the manifest.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Artifact {
    pub(crate) cpu: String,
    pub(crate) profile: String,
    pub(crate) original: PathBuf,
    #[serde(default)]
    pub(crate) instrumented: Vec<Form>,
}

/// An instrumented form.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Form {
    /// The counter home asked for; `None` is `auto`.
    #[serde(rename = "counter_storage", alias = "home")]
    pub(crate) home: Option<String>,
    /// The code object; `None` if nothing in it was instrumented.
    pub(crate) file: Option<PathBuf>,
    pub(crate) probes: PathBuf,
}
