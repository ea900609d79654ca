//! What the runtime has allocated and registered, and which GPUs see it.
//!
//! The runtime chooses the address that GPUs see a block at, and names the block by its handle. What is
//! allocated here is pages of a file of the driver: the program maps them at the same address, and the
//! emulator elsewhere ([`Machine::map_host`](amdinst_emu::Machine::map_host)). Memory of the program's own
//! that it registers may have another address for GPUs. A GPU sees what has been mapped to it, and nothing
//! else: a kernel that reaches any other memory of the process faults, as on hardware.
//!
//! A launch runs on the memory as it was mapped when it began. Pages are unmapped when no launch sees them
//! any more.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::device_file::DeviceFile;
use crate::errno::{Errno, Outcome};
use crate::gpu::{DEVICE_MEMORY, Gpu};
use crate::host_memory::{Mapping, PAGE};
use crate::user_memory;

/// The first address that is none of the program's.
const END: u64 = 1 << 47;

/// What a block is made of.
#[derive(Debug)]
pub(crate) enum Pages<'a> {
    /// Memory of a GPU, of which there are so many bytes: pages of its file.
    Device { file: &'a Arc<DeviceFile>, limit: u64 },
    /// Memory of the host, as pages of a GPU's file.
    Host(&'a Arc<DeviceFile>),
    /// Memory of the program's own, at this address.
    Registered(u64),
    /// Addresses that no kernel uses: doorbells and registers, which are pages of the driver's own file.
    Registers { offset: u64 },
}

/// One allocation or registration.
#[derive(Debug)]
struct Block {
    /// Where GPUs see its first byte.
    address: u64,
    size: u64,
    /// The GPU whose memory it is, for what counts.
    node: Option<u32>,
    /// The host's address of its first byte, and what keeps the memory; `None` if no kernel uses it.
    host: Option<(u64, Arc<dyn Any + Send + Sync>)>,
    /// The memory is there for as long as what keeps it, whatever the program does.
    is_kept: bool,
    label: &'static str,
    /// Nodes of the GPUs that see it.
    mapped: Vec<u32>,
}

/// All of them, by handle.
#[derive(Debug, Default)]
pub(crate) struct Allocations {
    blocks: HashMap<u64, Block>,
    /// Handles, by the first address.
    addresses: BTreeMap<u64, u64>,
    /// Handles that there have been.
    made: u64,
    /// Bytes in use on each node.
    used: HashMap<u32, u64>,
}

impl Allocations {
    /// A new block, which GPUs will see at `address`. Gives its handle, and the offset that the program maps
    /// it from.
    pub(crate) fn allocate(
        &mut self,
        node: u32,
        address: u64,
        size: u64,
        pages: &Pages<'_>,
    ) -> Result<(u64, u64), Errno> {
        let size = size.checked_next_multiple_of(PAGE).filter(|size| *size > 0).ok_or(Errno::Invalid)?;
        let end = address.checked_add(size).filter(|end| *end <= END).ok_or(Errno::Invalid)?;
        let before = self.addresses.range(..end).next_back().and_then(|(_, handle)| self.blocks.get(handle));
        let overlaps = before.is_some_and(|block| block.address + block.size > address);
        if address == 0 || !address.is_multiple_of(PAGE) || overlaps {
            return Err(Errno::Invalid);
        }
        let used = self.used.entry(node).or_default();
        let of_file = |file| {
            let mapping = Mapping::of_file(file, size).ok_or(Errno::NoMemory)?;
            let (host, offset) = (mapping.address(), mapping.offset());
            Ok((Some((host, Arc::new(mapping) as Arc<dyn Any + Send + Sync>)), offset))
        };
        let (mut node_used, mut label, mut is_kept) = (None, "host memory", true);
        let (host, offset) = match pages {
            Pages::Device { file, limit } => {
                let sum = used.checked_add(size).filter(|sum| sum <= limit).ok_or(Errno::NoMemory)?;
                let pages = of_file(file)?;
                *used = sum;
                (node_used, label) = (Some(node), DEVICE_MEMORY);
                pages
            }
            Pages::Host(file) => of_file(file)?,
            Pages::Registered(host) => {
                if !host.is_multiple_of(PAGE) || !user_memory::is_mapped(*host, size) {
                    return Err(Errno::Fault);
                }
                if *host != address {
                    label = "registered host memory";
                }
                is_kept = false;
                (Some((*host, Arc::new(()) as Arc<dyn Any + Send + Sync>)), *host)
            }
            Pages::Registers { offset } => (None, *offset),
        };
        let block = Block { address, size, node: node_used, host, is_kept, label, mapped: Vec::new() };
        self.made += 1;
        self.addresses.insert(address, self.made);
        self.blocks.insert(self.made, block);
        Ok((self.made, offset))
    }

    /// Free a block. Its pages go when no launch that is under way sees them any more.
    pub(crate) fn free(&mut self, gpus: &[Gpu], handle: u64) -> Outcome {
        let block = self.blocks.remove(&handle).ok_or(Errno::Invalid)?;
        self.addresses.remove(&block.address);
        for node in &block.mapped {
            hide(gpus, *node, block.address);
        }
        if let Some(used) = block.node.and_then(|node| self.used.get_mut(&node)) {
            *used = used.saturating_sub(block.size);
        }
        Ok(())
    }

    /// Let a GPU see a block.
    pub(crate) fn map(&mut self, gpus: &[Gpu], handle: u64, node: u32) -> Outcome {
        let block = self.blocks.get_mut(&handle).ok_or(Errno::Invalid)?;
        let gpu = gpu(gpus, node).ok_or(Errno::Invalid)?;
        let Some((host, keep)) = block.host.as_ref().filter(|_| !block.mapped.contains(&node)) else {
            return Ok(());
        };
        // SAFETY: pages of ours live until the last machine drops them. Registered memory is the program's,
        // which must not free it before it has taken the registration back, and then only when no kernel uses
        // it: as on hardware.
        unsafe { gpu.map(block.address, *host, block.size, block.label, keep.clone()) }
            .map_err(|_| Errno::Invalid)?;
        block.mapped.push(node);
        Ok(())
    }

    /// Hide a block from a GPU.
    pub(crate) fn unmap(&mut self, gpus: &[Gpu], handle: u64, node: u32) -> Outcome {
        let block = self.blocks.get_mut(&handle).ok_or(Errno::Invalid)?;
        if let Some(index) = block.mapped.iter().position(|mapped| *mapped == node) {
            block.mapped.swap_remove(index);
            hide(gpus, node, block.address);
        }
        Ok(())
    }

    /// Bytes in use of a GPU's memory.
    pub(crate) fn used(&self, node: u32) -> u64 {
        self.used.get(&node).copied().unwrap_or(0)
    }

    /// The host's address of a block of at least so many bytes, and what keeps it; `None` for memory that is
    /// the program's own.
    pub(crate) fn host(&self, handle: u64, bytes: u64) -> Option<(u64, Arc<dyn Any + Send + Sync>)> {
        self.blocks.get(&handle).filter(|block| block.is_kept && block.size >= bytes)?.host.clone()
    }

    /// Whether a range is in one block, and the program has memory there too.
    pub(crate) fn holds(&self, address: u64, bytes: u64) -> bool {
        let handle = self.addresses.range(..=address).next_back().map(|(_, handle)| handle);
        let block = handle.and_then(|handle| self.blocks.get(handle));
        let within = |block: &Block| {
            let offset = address - block.address;
            offset <= block.size && bytes <= block.size - offset
        };
        block.is_some_and(within) && user_memory::is_mapped(address, bytes)
    }
}

/// The GPU of a node: node 0 is the host.
fn gpu(gpus: &[Gpu], node: u32) -> Option<&Gpu> {
    (node as usize).checked_sub(1).and_then(|index| gpus.get(index))
}

fn hide(gpus: &[Gpu], node: u32, address: u64) {
    if let Some(gpu) = gpu(gpus, node) {
        gpu.unmap(address);
    }
}

#[cfg(test)]
mod tests {
    use amdgpu_isa::Arch;

    use super::*;
    use crate::settings::Settings;

    /// Addresses that a runtime may choose.
    const PLACE: u64 = 0x1000_0000_0000;

    fn sees(gpu: &Gpu, address: u64) -> bool {
        gpu.machine().read(address, &mut [0]).is_ok()
    }

    fn file() -> Arc<DeviceFile> {
        Arc::new(DeviceFile::new().unwrap())
    }

    #[test]
    fn a_gpu_sees_what_is_mapped_to_it_until_it_is_freed() {
        let settings = Settings::read(|_| None).unwrap();
        let gpus = [Gpu::new(1, Arch::Gfx90a, &settings), Gpu::new(2, Arch::Gfx90a, &settings)];
        let (mut all, file) = (Allocations::default(), file());
        let device = Pages::Device { file: &file, limit: 1 << 20 };
        let (handle, _) = all.allocate(1, PLACE, 5000, &device).unwrap();
        assert!(!sees(&gpus[0], PLACE));
        all.map(&gpus, handle, 1).unwrap();
        assert!(sees(&gpus[0], PLACE) && sees(&gpus[0], PLACE + 8191));
        assert!(!sees(&gpus[0], PLACE + 8192) && !sees(&gpus[1], PLACE));
        // A launch under way keeps the pages.
        let under_way = gpus[0].machine();
        all.free(&gpus, handle).unwrap();
        assert!(!sees(&gpus[0], PLACE));
        assert!(under_way.read(PLACE, &mut [0]).is_ok());
        assert_eq!(all.free(&gpus, handle), Err(Errno::Invalid));
        assert_eq!(all.map(&gpus, handle, 1), Err(Errno::Invalid));
    }

    #[test]
    fn device_memory_is_limited_and_comes_back() {
        let (mut all, file) = (Allocations::default(), file());
        let device = Pages::Device { file: &file, limit: 1 << 20 };
        let (first, _) = all.allocate(1, PLACE, 1 << 20, &device).unwrap();
        let next = PLACE + (1 << 20);
        assert_eq!(all.allocate(1, next, 4096, &device), Err(Errno::NoMemory));
        all.free(&[], first).unwrap();
        assert_eq!(all.used(1), 0);
        assert!(all.allocate(1, next, 4096, &device).is_ok());
    }

    #[test]
    fn blocks_do_not_overlap_and_lie_where_addresses_are() {
        let (mut all, file) = (Allocations::default(), file());
        let host = Pages::Host(&file);
        all.allocate(1, PLACE, 8192, &host).unwrap();
        for (address, size) in [
            (PLACE, 4096),
            (PLACE + 4096, 4096),
            (PLACE - 4096, 8192),
            (PLACE - 4096, 1 << 20),
            (PLACE + 100, 64),
            (0, 4096),
            (4096, 0),
            (END - 4096, 8192),
            (u64::MAX - 4095, 4096),
            (4096, u64::MAX),
        ] {
            assert_eq!(all.allocate(1, address, size, &host), Err(Errno::Invalid), "{address:#x} {size:#x}");
        }
        assert!(all.allocate(1, PLACE + 8192, 4096, &host).is_ok());
    }

    #[test]
    fn registered_memory_is_the_programs_own_at_another_address() {
        let settings = Settings::read(|_| None).unwrap();
        let gpus = [Gpu::new(1, Arch::Gfx90a, &settings)];
        let memory = Mapping::holding(&[7; 100]).unwrap();
        let mut all = Allocations::default();
        let pages = Pages::Registered(memory.address());
        let (handle, _) = all.allocate(1, PLACE, 4096, &pages).unwrap();
        all.map(&gpus, handle, 1).unwrap();
        let mut bytes = [0; 4];
        gpus[0].machine().read(PLACE, &mut bytes).unwrap();
        assert_eq!(bytes, [7; 4]);
        all.unmap(&gpus, handle, 1).unwrap();
        assert!(!sees(&gpus[0], PLACE));
        for nowhere in [0, 4096, memory.address() + 8, END] {
            let pages = Pages::Registered(nowhere);
            assert_eq!(all.allocate(1, PLACE + 8192, 4096, &pages), Err(Errno::Fault));
        }
    }
}
