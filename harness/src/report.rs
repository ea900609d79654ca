//! The report as tests use it: selections that fail the test with a reason instead of giving zeros.

use std::ops::Deref;

use amdinst_format::report::{self, Selection};

/// How the branches of one launch diverged. Derefs to the plain report of `amdinst-format`.
#[derive(Clone, Debug)]
pub struct Report {
    inner: report::Report,
}

impl Report {
    pub(crate) const fn new(inner: report::Report) -> Self {
        Self { inner }
    }

    /// The branch with the probe `name`: all machine sites that the compiler made of it, taken together.
    ///
    /// # Panics
    /// When the kernel has no such probe, or the compiler made a uniform branch, a select or nothing of it. Such an
    /// outcome has no counts; ask for it by [`report::Report::outcome`].
    #[track_caller]
    pub fn site(&self, name: &str) -> Selection<'_> {
        told(self.inner.find(name))
    }

    /// The branches on a source line.
    ///
    /// # Panics
    /// When no site stands there.
    #[track_caller]
    pub fn line(&self, line: u32) -> Selection<'_> {
        told(self.inner.at_line(line))
    }

    /// The probe `name`, to ask what became of it.
    ///
    /// # Panics
    /// When the kernel has no such probe.
    #[track_caller]
    pub fn probe(&self, name: &str) -> &report::ProbeReport {
        match self.inner.probes.iter().find(|probe| probe.name == name) {
            Some(probe) => probe,
            // The error of a selection lists the probes that there are.
            None => match self.inner.find(name) {
                Err(error) => panic!("{error}"),
                Ok(_) => panic!("probe `{name}` has sites and no entry in the probe map"),
            },
        }
    }

    /// The report as JSON (`schema` 1).
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(&self.inner).unwrap_or_default()
    }
}

/// What was selected. (A closure of `unwrap_or_else` would be the place that the failure is told to be at.)
#[track_caller]
fn told<T, E: std::fmt::Display>(selected: Result<T, E>) -> T {
    match selected {
        Ok(selected) => selected,
        Err(error) => panic!("{error}"),
    }
}

impl Deref for Report {
    type Target = report::Report;

    fn deref(&self) -> &report::Report {
        &self.inner
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.inner.heading())?;
        f.write_str(&self.inner.table())
    }
}
