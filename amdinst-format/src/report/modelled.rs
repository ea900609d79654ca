//! How long a launch takes on a device that is modelled, as a kept run has it.
//!
//! No figure is measured. A cycle is one of the device's engine clock; wave-cycles are those of all waves together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One launch of a kernel, modelled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Modelled {
    /// The kernel's name.
    pub kernel: String,
    /// The device.
    pub device: String,
    /// Its engine clock.
    pub megahertz: u32,
    /// Cycles from the launch's start until its last wave has left.
    pub cycles: u64,
    /// The same of the instrumented form, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instrumented_cycles: Option<u64>,
    /// Waves.
    pub waves: u64,
    /// Waves that were there, on average, of the device's wave slots: from 0 to 1.
    pub achieved_occupancy: f64,
    /// Where the waves' cycles went, by instruction of the original, in order of address.
    pub instructions: Vec<InstructionCycles>,
}

/// Where the wave-cycles of an instruction went: its issues, and the waits before them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionCycles {
    /// Its address in the original code object.
    pub pc: u64,
    /// The file that it was compiled from, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Executions, summed over waves.
    pub executions: u64,
    /// Its cycles.
    #[serde(flatten)]
    pub cycles: Cycles,
}

/// Wave-cycles of issue, and of waiting by cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cycles {
    /// Cycles of issue.
    pub issue: u64,
    /// Cycles of waiting by cause (`vector-memory`, `barrier`); causes that did not occur are left out.
    pub stalls: BTreeMap<String, u64>,
}

impl Cycles {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.issue + self.stalls.values().sum::<u64>()
    }

    /// The causes that took the most, `issue` among them, the largest first.
    pub fn largest(&self) -> Vec<(&str, u64)> {
        let stalls = self.stalls.iter().map(|(name, cycles)| (name.as_str(), *cycles));
        let mut parts: Vec<_> = stalls.chain([("issue", self.issue)]).collect();
        parts.sort_by_key(|(_, cycles)| std::cmp::Reverse(*cycles));
        parts
    }
}

impl std::ops::AddAssign<&Self> for Cycles {
    fn add_assign(&mut self, other: &Self) {
        self.issue += other.issue;
        for (name, cycles) in &other.stalls {
            *self.stalls.entry(name.clone()).or_default() += cycles;
        }
    }
}
