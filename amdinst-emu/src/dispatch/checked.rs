//! Launches that are looked through: for races, or for memory that makes the order of workgroups matter. A quick scan comes first
//! (`races/scan`). Where it has found something, the launch runs again from a copy of the memory before it, in order.
//!
//! With [`Config::deterministic`] the scan looks at workgroups alone, at loads that pass the vector cache, too: a launch in which one workgroup
//! writes what another accesses runs again, in order, on one thread. One thread needs no scan.

use std::sync::Arc;

use super::{Execution, Launch, Shared, prepare, run, threads};
use crate::check::Fault;
use crate::machine::Config;
use crate::memory::{Copied, Memory};
use crate::program::Program;
use crate::races::{Found, Look, Noted, ScanLaunch, Scope};

/// How often a scan may begin again.
const SCANS: usize = 8;

/// Runs a kernel, of which races are faults if that is asked for, and whose result does not depend on the number of threads. `before` is what
/// memory holds now, if there is a copy.
pub(super) fn launch(
    memory: &mut Memory,
    config: &Config,
    program: &Program,
    launch: &Launch,
    before: Option<&Copied>,
) -> Result<Execution, Fault> {
    let quick = Config { check_races: false, deterministic: false, ..config.clone() };
    // One thread takes workgroups in order, so that there is nothing to look for.
    if !config.check_races {
        let in_order = prepare(memory, &quick, program, launch, |shared| {
            let shared = Shared { in_order: shared.in_order || shared.has_unseen, ..shared };
            Ok(if threads(&shared)? == 1 { Some(run(&shared)) } else { None })
        })?;
        if let Some(outcome) = in_order {
            return outcome;
        }
    }
    let copied;
    let before = match before {
        Some(before) => before,
        None => {
            copied = memory.copy();
            &copied
        }
    };
    let scope = if config.check_races { Scope::Waves } else { Scope::Workgroups };
    let mut noted = Noted::default();
    for _ in 0..SCANS {
        let mut found = Found::Clash;
        let outcome = prepare(memory, &quick, program, launch, |shared| {
            let (groups, waves) = (shared.groups(), shared.waves_per_group);
            // A load that passes the vector cache is no part of a race, but what it finds depends on the order.
            let all = config.deterministic;
            let scan = Arc::new(ScanLaunch::new(shared.memory, &noted, groups, waves, scope, all));
            let in_order = shared.in_order || all && shared.has_unseen;
            let outcome = run(&Shared { look: Look::Scan(scan.clone()), in_order, ..shared });
            found = scan.found();
            outcome
        });
        if config.is_stopped() {
            return outcome;
        }
        match (found, outcome) {
            (Found::Nothing, Ok(execution)) => return Ok(execution),
            (Found::UnnotedReads(more), _) => {
                memory.restore(before);
                noted.extend(more);
            }
            // Which of a race and another fault comes first, a run of one workgroup after another tells.
            (Found::Clash | Found::Nothing, _) => break,
        }
    }
    memory.restore(before);
    let config = if config.check_races { config } else { &quick };
    prepare(memory, config, program, launch, |shared| {
        let execution = run(&Shared { in_order: true, ..shared })?;
        Ok(Execution { clash: true, ..execution })
    })
}
