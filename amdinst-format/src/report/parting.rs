//! A launch that leaves different values on two processors: what differs, and where the executions part.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::value_step::ValueStep;

/// What a test program is asked to run its launches beside: the code objects of another processor. It is the
/// content of the file that `AMDINST_BESIDE` names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BesideRequest {
    /// The code object of each package.
    pub code_objects: BTreeMap<String, PathBuf>,
    /// Where to write the first [`PartedLaunch`], as JSON.
    pub report: PathBuf,
}

/// The first launch of a test that leaves other values on the other processor. `here` is the test's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartedLaunch {
    /// The kernel.
    pub kernel: String,
    /// The first element that differs.
    pub element: PartedElement,
    /// Elements that differ, in all buffers.
    pub elements: u64,
    /// The instruction where they part, of the test's own processor; `None` if it is not known, or if the
    /// other processor computed all that this one did.
    pub here: Option<ValueStep>,
    /// That of the other processor.
    pub there: Option<ValueStep>,
    /// What such differences usually come from, in a sentence.
    pub suspect: Option<String>,
    /// Why the executions could not be followed back, if they could not.
    pub lost: Option<String>,
}

/// An element that differs. Values are as people read them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartedElement {
    /// The label of its buffer.
    pub buffer: String,
    /// Its number there, from 0 on; of a buffer of an unknown type, that of a dword.
    pub index: u64,
    /// The value on the test's own processor.
    pub here: String,
    /// The value on the other one.
    pub there: String,
    /// Units in the last place between two floats of one sign.
    pub ulp: Option<u64>,
}

/// Units in the last place from which on two floats are far apart.
const FAR: u64 = 1 << 20;

impl PartedLaunch {
    /// In lines for people, the processors by their names.
    pub fn text(&self, here: &str, there: &str) -> String {
        let Self { kernel, element, elements, .. } = self;
        let PartedElement { buffer, index, .. } = element;
        // Of values that are far apart, the number says nothing.
        let ulp = element.ulp.filter(|ulp| (1..FAR).contains(ulp));
        let ulp = ulp.map(|ulp| format!(", {ulp} ULP apart")).unwrap_or_default();
        let more = if *elements > 1 { format!("; {elements} elements differ") } else { String::new() };
        let mut text = format!(
            "`{kernel}` leaves {} in element {index} of a {buffer} on {here}, {} on {there}{ulp}{more}",
            element.here, element.there
        );
        let mut line = |what: &str| {
            text.push_str("\n  ");
            text.push_str(what);
        };
        for (gpu, step) in [(here, &self.here), (there, &self.there)] {
            if let Some(step) = step {
                line(&format!("{gpu} at {step}"));
            }
        }
        match (&self.suspect, &self.lost) {
            (Some(suspect), _) => line(&format!("suspect: {suspect}")),
            (None, Some(lost)) => line(lost),
            (None, None) => {}
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::Location;
    use super::*;

    #[test]
    fn a_launch_is_told_by_its_element_and_its_lines() {
        let step = |line, value: &str| ValueStep {
            location: Location { file: Some("src/lib.rs".to_owned()), line: Some(line), column: None },
            instruction: "v_add_f32_e32 v0, v1, v2".to_owned(),
            value: value.to_owned(),
            work_item: 3,
            workgroup: [1, 0, 0],
        };
        let element = PartedElement {
            buffer: "buffer of 64 f32".to_owned(),
            index: 7,
            here: "1.0".to_owned(),
            there: "1.0000001".to_owned(),
            ulp: Some(1),
        };
        let mut launch = PartedLaunch {
            kernel: "sum".to_owned(),
            element,
            elements: 2,
            here: Some(step(4, "1.0")),
            there: None,
            suspect: None,
            lost: Some("the launch is too long".to_owned()),
        };
        assert_eq!(
            launch.text("gfx1100", "gfx90a").lines().collect::<Vec<_>>(),
            [
                "`sum` leaves 1.0 in element 7 of a buffer of 64 f32 on gfx1100, 1.0000001 on gfx90a, 1 ULP apart; \
                 2 elements differ",
                "  gfx1100 at src/lib.rs:4: 1.0 by `v_add_f32_e32 v0, v1, v2` in work-item 3 of workgroup 1,0,0",
                "  the launch is too long",
            ]
        );
        launch.element.ulp = Some(FAR);
        launch.suspect = Some("rounding".to_owned());
        let text = launch.text("a", "b");
        assert!(!text.contains("ULP") && text.ends_with("  suspect: rounding"), "{text}");
        let json = serde_json::to_string(&launch).unwrap();
        assert_eq!(serde_json::from_str::<PartedLaunch>(&json).unwrap(), launch);
    }
}
