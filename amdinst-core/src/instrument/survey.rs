//! What there is to instrument: the analysed program, who reaches what, and which kernels can be instrumented at all.

use std::collections::BTreeSet;

use super::hazards;
use super::lds::LdsUse;
use super::options::Options;
use super::refusal::{InstrumentError, Reason, Refusal};
use crate::analysis::dominators::Structure;
use crate::analysis::liveness::Liveness;
use crate::analysis::masks::{Masks, OtherWrite};
use crate::analysis::program::{Exit, Function, Obstacle, ObstacleKind, Program};
use crate::isa::{Effects, Families, Inst, Reg, RegSet};
use crate::object::CodeObject;

/// The program and what is known of it.
#[derive(Clone, Debug)]
pub(super) struct Survey {
    pub(super) program: Program,
    pub(super) masks: Vec<Masks>,
    pub(super) liveness: Liveness,
    /// By function: what it does itself.
    own: Vec<Own>,
    /// By function: of a kernel, it and all it reaches; of others nothing.
    pub(super) reachable: Vec<BTreeSet<usize>>,
}

/// What a function, without its callees, does with registers and LDS.
#[derive(Clone, Debug, Default)]
pub(super) struct Own {
    /// Every register that it reads or writes.
    pub(super) used: RegSet,
    /// Every register that it writes, if only in part.
    changes: RegSet,
    /// Registers that an operation writes later, on its own (loads), or uses for long (matrix instructions).
    pub(super) late: RegSet,
    /// Registers are addressed by number in a register.
    pub(super) indexed: bool,
    /// What it has of instructions that others must keep a distance from.
    pub(super) slow: hazards::Slow,
    lds: LdsUse,
}

/// What an instruction adds to what its function does, beside its registers.
#[derive(Clone, Copy)]
struct Traits {
    /// It writes its registers later, on its own, or uses them for long.
    is_late: bool,
    /// It also reads them late, such as addends of matrices.
    reads_late: bool,
    /// It writes some registers in part.
    writes_in_part: bool,
    slow: hazards::Slow,
    indexed: bool,
    lds: LdsUse,
}

impl Traits {
    fn of(inst: &Inst, effects: &Effects) -> Self {
        Self {
            is_late: inst.op.is_of(Families::LATE),
            reads_late: inst.op.is_of(Families::MATRIX),
            writes_in_part: effects.partial != RegSet::EMPTY,
            slow: hazards::Slow::of(inst),
            indexed: inst.op.is_of(Families::BY_NUMBER),
            lds: LdsUse::of(inst, effects),
        }
    }
}

impl Own {
    fn see(&mut self, effects: &Effects, traits: Traits) {
        self.changes.union_with(&effects.writes);
        if traits.writes_in_part {
            self.changes.union_with(&effects.partial);
        }
        self.used.union_with(&effects.reads);
        if traits.is_late {
            self.late.union_with(&effects.changes());
        }
        if traits.reads_late {
            self.late.union_with(&effects.reads);
        }
        self.slow.add(traits.slow);
        self.indexed |= traits.indexed;
        self.lds.add(traits.lds);
    }

    /// All of its instructions were seen.
    fn seen(&mut self) {
        self.used.union_with(&self.changes);
    }
}

impl Survey {
    pub(super) fn new(object: &CodeObject) -> Self {
        let mut own: Vec<Own> = Vec::new();
        // By form: the same instructions stand in many functions.
        let mut traits: Vec<Option<Traits>> = Vec::new();
        let program = Program::explore(object, &mut |function, form, inst, effects| {
            if own.len() <= function {
                own.resize_with(function + 1, Own::default);
            }
            if traits.len() <= form {
                traits.resize(form + 1, None);
            }
            let traits = *traits[form].get_or_insert_with(|| Traits::of(inst, effects));
            own[function].see(effects, traits);
        });
        own.resize_with(program.functions.len(), Own::default);
        own.iter_mut().for_each(Own::seen);
        let reached_by = |(number, function): (usize, &Function)| {
            if function.kernel.is_some() { program.reachable(number) } else { BTreeSet::new() }
        };
        let reachable = program.functions.iter().enumerate().map(reached_by).collect();
        let changes = program.with_callees(own.iter().map(|own| own.changes));
        let clobbers = |callee: usize| changes[callee];
        let liveness = Liveness::new(&program);
        let masks = program
            .functions
            .iter()
            .map(|function| {
                let blocks = &function.blocks;
                let structure = Structure::new(
                    blocks.len(),
                    |block| &blocks[block].successors,
                    |block| &blocks[block].predecessors,
                );
                Masks::new(&program, function, &structure, &clobbers)
            })
            .collect();
        Self { masks, liveness, own, reachable, program }
    }

    /// The functions that are kernels: (function, kernel).
    pub(super) fn kernels(&self) -> impl Iterator<Item = (usize, usize)> {
        let functions = self.program.functions.iter().enumerate();
        functions.filter_map(|(index, function)| Some((index, function.kernel?)))
    }

    /// Why the kernel at `function` cannot be instrumented, from its code alone.
    pub(super) fn obstacles(&self, function: usize) -> Vec<Refusal> {
        let functions = self.reachable[function].iter().map(|&reached| &self.program.functions[reached]);
        let obstacles = functions.flat_map(|function| function.obstacles.iter().map(move |o| (function, o)));
        let refusal = |(function, obstacle): (&Function, &Obstacle)| {
            let reason = match obstacle.kind {
                ObstacleKind::IndirectTarget => Reason::IndirectTarget,
                ObstacleKind::UnresolvedGetpc => Reason::UnresolvedGetpc,
                ObstacleKind::Undecodable => Reason::Undecodable,
                ObstacleKind::BrokenControlFlow => Reason::BrokenControlFlow,
            };
            let detail = format!("in `{}` at {:#x}: {}", function.name, obstacle.pc, obstacle.detail);
            Refusal::of_kernel(reason, detail)
        };
        obstacles.map(refusal).collect()
    }

    /// The writes of EXEC in `function` that could not be classified.
    pub(super) fn unclassified(&self, function: usize) -> impl Iterator<Item = Refusal> {
        let writes =
            self.masks[function].writes.iter().filter(|(_, class)| *class == OtherWrite::Unclassified);
        writes.map(|&(inst, _)| {
            let text = self.program.text(inst);
            let detail = format!("`{text}` sets a mask of unknown origin");
            Refusal::at(self.program.insts[inst].pc, Reason::UnclassifiedNarrowing, detail)
        })
    }

    /// What the kernel at `function`, with all it calls, does with LDS.
    pub(super) fn lds_use(&self, function: usize) -> LdsUse {
        let mut all = LdsUse::default();
        for &reached in &self.reachable[function] {
            all.add(self.own[reached].lds);
        }
        all
    }

    /// How many SGPRs `functions` use, specials not counted.
    pub(super) fn sgprs(&self, functions: &BTreeSet<usize>) -> u32 {
        let sgprs =
            functions.iter().flat_map(|&function| self.own[function].used.iter()).filter_map(Reg::as_sgpr);
        sgprs.map(|number| u32::from(number) + 1).max().unwrap_or(0)
    }

    /// How many AGPRs `functions` use.
    pub(super) fn agprs(&self, functions: &BTreeSet<usize>) -> u32 {
        let agprs =
            functions.iter().flat_map(|&function| self.own[function].used.iter()).filter_map(Reg::as_agpr);
        agprs.map(|number| u32::from(number) + 1).max().unwrap_or(0)
    }

    /// What a function does itself.
    pub(super) fn own(&self, function: usize) -> &Own {
        &self.own[function]
    }

    /// Whether waves end in `function` itself.
    pub(super) fn ends_waves(&self, function: usize) -> bool {
        self.program.functions[function].blocks.iter().any(|block| block.exit == Exit::End)
    }
}

/// The kernels asked for, by index.
pub(super) fn selected(object: &CodeObject, options: &Options) -> Result<BTreeSet<usize>, InstrumentError> {
    let Some(names) = &options.kernels else { return Ok((0..object.kernels.len()).collect()) };
    let find = |name: &String| {
        object.kernels.iter().position(|kernel| kernel.name == *name).ok_or_else(|| {
            let known = object.kernels.iter().map(|kernel| kernel.name.clone()).collect();
            InstrumentError::NoSuchKernel { name: name.clone(), known }
        })
    };
    names.iter().map(find).collect()
}
