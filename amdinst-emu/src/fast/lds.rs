//! Reads and writes of whole dwords in LDS, when all active lanes' bytes are inside.

use super::level::Level;
use super::memory::numbers;
use super::{Body, Hot, PARTS, general, part, parts, rows};
use crate::check::AccessKind;
use crate::exec::{Context, lane_race};
use crate::program::{Action, Part};
use crate::races::{LdsScan, Mark};
use crate::wave::{LANES, Wave};

/// A read (or write, if `WRITE`) of `DWORDS` a lane at each of `COUNT` offsets (`hot.imm`) from the addresses in row
/// `hot.src[0]`. Reads go to rows from `hot.dst` on; what is written at the first offset comes from there, what is
/// written at the second from `hot.src[1]`.
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

/// Whether no lane's access is a race, or may be one.
#[inline(always)]
unsafe fn unraced<L: Level, const WRITE: bool, const DWORDS: usize, const COUNT: usize>(
    context: &mut Context<'_>,
    hot: &Hot,
    addresses: &[L::V; PARTS],
) -> bool {
    let Context { wave: w, lds, .. } = context;
    let by = Mark::new(w.place.number, w.site(hot.next - 1));
    // SAFETY: the vectors of a row are its 64 dwords.
    let addresses = unsafe { std::slice::from_raw_parts(addresses.as_ptr().cast::<u32>(), LANES) };
    lds.note_lanes::<WRITE>(by, addresses, w.exec, &hot.imm[..COUNT], 4 * DWORDS)
}

/// Tells a scan what the active lanes are about to do to `DWORDS` at each of `offsets` from their addresses, all in bounds. Where the
/// lanes of a vector are side by side, or at one place, they are noted at once.
#[inline(always)]
unsafe fn scan_lanes<L: Level, const DWORDS: usize>(
    scan: &mut LdsScan,
    w: &Wave,
    kind: AccessKind,
    addresses: &[L::V; PARTS],
    offsets: &[u32],
) {
    let bytes = 4 * DWORDS;
    let mut noting = scan.by(w.place.number, kind);
    // SAFETY: the caller's; the vectors of a row are its 64 dwords.
    unsafe {
        let lanes = &*addresses.as_ptr().cast::<[u32; LANES]>();
        let steps = L::mul(numbers::<L>(), L::splat(bytes as u32));
        for offset in offsets {
            for i in 0..parts::<L>() {
                let mut bits = part::<L>(w.exec, i);
                if bits == 0 {
                    continue;
                }
                let at = lanes[i * L::N + bits.trailing_zeros() as usize];
                let from = (at + offset) as usize;
                let whole = bits == ((1u64 << L::N) - 1) as u32 && from.is_multiple_of(4);
                if L::equal(addresses[i], L::splat(at)) & bits == bits {
                    noting.add(from, bytes);
                } else if whole && L::equal(addresses[i], L::add(L::splat(at), steps)) & bits == bits {
                    noting.add(from, L::N * bytes);
                } else {
                    while bits != 0 {
                        let lane = i * L::N + bits.trailing_zeros() as usize;
                        bits &= bits - 1;
                        noting.add((lanes[lane % LANES] + offset) as usize, bytes);
                    }
                }
            }
        }
    }
    noting.end();
}

/// Whether two lanes store different values to one place.
#[inline(never)]
fn clash<const DWORDS: usize, const COUNT: usize>(w: &Wave, addresses: &[u32; LANES], hot: &Hot) -> bool {
    let action = Action::Store { bytes: 4 * DWORDS as u8, part: Part::Whole };
    let row = |dword: u32| (dword as usize / LANES) as u16;
    if COUNT == 1 {
        return lane_race::in_one_store(w, action, row(hot.dst), |lane| u64::from(addresses[lane]));
    }
    // Two offsets: whether any two of the places overlap, whatever is stored.
    let (size, distance) = (4 * DWORDS as u32, hot.imm[0].abs_diff(hot.imm[1]));
    let (mut places, mut count) = ([0; LANES], 0);
    for lane in (0..LANES).filter(|lane| w.active(*lane)) {
        places[count] = addresses[lane];
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
            if known.inside
                && let Some(scan) = context.lds.scan()
            {
                let kind = AccessKind::plain(WRITE);
                if scan.wants(w.place.number, kind) {
                    scan_lanes::<L, DWORDS>(scan, w, kind, &addresses, &hot.imm[..COUNT]);
                }
                if WRITE && clash::<DWORDS, COUNT>(w, &addresses.as_ptr().cast::<[u32; LANES]>().read(), hot)
                {
                    scan.report_clash();
                }
            }
            if !known.inside
                || (context.lds.is_looked_through()
                    && !unraced::<L, WRITE, DWORDS, COUNT>(context, hot, &addresses))
            {
                return general(context, hot);
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
