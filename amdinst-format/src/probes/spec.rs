//! The `#[probe]`s of a kernel crate.

use serde::{Deserialize, Serialize};

/// What source construct a `#[probe]` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeKind {
    /// A whole kernel.
    Kernel,
    /// A whole device function.
    Function,
    /// An `if` or `if let`.
    If,
    /// A `match`.
    Match,
    /// A `while` or `while let`.
    While,
    /// A `for`.
    For,
    /// A `loop`.
    Loop,
}

/// A `#[probe]` in the source of a kernel crate.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProbeSpec {
    /// Its name: `#[probe("name")]`, or one made from its place.
    pub name: String,
    /// The code that it marks.
    pub kind: ProbeKind,
    /// Source file, as the compiler names it or a suffix of that (whole path components).
    pub file: String,
    /// First line of the construct, from 1.
    pub line: u32,
    /// Its first column, from 1.
    pub column: u32,
    /// Its last line.
    pub end_line: u32,
    /// The column after its last character.
    pub end_column: u32,
    /// The function it stands in, as written.
    pub function: String,
    /// Divergence there is meant: no report warns of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expect: bool,
}
