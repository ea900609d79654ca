//! Where an instruction is about to access memory: what the timing model and the figures of memory ask before
//! the instruction runs.

mod banks;
mod lines;
mod one_address;

pub(crate) use banks::bank_cycles;
pub(crate) use lines::{SECTOR, Touched, TouchedLines};
pub(crate) use one_address::most_at_one;

use super::{lds, smem, vmem};
use crate::program::{Action, Space, Step};
use crate::wave::{LANES, Wave};

/// The addresses of one instruction.
#[derive(Clone, Debug)]
pub(crate) struct Footprint {
    /// Lanes that access device memory.
    pub(crate) global: u64,
    /// Their addresses.
    pub(crate) address: [u64; LANES],
    /// Lanes that access LDS.
    pub(crate) local: u64,
    /// Their byte offsets.
    pub(crate) offset: [u32; LANES],
    /// Distance of a second access that each lane makes in LDS.
    pub(crate) second: Option<i32>,
    /// Bytes that each lane accesses, at each place.
    pub(crate) bytes: u8,
}

impl Default for Footprint {
    fn default() -> Self {
        Self { global: 0, address: [0; LANES], local: 0, offset: [0; LANES], second: None, bytes: 4 }
    }
}

impl Footprint {
    /// What a vector memory or LDS instruction will access; nothing if it will trap.
    pub(crate) fn vector(&mut self, wave: &Wave, step: &Step) {
        (self.global, self.local, self.second) = (0, 0, None);
        let Some(access) = step.extra.as_ref().and_then(|extra| extra.memory.as_ref()) else { return };
        let (Action::Load { bytes, .. } | Action::Store { bytes, .. } | Action::Atomic { bytes, .. }) =
            access.action;
        self.bytes = bytes;
        if access.space == Space::Lds {
            lds::footprint(wave, access, self);
        } else {
            vmem::footprint(wave, step, access, self);
        }
    }

    /// Address and bytes of a scalar memory instruction.
    pub(crate) fn scalar(wave: &Wave, step: &Step) -> Option<(u64, u8)> {
        smem::footprint(wave, step)
    }
}
