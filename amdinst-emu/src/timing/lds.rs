//! LDS: banks of four bytes, and ports of 64 bytes a cycle that SIMDs share in pairs.

use amdgpu_isa::{LdsBanks, MemoryOperation};

use super::instructions::Access;
use super::parameters::Parameters;
use crate::check::AccessKind;
use crate::exec::footprint::{Footprint, bank_cycles};

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

    /// An instruction issues; returns when its results can be used. Without addresses it exchanges lanes.
    pub(super) fn access(
        &mut self,
        now: u64,
        simd: usize,
        access: Access,
        footprint: Option<(&Footprint, &LdsBanks)>,
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
        let how = match access.operation {
            MemoryOperation::Load => AccessKind::Read,
            MemoryOperation::Store => AccessKind::Write,
            MemoryOperation::Atomic { .. } => AccessKind::Atomic,
        };
        let banks = footprint.map_or(2, |(footprint, banks)| bank_cycles(footprint, how, banks).all.max(1));
        let start = now.max(self.ports[simd / 2]).max(self.banks);
        self.banks = start + banks;
        self.ports[simd / 2] = start + port.max(banks);
        start + port.max(banks) + p.lds_latency + extra
    }
}
