//! Runs one kernel in all ways and compares.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use amdgpu_object::CodeObject;
use amdinst_core::analysis::program::Program;
use amdinst_core::counters::{SiteCounts, WaveRecord};
use amdinst_core::instrument::{
    Abi, Counters, Home, KernelProbes, Level, Options, Plan, Probe, Reason, SiteFrame, SiteSelector,
    SourceLines, apply, plan,
};
use amdinst_emu::{Config, Execution, Fault, Launch, Machine, Uninitialised};
use amdinst_proof::{Counting, CountingError, native_blocks};

use super::prelude::with_prelude;
use crate::support::{bytes_of, compile};

/// Elements of each buffer.
const ELEMENTS: usize = 1024;
/// The name of the kernel under test; its arguments are (out, in, n).
pub(super) const KERNEL: &str = "test";

/// Workgroups, work-items of one, and its dynamic LDS in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) dynamic_lds: u32,
}

impl Geometry {
    /// Without dynamic LDS.
    pub(crate) const fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Self { grid, block, dynamic_lds: 0 }
    }

    /// A launch of the kernel under test.
    fn launch(self, kernarg: Vec<u8>, observed: bool) -> Launch {
        Launch {
            grid: self.grid,
            block: self.block,
            dynamic_lds: self.dynamic_lds,
            kernarg,
            record_masks: observed,
            record_steps: observed,
            ..Launch::new(KERNEL)
        }
    }
}

/// In which ways a kernel is instrumented.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ways {
    /// In each home at each level.
    Every,
    /// As most users have it, and one home at the level that is not the default.
    Turn(usize),
    /// Where no register is left, so that sites go through scratch memory.
    NoRegister,
}

/// Homes, each at its other level.
const TURNS: [Counters; 3] = [Counters::Register, Counters::Lds, Counters::Global];

/// A home, a level, and how many unused VGPRs and SGPRs may be taken.
type Way = (Counters, Level, [Option<u8>; 2]);

/// As in kernels that leave one VGPR unused, none, or no register at all.
const SHORT: [Way; 7] = [
    (Counters::Lds, Level::Lanes, [Some(1), None]),
    (Counters::Global, Level::Lanes, [Some(1), None]),
    (Counters::Global, Level::Lanes, [Some(0), None]),
    (Counters::Global, Level::Basic, [Some(1), None]),
    (Counters::Global, Level::Basic, [Some(0), None]),
    (Counters::Lds, Level::Lanes, [Some(0), Some(0)]),
    (Counters::Global, Level::Lanes, [Some(0), Some(0)]),
];

/// From here on, no register at all.
const NO_REGISTER: usize = 5;

impl Ways {
    fn list(self) -> Vec<Way> {
        let (basic, short): (&[Counters], &[Way]) = match self {
            Self::Every => (&TURNS, &SHORT[..3]),
            Self::Turn(number) => (&TURNS[number % TURNS.len()..][..1], &SHORT[number % SHORT.len()..][..1]),
            Self::NoRegister => (&[], &SHORT[NO_REGISTER..]),
        };
        let all =
            std::iter::once(Counters::Auto).chain(TURNS).map(|counters| (counters, Level::Lanes, [None; 2]));
        let basic = basic.iter().map(|&counters| (counters, Level::Basic, [None; 2]));
        all.chain(basic).chain(short.iter().copied()).collect()
    }

    /// Homes of forms that have the buffer's address in a variable.
    fn globals(self) -> Vec<Counters> {
        match self {
            Self::Every => TURNS.to_vec(),
            Self::Turn(number) => vec![TURNS[number % TURNS.len()]],
            Self::NoRegister => Vec::new(),
        }
    }

    /// Where blocks are counted.
    fn blocks(self) -> Vec<Way> {
        match self {
            Self::Every => TURNS
                .into_iter()
                .map(|counters| (counters, Level::Lanes, [None; 2]))
                .chain([(Counters::Register, Level::Basic, [None; 2])])
                .chain(SHORT[..3].iter().copied())
                .collect(),
            Self::Turn(number) => {
                let level = if number % 2 == 0 { Level::Lanes } else { Level::Basic };
                vec![(TURNS[number % TURNS.len()], level, [None; 2])]
            }
            Self::NoRegister => SHORT[NO_REGISTER..].to_vec(),
        }
    }

    /// Where times are kept.
    fn times(self) -> Vec<Counters> {
        const ALL: [Counters; 2] = [Counters::Auto, Counters::Global];
        match self {
            Self::Every => ALL.to_vec(),
            Self::Turn(number) => vec![ALL[number % ALL.len()]],
            Self::NoRegister => Vec::new(),
        }
    }
}

/// What was proved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) kernels: usize,
    pub(crate) runs: BTreeMap<Home, usize>,
    pub(crate) sites: usize,
    pub(crate) executions: u64,
    pub(crate) diverged: u64,
    /// Executions of instructions that stand in counted blocks.
    pub(crate) block_executions: u64,
    /// Waves whose time was measured.
    pub(crate) timed: usize,
    /// Runs of forms that have the buffer's address in a variable, which was zero.
    pub(crate) without_buffer: usize,
    /// Sites that were not asked for, in runs that did not ask for all.
    pub(crate) left_out: usize,
    /// Plans that refused the kernel, by the first reason.
    pub(crate) refused: BTreeMap<Reason, usize>,
    /// Instrumented runs in which sites borrowed SGPRs that were in use.
    pub(crate) borrowing: usize,
    /// Instrumented runs in which sites borrowed lanes of VGPRs, by how many VGPRs.
    pub(crate) lent: BTreeMap<u32, usize>,
    /// Instrumented runs, of blocks too, in which they went through scratch memory for that.
    pub(crate) through_scratch: usize,
    /// Plans that refused the kernel because it has too few registers to lend.
    pub(crate) too_small: usize,
    /// Bytes of the largest instrumented text.
    pub(crate) largest_text: usize,
}

impl Totals {
    pub(crate) fn add(&mut self, other: Self) {
        self.kernels += other.kernels;
        self.sites += other.sites;
        self.executions += other.executions;
        self.diverged += other.diverged;
        self.left_out += other.left_out;
        self.timed += other.timed;
        self.without_buffer += other.without_buffer;
        self.block_executions += other.block_executions;
        self.borrowing += other.borrowing;
        self.too_small += other.too_small;
        self.through_scratch += other.through_scratch;
        for (vgprs, runs) in other.lent {
            *self.lent.entry(vgprs).or_default() += runs;
        }
        self.largest_text = self.largest_text.max(other.largest_text);
        for (home, runs) in other.runs {
            *self.runs.entry(home).or_default() += runs;
        }
        for (reason, plans) in other.refused {
            *self.refused.entry(reason).or_default() += plans;
        }
    }

    /// Notes a refused plan.
    fn refuse(&mut self, reason: Reason, spare_vgprs: Option<u8>) {
        match reason {
            // It may be that the kernel has too few registers to borrow.
            Reason::NoFreeVgpr | Reason::NoFreeSgpr if spare_vgprs.is_some() => self.too_small += 1,
            _ => *self.refused.entry(reason).or_default() += 1,
        }
    }

    /// Every plan that was refused.
    pub(crate) fn refusals(&self) -> usize {
        self.refused.values().sum()
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} kernels, {} sites, {} site executions, {} diverged, {} sites left out, {} waves timed, {} instructions in blocks, {} runs without a buffer; instrumented runs: {:?}, {} of them borrowing SGPRs, lanes of VGPRs: {:?}, {} of them through scratch memory ({} times none to borrow); refused: {:?}; all equal",
            self.kernels,
            self.sites,
            self.executions,
            self.diverged,
            self.left_out,
            self.timed,
            self.block_executions,
            self.without_buffer,
            self.runs,
            self.borrowing,
            self.lent,
            self.through_scratch,
            self.too_small,
            self.refused
        )
    }
}

/// Compiles, runs and compares `source`.
pub(crate) fn prove(
    name: &str,
    source: &str,
    cpu: &str,
    level: &str,
    geometry: Geometry,
    ways: Ways,
) -> Totals {
    let object = compile(&with_prelude(source), cpu, level);
    prove_object(&format!("{name} {cpu} {level}"), &object, geometry, ways)
}

/// Addresses of what runs when a wave has given its vector registers back, but for the end itself: its time
/// is read before that.
fn behind_the_last_reading(object: &CodeObject) -> BTreeSet<u64> {
    let program = Program::new(object);
    let blocks = program.functions.iter().flat_map(|function| &function.blocks);
    let insts = blocks.flat_map(|block| program.last_with_registers(block)..block.insts.end - 1);
    insts.map(|index| program.insts[index].pc).collect()
}

/// What a kernel leaves in memory.
pub(crate) fn memory_after(context: &str, object: &CodeObject, geometry: Geometry) -> Vec<u8> {
    let (mut machine, kernarg, out) = fresh(object);
    launch(&mut machine, object, kernarg, geometry, false)
        .unwrap_or_else(|fault| panic!("{context}: {fault}"));
    contents(&machine, out)
}

/// Instruments a kernel with preloaded arguments in each home and runs it from both of its entries: that of
/// hardware which preloads, and that of firmware which does not, where the kernel loads its arguments itself.
/// Memory and counters must be those of the original. Returns how many site executions were counted.
pub(crate) fn both_entries(context: &str, object: &CodeObject, geometry: Geometry) -> u64 {
    let expected = memory_after(context, object, geometry);
    let mut executions = 0;
    for counters in TURNS {
        let options = Options { counters, ..Options::default() };
        let plan = plan(object, &options).unwrap_or_else(|error| panic!("{context}: {error}"));
        let instrumented = apply(object, plan).unwrap_or_else(|error| panic!("{context}: {error}"));
        let probes = instrumented.map.kernel(KERNEL).expect("the kernel in the map");
        let preloading = CodeObject::parse(instrumented.bytes.clone()).expect("the instrumented code object");
        let mut other = preloading.clone();
        for kernel in &mut other.kernels {
            // `KERNARG_PRELOAD`, which such firmware does not look at.
            kernel.descriptor.bytes[58..60].fill(0);
        }
        let [ours, theirs] = [&preloading, &other].map(|object| {
            let (blank, kernarg, out) = fresh(object);
            let (machine, records) = counted(&blank, object, probes, &kernarg, geometry)
                .unwrap_or_else(|fault| panic!("{context} {counters:?}: {fault}"));
            assert!(contents(&machine, out) == expected, "{context} {counters:?}: memory differs");
            records
        });
        assert_eq!(ours, theirs, "{context} {counters:?}");
        executions += ours.iter().flat_map(|record| &record.sites).map(|site| site.executions).sum::<u64>();
    }
    executions
}

/// Runs and compares a kernel.
pub(crate) fn prove_object(context: &str, object: &CodeObject, geometry: Geometry, ways: Ways) -> Totals {
    let (mut machine, kernarg, out) = fresh(object);
    let blank = machine.clone();
    let original = launch(&mut machine, object, kernarg.clone(), geometry, true)
        .unwrap_or_else(|fault| panic!("{context}: the original: {fault}"));
    let expected = contents(&machine, out);
    let other = other_machine(context, object, geometry, &expected);

    let mut totals = Totals { kernels: 1, ..Totals::default() };
    let bench =
        Bench { object, blank: &blank, other: &other, kernarg: &kernarg, out, geometry, expected: &expected };
    let all = ways.list().into_iter().map(|way| (way, false, Abi::Argument));
    let plain = |counters| (counters, Level::Lanes, [None; 2]);
    let selecting = [(plain(Counters::Auto), true, Abi::Argument)];
    let global = ways.globals().into_iter().map(|counters| (plain(counters), false, Abi::Global));
    for ((counters, level, spare), selects, abi) in all.chain(selecting).chain(global) {
        let context =
            format!("{context} {counters:?} {level:?} spare registers: {spare:?} selects: {selects} {abi:?}");
        let only = if selects { every_other_line(object) } else { Vec::new() };
        let options = Options {
            counters,
            level,
            abi,
            only: only.clone(),
            spare_vgprs: spare[0],
            spare_sgprs: spare[1],
            ..Options::default()
        };
        let plan = plan(object, &options).unwrap_or_else(|error| panic!("{context}: {error}"));
        let probes = plan.kernels().iter().find(|kernel| kernel.name == KERNEL).expect("the kernel");
        if let Some(refusal) = probes.refusals.first().filter(|_| !probes.is_instrumented()) {
            println!("{context}: refused: {:?}: {}", refusal.reason, refusal.detail);
            totals.refuse(refusal.reason, spare[0]);
            bench.unchanged(&context, plan);
            continue;
        }
        check_explained(&context, probes, &original);
        check_selected(&context, probes, &only);
        totals.left_out += probes.left_out.len();
        if !probes.is_instrumented() {
            assert!(probes.sites.is_empty(), "{context}: not instrumented: {}", probes.why);
            continue;
        }
        let Some((probes, records)) = bench.measured(&context, &options, &mut totals) else { continue };
        totals.sites += probes.sites.len();
        totals.borrowing += usize::from(probes.cost.borrowed_sgprs > 0);
        if probes.cost.borrowed_vgprs > 0 {
            *totals.lent.entry(probes.cost.borrowed_vgprs).or_default() += 1;
        }
        let saw: BTreeMap<(u64, u64), _> =
            original.masks.iter().map(|record| ((record.wave, record.pc), record)).collect();
        for (wave, record) in (0..).zip(&records) {
            assert!(record.flushed, "{context}: wave {wave} did not write its record");
            for site in &probes.sites {
                let counts = &record.sites[site.id as usize];
                let native =
                    saw.get(&(wave, site.pc)).map_or_else(SiteCounts::default, |record| SiteCounts {
                        executions: record.writes,
                        all: record.all,
                        none: record.none,
                        lanes_in: if level == Level::Lanes { record.lanes_in } else { 0 },
                        lanes_taken: if level == Level::Lanes { record.lanes_out } else { 0 },
                    });
                assert_eq!(
                    *counts, native,
                    "{context}: wave {wave}, site {} at {:#x}: {}",
                    site.id, site.pc, site.instruction
                );
                totals.executions += counts.executions;
                totals.diverged += counts.diverged();
            }
        }
    }
    for (counters, level, [spare_vgprs, spare_sgprs]) in ways.blocks() {
        let context = format!(
            "{context} blocks {counters:?} {level:?} spare registers: {spare_vgprs:?} {spare_sgprs:?}"
        );
        let options =
            Options { probe: Probe::Blocks, counters, level, spare_vgprs, spare_sgprs, ..Options::default() };
        let Some((probes, records)) = bench.measured(&context, &options, &mut totals) else { continue };
        let native = native_blocks(&original.steps, 0..records.len() as u64);
        totals.block_executions += original.steps.iter().map(|step| step.executions).sum::<u64>();
        assert!(!probes.blocks.is_empty(), "{context}");
        let is_refused = |pc: u64| probes.refusals.iter().any(|refusal| refusal.has_block_of(pc));
        // Every instruction that ran is in a block that is not refused, and did what the block counted.
        for (wave, (record, native)) in records.iter().zip(&native).enumerate() {
            assert!(record.flushed, "{context}: wave {wave} did not write its record");
            for (pc, seen) in native {
                let mut of = probes.blocks.iter().filter(|block| (block.pc..block.end_pc).contains(pc));
                let Some(block) = of.next() else {
                    assert!(is_refused(*pc), "{context}: {pc:#x} is in no block");
                    continue;
                };
                assert!(!is_refused(*pc), "{context}: {pc:#x} is in a block, and refused");
                assert!(of.next().is_none(), "{context}: {pc:#x} is in two blocks");
                let counted = record.blocks[block.id as usize];
                assert_eq!(counted.executions, seen.executions, "{context}: wave {wave}, {pc:#x}");
                if (block.lanes_pcs[0]..block.lanes_pcs[1]).contains(pc) {
                    let lanes = if level == Level::Lanes { seen.lanes } else { 0 };
                    assert_eq!(counted.lanes, lanes, "{context}: wave {wave}, {pc:#x}");
                }
            }
            let expected = native.iter().filter(|(pc, _)| !is_refused(**pc));
            let ran: u64 = expected.map(|(_, seen)| seen.executions).sum();
            let counted: u64 = probes
                .blocks
                .iter()
                .map(|block| record.blocks[block.id as usize].executions * u64::from(block.instructions))
                .sum();
            assert_eq!(counted, ran, "{context}: wave {wave}: instructions that ran");
        }
    }
    for counters in ways.times() {
        let context = format!("{context} time {counters:?}");
        let options = Options { probe: Probe::Time, counters, ..Options::default() };
        let Some((probes, records)) = bench.measured(&context, &options, &mut totals) else { continue };
        assert!(probes.sites.is_empty() && probes.refusals.is_empty(), "{context}");
        let mut ran: BTreeMap<u64, u64> = BTreeMap::new();
        let behind = behind_the_last_reading(object);
        for step in original.steps.iter().filter(|step| !behind.contains(&step.pc)) {
            *ran.entry(step.wave).or_default() += step.executions;
        }
        let mut overheads = BTreeSet::new();
        for (wave, record) in (0..).zip(&records) {
            assert!(record.flushed, "{context}: wave {wave} did not write its record");
            // The emulator's clock: a tick an instruction, 64 for the second reading.
            let ticks = record.time.expect("times").ticks();
            let expected = ran[&wave] + 64;
            overheads.insert(ticks.checked_sub(expected).unwrap_or_else(|| {
                panic!("{context}: wave {wave} ran {ticks} ticks, at least {expected} are right")
            }));
            totals.timed += 1;
        }
        // What the probe itself runs between its readings is little.
        assert!(overheads.last().is_none_or(|&most| most <= 24), "{context}: {overheads:?}");
    }
    totals
}

/// A machine that looks for races, and where other values stand in what is not initialised. The kernel must
/// leave the same memory on it, with probes or without.
fn other_machine(context: &str, object: &CodeObject, geometry: Geometry, expected: &[u8]) -> Machine {
    let mut config = Config::default();
    config.check_races = true;
    config.uninitialised = Uninitialised(0);
    let (other, kernarg, out) = fresh_with(object, config);
    let mut machine = other.clone();
    launch(&mut machine, object, kernarg, geometry, false)
        .unwrap_or_else(|fault| panic!("{context}: the original, looked at for races: {fault}"));
    assert!(contents(&machine, out) == expected, "{context}: the original uses what is not initialised");
    other
}

/// A kernel, what it is launched with, and what it must leave.
struct Bench<'a> {
    object: &'a CodeObject,
    blank: &'a Machine,
    /// See [`other_machine`].
    other: &'a Machine,
    kernarg: &'a [u8],
    out: u64,
    geometry: Geometry,
    expected: &'a [u8],
}

impl Bench<'_> {
    /// What is refused runs as it did, beside others that are instrumented.
    fn unchanged(&self, context: &str, plan: Plan) {
        if plan.kernels().iter().all(|kernel| !kernel.is_instrumented() || kernel.name == KERNEL) {
            return;
        }
        let instrumented = apply(self.object, plan).unwrap_or_else(|error| panic!("{context}: {error}"));
        let rewritten = CodeObject::parse(instrumented.bytes).expect("the instrumented code object");
        for machine in [self.blank, self.other] {
            let mut machine = machine.clone();
            let execution = launch(&mut machine, &rewritten, self.kernarg.to_vec(), self.geometry, true)
                .unwrap_or_else(|fault| panic!("{context}: the refused kernel: {fault}"));
            assert!(
                contents(&machine, self.out) == self.expected,
                "{context}: memory of the refused kernel differs"
            );
            for step in execution.steps {
                assert!(
                    instrumented.map.original_pc(step.pc).is_some(),
                    "{context}: {:#x} has no place",
                    step.pc
                );
            }
        }
    }

    /// Instruments and runs the kernel, and compares memory. `None` if it is refused.
    fn measured(
        &self,
        context: &str,
        options: &Options,
        totals: &mut Totals,
    ) -> Option<(KernelProbes, Vec<WaveRecord>)> {
        let plan = plan(self.object, options).unwrap_or_else(|error| panic!("{context}: {error}"));
        let probes = plan.kernels().iter().find(|kernel| kernel.name == KERNEL).expect("the kernel");
        if !probes.is_instrumented() {
            println!("{context}: refused: {:?}", probes.refusals);
            let refusal = probes.refusals.first().unwrap_or_else(|| panic!("{context}: {}", probes.why));
            totals.refuse(refusal.reason, options.spare_vgprs);
            return None;
        }
        let instrumented =
            apply(self.object, plan.clone()).unwrap_or_else(|error| panic!("{context}: {error}"));
        let again = apply(self.object, plan).expect("a second time");
        assert_eq!(instrumented.bytes, again.bytes, "{context}: not deterministic");
        let probes = instrumented.map.kernel(KERNEL).expect("the kernel in the map");
        let rewritten = CodeObject::parse(instrumented.bytes.clone()).expect("the instrumented code object");
        totals.largest_text = totals.largest_text.max(rewritten.text.range.len());
        *totals.runs.entry(probes.home.expect("a home")).or_default() += 1;
        let [scratch, scratch_after] = probes.cost.scratch;
        totals.through_scratch += usize::from(scratch != scratch_after);

        let (machine, records) = counted(self.blank, &rewritten, probes, self.kernarg, self.geometry)
            .unwrap_or_else(|fault| panic!("{context}: the instrumented kernel: {fault}"));
        assert!(contents(&machine, self.out) == self.expected, "{context}: memory differs");
        let (machine, again) = counted(self.other, &rewritten, probes, self.kernarg, self.geometry)
            .unwrap_or_else(|fault| {
                panic!("{context}: the instrumented kernel, looked at for races: {fault}")
            });
        assert!(contents(&machine, self.out) == self.expected, "{context}: memory differs");
        assert!(options.probe == Probe::Time || again == records, "{context}: counters differ");
        if options.abi == Abi::Global {
            // Arguments as they were, and nobody has set the variable.
            let before = self.object.kernel(KERNEL).expect("the kernel").metadata.kernarg_segment_size;
            assert_eq!(probes.kernarg_segment_size, before, "{context}");
            let mut machine = self.blank.clone();
            launch(&mut machine, &rewritten, self.kernarg.to_vec(), self.geometry, false)
                .unwrap_or_else(|fault| panic!("{context}: without a buffer: {fault}"));
            assert!(contents(&machine, self.out) == self.expected, "{context}: without a buffer");
            totals.without_buffer += 1;
        }
        Some((probes.clone(), records))
    }
}

/// Of the source lines with sites of the kernel every other one.
fn every_other_line(object: &CodeObject) -> Vec<SiteSelector> {
    let options = Options { kernels: Some(vec![KERNEL.to_owned()]), ..Options::default() };
    let Ok(plan) = plan(object, &options) else { return Vec::new() };
    let kernel = &plan.kernels()[0];
    let lines: BTreeSet<u32> =
        kernel.sites.iter().filter_map(|site| kernel.frames(site.place).first()?.line).collect();
    let selector =
        |line| SiteSelector::Lines(SourceLines { file: "kernel.cl".to_owned(), first: line, last: line });
    lines.into_iter().step_by(2).map(selector).collect()
}

/// Exactly the sites on the lines that were asked for are counted.
fn check_selected(context: &str, probes: &KernelProbes, only: &[SiteSelector]) {
    let asked_for = |frames: &[SiteFrame]| {
        only.is_empty()
            || only.iter().any(|selector| match selector {
                SiteSelector::Lines(lines) => frames.iter().any(|frame| frame.line == Some(lines.first)),
                SiteSelector::Probe(_) => false,
            })
    };
    assert!(
        probes.sites.iter().all(|site| asked_for(&probes.frames(site.place))),
        "{context}: counted, not asked for"
    );
    assert!(
        !probes.left_out.iter().any(|site| asked_for(&probes.frames(site.place))),
        "{context}: left out, asked for"
    );
}

/// Runs an instrumented kernel on a copy of a machine: the machine after it, and what each wave counted.
pub(super) fn counted(
    blank: &Machine,
    object: &CodeObject,
    probes: &KernelProbes,
    kernarg: &[u8],
    geometry: Geometry,
) -> Result<(Machine, Vec<WaveRecord>), CountingError> {
    let mut machine = blank.clone();
    let program = machine.load(object).expect("loading");
    let launch = geometry.launch(kernarg.to_vec(), false);
    let (layout, all) = (probes.layout(geometry.grid, geometry.block), 0..launch.workgroups());
    let counting = Counting::new(&mut machine, &program, probes, &layout, all.end)?;
    let original = Execution { threads: launch.threads, ..Execution::default() };
    let counted = counting.launch(&mut machine, &program, &launch, &all, &original)?;
    Ok((machine, counted.records))
}

/// Every pc at which lanes went away is a site, or known to be something else.
fn check_explained(context: &str, probes: &KernelProbes, original: &Execution) {
    for record in original.masks.iter().filter(|record| record.narrowed > 0) {
        let is_site = probes.sites.iter().any(|site| site.pc == record.pc);
        let explained = probes.explained_pcs().any(|pc| pc == record.pc);
        assert!(is_site || explained, "{context}: lanes went away at {:#x}, which is no site", record.pc);
    }
}

/// A machine with the buffers, the explicit arguments, and the address of the output.
pub(super) fn fresh(object: &CodeObject) -> (Machine, Vec<u8>, u64) {
    fresh_with(object, Config::default())
}

fn fresh_with(object: &CodeObject, config: Config) -> (Machine, Vec<u8>, u64) {
    let mut machine = Machine::new(object.target.arch, config);
    let mut buffer = |label: &str, values: &[u32]| {
        let bytes = bytes_of(values);
        let address = machine.alloc(bytes.len() as u64, 16, label).expect("allocating");
        machine.write(address, &bytes).expect("writing");
        address
    };
    let out = buffer("out", &[0; ELEMENTS]);
    // Small, uneven numbers, so that branches go all ways.
    let values: Vec<u32> = (0..ELEMENTS as u32).map(|i| i.wrapping_mul(2_654_435_761) >> 27).collect();
    let input = buffer("in", &values);
    let mut kernarg = [out.to_le_bytes(), input.to_le_bytes()].concat();
    kernarg.extend(150u32.to_le_bytes());
    (machine, kernarg, out)
}

pub(super) fn launch(
    machine: &mut Machine,
    object: &CodeObject,
    kernarg: Vec<u8>,
    geometry: Geometry,
    observed: bool,
) -> Result<Execution, Fault> {
    let program = machine.load(object).expect("loading");
    machine.launch(&program, &geometry.launch(kernarg, observed))
}

fn contents(machine: &Machine, address: u64) -> Vec<u8> {
    let mut bytes = vec![0; 4 * ELEMENTS];
    machine.read(address, &mut bytes).expect("reading");
    bytes
}
