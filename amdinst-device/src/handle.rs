//! What a kernel is on the host.

use core::fmt;
use core::marker::PhantomData;

/// A kernel as the host knows it: its name and where it was written. The type parameter is the tuple of its parameters'
/// types, which a launcher checks its arguments against.
///
/// The `kernel` attribute makes one static of this type a kernel.
pub struct Kernel<A> {
    name: &'static str,
    package: &'static str,
    features: Option<&'static str>,
    file: &'static str,
    line: u32,
    column: u32,
    probes: &'static [Probe],
    parameters: PhantomData<fn(A)>,
}

impl<A> Kernel<A> {
    /// The kernel's name in the code object's metadata (`.name`).
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The package whose code object holds it.
    pub const fn package(&self) -> &'static str {
        self.package
    }

    /// The features of the package that it was compiled with on the host, sorted and separated by commas; `None` where the
    /// compiler does not tell them.
    pub const fn features(&self) -> Option<&'static str> {
        self.features
    }

    /// The source file, as the compiler spells it.
    pub const fn file(&self) -> &'static str {
        self.file
    }

    /// The line its definition starts on, from 1, after attributes and documentation.
    pub const fn line(&self) -> u32 {
        self.line
    }

    /// The column its definition starts in, from 1.
    pub const fn column(&self) -> u32 {
        self.column
    }

    /// The probes in its body, in the order of the source. Those in functions that it calls are not among them.
    pub const fn probes(&self) -> &'static [Probe] {
        self.probes
    }
}

impl<A> fmt::Debug for Kernel<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("name", &self.name)
            .field("package", &self.package)
            .field("file", &self.file)
            .field("line", &self.line)
            .field("probes", &self.probes)
            .finish_non_exhaustive()
    }
}

/// A probe as it was written. Lines and columns count from 1; the end is one past the last character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Its name; empty for `#[probe]` without one.
    pub name: &'static str,
    /// What it stands on: `kernel`, `function`, `if`, `match`, `while`, `for` or `loop`.
    pub kind: &'static str,
    /// The source file, as the compiler spells it.
    pub file: &'static str,
    /// First line.
    pub line: u32,
    /// First column.
    pub column: u32,
    /// Last line.
    pub end_line: u32,
    /// Column after the last character.
    pub end_column: u32,
}

/// Makes a handle; for the expansion of `#[kernel]`.
#[doc(hidden)]
pub const fn kernel<A>(
    name: &'static str,
    package: &'static str,
    features: Option<&'static str>,
    file: &'static str,
    line: u32,
    column: u32,
    probes: &'static [Probe],
) -> Kernel<A> {
    Kernel { name, package, features, file, line, column, probes, parameters: PhantomData }
}
