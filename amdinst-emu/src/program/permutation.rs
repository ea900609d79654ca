//! Permutations of the lanes of an instruction's first source: DPP and DPP8.

use amdgpu_isa::Mods;

use crate::wave::{CHUNK, LANES, SOURCE_ROWS, Wave, packed};

/// Whether an instruction permutes the lanes of its first source.
pub(crate) fn permutes(mods: &Mods) -> bool {
    mods.dpp.is_some() || mods.dpp8.is_some()
}

/// Where DPP has the lanes of source 0 come from.
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    /// The lane that each reads; itself where it reads none.
    from: [u32; LANES],
    /// Lanes that read one that there is.
    in_bounds: u64,
    /// Lanes that may be written.
    written: u64,
    /// A lane that reads none, or an inactive one, reads zero; else it is not written.
    zero: bool,
    /// FI ("fetch inactive") reads lanes that are switched off, too.
    fetches_inactive: bool,
}

impl Permutation {
    pub(crate) fn of(mods: &Mods) -> Self {
        let mut permutation = Self {
            from: [0; LANES],
            in_bounds: 0,
            written: 0,
            zero: mods.dpp.is_none_or(|dpp| dpp.bound_ctrl),
            fetches_inactive: mods.fi,
        };
        for lane in 0..LANES {
            let (from, written) = match (&mods.dpp, mods.dpp8) {
                (Some(dpp), _) => {
                    let row_on = dpp.row_mask >> (lane / 16) & 1 != 0;
                    let bank_on = dpp.bank_mask >> (lane % 16 / 4) & 1 != 0;
                    (dpp_source(dpp.ctrl, lane), row_on && bank_on)
                }
                (None, Some(selectors)) => (Some(dpp8_source(selectors, lane)), true),
                (None, None) => (Some(lane), true),
            };
            permutation.from[lane] = from.unwrap_or(lane) as u32;
            permutation.in_bounds |= u64::from(from.is_some()) << lane;
            permutation.written |= u64::from(written) << lane;
        }
        permutation
    }

    /// The lane that a lane reads; `None` if it reads none.
    pub(crate) fn source(&self, lane: usize) -> Option<usize> {
        let from = *self.from.get(lane)?;
        (self.in_bounds >> lane & 1 != 0).then_some(from as usize)
    }

    /// Writes the permutation of as many rows as a source has to [`SOURCE_ROWS`]; returns the lanes that may
    /// be written.
    #[inline(always)]
    pub(crate) fn apply(&self, w: &mut Wave, from: u16, dwords: u8) -> u64 {
        let lanes = w.lanes();
        let all = u64::MAX >> (LANES - lanes);
        let mut available = self.in_bounds;
        if !self.fetches_inactive && w.exec != all {
            available &= self.permuted(w);
        }
        for dword in 0..u16::from(dwords.max(1)) {
            let old = w.rows[usize::from(from + dword)];
            let new = &mut w.rows[usize::from(SOURCE_ROWS + dword)][..lanes];
            for (value, from) in new.iter_mut().zip(self.from) {
                *value = old[from as usize & (LANES - 1)];
            }
            if available & all != all {
                for (lane, value) in new.iter_mut().enumerate() {
                    *value &= 0u32.wrapping_sub((available >> lane) as u32 & 1);
                }
            }
        }
        self.written & if self.zero { u64::MAX } else { available }
    }

    /// EXEC, its lanes permuted.
    #[inline(always)]
    fn permuted(&self, w: &Wave) -> u64 {
        let mut lanes = 0;
        for base in (0..w.lanes()).step_by(CHUNK) {
            let mut bits = [0; CHUNK];
            for (bit, from) in bits.iter_mut().zip(&self.from[base..]) {
                *bit = (w.exec >> from) as u32 & 1;
            }
            lanes |= packed(&bits) << base;
        }
        lanes
    }
}

/// The lane of its eight that a lane reads (RDNA3 ISA, section 7.7.2).
fn dpp8_source([low, middle, high]: [u8; 3], lane: usize) -> usize {
    let selectors = u32::from(low) | u32::from(middle) << 8 | u32::from(high) << 16;
    lane & !7 | (selectors >> (3 * (lane & 7)) & 7) as usize
}

/// The lane that a lane reads (Vega ISA manual, "DPP_CTRL Enumeration"; RDNA3 ISA, section 7.7.1); none if it
/// is out of bounds.
fn dpp_source(ctrl: u16, lane: usize) -> Option<usize> {
    let (row, at) = (lane & !15, lane & 15);
    let amount = usize::from(ctrl & 15);
    match ctrl {
        // quad_perm
        0x000..=0x0ff => Some(lane & !3 | usize::from(ctrl >> (2 * (lane & 3)) & 3)),
        // row_shl, row_shr, row_ror
        0x101..=0x10f => (at + amount < 16).then_some(lane + amount),
        0x111..=0x11f => (at >= amount).then(|| lane - amount),
        0x121..=0x12f => Some(row | (at + 16 - amount) & 15),
        // wave_shl, wave_rol, wave_shr, wave_ror
        0x130 => (lane < 63).then_some(lane + 1),
        0x134 => Some((lane + 1) & 63),
        0x138 => lane.checked_sub(1),
        0x13c => Some((lane + 63) & 63),
        // row_mirror, row_half_mirror
        0x140 => Some(row | (15 - at)),
        0x141 => Some(lane & !7 | (7 - (lane & 7))),
        // row_bcast15, row_bcast31
        0x142 => (lane >= 16).then(|| row - 1),
        0x143 => (lane >= 32).then_some(31),
        // row_newbcast (gfx90a and later), row_share
        0x150..=0x15f => Some(row | amount),
        // row_xmask
        0x160..=0x16f => Some(row | at ^ amount),
        _ => None,
    }
}
