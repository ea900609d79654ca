//! Transfers between memory and LDS that bypass registers (Vega ISA manual, "Memory Buffer Load to LDS";
//! CDNA3 ISA manual, "Flat Memory Instructions", "Addressing").
//!
//! Lane `n` uses the LDS bytes from `M0 + offset + n · size` on, whether lanes before it are active or not. A
//! value of less than a dword takes a dword there. Hardware switches off the lanes that would touch LDS
//! beyond the workgroup's; here they are a fault.

use super::{bytes_of, lds, perform};
use crate::check::{AccessKind, Outcome};
use crate::program::{Action, Context, MemoryAccess, Step};
use crate::wave::{LANES, M0, RESULT_ROW};
use amdgpu_isa::Feature;

/// A load to LDS, or a store from there.
pub(super) fn transfer(context: &mut Context<'_>, step: &Step, access: &MemoryAccess) -> Outcome {
    let dwords = bytes_of(access.action).div_ceil(4);
    let exec = context.wave.exec;
    // The rows of a result that is still worked on are free during a memory instruction.
    let staged = MemoryAccess { dst: RESULT_ROW, data: [RESULT_ROW, 0], lds_dma: false, ..*access };
    let rows = (0..usize::from(dwords)).map(|dword| (usize::from(RESULT_ROW) + dword, 4 * dword));
    if matches!(access.action, Action::Store { .. }) {
        let places = places(context, access, AccessKind::Read, dwords)?;
        for (row, offset) in rows {
            for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
                context.wave.rows[row][lane] = lds::load(context.lds, places[lane] + offset, 4) as u32;
            }
        }
        return perform(context, step, &staged);
    }
    perform(context, step, &staged)?;
    let places = places(context, access, AccessKind::Write, dwords)?;
    for (row, offset) in rows {
        for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
            let value = u64::from(context.wave.rows[row][lane]);
            lds::store(context.lds, places[lane] + offset, 4, value);
        }
    }
    context.lds.settle()
}

/// The first byte in LDS of each active lane, which is about to access `dwords` there.
fn places(
    context: &mut Context<'_>,
    access: &MemoryAccess,
    how: AccessKind,
    dwords: u8,
) -> Outcome<[usize; LANES]> {
    let m0 = context.wave.s[usize::from(M0)];
    let mask = if context.program.target.arch.has(Feature::LdsAddressBits18) { 0x3_fffc } else { 0xffff };
    let first = u64::from(m0 & mask).wrapping_add_signed(access.offset) & 0xffff_ffff;
    let exec = context.wave.exec;
    let mut places = [0; LANES];
    for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
        let address = first + u64::from(4 * dwords) * lane as u64;
        places[lane] = lds::check(context.lds, context.wave, how, address, 4 * dwords, 4, lane)?;
    }
    Ok(places)
}
