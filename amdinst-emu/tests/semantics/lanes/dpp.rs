//! DPP: the lane that each lane's source 0 comes from (Vega ISA manual, "DPP_CTRL Enumeration").

use amdgpu_isa::DppCtrl;

use crate::support::Random;

pub(super) fn any(random: &mut Random) -> DppCtrl {
    let ctrl = match random.below(14) {
        0..=2 => random.below(256),
        3 => 0x101 + random.below(15),
        4 => 0x111 + random.below(15),
        5 => 0x121 + random.below(15),
        6 => random.pick(&[0x130, 0x134, 0x138, 0x13c]),
        7 => random.pick(&[0x140, 0x141]),
        8 => random.pick(&[0x142, 0x143]),
        9 | 10 => 0x160 + random.below(16),
        _ => 0x150 + random.below(16),
    };
    let masks = |random: &mut Random| if random.flag() { 15 } else { random.below(16) as u8 };
    DppCtrl {
        ctrl: ctrl as u16,
        row_mask: masks(random),
        bank_mask: masks(random),
        bound_ctrl: random.flag(),
    }
}

/// The lane read; `None` outside the row or wave.
fn from(ctrl: u16, lane: i32) -> Option<i32> {
    let row = lane / 16;
    let inside = |other: i32| (other / 16 == row && other >= 0).then_some(other);
    let amount = i32::from(ctrl % 16);
    match ctrl / 16 {
        0..=0xf => {
            let select = ctrl >> (2 * (lane % 4)) & 3;
            Some(lane / 4 * 4 + i32::from(select))
        }
        0x10 => inside(lane + amount),
        0x11 => {
            if lane < amount {
                None
            } else {
                inside(lane - amount)
            }
        }
        0x12 => Some(row * 16 + (lane % 16 - amount).rem_euclid(16)),
        0x15 => Some(row * 16 + amount),
        // Row xmask (RDNA3 ISA, section 7.7.1).
        0x16 => Some(row * 16 + ((lane % 16) ^ amount)),
        _ => match ctrl {
            0x130 => (lane != 63).then_some(lane + 1),
            0x134 => Some((lane + 1) % 64),
            0x138 => (lane != 0).then_some(lane - 1),
            0x13c => Some((lane + 63) % 64),
            0x140 => Some(row * 16 + 15 - lane % 16),
            0x141 => Some(lane / 8 * 8 + 7 - lane % 8),
            // Lane 15 of a row to the next row; lane 31 to rows 2 and 3.
            0x142 => (row > 0).then_some(row * 16 - 1),
            0x143 => (row > 1).then_some(31),
            _ => None,
        },
    }
}

/// What source 0 is in a lane, and whether the lane is written. A source lane that is out of bounds or
/// inactive reads as zero with BOUND_CTRL, else it disables the lane.
pub(super) fn source(dpp: &DppCtrl, exec: u64, lane: usize, values: &[u128; 64]) -> Option<u128> {
    let row_on = dpp.row_mask >> (lane / 16) & 1 != 0;
    let bank_on = dpp.bank_mask >> (lane / 4 % 4) & 1 != 0;
    if !row_on || !bank_on {
        return None;
    }
    match from(dpp.ctrl, lane as i32).filter(|from| exec >> from & 1 != 0) {
        Some(from) => Some(values[from as usize]),
        None if dpp.bound_ctrl => Some(0),
        None => None,
    }
}

/// What source 0 is in a lane with DPP8: of its eight lanes, the one that three bits say; zero if that is
/// inactive.
pub(super) fn source8(selectors: [u8; 3], exec: u64, lane: usize, values: &[u128; 64]) -> u128 {
    let bits = u32::from_le_bytes([selectors[0], selectors[1], selectors[2], 0]);
    let from = lane / 8 * 8 + (bits >> (3 * (lane % 8)) & 7) as usize;
    if exec >> from & 1 != 0 { values[from] } else { 0 }
}
