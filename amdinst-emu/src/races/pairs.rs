//! What the tests compare with: every pair of accesses is looked at.

use proptest::prelude::*;

use super::words::WORD;
use crate::check::AccessKind;

pub(super) const WAVES: u32 = 3;
/// All accesses are to so many bytes.
pub(super) const BYTES: u64 = 16;

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Barrier,
    Acquire,
    Access { wave: u32, kind: AccessKind, synchronises: bool, at: u64, bytes: u64, value: u8 },
}

/// Something that a workgroup does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) group: u64,
    pub(super) what: What,
}

/// Up to 24 events of so many workgroups. With one alone, none synchronises.
pub(super) fn events(groups: u64) -> impl Strategy<Value = Vec<Event>> {
    use AccessKind::{Atomic, Read, Write};
    let kinds = vec![(Read, false), (Write, false), (Atomic, false), (Atomic, groups > 1)];
    let place = (0..BYTES, prop::sample::select(vec![1u64, 2, 3, 4, 4, 8]));
    let access = (0..WAVES, prop::sample::select(kinds), place, 0..2u8).prop_map(
        |(wave, (kind, synchronises), (at, bytes), value)| {
            // Atomics are of dwords.
            let bytes = if kind == Atomic { bytes.next_multiple_of(4) } else { bytes };
            let at = if bytes >= 4 { at / 4 * 4 } else { at };
            What::Access { wave, kind, synchronises, at, bytes: bytes.min(BYTES - at), value }
        },
    );
    let order = if groups > 1 { What::Acquire } else { What::Barrier };
    let what = prop_oneof![1 => Just(What::Barrier), 1 => Just(order), 14 => access];
    prop::collection::vec((0..groups, what).prop_map(|(group, what)| Event { group, what }), 0..24)
}

/// How sure it is that two events race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Race {
    No,
    /// One is an atomic of several at the place, the other a read: not all readers are remembered then.
    MayBeMissed,
    Yes,
}

/// Whether two events race, if none before the later one did by what it wrote.
pub(super) fn race(events: &[Event], earlier: usize, later: usize) -> Race {
    use AccessKind::{Atomic, Read, Write};
    let (one, other) = (events[earlier], events[later]);
    let What::Access { wave: of, kind: before, at: start, bytes: size, .. } = one.what else {
        return Race::No;
    };
    let What::Access { wave, kind, synchronises, at, bytes, value } = other.what else { return Race::No };
    let mut both = (at.max(start)..(at + bytes).min(start + size)).peekable();
    if synchronises || both.peek().is_none() || one.group == other.group && of == wave {
        return Race::No;
    }
    let ordered = events[..later].iter().enumerate().any(|(number, event)| match event.what {
        _ if event.group != other.group => false,
        What::Acquire => one.group != other.group || number > earlier,
        What::Barrier => one.group == other.group && number > earlier,
        What::Access { synchronises, .. } => one.group == other.group && number > earlier && synchronises,
    });
    if ordered {
        return Race::No;
    }
    // Who does an atomic on a dword.
    let atomic = |event: &Event, dword: u64| match event.what {
        What::Access { wave, kind: Atomic, at, bytes, .. } => {
            (at / WORD as u64..(at + bytes) / WORD as u64).contains(&dword).then_some((event.group, wave))
        }
        _ => None,
    };
    let goes_on = |reader: (u64, u32), dword: u64| {
        let is_barrier = |event: &Event| event.group == reader.0 && matches!(event.what, What::Barrier);
        let end = events[later..].iter().position(is_barrier).map_or(events.len(), |number| later + number);
        let read = if kind == Read { later } else { earlier };
        events[read..end].iter().any(|event| atomic(event, dword) == Some(reader))
    };
    let of_dword = |dword: u64| {
        let reader = if kind == Read { (other.group, wave) } else { (one.group, of) };
        let several =
            || events.iter().filter_map(|event| atomic(event, dword)).any(|by| by != (other.group, wave));
        match kind {
            _ if goes_on(reader, dword) => Race::No,
            Atomic if several() => Race::MayBeMissed,
            _ => Race::Yes,
        }
    };
    match (before, kind) {
        (Read, Read) | (Atomic, Atomic) => Race::No,
        (Write, Write) => {
            let mut memory = [0; BYTES as usize];
            for event in &events[..later] {
                if let What::Access { kind: Write | Atomic, at, bytes, value, .. } = event.what {
                    memory[at as usize..][..bytes as usize].fill(value);
                }
            }
            if both.any(|at| memory[at as usize] != value) { Race::Yes } else { Race::No }
        }
        (Atomic, Read) | (Read, Atomic) => {
            let dwords = at.max(start) / WORD as u64..(at + bytes).min(start + size).div_ceil(WORD as u64);
            dwords.map(of_dword).max().unwrap_or(Race::No)
        }
        _ => Race::Yes,
    }
}

/// Whether there is a race that is always found.
pub(super) fn any(events: &[Event]) -> bool {
    let mut pairs = (0..events.len()).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
    pairs.any(|(earlier, later)| race(events, earlier, later) == Race::Yes)
}
