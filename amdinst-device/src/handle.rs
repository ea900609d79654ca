//! What a kernel is on the host.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;

/// A kernel as the host knows it: its name and where it was written. The type parameter is the tuple of its
/// parameters' types, which a launcher checks its arguments against.
///
/// The `kernel` attribute makes a function of each kernel, which gives a [`NamedKernel`], which derefs to
/// this. A function, since variables may have its name.
pub struct Kernel<A> {
    written: Written,
    parameters: PhantomData<fn(A)>,
}

/// A kernel whose parameters have names in the compiler's messages: the tuple `N` has one type for each,
/// `x_of_saxpy` for the parameter `x` of `saxpy`.
pub struct NamedKernel<A, N> {
    kernel: Kernel<A>,
    names: PhantomData<fn(N)>,
}

impl<A, N> Deref for NamedKernel<A, N> {
    type Target = Kernel<A>;

    fn deref(&self) -> &Kernel<A> {
        &self.kernel
    }
}

impl<A, N> fmt::Debug for NamedKernel<A, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kernel.fmt(f)
    }
}

/// What `#[kernel]` knows of a kernel.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Written {
    pub name: &'static str,
    pub module: &'static str,
    pub package: &'static str,
    pub features: Option<&'static str>,
    pub file: &'static str,
    pub line: u32,
    pub column: u32,
    pub probes: &'static [Probe],
    pub parameters: &'static [&'static str],
    /// The most work-items of a workgroup, if it says.
    pub workgroup: Option<u32>,
}

impl<A> Kernel<A> {
    #[doc(hidden)]
    pub const fn written(&self) -> Written {
        self.written
    }

    /// The kernel's name in the code object's metadata (`.name`).
    pub const fn name(&self) -> &'static str {
        self.written.name
    }

    /// Where it was written (`kernels::scan`). Of several kernels of one name in a package, the code object
    /// has each by its path: `scan::sum`, without the crate.
    pub const fn module(&self) -> &'static str {
        self.written.module
    }

    /// The names of its parameters, in order; `_` is one without.
    pub const fn parameters(&self) -> &'static [&'static str] {
        self.written.parameters
    }

    /// The package whose code object holds it.
    pub const fn package(&self) -> &'static str {
        self.written.package
    }

    /// The features of the package that it was compiled with on the host, sorted and separated by commas;
    /// `None` where the compiler does not tell them.
    pub const fn features(&self) -> Option<&'static str> {
        self.written.features
    }

    /// The source file, as the compiler spells it.
    pub const fn file(&self) -> &'static str {
        self.written.file
    }

    /// The line its definition starts on, from 1, after attributes and documentation.
    pub const fn line(&self) -> u32 {
        self.written.line
    }

    /// The column its definition starts in, from 1.
    pub const fn column(&self) -> u32 {
        self.written.column
    }

    /// The probes in its body, in the order of the source. Those in functions that it calls are not among
    /// them.
    pub const fn probes(&self) -> &'static [Probe] {
        self.written.probes
    }
}

impl<A> fmt::Debug for Kernel<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("name", &self.written.name)
            .field("package", &self.written.package)
            .field("file", &self.written.file)
            .field("line", &self.written.line)
            .field("probes", &self.written.probes)
            .finish_non_exhaustive()
    }
}

/// A probe as it was written. Lines and columns count from 1; the end is one past the last character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Its name; empty for `#[probe]` without one.
    pub name: &'static str,
    /// The code that it marks: `kernel`, `function`, `if`, `match`, `while`, `for` or `loop`.
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
pub const fn kernel<A, N>(written: Written) -> NamedKernel<A, N> {
    NamedKernel { kernel: Kernel { written, parameters: PhantomData }, names: PhantomData }
}
