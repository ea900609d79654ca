//! Records of a launch: figures of all of it, of single waves, and of each instruction that writes EXEC.

use amdgpu_isa::Op;

use crate::check::{AccessKind, Fault, MemorySpace};

/// What a launch did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Execution {
    /// Waves that ran.
    pub waves: u64,
    /// Instructions executed, summed over waves.
    pub wave_instructions: u64,
    /// Active lanes, summed over the vector instructions executed.
    pub lane_instructions: u64,
    /// Wall-clock time of the execution on the host.
    pub seconds: f64,
    /// Host threads that ran it.
    pub threads: usize,
    /// Waves or workgroups access the same memory, and not by atomics of which the order makes no difference:
    /// so workgroups ran in order, on one thread. It is looked for where
    /// [`Config::check_races`](crate::Config::check_races) asks for it, and, between workgroups, where
    /// [`Config::deterministic`](crate::Config::deterministic) does: on several threads, or with
    /// [`Config::tells_clashes`](crate::Config::tells_clashes) on any number.
    pub clash: bool,
    /// Workgroups were set aside for others, since they waited or ran for long. How often a waiting loop goes
    /// round depends on the turns of the others. So does the number of instructions that all of them run.
    pub took_turns: bool,
    /// What writes to EXEC did, sorted by wave, then pc. Empty unless asked for.
    pub masks: Vec<MaskRecord>,
    /// What every instruction did, sorted by wave, then pc. Empty unless asked for.
    pub steps: Vec<StepRecord>,
    /// Executions of each mnemonic, in the order of [`Op`]. Empty unless asked for.
    pub opcode_stats: Vec<(Op, u64)>,
    /// What each memory instruction asked for, sorted by pc, then memory. Empty unless asked for.
    pub memory: Vec<MemoryRecord>,
    /// How many workgroups were looked at for races, if not all were
    /// ([`Config::thorough`](crate::Config::thorough)).
    pub sampled: Option<Sampled>,
    /// Accesses to LDS out of range that hardware lets pass, the first of each instruction
    /// ([`Config::out_of_range`](crate::Config::out_of_range)).
    pub out_of_range: Vec<Fault>,
    /// Lanes that waves of 32 asked for as if there were 64, the first of each instruction
    /// ([`FaultKind::NoSuchLane`](crate::FaultKind::NoSuchLane)).
    pub missing_lanes: Vec<Fault>,
    /// Races unless both accesses are atomic, of which nothing tells: each pair of instructions once
    /// ([`Config::unmarked`](crate::Config::unmarked)).
    pub doubts: Vec<Fault>,
}

impl Execution {
    /// Adds the next part of the same launch, without the records of single waves.
    pub fn add_part(&mut self, next: &Self) {
        self.waves += next.waves;
        self.wave_instructions += next.wave_instructions;
        self.lane_instructions += next.lane_instructions;
        self.seconds += next.seconds;
        self.threads = self.threads.max(next.threads);
        self.clash |= next.clash;
        self.took_turns |= next.took_turns;
        let lists =
            [(&mut self.out_of_range, &next.out_of_range), (&mut self.missing_lanes, &next.missing_lanes)];
        for (known, next) in lists {
            for fault in next {
                if known.iter().all(|known| known.pc != fault.pc) {
                    known.push(fault.clone());
                }
            }
        }
        for record in &next.memory {
            match self.memory.binary_search_by_key(&record.key(), MemoryRecord::key) {
                Ok(at) => self.memory[at].sums += record.sums,
                Err(at) => self.memory.insert(at, *record),
            }
        }
        for (op, count) in &next.opcode_stats {
            match self.opcode_stats.binary_search_by_key(&(*op as usize), |(op, _)| *op as usize) {
                Ok(at) => self.opcode_stats[at].1 += count,
                Err(at) => self.opcode_stats.insert(at, (*op, *count)),
            }
        }
    }
}

/// What one wave's executions of one instruction were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepRecord {
    /// Address of the instruction in the code object.
    pub pc: u64,
    /// Global wave index.
    pub wave: u64,
    /// Executions.
    pub executions: u64,
    /// Lanes of EXEC before the instruction, summed.
    pub lanes: u64,
}

/// The accesses of an instruction to a memory, summed over waves. A `flat_*` instruction whose lanes go to
/// several memories has a record for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryRecord {
    /// Address of the instruction in the code object.
    pub pc: u64,
    /// The memory: device memory, LDS or scratch. Scalar accesses have no records.
    pub space: MemorySpace,
    /// A load, a store or an atomic.
    pub access: AccessKind,
    /// How much.
    pub sums: MemorySums,
}

impl MemoryRecord {
    /// The order of records.
    fn key(&self) -> (u64, MemorySpace) {
        (self.pc, self.space)
    }
}

/// Sums over the executions of a memory instruction. Each figure is worked out for one execution by one wave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemorySums {
    /// Executions in which some lane came to this memory.
    pub executions: u64,
    /// Lanes.
    pub lanes: u64,
    /// Bytes that they asked for, those that several lanes want once for each.
    pub bytes: u64,
    /// Lines of 64 and of 128 bytes that they touch; 0 in LDS.
    pub lines: [u64; 2],
    /// Such lines that would hold the same bytes, each once: as many as are touched if these lie close.
    pub least_lines: [u64; 2],
    /// Cycles that the banks of LDS work; 0 elsewhere.
    pub bank_cycles: u64,
    /// The same if no two lanes of a phase met in a bank ([`amdgpu_isa::LdsBanks`]).
    pub least_bank_cycles: u64,
    /// Of atomics, the lanes at the address where the most are: they go one after the other.
    pub turns: u64,
    /// The most of an execution.
    pub most_turns: u64,
}

impl std::ops::AddAssign for MemorySums {
    fn add_assign(&mut self, other: Self) {
        self.executions += other.executions;
        self.lanes += other.lanes;
        self.bytes += other.bytes;
        for (sum, more) in self.lines.iter_mut().zip(other.lines) {
            *sum += more;
        }
        for (sum, more) in self.least_lines.iter_mut().zip(other.least_lines) {
            *sum += more;
        }
        self.bank_cycles += other.bank_cycles;
        self.least_bank_cycles += other.least_bank_cycles;
        self.turns += other.turns;
        self.most_turns = self.most_turns.max(other.most_turns);
    }
}

/// The native count: what one wave's executions of one EXEC-writing instruction did to the mask. OLD is EXEC
/// before, NEW after the instruction.
///
/// It knows nothing of sites. So it is the oracle of every counter: a site's counter must equal the record of
/// its address in the *original* code object. An instruction that narrowed EXEC and belongs to no site is
/// reported. Setting EXEC at the start of a wave does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaskRecord {
    /// Address of the instruction in the code object.
    pub pc: u64,
    /// Global wave index.
    pub wave: u64,
    /// Executions.
    pub writes: u64,
    /// NEW == OLD ≠ 0.
    pub all: u64,
    /// NEW == 0.
    pub none: u64,
    /// NEW is a proper subset of OLD.
    pub narrowed: u64,
    /// NEW has lanes that OLD had not.
    pub gained: u64,
    /// Lanes of OLD, summed.
    pub lanes_in: u64,
    /// Lanes of NEW, summed.
    pub lanes_out: u64,
}

impl MaskRecord {
    pub(crate) fn count(&mut self, old: u64, new: u64) {
        self.writes += 1;
        self.all += u64::from(new == old && old != 0);
        self.none += u64::from(new == 0);
        self.narrowed += u64::from(new != old && new & !old == 0);
        self.gained += u64::from(new & !old != 0);
        self.lanes_in += u64::from(old.count_ones());
        self.lanes_out += u64::from(new.count_ones());
    }
}

/// Where the writes of EXEC of a wave are counted, if they are.
#[derive(Debug, Default)]
pub(crate) struct MaskCounters<'a> {
    /// The first slot of the instructions that the kernel can reach.
    pub(crate) first: usize,
    /// Theirs, by slot; empty when not asked for.
    pub(crate) records: &'a mut [MaskRecord],
}

impl MaskCounters<'_> {
    /// The instruction of a slot has made `new` of EXEC, which was `old`.
    #[inline(always)]
    pub(crate) fn count(&mut self, slot: u32, old: u64, new: u64) {
        if let Some(record) = self.records.get_mut((slot as usize).wrapping_sub(self.first)) {
            record.count(old, new);
        }
    }
}

/// How many workgroups were looked at, of a launch of which not all were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampled {
    /// Workgroups that were looked at.
    pub workgroups: u64,
    /// All.
    pub of: u64,
}

/// The workgroup of a number in a grid, in x, y, z.
pub(crate) fn workgroup(grid: [u32; 3], index: u64) -> [u32; 3] {
    let [width, height, _] = grid.map(u64::from);
    [index % width, index / width % height, index / (width * height)].map(|id| id as u32)
}
