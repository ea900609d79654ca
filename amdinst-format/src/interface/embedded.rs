//! Code objects inside a program, put there by its build script (`amdinst-build`).

/// The code objects of a kernel package, inside this program: what `embedded!` of the harness gives, and
/// [`Settings::embedded`](super::Settings::embedded) takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Embedded {
    /// The kernel package.
    pub package: &'static str,
    /// Its code objects, one a processor. Empty if the program was built without (`AMDINST_SKIP_BUILD`).
    pub code_objects: &'static [EmbeddedCodeObject],
}

/// A code object inside this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddedCodeObject {
    /// The processor that it was built for (`gfx90a`).
    pub cpu: &'static str,
    /// The cargo profile that it was built with (`release`).
    pub profile: &'static str,
    /// The code object, as it was compiled.
    pub original: &'static [u8],
    /// Its instrumented form. Without it launches run the original, and reports have no branches.
    pub instrumented: Option<EmbeddedForm>,
}

/// An instrumented form inside this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddedForm {
    /// The code object; `None` if nothing in it could or had to be instrumented.
    pub code_object: Option<&'static [u8]>,
    /// Its probe map, JSON.
    pub probes: &'static [u8],
}
