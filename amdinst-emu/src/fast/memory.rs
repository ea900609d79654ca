//! Loads and stores of dwords, and of what is less, in device memory, when all active lanes' bytes lie in one
//! allocation.
//!
//! Lanes that follow each other dword by dword move as vectors. What does not fit goes the general way, where
//! every lane is checked for itself and faults are told.

use std::mem::MaybeUninit;

use super::level::Level;
use super::places::{Addresses, Place};
use super::{Body, PARTS, general, part, parts, put, scratch};
use crate::check::AccessKind;
use crate::exec::{Bytes, lane_race, plain};
use crate::memory::{PRIVATE_APERTURE, Protection};
use crate::program::{Action, Context, Hot, Part};
use crate::races::{Lines, Noting, Races};
use crate::watch::Watch;
use crate::wave::{GROUP, LANES, Row, RowAt, SOURCE_ROWS, Wave, lanes_of};

/// A load (or store, if `STORE`) of `DWORDS` a lane. `hot.src[0]`: the first row of the address;
/// `hot.src[1]`: the scalar base, if it is no constant; `hot.imm[0]`: the offset. Registers from `hot.dst`.
pub(super) struct Access<const STORE: bool, const DWORDS: usize>;

/// In `hot.src[2]`: the access is by FLAT, addresses may be those of private memory.
pub(super) const FLAT: u16 = 1;

/// In `hot.src[2]`, too: a load that compilers choose for atomic and volatile ones.
pub(super) const PASSES_THE_CACHE: u16 = 2;

/// Whether the active lanes have the same value as the first of them.
#[inline(always)]
pub(super) fn is_uniform<L: Level>(level: L, row: &Row, exec: u64) -> bool {
    let value = level.splat(row[exec.trailing_zeros() as usize]);
    let mut other = 0;
    for i in 0..parts::<L>() {
        other |= !level.equal(level.load(row, i), value) & part::<L>(exec, i);
    }
    other == 0
}

/// The offset in private memory, if that is where all active lanes' addresses point, to the same place.
#[inline(always)]
fn private<L: Level>(level: L, [low, high, ..]: &[Row; GROUP], exec: u64) -> Option<u64> {
    let first = exec.trailing_zeros() as usize;
    let ours = u64::from(high[first]) == PRIVATE_APERTURE >> 32;
    let same = ours && is_uniform(level, low, exec) && is_uniform(level, high, exec);
    same.then(|| u64::from(low[first]))
}

impl Addresses {
    /// Those of an access by FLAT or GLOBAL, if the lanes have the upper half of them in common. EXEC is not
    /// zero.
    #[inline(always)]
    pub(super) fn of<L: Level>(level: L, w: &Wave, hot: &Hot) -> Option<Self> {
        let row = hot.src[0].row;
        let common = if hot.src[1].is_constant() {
            let [_, high, ..] = row.group(w.rows.file());
            if !is_uniform(level, high, w.exec) {
                return None;
            }
            u64::from(high[w.exec.trailing_zeros() as usize]) << 32
        } else {
            w.s64(hot.src[1].register())
        };
        let from = common.wrapping_add_signed(i64::from(hot.imm[0] as i32));
        Some(Self { row, from, offset: 0, end: u64::MAX })
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
        Some(Self { row: RowAt::new(row), from: base.wrapping_add(offset), offset, end })
    }
}

impl Place<'_, '_> {
    /// Adds the bytes of the active lanes.
    #[inline(always)]
    fn gather(&self, noting: &mut Noting<impl Lines>, exec: u64) {
        let first = exec.trailing_zeros() as usize;
        if self.is_consecutive() {
            let from = self.offset(first);
            if self.bytes() == 4 && from.is_multiple_of(4) {
                return noting.add_dwords(from / 4, exec >> first);
            }
            let last = LANES - 1 - exec.leading_zeros() as usize;
            if exec >> first == !0 >> (LANES - 1 - (last - first)) {
                // As many dwords as can be added at once; the first and the last may be parts of some.
                let most = 4 * if from.is_multiple_of(4) { LANES } else { LANES - 1 };
                let end = from + self.bytes() * (last - first + 1);
                for at in (from..end).step_by(most) {
                    noting.add(at, (end - at).min(most));
                }
                return;
            }
        }
        for lane in lanes_of(exec) {
            noting.add(self.offset(lane), self.bytes());
        }
    }

    /// Whether two lanes store different values to one place. The data are in rows from `first_row` on.
    fn clash(&self, w: &Wave, action: Action, first_row: RowAt) -> bool {
        let at = |lane: usize| self.offset(lane) as u64;
        !self.is_consecutive() && lane_race::in_one_store(w, action, first_row.number(), at)
    }
}

/// Notes what the active lanes are about to do, if that is asked for. Returns whether no more is to be done
/// than that: else each access is to be looked at by itself.
#[inline(never)]
pub(super) fn note(
    context: &mut Context<'_>,
    hot: &Hot,
    place: &Place<'_, '_>,
    (kind, action): (AccessKind, Action),
) -> bool {
    let w = &*context.wave;
    // A load that orders waves does so wherever it goes, and races with nothing.
    let orders = kind == AccessKind::Read && hot.src[2].mark & PASSES_THE_CACHE != 0;
    if place.allocation().protection != Protection::ReadWrite {
        return true;
    }
    let number = context.memory.number_of(place.allocation());
    match &mut context.watch {
        Watch::Scan(scan) => {
            if (!orders || scan.notes_synchronising()) && scan.wants(number, kind) {
                let mut noting = scan.by(number, w.place.number, kind);
                place.gather(&mut noting, w.exec);
                noting.end();
                if kind == AccessKind::Write && place.clash(w, action, hot.dst) {
                    scan.report_lanes();
                }
            }
            true
        }
        Watch::Races(Races { focus: Some(focus), .. }) if !orders => {
            let met = focus.wants(number, kind) && {
                let mut noting = focus.meeting(number);
                place.gather(&mut noting, w.exec);
                noting.met() || kind == AccessKind::Write && focus.lanes() && place.clash(w, action, hot.dst)
            };
            !met
        }
        Watch::Nobody | Watch::Races(_) | Watch::Trace(_) => false,
    }
}

impl<const STORE: bool, const DWORDS: usize> Body for Access<STORE, DWORDS> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let exec = context.wave.exec;
        if exec == 0 {
            return hot.next;
        }
        if let Some(addresses) = Addresses::of(level, context.wave, hot)
            && let Some(next) = dwords::<L, STORE, DWORDS>(level, context, hot, addresses)
        {
            return next;
        }
        let w = &mut *context.wave;
        if hot.src[2].mark & FLAT != 0
            && let Some(offset) = private(level, hot.src[0].row.group(w.rows.file()), exec)
            && let Some(first) = w.scratch.offset_of(w.flat_scratch())
            && let offset = offset.wrapping_add_signed(i64::from(hot.imm[0] as i32))
            && offset >> 32 == 0
            && scratch::transfer::<L, STORE, DWORDS>(level, w, hot, first, offset)
        {
            return hot.next;
        }
        general(context, hot)
    }
}

/// Such an access to a buffer of plain bytes; if `DWORDS` is 0, of less than a dword, as [`Narrow`] says.
pub(super) struct InBuffer<const STORE: bool, const DWORDS: usize>;

impl<const STORE: bool, const DWORDS: usize> Body for InBuffer<STORE, DWORDS> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        if context.wave.exec == 0 {
            return hot.next;
        }
        let next = Addresses::in_buffer(context, hot).and_then(|addresses| match DWORDS {
            0 => less::<L, STORE>(level, context, hot, addresses),
            _ => dwords::<L, STORE, DWORDS>(level, context, hot, addresses),
        });
        next.unwrap_or_else(|| general(context, hot))
    }
}

/// Moves dwords between registers and memory; `None`: nothing is done, they are not in one place.
#[inline(always)]
fn dwords<L: Level, const STORE: bool, const DWORDS: usize>(
    level: L,
    context: &mut Context<'_>,
    hot: &Hot,
    addresses: Addresses,
) -> Option<u32> {
    let w = &mut *context.wave;
    let place = Place::find::<L, STORE>(level, w, context.memory, addresses, 4 * DWORDS as u32)?;
    let is_watched = context.watch.is_there();
    if !is_watched && let Some(strip) = place.strip(level) {
        let [row, ..] = hot.dst.group_mut(w.rows.file_mut());
        for i in 0..parts::<L>() {
            if STORE {
                strip.store(i, level.load(row, i));
            } else {
                level.store(row, i, strip.load(i));
            }
        }
        return Some(hot.next);
    }
    // A load may overwrite its own addresses.
    let mut kept = MaybeUninit::uninit();
    let place = place.keep(&mut kept);
    if is_watched {
        let bytes = 4 * DWORDS as u8;
        let action = match STORE {
            true => Action::Store { bytes, part: Part::Whole },
            false => Action::Load { bytes, signed: false, part: Part::Whole },
        };
        if !note(context, hot, &place, (AccessKind::plain(STORE), action)) {
            return Some(general(context, hot));
        }
    }
    let group = hot.dst.group_mut(context.wave.rows.file_mut());
    for i in 0..parts::<L>() {
        if let Some(strip) = place.strip_of(level, i) {
            if STORE {
                strip.store(0, level.load(&group[0], i));
            } else {
                level.store(&mut group[0], i, strip.load(0));
            }
            continue;
        }
        for (lane, spot) in place.spots(((1 << L::N) - 1) << (i * L::N)) {
            for dword in 0..DWORDS {
                if STORE {
                    spot.store::<4>(4 * dword, group[dword][lane].into());
                } else {
                    group[dword][lane] = spot.load::<4>(4 * dword) as u32;
                }
            }
        }
    }
    Some(hot.next)
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
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        if context.wave.exec == 0 {
            return hot.next;
        }
        let next = Addresses::of(level, context.wave, hot)
            .and_then(|addresses| less::<L, STORE>(level, context, hot, addresses));
        next.unwrap_or_else(|| general(context, hot))
    }
}

/// Moves less than dwords between registers and memory; `None`: nothing is done, they are not in one place.
#[inline(always)]
fn less<L: Level, const STORE: bool>(
    level: L,
    context: &mut Context<'_>,
    hot: &Hot,
    addresses: Addresses,
) -> Option<u32> {
    let narrow = Narrow::from_bits(hot.imm[2]);
    let place = Place::find::<L, STORE>(level, context.wave, context.memory, addresses, narrow.bytes)?;
    let mut kept = MaybeUninit::uninit();
    let place = if context.watch.is_there() {
        let place = place.keep(&mut kept);
        if !note(context, hot, &place, (AccessKind::plain(STORE), narrow.action(STORE))) {
            return Some(general(context, hot));
        }
        place
    } else {
        place
    };
    let registers = hot.dst.row(context.wave.rows.file());
    let mut values = [0u32; LANES];
    for (lane, spot) in place.spots(!0) {
        if STORE {
            let value = u64::from(registers[lane] >> if narrow.high { 16 } else { 0 });
            match narrow.bytes {
                1 => spot.store::<1>(0, value),
                _ => spot.store::<2>(0, value),
            }
        } else {
            values[lane] = match narrow.bytes {
                1 => spot.load::<1>(0) as u32,
                _ => spot.load::<2>(0) as u32,
            };
        }
    }
    if !STORE {
        narrow.put(level, context.wave, hot.dst, &values);
    }
    Some(hot.next)
}

impl Narrow {
    /// Writes what a load of these has loaded.
    #[inline(always)]
    pub(super) fn put<L: Level>(self, level: L, w: &mut Wave, dst: RowAt, values: &Row) {
        let up = level.splat(32 - 8 * self.bytes);
        let shift = level.splat(if self.high { 16 } else { 0 });
        let other = level.splat(if self.high { 0xffff } else { 0xffff_0000 });
        let mut result = [level.splat(0); PARTS];
        for i in 0..parts::<L>() {
            let mut value = level.load(values, i);
            if self.signed {
                value = level.sar(level.shl(value, up), up);
            }
            if self.half {
                value = level.shl(level.and(value, level.splat(0xffff)), shift);
            }
            if self.keeps {
                value = level.or(value, level.and(level.load(dst.row(w.rows.file()), i), other));
            }
            result[i] = value;
        }
        put(level, w, dst, &result);
    }
}
