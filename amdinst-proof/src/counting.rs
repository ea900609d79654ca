//! An instrumented kernel on a machine, with its counter buffer.

use std::ops::Range;

use amdinst_emu::{Execution, Fault, Launch, Machine, MemoryError, Program};
use amdinst_format::counters::{ArgumentError, DecodeError, HEADER_BYTES, Layout, WaveRecord, decode_part};
use amdinst_format::probes::KernelProbes;

/// Alignment of a counter buffer, that of `hipMalloc`.
const ALIGNMENT: u64 = 256;

/// An instrumented kernel that can be launched: a counter buffer on a machine that has loaded its code
/// object.
#[derive(Debug)]
pub struct Counting<'a> {
    probes: &'a KernelProbes,
    layout: &'a Layout,
    /// The buffer's address.
    address: u64,
    /// The buffer has room for the records of some workgroups: the kernel is told where a buffer for all
    /// would begin.
    is_window: bool,
}

/// A launch of an instrumented kernel.
#[derive(Debug)]
pub struct Counted {
    /// The emulator's own count, at the instrumented kernel's addresses.
    pub execution: Execution,
    /// Counters of each wave.
    pub records: Vec<WaveRecord>,
}

/// An instrumented kernel could not be launched, or did not end well.
#[derive(Debug, thiserror::Error)]
pub enum CountingError {
    /// Its counter buffer could not be made, written or read.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// It cannot reach all of the buffer.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// The buffer holds no records after the launch.
    #[error(transparent)]
    Records(#[from] DecodeError),
    /// It ended with a fault.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl<'a> Counting<'a> {
    /// Bytes of a counter buffer for as many workgroups as are launched at a time.
    pub fn buffer_bytes(probes: &KernelProbes, layout: &Layout, workgroups: u64) -> u64 {
        let of_part = u64::from(HEADER_BYTES) + workgroups * group_bytes(layout);
        if is_window(probes) { of_part.min(layout.buffer_size()) } else { layout.buffer_size() }
    }

    /// A kernel of a program that `machine` has loaded, with a buffer of its own for as many workgroups as
    /// are launched at a time.
    ///
    /// # Errors
    /// There is no room for the buffer.
    pub fn new(
        machine: &mut Machine,
        program: &Program,
        probes: &'a KernelProbes,
        layout: &'a Layout,
        workgroups: u64,
    ) -> Result<Self, MemoryError> {
        let bytes = Self::buffer_bytes(probes, layout, workgroups);
        let address = machine.alloc(bytes, ALIGNMENT, "counter buffer")?;
        Self::at(address, machine, program, probes, layout)
    }

    /// As [`Counting::new`], with a buffer that was allocated before.
    ///
    /// # Errors
    /// Nothing is allocated there.
    pub fn at(
        address: u64,
        machine: &mut Machine,
        program: &Program,
        probes: &'a KernelProbes,
        layout: &'a Layout,
    ) -> Result<Self, MemoryError> {
        machine.write(address, &layout.header_bytes())?;
        if let Some(variable) = probes.buffer_symbol.as_ref().and_then(|name| program.variable(name)) {
            machine.write(variable, &address.to_le_bytes())?;
        }
        Ok(Self { probes, layout, address, is_window: is_window(probes) })
    }

    /// A launch of some workgroups as that of the original is, with empty records.
    ///
    /// # Errors
    /// The kernel cannot reach all of the buffer.
    pub fn prepare(
        &self,
        machine: &mut Machine,
        of_original: &Launch,
        part: &Range<u64>,
    ) -> Result<Launch, CountingError> {
        let empty = vec![0; self.record_bytes(part)];
        machine.write(self.first_record(part), &empty)?;
        // A window's head stands right in front of its records.
        let base = if self.is_window { self.address.wrapping_sub(self.offset(part)) } else { self.address };
        let mut launch = of_original.clone();
        self.probes.set_argument(&mut launch.kernarg, self.layout, base)?;
        let is_all = part.end - part.start == launch.workgroups();
        launch.part = (!is_all).then(|| part.clone());
        Ok(launch)
    }

    /// Launches some workgroups as those of the original were. Probes clash with nothing, so what held for
    /// the original's workgroups holds for these. The emulator keeps a count of its own, as it did of the
    /// original, where workgroups took turns: then their loops may go round another number of times.
    ///
    /// # Errors
    /// The kernel cannot reach all of the buffer, ends with a fault, or leaves no records.
    pub fn launch(
        &self,
        machine: &mut Machine,
        program: &Program,
        of_original: &Launch,
        part: &Range<u64>,
        original: &Execution,
    ) -> Result<Counted, CountingError> {
        let mut launch = self.prepare(machine, of_original, part)?;
        launch.record_masks &= original.took_turns;
        launch.record_steps &= original.took_turns;
        if original.threads == 1 || original.clash {
            launch.threads = 1;
        }
        let execution = machine.launch(program, &launch)?;
        let mut header = [0; HEADER_BYTES as usize];
        machine.read(self.address, &mut header)?;
        let mut records = vec![0; self.record_bytes(part)];
        machine.read(self.first_record(part), &mut records)?;
        Ok(Counted { execution, records: decode_part(&header, &records, part.start)? })
    }

    /// Where the records of some workgroups begin among those of all, in bytes.
    fn offset(&self, part: &Range<u64>) -> u64 {
        part.start * group_bytes(self.layout)
    }

    /// Bytes of the records of some workgroups.
    fn record_bytes(&self, part: &Range<u64>) -> usize {
        ((part.end - part.start) * group_bytes(self.layout)) as usize
    }

    /// The address of the first record of some workgroups.
    fn first_record(&self, part: &Range<u64>) -> u64 {
        let offset = if self.is_window { 0 } else { self.offset(part) };
        self.address + u64::from(HEADER_BYTES) + offset
    }
}

/// Whether a kernel takes the address of its buffer as an argument, and finds its record by the number of its
/// workgroup: then any address will do that is right for the workgroups launched.
fn is_window(probes: &KernelProbes) -> bool {
    probes.buffer_argument.is_some() && probes.wave_ids.is_some()
}

/// Bytes of the records of a workgroup.
fn group_bytes(layout: &Layout) -> u64 {
    u64::from(layout.records_per_workgroup()) * u64::from(layout.record_stride)
}
