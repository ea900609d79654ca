//! The emulated device.

use std::any::Any;
use std::sync::Arc;

use amdgpu_isa::Arch;
use amdgpu_object::CodeObject;

use crate::check::Fault;
use crate::config::{Config, Uninitialised};
use crate::dispatch::{self, Dispatch, Effort, Launch, Stop};
use crate::load::{self, LoadError, Resident};
use crate::memory::{Copied, Memory, MemoryError, Owner, Protection};
use crate::program::{Program, Sources};
use crate::record::{Execution, Sampled};

/// What a machine's memory held.
#[derive(Clone, Debug, Default)]
pub struct Snapshot(Copied);

impl Snapshot {
    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.0.bytes()
    }
}

/// One emulated GPU: a processor and its memory. A clone has its own copy of the memory, at the same
/// addresses; a [`Program`] loaded before works on both.
#[derive(Clone, Debug)]
pub struct Machine {
    arch: Arch,
    config: Config,
    memory: Memory,
    effort: Effort,
}

impl Machine {
    /// A machine with empty memory.
    pub fn new(arch: Arch, config: Config) -> Self {
        Self { arch, config, memory: Memory::new(), effort: Effort::default() }
    }

    /// A machine that runs code for a processor. For a generic one it is [`Config::member`] where that is one
    /// of its members, else the generic processor itself: what all its members have, and no more.
    pub fn for_code(arch: Arch, config: Config) -> Self {
        let member = config.member.filter(|member| member.runs(arch));
        Self::new(member.unwrap_or(arch), config)
    }

    /// Its processor.
    pub fn arch(&self) -> Arch {
        self.arch
    }

    /// Allocate `bytes` of zeroed device memory at a multiple of `align` (a power of two), and at least of
    /// 256. `label` names it in faults.
    ///
    /// # Errors
    /// An alignment that is not a power of two, or no room.
    pub fn alloc(&mut self, bytes: u64, align: u64, label: &str) -> Result<u64, MemoryError> {
        self.memory.alloc(bytes, align, label, Protection::ReadWrite, Owner::User)
    }

    /// Allocate `bytes` of zeroed device memory at an address of the caller's choice: a recorded program had
    /// it there. Two of these may lie side by side, without a gap. `label` names it in faults.
    ///
    /// # Errors
    /// Addresses that other memory is at or that this machine needs for itself, or no room.
    pub fn alloc_at(&mut self, address: u64, bytes: u64, label: &str) -> Result<(), MemoryError> {
        self.memory.alloc_at(address, bytes, label)
    }

    /// Free an allocation. Its addresses are never used again, unless by [`Machine::alloc_at`].
    ///
    /// # Errors
    /// `address` is not the start of a live allocation.
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        self.memory.free(address)
    }

    /// Make `bytes` bytes of the host's memory, from `host` on, device memory at `address`, until
    /// [`Machine::free`]. `label` names it in faults, `keep` is dropped when neither the machine nor a clone
    /// of it needs the memory any more. Clones share it.
    ///
    /// # Errors
    /// Addresses that are no multiples of 8, or a range that other device memory is in.
    ///
    /// # Safety
    /// The host's range can be read and written until `keep` is dropped. While a kernel runs, the host
    /// program accesses the range only with atomics.
    pub unsafe fn map_host(
        &mut self,
        address: u64,
        host: *const u8,
        bytes: u64,
        label: &str,
        keep: Arc<dyn Any + Send + Sync>,
    ) -> Result<(), MemoryError> {
        // SAFETY: the caller vouches for the range.
        unsafe { self.memory.map_host(address, host, bytes, label, keep) }
    }

    /// Copy bytes to the device.
    ///
    /// # Errors
    /// The range is not within one allocation.
    pub fn write(&mut self, address: u64, from: &[u8]) -> Result<(), MemoryError> {
        self.memory.write(address, from)
    }

    /// Copy bytes to device memory that clones of this machine share ([`Machine::map_host`]). A kernel that
    /// runs sees each aligned word of eight bytes as it was or as it is.
    ///
    /// # Errors
    /// The range is not within one allocation.
    pub fn patch(&self, address: u64, from: &[u8]) -> Result<(), MemoryError> {
        self.memory.write(address, from)
    }

    /// Copy bytes from the device.
    ///
    /// # Errors
    /// The range is not within one allocation.
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryError> {
        self.memory.read(address, into)
    }

    /// The caller's live allocations, by address: first byte, size in bytes, label.
    pub fn allocations(&self) -> impl Iterator<Item = (u64, u64, &str)> {
        self.memory.user_allocations()
    }

    /// The live allocation that a byte is in, the host's and code objects' included: first byte, size in
    /// bytes, label.
    pub fn allocation_around(&self, address: u64) -> Option<(u64, u64, &str)> {
        self.memory.find(address, 1).map(|(allocation, _)| allocation.extent())
    }

    /// The first byte of each live allocation, the host's and code objects' included.
    pub fn allocation_starts(&self) -> impl Iterator<Item = u64> {
        self.memory.allocation_starts()
    }

    /// Map a code object, apply its relocations and decode its text. A word that is no instruction is an
    /// error only when it is executed.
    ///
    /// # Errors
    /// Another processor's code object, undefined symbols, ranges outside the file, or no room.
    pub fn load(&mut self, object: &CodeObject) -> Result<Program, LoadError> {
        self.load_beside(object, &[])
    }

    /// Map a code object as [`Self::load`] does. Its kernels may call functions of `others`, which this
    /// machine has loaded, by their addresses.
    ///
    /// # Errors
    /// As those of [`Self::load`].
    pub fn load_beside(&mut self, object: &CodeObject, others: &[Program]) -> Result<Program, LoadError> {
        let mut program = load::load_beside(self.arch, &mut self.memory, object, others)?;
        program.sources = self.sources(object);
        Ok(program)
    }

    /// Map a code object as [`Self::load`] does. `like` is what another machine of the same configuration
    /// made of that code object: it is used again where this one would be the same, for decoding takes far
    /// longer than mapping.
    ///
    /// # Errors
    /// As those of [`Self::load`].
    pub fn load_like(&mut self, object: &CodeObject, like: &Arc<Program>) -> Result<Arc<Program>, LoadError> {
        let mut program = load::load_like(self.arch, &mut self.memory, object, like)?;
        // Of one that is new; what is shared has them.
        if let Some(new) = Arc::get_mut(&mut program) {
            new.sources = self.sources(object);
        }
        Ok(program)
    }

    /// What tells whether accesses are atomics, where races are looked for.
    fn sources(&self, object: &CodeObject) -> Option<Sources> {
        let sources = || Sources { object: object.clone(), allowed: self.config.allowed.clone() };
        self.config.check_races.then(sources)
    }

    /// Decode a kernel that is in device memory already, and its callees.
    ///
    /// # Errors
    /// No descriptor there, or one whose entry is outside device memory.
    pub fn program_at(&self, resident: &Resident<'_>) -> Result<Program, LoadError> {
        load::resident(self.arch, &self.memory, resident)
    }

    /// Whether the code of such a program, and its descriptor, are still in memory as they were.
    pub fn is_current(&self, program: &Program) -> bool {
        load::is_current(program, &self.memory)
    }

    /// Run an AQL dispatch packet to its end. `program` is that of its kernel ([`Machine::program_at`]).
    ///
    /// # Errors
    /// A [`Fault`] that tells what went wrong and where. Memory keeps what had been written.
    pub fn dispatch(&self, program: &Program, dispatch: &Dispatch) -> Result<Execution, Fault> {
        dispatch::dispatch(&self.memory, &self.config, program, dispatch, None)
    }

    /// Runs a dispatch until `stop` says that it is to end. It then ends with
    /// [`FaultKind::Stopped`](crate::FaultKind) after the time slices that its waves are at, which take
    /// milliseconds.
    ///
    /// # Errors
    /// As [`Machine::dispatch`].
    pub fn dispatch_until(
        &self,
        program: &Program,
        dispatch: &Dispatch,
        stop: &Stop<'_>,
    ) -> Result<Execution, Fault> {
        dispatch::dispatch(&self.memory, &self.config, program, dispatch, Some(stop))
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// What launches work with.
    pub(crate) fn with_memory<T>(&mut self, run: impl FnOnce(&mut Memory, &Config) -> T) -> T {
        run(&mut self.memory, &self.config)
    }

    /// A copy of all memory that a launch may write, but for the host's.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(self.memory.copy())
    }

    /// Takes a snapshot over an older one, whose memory is used again.
    pub fn snapshot_into(&self, snapshot: &mut Snapshot) {
        self.memory.copy_into(&mut snapshot.0);
    }

    /// Restores the caller's allocations, all of which were there.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        self.memory.restore_user(&snapshot.0);
    }

    /// Restores all memory from a snapshot of this machine: the caller's allocations, all of which were
    /// there, and the variables of programs.
    pub fn restore_all(&mut self, snapshot: &Snapshot) {
        self.memory.restore(&snapshot.0);
    }

    /// A copy of this machine with memory as in a snapshot of it. Allocations that have been freed since are
    /// there again.
    #[must_use]
    pub fn as_of(&self, snapshot: &Snapshot) -> Self {
        let mut machine = self.clone();
        machine.memory.revive(&snapshot.0);
        machine.restore_all(snapshot);
        machine
    }

    /// Whether another launch from the memory of `before` does not end with this fault, if unwritten memory
    /// has another dword. Memory stays as it is.
    pub fn is_by_unwritten(
        &mut self,
        program: &Program,
        launch: &Launch,
        before: &Snapshot,
        fault: &Fault,
    ) -> bool {
        dispatch::is_by_unwritten(
            &mut self.memory,
            &self.config,
            program,
            launch,
            &before.0,
            &self.effort,
            fault,
        )
    }

    /// Launches a kernel as [`Machine::launch`] does, if memory is now as in `before`: nothing needs to be
    /// copied then.
    ///
    /// # Errors
    /// As [`Machine::launch`].
    pub fn launch_from(
        &mut self,
        program: &Program,
        launch: &Launch,
        before: &Snapshot,
    ) -> Result<Execution, Fault> {
        dispatch::launch(&mut self.memory, &self.config, program, launch, Some(&before.0), &mut self.effort)
    }

    /// What registers, LDS and scratch memory hold before they are written.
    pub fn uninitialised(&self) -> Uninitialised {
        self.config.uninitialised
    }

    /// What registers, LDS and scratch memory hold in launches from now on before they are written.
    pub fn set_uninitialised(&mut self, dword: Uninitialised) {
        self.config.uninitialised = dword;
    }

    /// Whether the memory after a launch depends on values that nothing had written. A second launch has
    /// another dword for those values, and this function compares its memory. Memory is as after the launch,
    /// and stays so; `before` is the memory before it. If not all workgroups were looked at
    /// ([`Config::thorough`]), returns how many were.
    ///
    /// # Errors
    /// A [`FaultKind::Unwritten`](crate::FaultKind) if there is a difference.
    pub fn find_unwritten(
        &mut self,
        program: &Program,
        launch: &Launch,
        execution: &Execution,
        before: &Snapshot,
    ) -> Result<Option<Sampled>, Fault> {
        let Self { memory, config, effort, .. } = self;
        dispatch::find_unwritten(memory, config, program, launch, execution, &before.0, effort)
    }

    /// Whether a kernel, which ended well from the memory `before`, computes with values that nothing had
    /// written. Other than [`Machine::find_unwritten`], this function does not ask whether the results show
    /// it. Each instruction is looked at, which takes many times as long as the launch. Memory stays as it
    /// is.
    ///
    /// # Errors
    /// The first instruction that does ([`FaultKind::UnwrittenRead`](crate::FaultKind)); or another fault,
    /// which only happens with another dword in place of such values.
    pub fn find_unwritten_read(
        &mut self,
        program: &Program,
        launch: &Launch,
        before: &Snapshot,
    ) -> Result<(), Fault> {
        dispatch::find_unwritten_read(&mut self.memory, &self.config, program, launch, &before.0)
    }

    /// Whether a kernel, which ended well from the memory `before`, makes a NaN or an infinity of numbers. It
    /// counts only if it, or another that comes of it, is stored. Each float operation is looked at, which
    /// takes many times as long as the launch. Memory stays as it is. If not all workgroups were looked at,
    /// returns how many were.
    ///
    /// # Errors
    /// The first that is stored ([`FaultKind::NotFinite`](crate::FaultKind)), or that the launch was stopped.
    pub fn find_non_finite(
        &mut self,
        program: &Program,
        launch: &Launch,
        before: &Snapshot,
    ) -> Result<Option<Sampled>, Fault> {
        dispatch::find_non_finite(&mut self.memory, &self.config, program, launch, &before.0)
    }

    /// Whether checks look through all workgroups ([`Config::thorough`]).
    pub const fn is_thorough(&self) -> bool {
        self.config.thorough
    }

    /// Whether a kernel, which ended well from the memory `before`, uses a register before a load has surely
    /// brought it. `execution` tells of that launch. Each instruction is looked at while a load is under
    /// way, which takes many times as long as the launch. Memory stays as it is. If not all workgroups were
    /// looked at, returns how many were.
    ///
    /// # Errors
    /// The first use ([`FaultKind::MissingWait`](crate::FaultKind)), or that the launch was stopped.
    pub fn find_early_use(
        &mut self,
        program: &Program,
        launch: &Launch,
        execution: &Execution,
        before: &Snapshot,
    ) -> Result<Option<Sampled>, Fault> {
        let Self { memory, config, effort, .. } = self;
        dispatch::find_early_use(memory, config, program, launch, execution, &before.0, effort)
    }

    /// Run a kernel to its end.
    ///
    /// # Errors
    /// A [`Fault`] that tells what went wrong and where. Memory keeps what had been written.
    pub fn launch(&mut self, program: &Program, launch: &Launch) -> Result<Execution, Fault> {
        dispatch::launch(&mut self.memory, &self.config, program, launch, None, &mut self.effort)
    }
}
