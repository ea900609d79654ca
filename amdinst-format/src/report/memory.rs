//! What the memory instructions of a launch ask for, as a saved run has it.
//!
//! The figures are exact, and are of the original kernel: each is worked out for every execution of an
//! instruction by a wave, from the addresses of its lanes, and summed up. Caches are not in them: a line is
//! counted each time that an instruction touches it.

use serde::{Deserialize, Serialize};

/// The memory accesses of one launch of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryUse {
    /// The kernel's name.
    #[serde(deserialize_with = "amdinst_text::deserialize")]
    pub kernel: String,
    /// The processor, as far as lines and banks go.
    #[serde(flatten)]
    pub rules: MemoryRules,
    /// Each instruction, in order of address.
    pub instructions: Vec<InstructionMemory>,
}

/// The lines and banks of a processor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryRules {
    /// Bytes of a line of its vector cache: 64 or 128.
    pub line_bytes: u32,
    /// The processor on which the phases of LDS were measured; `None` where they are assumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lds_phases_of: Option<String>,
}

impl MemoryRules {
    /// The rules for people. The phases of LDS are named only `with_lds`.
    pub fn sentence(&self, with_lds: bool) -> String {
        let lines = format!("lines of {} bytes", self.line_bytes);
        match &self.lds_phases_of {
            _ if !with_lds => lines,
            Some(processor) => format!("{lines}, LDS phases as measured on {processor}"),
            None => format!("{lines}, LDS phases assumed, not measured"),
        }
    }
}

/// The accesses of one instruction to one memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionMemory {
    /// Its address in the original code object.
    pub pc: u64,
    /// The file that it was compiled from, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "amdinst_text::deserialize_option")]
    pub file: Option<String>,
    /// The line in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The kind of access, and the memory.
    #[serde(flatten)]
    pub access: MemoryAccess,
    /// How much.
    #[serde(flatten)]
    pub figures: MemoryFigures,
}

/// A kind of access, and the memory that it goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MemoryAccess {
    /// The memory.
    pub memory: MemoryPlace,
    /// The kind of access.
    pub access: MemoryVerb,
}

impl MemoryAccess {
    /// For people: `load global`, `atomic LDS`.
    pub fn words(self) -> &'static str {
        match (self.access, self.memory) {
            (MemoryVerb::Load, MemoryPlace::Global) => "load global",
            (MemoryVerb::Load, MemoryPlace::Lds) => "load LDS",
            (MemoryVerb::Load, MemoryPlace::Scratch) => "load scratch",
            (MemoryVerb::Store, MemoryPlace::Global) => "store global",
            (MemoryVerb::Store, MemoryPlace::Lds) => "store LDS",
            (MemoryVerb::Store, MemoryPlace::Scratch) => "store scratch",
            (MemoryVerb::Atomic, MemoryPlace::Global) => "atomic global",
            (MemoryVerb::Atomic, MemoryPlace::Lds) => "atomic LDS",
            (MemoryVerb::Atomic, MemoryPlace::Scratch) => "atomic scratch",
        }
    }
}

/// A memory of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryPlace {
    /// Device memory.
    Global,
    /// The workgroup's LDS.
    Lds,
    /// The private memory of work-items: arrays, and registers that were spilled.
    Scratch,
}

/// A kind of access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryVerb {
    /// It is read.
    Load,
    /// It is written.
    Store,
    /// It is read and written at once.
    Atomic,
}

/// Sums over executions, each by one wave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryFigures {
    /// Executions in which some lane came to this memory.
    pub executions: u64,
    /// Lanes that did.
    pub lanes: u64,
    /// Bytes that they asked for, those that several lanes want once for each.
    pub bytes: u64,
    /// Lines of 64 bytes that they touch; 0 in LDS.
    pub lines_64: u64,
    /// Lines of 128 bytes that they touch; 0 in LDS.
    pub lines_128: u64,
    /// Lines of 64 bytes that would hold the same bytes, if these lay close.
    pub least_lines_64: u64,
    /// Lines of 128 bytes that would.
    pub least_lines_128: u64,
    /// Cycles that the banks of LDS work; 0 elsewhere.
    pub bank_cycles: u64,
    /// Cycles that they would work without conflicts.
    pub least_bank_cycles: u64,
    /// Of atomics, the lanes at the address where the most are: they take turns.
    pub turns: u64,
    /// The most of one execution.
    pub most_turns: u64,
}

impl MemoryFigures {
    /// Lines of so many bytes that are touched, and those that would do; of another size than 64 bytes, those
    /// of 128.
    pub fn lines(&self, line_bytes: u32) -> [u64; 2] {
        match line_bytes {
            64 => [self.lines_64, self.least_lines_64],
            _ => [self.lines_128, self.least_lines_128],
        }
    }

    /// The share of the lines that would do, in per cent: 100 where lanes lie close, or want the same; `None`
    /// where no line is touched.
    pub fn coalescing_percent(&self, line_bytes: u32) -> Option<f64> {
        let [touched, least] = self.lines(line_bytes);
        (touched > 0).then(|| 100.0 * least as f64 / touched as f64)
    }

    /// Cycles of the banks that lanes of a phase cost by meeting in one.
    pub fn bank_conflicts(&self) -> u64 {
        self.bank_cycles.saturating_sub(self.least_bank_cycles)
    }

    /// Their share of the cycles of the banks, in per cent; `None` if there are none.
    pub fn bank_conflict_percent(&self) -> Option<f64> {
        (self.bank_cycles > 0).then(|| 100.0 * self.bank_conflicts() as f64 / self.bank_cycles as f64)
    }

    /// What costs the most of it: lines of so many bytes, cycles of the banks, or turns. One of each takes
    /// about a cycle.
    pub fn cost(&self, line_bytes: u32) -> u64 {
        self.lines(line_bytes)[0].max(self.bank_cycles).max(self.turns)
    }
}

impl std::ops::AddAssign for MemoryFigures {
    fn add_assign(&mut self, other: Self) {
        self.executions += other.executions;
        self.lanes += other.lanes;
        self.bytes += other.bytes;
        self.lines_64 += other.lines_64;
        self.lines_128 += other.lines_128;
        self.least_lines_64 += other.least_lines_64;
        self.least_lines_128 += other.least_lines_128;
        self.bank_cycles += other.bank_cycles;
        self.least_bank_cycles += other.least_bank_cycles;
        self.turns += other.turns;
        self.most_turns = self.most_turns.max(other.most_turns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 64 dwords in every other place touch 8 lines of 64 bytes, and 4 would do.
    #[test]
    fn shares_are_of_what_would_do() {
        let strided = MemoryFigures {
            lines_64: 8,
            lines_128: 4,
            least_lines_64: 4,
            least_lines_128: 2,
            ..MemoryFigures::default()
        };
        assert_eq!(strided.coalescing_percent(64), Some(50.0));
        assert_eq!(strided.coalescing_percent(128), Some(50.0));
        assert_eq!(strided.bank_conflict_percent(), None);
        let column = MemoryFigures { bank_cycles: 64, least_bank_cycles: 2, ..MemoryFigures::default() };
        assert_eq!((column.bank_conflicts(), column.coalescing_percent(64)), (62, None));
        assert_eq!(column.bank_conflict_percent(), Some(96.875));
        assert_eq!((strided.cost(64), column.cost(64)), (8, 64));
    }
}
