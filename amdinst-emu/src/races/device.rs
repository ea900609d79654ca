//! Races in device memory: between waves of a workgroup with no barrier in between, and between workgroups.
//!
//! Waves of a workgroup are compared since its last barrier, workgroups since the launch began. The
//! workgroups then run one after another on one thread.
//!
//! Programs order such accesses by other means than barriers, and machine code does not tell what orders
//! what. So more order is assumed than there is; some races are missed for it, but none is reported where
//! there is none:
//!
//! * An atomic that returns a value, or a load past the vector cache (atomic and volatile loads are such),
//!   may tell a wave that another wave has got somewhere. It ends the interval of its workgroup: what the
//!   workgroup does from then on comes after what its waves have done. Such an atomic or load never races
//!   with other workgroups itself.
//! * Where a wave empties the vector cache (an acquire, or a fence, at the scope of the device), what its
//!   workgroup does from then on comes after all that other workgroups have done.
//! * A plain read may begin a loop of compare-and-swap (`reads`).

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

use super::Clashes;
use super::atomicity::{Judge, Pair, Verdict};
use super::cells::Cell;
use super::contexts::Contexts;
use super::doubts::Doubts;
use super::reads::{Late, Reads};
use super::suspects::{Suspect, Suspects};
use super::words::{Author, Doubt, Mark, WORD, When, Words};
use crate::check::{AccessKind, FaultKind, MemorySpace, Outcome, Trap};
use crate::memory::{Memory, Protection};
use crate::record::workgroup;
use crate::wave::Wave;

/// What an instruction does to memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) kind: AccessKind,
    /// Bytes of each of its places.
    pub(crate) bytes: usize,
    /// The access may tell the wave that others have got somewhere.
    pub(crate) synchronises: bool,
}

/// Where a lane, or the wave as a whole, accesses memory: the first byte.
pub(crate) type Place = (u64, Option<usize>);

/// Who makes an access.
#[derive(Clone, Copy)]
struct Visitor<'a> {
    memory: &'a Memory,
    w: &'a Wave,
    group: u64,
    mark: Mark,
    state: Group,
}

/// Who made an access, among workgroups.
#[derive(Clone, Copy, Debug)]
struct GroupMark {
    /// The workgroup's number plus one. Those beyond 2^32 are taken for one.
    group: NonZeroU32,
    mark: Mark,
}

impl GroupMark {
    fn new(group: u64, mark: Mark) -> Self {
        let number = u32::try_from(group + 1).unwrap_or(u32::MAX);
        Self { group: NonZeroU32::new(number).unwrap_or(NonZeroU32::MAX), mark }
    }

    fn group(self) -> u64 {
        u64::from(self.group.get()) - 1
    }
}

impl Author for GroupMark {
    fn is_same(self, other: Self) -> bool {
        self.group == other.group
    }
}

/// Dwords of a page.
const PAGE: u64 = 1024;

/// What is known of a workgroup.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// Of all intervals between barriers, of any workgroup, the one that it is in.
    interval: u32,
    /// What it does comes after what others have done.
    acquired: bool,
}

/// An earlier access: its wave and step, and its workgroup if that is another one.
#[derive(Clone, Copy, Debug)]
struct Other {
    mark: Mark,
    group: Option<u64>,
}

impl Other {
    /// The wave's number in the launch, if the other access is one of this workgroup.
    fn wave(self, group: u64, waves_per_group: u64) -> u64 {
        self.group.unwrap_or(group) * waves_per_group + u64::from(self.mark.wave())
    }
}

/// Accesses to device memory of one launch.
#[derive(Debug)]
pub(crate) struct DeviceRaces {
    grid: [u32; 3],
    waves_per_group: u64,
    pages: Vec<Box<[Cell]>>,
    /// Which page is where.
    numbers: HashMap<u64, usize>,
    /// The page looked for last.
    last: Option<(u64, usize)>,
    /// Dwords that a cell cannot tell of: by the waves of the workgroup that has accessed it last, since its
    /// last barrier, so that where several run at a time (`timing`) some races are not seen.
    waves: Words<Mark>,
    /// What has been done to each dword, by workgroups since the launch began.
    workgroups: Words<GroupMark>,
    groups: HashMap<u64, Group>,
    /// The workgroups of all intervals that have begun; their numbers begin with 1.
    intervals: Vec<u64>,
    /// The most intervals that are told apart.
    most: usize,
    suspects: Suspects<Other>,
    reads: Reads,
    pub(crate) contexts: Contexts,
    pub(crate) judge: Judge,
    /// Which dwords are looked at, if not all are.
    focus: Option<Arc<Clashes>>,
    /// Doubts of the launch, and of the LDS of workgroups that have ended.
    pub(crate) doubts: Doubts,
}

impl DeviceRaces {
    pub(crate) fn new(
        grid: [u32; 3],
        waves_per_group: u32,
        judge: Judge,
        focus: Option<Arc<Clashes>>,
    ) -> Self {
        Self {
            grid,
            waves_per_group: u64::from(waves_per_group.max(1)),
            pages: Vec::new(),
            numbers: HashMap::new(),
            last: None,
            waves: Words::new(0),
            workgroups: Words::new(0),
            groups: HashMap::new(),
            intervals: Vec::new(),
            most: u32::MAX as usize,
            suspects: Suspects::default(),
            reads: Reads::default(),
            contexts: Contexts::default(),
            judge,
            focus,
            doubts: Doubts::default(),
        }
    }

    fn group_of(&self, w: &Wave) -> u64 {
        w.index / self.waves_per_group
    }

    /// Begins an interval of a workgroup.
    fn next_interval(&mut self, group: u64) -> u32 {
        if self.intervals.len() == self.most {
            // All is forgotten, so that numbers may begin again.
            let (grid, in_group) = (self.grid, self.waves_per_group as u32);
            let groups = std::mem::take(&mut self.groups);
            let contexts = std::mem::take(&mut self.contexts);
            let doubts = std::mem::take(&mut self.doubts);
            let (judge, focus) = (self.judge.clone(), self.focus.take());
            *self = Self { most: self.most, contexts, doubts, ..Self::new(grid, in_group, judge, focus) };
            for (group, state) in groups {
                self.intervals.push(group);
                let interval = self.intervals.len() as u32;
                self.groups.insert(group, Group { interval, ..state });
            }
        }
        self.intervals.push(group);
        self.intervals.len() as u32
    }

    fn state(&mut self, group: u64) -> Group {
        if let Some(state) = self.groups.get(&group) {
            return *state;
        }
        let state = Group { interval: self.next_interval(group), acquired: false };
        self.groups.insert(group, state);
        state
    }

    /// What the waves of this one's workgroup do next comes after what they have done.
    pub(crate) fn order_waves(&mut self, w: &Wave) {
        self.advance(w, false);
    }

    /// What the waves of this one's workgroup do next comes after what all waves have done.
    pub(crate) fn acquire(&mut self, w: &Wave) {
        self.advance(w, true);
    }

    fn advance(&mut self, w: &Wave, acquires: bool) {
        let group = self.group_of(w);
        let acquired = acquires || self.groups.get(&group).is_some_and(|state| state.acquired);
        let interval = self.next_interval(group);
        self.groups.insert(group, Group { interval, acquired });
    }

    /// The waves of this one's workgroup have met at a barrier. Returns a race that shows only now.
    pub(crate) fn pass_barrier(&mut self, w: &Wave) -> Option<Late> {
        self.order_waves(w);
        let first = self.group_of(w) * self.waves_per_group;
        self.reads.settle(first..first + self.waves_per_group, &mut self.doubts)
    }

    /// A workgroup's waves have ended. Returns a race that shows only now.
    pub(crate) fn end(&mut self, w: &Wave) -> Option<Late> {
        let late = self.pass_barrier(w);
        self.groups.remove(&self.group_of(w));
        late
    }

    /// A wave is about to access these places. Those that cannot be accessed are left out: they fault for
    /// that.
    ///
    /// # Errors
    /// An earlier access that nothing orders before this one.
    pub(crate) fn note(
        &mut self,
        memory: &Memory,
        w: &Wave,
        access: Access,
        places: impl IntoIterator<Item = Place>,
    ) -> Outcome {
        let is_atomic_load = || access.kind == AccessKind::Read && self.judge.is_atomic(w.site(w.current));
        if access.synchronises || is_atomic_load() {
            self.order_waves(w);
            if access.kind == AccessKind::Read {
                return Ok(());
            }
        }
        let group = self.group_of(w);
        let mark = Mark::new(w.place.number, w.site(w.current));
        let visitor = Visitor { memory, w, group, mark, state: self.state(group) };
        for (address, lane) in places {
            let found = memory.find(address, access.bytes as u64);
            let Some((allocation, at)) = found else { continue };
            if allocation.protection != Protection::ReadWrite {
                continue;
            }
            if let Some(focus) = &self.focus {
                if !focus.meets(memory.number_of(allocation), at..at + access.bytes) {
                    continue;
                }
                focus.spend(1);
            }
            self.note_place(visitor, access, (address, lane))?;
        }
        Ok(())
    }

    fn note_place(&mut self, by: Visitor<'_>, access: Access, (address, lane): Place) -> Outcome {
        let Visitor { memory, w, group, mark, state } = by;
        let whole = (address, access.bytes);
        let end = address + access.bytes as u64;
        let mut at = address;
        while at < end {
            let dword = at / WORD as u64;
            let until = end.min((dword + 1) * WORD as u64);
            let bytes = (at % WORD as u64) as usize..(until - dword * WORD as u64) as usize;
            at = until;
            let page = self.page(dword / PAGE);
            let cell = &mut self.pages[page][(dword % PAGE) as usize];
            let mask = bytes.clone().map(|byte| 1 << byte).sum();
            if cell.add(state.interval, mark, access.kind, mask) {
                continue;
            }
            let number = match *cell {
                Cell::Full(number) => number as usize,
                Cell::One { interval, .. } => {
                    let group = self.intervals[interval as usize - 1];
                    let (histories, alike) = cell.histories(|mark| GroupMark::new(group, mark));
                    self.workgroups.push(1, histories, alike);
                    let (histories, alike) = cell.histories(|mark| mark);
                    let number = self.waves.push(interval, histories, alike);
                    *cell = Cell::Full(number as u32);
                    number
                }
                // Takes any access.
                Cell::Untouched => continue,
            };
            let Self { waves, workgroups, suspects, reads, grid, waves_per_group, judge, doubts, .. } = self;
            let (grid, in_group) = (*grid, *waves_per_group);
            let first = number * WORD;
            let range = first + bytes.start..first + bytes.end;
            let (wave, site) = (w.index, mark.site());
            let late = |earlier, certain| {
                let trap = race(grid, memory, access.kind, whole, lane, earlier, certain);
                Late { trap, wave, site, certain }
            };
            let pair = |(kind, other): &(AccessKind, Other)| {
                let has_load = [*kind, access.kind].contains(&AccessKind::Read);
                if other.group.is_some() && has_load { Pair::LoadAcross } else { Pair::Other }
            };
            let mut raced = |kind, other: Other| {
                let sites = (other.mark.site(), site);
                doubts.judge(judge, (sites, pair(&(kind, other))), |certain| late((kind, other), certain))
            };
            let mut doubt = |bytes: Range<usize>, doubt| {
                let at = dword * WORD as u64 + (bytes.start - first) as u64;
                let (reader, earlier) = match doubt {
                    Doubt::WritesOver(earlier) => {
                        let (bytes, before) = (bytes.len(), read(memory, at, bytes.len()));
                        let access = whole;
                        let suspect = Suspect { at, bytes, before, access, lane, wave, site, earlier };
                        return suspects.push(suspect);
                    }
                    Doubt::ReadsAfterAtomic(other) => (w.index, (AccessKind::Atomic, other)),
                    Doubt::AtomicAfterRead(other) => (other.wave(group, in_group), (AccessKind::Read, other)),
                };
                let verdict = judge.verdict(earlier.1.mark.site(), site, pair(&earlier));
                if verdict != Verdict::Fine {
                    reads.add(reader, at, || late(earlier, verdict == Verdict::Race));
                }
            };
            let here = |mark| Other { mark, group: None };
            let when = When { interval: state.interval, ordered: false };
            let race = |kind, mark| raced(kind, here(mark));
            waves.note(when, access.kind, mark, range.clone(), race, |bytes, why| {
                doubt(bytes, why.map(here));
            })?;
            let there = |by: GroupMark| Other { mark: by.mark, group: Some(by.group()) };
            let when = When { interval: 1, ordered: state.acquired || access.synchronises };
            let by = GroupMark::new(group, mark);
            let race = |kind, by| raced(kind, there(by));
            workgroups.note(when, access.kind, by, range, race, |bytes, why| {
                doubt(bytes, why.map(there));
            })?;
        }
        if access.kind == AccessKind::Atomic {
            self.reads.follow(w.index, address..end);
        }
        Ok(())
    }

    /// What was noted last has been done.
    ///
    /// # Errors
    /// When that changed what others have written.
    pub(crate) fn settle(&mut self, memory: &Memory) -> Outcome {
        let Self { suspects, judge, doubts, grid, .. } = self;
        let mut raced = suspects.settle(|at, bytes| read(memory, at, bytes));
        raced.try_for_each(|Suspect { access, lane, wave, site, earlier, .. }| {
            doubts.judge(judge, ((earlier.mark.site(), site), Pair::Other), |certain| {
                let earlier = (AccessKind::Write, earlier);
                let trap = race(*grid, memory, AccessKind::Write, access, lane, earlier, certain);
                Late { trap, wave, site, certain }
            })
        })
    }

    /// What comes of lanes that store different values to one place by the instruction that runs.
    ///
    /// # Errors
    /// A race.
    pub(crate) fn judge_lanes(&mut self, w: &Wave, trap: Box<Trap>) -> Outcome {
        let site = w.site(w.current);
        self.doubts.judge(&self.judge, ((site, site), Pair::Other), |certain| {
            let mut trap = trap;
            if let FaultKind::LaneRace { certain: told, .. } = &mut trap.kind {
                *told = certain;
            }
            Late { trap, wave: w.index, site, certain }
        })
    }

    /// Where a page is, which is added if it is new.
    fn page(&mut self, page: u64) -> usize {
        if let Some((last, number)) = self.last
            && last == page
        {
            return number;
        }
        let number = *self.numbers.entry(page).or_insert_with(|| {
            self.pages.push(vec![Cell::default(); PAGE as usize].into());
            self.pages.len() - 1
        });
        self.last = Some((page, number));
        number
    }
}

/// Up to four bytes of memory, and zeros behind them.
fn read(memory: &Memory, address: u64, bytes: usize) -> [u8; WORD] {
    let mut dword = [0; WORD];
    // What is in no allocation has not been written, either.
    let _ = memory.read(address, &mut dword[..bytes]);
    dword
}

/// The trap of an access that races with an earlier one.
fn race(
    grid: [u32; 3],
    memory: &Memory,
    access: AccessKind,
    (address, bytes): (u64, usize),
    lane: Option<usize>,
    (earlier, other): (AccessKind, Other),
    certain: bool,
) -> Box<Trap> {
    let kind = FaultKind::Race {
        space: MemorySpace::Global,
        address,
        size: bytes as u32,
        inside: memory.inside(address),
        access,
        earlier,
        wave: other.mark.wave(),
        workgroup: other.group.map(|group| workgroup(grid, group)),
        certain,
    };
    Trap::of_two(kind, lane, other.mark.site())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::pairs::{self, Event, Race, WAVES, What};
    use super::*;
    use crate::check::Inside;
    use crate::config::Config;
    use crate::memory::Owner;

    const GROUPS: u64 = 3;
    /// The accesses are around a page's end.
    const START: u64 = PAGE * WORD as u64 - 8;

    /// Whether an access is made as two of half its size, by one instruction.
    fn shared(what: &What) -> bool {
        matches!(
            what,
            What::Access { kind: AccessKind::Read | AccessKind::Write, bytes: 2 | 8, value: 1, .. }
        )
    }

    /// The numbers of the two events of the first race that is found, after checking what its trap says.
    fn first_race(events: &[Event]) -> Result<Option<(usize, usize)>, TestCaseError> {
        let mut memory = Memory::new();
        let base =
            memory.alloc(2 * 4 * PAGE, 4 * PAGE, "data", Protection::ReadWrite, Owner::User).expect("memory");
        let mut w = Wave::new(amdgpu_isa::Arch::Gfx90a.into(), Config::default().vectors);
        let mut races = DeviceRaces::new([GROUPS as u32, 1, 1], WAVES, Judge::strict(), None);
        let found = |trap: Trap, later: usize| {
            let earlier = trap.earlier.expect("an earlier step") as usize;
            let (one, other) = (events[earlier], events[later]);
            let What::Access { wave, kind: before, .. } = one.what else { unreachable!() };
            let What::Access { kind: access, at, bytes, .. } = other.what else { unreachable!() };
            // Where two lanes share the access, it is that of one of them.
            let bytes = if shared(&other.what) { bytes / 2 } else { bytes };
            let FaultKind::Race { address, .. } = trap.kind else { panic!("{:?}", trap.kind) };
            let second = shared(&other.what) && address != base + START + at;
            let offset = START + at + if second { bytes } else { 0 };
            let expected = FaultKind::Race {
                space: MemorySpace::Global,
                address: base + offset,
                size: bytes as u32,
                inside: Some(Box::new(Inside { label: "data".to_owned(), offset })),
                access,
                earlier: before,
                wave,
                workgroup: (one.group != other.group).then_some([one.group as u32, 0, 0]),
                certain: true,
            };
            prop_assert_eq!((trap.kind, trap.lane), (expected, Some(3)));
            Ok(Some((earlier, later)))
        };
        for (number, event) in events.iter().enumerate() {
            w.index = event.group * u64::from(WAVES);
            let (wave, kind, synchronises, at, bytes, value) = match event.what {
                What::Barrier => {
                    if let Some(late) = races.pass_barrier(&w) {
                        return found(*late.trap, late.site as usize);
                    }
                    continue;
                }
                What::Acquire => {
                    races.acquire(&w);
                    continue;
                }
                What::Access { wave, kind, synchronises, at, bytes, value } => {
                    (wave, kind, synchronises, at, bytes as usize, value)
                }
            };
            w.index += u64::from(wave);
            (w.place.number, w.current) = (wave, number as u32);
            let address = base + START + at;
            let access = Access { kind, bytes, synchronises };
            let mut outcome = if shared(&event.what) {
                let access = Access { bytes: bytes / 2, ..access };
                races.note(&memory, &w, access, [address, address + bytes as u64 / 2].map(|at| (at, Some(3))))
            } else {
                races.note(&memory, &w, access, [(address, Some(3))])
            };
            if outcome.is_ok() && kind != AccessKind::Read {
                memory.write(address, &vec![value; bytes]).expect("in bounds");
                outcome = races.settle(&memory);
            }
            if let Err(trap) = outcome {
                return found(*trap, number);
            }
        }
        for group in 0..GROUPS {
            w.index = group * u64::from(WAVES);
            if let Some(late) = races.end(&w) {
                return found(*late.trap, late.site as usize);
            }
        }
        Ok(None)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn one_workgroup_after_another(mut events in pairs::events(GROUPS)) {
            events.sort_by_key(|event| event.group);
            match first_race(&events)? {
                Some((earlier, later)) => prop_assert_ne!(pairs::race(&events, earlier, later), Race::No),
                None => prop_assert!(!pairs::any(&events)),
            }
        }

        /// Some races are missed then; what is found is one.
        #[test]
        fn workgroups_in_between_each_other(events in pairs::events(GROUPS)) {
            if let Some((earlier, later)) = first_race(&events)? {
                prop_assert_ne!(pairs::race(&events, earlier, later), Race::No);
            }
        }
    }

    /// When numbers of intervals run out, none is taken for an earlier one.
    #[test]
    fn intervals_begin_again() {
        let mut memory = Memory::new();
        let base = memory.alloc(256, 256, "data", Protection::ReadWrite, Owner::User).expect("memory");
        let mut w = Wave::new(amdgpu_isa::Arch::Gfx90a.into(), Config::default().vectors);
        let mut races = DeviceRaces { most: 10, ..DeviceRaces::new([1, 1, 1], WAVES, Judge::strict(), None) };
        for number in 0..100 {
            for wave in [0, 1] {
                w.place.number = wave;
                let access = Access { kind: AccessKind::Write, bytes: 4, synchronises: false };
                let mut outcome = races.note(&memory, &w, access, [(base, None)]);
                if outcome.is_ok() {
                    memory.write(base, &(2 * number + wave).to_le_bytes()).expect("in bounds");
                    outcome = races.settle(&memory);
                }
                // Behind a barrier, but the last time.
                assert_eq!(outcome.is_err(), number == 99 && wave == 1, "{number}: {outcome:?}");
                if number < 99 {
                    assert!(races.pass_barrier(&w).is_none());
                }
            }
        }
    }
}
