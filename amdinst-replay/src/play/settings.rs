//! How an archive is replayed.

use amdinst_core::instrument::Options;
use amdinst_core::names;
use amdinst_emu::Config;
use amdinst_launch::language::Element;

/// How an archive is replayed.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The machine that original kernels run on.
    pub config: Config,
    /// Whether results depend on values that nothing has written is looked for.
    pub finds_unwritten: bool,
    /// Whether waits are missing is looked for, where the text of a kernel shows that one may be.
    pub finds_missing_waits: bool,
    /// Whether kernels make NaNs and infinities of numbers is looked for.
    pub finds_non_finite: bool,
    /// How kernels are instrumented; `None` runs the originals alone.
    pub instrument: Option<Options>,
    /// Host threads of a launch; 0 for all cores.
    pub threads: usize,
    /// Wave-instructions that a workgroup may run; 0 for the machine's default.
    pub budget: u64,
    /// Workgroups of a launch that run, at most; all if `None`.
    pub sample: Option<u64>,
    /// The type of elements that are compared; bytes if `None`.
    pub element: Option<Element>,
    /// Units in the last place that floats may differ by.
    pub ulp: u64,
    /// The launches that are asked for.
    pub choice: Choice,
}

/// Some of the launches of an archive; all if nothing is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Only kernels of these names.
    pub kernels: Vec<String>,
    /// Only launches of these numbers.
    pub launches: Vec<u64>,
    /// Only launches from this number on.
    pub from: Option<u64>,
    /// Only launches up to this number.
    pub to: Option<u64>,
}

impl Choice {
    /// Whether a launch is one of them.
    pub fn takes(&self, number: u64, kernel: &str) -> bool {
        let is_called = |name: &String| is_called(kernel, name);
        (self.kernels.is_empty() || self.kernels.iter().any(is_called))
            && (self.launches.is_empty() || self.launches.contains(&number))
            && self.from.is_none_or(|from| number >= from)
            && self.to.is_none_or(|to| number <= to)
    }
}

/// Whether a user means a kernel by a name: its symbol, or its name in the source, with parameters or
/// without.
fn is_called(kernel: &str, name: &str) -> bool {
    let source = names::demangled(kernel).unwrap_or_else(|| names::in_source(kernel).to_owned());
    kernel == name || source == name || source.split('(').next() == Some(name)
}
