//! What there is to instrument: the analysed program, who reaches what, and which kernels can be instrumented
//! at all.
//!
//! A prologue is for waves that start. So a kernel that other code jumps into or calls is refused. A kernel
//! is refused as well if its waves may end in a function that it shares with a kernel that is not
//! instrumented.

use std::collections::{BTreeMap, BTreeSet};

use amdgpu_isa::{LAST_BY_NUMBER, Reg};
use amdgpu_object::CodeObject;
use amdinst_format::probes::SiteFrame;
use rustc_hash::FxHashMap;

use super::known_masks::KnownMasks;
use super::lds_use::LdsUse;
use super::summary::{Collector, FunctionSummary, Touches};
use crate::analysis::liveness::Liveness;
use crate::analysis::masks::{Masks, OtherWrite};
use crate::analysis::mode_flow::ModeFlow;
use crate::analysis::program::{Exit, Function, Obstacle, ObstacleKind, Program, RawCounter, Seen};
use crate::instrument::options::Options;
use crate::instrument::refusal::{InstrumentError, Reason, Refusal};

/// The program and what is known of it.
#[derive(Debug)]
pub(crate) struct Survey {
    pub(crate) program: Program,
    pub(crate) masks: Vec<Masks>,
    pub(crate) liveness: Liveness,
    pub(crate) modes: ModeFlow,
    /// By function.
    summaries: Vec<FunctionSummary>,
    touches: Touches,
    /// By function: of a kernel, it and all it reaches; of others nothing.
    pub(crate) reachable: Vec<BTreeSet<usize>>,
    /// Kernels that code goes on into, with a function that does.
    entered: BTreeMap<usize, usize>,
}

impl Survey {
    /// The rest is what was learnt of other code objects of the processor.
    pub(crate) fn new(object: &CodeObject, (seen, touches): (Seen, Touches), known: &mut KnownMasks) -> Self {
        let mut collector = Collector::new(object.code_target(), touches);
        let mut program = Program::explore(object, seen, &mut collector);
        let (summaries, touches) = collector.finish(program.functions.len());
        let reached_by = |(number, function): (usize, &Function)| {
            if function.kernel.is_some() { program.reachable(number) } else { BTreeSet::new() }
        };
        let reachable = program.functions.iter().enumerate().map(reached_by).collect();
        let changes = program.with_callees(summaries.iter().map(|summary| {
            let mut changes = *summary.changes();
            if summary.sgprs_by_number {
                changes.insert_run(Reg::scalar(0), u16::from(LAST_BY_NUMBER) + 1);
            }
            changes
        }));
        let clobbers = |callee: usize| changes[callee];
        let is_kernel = |callee: &usize| program.functions[*callee].kernel.is_some();
        let calls = program.functions.iter().enumerate().flat_map(|(from, function)| {
            function.callees.iter().copied().filter(is_kernel).map(move |callee| (callee, from))
        });
        let entered = calls.collect();
        let liveness = Liveness::new(&program);
        for (function, obstacle) in raw_counters(&program, &liveness) {
            program.functions[function].obstacles.push(obstacle);
        }
        let modes = ModeFlow::new(&program);
        let masks = program.functions.iter().map(|function| known.masks(&program, function, &clobbers));
        let masks = masks.collect();
        Self { masks, liveness, modes, summaries, touches, reachable, entered, program }
    }

    /// What was learnt that helps with other code objects of the processor.
    pub(crate) fn into_known(self) -> (Seen, Touches) {
        (self.program.into_seen(), self.touches)
    }

    /// The functions that are kernels: (function, kernel).
    pub(crate) fn kernels(&self) -> impl Iterator<Item = (usize, usize)> {
        let functions = self.program.functions.iter().enumerate();
        functions.filter_map(|(index, function)| Some((index, function.kernel?)))
    }

    /// Why the kernel at `function` cannot be instrumented, from its code alone; `frames` tells where an
    /// instruction stands in the source.
    pub(crate) fn obstacles(&self, function: usize, frames: impl Fn(u64) -> Vec<SiteFrame>) -> Vec<Refusal> {
        let functions = self.reachable[function].iter().map(|&reached| &self.program.functions[reached]);
        // Of one instruction the last reason is the closest.
        let obstacles = functions.flat_map(|function| {
            let numbered = function.obstacles.iter().enumerate();
            let last: FxHashMap<u64, usize> = numbered.clone().map(|(number, of)| (of.pc, number)).collect();
            numbered.filter(move |(number, of)| last[&of.pc] == *number).map(move |(_, of)| (function, of))
        });
        let refusal = |(function, obstacle): (&Function, &Obstacle)| {
            let reason = match obstacle.kind {
                ObstacleKind::IndirectTarget => Reason::IndirectTarget,
                ObstacleKind::UnresolvedGetpc => Reason::UnresolvedGetpc,
                ObstacleKind::Undecodable => Reason::Undecodable,
                ObstacleKind::BrokenControlFlow => Reason::BrokenControlFlow,
                ObstacleKind::OtherWaveSize => Reason::OtherWaveSize,
                ObstacleKind::RegistersGivenBack => Reason::NoFreeVgpr,
            };
            let detail = format!("in `{}` at {:#x}: {}", function.name, obstacle.pc, obstacle.detail);
            Refusal { frames: frames(obstacle.pc), ..Refusal::of_kernel(reason, detail) }
        };
        let mut refusals: Vec<Refusal> = obstacles.map(refusal).collect();
        refusals.extend(self.shared_with_a_kernel(function));
        refusals
    }

    /// Whether code goes on from the kernel at `function` into another, or from other code into it. A
    /// prologue is for waves that start there, with what they start with.
    fn shared_with_a_kernel(&self, function: usize) -> Option<Refusal> {
        let functions = &self.program.functions;
        let enters = |from: usize, into: usize| {
            let detail = format!(
                "`{}` goes on into kernel `{}`, where probes expect waves that start",
                functions[from].name, functions[into].name
            );
            Refusal::of_kernel(Reason::BrokenControlFlow, detail)
        };
        let into = self.entered.iter().find(|(_, from)| self.reachable[function].contains(from));
        let from = || self.entered.get(&function).map(|&from| enters(from, function));
        into.map(|(&into, &from)| enters(from, into)).or_else(from)
    }

    /// Whether the kernel at `function` may call any function.
    pub(crate) fn calls_any(&self, function: usize) -> bool {
        let obstacles =
            self.reachable[function].iter().flat_map(|&reached| &self.program.functions[reached].obstacles);
        obstacles.into_iter().any(|obstacle| obstacle.kind == ObstacleKind::IndirectTarget)
    }

    /// The writes of EXEC in `function` that could not be classified. Of a kernel whose waves are of another
    /// size there is nothing to say: its masks are not those that were looked for.
    pub(crate) fn unclassified(&self, function: usize) -> impl Iterator<Item = Refusal> {
        let obstacles = &self.program.functions[function].obstacles;
        let is_other = obstacles.iter().any(|obstacle| obstacle.kind == ObstacleKind::OtherWaveSize);
        let writes = self.masks[function]
            .writes
            .iter()
            .filter(move |(_, class)| *class == OtherWrite::Unclassified && !is_other);
        writes.map(|&(inst, _)| {
            let text = self.program.text(inst);
            let detail = format!("`{text}` sets a mask of unknown origin");
            Refusal::at(self.program.insts[inst].pc, Reason::UnclassifiedNarrowing, detail)
        })
    }

    /// What the kernel at `function`, with all it calls, does with LDS.
    pub(crate) fn lds_use(&self, function: usize) -> LdsUse {
        let mut all = LdsUse::default();
        for &reached in &self.reachable[function] {
            all.add(self.summaries[reached].lds());
        }
        all
    }

    /// Whether the kernel at `function`, with all it calls, reads how many registers it has.
    pub(crate) fn reads_allotment(&self, function: usize) -> bool {
        self.reachable[function].iter().any(|&reached| self.summaries[reached].reads_allotment())
    }

    /// How many SGPRs `functions` use, specials not counted.
    pub(crate) fn sgprs(&self, functions: &BTreeSet<usize>) -> u32 {
        let sgprs = functions
            .iter()
            .flat_map(|&function| self.summaries[function].used.iter())
            .filter_map(Reg::as_sgpr);
        sgprs.map(|number| u32::from(number) + 1).max().unwrap_or(0)
    }

    /// How many AGPRs `functions` use.
    pub(crate) fn agprs(&self, functions: &BTreeSet<usize>) -> u32 {
        let agprs = functions
            .iter()
            .flat_map(|&function| self.summaries[function].used.iter())
            .filter_map(Reg::as_agpr);
        agprs.map(|number| u32::from(number) + 1).max().unwrap_or(0)
    }

    /// What a function does itself.
    pub(crate) fn summary(&self, function: usize) -> &FunctionSummary {
        &self.summaries[function]
    }

    /// Whether waves end in `function` itself.
    pub(crate) fn ends_waves(&self, function: usize) -> bool {
        self.program.functions[function].blocks.iter().any(|block| block.exit == Exit::End)
    }
}

/// Values of the program counter that are used where nothing follows them: they change when code moves.
fn raw_counters(program: &Program, liveness: &Liveness) -> Vec<(usize, Obstacle)> {
    let is_used = |raw: &&RawCounter| {
        // What lanes hold, nothing tells.
        let Some(register) = raw.register.map(Reg::scalar) else { return true };
        let block = &program.functions[raw.function].blocks[raw.block];
        let mut callees = block.exit.entered(&program.pointed).iter();
        let into_callee = callees.any(|&callee| liveness.at_start(program, callee, 0).contains(register));
        let mut after = block.successors.iter().filter(|&&next| Some(next) != raw.followed);
        into_callee || after.any(|&next| liveness.at_start(program, raw.function, next).contains(register))
    };
    let obstacle = |raw: &RawCounter| {
        let pc = program.insts[raw.getpc].pc;
        let detail = "the program counter itself is used beyond a branch, a join or a call".to_owned();
        (raw.function, Obstacle { pc, kind: ObstacleKind::UnresolvedGetpc, detail })
    };
    program.raw.iter().filter(is_used).map(obstacle).collect()
}

/// The kernels asked for, by index.
pub(crate) fn selected(object: &CodeObject, options: &Options) -> Result<BTreeSet<usize>, InstrumentError> {
    let Some(names) = &options.kernels else { return Ok((0..object.kernels.len()).collect()) };
    let find = |name: &String| {
        object.kernels.iter().position(|kernel| kernel.name == *name).ok_or_else(|| {
            let known = object.kernels.iter().map(|kernel| kernel.name.clone()).collect();
            InstrumentError::NoSuchKernel { name: name.clone(), known }
        })
    };
    names.iter().map(find).collect()
}
