//! What can stop a launch, and where.

use std::fmt;

use amdgpu_isa::{Op, Reg};

/// The memory an access went to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemorySpace {
    /// Device memory, by `global_*`, `buffer_*` or `flat_*`.
    Global,
    /// Device memory, by a scalar load or store.
    Scalar,
    /// The workgroup's LDS.
    Lds,
    /// A work-item's private memory.
    Scratch,
}

impl fmt::Display for MemorySpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Global => "global memory",
            Self::Scalar => "global memory (scalar access)",
            Self::Lds => "LDS",
            Self::Scratch => "scratch",
        })
    }
}

/// What holds a value that nothing has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    /// A register.
    Register(Reg),
    /// Memory.
    Memory {
        /// Which.
        space: MemorySpace,
        /// Where in it; in the work-item's own, if it is scratch.
        address: u64,
    },
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Register(register) => register.fmt(f),
            Self::Memory { space, address } => write!(f, "{space} at {address:#x}"),
        }
    }
}

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// By a load.
    Read,
    /// By a store.
    Write,
    /// By an atomic.
    Atomic,
}

impl AccessKind {
    /// The kind of a load or a store.
    pub(crate) const fn plain(write: bool) -> Self {
        if write { Self::Write } else { Self::Read }
    }

    /// What it does to the bytes.
    const fn verb(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Atomic => "atomic",
        }
    }
}

/// The allocation closest to a stray address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearestAllocation {
    /// The label it was allocated with.
    pub label: String,
    /// Its first byte.
    pub address: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Bytes from its end to the access (positive), or from its first byte back to the access (negative).
    /// Zero for an access that begins inside it and runs over its end.
    pub distance: i64,
}

impl fmt::Display for NearestAllocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { label, address, size, distance } = self;
        match distance {
            0 => write!(f, "it runs over the end of `{label}` ({size} bytes at {address:#x})"),
            1.. => write!(f, "{distance} bytes past the end of `{label}` ({size} bytes at {address:#x})"),
            _ => {
                write!(f, "{} bytes before `{label}` ({size} bytes at {address:#x})", distance.unsigned_abs())
            }
        }
    }
}

/// Where in an allocation an access is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inside {
    /// The label it was allocated with.
    pub label: String,
    /// Bytes from its first one to the access.
    pub offset: u64,
}

impl fmt::Display for Inside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {} of `{}`", self.offset, self.label)
    }
}

/// A float that is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotFinite {
    /// It is none.
    Nan,
    /// It is too large, of either sign.
    Infinity,
}

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nan => "a NaN",
            Self::Infinity => "an infinity",
        })
    }
}

/// What a wave waits for that other workgroups are to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A change of device memory that it reads again and again.
    Change {
        /// How many bytes.
        bytes: u8,
        /// The first byte's address.
        address: u64,
        /// Where that is in an allocation.
        inside: Option<Box<Inside>>,
    },
    /// More waves at a counter of global wave sync.
    Waves {
        /// The counter's number.
        resource: u32,
    },
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Change { bytes, address, inside } => {
                write!(f, "a change of {bytes} bytes at {address:#x}{}", within(inside))
            }
            Self::Waves { resource } => write!(f, "other workgroups at global wave sync {resource}"),
        }
    }
}

/// Why a launch stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// An access outside every allocation.
    #[error("out of bounds: {} of {size} bytes at {address:#x} in {space}{}", verb(*write), near(nearest))]
    OutOfBounds {
        /// The memory accessed.
        space: MemorySpace,
        /// Address in that memory (LDS and scratch: byte offset).
        address: u64,
        /// Bytes accessed.
        size: u32,
        /// The access was a write or an atomic.
        write: bool,
        /// The closest allocation, if there is any.
        nearest: Option<Box<NearestAllocation>>,
    },
    /// An access to memory that has been freed.
    #[error("use after free: {} of {size} bytes at {address:#x}, in `{label}` which has been freed", verb(*write))]
    UseAfterFree {
        /// Address accessed.
        address: u64,
        /// Bytes accessed.
        size: u32,
        /// The access was a write or an atomic.
        write: bool,
        /// The label of the freed allocation.
        label: String,
    },
    /// An access close to address zero.
    #[error("null pointer: {} of {size} bytes at {address:#x}", verb(*write))]
    NullPointer {
        /// Address accessed.
        address: u64,
        /// Bytes accessed.
        size: u32,
        /// The access was a write or an atomic.
        write: bool,
    },
    /// An access that must be aligned and is not.
    #[error("misaligned: {} of {size} bytes at {address:#x} in {space} must be a multiple of {required}", verb(*write))]
    Misaligned {
        /// The memory accessed.
        space: MemorySpace,
        /// Address in that memory.
        address: u64,
        /// Bytes accessed.
        size: u32,
        /// Alignment asked for, in bytes.
        required: u32,
        /// The access was a write or an atomic.
        write: bool,
    },
    /// A write to constant data or code.
    #[error("write to read-only memory: {size} bytes at {address:#x}, in `{label}`")]
    ReadOnly {
        /// Address accessed.
        address: u64,
        /// Bytes accessed.
        size: u32,
        /// The label of the allocation.
        label: String,
    },
    /// An instruction that this emulator does not execute.
    #[error("unimplemented instruction `{}`: the emulator does not execute it{}", op.name(), why(form))]
    Unimplemented {
        /// The instruction.
        op: Op,
        /// Which form of it, where only that is missing; else empty.
        form: &'static str,
    },
    /// A word that is no instruction of the target.
    #[error("undecodable instruction: {0}")]
    Undecodable(String),
    /// A jump to an address that is not an instruction of the code object.
    #[error("jump outside the code object's instructions, to device address {target:#x}")]
    JumpOutside {
        /// Where it would go, as a device address.
        target: u64,
    },
    /// A launch of a kernel that has no instructions.
    #[error("the kernel has no instructions: on a GPU it would go on into the code behind it")]
    NoCode,
    /// A register beyond those that the kernel's descriptor allots to each wave, named by the instruction or
    /// reached by an index.
    #[error("register {}{index} is beyond the {available} {bank}s that the kernel's descriptor allots", bank.letter())]
    RegisterIndex {
        /// What kind of register.
        bank: RegisterBank,
        /// Its number.
        index: i64,
        /// How many there are.
        available: u32,
    },
    /// A trap handler was called: `llvm.trap`, a Rust panic or an assertion in the kernel.
    #[error("the kernel trapped (s_trap {0}): a panic, an assertion or `llvm.trap`")]
    Trap(u8),
    /// A workgroup ran more wave-instructions than its budget.
    #[error(
        "instruction budget exhausted: the workgroup ran {budget} wave-instructions; an endless loop, or set a larger budget{}",
        at_barrier(*waiting)
    )]
    Budget {
        /// The budget.
        budget: u64,
        /// Other waves of the workgroup that waited at a barrier then: what this wave waits for may be behind
        /// it.
        waiting: u32,
    },
    /// Who launched the kernel has it stopped ([`crate::Machine::dispatch_until`], [`crate::Config::stop`]).
    #[error("stopped before its end")]
    Stopped,
    /// Instructions of a wave ask for a lane that only larger waves have: hardware takes another one. It is
    /// told, and stops nothing ([`crate::Execution::missing_lanes`]).
    #[error("lane {lane} does not exist in waves of {lanes} lanes: what lane {} has is taken", lane % lanes)]
    NoSuchLane {
        /// The lane.
        lane: u32,
        /// How many lanes the wave has.
        lanes: u32,
    },
    /// Waves have halted, and nothing wakes them: on hardware the launch would not end.
    #[error(
        "never ends: {} halted (`s_sethalt`, `s_sendmsghalt`), and nothing wakes {}",
        waves(*halted, "has", "have"),
        if *halted == 1 { "it" } else { "them" }
    )]
    Halted {
        /// Waves of the workgroup that will not go on.
        halted: u32,
    },
    /// A wave goes round a loop for ever: it leaves all as it was, and nothing that it reads can change.
    #[error(
        "never ends: the wave goes round a loop that changes nothing{}{}",
        if *reads { ", and what it reads in LDS no other wave changes" } else { " and reads nothing" },
        at_barrier(*waiting)
    )]
    Endless {
        /// It reads LDS, and no wave of its workgroup gets on.
        reads: bool,
        /// Other waves of the workgroup that wait at a barrier: what this wave waits for may be behind it.
        waiting: u32,
    },
    /// Every workgroup that runs waits for another one, none writes anything, and no other can begin.
    #[error("never ends: the wave waits for {wanted}{}", deadlock(*waiting, *not_begun))]
    Deadlock {
        /// Workgroups that run, all of which wait.
        waiting: u64,
        /// Workgroups that cannot begin before one of them ends.
        not_begun: u64,
        /// What this one waits for.
        wanted: Box<Wanted>,
    },
    /// Waves wait at a barrier which cannot complete.
    #[error(
        "deadlocked barrier: {} at it and {} halted for good",
        waves(*waiting, "waits", "wait"),
        waves(*halted, "is", "are")
    )]
    BarrierDeadlock {
        /// Waves at the barrier.
        waiting: u32,
        /// Waves that will never arrive.
        halted: u32,
    },
    /// Waves wait at a barrier that is signalled and waited at by two instructions, and others have not
    /// signalled and never will.
    #[error("deadlocked barrier: {} at it, but it has not been signalled by all", waves(*waiting, "waits", "wait"))]
    BarrierUnsignalled {
        /// Waves at the barrier.
        waiting: u32,
    },
    /// A barrier completed although some waves had ended ([`crate::Config::strict_barriers`]).
    #[error(
        "barrier in divergent control flow: {} at it and {} ended",
        waves(*waiting, "waits", "wait"),
        waves(*ended, "has", "have")
    )]
    BarrierMismatch {
        /// Waves at the barrier.
        waiting: u32,
        /// Waves that ended without arriving.
        ended: u32,
    },
    /// A barrier completed although some lanes of a wave had not reached it
    /// ([`crate::Config::strict_barriers`]).
    #[error(
        "barrier in divergent control flow: {} of the wave's {started} work-items {} at it",
        started - arrived,
        if started - arrived == 1 { "is not" } else { "are not" }
    )]
    BarrierDivergence {
        /// Work-items at the barrier.
        arrived: u32,
        /// Work-items that the wave began with.
        started: u32,
    },
    /// Two waves access the same memory, and nothing orders them ([`crate::Config::check_races`]).
    #[error(
        "data race{} in {space}: {} of {size} bytes at {address:#x}{}, after {} by wave {wave} {}",
        unless(*certain, "both accesses are atomic"),
        access.verb(),
        within(inside),
        a(*earlier),
        unordered(*workgroup)
    )]
    Race {
        /// The memory accessed.
        space: MemorySpace,
        /// First byte of the access in that memory.
        address: u64,
        /// Its bytes.
        size: u32,
        /// The allocation that they are in, for device memory.
        inside: Option<Box<Inside>>,
        /// The kind of access.
        access: AccessKind,
        /// What an earlier access does to one of them at least.
        earlier: AccessKind,
        /// The wave, by its number in the workgroup, of the earlier access.
        wave: u32,
        /// The workgroup of the earlier access, if it is another one.
        workgroup: Option<[u32; 3]>,
        /// At least one of the two accesses is not atomic. Where that is unknown, the pair is among
        /// [`crate::Execution::doubts`].
        certain: bool,
    },
    /// Two lanes store different values to one place by one instruction ([`crate::Config::check_races`]).
    #[error(
        "data race{} in {space}: write of {size} bytes at {address:#x}{}, where lane {other} writes another value by the same \
         instruction",
        unless(*certain, "the access is atomic"),
        within(inside)
    )]
    LaneRace {
        /// The memory accessed.
        space: MemorySpace,
        /// First byte of the lane's access in that memory.
        address: u64,
        /// Its bytes.
        size: u32,
        /// The allocation that they are in, for device memory.
        inside: Option<Box<Inside>>,
        /// The other lane.
        other: u8,
        /// The store is not atomic. Else nothing tells.
        certain: bool,
    },
    /// A kernel's results depend on registers, LDS or scratch memory that nothing had written
    /// ([`crate::Machine::find_unwritten`]).
    #[error(
        "uninitialized value: write of {size} bytes at {address:#x}{} depends on {} that nothing has written{}",
        within(inside),
        unwritten(*space),
        stands_for(*holds)
    )]
    Unwritten {
        /// LDS or scratch memory, if that alone makes a difference; else registers, or more than one of
        /// these.
        space: Option<MemorySpace>,
        /// First byte of the write.
        address: u64,
        /// Its bytes.
        size: u32,
        /// The allocation that they are in.
        inside: Option<Box<Inside>>,
        /// The dword that stands for unwritten memory, if it was stored unchanged.
        holds: Option<u32>,
    },
    /// A kernel has made a NaN or an infinity of numbers, or a NaN of infinities, and what comes of it is
    /// stored ([`crate::Machine::find_non_finite`]).
    #[error(
        "not a number: {made} is made{}, and what comes of it is stored in {size} bytes at {address:#x}{}",
        made_of(operands),
        within(inside)
    )]
    NotFinite {
        /// The value that is made.
        made: NotFinite,
        /// The values that the instruction computes with, as people read them; none of matrices.
        operands: Vec<String>,
        /// First byte of the store.
        address: u64,
        /// Its bytes.
        size: u32,
        /// The allocation that they are in.
        inside: Option<Box<Inside>>,
    },
    /// An instruction computes with a value that nothing has written
    /// ([`crate::Machine::find_unwritten_read`]).
    #[error("uninitialized value: nothing has written the content of {holder}")]
    UnwrittenRead {
        /// What holds it.
        holder: Holder,
    },
    /// An instruction uses a register before a load has surely brought it
    /// ([`crate::Machine::find_early_use`]). The load is the earlier step.
    #[error(
        "missing wait: {register} is {} before a load has surely brought it; `{wait}` is missing in between",
        if *reads { "read" } else { "written" }
    )]
    MissingWait {
        /// The register, as `v3` or `s4`.
        register: String,
        /// It is read; else it is written, and the load would replace that.
        reads: bool,
        /// The wait, as it is written.
        wait: String,
    },
    /// The launch itself is wrong.
    #[error("invalid launch: {0}")]
    BadDispatch(String),
    /// The code object's facts about the kernel cannot be.
    #[error("the code object is damaged: {0}")]
    Damaged(String),
    /// The launch needs more memory than this machine has.
    #[error("no room: {0}")]
    NoRoom(String),
}

/// A kind of register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegisterBank {
    /// Scalar registers, `s0` and on.
    Sgpr,
    /// Vector registers, `v0` and on.
    Vgpr,
    /// Accumulation registers, `a0` and on.
    Agpr,
}

impl RegisterBank {
    /// The letter before its registers' numbers.
    pub const fn letter(self) -> char {
        match self {
            Self::Sgpr => 's',
            Self::Vgpr => 'v',
            Self::Agpr => 'a',
        }
    }
}

impl fmt::Display for RegisterBank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sgpr => "SGPR",
            Self::Vgpr => "VGPR",
            Self::Agpr => "AGPR",
        })
    }
}

impl FaultKind {
    /// Whether it matters where the other waves of the workgroup are: who has not come, who goes on.
    pub(crate) const fn is_of_all_waves(&self) -> bool {
        matches!(
            self,
            Self::Budget { .. }
                | Self::Stopped
                | Self::Halted { .. }
                | Self::Endless { .. }
                | Self::Deadlock { .. }
                | Self::BarrierDeadlock { .. }
                | Self::BarrierUnsignalled { .. }
                | Self::BarrierMismatch { .. }
                | Self::BarrierDivergence { .. }
        )
    }

    /// A stable word for it, for programs that read reports (`out-of-bounds`).
    pub const fn word(&self) -> &'static str {
        match self {
            Self::OutOfBounds { .. } => "out-of-bounds",
            Self::UseAfterFree { .. } => "use-after-free",
            Self::NullPointer { .. } => "null-pointer",
            Self::Misaligned { .. } => "misaligned",
            Self::ReadOnly { .. } => "read-only",
            Self::Unimplemented { .. } => "unimplemented",
            Self::Undecodable(_) => "undecodable",
            Self::JumpOutside { .. } => "jump-outside",
            Self::NoCode => "no-code",
            Self::RegisterIndex { .. } => "register-index",
            Self::Trap(_) => "trap",
            Self::Budget { .. } => "budget",
            Self::Stopped => "stopped",
            Self::BarrierDeadlock { .. } | Self::BarrierUnsignalled { .. } => "barrier-deadlock",
            Self::BarrierMismatch { .. } => "barrier-mismatch",
            Self::BarrierDivergence { .. } => "barrier-divergence",
            Self::Race { certain: false, .. } | Self::LaneRace { certain: false, .. } => "atomicity-unknown",
            Self::Race { .. } => "race",
            Self::LaneRace { .. } => "lane-race",
            Self::Unwritten { .. } | Self::UnwrittenRead { .. } => "uninitialized",
            Self::NotFinite { .. } => "not-finite",
            Self::MissingWait { .. } => "missing-wait",
            Self::BadDispatch(_) => "bad-dispatch",
            Self::Damaged(_) => "damaged",
            Self::NoRoom(_) => "no-room",
            Self::NoSuchLane { .. } => "no-such-lane",
            Self::Halted { .. } => "halted",
            Self::Endless { .. } => "endless",
            Self::Deadlock { .. } => "deadlock",
        }
    }
}

/// `1 wave waits`, `2 waves wait`.
fn waves(count: u32, one: &str, many: &str) -> String {
    if count == 1 { format!("1 wave {one}") } else { format!("{count} waves {many}") }
}

/// Who will not make the change that a wave waits for.
fn deadlock(waiting: u64, not_begun: u64) -> String {
    let others = match waiting {
        1 => "no other workgroup runs".to_owned(),
        2 => "the other workgroup that runs waits too".to_owned(),
        _ => format!("the other {} workgroups that run wait too", waiting - 1),
    };
    match not_begun {
        0 => format!(", and {others}"),
        1 => format!(", and {others}; 1 workgroup has no room to begin"),
        _ => format!(", and {others}; {not_begun} workgroups have no room to begin"),
    }
}

/// What would make it no race.
fn unless(certain: bool, what: &str) -> String {
    if certain { String::new() } else { format!(" (unless {what})") }
}

/// Of which values.
fn made_of(operands: &[String]) -> String {
    if operands.is_empty() { String::new() } else { format!(" of {}", operands.join(", ")) }
}

/// What nothing has written.
fn unwritten(space: Option<MemorySpace>) -> String {
    space.map_or_else(|| "a register".to_owned(), |space| space.to_string())
}

/// Whether a dword is the one that stands for such values.
fn stands_for(dword: Option<u32>) -> String {
    dword.map(|dword| format!("; it is {dword:#010x}, which stands for such a value")).unwrap_or_default()
}

/// `a read`, `an atomic`.
fn a(access: AccessKind) -> String {
    let article = if access == AccessKind::Atomic { "an" } else { "a" };
    format!("{article} {}", access.verb())
}

fn within(inside: &Option<Box<Inside>>) -> String {
    inside.as_ref().map(|inside| format!(" ({inside})")).unwrap_or_default()
}

fn unordered(workgroup: Option<[u32; 3]>) -> String {
    match workgroup {
        Some([x, y, z]) => format!("of workgroup ({x}, {y}, {z}), and nothing orders the two"),
        None => "with no barrier in between".to_owned(),
    }
}

fn at_barrier(waiting: u32) -> String {
    match waiting {
        0 => String::new(),
        _ => format!("; {} at a barrier meanwhile", waves(waiting, "waits", "wait")),
    }
}

fn verb(write: bool) -> &'static str {
    if write { "write" } else { "read" }
}

fn why(form: &str) -> String {
    if form.is_empty() { String::new() } else { format!(" ({form})") }
}

fn near(nearest: &Option<Box<NearestAllocation>>) -> String {
    nearest.as_ref().map_or_else(|| "; nothing is allocated there".to_owned(), |near| format!(": {near}"))
}

/// Why and where a launch stopped. Earlier writes stay in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// The kernel's name.
    pub kernel: String,
    /// The workgroup, in x, y, z.
    pub workgroup: [u32; 3],
    /// Which wave of its workgroup.
    pub wave: u32,
    /// The lane, where one lane is at fault.
    pub lane: Option<u8>,
    /// Address of the instruction in the code object; `None` when nothing was executed yet.
    pub pc: Option<u64>,
    /// The instruction, as LLVM would print it.
    pub instruction: String,
    /// Addresses of the calls that led to the instruction's function, innermost first. Empty in the kernel
    /// itself.
    pub calls: Vec<u64>,
    /// The lane's values, if the kernel itself called the trap handler.
    pub lane_state: Option<Box<LaneState>>,
    /// The instruction that it clashes with, for a [`FaultKind::Race`]; the one that read unwritten bytes,
    /// for a [`FaultKind::Unwritten`] of LDS.
    pub earlier: Option<Box<Earlier>>,
    /// Where each wave of the workgroup is, in order, if the launch would not end or a barrier is at fault.
    pub waves: Vec<StandingWave>,
}

/// Where a wave is when its workgroup cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandingWave {
    /// Its number in the workgroup.
    pub wave: u32,
    /// Why it is there.
    pub stand: Stand,
    /// The address in the code object of the instruction that it executed last.
    pub pc: u64,
    /// Addresses of the calls that led to the instruction's function, innermost first.
    pub calls: Vec<u64>,
    /// The active lanes, a bit each.
    pub exec: u64,
}

/// Why a wave is where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stand {
    /// It would go on.
    Runs,
    /// It waits at a barrier.
    AtBarrier,
    /// It waits for waves of other workgroups.
    AtSync,
    /// It halted for good.
    Halted,
    /// It has ended.
    Ended,
}

impl Stand {
    /// A stable word for it, for programs that read reports (`at-barrier`).
    pub const fn word(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::AtBarrier => "at-barrier",
            Self::AtSync => "at-sync",
            Self::Halted => "halted",
            Self::Ended => "ended",
        }
    }
}

/// An instruction that was executed before a fault, and is part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// Its address in the code object.
    pub pc: u64,
    /// The instruction, as LLVM would print it.
    pub instruction: String,
    /// Addresses of the calls that led to the instruction's function, innermost first.
    pub calls: Vec<u64>,
}

/// What a lane held when it trapped: what a panic says is still in there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneState {
    /// The lane; where all trapped, the first.
    pub lane: u8,
    /// VGPRs from v0 on.
    pub vgprs: Vec<u32>,
    /// AGPRs from a0 on.
    pub agprs: Vec<u32>,
    /// Its private memory.
    pub scratch: Vec<u8>,
    /// Device address of the code object's address 0.
    pub bias: u64,
}

impl Fault {
    /// What happened, without where.
    pub fn detail(&self) -> String {
        self.kind.to_string()
    }

    pub(crate) fn dispatch(kernel: &str, message: String) -> Self {
        Self {
            kind: FaultKind::BadDispatch(message),
            kernel: kernel.to_owned(),
            workgroup: [0; 3],
            wave: 0,
            lane: None,
            pc: None,
            instruction: String::new(),
            calls: Vec::new(),
            lane_state: None,
            earlier: None,
            waves: Vec::new(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`: {}", self.kernel, self.kind)?;
        if let Some(pc) = self.pc {
            let [x, y, z] = self.workgroup;
            write!(f, "; pc {pc:#x} `{}`, workgroup ({x}, {y}, {z}), wave {}", self.instruction, self.wave)?;
            if let Some(lane) = self.lane {
                write!(f, ", lane {lane}")?;
            }
        }
        if let Some(Earlier { pc, instruction, .. }) = self.earlier.as_deref() {
            write!(f, "; before it pc {pc:#x} `{instruction}`")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

/// A fault before the place is known: what an instruction's execution returns.
#[derive(Debug)]
pub(crate) struct Trap {
    pub(crate) kind: FaultKind,
    pub(crate) lane: Option<u8>,
    /// Site of an earlier access that it is about as well.
    pub(crate) earlier: Option<u32>,
}

impl Trap {
    pub(crate) fn new(kind: FaultKind) -> Box<Self> {
        Box::new(Self { kind, lane: None, earlier: None })
    }

    pub(crate) fn at_lane(kind: FaultKind, lane: usize) -> Box<Self> {
        Box::new(Self { kind, lane: u8::try_from(lane).ok(), earlier: None })
    }

    /// A trap of an access and of another one, which an earlier step made.
    pub(crate) fn of_two(kind: FaultKind, lane: Option<usize>, earlier: u32) -> Box<Self> {
        Box::new(Self { kind, lane: lane.and_then(|lane| u8::try_from(lane).ok()), earlier: Some(earlier) })
    }

    pub(crate) fn unimplemented(op: Op, form: &'static str) -> Box<Self> {
        Self::new(FaultKind::Unimplemented { op, form })
    }
}

/// What executing an instruction returns. Boxed, so that the good case stays in a register.
pub(crate) type Outcome<T = ()> = Result<T, Box<Trap>>;

/// Something that a wave may not do, and that hardware lets pass.
#[derive(Debug)]
pub(crate) struct Passed {
    /// Number of the wave.
    pub(crate) wave: u64,
    /// Steps of the calls that led there.
    pub(crate) calls: Vec<u32>,
    /// What it would have been otherwise.
    pub(crate) trap: Box<Trap>,
}
