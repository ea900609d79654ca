//! What the runtime has allocated and registered, and which GPUs see it.
//!
//! A GPU's address of what is allocated here is the host's address of the same byte
//! ([`Machine::map_host`](amdinst_emu::Machine::map_host)). Memory of the program's own that it registers has
//! addresses of its own for GPUs, as the driver gives it: HIP insists on telling the two apart. A GPU sees
//! what has been mapped to it, and nothing else: a kernel that reaches any other memory of the process
//! faults, as on hardware.
//!
//! A launch runs on the memory as it was mapped when it began. Pages are unmapped when no launch sees them
//! any more.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::abi::{MemoryFlags, Status, pointer_kind};
use crate::gpu::Gpu;
use crate::host_memory::{Mapping, PAGE};

/// GPUs are mapped to ranges of whole words: the least that fast accesses take.
const GRAIN: u64 = 64;

/// One allocation or registration.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) flags: MemoryFlags,
    /// The node that asked for it, or that it is on.
    pub(crate) node: u32,
    /// Where GPUs see its first byte.
    pub(crate) device: u64,
    /// Its pages; for memory that the program has registered, addresses for GPUs.
    pages: Arc<Mapping>,
    /// The block is the program's own memory, which it registered.
    registered: bool,
    /// How often it has been registered.
    registrations: u32,
    /// Nodes of the GPUs that see it, in ascending order.
    pub(crate) mapped: Vec<u32>,
    pub(crate) user_data: usize,
}

impl Block {
    /// `HSA_POINTER_TYPE`.
    pub(crate) const fn pointer_kind(&self) -> u32 {
        if self.registered { pointer_kind::REGISTERED } else { pointer_kind::ALLOCATED }
    }

    /// What it is called in faults.
    const fn label(&self) -> &'static str {
        match (self.registered, self.node) {
            (true, _) => "registered host memory",
            (false, 0) => "host memory",
            (false, _) => "device memory",
        }
    }

    /// The range that a GPU sees: as on hardware somewhat more than what was asked for. First the host's
    /// address of it, then the GPU's, then its size.
    fn seen(&self) -> (u64, u64, u64) {
        let before = self.address % GRAIN;
        let start = self.address - before;
        (start, self.device - before, (self.address + self.size).next_multiple_of(GRAIN) - start)
    }

    /// Whether an address is in it, be it the host's or a GPU's.
    fn holds(&self, address: u64) -> bool {
        [self.address, self.device].iter().any(|start| address.wrapping_sub(*start) < self.size)
    }
}

/// All of them, by their first byte.
#[derive(Debug, Default)]
pub(crate) struct Allocations {
    blocks: BTreeMap<u64, Block>,
    /// First bytes of registered memory, by where GPUs see it.
    aliases: BTreeMap<u64, u64>,
    /// Bytes on each node.
    used: BTreeMap<u32, u64>,
}

impl Allocations {
    /// New memory of `size` bytes on a node, of which there are `limit` bytes; at `fixed`, if it is said.
    /// Gives its address.
    pub(crate) fn allocate(
        &mut self,
        node: u32,
        size: u64,
        flags: MemoryFlags,
        fixed: Option<u64>,
        limit: u64,
    ) -> Result<u64, Status> {
        if size == 0 || fixed.is_some_and(|address| !address.is_multiple_of(PAGE)) {
            return Err(Status::InvalidParameter);
        }
        let used = self.used.entry(node).or_default();
        let counts = node != 0 && !flags.scratch();
        if counts && used.checked_add(size).is_none_or(|sum| sum > limit) {
            return Err(Status::NoMemory);
        }
        let pages = Mapping::new(size, fixed).ok_or(Status::NoMemory)?;
        if counts {
            *used += pages.size();
        }
        let (address, size) = (pages.address(), pages.size());
        let block = Block {
            address,
            size,
            flags,
            node,
            device: address,
            pages: Arc::new(pages),
            registered: false,
            registrations: 0,
            mapped: Vec::new(),
            user_data: 0,
        };
        self.blocks.insert(address, block);
        Ok(address)
    }

    /// Free an allocation. Its pages go when no launch that is under way sees them any more.
    pub(crate) fn free(&mut self, gpus: &[Gpu], address: u64) -> Result<(), Status> {
        if self.blocks.get(&address).is_none_or(|block| block.registered) {
            return Err(Status::InvalidParameter);
        }
        self.unmap(gpus, address)?;
        if let Some(block) = self.blocks.remove(&address)
            && block.node != 0
            && !block.flags.scratch()
        {
            let used = self.used.entry(block.node).or_default();
            *used = used.saturating_sub(block.size);
        }
        Ok(())
    }

    /// Note memory of the program's own, to be mapped later. The same range may be registered more than once.
    pub(crate) fn register(&mut self, address: u64, size: u64, flags: MemoryFlags) -> Result<(), Status> {
        // Rounding up must not overflow either.
        let end = address.checked_add(size).and_then(|end| end.checked_add(2 * PAGE));
        if address == 0 || size == 0 || end.is_none() {
            return Err(Status::InvalidParameter);
        }
        if let Some(block) = self.blocks.get_mut(&address) {
            if !block.registered {
                return Err(Status::MemoryAlreadyRegistered);
            }
            // Another part of what is registered needs no mapping of its own unless it is larger.
            if block.size < size {
                return Err(Status::MemoryAlreadyRegistered);
            }
            block.registrations += 1;
            return Ok(());
        }
        // The same place within a page, so that what is aligned stays so.
        let within = address % PAGE;
        let pages = Mapping::reserving(within + size + PAGE).ok_or(Status::NoMemory)?;
        let device = pages.address() + within;
        let block = Block {
            address,
            size,
            flags,
            node: 0,
            device,
            pages: Arc::new(pages),
            registered: true,
            registrations: 1,
            mapped: Vec::new(),
            user_data: 0,
        };
        self.blocks.insert(address, block);
        self.aliases.insert(device, address);
        Ok(())
    }

    /// Take a registration back.
    pub(crate) fn deregister(&mut self, gpus: &[Gpu], address: u64) -> Result<(), Status> {
        let block = self.blocks.get_mut(&address).filter(|block| block.registered);
        let block = block.ok_or(Status::MemoryNotRegistered)?;
        block.registrations -= 1;
        if block.registrations == 0 {
            let device = block.device;
            self.unmap(gpus, address)?;
            self.blocks.remove(&address);
            self.aliases.remove(&device);
        }
        Ok(())
    }

    /// Let GPUs see a block, besides those that do. Gives where they see the address.
    pub(crate) fn map(&mut self, gpus: &[Gpu], address: u64, nodes: &[u32]) -> Result<u64, Status> {
        let block = self.around_mut(address).ok_or(Status::InvalidParameter)?;
        // The emulator has scratch memory of its own.
        let device = block.device + (address - block.address);
        if block.flags.scratch() {
            return Ok(device);
        }
        let (host, start, size) = block.seen();
        for node in nodes.iter().filter(|node| **node != 0) {
            let gpu = gpus.get(*node as usize - 1).ok_or(Status::InvalidNodeUnit)?;
            if block.mapped.contains(node) {
                continue;
            }
            // SAFETY: pages of ours live until the last machine drops them. Registered memory is the
            // program's, which must not free it before it has taken the registration back, and then only when
            // no kernel uses it: as on hardware.
            unsafe { gpu.map(start, host, size, block.label(), block.pages.clone()) }
                .map_err(|_| Status::MemoryAlreadyRegistered)?;
            block.mapped.push(*node);
            block.mapped.sort_unstable();
        }
        Ok(device)
    }

    /// Hide a block from all GPUs.
    pub(crate) fn unmap(&mut self, gpus: &[Gpu], address: u64) -> Result<(), Status> {
        let block = self.around_mut(address).ok_or(Status::InvalidParameter)?;
        let (_, start, _) = block.seen();
        for node in std::mem::take(&mut block.mapped) {
            if let Some(gpu) = gpus.get(node as usize - 1) {
                gpu.unmap(start);
            }
        }
        Ok(())
    }

    /// The block that an address is in, be it the host's or a GPU's.
    pub(crate) fn around(&self, address: u64) -> Option<&Block> {
        self.blocks.get(&self.first_byte(address)?)
    }

    /// The block that an address of the host's is in.
    pub(crate) fn around_mut(&mut self, address: u64) -> Option<&mut Block> {
        let first = self.first_byte(address)?;
        self.blocks.get_mut(&first)
    }

    /// The host's address of the first byte of the block that an address is in.
    fn first_byte(&self, address: u64) -> Option<u64> {
        let of_host = self.blocks.range(..=address).next_back().map(|(first, _)| *first);
        let of_gpu = self.aliases.range(..=address).next_back().map(|(_, first)| *first);
        let holds = |first: &u64| self.blocks.get(first).is_some_and(|block| block.holds(address));
        of_host.filter(holds).or_else(|| of_gpu.filter(holds))
    }
}

#[cfg(test)]
mod tests {
    use amdgpu_isa::Arch;

    use super::*;
    use crate::settings::Settings;

    const PLAIN: MemoryFlags = MemoryFlags(0);

    fn sees(gpu: &Gpu, address: u64) -> bool {
        gpu.machine().read(address, &mut [0]).is_ok()
    }

    #[test]
    fn a_gpu_sees_what_is_mapped_to_it_until_it_is_freed() {
        let settings = Settings::read(|_| None).unwrap();
        let gpus = [Gpu::new(1, Arch::Gfx90a, &settings), Gpu::new(2, Arch::Gfx90a, &settings)];
        let mut all = Allocations::default();
        let address = all.allocate(1, 5000, PLAIN, None, 1 << 20).unwrap();
        assert!(!sees(&gpus[0], address));
        all.map(&gpus, address, &[1]).unwrap();
        assert!(sees(&gpus[0], address) && sees(&gpus[0], address + 8191));
        assert!(!sees(&gpus[0], address + 8192) && !sees(&gpus[1], address));
        assert_eq!(all.around(address + 100).map(|block| block.mapped.clone()), Some(vec![1]));
        // A launch under way keeps the pages.
        let under_way = gpus[0].machine();
        all.free(&gpus, address).unwrap();
        assert!(!sees(&gpus[0], address));
        assert!(under_way.read(address, &mut [0]).is_ok());
        assert_eq!(all.free(&gpus, address), Err(Status::InvalidParameter));
    }

    #[test]
    fn device_memory_is_limited_and_comes_back() {
        let mut all = Allocations::default();
        let first = all.allocate(1, 1 << 20, PLAIN, None, 1 << 20).unwrap();
        assert_eq!(all.allocate(1, 4096, PLAIN, None, 1 << 20), Err(Status::NoMemory));
        assert_eq!(all.allocate(1, u64::MAX, PLAIN, None, u64::MAX), Err(Status::NoMemory));
        all.free(&[], first).unwrap();
        assert!(all.allocate(1, 4096, PLAIN, None, 1 << 20).is_ok());
    }

    #[test]
    fn registrations_are_counted_and_reach_whole_words() {
        let settings = Settings::read(|_| None).unwrap();
        let gpus = [Gpu::new(1, Arch::Gfx90a, &settings)];
        let memory = vec![7u8; 1000];
        let address = memory.as_ptr().expose_provenance() as u64 + 3;
        let mut all = Allocations::default();
        all.register(address, 500, PLAIN).unwrap();
        all.register(address, 500, PLAIN).unwrap();
        let device = all.map(&gpus, address, &[1]).unwrap();
        assert!(device != address && device % PAGE == address % PAGE);
        assert_eq!(all.map(&gpus, address + 100, &[1]), Ok(device + 100));
        let mut bytes = [0; 4];
        gpus[0].machine().read(device, &mut bytes).unwrap();
        assert_eq!(bytes, [7; 4]);
        for inside in [address + 499, device + 499] {
            assert_eq!(
                all.around(inside).map(|block| (block.address, block.device)),
                Some((address, device))
            );
        }
        assert!(all.around(device + 500).is_none());
        all.deregister(&gpus, address).unwrap();
        assert!(sees(&gpus[0], device));
        all.deregister(&gpus, address).unwrap();
        assert!(!sees(&gpus[0], device));
        assert_eq!(all.deregister(&gpus, address), Err(Status::MemoryNotRegistered));
        for (address, size) in
            [(0, 1), (1, 0), (4095, u64::MAX - 4095), (u64::MAX - 4095, 4000), (2, u64::MAX)]
        {
            assert_eq!(all.register(address, size, PLAIN), Err(Status::InvalidParameter), "{address:#x}");
        }
    }
}
