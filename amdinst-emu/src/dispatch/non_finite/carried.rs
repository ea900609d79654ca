//! Where the NaNs and infinities are that a workgroup has made: in registers, in LDS and in scratch memory.

use std::collections::HashMap;

use crate::wave::LANES;

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Place {
    /// By its row.
    Row(u16),
    /// A scalar one by its operand number. It is lane 0's.
    Scalar(u8),
}

/// Memory of a workgroup, or of one of its waves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum OwnMemory {
    Lds,
    /// That of the wave with this index in the launch.
    Scratch(u64),
}

/// Who made a value: a number among those of the workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct MakerId(pub(super) u32);

/// Who made what is in a place, if that is a value which somebody made.
#[derive(Debug, Default)]
pub(super) struct Carried {
    registers: HashMap<(u64, Place), Box<[Option<MakerId>; LANES]>>,
    /// By the address of a dword.
    memory: HashMap<(OwnMemory, u64), MakerId>,
}

impl Carried {
    pub(super) fn is_empty(&self) -> bool {
        self.registers.is_empty() && self.memory.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.registers.clear();
        self.memory.clear();
    }

    /// By lane; nothing of a register that has no such value.
    pub(super) fn of_register(&self, wave: u64, place: Place) -> Option<&[Option<MakerId>; LANES]> {
        self.registers.get(&(wave, place)).map(|lanes| &**lanes)
    }

    pub(super) fn set_register(&mut self, wave: u64, place: Place, lane: usize, maker: Option<MakerId>) {
        match maker {
            Some(_) => {
                self.registers.entry((wave, place)).or_insert_with(|| [None; LANES].into())[lane] = maker
            }
            None => {
                let Some(lanes) = self.registers.get_mut(&(wave, place)) else { return };
                lanes[lane] = None;
                if lanes.iter().all(Option::is_none) {
                    self.registers.remove(&(wave, place));
                }
            }
        }
    }

    pub(super) fn of_memory(&self, memory: OwnMemory, address: u64) -> Option<MakerId> {
        self.memory.get(&(memory, address & !3)).copied()
    }

    pub(super) fn set_memory(&mut self, memory: OwnMemory, address: u64, maker: Option<MakerId>) {
        match maker {
            Some(maker) => {
                self.memory.insert((memory, address & !3), maker);
            }
            None => {
                self.memory.remove(&(memory, address & !3));
            }
        }
    }
}
