//! Loads and stores of dwords, and of what is less, in device memory, when all active lanes' bytes lie in one
//! allocation.
//!
//! The addresses are a common 64-bit part and 32 bits a lane. One check covers the instruction: from the
//! lowest to the highest of them. Lanes that follow each other dword by dword move as vectors. What does not
//! fit goes the general way, where every lane is checked for itself and faults are told.

use super::level::Level;
use super::{Body, CONST, PARTS, all_lanes, general, part, parts, put, rows, scratch};
use crate::check::AccessKind;
use crate::exec::{Bytes, lane_race, plain};
use crate::memory::{Allocation, PRIVATE_APERTURE, Protection, SharedBytes};
use crate::program::{Action, Context, Hot, Part};
use crate::races::{Lines, Noting};
use crate::wave::{LANES, SOURCE_ROWS, Wave};

/// A load (or store, if `STORE`) of `DWORDS` a lane. `hot.src[0]`: the first row of the address;
/// `hot.src[1]`: the scalar base, if it is not [`CONST`]; `hot.imm[0]`: the offset. Registers from `hot.dst`.
pub(super) struct Access<const STORE: bool, const DWORDS: usize>;

/// In `hot.src[2]`: the access is by FLAT, addresses may be those of private memory.
pub(super) const FLAT: u32 = 1;

/// In `hot.src[2]`, too: a load that compilers choose for atomic and volatile ones.
pub(super) const PASSES_THE_CACHE: u32 = 2;

/// Where the lanes' accesses go.
pub(super) struct Place<'a> {
    pub(super) allocation: &'a Allocation,
    /// Of the allocation's first byte from the lanes' common part: subtracted from a lane's part, it gives
    /// the offset.
    pub(super) start: u64,
    /// Each active lane's dwords follow those of the lane before.
    pub(super) consecutive: bool,
}

/// The active lanes' lowest and highest value.
#[inline(always)]
unsafe fn range<L: Level>(row: *const u32, exec: u64) -> (u32, u32) {
    let mut spread = [0; LANES];
    // SAFETY: the row is in the register file.
    unsafe {
        let (mut low, mut high) = (L::splat(!0), L::splat(0));
        for i in 0..parts::<L>() {
            let (values, bits) = (L::load(row.add(i * L::N)), part::<L>(exec, i));
            low = L::min_unsigned(low, L::blend(bits, L::splat(!0), values));
            high = L::max_unsigned(high, L::blend(bits, L::splat(0), values));
        }
        L::store(spread.as_mut_ptr(), low);
        let low = spread[..L::N].iter().copied().min().unwrap_or(0);
        L::store(spread.as_mut_ptr(), high);
        (low, spread[..L::N].iter().copied().max().unwrap_or(0))
    }
}

/// Numbers of the lanes.
static LANE: [u32; LANES] = {
    let mut lanes = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        lanes[lane] = lane as u32;
        lane += 1;
    }
    lanes
};

/// Numbers of the lanes within a vector.
#[inline(always)]
pub(super) unsafe fn numbers<L: Level>() -> L::V {
    // SAFETY: a vector has at most so many lanes.
    unsafe { L::load(LANE.as_ptr()) }
}

/// Whether the active lanes' values grow by `stride` from lane to lane.
#[inline(always)]
unsafe fn is_consecutive<L: Level>(row: *const u32, exec: u64, stride: u32) -> bool {
    let first = exec.trailing_zeros();
    let mut other = 0;
    // SAFETY: the row is in the register file, `first` is a lane.
    unsafe {
        let start = row.add(first as usize).read().wrapping_sub(stride * first);
        let mut expected = L::add(L::splat(start), L::mul(numbers::<L>(), L::splat(stride)));
        let further = L::splat(stride * L::N as u32);
        for i in 0..parts::<L>() {
            other |= !L::equal(L::load(row.add(i * L::N)), expected) & part::<L>(exec, i);
            expected = L::add(expected, further);
        }
    }
    other == 0
}

/// Whether the active lanes have the same value as the first of them.
#[inline(always)]
pub(super) unsafe fn is_uniform<L: Level>(row: *const u32, exec: u64) -> bool {
    let mut other = 0;
    // SAFETY: the row is in the register file.
    unsafe {
        let value = L::splat(row.add(exec.trailing_zeros() as usize).read());
        for i in 0..parts::<L>() {
            other |= !L::equal(L::load(row.add(i * L::N)), value) & part::<L>(exec, i);
        }
    }
    other == 0
}

/// The offset in private memory, if that is where all active lanes' addresses point, to the same place.
#[inline(always)]
unsafe fn private<L: Level>(row: *const u32, exec: u64) -> Option<u64> {
    // SAFETY: the row and the next are in the register file.
    unsafe {
        let first = exec.trailing_zeros() as usize;
        let ours = u64::from(row.add(LANES + first).read()) == PRIVATE_APERTURE >> 32;
        let same = ours && is_uniform::<L>(row, exec) && is_uniform::<L>(row.add(LANES), exec);
        same.then(|| u64::from(row.add(first).read()))
    }
}

/// What the lanes' addresses are: a row of offsets from a device address.
#[derive(Clone, Copy)]
pub(super) struct Addresses {
    /// The offsets' first dword in the register file.
    pub(super) row: u32,
    /// The device address, with the instruction's own offset.
    from: u64,
    /// The instruction's own offset.
    offset: u64,
    /// What an offset and the instruction's own one may reach to.
    end: u64,
}

impl Addresses {
    /// Those of an access by FLAT or GLOBAL, if the lanes have the upper half of them in common. EXEC is not
    /// zero.
    #[inline(always)]
    pub(super) unsafe fn of<L: Level>(w: &mut Wave, hot: &Hot) -> Option<Self> {
        let first = w.exec.trailing_zeros() as usize;
        let common = if hot.src[1] == CONST {
            // SAFETY: rows are in the register file (checked by `compile`).
            unsafe {
                let high = rows(w).add(hot.src[0] as usize + LANES).cast_const();
                if !is_uniform::<L>(high, w.exec) {
                    return None;
                }
                u64::from(high.add(first).read()) << 32
            }
        } else {
            w.s64((hot.src[1] & 127) as u8)
        };
        let offset = i64::from(hot.imm[0] as i32);
        Some(Self { row: hot.src[0], from: common.wrapping_add_signed(offset), offset: 0, end: u64::MAX })
    }

    /// Those of an access to a buffer of plain bytes, whose resource's first register is `hot.sdst`.
    fn in_buffer(context: &mut Context<'_>, hot: &Hot) -> Option<Self> {
        let step = &context.program.steps[(hot.next - 1) as usize];
        let access = step.extra.as_ref()?.memory.as_ref()?;
        let Bytes { base, end } = plain(context.wave, access)?;
        let row = match access.vaddr.filter(|_| access.offen) {
            Some(row) => row,
            None => {
                context.wave.rows[usize::from(SOURCE_ROWS)] = [0; LANES];
                SOURCE_ROWS
            }
        };
        let offset = u64::try_from(access.offset).ok()?;
        Some(Self { row: u32::from(row) * LANES as u32, from: base.wrapping_add(offset), offset, end })
    }
}

/// The place of an access of `stride` bytes a lane, if it is one that is handled here. EXEC is not zero.
#[inline(always)]
pub(super) unsafe fn find<'a, L: Level, const STORE: bool>(
    w: &mut Wave,
    memory: &'a crate::memory::Memory,
    addresses: Addresses,
    stride: u32,
) -> Option<Place<'a>> {
    let exec = w.exec;
    let first = exec.trailing_zeros() as usize;
    // SAFETY: rows are in the register file (checked by `compile`).
    unsafe {
        let row = rows(w).add(addresses.row as usize).cast_const();
        let low = row.add(first).read();
        let consecutive = is_consecutive::<L>(row, exec, stride);
        let (lowest, highest) = if consecutive {
            let last = row.add(63 - exec.leading_zeros() as usize).read();
            (low, last)
        } else {
            range::<L>(row, exec)
        };
        // A run of addresses that wraps is none.
        if highest < lowest {
            return None;
        }
        let reach = addresses.offset.checked_add(u64::from(highest) + u64::from(stride));
        if reach.is_none_or(|reach| reach > addresses.end) {
            return None;
        }
        let from = addresses.from.wrapping_add(u64::from(lowest));
        let bytes = u64::from(highest - lowest) + u64::from(stride);
        let (allocation, _) = memory.find(from, bytes)?;
        if STORE && allocation.protection == Protection::ReadOnly {
            return None;
        }
        let start = addresses.from.wrapping_sub(allocation.address);
        Some(Place { allocation, start, consecutive })
    }
}

/// Where each lane's bytes are in an allocation, and what is done with them.
pub(super) struct Lanes<'a> {
    pub(super) addresses: &'a [u32; LANES],
    /// Added to an address, it gives the offset.
    pub(super) start: u64,
    pub(super) consecutive: bool,
    pub(super) bytes: usize,
    pub(super) action: Action,
}

impl Lanes<'_> {
    /// Adds the bytes of the active lanes.
    #[inline(always)]
    fn gather(&self, noting: &mut Noting<impl Lines>, exec: u64) {
        let at = |lane: usize| self.start.wrapping_add(u64::from(self.addresses[lane])) as usize;
        let first = exec.trailing_zeros() as usize;
        if self.consecutive {
            let from = at(first);
            if self.bytes == 4 && from.is_multiple_of(4) {
                return noting.add_dwords(from / 4, exec >> first);
            }
            let last = LANES - 1 - exec.leading_zeros() as usize;
            if exec >> first == !0 >> (LANES - 1 - (last - first)) {
                // As many dwords as can be added at once; the first and the last may be parts of some.
                let most = 4 * if from.is_multiple_of(4) { LANES } else { LANES - 1 };
                let end = from + self.bytes * (last - first + 1);
                for at in (from..end).step_by(most) {
                    noting.add(at, (end - at).min(most));
                }
                return;
            }
        }
        let mut left = exec;
        while left != 0 {
            noting.add(at(left.trailing_zeros() as usize), self.bytes);
            left &= left - 1;
        }
    }

    /// Whether two lanes store different values to one place. The data are in rows from `first_row`, its
    /// first dword.
    fn clash(&self, w: &Wave, first_row: u32) -> bool {
        let at = |lane: usize| self.start.wrapping_add(u64::from(self.addresses[lane]));
        !self.consecutive && lane_race::in_one_store(w, self.action, (first_row as usize / LANES) as u16, at)
    }
}

/// Notes what the active lanes are about to do, if that is asked for. Returns whether no more is to be done
/// than that: else each access is to be looked at by itself.
#[inline(never)]
pub(super) fn note(
    context: &mut Context<'_>,
    hot: &Hot,
    allocation: &Allocation,
    kind: AccessKind,
    lanes: &Lanes<'_>,
) -> bool {
    let w = &*context.wave;
    // A load that orders waves does so wherever it goes, and races with nothing.
    let orders = kind == AccessKind::Read && hot.src[2] & PASSES_THE_CACHE != 0;
    if allocation.protection != Protection::ReadWrite {
        return true;
    }
    let number = context.memory.number_of(allocation);
    match (context.scan.as_deref_mut(), context.focus) {
        (Some(scan), _) => {
            if (!orders || scan.notes_synchronising()) && scan.wants(number, kind) {
                let mut noting = scan.by(number, w.place.number, kind);
                lanes.gather(&mut noting, w.exec);
                noting.end();
                if kind == AccessKind::Write && lanes.clash(w, hot.dst) {
                    scan.report_lanes();
                }
            }
            true
        }
        (None, Some(focus)) if !orders => {
            let met = focus.wants(number, kind) && {
                let mut noting = focus.meeting(number);
                lanes.gather(&mut noting, w.exec);
                noting.met() || kind == AccessKind::Write && focus.lanes() && lanes.clash(w, hot.dst)
            };
            !met
        }
        _ => false,
    }
}

impl<const STORE: bool, const DWORDS: usize> Body for Access<STORE, DWORDS> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let exec = w.exec;
        if exec == 0 {
            return hot.next;
        }
        // SAFETY: rows are in the register file (checked by `compile`).
        unsafe {
            if let Some(addresses) = Addresses::of::<L>(w, hot)
                && let Some(place) = find::<L, STORE>(w, context.memory, addresses, 4 * DWORDS as u32)
            {
                return dwords::<L, STORE, DWORDS>(context, hot, addresses.row, &place);
            }
            let row = rows(w).add(hot.src[0] as usize).cast_const();
            if hot.src[2] & FLAT != 0
                && let Some(offset) = private::<L>(row, exec)
                && let Some(first) = w.scratch.offset_of(w.flat_scratch())
                && let offset = offset.wrapping_add_signed(i64::from(hot.imm[0] as i32))
                && offset >> 32 == 0
                && scratch::transfer::<L, STORE, DWORDS>(w, hot, first, offset)
            {
                return hot.next;
            }
            general(context, hot)
        }
    }
}

/// Such an access to a buffer of plain bytes; if `DWORDS` is 0, of less than a dword, as [`Narrow`] says.
pub(super) struct InBuffer<const STORE: bool, const DWORDS: usize>;

impl<const STORE: bool, const DWORDS: usize> Body for InBuffer<STORE, DWORDS> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        if context.wave.exec == 0 {
            return hot.next;
        }
        let Some(addresses) = Addresses::in_buffer(context, hot) else {
            // SAFETY: the caller's.
            return unsafe { general(context, hot) };
        };
        let narrow = Narrow::from_bits(hot.imm[2]);
        let stride = if DWORDS == 0 { narrow.bytes } else { 4 * DWORDS as u32 };
        // SAFETY: as for `Access`.
        unsafe {
            match find::<L, STORE>(context.wave, context.memory, addresses, stride) {
                Some(place) if DWORDS == 0 => less::<L, STORE>(context, hot, narrow, addresses.row, &place),
                Some(place) => dwords::<L, STORE, DWORDS>(context, hot, addresses.row, &place),
                None => general(context, hot),
            }
        }
    }
}

/// Moves dwords between registers and memory.
///
/// # Safety
/// As for [`super::HotHandler`]; `place` is where the lanes' offsets, from dword `row` of the registers on,
/// go.
#[inline(always)]
unsafe fn dwords<L: Level, const STORE: bool, const DWORDS: usize>(
    context: &mut Context<'_>,
    hot: &Hot,
    row: u32,
    place: &Place<'_>,
) -> u32 {
    let w = &mut *context.wave;
    let exec = w.exec;
    // SAFETY: rows are in the register file (checked by `compile`); `find` has checked that the bytes of all
    // active lanes are in the allocation.
    unsafe {
        let memory = place.allocation.bytes.as_ptr();
        let registers = rows(w).add(hot.dst as usize);
        let row = rows(w).add(row as usize);
        let is_watched = context.lds.is_watched() || context.scan.is_some();
        if DWORDS == 1 && place.consecutive && exec == all_lanes::<L>() && !is_watched {
            let at = place.start.wrapping_add(u64::from(row.read())) as usize;
            if at.is_multiple_of(4) {
                for i in 0..parts::<L>() {
                    side_by_side::<L, STORE>(
                        memory.add(at).cast::<u32>().add(i * L::N),
                        registers.add(i * L::N),
                    );
                }
                return hot.next;
            }
        }
        // A load may overwrite its own addresses: keep them.
        let mut addresses = [L::splat(0); PARTS];
        for i in 0..parts::<L>() {
            addresses[i] = L::load(row.add(i * L::N));
        }
        if is_watched {
            let (addresses, start) = (&*addresses.as_ptr().cast::<[u32; LANES]>(), place.start);
            let bytes = 4 * DWORDS as u8;
            let action = match STORE {
                true => Action::Store { bytes, part: Part::Whole },
                false => Action::Load { bytes, signed: false, part: Part::Whole },
            };
            let consecutive = place.consecutive;
            let lanes = Lanes { addresses, start, consecutive, bytes: bytes.into(), action };
            if !note(context, hot, place.allocation, AccessKind::plain(STORE), &lanes) {
                return general(context, hot);
            }
        }
        for i in 0..parts::<L>() {
            let mut lanes = part::<L>(exec, i);
            let registers = registers.add(i * L::N);
            let whole = lanes == ((1u64 << L::N) - 1) as u32;
            let first = addresses.as_ptr().cast::<u32>().add(i * L::N);
            if DWORDS == 1 && whole {
                let start = first.read();
                let at = place.start.wrapping_add(u64::from(start)) as usize;
                let in_order = place.consecutive
                    || L::equal(addresses[i], L::add(L::splat(start), L::shl(numbers::<L>(), L::splat(2))))
                        == lanes;
                if in_order && at.is_multiple_of(4) {
                    side_by_side::<L, STORE>(memory.add(at).cast(), registers);
                    continue;
                }
            }
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                let at = place.start.wrapping_add(u64::from(first.add(lane).read())) as usize;
                for dword in 0..DWORDS {
                    let (register, at) = (registers.add(dword * LANES + lane), memory.add(at + 4 * dword));
                    if STORE {
                        SharedBytes::store_at::<4>(at, u64::from(register.read()));
                    } else {
                        register.write(SharedBytes::load_at::<4>(at) as u32);
                    }
                }
            }
        }
    }
    hot.next
}

/// Moves a vector's dwords between registers and memory where they are side by side, aligned: its pieces are
/// single dwords then, as atomics are.
///
/// # Safety
/// As for [`Level`].
#[inline(always)]
unsafe fn side_by_side<L: Level, const STORE: bool>(memory: *const u32, registers: *mut u32) {
    // SAFETY: the caller's.
    unsafe {
        if STORE {
            L::store_shared(memory.cast_mut(), L::load(registers));
        } else {
            L::store(registers, L::load_shared(memory));
        }
    }
}

/// A load (or store, if `STORE`) of one or two bytes a lane, [`Narrow`] says how. Operands as those of
/// [`Access`].
pub(super) struct Less<const STORE: bool>;

/// How bytes and a register fit together: in `hot.imm[2]`.
#[derive(Clone, Copy)]
pub(super) struct Narrow {
    /// 1 or 2.
    pub(super) bytes: u32,
    /// Loads extend the sign.
    pub(super) signed: bool,
    /// They are in the high half.
    pub(super) high: bool,
    /// Loads write no more than a half.
    pub(super) half: bool,
    /// Loads leave the other half.
    keeps: bool,
}

impl Narrow {
    /// That of a load or a store; `None` if it is another access.
    pub(super) fn of(action: Action) -> Option<(bool, Self)> {
        let (is_store, bytes, signed, part) = match action {
            Action::Load { bytes: bytes @ 1..=2, signed, part } => (false, bytes, signed, part),
            Action::Store { bytes: bytes @ 1..=2, part } => (true, bytes, false, part),
            _ => return None,
        };
        let narrow = Self {
            bytes: bytes.into(),
            signed,
            high: matches!(part, Part::High | Part::HighCleared),
            half: part != Part::Whole,
            keeps: matches!(part, Part::Low | Part::High),
        };
        Some((is_store, narrow))
    }

    /// The access that it is of.
    fn action(self, is_store: bool) -> Action {
        let part = match (self.half, self.high, self.keeps || is_store) {
            (false, ..) => Part::Whole,
            (_, true, true) => Part::High,
            (_, true, false) => Part::HighCleared,
            (_, false, _) => Part::Low,
        };
        let bytes = self.bytes as u8;
        match is_store {
            true => Action::Store { bytes, part },
            false => Action::Load { bytes, signed: self.signed, part },
        }
    }

    pub(super) fn to_bits(self) -> u32 {
        let flags = [self.signed, self.high, self.half, self.keeps];
        flags.into_iter().enumerate().fold(self.bytes, |bits, (at, flag)| bits | u32::from(flag) << (8 + at))
    }

    #[inline(always)]
    pub(super) fn from_bits(bits: u32) -> Self {
        let flag = |at: u32| bits >> (8 + at) & 1 != 0;
        Self { bytes: bits & 0xff, signed: flag(0), high: flag(1), half: flag(2), keeps: flag(3) }
    }
}

impl<const STORE: bool> Body for Less<STORE> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        if w.exec == 0 {
            return hot.next;
        }
        let narrow = Narrow::from_bits(hot.imm[2]);
        // SAFETY: as for `Access`.
        unsafe {
            if let Some(addresses) = Addresses::of::<L>(w, hot)
                && let Some(place) = find::<L, STORE>(w, context.memory, addresses, narrow.bytes)
            {
                return less::<L, STORE>(context, hot, narrow, addresses.row, &place);
            }
            general(context, hot)
        }
    }
}

/// Moves less than dwords between registers and memory.
///
/// # Safety
/// As for [`dwords`].
#[inline(always)]
unsafe fn less<L: Level, const STORE: bool>(
    context: &mut Context<'_>,
    hot: &Hot,
    narrow: Narrow,
    row: u32,
    place: &Place<'_>,
) -> u32 {
    // SAFETY: as for `dwords`.
    unsafe {
        let addresses = rows(context.wave).add(row as usize).cast_const();
        if context.lds.is_watched() || context.scan.is_some() {
            let (addresses, start, consecutive) = (*addresses.cast(), place.start, place.consecutive);
            let (bytes, action) = (narrow.bytes as usize, narrow.action(STORE));
            let lanes = Lanes { addresses: &addresses, start, consecutive, bytes, action };
            if !note(context, hot, place.allocation, AccessKind::plain(STORE), &lanes) {
                return general(context, hot);
            }
        }
        let w = &mut *context.wave;
        let exec = w.exec;
        let memory = place.allocation.bytes.as_ptr();
        let at = |lane: usize| {
            memory.add(place.start.wrapping_add(u64::from(addresses.add(lane).read())) as usize)
        };
        let registers = rows(w).add(hot.dst as usize);
        let mut values = [0u32; LANES];
        let mut lanes = exec;
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            if STORE {
                let value = u64::from(registers.add(lane).read() >> if narrow.high { 16 } else { 0 });
                match narrow.bytes {
                    1 => SharedBytes::store_at::<1>(at(lane), value),
                    _ => SharedBytes::store_at::<2>(at(lane), value),
                }
            } else {
                values[lane] = match narrow.bytes {
                    1 => SharedBytes::load_at::<1>(at(lane)) as u32,
                    _ => SharedBytes::load_at::<2>(at(lane)) as u32,
                };
            }
        }
        if STORE {
            return hot.next;
        }
        narrow.put::<L>(w, hot.dst, &values);
    }
    hot.next
}

impl Narrow {
    /// Writes what a load of these has loaded.
    ///
    /// # Safety
    /// As for [`Level`].
    #[inline(always)]
    pub(super) unsafe fn put<L: Level>(self, w: &mut Wave, dst: u32, values: &[u32; LANES]) {
        // SAFETY: the caller's.
        unsafe {
            let registers = rows(w).add(dst as usize);
            let up = L::splat(32 - 8 * self.bytes);
            let shift = L::splat(if self.high { 16 } else { 0 });
            let other = L::splat(if self.high { 0xffff } else { 0xffff_0000 });
            let mut result = [L::splat(0); PARTS];
            for i in 0..parts::<L>() {
                let mut value = L::load(values.as_ptr().add(i * L::N));
                if self.signed {
                    value = L::sar(L::shl(value, up), up);
                }
                if self.half {
                    value = L::shl(L::and(value, L::splat(0xffff)), shift);
                }
                if self.keeps {
                    value = L::or(value, L::and(L::load(registers.add(i * L::N)), other));
                }
                result[i] = value;
            }
            put::<L>(w, dst, &result);
        }
    }
}
