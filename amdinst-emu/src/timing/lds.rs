//! LDS: 32 banks of four bytes, and ports of 64 bytes a cycle that SIMDs share in pairs.

use amdgpu_isa::MemoryOperation;

use super::instructions::Access;
use super::parameters::Parameters;
use crate::exec::footprint::Footprint;
use crate::wave::{LANES, lanes_of};

const BANKS: usize = 32;

/// The LDS of one compute unit.
#[derive(Clone, Debug, Default)]
pub(super) struct Lds {
    /// When the banks are free.
    banks: u64,
    /// When each port is free.
    ports: [u64; 2],
}

impl Lds {
    /// Whether a SIMD's port takes an instruction; if not, from when on.
    pub(super) fn accepts_from(&self, simd: usize, parameters: &Parameters) -> u64 {
        self.ports[simd / 2].saturating_sub(parameters.lds_queue)
    }

    /// An instruction issues; returns when its results can be used.
    pub(super) fn access(
        &mut self,
        now: u64,
        simd: usize,
        access: Access,
        footprint: Option<&Footprint>,
        p: &Parameters,
    ) -> u64 {
        let size = usize::from(access.dwords.clamp(1, 4)) - 1;
        let (port, extra) = match access.operation {
            MemoryOperation::Load => (p.lds_read[size], 0),
            MemoryOperation::Store => (p.lds_write[size], 0),
            MemoryOperation::Atomic { returns } => {
                (p.lds_atomic_port, if returns { p.lds_atomic } else { 0 })
            }
        };
        let shared = !matches!(access.operation, MemoryOperation::Atomic { .. });
        let banks = footprint.map_or(2, |footprint| bank_cycles(footprint, shared));
        let start = now.max(self.ports[simd / 2]).max(self.banks);
        self.banks = start + banks;
        self.ports[simd / 2] = start + port.max(banks);
        start + port.max(banks) + p.lds_latency + extra
    }
}

/// Cycles that the banks work at an instruction. A cycle serves one dword of each bank: lanes that want the
/// same one share it, unless they change it. Lanes go in the order of their numbers, as many at once as 128
/// bytes hold.
pub(super) fn bank_cycles(footprint: &Footprint, shared: bool) -> u64 {
    let dwords = usize::from(footprint.bytes.div_ceil(4)).max(1);
    let together = (BANKS / dwords).max(1);
    let mut cycles = 0;
    for second in [None, footprint.second].into_iter().take(1 + usize::from(footprint.second.is_some())) {
        for first in (0..LANES).step_by(together) {
            let mut seen = [[u32::MAX; LANES]; BANKS];
            let mut count = [0usize; BANKS];
            let here = |lane: &usize| (first..first + together).contains(lane);
            for lane in lanes_of(footprint.local).filter(here) {
                let offset = footprint.offset[lane].wrapping_add_signed(second.unwrap_or(0)) / 4;
                for dword in (0..dwords as u32).map(|dword| offset.wrapping_add(dword)) {
                    let bank = dword as usize % BANKS;
                    if !shared || !seen[bank][..count[bank]].contains(&dword) {
                        seen[bank][count[bank].min(LANES - 1)] = dword;
                        count[bank] += 1;
                    }
                }
            }
            cycles += count.into_iter().max().unwrap_or(0) as u64;
        }
    }
    cycles.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strided(bytes: u8, stride: u32) -> Footprint {
        let mut footprint = Footprint { local: !0, bytes, ..Footprint::default() };
        for (lane, offset) in footprint.offset.iter_mut().enumerate() {
            *offset = stride * lane as u32;
        }
        footprint
    }

    /// By hand: 64 lanes of 4 bytes are two cycles; a stride of 8 bytes uses every other bank, so twice as
    /// many; at 128 bytes all lanes want one bank. One address for all is a broadcast, or 64 changes one
    /// after the other.
    #[test]
    fn conflicts() {
        for (bytes, stride, reads, atomics) in [
            (4, 4, 2, 2),
            (4, 8, 4, 4),
            (4, 12, 2, 2),
            (4, 128, 64, 64),
            (4, 0, 2, 64),
            (8, 8, 4, 4),
            (16, 16, 8, 8),
        ] {
            let footprint = strided(bytes, stride);
            assert_eq!(bank_cycles(&footprint, true), reads, "{bytes} bytes, stride {stride}");
            assert_eq!(bank_cycles(&footprint, false), atomics, "{bytes} bytes, stride {stride}, atomic");
        }
    }
}
