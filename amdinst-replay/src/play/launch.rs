//! A launch of a kernel as it is, some workgroups at a time, and of its instrumented form beside it.

use std::iter;
use std::ops::Range;

use amdinst_core::counters::{HEADER_BYTES, Layout};
use amdinst_core::instrument::KernelProbes;
use amdinst_core::names;
use amdinst_core::report::{self, Fold, Keep, Report};
use amdinst_emu::{Execution, Fault, Launch, Machine};
use amdinst_proof::{Comparison, Counted as Records, Counting, CountingError};

use super::code::{Code, Twin};
use super::machines::Machines;
use super::results::Counted;

/// Waves that run before their counters are read.
const PART: u64 = 1 << 13;
/// Alignment of a counter buffer, that of `hipMalloc`.
const ALIGNMENT: u64 = 256;
/// Disagreements that are told.
const TOLD: usize = 10;

/// What a launch left.
pub(super) struct Ran {
    /// What the original did; the last part of it ended with a fault, or none did.
    pub(super) original: Result<Execution, Fault>,
    pub(super) counted: Counted,
    /// The second machine has what the first one has, as far as its kernel ran.
    pub(super) is_in_step: bool,
}

/// The workgroups that run: all, or `most` of them, the first ones, the last ones and some between.
pub(super) fn sample(all: u64, most: Option<u64>) -> Vec<Range<u64>> {
    let Some(most) = most.filter(|most| *most < all) else { return iter::once(0..all).collect() };
    let third = most.div_ceil(3);
    let (first, last) = (third.min(most), third.min(most.saturating_sub(third)));
    let between = most - first - last;
    let middle = (all / 2).clamp(first, all - last - between);
    [0..first, middle..middle + between, all - last..all]
        .into_iter()
        .filter(|range| !range.is_empty())
        .collect()
}

/// Runs the launch in these ranges of workgroups. With `counts`, the instrumented form as well.
pub(super) fn run(
    machines: &mut Machines,
    code: &Code,
    launch: &Launch,
    ranges: &[Range<u64>],
    (counts, checks_races): (bool, bool),
) -> Ran {
    let Machines { original, twin, .. } = machines;
    let beside = twin.as_mut().zip(code.twin.as_ref());
    let Some((twin, form)) = beside else {
        return alone(original, code, launch, ranges, Counted::NotAsked);
    };
    if !counts {
        let ran = alone(original, code, launch, ranges, Counted::NotAsked);
        return with_plain(twin, form, launch, ranges, ran);
    }
    match form.probes(&launch.kernel) {
        Err(why) => {
            let ran = alone(original, code, launch, ranges, Counted::Nothing(why));
            with_plain(twin, form, launch, ranges, ran)
        }
        Ok((map, probes)) => {
            let layout = probes.layout(launch.grid, launch.block);
            let of_part = match checks_races {
                // Accesses of all workgroups are compared with one another.
                true => launch.workgroups(),
                false => (PART / u64::from(layout.waves_per_workgroup()).max(1)).max(1),
            };
            let comparison = Comparison::new(&code.object, map, probes, true, TOLD);
            let beside = Beside { twin, form, probes, layout: &layout, of_part };
            beside.run((original, code), launch, ranges, comparison)
        }
    }
}

/// A launch of some workgroups.
fn part_of(launch: &Launch, part: &Range<u64>) -> Launch {
    let is_all = *part == (0..launch.workgroups());
    Launch { part: (!is_all).then(|| part.clone()), ..launch.clone() }
}

/// The original alone.
fn alone(
    machine: &mut Machine,
    code: &Code,
    launch: &Launch,
    ranges: &[Range<u64>],
    counted: Counted,
) -> Ran {
    let mut sum = Execution::default();
    for part in ranges {
        match machine.launch(&code.program, &part_of(launch, part)) {
            Ok(execution) if ranges.len() == 1 => sum = execution,
            Ok(execution) => sum.add_part(&execution),
            Err(fault) => return Ran { original: Err(fault), counted, is_in_step: false },
        }
    }
    Ran { original: Ok(sum), counted, is_in_step: false }
}

/// The same launch on the second machine, without counters: it stays in step.
fn with_plain(twin: &mut Machine, form: &Twin, launch: &Launch, ranges: &[Range<u64>], ran: Ran) -> Ran {
    let Ok(execution) = &ran.original else { return ran };
    let mut launch = launch.without_records();
    if execution.threads == 1 || execution.clash {
        launch.threads = 1;
    }
    let mut parts = ranges.iter().map(|part| twin.launch(&form.program, &part_of(&launch, part)));
    let is_in_step = parts.all(|part| part.is_ok());
    Ran { is_in_step, ..ran }
}

/// What an instrumented kernel needs.
struct Beside<'a> {
    twin: &'a mut Machine,
    form: &'a Twin,
    probes: &'a KernelProbes,
    layout: &'a Layout,
    of_part: u64,
}

impl Beside<'_> {
    fn run(
        self,
        (original, code): (&mut Machine, &Code),
        launch: &Launch,
        ranges: &[Range<u64>],
        mut comparison: Comparison<'_>,
    ) -> Ran {
        let Self { twin, form, probes, layout, of_part } = self;
        let of_part = of_part.min(launch.workgroups());
        let bytes = Counting::buffer_bytes(probes, layout, of_part).max(u64::from(HEADER_BYTES));
        let buffer = match twin.alloc(bytes, ALIGNMENT, "counter buffer") {
            Ok(buffer) => buffer,
            Err(error) => {
                return alone(original, code, launch, ranges, Counted::Nothing(format!("counters: {error}")));
            }
        };
        let mut failure = None;
        let mut sum = Execution::default();
        let mut fold = Fold::new(Keep::of(layout.waves()));
        let target = code.object.target.to_string();
        let parts = ranges.iter().flat_map(|range| {
            let starts = range.clone().step_by(of_part.max(1) as usize);
            starts.map(move |start| start..range.end.min(start + of_part))
        });
        let mut fault = None;
        for part in parts {
            let counts = failure.is_none();
            let of_original = Launch { record_masks: counts, ..part_of(launch, &part) };
            let execution = match original.launch(&code.program, &of_original) {
                Ok(execution) => execution,
                Err(error) => {
                    fault = Some(error);
                    break;
                }
            };
            sum.add_part(&execution);
            sum.doubts.extend(execution.doubts.iter().cloned());
            if !counts {
                continue;
            }
            let counted = Counting::at(buffer, twin, &form.program, probes, layout)
                .map_err(CountingError::from)
                .and_then(|counting| counting.launch(twin, &form.program, &of_original, &part, &execution));
            match counted.map_err(|error| error.to_string()).and_then(|counted| {
                comparison.add(&execution, &counted, part.start * u64::from(layout.waves_per_workgroup()));
                report_of(probes, &target, launch, &counted)
            }) {
                Ok(part) => fold.add(part),
                Err(error) => failure = Some(error),
            }
        }
        // It was allocated above.
        let freed = twin.free(buffer);
        debug_assert!(freed.is_ok(), "{freed:?}");
        if let Some(fault) = fault {
            return Ran { original: Err(fault), counted: Counted::NotAsked, is_in_step: false };
        }
        let report = fold.finish();
        let counted = match (failure, report) {
            (Some(failure), _) => Counted::Nothing(failure),
            (None, None) => Counted::Nothing("no wave ran".to_owned()),
            (None, Some(mut report)) => {
                let found = comparison.into_disagreements();
                report.oracle_equal = Some(found.is_empty());
                let disagreements = found.iter().map(ToString::to_string).collect();
                return Ran {
                    original: Ok(sum),
                    counted: Counted::Counted { report: Box::new(report), disagreements },
                    is_in_step: true,
                };
            }
        };
        Ran { original: Ok(sum), counted, is_in_step: false }
    }
}

/// The report of some workgroups.
fn report_of(
    probes: &KernelProbes,
    target: &str,
    launch: &Launch,
    counted: &Records,
) -> Result<Report, String> {
    let demangled = names::demangled(&probes.name);
    let records = &counted.records;
    let of = report::Launch {
        probes,
        demangled: demangled.as_deref(),
        target,
        grid: launch.grid,
        block: launch.block,
        records,
        seconds: None,
    };
    Report::of_part(&of, records.len() as u64).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_the_first_and_the_last_workgroups() {
        let one = |range| iter::once(range).collect::<Vec<_>>();
        let whole = one(0..10);
        assert_eq!((sample(10, None), sample(10, Some(10))), (whole.clone(), whole));
        assert_eq!(sample(100, Some(9)), [0..3, 50..53, 97..100]);
        assert_eq!(sample(100, Some(1)), one(0..1));
        for (all, most) in [(5, 4), (3, 2), (7, 5), (1_000_000, 7)] {
            let ranges = sample(all, Some(most));
            assert_eq!(ranges.iter().map(|range| range.end - range.start).sum::<u64>(), most);
            assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start), "{ranges:?}");
        }
    }
}
