//! A quick look for what may be a race, while a launch runs as it does without one: in the fast layer, on
//! several threads.
//!
//! It tells dwords apart, not bytes, and knows no order but that of barriers. It does not compare values. So
//! each race that [`super::LdsRaces`] and [`super::DeviceRaces`] find is a clash here, and some clashes are
//! no races. A launch without a clash, as nearly all are, has no race. One with a clash runs again, from the
//! memory before it, and every access is looked at (`dispatch::checked`).
//!
//! Reads of an allocation that nothing has written are not noted, since most allocations are only read; nor
//! are those of LDS that nothing has written since the last barrier. If it is written after all, the launch
//! begins again, and the reads are noted too.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::device::Access;
use super::stage::Intervals;
use super::words::WORD;
use crate::check::AccessKind;
use crate::memory::{Memory, Protection};
use crate::wave::{Stage, Wave};

/// Dwords of a line: a bit each.
pub(crate) const LINE: usize = 64;

/// Which dwords of a line have been accessed, by [`AccessKind`].
#[derive(Clone, Copy, Debug, Default)]
struct Uses {
    read: u64,
    written: u64,
    changed: u64,
}

impl Uses {
    fn of(kind: AccessKind, bits: u64) -> Self {
        let mut uses = Self::default();
        uses.add(kind, bits);
        uses
    }

    #[inline(always)]
    fn add(&mut self, kind: AccessKind, bits: u64) {
        match kind {
            AccessKind::Read => self.read |= bits,
            AccessKind::Write => self.written |= bits,
            AccessKind::Atomic => self.changed |= bits,
        }
    }

    fn merge(&mut self, other: Self) {
        self.read |= other.read;
        self.written |= other.written;
        self.changed |= other.changed;
    }

    /// The dwords of `bits` at which an access of this kind clashes with these.
    #[inline(always)]
    fn clash(&self, kind: AccessKind, bits: u64) -> u64 {
        let others = match kind {
            AccessKind::Read => self.written | self.changed,
            AccessKind::Write => self.read | self.written | self.changed,
            AccessKind::Atomic => self.read | self.written,
        };
        others & bits
    }

    fn clash_with(&self, other: &Self) -> u64 {
        self.clash(AccessKind::Read, other.read)
            | self.clash(AccessKind::Write, other.written)
            | self.clash(AccessKind::Atomic, other.changed)
    }
}

/// What the waves of a workgroup have done to a line since their last barrier.
///
/// Two waves are told apart, those that came before them are not: where three waves take turns at one line,
/// the first of them may clash with itself.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    interval: u32,
    /// Numbers of the two waves plus one.
    waves: [u8; 2],
    by: [Uses; 2],
    others: Uses,
}

impl Line {
    /// Adds an access. Returns which dwords clash, and what was done before the last barrier if that is known
    /// only now.
    #[inline(always)]
    fn touch(&mut self, interval: u32, wave: u8, kind: AccessKind, bits: u64) -> (u64, Option<Uses>) {
        let mut before = None;
        if self.interval != interval {
            before = Some(self.all());
            *self = Self { interval, waves: [wave, 0], ..Self::default() };
        }
        let slot = match self.waves {
            [first, _] if first == wave => 0,
            [_, second] if second == wave => 1,
            [_, 0] => {
                self.waves[1] = wave;
                1
            }
            [_, second] => {
                self.others.merge(self.by[0]);
                (self.waves, self.by) = ([second, wave], [self.by[1], Uses::default()]);
                1
            }
        };
        let clash = self.by[1 - slot].clash(kind, bits) | self.others.clash(kind, bits);
        self.by[slot].add(kind, bits);
        (clash, before)
    }

    fn all(&self) -> Uses {
        let mut all = self.others;
        all.merge(self.by[0]);
        all.merge(self.by[1]);
        all
    }
}

/// The lines and bits of dwords from `first` on, at most [`LINE`] of them: two lines, of which the second may
/// be left empty.
#[inline(always)]
fn split(first: usize, bits: u64) -> [(usize, u64); 2] {
    let (line, shift) = (first / LINE, first % LINE);
    // In two steps: a shift by 64 is none.
    [(line, bits << shift), (line + 1, bits >> 1 >> (LINE - 1 - shift))]
}

/// One bit for each of the first dwords, of which there are 64 at most.
#[inline(always)]
const fn first_bits(dwords: usize) -> u64 {
    if dwords >= LINE { !0 } else { (1 << dwords) - 1 }
}

/// The first dword of an access, and a bit for each that it touches.
#[inline(always)]
fn dwords(at: usize, bytes: usize) -> (usize, u64) {
    let first = at / WORD;
    (first, first_bits((at + bytes).div_ceil(WORD) - first))
}

/// Is told of lines of a kind of memory.
pub(crate) trait Lines {
    fn touch(&mut self, line: usize, bits: u64);
}

/// Gathers the accesses of one instruction, so that neighbours in a line are noted at once. It must be ended.
pub(crate) struct Noting<T> {
    lines: T,
    line: usize,
    bits: u64,
}

impl<T: Lines> Noting<T> {
    const fn new(lines: T) -> Self {
        Self { lines, line: usize::MAX, bits: 0 }
    }

    /// Bytes from `at` on, which are in 64 dwords at most.
    #[inline(always)]
    pub(crate) fn add(&mut self, at: usize, bytes: usize) {
        let (first, bits) = dwords(at, bytes);
        self.add_dwords(first, bits);
    }

    /// Dwords from `first` on, a bit for each.
    #[inline(always)]
    pub(crate) fn add_dwords(&mut self, first: usize, bits: u64) {
        let [(line, bits), (_, more)] = split(first, bits);
        if line != self.line {
            self.flush();
            self.line = line;
        }
        self.bits |= bits;
        if more != 0 {
            self.flush();
            (self.line, self.bits) = (line + 1, more);
        }
    }

    #[inline(always)]
    fn flush(&mut self) {
        if self.bits != 0 {
            self.lines.touch(self.line, self.bits);
        }
        self.bits = 0;
    }

    #[inline(always)]
    pub(crate) fn end(mut self) {
        self.flush();
    }
}

/// Which reads are noted though nothing has been written yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Noted {
    /// Allocations whose reads are noted, by address.
    allocations: BTreeSet<u64>,
    /// Reads of LDS are noted.
    lds: bool,
}

impl Noted {
    /// Adds others.
    pub(crate) fn extend(&mut self, more: Self) {
        self.allocations.extend(more.allocations);
        self.lds |= more.lds;
    }
}

/// The look at a workgroup's LDS.
#[derive(Debug)]
pub(crate) struct LdsScan {
    /// By plane.
    lines: Vec<Vec<Line>>,
    intervals: Intervals,
    /// There are other waves to clash with.
    several_waves: bool,
    /// Dwords that clash, by line; empty if there are none.
    clashed: Vec<u64>,
    /// Lanes of one store clash.
    lanes: bool,
    /// Reads are always noted.
    noted: bool,
    /// Something has been written since the last barrier; where barriers are split, since the workgroup
    /// began.
    written: bool,
    /// Number plus one of the wave that has read since then, which was not noted; [`LdsScan::SEVERAL`] for
    /// several.
    reader: u8,
    /// Such a read may clash.
    again: bool,
    /// What one wave does to a line, lane by lane, and is noted at once.
    pending: Option<Pending>,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    wave: u32,
    stage: Stage,
    kind: AccessKind,
    line: usize,
    bits: u64,
}

impl LdsScan {
    const SEVERAL: u8 = u8::MAX;

    pub(crate) fn new(bytes: usize, split_barriers: bool, launch: &ScanLaunch) -> Self {
        let intervals = Intervals::new(split_barriers);
        // A line more, for an access that is noted up to the end of its dword.
        let lines = vec![Line::default(); bytes.div_ceil(WORD * LINE) + 1];
        Self {
            lines: vec![lines; intervals.planes()],
            intervals,
            several_waves: launch.several_waves,
            clashed: Vec::new(),
            lanes: false,
            noted: launch.noted_lds,
            written: false,
            reader: 0,
            again: false,
            pending: None,
        }
    }

    pub(crate) fn pass_barrier(&mut self) {
        self.flush();
        if self.intervals.planes() == 1 {
            (self.written, self.reader) = (false, 0);
        }
        if !self.intervals.pass() {
            self.forget();
        }
    }

    /// A workgroup begins.
    pub(crate) fn begin(&mut self) {
        self.flush();
        (self.written, self.reader) = (false, 0);
        if !self.intervals.forget() {
            self.forget();
        }
    }

    fn forget(&mut self) {
        self.lines.iter_mut().for_each(|lines| lines.fill(Line::default()));
    }

    /// Lanes of one store clash.
    pub(crate) fn report_lanes(&mut self) {
        self.lanes = true;
    }

    /// Notes what is pending.
    fn flush(&mut self) {
        if let Some(Pending { wave, stage, kind, line, bits }) = self.pending.take() {
            self.touch(line, (wave, stage), kind, bits);
        }
    }

    fn touch(&mut self, line: usize, (wave, stage): (u32, Stage), kind: AccessKind, bits: u64) {
        for (plane, interval) in self.intervals.of(stage) {
            let lines = &mut self.lines[plane];
            let (clash, _) = lines[line].touch(interval, wave as u8 + 1, kind, bits);
            if clash != 0 {
                self.clashed.resize(lines.len(), 0);
                self.clashed[line] |= clash;
            }
        }
    }

    /// Whether a wave's accesses are to be noted.
    #[inline(always)]
    pub(crate) fn wants(&mut self, wave: u32, kind: AccessKind) -> bool {
        let wave = wave as u8 + 1;
        if !self.several_waves || self.noted {
            return self.several_waves;
        }
        if kind != AccessKind::Read {
            self.written = true;
            self.again |= self.reader != 0 && self.reader != wave;
        } else if !self.written {
            self.reader = if self.reader == 0 || self.reader == wave { wave } else { Self::SEVERAL };
            return false;
        }
        true
    }

    /// Notes a lane's access, which is in bounds.
    pub(crate) fn note(&mut self, (wave, stage): (u32, Stage), kind: AccessKind, at: usize, bytes: usize) {
        if !self.wants(wave, kind) {
            return;
        }
        let (first, bits) = dwords(at, bytes);
        for (line, bits) in split(first, bits) {
            match &mut self.pending {
                _ if bits == 0 => {}
                Some(pending)
                    if (pending.wave, pending.stage, pending.kind, pending.line)
                        == (wave, stage, kind, line) =>
                {
                    pending.bits |= bits;
                }
                _ => {
                    self.flush();
                    self.pending = Some(Pending { wave, stage, kind, line, bits });
                }
            }
        }
    }

    /// Notes what a wave does by one instruction, if that is wanted.
    #[inline(always)]
    pub(crate) fn by(&mut self, wave: u32, stage: Stage, kind: AccessKind) -> Noting<LdsLines<'_>> {
        self.flush();
        Noting::new(LdsLines { scan: self, wave: (wave, stage), kind })
    }
}

/// What a wave does in LDS by one instruction.
pub(crate) struct LdsLines<'a> {
    scan: &'a mut LdsScan,
    wave: (u32, Stage),
    kind: AccessKind,
}

impl Lines for LdsLines<'_> {
    fn touch(&mut self, line: usize, bits: u64) {
        self.scan.touch(line, self.wave, self.kind, bits);
    }
}

/// What a launch's scan has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// No race.
    Nothing,
    /// Maybe a race: each access is to be looked at.
    Clash,
    /// A workgroup waits for another one: one thread is to run them.
    Wait,
    /// These reads were not noted, and their bytes were written then.
    UnnotedReads(Noted),
}

/// The scan of a launch, shared by its host threads.
#[derive(Debug)]
pub(crate) struct ScanLaunch {
    /// In the order of the memory's allocations.
    allocations: Box<[Scanned]>,
    /// Reads of LDS are always noted.
    noted_lds: bool,
    /// Dwords of LDS that clash, by line.
    clashed_lds: Mutex<Vec<u64>>,
    /// Lanes of one store clash.
    lanes: AtomicBool,
    /// There is a clash.
    clash: AtomicBool,
    /// Reads of allocations were not noted that were written then.
    again: AtomicBool,
    /// Reads of LDS were not.
    again_in_lds: AtomicBool,
    /// A workgroup waits for another one.
    waits: AtomicBool,
    /// There are other workgroups to clash with.
    several_groups: bool,
    /// A workgroup has several waves, and they are looked at.
    several_waves: bool,
    scope: Scope,
    /// Loads that pass the vector cache are noted, too.
    synchronising: bool,
    ends_with_clash: bool,
}

/// Whose accesses a scan compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Accesses of waves, for what may be a race.
    Waves,
    /// Accesses of workgroups, for any that make their order matter.
    Workgroups,
}

/// An allocation.
#[derive(Debug)]
struct Scanned {
    address: u64,
    lines: usize,
    /// Its reads are noted from the beginning on.
    noted: bool,
    /// The allocation was read, and the reads were not noted.
    unnoted: AtomicBool,
    written: AtomicBool,
    /// By workgroups that have ended.
    uses: OnceLock<Box<[Mutex<Uses>]>>,
    /// Dwords that clash, by line.
    clashed: OnceLock<Box<[AtomicU64]>>,
}

impl Scanned {
    fn clash(&self, line: usize, bits: u64) {
        let lines = || std::iter::repeat_with(|| AtomicU64::new(0)).take(self.lines).collect();
        self.clashed.get_or_init(lines)[line].fetch_or(bits, Ordering::Relaxed);
    }
}

impl ScanLaunch {
    pub(crate) fn new(
        memory: &Memory,
        noted: &Noted,
        groups: u64,
        waves_per_group: u32,
        scope: Scope,
        synchronising: bool,
    ) -> Self {
        let scanned = |(address, bytes): (u64, u64)| Scanned {
            address,
            lines: (bytes as usize).div_ceil(WORD * LINE) + 1,
            noted: noted.allocations.contains(&address),
            unnoted: AtomicBool::new(false),
            written: AtomicBool::new(false),
            uses: OnceLock::new(),
            clashed: OnceLock::new(),
        };
        Self {
            allocations: memory.extents().map(scanned).collect(),
            noted_lds: noted.lds,
            clashed_lds: Mutex::default(),
            lanes: AtomicBool::new(false),
            clash: AtomicBool::new(false),
            again: AtomicBool::new(false),
            again_in_lds: AtomicBool::new(false),
            waits: AtomicBool::new(false),
            several_groups: groups > 1,
            several_waves: waves_per_group > 1 && scope == Scope::Waves,
            scope,
            synchronising,
            ends_with_clash: false,
        }
    }

    /// One that ends the launch with the first clash: it runs again in order, whatever comes next. Others go
    /// on: what the launch leaves is good, and how long it is shows how much of it can be looked at.
    pub(crate) fn ending_with_clash(self, ends_with_clash: bool) -> Self {
        Self { ends_with_clash, ..self }
    }

    /// Whose accesses are compared.
    pub(crate) fn scope(&self) -> Scope {
        self.scope
    }

    /// Whether the launch is to end, for it begins again.
    pub(crate) fn is_over(&self) -> bool {
        let again =
            [&self.again, &self.again_in_lds, &self.waits].iter().any(|flag| flag.load(Ordering::Relaxed));
        again || self.is_decided()
    }

    /// There is a clash, and that is all that is asked.
    fn is_decided(&self) -> bool {
        self.ends_with_clash && self.clash.load(Ordering::Relaxed)
    }

    /// A workgroup waits for another one, so that the launch is to run on one thread.
    pub(crate) fn report_wait(&self) {
        self.waits.store(true, Ordering::SeqCst);
    }

    /// A dword of an allocation clashes.
    fn report(&self, allocation: usize, line: usize, bits: u64) {
        self.clash.store(true, Ordering::Relaxed);
        self.allocations[allocation].clash(line, bits);
    }

    /// What clashes, of a launch that has ended: the same whatever the number of threads.
    pub(crate) fn clashes(&self) -> Clashes {
        let bits = |one: &Scanned| {
            let clashed = one.clashed.get().into_iter().flatten();
            clashed.map(|bits| bits.load(Ordering::SeqCst)).collect()
        };
        Clashes {
            allocations: self.allocations.iter().map(bits).collect(),
            lds: self.clashed_lds.lock().unwrap_or_else(PoisonError::into_inner).clone().into(),
            lanes: self.lanes.load(Ordering::SeqCst),
            effort: AtomicU64::new(0),
        }
    }

    pub(crate) fn found(&self) -> Found {
        if self.is_decided() {
            return Found::Clash;
        }
        if self.waits.load(Ordering::SeqCst) {
            return Found::Wait;
        }
        let unnoted = |one: &&Scanned| {
            one.written.load(Ordering::SeqCst) && one.unnoted.load(Ordering::SeqCst) && !one.noted
        };
        let allocations = self.allocations.iter().filter(unnoted).map(|one| one.address).collect();
        let more = Noted { allocations, lds: self.again_in_lds.load(Ordering::SeqCst) };
        match more == Noted::default() {
            false => Found::UnnotedReads(more),
            true if self.clash.load(Ordering::SeqCst) => Found::Clash,
            true => Found::Nothing,
        }
    }
}

/// Which dwords of a launch clash: those that each access is looked at of. The others have no race.
#[derive(Debug, Default)]
pub(crate) struct Clashes {
    /// By the number of the allocation and line; those of an allocation without any are empty.
    allocations: Box<[Box<[u64]>]>,
    /// By line; empty if there are none.
    lds: Box<[u64]>,
    /// Lanes of one store clash.
    lanes: bool,
    /// Accesses of lanes that were looked at.
    effort: AtomicU64,
}

impl Clashes {
    /// Whether an access of that kind to an allocation may be one to look at.
    #[inline(always)]
    pub(crate) fn wants(&self, allocation: usize, kind: AccessKind) -> bool {
        self.lanes && kind == AccessKind::Write || !self.allocations[allocation].is_empty()
    }

    /// Whether one of LDS may be.
    #[inline(always)]
    pub(crate) fn wants_lds(&self, kind: AccessKind) -> bool {
        self.lanes && kind == AccessKind::Write || !self.lds.is_empty()
    }

    /// Whether stores are to be looked at whose lanes may clash with each other.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> bool {
        self.lanes
    }

    /// Finds out whether any of the pieces that are added in an allocation clashes.
    #[inline(always)]
    pub(crate) fn meeting(&self, allocation: usize) -> Noting<Meeting<'_>> {
        Noting::new(Meeting { clashed: &self.allocations[allocation], met: false })
    }

    /// The accesses of the wave to LDS, noted as they come.
    #[inline(always)]
    pub(crate) fn meeting_in_lds(&self) -> Noting<Meeting<'_>> {
        Noting::new(Meeting { clashed: &self.lds, met: false })
    }

    /// Whether any of these bytes of an allocation clashes.
    pub(super) fn meets(&self, allocation: usize, bytes: Range<usize>) -> bool {
        // Lanes of one store are looked at by what they store.
        let mut noting = self.meeting(allocation);
        noting.add(bytes.start, bytes.len());
        noting.met()
    }

    /// Whether bytes of LDS are among those that clash.
    pub(super) fn meets_in_lds(&self, bytes: Range<usize>) -> bool {
        let mut noting = self.meeting_in_lds();
        noting.add(bytes.start, bytes.len());
        noting.met()
    }

    /// So many accesses of lanes are looked at.
    pub(crate) fn spend(&self, accesses: u64) {
        self.effort.fetch_add(accesses, Ordering::Relaxed);
    }

    /// How many were.
    pub(crate) fn effort(&self) -> u64 {
        self.effort.load(Ordering::Relaxed)
    }
}

/// Whether lines that are touched have clashes.
pub(crate) struct Meeting<'a> {
    clashed: &'a [u64],
    met: bool,
}

impl Lines for Meeting<'_> {
    #[inline(always)]
    fn touch(&mut self, line: usize, bits: u64) {
        self.met |= self.clashed.get(line).is_some_and(|clashed| clashed & bits != 0);
    }
}

impl Noting<Meeting<'_>> {
    /// Whether there is one.
    #[inline(always)]
    pub(crate) fn met(mut self) -> bool {
        self.flush();
        self.lines.met
    }
}

/// A line of device memory that the running workgroup has accessed.
#[derive(Clone, Copy, Debug)]
struct DeviceLine {
    allocation: u32,
    number: u32,
    line: Line,
    /// By the workgroup, before its last barrier.
    before: Uses,
}

/// The look at device memory of one host thread, which runs workgroups one after another.
#[derive(Debug)]
pub(crate) struct DeviceScan {
    launch: Arc<ScanLaunch>,
    /// By allocation and line: its place in `lines`, if it is there.
    places: Vec<Vec<u32>>,
    lines: Vec<DeviceLine>,
    /// Counts barriers and workgroups.
    interval: u32,
}

impl DeviceScan {
    pub(crate) fn new(launch: &Arc<ScanLaunch>) -> Self {
        let places = vec![Vec::new(); launch.allocations.len()];
        Self { launch: launch.clone(), places, lines: Vec::new(), interval: 1 }
    }

    pub(crate) fn pass_barrier(&mut self) {
        // It begins with 1 for each workgroup, which has fewer instructions than that.
        self.interval = self.interval.wrapping_add(1);
    }

    /// The workgroup has ended.
    pub(crate) fn end_group(&mut self) {
        let Self { launch, lines, .. } = self;
        if launch.several_groups {
            for DeviceLine { allocation, number, line, before } in &*lines {
                let mut ours = line.all();
                ours.merge(*before);
                let scanned = &launch.allocations[*allocation as usize];
                let uses = scanned.uses.get_or_init(|| {
                    std::iter::repeat_with(|| Mutex::new(Uses::default())).take(scanned.lines).collect()
                });
                let mut theirs = uses[*number as usize].lock().unwrap_or_else(PoisonError::into_inner);
                let clash = theirs.clash_with(&ours);
                if clash != 0 {
                    launch.report(*allocation as usize, *number as usize, clash);
                }
                theirs.merge(ours);
            }
        }
        lines.clear();
        self.interval = 1;
    }

    /// Something is done to device memory that cannot be noted.
    pub(crate) fn report_unseen(&mut self) {
        if self.launch.scope == Scope::Workgroups && self.launch.several_groups {
            self.launch.clash.store(true, Ordering::Relaxed);
        }
    }

    /// Whether loads that pass the vector cache are noted.
    #[inline(always)]
    pub(crate) fn notes_synchronising(&self) -> bool {
        self.launch.synchronising
    }

    /// Lanes of one store clash.
    pub(crate) fn report_lanes(&self) {
        if self.launch.scope == Scope::Workgroups {
            return;
        }
        self.launch.clash.store(true, Ordering::Relaxed);
        self.launch.lanes.store(true, Ordering::Relaxed);
    }

    /// Takes over what was found in the workgroup's LDS.
    pub(crate) fn add_lds(&self, lds: &mut LdsScan) {
        lds.flush();
        if lds.again {
            self.launch.again_in_lds.store(true, Ordering::Relaxed);
        }
        if lds.lanes {
            self.report_lanes();
        }
        if !lds.clashed.is_empty() {
            self.launch.clash.store(true, Ordering::Relaxed);
            let mut all = self.launch.clashed_lds.lock().unwrap_or_else(PoisonError::into_inner);
            all.resize(lds.clashed.len(), 0);
            all.iter_mut().zip(&lds.clashed).for_each(|(all, bits)| *all |= bits);
        }
    }

    /// Whether accesses to an allocation are to be noted, by its number.
    #[inline(always)]
    pub(crate) fn wants(&self, allocation: usize, kind: AccessKind) -> bool {
        let one = &self.launch.allocations[allocation];
        if kind != AccessKind::Read {
            if !one.written.load(Ordering::Relaxed) {
                one.written.store(true, Ordering::SeqCst);
            }
            if !one.noted && one.unnoted.load(Ordering::SeqCst) {
                self.launch.again.store(true, Ordering::Relaxed);
            }
            return true;
        }
        if one.noted || one.written.load(Ordering::Relaxed) {
            return true;
        }
        if !one.unnoted.load(Ordering::Acquire) {
            one.unnoted.store(true, Ordering::SeqCst);
        }
        // Whoever writes it later sees that it was read; who has written it before is seen here.
        one.written.load(Ordering::SeqCst)
    }

    fn touch(&mut self, allocation: usize, line: usize, wave: u32, kind: AccessKind, bits: u64) {
        let Self { launch, places, lines, interval } = self;
        let places = &mut places[allocation];
        if places.is_empty() {
            places.resize(launch.allocations[allocation].lines, 0);
        }
        let (key, wave) = ((allocation as u32, line as u32), wave as u8 + 1);
        let place = places[line] as usize;
        if let Some(known) = lines.get_mut(place)
            && (known.allocation, known.number) == key
        {
            let (clash, before) = known.line.touch(*interval, wave, kind, bits);
            if let Some(before) = before {
                known.before.merge(before);
            }
            if clash != 0 && launch.several_waves {
                launch.report(allocation, line, clash);
            }
            return;
        }
        places[line] = lines.len() as u32;
        let by = [Uses::of(kind, bits), Uses::default()];
        let line = Line { interval: *interval, waves: [wave, 0], by, others: Uses::default() };
        lines.push(DeviceLine { allocation: key.0, number: key.1, line, before: Uses::default() });
    }

    /// Notes an access wherever it goes. What cannot be accessed is left out: it faults for that.
    pub(crate) fn note(&mut self, memory: &Memory, w: &Wave, access: Access, address: u64) {
        let Access { kind, bytes, .. } = access;
        let Some((allocation, at)) = memory.find(address, bytes as u64) else { return };
        if allocation.protection != Protection::ReadWrite || w.scratch.offset_of(address).is_some() {
            return;
        }
        let number = memory.number_of(allocation);
        if self.wants(number, kind) {
            let mut noting = self.by(number, w.place.number, kind);
            noting.add(at, bytes);
            noting.end();
        }
    }

    /// Notes what a wave does to an allocation, whose accesses are wanted, by one instruction.
    #[inline(always)]
    pub(crate) fn by(&mut self, allocation: usize, wave: u32, kind: AccessKind) -> Noting<DeviceLines<'_>> {
        Noting::new(DeviceLines { scan: self, allocation, wave, kind })
    }
}

/// What a wave does to an allocation by one instruction.
pub(crate) struct DeviceLines<'a> {
    scan: &'a mut DeviceScan,
    allocation: usize,
    wave: u32,
    kind: AccessKind,
}

impl Lines for DeviceLines<'_> {
    fn touch(&mut self, line: usize, bits: u64) {
        self.scan.touch(self.allocation, line, self.wave, self.kind, bits);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::pairs::{self, Event, What};
    use super::*;
    use crate::config::Config;
    use crate::memory::Owner;

    const GROUPS: u64 = 3;
    /// The accesses are around a line's end.
    const START: u64 = (LINE * WORD) as u64 - 8;

    /// What a scan of two host threads finds. Waves take turns as the events do, workgroups come one after
    /// another.
    fn scan(events: &[Event]) -> Found {
        let mut memory = Memory::new();
        let base = memory.alloc(1024, 256, "data", Protection::ReadWrite, Owner::User).expect("memory");
        let mut noted = Noted::default();
        loop {
            let launch =
                Arc::new(ScanLaunch::new(&memory, &noted, GROUPS, pairs::WAVES, Scope::Waves, false));
            let mut threads = [DeviceScan::new(&launch), DeviceScan::new(&launch)];
            let mut w = Wave::new(amdgpu_isa::Arch::Gfx90a.into(), Config::default().vectors);
            for group in 0..GROUPS {
                let thread = &mut threads[group as usize % 2];
                for event in events.iter().filter(|event| event.group == group) {
                    match event.what {
                        What::Barrier => thread.pass_barrier(),
                        What::Acquire => {}
                        What::Access { wave, kind, synchronises, at, bytes, .. } => {
                            w.place.number = wave;
                            let access = Access { kind, bytes: bytes as usize, synchronises };
                            thread.note(&memory, &w, access, base + START + at);
                        }
                    }
                }
                thread.end_group();
            }
            match launch.found() {
                Found::UnnotedReads(more) => {
                    assert_eq!(noted, Noted::default(), "once is enough for one allocation");
                    assert_eq!(more.allocations, BTreeSet::from([base]));
                    noted.extend(more);
                }
                found => return found,
            }
        }
    }

    /// Scans the events of one workgroup in LDS.
    fn scan_lds(events: &[Event]) -> Found {
        let scan = |lds: bool| {
            let noted = Noted { lds, ..Noted::default() };
            let launch =
                Arc::new(ScanLaunch::new(&Memory::new(), &noted, 1, pairs::WAVES, Scope::Waves, false));
            let mut scan = LdsScan::new(1024, false, &launch);
            for event in events {
                match event.what {
                    What::Barrier => scan.pass_barrier(),
                    What::Acquire => {}
                    What::Access { wave, kind, at, bytes, .. } => {
                        scan.note((wave, Stage::Between), kind, (START + at) as usize, bytes as usize);
                    }
                }
            }
            DeviceScan::new(&launch).add_lds(&mut scan);
            launch.found()
        };
        match scan(false) {
            Found::UnnotedReads(_) => scan(true),
            found => found,
        }
    }

    /// Whether two waves of different workgroups, or of one and without a barrier in between, access one
    /// dword, and not both read or both by atomics.
    fn any_clash(events: &[Event]) -> bool {
        let of = |event: &Event| match event.what {
            What::Access { wave, kind, at, bytes, .. } => {
                Some((event.group, wave, kind, at / WORD as u64..(at + bytes).div_ceil(WORD as u64)))
            }
            _ => None,
        };
        let clash = |(first, second): (usize, usize)| {
            let (Some(one), Some(other)) = (of(&events[first]), of(&events[second])) else { return false };
            let is_barrier = |event: &Event| event.group == one.0 && matches!(event.what, What::Barrier);
            let ordered =
                one.0 == other.0 && (one.1 == other.1 || events[first..second].iter().any(is_barrier));
            let apart = one.3.end <= other.3.start || other.3.end <= one.3.start;
            let harmless = one.2 == other.2 && one.2 != AccessKind::Write;
            !ordered && !apart && !harmless
        };
        (0..events.len()).flat_map(|second| (0..second).map(move |first| (first, second))).any(clash)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        /// No race passes. Of two waves a workgroup, what is found is what there is; of three, one may clash
        /// with itself.
        #[test]
        fn a_scan_finds_every_clash(mut events in pairs::events(GROUPS), two in any::<bool>()) {
            events.sort_by_key(|event| event.group);
            if two {
                events.retain(|event| !matches!(event.what, What::Access { wave: 2, .. }));
            }
            let found = scan(&events) == Found::Clash;
            prop_assert!(found || !pairs::any(&events));
            prop_assert!(found || !any_clash(&events));
            prop_assert!(!two || found == any_clash(&events));
        }

        #[test]
        fn so_it_does_in_lds(mut events in pairs::events(1), two in any::<bool>()) {
            if two {
                events.retain(|event| !matches!(event.what, What::Access { wave: 2, .. }));
            }
            let found = scan_lds(&events) == Found::Clash;
            prop_assert!(found || !pairs::any(&events));
            prop_assert!(found || !any_clash(&events));
            prop_assert!(!two || found == any_clash(&events));
        }

        /// What is gathered is what there is.
        #[test]
        fn pieces_are_noted_as_if_one_by_one(
            pieces in prop::collection::vec((0..2000usize, 1..254usize), 1..8),
            probe in 0..2300usize,
        ) {
            let launch = ScanLaunch::new(&Memory::new(), &Noted::default(), 1, 2, Scope::Waves, false);
            let mut scan = LdsScan::new(2304, false, &launch);
            assert!(scan.wants(0, AccessKind::Write));
            let mut noting = scan.by(0, Stage::Between, AccessKind::Write);
            pieces.iter().for_each(|(at, bytes)| noting.add(*at, *bytes));
            noting.end();
            scan.note((1, Stage::Between), AccessKind::Read, probe, 1);
            scan.flush();
            let dwords = |(at, bytes): &(usize, usize)| at / WORD..(at + bytes).div_ceil(WORD);
            prop_assert_eq!(!scan.clashed.is_empty(), pieces.iter().any(|piece| dwords(piece).contains(&(probe / WORD))));
        }
    }
}
