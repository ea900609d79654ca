//! How long a launch takes on a device that is modelled, as a saved run has it.
//!
//! No figure is measured. A cycle is one of the device's engine clock; wave-cycles are those of all waves
//! together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One launch of a kernel, modeled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Modelled {
    /// The kernel's name.
    #[serde(deserialize_with = "amdinst_text::deserialize")]
    pub kernel: String,
    /// The device.
    pub device: String,
    /// Its engine clock.
    pub megahertz: u32,
    /// Cycles from the launch's start until its last wave has left.
    pub cycles: u64,
    /// Cycles of the instrumented kernel, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instrumented_cycles: Option<u64>,
    /// Waves.
    pub waves: u64,
    /// Waves that were there, on average, of the device's wave slots: from 0 to 1.
    pub achieved_occupancy: f64,
    /// Where the waves' cycles went, by instruction of the original, in order of address.
    pub instructions: Vec<InstructionCycles>,
    /// When the waves of the first compute units ran, in order of compute unit, SIMD and start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<WaveSpan>,
}

/// When a wave ran, and where. In JSON an array, in the order of the fields, for there are many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "[u64; 5]", into = "[u64; 5]")]
pub struct WaveSpan {
    /// The compute unit.
    pub compute_unit: u64,
    /// The SIMD in it.
    pub simd: u64,
    /// The cycle in which it began.
    pub start: u64,
    /// The cycle in which it ended.
    pub end: u64,
    /// Its number in the launch.
    pub wave: u64,
}

impl WaveSpan {
    /// The waves of the first compute units, in order: of as many whole units as have at most `most` waves
    /// together, one at least.
    pub fn first_units(mut spans: Vec<Self>, most: usize) -> Vec<Self> {
        spans.sort_unstable();
        if let (Some(first), Some(over)) = (spans.first(), spans.get(most)) {
            let (first, over) = (first.compute_unit, over.compute_unit);
            spans.retain(|span| span.compute_unit < over || span.compute_unit == first);
        }
        spans
    }
}

impl From<[u64; 5]> for WaveSpan {
    fn from([compute_unit, simd, start, end, wave]: [u64; 5]) -> Self {
        Self { compute_unit, simd, start, end, wave }
    }
}

impl From<WaveSpan> for [u64; 5] {
    fn from(span: WaveSpan) -> Self {
        let WaveSpan { compute_unit, simd, start, end, wave } = span;
        [compute_unit, simd, start, end, wave]
    }
}

/// Where the wave-cycles of an instruction went: its issues, and the waits before them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionCycles {
    /// Its address in the original code object.
    pub pc: u64,
    /// The file that it was compiled from, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "amdinst_text::deserialize_option")]
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Compute units 0, 1 and 2 with 2, 3 and 1 waves.
    #[test]
    fn spans_are_of_whole_compute_units() {
        let span =
            |compute_unit, start| WaveSpan { compute_unit, start, end: start + 1, ..WaveSpan::default() };
        let spans = vec![span(1, 0), span(0, 4), span(1, 2), span(2, 0), span(0, 1), span(1, 1)];
        let units = |most| {
            let kept = WaveSpan::first_units(spans.clone(), most);
            kept.iter().map(|span| span.compute_unit).collect::<Vec<_>>()
        };
        assert_eq!(units(6), [0, 0, 1, 1, 1, 2]);
        assert_eq!(units(5), [0, 0, 1, 1, 1]);
        assert_eq!(units(4), [0, 0]);
        assert_eq!(units(1), [0, 0]);
        assert_eq!(WaveSpan::first_units(Vec::new(), 4), []);
        let json = serde_json::to_string(&span(1, 2)).unwrap();
        assert_eq!(json, "[1,0,2,3,0]");
        assert_eq!(serde_json::from_str::<WaveSpan>(&json).unwrap(), span(1, 2));
    }
}
