//! What a model says of all launches of a kernel together.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use amdinst_core::report::run::Run;
use amdinst_core::report::{Cycles, Modelled};

use super::{LineCycles, ModelledTime};

/// Sums up the modelled launches of a kernel on one processor; `None` if there are none. Of several devices
/// the first counts.
pub(super) fn sum(run: &Run, kernel: &str, cpu: &str) -> Option<ModelledTime> {
    let tests = run.tests().filter(|(program, _)| program.cpu == cpu);
    let launches = tests.flat_map(|(_, test)| &test.modelled).filter(|launch| launch.kernel == kernel);
    let launches: Vec<&Modelled> = launches.collect();
    let first = launches.first()?;
    let mut time = ModelledTime {
        device: first.device.clone(),
        megahertz: first.megahertz,
        instrumented_cycles: Some(0),
        ..ModelledTime::default()
    };
    let mut occupied = 0.0;
    let mut lines = BTreeMap::<(Option<&str>, Option<u32>), (u64, Cycles)>::new();
    for launch in launches.iter().filter(|launch| launch.device == first.device) {
        time.launches += 1;
        time.cycles += launch.cycles;
        time.instrumented_cycles =
            time.instrumented_cycles.zip(launch.instrumented_cycles).map(|(sum, more)| sum + more);
        occupied += launch.achieved_occupancy * launch.cycles as f64;
        for instruction in &launch.instructions {
            time.wave_cycles += &instruction.cycles;
            let place = (instruction.file.as_deref(), instruction.line);
            let of_line = lines.entry(place).or_default();
            let of_pc = time.instructions.entry(instruction.pc).or_default();
            for (executions, cycles) in [of_line, of_pc] {
                *executions += instruction.executions;
                *cycles += &instruction.cycles;
            }
        }
    }
    // Of launches that took as long, the first.
    let with_spans = launches.iter().rev().filter(|launch| !launch.spans.is_empty());
    let longest = with_spans.max_by_key(|launch| launch.cycles);
    time.spans = longest.map(|launch| launch.spans.clone()).unwrap_or_default();
    time.achieved_occupancy = occupied / time.cycles.max(1) as f64;
    time.lines = lines
        .into_iter()
        .map(|((file, line), (executions, cycles))| LineCycles {
            file: file.map(str::to_owned),
            line,
            executions,
            cycles,
        })
        .collect();
    // Stable: lines that took as long stay in order of place.
    time.lines.sort_by_key(|line| Reverse(line.cycles.total()));
    Some(time)
}
