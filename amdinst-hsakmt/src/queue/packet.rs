//! AQL packets (HSA runtime specification, "Architected Queuing Language packets"; `hsa_ext_amd.h` for AMD's
//! own).

use crate::cells::Cell64;

/// What a packet asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packet {
    /// The slot has not been written yet.
    Invalid,
    /// Run a kernel.
    Dispatch {
        /// Address of its descriptor.
        kernel: u64,
    },
    /// Wait until all of these signals are 0, or one of them.
    Barrier {
        /// Their handles, null for none.
        signals: [u64; 5],
        /// All of them.
        all: bool,
    },
    /// Wait until the signal's value under a mask compares as asked for.
    BarrierValue {
        /// The signal's handle.
        signal: u64,
        /// To compare with.
        value: i64,
        /// Bits of the value that count.
        mask: i64,
        /// How.
        condition: Condition,
    },
    /// Commands of the older packet format: the runtime sends those that make instruction caches forget,
    /// which the emulator has none of.
    Commands,
    /// Anything else.
    Unknown {
        /// The header.
        header: u16,
    },
}

/// `hsa_signal_condition32_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Equal,
    NotEqual,
    Less,
    GreaterOrEqual,
}

impl Condition {
    const fn of(number: u32) -> Option<Self> {
        match number {
            0 => Some(Self::Equal),
            1 => Some(Self::NotEqual),
            2 => Some(Self::Less),
            3 => Some(Self::GreaterOrEqual),
            _ => None,
        }
    }

    /// Whether `now` compares with `value` so.
    pub(super) const fn holds(self, now: i64, value: i64) -> bool {
        match self {
            Self::Equal => now == value,
            Self::NotEqual => now != value,
            Self::Less => now < value,
            Self::GreaterOrEqual => now >= value,
        }
    }
}

/// Values of the header's type field.
mod kind {
    pub(super) const VENDOR: u16 = 0;
    pub(super) const INVALID: u16 = 1;
    pub(super) const DISPATCH: u16 = 2;
    pub(super) const BARRIER_AND: u16 = 3;
    pub(super) const BARRIER_OR: u16 = 5;
}

/// Values of AMD's format field, the byte behind the header.
mod format {
    pub(super) const COMMANDS: u8 = 1;
    pub(super) const BARRIER_VALUE: u8 = 2;
}

/// A header that says that the slot is free.
pub(super) const FREE: u16 = kind::INVALID;

impl Packet {
    /// The packet in a slot.
    pub(super) fn read(slot: Cell64) -> Self {
        let header = slot.load_half();
        match header & 0xff {
            kind::INVALID => Self::Invalid,
            kind::DISPATCH => Self::Dispatch { kernel: slot.nth(4).load() },
            all @ (kind::BARRIER_AND | kind::BARRIER_OR) => Self::Barrier {
                signals: std::array::from_fn(|index| slot.nth(1 + index).load()),
                all: all == kind::BARRIER_AND,
            },
            kind::VENDOR => match (slot.load() >> 16) as u8 {
                format::COMMANDS => Self::Commands,
                format::BARRIER_VALUE => match Condition::of(slot.nth(4).load() as u32) {
                    Some(condition) => Self::BarrierValue {
                        signal: slot.nth(1).load(),
                        value: slot.nth(2).load() as i64,
                        mask: slot.nth(3).load() as i64,
                        condition,
                    },
                    None => Self::Unknown { header },
                },
                _ => Self::Unknown { header },
            },
            _ => Self::Unknown { header },
        }
    }

    /// Handle of the signal that tells of a packet's end: the last word, in every format.
    pub(super) fn completion(slot: Cell64) -> u64 {
        slot.nth(7).load()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: [u64; 8]) -> (Packet, u64) {
        // SAFETY: the words outlive the call.
        let slot = unsafe { Cell64::at(words.as_ptr().expose_provenance() as u64) };
        (Packet::read(slot), Packet::completion(slot))
    }

    #[test]
    fn packets_are_told_by_their_headers() {
        assert_eq!(read([0x1, 0, 0, 0, 9, 0, 0, 0]).0, Packet::Invalid);
        assert_eq!(read([0x1502, 0, 0, 0, 9, 0, 0, 64]), (Packet::Dispatch { kernel: 9 }, 64));
        let signals = [2, 3, 4, 5, 6];
        assert_eq!(read([0x3, 2, 3, 4, 5, 6, 0, 7]), (Packet::Barrier { signals, all: true }, 7));
        assert_eq!(read([0x5, 2, 3, 4, 5, 6, 0, 7]), (Packet::Barrier { signals, all: false }, 7));
        assert_eq!(read([0x1_0000, 0, 0, 0, 0, 0, 0, 0]).0, Packet::Commands);
        let value = Packet::BarrierValue { signal: 64, value: -1, mask: 255, condition: Condition::Less };
        assert_eq!(read([0x2_0000, 64, u64::MAX, 255, 2, 0, 0, 0]).0, value);
        assert_eq!(read([0x2_0000, 64, u64::MAX, 255, 4, 0, 0, 0]).0, Packet::Unknown { header: 0 });
        assert_eq!(read([0x4, 0, 0, 0, 0, 0, 0, 0]).0, Packet::Unknown { header: 4 });
        assert_eq!(read([0x7_0000, 0, 0, 0, 0, 0, 0, 0]).0, Packet::Unknown { header: 0 });
    }
}
