//! Results that depend on values which nothing has written.
//!
//! A launch gives the same whatever registers, LDS and scratch memory held before it, unless the kernel uses
//! what it has not written. So two launches from the same memory, which find two different dwords there, are
//! compared. A difference is no matter of opinion: compilers read undefined registers, spill them and select
//! them away, but what they make of it reaches no result. So no definedness is tracked.
//!
//! Where there is one, more launches find out what the value came from: which of the three it depends on, who
//! stored it, and where LDS was read that nobody had written.
//!
//! # Which launches are compared
//! A test has two launches anyway. The instrumented kernel finds zeros, the original another dword. A kernel
//! that is not instrumented is launched again, if it has LDS or scratch memory. Of a long launch some
//! workgroups are, with each of the two dwords (`sample`). If memory differs, the
//! original runs with each dword, its workgroups in order: this tells the probes' doing and that of threads
//! apart. Three more runs change LDS, scratch or registers alone, and one traces stores and reads of LDS to
//! find the lines.
//!
//! If only counters differ, the instrumented kernel runs once more with the original's dword. A branch on an
//! undefined value that changes no memory is one that compilers may make. A fault that does not happen with
//! the other dword says so.
//!
//! By default the dword is a NaN of 16, 32 and 64 bits, as zeros would hide the mistake. Every kernel of the
//! transparency tests, original and instrumented, must leave the same memory and counters with zeros there:
//! so nothing inserted depends on a register or a dword that it has not written.

use std::sync::{Arc, Mutex, PoisonError};

use super::checked::LONGEST;
use super::{Effort, Launch, Patterns, Sample, Shared, prepare, run};
use crate::check::{Earlier, Fault, FaultKind, MemorySpace};
use crate::config::{Config, Uninitialised};
use crate::memory::{Copied, Memory};
use crate::program::Program;
use crate::record::{Execution, Sampled};
use crate::watch::{Look, Trace};
use crate::wave::UnwrittenRead;

/// How often memory is copied to compare two launches.
const COPIES: u64 = 6;

/// Compares what a launch from the memory `before` has left in memory with what it leaves if another dword
/// stands for what is not written. Memory is what it was then. Where that takes too long (`Effort`), it is
/// done with some of the workgroups, which run once more with each of the two; how many they are is returned
/// then. A launch that ends with a fault shows nothing.
///
/// # Errors
/// A difference.
pub(crate) fn find(
    memory: &mut Memory,
    config: &Config,
    program: &Program,
    launch: &Launch,
    execution: &Execution,
    before: &Copied,
    effort: &mut Effort,
) -> Result<Option<Sampled>, Fault> {
    let quick = Config { check_races: false, ..config.clone() };
    let (here, there) = (config.uninitialised, config.uninitialised.other());
    let groups: u64 = launch.grid.iter().map(|size| u64::from(*size)).product();
    // Back and forth, for a launch with either dword and for what was there.
    let copies = Effort::of_copies(memory.bytes_to_copy(), COPIES);
    let (all, most) = (execution.wave_instructions, effort.may_run_again(&launch.kernel, copies));
    let average = (all / groups).max(1);
    let sample = (!config.thorough && all > most).then(|| Sample::new(groups, most / 2 / average));
    if sample.is_some_and(|sample| sample.len() == 0) {
        return Ok(sample.map(Sample::told));
    }
    let again = sample.map_or(all, |sample| 2 * average * sample.len());
    effort.ran_again(&launch.kernel, again.saturating_add(copies));
    let first = memory.copy();
    let mut outcome = |patterns: Patterns, ordered: bool, look: Look| {
        memory.restore(before);
        let ended = prepare(memory, &quick, program, launch, |shared| {
            let in_order = shared.in_order || ordered;
            // One of a sample may wait for another that is not in it.
            let longest = if sample.is_some() { LONGEST.saturating_mul(average) } else { u64::MAX };
            let budget = shared.budget.min(longest);
            run(&Shared { patterns, look, in_order, sample, budget, ..shared }).map(drop)
        });
        (ended.is_ok(), memory.copy())
    };
    let alike = Patterns::alike(here);
    let of_sample = sample.map(|_| outcome(alike, false, Look::Not));
    let (fine, other) = outcome(Patterns::alike(there), false, Look::Not);
    let (fine, ours) = match &of_sample {
        Some((also, ours)) => (fine && *also, ours),
        None => (fine, &first),
    };
    let differs = fine && ours.difference(&other).is_some();
    // Where workgroups race, threads may make a difference.
    let ordered =
        differs.then(|| [here, there].map(|dword| outcome(Patterns::alike(dword), true, Look::Not).1));
    let difference = ordered.as_ref().and_then(|[ours, theirs]| ours.difference(theirs));
    let found = difference.map(|address| {
        let space = [
            (Some(MemorySpace::Lds), Patterns { lds: there, ..alike }),
            (Some(MemorySpace::Scratch), Patterns { scratch: there, ..alike }),
            (None, Patterns { registers: there, ..alike }),
        ]
        .into_iter()
        .find(|(_, patterns)| {
            let (fine, left) = outcome(*patterns, true, Look::Not);
            let ours = ordered.as_ref().map(|[ours, _]| ours);
            fine && ours.and_then(|ours| ours.difference(&left)) == Some(address)
        });
        let trace = Arc::new(Mutex::new(Trace::new(address)));
        outcome(alike, true, Look::Trace(trace.clone()));
        // Only the other launch has stored there.
        if trace.lock().unwrap_or_else(PoisonError::into_inner).last.is_none() {
            outcome(Patterns::alike(there), true, Look::Trace(trace.clone()));
        }
        (address, space.and_then(|(space, _)| space), trace)
    });
    memory.restore(&first);
    let Some((address, space, trace)) = found else {
        let none = |sample: Sample| Sampled { workgroups: 0, ..sample.told() };
        return Ok(sample.map(if fine { Sample::told } else { none }));
    };
    let trace = trace.lock().unwrap_or_else(PoisonError::into_inner);
    Err(fault(memory, program, launch, here, address, space, &trace))
}

/// Whether a launch that has ended with a fault ends otherwise if what is not written is another dword.
pub(crate) fn is_cause(
    memory: &mut Memory,
    config: &Config,
    program: &Program,
    launch: &Launch,
    before: &Copied,
    effort: &Effort,
    fault: &Fault,
) -> bool {
    // To find that an endless loop ends would take as long again.
    if matches!(fault.kind, FaultKind::Budget { .. } | FaultKind::Stopped | FaultKind::BadDispatch(_)) {
        return false;
    }
    let after = memory.copy();
    memory.restore(before);
    let config = Config { uninitialised: config.uninitialised.other(), ..config.clone() };
    let other = super::launch(memory, &config, program, launch, Some(before), &mut effort.clone());
    memory.restore(&after);
    // What the lane held has the dword in it wherever the kernel leaves it alone.
    let told = |fault: &Fault| Fault { lane_state: None, waves: Vec::new(), ..fault.clone() };
    other.as_ref().err().map(told) != Some(told(fault))
}

/// What is told of a value at `address`.
fn fault(
    memory: &Memory,
    program: &Program,
    launch: &Launch,
    pattern: Uninitialised,
    address: u64,
    space: Option<MemorySpace>,
    trace: &Trace,
) -> Fault {
    let in_group = u64::from(launch.waves_per_group(program.target.wave).max(1));
    let (address, size) =
        trace.last.as_ref().map_or((address, 1), |store| (store.address, store.bytes as u32));
    let mut bytes = [0; 4];
    let whole = size.is_multiple_of(4) && memory.read(address, &mut bytes).is_ok();
    // Zero stands for much else.
    let holds = (whole && pattern.0 != 0 && u32::from_le_bytes(bytes) == pattern.0).then_some(pattern.0);
    let inside = memory.inside(address);
    let kind = FaultKind::Unwritten { space, address, size, inside, holds };
    let mut fault = Fault::dispatch(&launch.kernel, String::new());
    fault.kind = kind;
    let Some(store) = &trace.last else { return fault };
    let step = &program.steps[store.step as usize];
    fault.workgroup = launch.workgroup(store.wave / in_group);
    fault.wave = (store.wave % in_group) as u32;
    fault.lane = store.lane.and_then(|lane| u8::try_from(lane).ok());
    fault.pc = Some(program.pc(step));
    fault.instruction = program.text_of(step);
    let pc = |step: &u32| program.pc(&program.steps[*step as usize]);
    fault.calls = store.calls.iter().map(pc).collect();
    // A read by the wave that stored is the likelier one.
    let same = |read: &&UnwrittenRead| u64::from(read.wave) == store.wave % in_group;
    let read = trace.reads.iter().find(same).or(trace.reads.first());
    let read = read.filter(|_| space == Some(MemorySpace::Lds));
    fault.earlier = read.and_then(|read| program.steps.get(read.step as usize)).map(|step| {
        Box::new(Earlier { pc: program.pc(step), instruction: program.text_of(step), calls: Vec::new() })
    });
    fault
}
