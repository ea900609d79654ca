//! Exchanges between lanes that go through the LDS hardware but not its memory.

use amdgpu_isa::Op;

use crate::check::Outcome;
use crate::program::{Context, Step};
use crate::wave::{LANES, Src, Wave, odd_operand};

/// Exchanges between lanes that go through the LDS hardware but not its memory.
pub(super) fn exchange(context: &mut Context<'_>, step: &Step) -> Outcome {
    let access_offset = step.extra.as_ref().map_or(0, |extra| extra.inst.mods.offset);
    let w = &mut *context.wave;
    let rows: Vec<u16> = step
        .src
        .iter()
        .filter_map(|source| if let Src::Row(row) = source { Some(*row) } else { None })
        .collect();
    let mut result = [0u32; LANES];
    let group = (w.rules.exchanges_within.lanes() as usize).min(w.lanes());
    match (step.op, rows.as_slice()) {
        (Op::ds_swizzle_b32, [data, ..]) => {
            let data = w.rows[usize::from(*data)];
            for (lane, value) in result.iter_mut().enumerate() {
                let from = swizzle(access_offset as u32, lane);
                *value = if w.active(from) { data[from] } else { 0 };
            }
        }
        (op, [address, data, ..]) => {
            let addresses = w.rows[usize::from(*address)];
            let data = w.rows[usize::from(*data)];
            let place = |address: u32| address.wrapping_add(access_offset as u32) / 4;
            note_missing(w, |lane| place(addresses[lane]));
            for lane in 0..LANES {
                // Lanes of one group alone.
                let other = partner(group, lane, place(addresses[lane]));
                if op == Op::ds_bpermute_fi_b32 {
                    result[lane] = data[other];
                } else if op == Op::ds_bpermute_b32 {
                    result[lane] = if w.active(other) { data[other] } else { 0 };
                } else if w.active(lane) {
                    result[other] = data[lane];
                }
            }
        }
        _ => return Err(odd_operand(step.op)),
    }
    for (lane, value) in result.into_iter().enumerate() {
        if w.active(lane) {
            w.rows[usize::from(step.dst)][lane] = value;
        }
    }
    Ok(())
}

/// The lane of the same group that a lane asks for.
#[inline(always)]
const fn partner(group: usize, lane: usize, asked: u32) -> usize {
    lane & !(group - 1) | asked as usize & (group - 1)
}

/// The lane whose data an exchange takes for a lane; `None` of another instruction.
pub(crate) fn exchanged_lane(w: &Wave, step: &Step, lane: usize) -> Option<usize> {
    let offset = step.extra.as_ref()?.inst.mods.offset as u32;
    let group = (w.rules.exchanges_within.lanes() as usize).min(w.lanes());
    let row = |source: &Src| if let Src::Row(row) = source { Some(usize::from(*row)) } else { None };
    let address = |lane: usize| Some(w.rows[step.src.iter().find_map(row)?][lane].wrapping_add(offset) / 4);
    match step.op {
        Op::ds_swizzle_b32 => Some(swizzle(offset, lane)),
        Op::ds_bpermute_b32 | Op::ds_bpermute_fi_b32 => Some(partner(group, lane, address(lane)?)),
        // The last lane that writes there.
        Op::ds_permute_b32 => (0..w.lanes())
            .rev()
            .find(|&from| w.active(from) && address(from).is_some_and(|to| partner(group, from, to) == lane)),
        _ => None,
    }
}

/// Notes that lanes ask for some that only larger waves have. That a lane at the end asks for the one behind
/// it is meant as often as not, and so are rotations: where no lane asks for one that exists, none of that is
/// meant.
fn note_missing(w: &mut Wave, asked: impl Fn(usize) -> u32) {
    if w.exec.count_ones() > 1 && (0..w.lanes()).all(|lane| !w.active(lane) || w.lacks_lane(asked(lane))) {
        let first = w.first_lane();
        w.note_missing_lane(w.current, asked(first), Some(first));
    }
}

/// The lane that `ds_swizzle_b32` reads for a lane (Vega ISA manual, "DS_SWIZZLE_B32").
fn swizzle(offset: u32, lane: usize) -> usize {
    if offset & 0xe000 == 0xe000 {
        // The order that a fast Fourier transform of 32 points needs: bits reversed, all but those of the
        // mask.
        let mask = (offset & 31) as usize;
        let reversed = (lane as u32 & 31).reverse_bits() as usize >> 27;
        return reversed >> mask.count_ones() | lane & mask | lane & 32;
    }
    if offset & 0xe000 == 0xc000 {
        // Rotation of 32 lanes, with a mask of bits that stay.
        let (left, amount, keep) = (offset & 0x400 == 0, (offset >> 5 & 31) as usize, (offset & 31) as usize);
        let turned = if left { lane + amount } else { lane + 32 - amount } & 31;
        return lane & 32 | turned & !keep & 31 | lane & keep & 31;
    }
    if offset & 0x8000 != 0 {
        return lane & !3 | (offset >> (2 * (lane & 3)) & 3) as usize;
    }
    let (and, or, xor) = ((offset & 31) as usize, (offset >> 5 & 31) as usize, (offset >> 10 & 31) as usize);
    lane & 32 | ((lane & and | or) ^ xor) & 31
}
