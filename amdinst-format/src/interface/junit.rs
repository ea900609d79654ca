//! The results of a test program, for JUnit XML.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// One test program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JunitSuite {
    /// Its name.
    pub name: String,
    /// How long it ran.
    pub time: Duration,
    /// Its tests.
    pub cases: Vec<JunitCase>,
}

/// One test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JunitCase {
    /// Its name.
    pub name: String,
    /// How long it ran.
    pub time: Duration,
    /// How it ended.
    pub ending: JunitEnding,
    /// Its output: the tables of its launches. Empty for none.
    pub output: String,
    /// Names and values, for dashboards.
    pub properties: Vec<(String, String)>,
}

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JunitEnding {
    /// Well.
    Passed,
    /// With this message.
    Failed(String),
    /// The test was not run, for this reason if one was given.
    Ignored(Option<String>),
}
