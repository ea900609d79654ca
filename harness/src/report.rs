//! The report as tests use it: selections that fail the test with a reason instead of giving zeros.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use amdinst_format::counters::Lanes;
use amdinst_format::report::{self, SelectError, Selection};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::without_counts;

/// How the branches of one launch diverged. Derefs to the plain report of `amdinst-format`.
///
/// It is the runtime's text until somebody asks: most tests ask nothing, and a test program without
/// optimisations takes longer to understand a report than most kernels run.
#[derive(Clone, Debug)]
pub struct Report {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    text: Box<RawValue>,
    read: OnceLock<report::Report>,
}

/// How the snapshot of a report is compared: with one of waves of the same size.
#[doc(hidden)]
pub fn of_waves(report: &Report) -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    if report.lanes != Lanes::default() {
        settings.set_snapshot_suffix(format!("wave{}", report.lanes.get()));
    }
    settings
}

impl Report {
    /// The report of that JSON.
    pub(crate) fn new(text: Box<RawValue>) -> Self {
        Self { inner: Arc::new(Inner { text, read: OnceLock::new() }) }
    }

    /// The branch with the probe `name`: all machine sites that the compiler made of it, taken together.
    ///
    /// # Panics
    /// When the kernel has no such probe, or the compiler made a uniform branch, a select or nothing of it.
    /// Such an outcome has no counts; ask for it by [`report::Report::outcome`].
    #[track_caller]
    pub fn branch(&self, name: &str) -> Selection<'_> {
        self.told(self.find(name))
    }

    /// The old name of [`Report::branch`].
    #[doc(hidden)]
    #[deprecated(note = "it is called `branch` now")]
    #[track_caller]
    pub fn site(&self, name: &str) -> Selection<'_> {
        self.branch(name)
    }

    /// The branches on a source line.
    ///
    /// # Panics
    /// When no site stands there.
    #[track_caller]
    pub fn line(&self, line: u32) -> Selection<'_> {
        self.told(self.at_line(line))
    }

    /// Every site of the kernel, taken together; none of a kernel without branches that can diverge.
    ///
    /// # Panics
    /// When the kernel ran without counters, or something else than branches was measured.
    #[track_caller]
    pub fn every_site(&self) -> Selection<'_> {
        self.told(report::Report::every_site(self))
    }

    /// The probe `name`, to ask what became of it.
    ///
    /// # Panics
    /// When the kernel has no such probe.
    #[track_caller]
    pub fn probe(&self, name: &str) -> &report::ProbeReport {
        match self.probes.iter().find(|probe| probe.name == name) {
            Some(probe) => probe,
            // The error of a selection lists the probes that there are.
            None => {
                self.told(self.find(name));
                panic!("probe `{name}` has sites and no entry in the probe map")
            }
        }
    }

    /// What was selected. (A closure of `unwrap_or_else` would be the place that the failure is told to be
    /// at.)
    #[track_caller]
    fn told<T>(&self, selected: Result<T, SelectError>) -> T {
        match selected {
            Ok(selected) => selected,
            Err(error) if self.not_instrumented.is_some() => without_counts::end(error.to_string()),
            Err(error) => panic!("{error}"),
        }
    }

    /// The report as JSON (`schema` 1).
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::from_str(self.inner.text.get()).unwrap_or_default()
    }
}

impl Deref for Report {
    type Target = report::Report;

    fn deref(&self) -> &report::Report {
        let Inner { text, read } = &*self.inner;
        read.get_or_init(|| {
            serde_json::from_str(text.get())
                .unwrap_or_else(|error| panic!("the runtime's report: {error}; please report this"))
        })
    }
}

impl<'de> Deserialize<'de> for Report {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Deserialize::deserialize(deserializer).map(Self::new)
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.inner.text.serialize(serializer)
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.heading())?;
        f.write_str(&self.table())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_text_until_somebody_asks() {
        let text = r#"{"schema":1,"kernel":"k","target":"gfx90a","counter_storage":"none","grid":[1,1,1],"block":[64,1,1],
            "waves":1,"memory_equal":null,"oracle_equal":null,"sites":[],"probes":[]}"#;
        let report: Report = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&report).unwrap(), text);
        assert!(report.inner.read.get().is_none());
        let another = report.clone();
        assert_eq!(report.kernel, "k");
        assert!(another.inner.read.get().is_some());
    }
}
