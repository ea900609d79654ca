//! Launches that are looked through: for races, or for memory that makes the order of workgroups matter. A
//! quick scan comes first (`races/scan`).
//!
//! Where it has found what may be a race, each access is looked at by itself, which takes many times as long
//! as the launch. Unless all is asked for ([`Config::thorough`]), it is at the accesses to dwords that clash,
//! on which every other launch agrees with it, and goes as far as [`Effort`] does.
//!
//! With [`Config::deterministic`] the scan looks at workgroups, at loads that pass the vector cache, too: a
//! launch in which one workgroup writes what another accesses runs again from a copy of the memory before it,
//! in order, on one thread. One thread needs no scan, but where its clashes are to be told
//! ([`Config::tells_clashes`]). Launches that run in order on any number of threads need none at all.

use std::sync::Arc;

use super::group::Group;
use super::{Effort, Launch, Sample, Shared, Unobserved, prepare, run, threads};
use crate::check::{Fault, FaultKind};
use crate::config::Config;
use crate::memory::{Copied, Memory};
use crate::program::Program;
use crate::races::{Clashes, Found, Noted, ScanLaunch, Scope};
use crate::record::{Execution, Sampled};
use crate::watch::Look;

/// How often a scan may begin again.
const SCANS: usize = 8;

/// Runs a kernel, of which races are faults if that is asked for, and whose result does not depend on the
/// number of threads. `before` is what memory holds now, if there is a copy.
pub(super) fn launch(
    memory: &mut Memory,
    config: &Config,
    program: &Program,
    launch: &Launch,
    before: Option<&Copied>,
    effort: &mut Effort,
) -> Result<Execution, Fault> {
    let quick = Config { check_races: false, deterministic: false, ..config.clone() };
    if !config.check_races {
        let mark = memory.runtime_mark();
        let alone = prepare(memory, &quick, program, launch, |shared| {
            let shared = Shared { in_order: shared.in_order || shared.has_unseen, ..shared };
            let running = shared.running();
            let is_one = running.end.saturating_sub(running.start) <= 1;
            let needs_none = shared.in_order || is_one || !config.tells_clashes && threads(&shared)? == 1;
            Ok(if needs_none { Some(run(&shared)) } else { None })
        })?;
        if let Some(outcome) = alone {
            return outcome.inspect(|execution| effort.add(execution));
        }
        // Nothing has run, and what runs finds what one thread finds.
        memory.rewind_runtime(mark);
    }
    let copied;
    let before = match before {
        Some(before) => before,
        None => {
            copied = memory.copy();
            &copied
        }
    };
    if config.check_races
        && config.thorough
        && let Some(fault) = endless(memory, config, &quick, program, launch, before)
    {
        return Err(fault);
    }
    let scope = if config.check_races { Scope::Waves } else { Scope::Workgroups };
    let mut noted = Noted::default();
    let mut waits = false;
    let mut alone = false;
    for _ in 0..SCANS {
        let mut found = Found::Clash;
        let mut clashes = Clashes::default();
        let outcome = prepare(memory, &quick, program, launch, |shared| {
            let (groups, waves) = (shared.groups(), shared.waves_per_group);
            // A load that passes the vector cache is no part of a race, but what it finds depends on the
            // order.
            let all = config.deterministic;
            let scan = ScanLaunch::new(shared.memory, &noted, groups, waves, scope, all);
            alone = !config.check_races && threads(&shared)? == 1;
            let ends = !alone && (!config.check_races || config.thorough);
            let scan = Arc::new(scan.ending_with_clash(ends));
            let in_order = shared.in_order || waits || all && shared.has_unseen;
            let outcome = run(&Shared { look: Look::Scan(scan.clone()), in_order, ..shared });
            found = scan.found();
            clashes = scan.clashes();
            outcome
        });
        if config.is_stopped() {
            return outcome;
        }
        match (found, outcome) {
            // Workgroups went one after another: what comes of it is what comes of any number of threads.
            (found @ (Found::Clash | Found::Nothing), outcome) if alone => {
                let execution = Execution { clash: matches!(found, Found::Clash), ..outcome? };
                effort.add(&execution);
                return Ok(execution);
            }
            (Found::Nothing, Ok(execution)) => {
                effort.add(&execution);
                return Ok(execution);
            }
            (Found::Clash, Ok(execution)) if config.check_races && !config.thorough => {
                effort.add(&execution);
                // What workgroups leave that ran one after another is the one result there is.
                let is_result = !config.deterministic || execution.threads == 1;
                let groups = launch.grid.iter().map(|size| u64::from(*size)).product();
                let copies = Effort::of_copies(memory.bytes_to_copy(), COPIES);
                if effort.may_look_at(&launch.kernel, copies) == 0 {
                    let sampled = Some(Sampled { workgroups: 0, of: groups });
                    let execution = match is_result {
                        true => execution,
                        false => in_order(memory, &quick, program, launch, before)?,
                    };
                    return Ok(Execution { sampled, ..execution });
                }
                let after = is_result.then(|| memory.copy());
                memory.restore(before);
                // Between slices it is seen how far it goes.
                let config = Config { time_slice: quick.time_slice.min(SLICE), ..quick.clone() };
                let looked = prepare(memory, &config, program, launch, |shared| {
                    look(shared, clashes, execution.wave_instructions, copies, effort)
                })?;
                let execution = match &after {
                    Some(after) => {
                        memory.restore(after);
                        execution
                    }
                    None => in_order(memory, &quick, program, launch, before)?,
                };
                let sampled = (looked.sampled.workgroups < looked.sampled.of).then_some(looked.sampled);
                return Ok(Execution { sampled, doubts: looked.doubts, ..execution });
            }
            (Found::Wait, _) => {
                memory.restore(before);
                waits = true;
            }
            (Found::UnnotedReads(more), _) => {
                memory.restore(before);
                noted.extend(more);
            }
            // An endless loop would be one for much longer.
            (_, Err(fault)) if !config.thorough && is_endless(&fault.kind) => {
                memory.restore(before);
                return prepare(memory, &quick, program, launch, |shared| {
                    run(&Shared { in_order: true, ..shared })
                });
            }
            // Which of a race and another fault comes first, a run of one workgroup after another tells.
            (Found::Clash | Found::Nothing, _) => break,
        }
    }
    let config = if config.check_races { config } else { &quick };
    in_order(memory, config, program, launch, before)
}

/// The fault of a launch that never ends, which would not for much longer if all of it were looked at: a race
/// in its first rounds, or that it does not end, or that it was stopped meanwhile. Nothing, and memory as it
/// was, if it ends.
fn endless(
    memory: &mut Memory,
    config: &Config,
    quick: &Config,
    program: &Program,
    launch: &Launch,
    before: &Copied,
) -> Option<Fault> {
    let cut_short = |memory: &mut Memory, budget: u64| {
        let outcome = prepare(memory, quick, program, launch, |shared| {
            run(&Shared { budget: shared.budget.min(budget), in_order: true, ..shared })
        });
        memory.restore(before);
        outcome.err().filter(|fault| is_endless(&fault.kind) || fault.kind == FaultKind::Stopped)
    };
    let fault = cut_short(memory, SUSPECT)?;
    if matches!(fault.kind, FaultKind::Stopped) {
        return Some(fault);
    }
    let looked = prepare(memory, config, program, launch, first_rounds);
    memory.restore(before);
    match looked.err() {
        // Of workgroups that are stopped the first is told, and that goes round.
        Some(Fault { kind: FaultKind::Stopped, .. }) => Some(Fault { kind: FaultKind::Stopped, ..fault }),
        Some(race) => Some(race),
        None => cut_short(memory, u64::MAX),
    }
}

/// Whether a launch did not end, or not within its budget.
const fn is_endless(kind: &FaultKind) -> bool {
    matches!(kind, FaultKind::Budget { .. } | FaultKind::Endless { .. })
}

/// Looks at the first accesses of the first workgroups.
///
/// # Errors
/// A race, or that the launch was stopped.
fn first_rounds(shared: Shared<'_>) -> Result<(), Fault> {
    let shared = Shared { budget: shared.budget.min(ROUNDS), in_order: true, ..shared };
    let mut group = Group::new(&shared);
    for index in 0..shared.groups().min(FIRST) {
        match group.run(&shared, index, &mut Unobserved) {
            Err(fault) if ends_the_look(&fault.kind) => return Err(*fault),
            _ => {}
        }
    }
    Ok(())
}

/// Whether a fault of a workgroup that is looked at by itself is one of the launch: what else goes wrong,
/// workgroups that are missing may be the reason for.
fn ends_the_look(kind: &FaultKind) -> bool {
    matches!(kind, FaultKind::Race { .. } | FaultKind::LaneRace { .. } | FaultKind::Stopped)
}

/// Runs a launch again whose workgroups clash: one after another, from a copy of the memory before it.
fn in_order(
    memory: &mut Memory,
    config: &Config,
    program: &Program,
    launch: &Launch,
    before: &Copied,
) -> Result<Execution, Fault> {
    memory.restore(before);
    prepare(memory, config, program, launch, |shared| {
        let execution = run(&Shared { in_order: true, ..shared })?;
        Ok(Execution { clash: true, ..execution })
    })
}

/// How often memory is copied for a second look.
const COPIES: u64 = 3;

/// Steps of a time slice where accesses are looked at.
const SLICE: u64 = 1 << 12;

/// Wave-instructions of a workgroup that may never end.
const SUSPECT: u64 = 1 << 22;

/// Workgroups of a launch that may never end whose accesses are looked at by themselves.
const FIRST: u64 = 16;

/// Wave-instructions of each of those.
const ROUNDS: u64 = 1 << 16;

/// How many times the instructions of an average workgroup one of a sample runs, at most: one may wait for
/// another that is not in it.
pub(super) const LONGEST: u64 = 4;

/// What was looked at, and what may be a race.
struct Looked {
    sampled: Sampled,
    doubts: Vec<Fault>,
}

/// Looks at the accesses of some workgroups to what clashes, as far as it goes. All workgroups have `all`
/// wave-instructions; copying memory takes `copies`.
///
/// # Errors
/// A race. What else goes wrong is put down to the workgroups that are missing: the whole launch has come to
/// its end.
fn look(
    shared: Shared<'_>,
    clashes: Clashes,
    all: u64,
    copies: u64,
    effort: &mut Effort,
) -> Result<Looked, Fault> {
    let groups = shared.groups();
    let average = (all / groups).max(1);
    let kernel = &shared.launch.kernel;
    let most = effort.may_look_at(kernel, copies);
    let sample = Sample::new(groups, most.div_ceil(average));
    let budget = if sample.len() < groups { LONGEST.saturating_mul(average) } else { u64::MAX };
    let clashes = Arc::new(clashes);
    let mut shared = shared.looking(Some(clashes.clone()));
    let budget = budget.min(shared.budget);
    let mut group = Group::new(&shared);
    let mut workgroups = 0;
    for place in 0..sample.len() {
        let spent = Effort::of(group.wave_instructions(), clashes.effort());
        let Some(left) = most.checked_sub(spent).filter(|left| *left > 0) else { break };
        shared.budget = budget.min(left);
        shared.most_looks = clashes.effort() + Effort::looks(left);
        match group.run(&shared, sample.at(place), &mut Unobserved) {
            Err(fault) if ends_the_look(&fault.kind) => return Err(*fault),
            // It was looked at in part.
            Err(_) => {}
            Ok(()) => workgroups += 1,
        }
    }
    let spent = Effort::of(group.wave_instructions(), clashes.effort());
    effort.looked_at(kernel, spent.saturating_add(copies));
    Ok(Looked { sampled: Sampled { workgroups, of: groups }, doubts: shared.doubts() })
}
