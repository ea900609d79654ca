//! Launches that are looked through for races: quickly first (`races/scan`), and each access by itself where that has found something.

use std::sync::Arc;

use super::{Execution, Launch, Shared, prepare, run};
use crate::check::Fault;
use crate::machine::Config;
use crate::memory::{Copied, Memory};
use crate::program::Program;
use crate::races::{Found, Look, Noted, ScanLaunch};

/// How often a scan may begin again.
const SCANS: usize = 8;

/// Runs a kernel, of which races are faults. `before` is what memory holds now, if there is a copy.
pub(super) fn launch(
    memory: &mut Memory,
    config: &Config,
    program: &Program,
    launch: &Launch,
    before: Option<&Copied>,
) -> Result<Execution, Fault> {
    let copied;
    let before = match before {
        Some(before) => before,
        None => {
            copied = memory.copy();
            &copied
        }
    };
    let quick = Config { check_races: false, ..config.clone() };
    let mut noted = Noted::default();
    for _ in 0..SCANS {
        let mut found = Found::Clash;
        let outcome = prepare(memory, &quick, program, launch, |shared| {
            let scan =
                Arc::new(ScanLaunch::new(shared.memory, &noted, shared.groups(), shared.waves_per_group));
            let outcome = run(&Shared { look: Look::Scan(scan.clone()), ..shared });
            found = scan.found();
            outcome
        });
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
    prepare(memory, config, program, launch, |shared| run(&shared))
}
