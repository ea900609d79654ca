//! `ds_read_*_tr_*` of gfx950: loads that transpose small matrices on their way to the matrix instructions'
//! operands (CDNA4 ISA manual, "MFMA Transpose Load from LDS").
//!
//! Each group of 16 lanes reads a matrix of 16 columns by rows, `n` elements a lane: 16/n lanes hold a row.
//! Afterwards each lane has one column, its first `n` elements. The manual gives the matrix operands that
//! result, not the lanes that read which part; for 16-bit elements the order here is the one measured on
//! hardware (ROCm/rocm-systems#10175), and that of the other widths follows by the same rule.

use amdgpu_isa::Op;

use super::memory::{check, load};
use super::{access_of, no_gds};
use crate::check::{AccessKind, Outcome, Trap};
use crate::program::{Action, Context, Step};
use crate::wave::{LANES, odd_operand};

/// Lanes that exchange data.
const GROUP: usize = 16;

/// Bits of the elements that such a load transposes; none if it is another instruction.
pub(super) const fn element_bits(op: Op) -> Option<usize> {
    match op {
        Op::ds_read_b64_tr_b4 => Some(4),
        Op::ds_read_b96_tr_b6 => Some(6),
        Op::ds_read_b64_tr_b8 => Some(8),
        Op::ds_read_b64_tr_b16 => Some(16),
        _ => None,
    }
}

/// Load and transpose.
pub(super) fn read(context: &mut Context<'_>, step: &Step) -> Outcome {
    let access = access_of(step)?;
    no_gds(step)?;
    let (Some(vaddr), Action::Load { bytes, .. }) = (access.vaddr, access.action) else {
        return Err(odd_operand(step.op));
    };
    let bits = element_bits(step.op).ok_or_else(|| odd_operand(step.op))?;
    let Context { wave: w, lds, .. } = context;
    if w.exec == 0 {
        return Ok(());
    }
    if w.exec != !0 {
        return Err(Trap::unimplemented(step.op, "with lanes switched off: the manual requires all of them"));
    }
    let required = if bytes == 12 { 4 } else { bytes };
    let mut loaded = [0u128; LANES];
    for (lane, value) in loaded.iter_mut().enumerate() {
        let base = u64::from(w.rows[usize::from(vaddr)][lane]);
        let address = base.wrapping_add_signed(access.offset) & 0xffff_ffff;
        let at = check(lds, w, AccessKind::Read, address, bytes, required, lane)?;
        for dword in 0..usize::from(bytes / 4) {
            *value |= u128::from(load(lds, at + 4 * dword, 4)) << (32 * dword);
        }
    }
    for lane in 0..LANES {
        let column = transposed(&loaded, lane, bits, 8 * usize::from(bytes) / bits);
        for dword in 0..usize::from(bytes / 4) {
            w.rows[usize::from(access.dst) + dword][lane] = (column >> (32 * dword)) as u32;
        }
    }
    Ok(())
}

/// A lane's column, of `count` elements.
fn transposed(loaded: &[u128; LANES], lane: usize, bits: usize, count: usize) -> u128 {
    let (group, column) = (lane & !(GROUP - 1), lane % GROUP);
    let lanes_a_row = GROUP / count;
    (0..count).fold(0, |result, row| {
        let from = group + row * lanes_a_row + column / count;
        let element = loaded[from] >> (bits * (column % count)) & ((1 << bits) - 1);
        result | element << (bits * row)
    })
}
