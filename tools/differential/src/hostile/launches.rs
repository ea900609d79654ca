//! Kernels of libraries, launched with made-up arguments, as they are and with counters in each home.
//!
//! Nobody knows what a kernel expects, so several numbers are tried until it ends well. What it then leaves
//! in its buffers, and what the emulator saw of EXEC, must be what its instrumented forms leave and count.

use std::collections::BTreeMap;

use amdgpu_object::{CodeObject, Kernel};
use amdinst_core::instrument::{self, Counters, KernelProbes, Options, ProbeMap, probe_specs};
use amdinst_emu::Launch;

use super::launch::{
    Arguments, How, Instrumented, as_it_takes, difference, is_by_chance, looks_at_the_machine, run,
};

/// Bytes of each buffer.
const BUFFER: usize = 1 << 20;
/// What all other arguments are, in this order.
const NUMBERS: [u8; 5] = [64, 16, 100, 1, 0];
/// Workgroups of a launch, and work-items of one at most.
const GROUPS: u32 = 2;
const MOST_WORK_ITEMS: u32 = 256;
/// How many times as much an instrumented kernel may run.
const LONGER: u64 = 64;

/// A code object with counters in each home.
#[derive(Debug)]
pub struct Ways(Vec<(Counters, Form)>);

/// One of them.
#[derive(Debug, Default)]
struct Form {
    kernels: Vec<KernelProbes>,
    /// None if none of the kernels is instrumented.
    rewritten: Option<(CodeObject, ProbeMap)>,
}

impl Ways {
    /// Instruments a code object in each home.
    ///
    /// # Errors
    /// It cannot be instrumented as a whole: the reason.
    pub fn of(object: &CodeObject) -> Result<Self, String> {
        let homes = [Counters::Auto, Counters::Register, Counters::Lds, Counters::Global];
        let ways = homes.into_iter().map(|counters| Ok((counters, Form::of(object, counters)?)));
        ways.collect::<Result<_, String>>().map(Self)
    }
}

impl Form {
    fn of(object: &CodeObject, counters: Counters) -> Result<Self, String> {
        let probes = probe_specs(object).map_err(|error| error.to_string())?;
        let options = Options { counters, probes, ..Options::default() };
        let plan = instrument::plan(object, &options).map_err(|error| error.to_string())?;
        let kernels = plan.kernels().to_vec();
        if !kernels.iter().any(KernelProbes::is_instrumented) {
            return Ok(Self { kernels, rewritten: None });
        }
        let done = instrument::apply(object, plan).map_err(|error| error.to_string())?;
        let rewritten = CodeObject::parse(done.bytes).map_err(|error| error.to_string())?;
        Ok(Self { kernels, rewritten: Some((rewritten, done.map)) })
    }
}

/// What became of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Launched {
    /// Why it did not end well as it is, if it did not: the kind of the last fault.
    pub fault: Option<String>,
    /// What became of its instrumented forms, by home.
    pub ways: BTreeMap<String, HomeTally>,
    /// What differs and must not.
    pub differences: Vec<String>,
}

/// What became of the instrumented forms of one home.
#[derive(Clone, Debug, Default)]
pub struct HomeTally {
    /// Those with equal memory and counters.
    pub equal: u64,
    /// How often their sites ran.
    pub executions: u64,
    /// Those that the instrumenter refuses.
    pub refused: u64,
    /// Those without a site.
    pub none: u64,
    /// Those that differ, as two runs of the kernel itself may.
    pub by_chance: u64,
}

/// Launches a kernel in all ways.
pub fn launch(object: &CodeObject, kernel: &Kernel, ways: &Ways, budget: u64) -> Launched {
    let mut launched = Launched::default();
    let (name, launch) = (&kernel.name, as_it_takes(kernel, GROUPS, MOST_WORK_ITEMS, budget));
    let mut ended = None;
    for number in NUMBERS {
        let arguments = Arguments { buffer: BUFFER, number };
        let how = How { arguments, fast: true, threads: 1 };
        match run(object, kernel, &launch, how) {
            None => launched.fault = Some("it cannot be loaded".to_owned()),
            Some(Err(fault)) => launched.fault = Some(fault.kind.word().to_owned()),
            Some(Ok(ran)) => {
                launched.fault = None;
                ended = Some((how, ran));
                break;
            }
        }
    }
    let Some((how, original)) = ended else { return launched };
    for (counters, form) in &ways.0 {
        let mut way = HomeTally::default();
        let probes = form.kernels.iter().find(|probes| probes.name == *name);
        match probes.zip(form.rewritten.as_ref()) {
            _ if probes.is_some_and(|probes| !probes.refusals.is_empty()) => way.refused = 1,
            None => way.none = 1,
            Some((probes, _)) if !probes.is_instrumented() => way.none = 1,
            Some((probes, (rewritten, map))) => {
                let longer = Launch { budget: budget * LONGER, ..launch.clone() };
                let form = Instrumented { object: rewritten, map, probes };
                let what = difference(object, form, (kernel, &longer), how, &original)
                    .unwrap_or_else(|| Some("the instrumented kernel cannot be loaded".to_owned()));
                let is_chance =
                    || looks_at_the_machine(object) || is_by_chance(object, kernel, &launch, how.arguments);
                match what {
                    None => (way.equal, way.executions) = (1, original.executions(probes)),
                    Some(_) if is_chance() => way.by_chance = 1,
                    Some(what) => {
                        let target = &object.target;
                        launched.differences.push(format!("{target}, `{name}`, {counters:?}: {what}"));
                    }
                }
            }
        }
        launched.ways.insert(format!("{counters:?}"), way);
    }
    launched
}
