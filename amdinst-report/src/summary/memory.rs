//! What the memory instructions of all launches of a kernel asked for, by line.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use amdinst_core::report::run::Run;
use amdinst_core::report::{MemoryAccess, MemoryFigures, MemoryPlace, MemoryRules, MemoryUse};
use serde::{Deserialize, Serialize};

/// The memory accesses of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemorySummary {
    /// Launches that were measured.
    pub launches: u64,
    /// The lines and banks of the processor.
    #[serde(flatten)]
    pub rules: MemoryRules,
    /// By line of the source, memory and access, the costliest first
    /// ([`MemoryFigures::cost`]). Instructions of no line count as a line without a file.
    pub lines: Vec<LineMemory>,
    /// By address in the original code object. Not in the JSON.
    #[serde(skip)]
    pub instructions: BTreeMap<(u64, MemoryAccess), MemoryFigures>,
}

/// The accesses of a source line to one memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineMemory {
    /// The file, if it is known.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The kind of access, and the memory.
    #[serde(flatten)]
    pub access: MemoryAccess,
    /// How much, summed over waves and launches.
    #[serde(flatten)]
    pub figures: MemoryFigures,
    /// Lines of the vector cache that would do, of those that are touched, in per cent; `None` in LDS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coalescing_percent: Option<f64>,
    /// Cycles of the banks of LDS that conflicts cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bank_conflicts: Option<u64>,
}

impl MemorySummary {
    /// Sums up launches of one kernel on one processor; `None` if there are none.
    pub fn of<'a>(launches: impl IntoIterator<Item = &'a MemoryUse>) -> Option<Self> {
        let mut launches = launches.into_iter().peekable();
        let rules = launches.peek()?.rules.clone();
        let mut summary = Self { rules, ..Self::default() };
        let line_bytes = summary.rules.line_bytes;
        let mut lines = BTreeMap::<(Option<&str>, Option<u32>, MemoryAccess), MemoryFigures>::new();
        for launch in launches {
            summary.launches += 1;
            for instruction in &launch.instructions {
                let place = (instruction.file.as_deref(), instruction.line, instruction.access);
                *lines.entry(place).or_default() += instruction.figures;
                let of_pc = summary.instructions.entry((instruction.pc, instruction.access)).or_default();
                *of_pc += instruction.figures;
            }
        }
        let line = |((file, line, access), figures): ((Option<&str>, _, MemoryAccess), MemoryFigures)| {
            let is_lds = access.memory == MemoryPlace::Lds;
            LineMemory {
                file: file.map(str::to_owned),
                line,
                access,
                figures,
                coalescing_percent: figures.coalescing_percent(line_bytes),
                bank_conflicts: is_lds.then(|| figures.bank_conflicts()),
            }
        };
        summary.lines = lines.into_iter().map(line).collect();
        // Stable: lines that cost as much stay in order of place.
        summary.lines.sort_by_key(|line| Reverse(line.figures.cost(line_bytes)));
        Some(summary)
    }

    /// Of the launches of a run.
    pub(super) fn of_run(run: &Run, kernel: &str, cpu: &str) -> Option<Self> {
        let tests = run.tests().filter(|(program, _)| program.cpu == cpu);
        Self::of(tests.flat_map(|(_, test)| &test.memory).filter(|launch| launch.kernel == kernel))
    }

    /// The rules for people.
    pub fn sentence(&self) -> String {
        let has_lds = self.lines.iter().any(|line| line.access.memory == MemoryPlace::Lds);
        self.rules.sentence(has_lds)
    }

    /// Bytes of scratch that were asked for.
    pub fn scratch_bytes(&self) -> u64 {
        let lines = self.lines.iter().filter(|line| line.access.memory == MemoryPlace::Scratch);
        lines.map(|line| line.figures.bytes).sum()
    }
}
