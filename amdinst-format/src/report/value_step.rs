//! An instruction on the way of a value.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Location;

/// An instruction that computed a value, in one work-item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueStep {
    /// The nearest line of the user's.
    #[serde(flatten)]
    pub location: Location,
    /// The instruction, as LLVM writes it.
    pub instruction: String,
    /// The value that it computed, as people read it.
    pub value: String,
    /// The work-item's number in its workgroup, x fastest.
    pub work_item: u64,
    /// The workgroup, in x, y, z.
    pub workgroup: [u32; 3],
}

impl fmt::Display for ValueStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.workgroup;
        let Self { instruction, value, work_item, .. } = self;
        write!(
            f,
            "{}: {value} by `{instruction}` in work-item {work_item} of workgroup {x},{y},{z}",
            self.location.short()
        )
    }
}
