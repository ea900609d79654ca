//! A compute unit: four SIMDs and what they share.

use amdgpu_isa::Arch;

use super::cache::Cache;
use super::hierarchy::Hierarchy;
use super::lds::Lds;
use super::parameters::Parameters;
use super::vector_memory::VectorMemory;
use crate::exec::footprint::SECTOR;

/// SIMDs of a compute unit.
pub const SIMDS: usize = Arch::Gfx90a.limits().simds as usize;

/// One SIMD.
#[derive(Clone, Debug, Default)]
pub(super) struct Simd {
    /// Its waves, the oldest first: slot, and a time before which nothing of it can issue. The waves
    /// themselves are large and far apart in the host's memory, so those that cannot issue are not looked at.
    pub(super) waves: Vec<(usize, u64)>,
    /// Waves that it holds registers for: also those that have ended and whose stores are under way.
    pub(super) taken: u32,
    /// When the vector ALU is free.
    pub(super) vector_free: u64,
    /// When the matrix core is free.
    pub(super) matrix_free: u64,
}

/// One compute unit.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub(super) simds: [Simd; SIMDS],
    pub(super) lds: Lds,
    pub(super) memory: VectorMemory,
    /// Bytes of LDS that no workgroup has.
    pub(super) lds_left: u32,
    /// Workgroups that it holds.
    pub(super) groups: u32,
    /// Ends of waves to come: when, SIMD, workgroup's slot.
    pub(super) ending: Vec<(u64, usize, usize)>,
}

impl Unit {
    pub(super) fn new(p: &Parameters, lds_bytes: u32) -> Self {
        Self {
            simds: Default::default(),
            lds: Lds::default(),
            memory: VectorMemory::new(p),
            lds_left: lds_bytes,
            groups: 0,
            ending: Vec::new(),
        }
    }
}

/// The caches that some compute units share: scalar data, instructions.
#[derive(Clone, Debug)]
pub(super) struct FrontCaches {
    scalar: Cache,
    instructions: Cache,
}

/// Ways of both (not published; GCN had 4).
const WAYS: u32 = 4;

impl FrontCaches {
    pub(super) fn new(p: &Parameters) -> Self {
        Self {
            scalar: Cache::new(p.scalar_bytes / SECTOR as u32, WAYS),
            instructions: Cache::new(p.instruction_bytes / SECTOR as u32, WAYS),
        }
    }

    /// A dispatch begins, at cycle 0: what the instruction cache holds stays.
    pub(super) fn begin(&mut self, p: &Parameters) {
        self.scalar = Cache::new(p.scalar_bytes / SECTOR as u32, WAYS);
        self.instructions.settle();
    }

    /// A scalar load of some bytes at an address; returns when its data is there.
    pub(super) fn load(
        &mut self,
        now: u64,
        address: u64,
        bytes: u8,
        hierarchy: &mut Hierarchy,
        p: &Parameters,
    ) -> u64 {
        let size = match bytes.div_ceil(4) {
            0..=2 => 0,
            3..=4 => 1,
            5..=8 => 2,
            _ => 3,
        };
        let mut ready = now;
        let last = address.saturating_add(u64::from(bytes.max(1)) - 1);
        for line in address / SECTOR..=last / SECTOR {
            ready = ready.max(line_ready(&mut self.scalar, now, line, hierarchy, p));
        }
        ready + p.scalar_hit[size]
    }

    /// A wave goes on in a line of code; returns when it can. Some lines behind are fetched too.
    pub(super) fn fetch(&mut self, now: u64, line: u64, hierarchy: &mut Hierarchy, p: &Parameters) -> u64 {
        let ready = line_ready(&mut self.instructions, now, line, hierarchy, p);
        for ahead in 1..=p.fetch_ahead {
            line_ready(&mut self.instructions, now, line + ahead, hierarchy, p);
        }
        ready
    }
}

/// When a cache has a line; it is fetched if it has not.
fn line_ready(cache: &mut Cache, now: u64, line: u64, hierarchy: &mut Hierarchy, p: &Parameters) -> u64 {
    cache.find(line, 0).unwrap_or_else(|| {
        let back = hierarchy.read(p, now + p.scalar_miss, line / 2, 1 << (line % 2));
        cache.fill(line, 0, back);
        back
    })
}
