//! Reads and writes in LDS, and atomics, when all active lanes' bytes are inside.

use super::atomic;
use super::level::Level;
use super::memory::{Narrow, numbers};
use super::{Body, PARTS, general, part, parts, rows};
use amdgpu_isa::AtomicOp;

use crate::check::AccessKind;
use crate::exec::{AtomicWork, lane_race};
use crate::program::{Action, Context, Hot, Part};
use crate::races::{Lines, Mark, Noting};
use crate::wave::{LANES, Wave, lanes_of};

/// A read (or write, if `WRITE`) of `DWORDS` a lane at each of `COUNT` offsets (`hot.imm`) from the addresses
/// in row `hot.src[0]`. Reads go to rows from `hot.dst` on; what is written at the first offset comes from
/// there, what is written at the second from `hot.src[1]`.
pub(super) struct Access<const WRITE: bool, const DWORDS: usize, const COUNT: usize>;

/// What is known of the active lanes' addresses.
struct Addresses {
    /// All bytes are in LDS.
    inside: bool,
    /// All are multiples of 4.
    aligned: bool,
}

/// Looks at the addresses of the lanes in `exec`: with `reach` bytes from each they must stay below `len`.
#[inline(always)]
unsafe fn look<L: Level>(addresses: &[L::V; PARTS], exec: u64, reach: u64, len: usize) -> Addresses {
    let Some(last) = (len as u64).checked_sub(reach) else {
        return Addresses { inside: false, aligned: false };
    };
    let (mut beyond, mut odd) = (0, 0);
    // SAFETY: the caller's.
    unsafe {
        let last = L::splat(u32::try_from(last).unwrap_or(u32::MAX));
        for i in 0..parts::<L>() {
            let bits = part::<L>(exec, i);
            beyond |= L::less_unsigned(last, addresses[i]) & bits;
            odd |= !L::equal(L::and(addresses[i], L::splat(3)), L::splat(0)) & bits;
        }
    }
    Addresses { inside: beyond == 0, aligned: odd == 0 }
}

/// How the addresses of a vector's lanes lie.
#[derive(Clone, Copy)]
enum Kind {
    /// All lanes are active, each 4 bytes behind the one before.
    Consecutive(u32),
    /// The addresses of the active lanes are equal.
    Same(u32),
    /// Any other way, or no lane is active.
    Scattered,
}

#[inline(always)]
unsafe fn kind<L: Level>(addresses: L::V, bits: u32) -> Kind {
    if bits == 0 {
        return Kind::Scattered;
    }
    // SAFETY: the caller's.
    unsafe {
        let first = (&raw const addresses).cast::<u32>().add(bits.trailing_zeros() as usize).read();
        let same = L::splat(first);
        let whole = bits == ((1u64 << L::N) - 1) as u32;
        if whole && L::equal(addresses, L::add(same, L::shl(numbers::<L>(), L::splat(2)))) & bits == bits {
            Kind::Consecutive(first)
        } else if L::equal(addresses, same) & bits == bits {
            Kind::Same(first)
        } else {
            Kind::Scattered
        }
    }
}

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
    fn clash(&self, w: &Wave, first_row: u32) -> bool {
        let action = Action::Store { bytes: 4 * self.dwords as u8, part: Part::Whole };
        let &[first, second] = self.offsets else {
            let row = (first_row as usize / LANES) as u16;
            return lane_race::in_one_store(w, action, row, |lane| u64::from(self.addresses[lane]));
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
    let Context { wave: w, lds, focus, .. } = context;
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
    if let Some(focus) = focus {
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
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let exec = w.exec;
        if exec == 0 {
            return hot.next;
        }
        // SAFETY: rows are in the register file (checked by `compile`), and all bytes in LDS (checked here).
        unsafe {
            let all = rows(w);
            // A read may overwrite its own addresses: keep them.
            let mut addresses = [L::splat(0); PARTS];
            for i in 0..parts::<L>() {
                addresses[i] = L::load(all.add(hot.src[0] as usize + i * L::N));
            }
            let farthest = if COUNT == 2 { hot.imm[0].max(hot.imm[1]) } else { hot.imm[0] };
            let reach = u64::from(farthest) + 4 * DWORDS as u64;
            let known = look::<L>(&addresses, exec, reach, context.lds.len());
            if !known.inside {
                return general(context, hot);
            }
            if context.lds.is_watched() {
                let (offsets, dwords) = (&hot.imm[..COUNT], DWORDS);
                let addresses = &*addresses.as_ptr().cast::<[u32; LANES]>();
                if !note(context, hot, &Lanes { addresses, offsets, dwords, write: WRITE }) {
                    return general(context, hot);
                }
            }
            let lds = context.lds.as_mut_ptr();
            if !WRITE {
                let mut kinds = [Kind::Scattered; PARTS];
                for i in 0..parts::<L>() {
                    kinds[i] = kind::<L>(addresses[i], part::<L>(exec, i));
                }
                for slot in 0..COUNT {
                    for dword in 0..DWORDS {
                        let from = lds.add(hot.imm[slot] as usize + 4 * dword).cast_const();
                        let row = all.add(hot.dst as usize + (slot * DWORDS + dword) * LANES);
                        for i in 0..parts::<L>() {
                            let bits = part::<L>(exec, i);
                            let values = match kinds[i] {
                                Kind::Consecutive(first) => L::load(from.add(first as usize).cast()),
                                Kind::Same(first) => {
                                    let value = from.add(first as usize).cast::<u32>().read_unaligned();
                                    L::splat(u32::from_le(value))
                                }
                                Kind::Scattered => L::gather(from, addresses[i], bits),
                            };
                            L::store_if(row.add(i * L::N), values, bits);
                        }
                    }
                }
                return hot.next;
            }
            // Where lanes overlap, a lane's dwords all come before the next lane's.
            if DWORDS == 1 && COUNT == 1 && known.aligned && hot.imm[0].is_multiple_of(4) {
                let to = lds.add(hot.imm[0] as usize);
                for i in 0..parts::<L>() {
                    let values = L::load(all.add(hot.dst as usize + i * L::N));
                    L::scatter(to, addresses[i], values, part::<L>(exec, i));
                }
                return hot.next;
            }
            let addresses = addresses.as_ptr().cast::<u32>();
            let mut lanes = exec;
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                let address = addresses.add(lane).read() as usize;
                for slot in 0..COUNT {
                    let registers = all.add(if slot == 0 { hot.dst } else { hot.src[1] } as usize);
                    let at = lds.add(address + hot.imm[slot] as usize).cast::<u32>();
                    for dword in 0..DWORDS {
                        at.add(dword).write_unaligned(registers.add(dword * LANES + lane).read().to_le());
                    }
                }
            }
        }
        hot.next
    }
}

/// A read (or write, if `WRITE`) of one or two bytes a lane, as [`Narrow`] in `hot.imm[2]` says. Operands as
/// those of [`Access`].
pub(super) struct Less<const WRITE: bool>;

impl<const WRITE: bool> Body for Less<WRITE> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let narrow = Narrow::from_bits(hot.imm[2]);
        // SAFETY: as for `Access`.
        unsafe {
            let Some(addresses) = plain::<L>(context, hot, narrow.bytes, 1) else {
                return general(context, hot);
            };
            let w = &mut *context.wave;
            let lds = context.lds.as_mut_ptr();
            let registers = rows(w).add(hot.dst as usize);
            let mut values = [0; LANES];
            for lane in lanes_of(w.exec) {
                let at = lds.add(addresses[lane] as usize);
                match (WRITE, narrow.bytes) {
                    (true, bytes) => {
                        let value = registers.add(lane).read() >> if narrow.high { 16 } else { 0 };
                        if bytes == 1 {
                            at.write(value as u8);
                        } else {
                            at.cast::<u16>().write_unaligned((value as u16).to_le());
                        }
                    }
                    (false, 1) => values[lane] = at.read().into(),
                    (false, _) => values[lane] = u16::from_le(at.cast::<u16>().read_unaligned()).into(),
                }
            }
            if !WRITE {
                narrow.put::<L>(w, hot.dst, &values);
            }
        }
        hot.next
    }
}

/// The active lanes' addresses with the offset `hot.imm[0]`, if nobody looks at what is accessed, and all
/// bytes are inside and aligned.
#[inline(always)]
unsafe fn plain<L: Level>(
    context: &mut Context<'_>,
    hot: &Hot,
    bytes: u32,
    alignment: u32,
) -> Option<[u32; LANES]> {
    if context.lds.is_watched() {
        return None;
    }
    let w = &mut *context.wave;
    let reach = u64::from(hot.imm[0]) + u64::from(bytes);
    let mut all = [0; LANES];
    // SAFETY: rows are in the register file (checked by `compile`).
    unsafe {
        let row = rows(w).add(hot.src[0] as usize).cast_const();
        let mut addresses = [L::splat(0); PARTS];
        let (offset, low_bits) = (L::splat(hot.imm[0]), L::splat(alignment - 1));
        let mut odd = 0;
        for i in 0..parts::<L>() {
            addresses[i] = L::load(row.add(i * L::N));
            let place = L::add(addresses[i], offset);
            odd |= !L::equal(L::and(place, low_bits), L::splat(0)) & part::<L>(w.exec, i);
            L::store(all.as_mut_ptr().add(i * L::N), place);
        }
        let inside = look::<L>(&addresses, w.exec, reach, context.lds.len()).inside;
        (inside && odd == 0).then_some(all)
    }
}

/// A read-modify-write operation on 4 or 8 bytes (`WIDE`) a lane, at the offset `hot.imm[0]` from the
/// addresses in row `hot.src[0]`. Operands from rows `hot.src[1]` and `hot.src[2]`; what was there goes to
/// rows from `hot.dst` on if `RETURNS`.
pub(super) struct Atomic<const WIDE: bool, const RETURNS: bool>;

impl<const WIDE: bool, const RETURNS: bool> Body for Atomic<WIDE, RETURNS> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        // SAFETY: rows are in the register file (checked by `compile`), and all bytes in LDS (checked by
        // `plain`).
        unsafe {
            let bytes = if WIDE { 8 } else { 4 };
            let Some(addresses) = plain::<L>(context, hot, bytes, bytes) else {
                return general(context, hot);
            };
            let step = &context.program.steps[(hot.next - 1) as usize];
            let access = step.extra.as_ref().and_then(|extra| extra.memory.as_ref());
            let Some(Action::Atomic { op, .. }) = access.map(|access| access.action) else {
                return general(context, hot);
            };
            let w = &mut *context.wave;
            let work = AtomicWork::in_lds(op, bytes as u8, w);
            let lds = context.lds.as_mut_ptr();
            let registers = rows(w);
            let exec = w.exec;
            let operand =
                |first: u32, lane: usize| atomic::read::<WIDE>(registers.add(first as usize + lane));
            // The commonest operations have loops of their own.
            macro_rules! each {
                (|$old:ident, $data:ident, $second:ident| $new:expr) => {
                    for lane in lanes_of(exec) {
                        let at = lds.add(addresses[lane] as usize);
                        let $old = match WIDE {
                            true => u64::from_le(at.cast::<u64>().read_unaligned()),
                            false => u32::from_le(at.cast::<u32>().read_unaligned()).into(),
                        };
                        let ($data, $second) = (operand(hot.src[1], lane), operand(hot.src[2], lane));
                        let new: u64 = $new;
                        match WIDE {
                            true => at.cast::<u64>().write_unaligned(new.to_le()),
                            false => at.cast::<u32>().write_unaligned((new as u32).to_le()),
                        }
                        if RETURNS {
                            atomic::write::<WIDE>(registers.add(hot.dst as usize + lane), $old);
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
        }
        hot.next
    }
}
