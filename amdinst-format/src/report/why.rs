//! Where a value in memory comes from, from its end backwards: what `run --why` tells.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::value_step::ValueStep;

/// The instructions that an element of a buffer has its value from, or that led to a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueOrigin {
    /// The element (`out[17]`); of a fault, the address of its access, or the way to it.
    pub element: String,
    /// The value in its first or, of eight bytes, its second dword.
    pub value: String,
    /// One a source line, the last that ran first. Of a NaN or an infinity, those that had one.
    pub steps: Vec<OriginStep>,
    /// Where the steps end: at the instruction that made a NaN or an infinity, at memory that nothing in the
    /// launch has written, or because there are more.
    pub end: String,
}

/// Where an element of a buffer has its value from, among the last launches of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchOrigin {
    /// The kernel that wrote it last.
    pub kernel: String,
    /// How the launch made it.
    pub origin: ValueOrigin,
}

/// An instruction on the way, with its operands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginStep {
    /// The instruction.
    #[serde(flatten)]
    pub made: ValueStep,
    /// The values that it computed with.
    pub operands: Vec<String>,
    /// The place in memory that it was loaded from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded: Option<String>,
}

impl ValueOrigin {
    /// Of an element whose value cannot be followed, and why.
    pub fn lost(element: &str, why: &dyn std::error::Error) -> Self {
        let value = "not followed".to_owned();
        Self { element: element.to_owned(), value, steps: Vec::new(), end: why.to_string() }
    }

    /// For people: a line a step.
    pub fn human(&self) -> String {
        format!("{} is {}{}", self.element, self.value, self.way())
    }

    /// The steps and their end, each behind a line break.
    pub fn way(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail, here and below.
        let place = |step: &OriginStep| step.made.location.short();
        let width = self.steps.iter().map(|step| place(step).chars().count()).max().unwrap_or(0);
        let mut last = None;
        for step in &self.steps {
            let ValueStep { instruction, value, work_item, workgroup, .. } = &step.made;
            let item = (work_item, workgroup);
            if last != Some(item) {
                let [x, y, z] = workgroup;
                let _ = write!(text, "\n  in work-item {work_item} of workgroup {x},{y},{z}:");
                last = Some(item);
            }
            let _ = write!(text, "\n    {:width$}  {value}", place(step));
            let _ = match &step.loaded {
                Some(loaded) => write!(text, " from {loaded}"),
                None => write!(text, " by `{instruction}`"),
            };
            if step.loaded.is_none() && !step.operands.is_empty() {
                let _ = write!(text, " of {}", step.operands.join(", "));
            }
        }
        let _ = writeln!(text, "\n  {}", self.end);
        text
    }
}
