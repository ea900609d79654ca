//! Why a wave did not issue.

/// What a wave waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Stall {
    /// The result of an instruction, without a counter: registers.
    Dependency,
    /// `s_waitcnt`: vector memory.
    VectorMemory,
    /// `s_waitcnt`: scalar memory.
    ScalarMemory,
    /// `s_waitcnt`: LDS.
    Lds,
    /// More operations under way than a counter counts.
    CounterFull,
    /// The other waves of the workgroup, at a barrier.
    Barrier,
    /// A taken branch: the instruction buffer is filled anew.
    Branch,
    /// The instruction cache.
    Fetch,
    /// `s_nop` and `s_sleep`.
    Pause,
    /// The vector ALU or the matrix core works at another instruction, or another wave got the slot.
    VectorBusy,
    /// The scalar unit works at another instruction, or another wave got the slot.
    ScalarBusy,
    /// The address unit of vector memory is behind, or another wave got the slot.
    VectorMemoryBusy,
    /// LDS is behind, or another wave got the slot.
    LdsBusy,
    /// Another wave got the slot of branches, waits and barriers.
    SpecialBusy,
}

impl Stall {
    /// Every cause, in the order of [`Breakdown::stalls`].
    pub const ALL: [Self; 14] = [
        Self::Dependency,
        Self::VectorMemory,
        Self::ScalarMemory,
        Self::Lds,
        Self::CounterFull,
        Self::Barrier,
        Self::Branch,
        Self::Fetch,
        Self::Pause,
        Self::VectorBusy,
        Self::ScalarBusy,
        Self::VectorMemoryBusy,
        Self::LdsBusy,
        Self::SpecialBusy,
    ];

    /// The name in JSON and in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dependency => "dependency",
            Self::VectorMemory => "vector-memory",
            Self::ScalarMemory => "scalar-memory",
            Self::Lds => "lds",
            Self::CounterFull => "counter-full",
            Self::Barrier => "barrier",
            Self::Branch => "branch",
            Self::Fetch => "fetch",
            Self::Pause => "pause",
            Self::VectorBusy => "vector-busy",
            Self::ScalarBusy => "scalar-busy",
            Self::VectorMemoryBusy => "vector-memory-busy",
            Self::LdsBusy => "lds-busy",
            Self::SpecialBusy => "special-busy",
        }
    }
}

/// Wave-cycles: those in which waves issued, and those in which they waited, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Breakdown {
    /// Cycles of issue: four an instruction.
    pub issue: u64,
    /// Cycles of waiting, in the order of [`Stall::ALL`].
    pub stalls: [u64; Stall::ALL.len()],
}

impl Breakdown {
    /// Cycles of waiting for one cause.
    pub const fn of(&self, stall: Stall) -> u64 {
        self.stalls[stall as usize]
    }

    /// Cycles of waiting.
    pub fn waiting(&self) -> u64 {
        self.stalls.iter().sum()
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.issue + self.waiting()
    }

    /// Adds the cycles of another.
    pub fn add(&mut self, other: &Self) {
        self.issue += other.issue;
        for (sum, more) in self.stalls.iter_mut().zip(other.stalls) {
            *sum += more;
        }
    }
}
