//! Reads and writes in LDS, and atomics, when all active lanes' bytes are inside.

use super::atomic;
use super::level::Level;
use super::memory::Narrow;
use super::places::{LanesInLds, Reads};
use super::{Body, PARTS, general, part, parts};
use amdgpu_isa::AtomicOp;

use crate::check::AccessKind;
use crate::exec::{AtomicWork, lane_race};
use crate::program::{Action, Context, Hot, Part};
use crate::races::{Lines, Mark, Noting};
use crate::wave::{LANES, Row, RowAt, Wave};

/// A read (or write, if `WRITE`) of `DWORDS` a lane at each of `COUNT` offsets (`hot.imm`) from the addresses
/// in row `hot.src[0]`. Reads go to rows from `hot.dst` on; what is written at the first offset comes from
/// there, what is written at the second from `hot.src[1]`.
pub(super) struct Access<const WRITE: bool, const DWORDS: usize, const COUNT: usize>;

/// What an instruction does: at each of the offsets from each lane's address, all of them in bounds.
struct Lanes<'a> {
    addresses: &'a [u32; LANES],
    offsets: &'a [u32],
    dwords: usize,
    write: bool,
}

/// Lanes whose places are compared at a time.
const NEIGHBOURS: usize = 16;

impl Lanes<'_> {
    /// Adds what the active lanes do. Where neighbours are side by side, or at one place, they are added at
    /// once.
    fn gather(&self, noting: &mut Noting<impl Lines>, exec: u64) {
        let bytes = 4 * self.dwords as u32;
        for offset in self.offsets {
            for (number, lanes) in self.addresses.chunks_exact(NEIGHBOURS).enumerate() {
                let mut active = (exec >> (number * NEIGHBOURS)) as u16;
                if active == 0 {
                    continue;
                }
                let at = lanes[active.trailing_zeros() as usize];
                let from = (at + offset) as usize;
                // Without an early end, so that it is done in vectors.
                let mut apart = [0, 0];
                for (lane, address) in (0..).zip(lanes) {
                    apart[0] |= address ^ at;
                    apart[1] |= address ^ at.wrapping_add(lane * bytes);
                }
                if active == u16::MAX && apart[0] == 0 {
                    noting.add(from, bytes as usize);
                } else if active == u16::MAX && apart[1] == 0 && from.is_multiple_of(4) {
                    noting.add(from, NEIGHBOURS * bytes as usize);
                } else {
                    while active != 0 {
                        let lane = active.trailing_zeros() as usize;
                        active &= active - 1;
                        noting.add((lanes[lane] + offset) as usize, bytes as usize);
                    }
                }
            }
        }
    }

    /// Whether two lanes store different values to one place. The data of the first offset are in rows from
    /// `first_row`.
    fn clash(&self, w: &Wave, first_row: RowAt) -> bool {
        let action = Action::Store { bytes: 4 * self.dwords as u8, part: Part::Whole };
        let &[first, second] = self.offsets else {
            return lane_race::in_one_store(w, action, first_row.number(), |lane| {
                u64::from(self.addresses[lane])
            });
        };
        // Two offsets: whether any two of the places overlap, whatever is stored.
        let (size, distance) = (4 * self.dwords as u32, first.abs_diff(second));
        let (mut places, mut count) = ([0; LANES], 0);
        for lane in (0..LANES).filter(|lane| w.active(*lane)) {
            places[count] = self.addresses[lane];
            count += 1;
        }
        let places = &mut places[..count];
        if !places.is_sorted() {
            places.sort_unstable();
        }
        if places.windows(2).any(|pair| pair[1] - pair[0] < size) {
            return true;
        }
        let (Some(first), Some(last)) = (places.first(), places.last()) else { return false };
        if distance == 0 || last - first + size <= distance {
            return false;
        }
        // The first place of a lane, and the second of another.
        let mut near = 0;
        places.iter().any(|at| {
            let second = at + distance;
            while places.get(near).is_some_and(|first| first + size <= second) {
                near += 1;
            }
            places.get(near).is_some_and(|first| first != at && *first < second + size)
        })
    }
}

/// Notes what the active lanes are about to do. Returns whether no more is to be done than that: else each
/// access is to be looked at by itself.
#[inline(never)]
fn note(context: &mut Context<'_>, hot: &Hot, lanes: &Lanes<'_>) -> bool {
    let Context { wave: w, lds, watch, .. } = context;
    let kind = AccessKind::plain(lanes.write);
    if let Some(scan) = lds.scan() {
        if scan.wants(w.place.number, kind) {
            let mut noting = scan.by(w.place.number, w.stage(), kind);
            lanes.gather(&mut noting, w.exec);
            noting.end();
        }
        if lanes.write && lanes.clash(w, hot.dst) {
            scan.report_lanes();
        }
        return true;
    }
    if let Some(focus) = watch.races().and_then(|races| races.focus.as_deref()) {
        let met = focus.wants_lds(kind) && {
            let mut noting = focus.meeting_in_lds();
            lanes.gather(&mut noting, w.exec);
            noting.met() || lanes.write && focus.lanes() && lanes.clash(w, hot.dst)
        };
        if !met {
            return true;
        }
    }
    let by = (Mark::new(w.place.number, w.site(hot.next - 1)), w.stage());
    lds.note_lanes(by, lanes.addresses, w.exec, lanes.offsets, 4 * lanes.dwords, lanes.write)
}

impl<const WRITE: bool, const DWORDS: usize, const COUNT: usize> Body for Access<WRITE, DWORDS, COUNT> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let exec = context.wave.exec;
        if exec == 0 {
            return hot.next;
        }
        let offsets = &hot.imm[..COUNT];
        let reach = offsets.iter().copied().fold(0, u32::max) as usize + 4 * DWORDS;
        let limit = context.wave.lds_limit();
        if context.lds.is_watched() {
            let addresses = *hot.src[0].row.row(context.wave.rows.file());
            let is_inside =
                LanesInLds::of(level, context.lds.reached(limit), &addresses, exec, reach).is_some();
            let lanes = Lanes { addresses: &addresses, offsets, dwords: DWORDS, write: WRITE };
            if !is_inside || !note(context, hot, &lanes) {
                return general(context, hot);
            }
        }
        let file = context.wave.rows.file_mut();
        if !WRITE {
            // A read may overwrite its own addresses: they are kept.
            let (row, mut kept) = (hot.src[0].row.row(file), [level.splat(0); PARTS]);
            let lds = context.lds.reached(limit);
            let Some(reads) = Reads::<L, DWORDS, COUNT>::of(level, lds, row, &mut kept, &hot.imm, exec)
            else {
                return general(context, hot);
            };
            let (first, second) = hot.dst.group_mut(file).split_at_mut(DWORDS);
            for (slot, rows) in [first, second].into_iter().enumerate().take(COUNT) {
                for dword in 0..DWORDS {
                    for i in 0..parts::<L>() {
                        level.store_if(&mut rows[dword], i, reads.get(slot, dword, i), part::<L>(exec, i));
                    }
                }
            }
            return hot.next;
        }
        let addresses = hot.src[0].row.row(file);
        let Some(lanes) = LanesInLds::of(level, context.lds.reached(limit), addresses, exec, reach) else {
            return general(context, hot);
        };
        let data = [hot.dst, hot.src[1].row].map(|row| row.group(file));
        // Where lanes overlap, a lane's dwords all come before the next lane's.
        if DWORDS == 1 && COUNT == 1 && are_aligned(level, addresses, exec, hot.imm[0], 4) {
            for i in 0..parts::<L>() {
                lanes.scatter(level, i, hot.imm[0] as usize, level.load(&data[0][0], i));
            }
            return hot.next;
        }
        for (lane, spot) in lanes.spots() {
            for slot in 0..COUNT {
                for dword in 0..DWORDS {
                    let at = hot.imm[slot] as usize + 4 * dword;
                    spot.store(at, data[slot][dword][lane].to_le_bytes());
                }
            }
        }
        hot.next
    }
}

/// Whether the active lanes' addresses with an offset are multiples of a power of two.
#[inline(always)]
fn are_aligned<L: Level>(level: L, addresses: &Row, exec: u64, offset: u32, alignment: u32) -> bool {
    let (offset, low_bits) = (level.splat(offset), level.splat(alignment - 1));
    let mut odd = 0;
    for i in 0..parts::<L>() {
        let place = level.add(level.load(addresses, i), offset);
        odd |= !level.equal(level.and(place, low_bits), level.splat(0)) & part::<L>(exec, i);
    }
    odd == 0
}

/// A read (or write, if `WRITE`) of one or two bytes a lane, as [`Narrow`] in `hot.imm[2]` says. Operands as
/// those of [`Access`].
pub(super) struct Less<const WRITE: bool>;

impl<const WRITE: bool> Body for Less<WRITE> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let (narrow, offset) = (Narrow::from_bits(hot.imm[2]), hot.imm[0] as usize);
        if context.lds.is_watched() {
            return general(context, hot);
        }
        let limit = context.wave.lds_limit();
        let (w, lds) = (&*context.wave, context.lds.reached(limit));
        let row = hot.src[0].row.row(w.rows.file());
        let Some(lanes) = LanesInLds::of(level, lds, row, w.exec, offset + narrow.bytes as usize) else {
            return general(context, hot);
        };
        let registers = hot.dst.row(w.rows.file());
        let mut values = [0; LANES];
        for (lane, spot) in lanes.spots() {
            match (WRITE, narrow.bytes) {
                (true, bytes) => {
                    let value = registers[lane] >> if narrow.high { 16 } else { 0 };
                    if bytes == 1 {
                        spot.store(offset, [value as u8]);
                    } else {
                        spot.store(offset, (value as u16).to_le_bytes());
                    }
                }
                (false, 1) => values[lane] = u8::from_le_bytes(spot.load(offset)).into(),
                (false, _) => values[lane] = u16::from_le_bytes(spot.load(offset)).into(),
            }
        }
        if !WRITE {
            narrow.put(level, context.wave, hot.dst, &values);
        }
        hot.next
    }
}

/// A read-modify-write operation on 4 or 8 bytes (`WIDE`) a lane, at the offset `hot.imm[0]` from the
/// addresses in row `hot.src[0]`. Operands from rows `hot.src[1]` and `hot.src[2]`; what was there goes to
/// rows from `hot.dst` on if `RETURNS`.
pub(super) struct Atomic<const WIDE: bool, const RETURNS: bool>;

impl<const WIDE: bool, const RETURNS: bool> Body for Atomic<WIDE, RETURNS> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let (bytes, offset, exec) = (if WIDE { 8 } else { 4 }, hot.imm[0] as usize, context.wave.exec);
        // A result may overwrite addresses: they are kept.
        let addresses = *hot.src[0].row.row(context.wave.rows.file());
        if context.lds.is_watched() || !are_aligned(level, &addresses, exec, hot.imm[0], bytes) {
            return general(context, hot);
        }
        let lds = context.lds.reached(context.wave.lds_limit());
        let Some(lanes) = LanesInLds::of(level, lds, &addresses, exec, offset + bytes as usize) else {
            return general(context, hot);
        };
        let step = &context.program.steps[(hot.next - 1) as usize];
        let access = step.extra.as_ref().and_then(|extra| extra.memory.as_ref());
        let Some(Action::Atomic { op, .. }) = access.map(|access| access.action) else {
            return general(context, hot);
        };
        let work = AtomicWork::in_lds(op, bytes as u8, context.wave);
        let file = context.wave.rows.file_mut();
        // The commonest operations have loops of their own.
        macro_rules! each {
            (|$old:ident, $data:ident, $second:ident| $new:expr) => {
                for (lane, spot) in lanes.spots() {
                    let $old = match WIDE {
                        true => u64::from_le_bytes(spot.load(offset)),
                        false => u32::from_le_bytes(spot.load(offset)).into(),
                    };
                    let $data = atomic::read::<WIDE>(hot.src[1].row.group(file), lane);
                    let $second = atomic::read::<WIDE>(hot.src[2].row.group(file), lane);
                    let new: u64 = $new;
                    match WIDE {
                        true => spot.store(offset, new.to_le_bytes()),
                        false => spot.store(offset, (new as u32).to_le_bytes()),
                    }
                    if RETURNS {
                        atomic::write::<WIDE>(hot.dst.group_mut(file), lane, $old);
                    }
                }
            };
        }
        match op {
            AtomicOp::Add => each!(|old, data, _second| old.wrapping_add(data)),
            AtomicOp::UMin => each!(|old, data, _second| old.min(data)),
            AtomicOp::UMax => each!(|old, data, _second| old.max(data)),
            AtomicOp::And => each!(|old, data, _second| old & data),
            AtomicOp::Or => each!(|old, data, _second| old | data),
            AtomicOp::Xor => each!(|old, data, _second| old ^ data),
            AtomicOp::Swap => each!(|_old, data, _second| data),
            AtomicOp::CmpSwap => each!(|old, data, second| if old == data { second } else { old }),
            _ => each!(|old, data, second| work.apply(old, data, second)),
        }
        hot.next
    }
}
