//! Launches of AQL kernel dispatch packets that are in device memory already, as a GPU's packet processor
//! makes them.

use super::registers::{Places, Setup};
use super::{Launch, MAX_WORKGROUP, Shared, Stop, has_code, run};
use crate::check::Fault;
use crate::config::Config;
use crate::memory::Memory;
use crate::program::Program;
use crate::record::Execution;

/// A kernel dispatch packet to run (HSA runtime specification, `hsa_kernel_dispatch_packet_t`). Everything it
/// needs is in device memory: the packet, its queue's `amd_queue_t`, the kernel's arguments and the code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dispatch {
    /// Device address of the 64 bytes of the packet.
    pub packet: u64,
    /// Device address of the queue's `amd_queue_t`.
    pub queue: u64,
    /// Host threads; 0 for all cores.
    pub threads: usize,
    /// Wave-instructions that one workgroup may run; 0 for the machine's default.
    pub budget: u64,
    /// Record what every write to EXEC did.
    pub record_masks: bool,
}

/// The fields of a packet.
struct Packet {
    block: [u32; 3],
    items: [u32; 3],
    private: u32,
    group: u32,
    kernarg: u64,
}

impl Packet {
    fn read(memory: &Memory, address: u64) -> Option<Self> {
        let mut bytes = [0; 64];
        memory.read(address, &mut bytes).ok()?;
        let half = |at: usize| u32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Some(Self {
            block: [half(4), half(6), half(8)],
            items: [word(12), word(16), word(20)],
            private: word(24),
            group: word(28),
            kernarg: u64::from(word(40)) | u64::from(word(44)) << 32,
        })
    }

    /// Why the hardware would not run it.
    fn refused(&self, program: &Program) -> Option<String> {
        let size: u64 = self.block.iter().map(|size| u64::from(*size)).product();
        let most = program.target.arch.limits().lds_bytes;
        if self.items.contains(&0) || self.block.contains(&0) {
            Some(format!("a dimension is zero: grid {:?}, workgroup {:?}", self.items, self.block))
        } else if size > MAX_WORKGROUP {
            Some(format!("{size} work-items a workgroup; there are {MAX_WORKGROUP} at most"))
        } else if self.group > most {
            Some(format!("{} bytes of LDS a workgroup; {} has {most}", self.group, program.target.arch))
        } else {
            None
        }
    }
}

/// Run the kernel of a program made by [`crate::Machine::program_at`].
pub(crate) fn dispatch(
    memory: &Memory,
    config: &Config,
    program: &Program,
    dispatch: &Dispatch,
    stop: Option<&Stop<'_>>,
) -> Result<Execution, Fault> {
    let Some(kernel) = program.kernels.first() else {
        return Err(Fault::dispatch("", "the program has no kernel".to_owned()));
    };
    let name = &kernel.name;
    has_code(kernel)?;
    let Some(packet) = Packet::read(memory, dispatch.packet) else {
        return Err(Fault::dispatch(name, format!("no packet at {:#x}", dispatch.packet)));
    };
    if let Some(reason) = packet.refused(program) {
        return Err(Fault::dispatch(name, reason));
    }
    let launch = Launch {
        grid: std::array::from_fn(|axis| packet.items[axis].div_ceil(packet.block[axis])),
        block: packet.block,
        threads: dispatch.threads,
        budget: dispatch.budget,
        record_masks: dispatch.record_masks,
        ..Launch::new(name.clone())
    };
    let scratch = Setup::scratch_bytes(program.target.arch, packet.private, 0)
        .map_err(|message| Fault::dispatch(name, message))?;
    // The arguments up to the last that the kernel preloads into registers, as far as there is memory.
    let (offset, length) = kernel.descriptor.kernarg_preload();
    let mut kernarg = vec![0; 4 * (usize::from(length) + usize::from(offset))];
    let preloaded = (0..=kernarg.len())
        .rev()
        .step_by(4)
        .find(|size| memory.read(packet.kernarg, &mut kernarg[..*size]).is_ok());
    let places = Places {
        packet: dispatch.packet,
        queue: dispatch.queue,
        kernarg: packet.kernarg,
        kernarg_bytes: &kernarg[..preloaded.unwrap_or(0)],
        scratch,
        items: packet.items,
    };
    let setup = Setup::new(program, kernel, &launch, &places)?;
    let shared = Shared::new(memory, config, program, &launch, kernel, setup, packet.group)?;
    run(&Shared { stop, ..shared })
}
