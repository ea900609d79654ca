//! The points of a program at which something is counted: sites, or blocks.
//!
//! # Blocks
//! [`Probe::Blocks`](crate::instrument::Probe::Blocks) counts executions and active lanes of every basic
//! block. Each block has counters of its own. Flow conservation would give executions from fewer edges, but
//! no lanes, for EXEC changes within blocks.
//!
//! A basic block is divided after a write of EXEC if instructions that depend on EXEC (all but SALU and SMEM)
//! follow. A part without any joins its neighbour. In the probe map `lanes_pcs` are the instructions that the
//! lanes hold for, `pc..end_pc` the instructions that the executions hold for. Level `basic` counts
//! executions alone.
//!
//! The emulator's count of each instruction, per wave, is the oracle
//! ([`compare_blocks`](amdinst_format::report::oracle::compare_blocks)): each instruction that ran is in one
//! block, and ran as often as it.

use amdgpu_isa::Reg;

use super::survey::Survey;
use crate::analysis::masks::writes_exec;

/// A point, and what is counted there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    /// Index of the instruction at which code is inserted.
    pub(crate) inst: usize,
    /// Its block in its function.
    pub(crate) block: usize,
    /// What is counted.
    pub(crate) what: What,
}

/// What a point counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// The site of this index in its function's masks, right after its instruction.
    Site(usize),
    /// A block, before the instruction.
    Block(Stretch),
}

/// Instructions of one basic block that run equally often. EXEC is the same in `lanes`, which has all of them
/// that depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// First instruction, and the one after the last.
    pub(crate) insts: (usize, usize),
    /// First instruction that the lanes are counted for, and the one after the last.
    pub(crate) lanes: (usize, usize),
}

impl Point {
    /// The site that is counted, if it is one.
    pub(crate) fn site(&self) -> Option<usize> {
        if let What::Site(site) = self.what { Some(site) } else { None }
    }

    /// A function's site.
    pub(crate) fn of_site(survey: &Survey, function: usize, site: usize) -> Self {
        let found = &survey.masks[function].sites[site];
        Self { inst: found.inst, block: found.block, what: What::Site(site) }
    }
}

/// The points of every function, in order of address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Points {
    by_function: Vec<Vec<Point>>,
}

impl Points {
    /// Every site of every function.
    pub(crate) fn sites(survey: &Survey) -> Self {
        let of = |function: usize| {
            let sites = 0..survey.masks[function].sites.len();
            sites.map(|site| Point::of_site(survey, function, site)).collect()
        };
        Self { by_function: (0..survey.program.functions.len()).map(of).collect() }
    }

    /// Every basic block of every function, divided where EXEC changes between instructions that depend on
    /// it. What a kernel runs before instruction `starts(function)`, where its probes begin, is left out.
    pub(crate) fn blocks(survey: &Survey, starts: impl Fn(usize) -> usize) -> Self {
        let of = |function: usize| {
            let blocks = survey.program.functions[function].blocks.iter().enumerate();
            let start = starts(function);
            blocks
                .flat_map(|(number, block)| {
                    let first = block.insts.start.max(start);
                    stretches(survey, first, block.insts.end)
                        .into_iter()
                        .map(move |stretch| (number, stretch))
                })
                .map(|(block, stretch)| Point {
                    inst: quiet_place(survey, function, block, stretch.lanes),
                    block,
                    what: What::Block(stretch),
                })
                .collect()
        };
        Self { by_function: (0..survey.program.functions.len()).map(of).collect() }
    }

    /// Nothing is counted anywhere.
    pub(crate) fn none(survey: &Survey) -> Self {
        Self { by_function: vec![Vec::new(); survey.program.functions.len()] }
    }

    /// Keeps the points for which `keep`, given the function and the point, is true.
    pub(crate) fn retain(&mut self, keep: impl Fn(usize, &Point) -> bool) {
        for (function, points) in self.by_function.iter_mut().enumerate() {
            points.retain(|point| keep(function, point));
        }
    }

    /// A function's points.
    pub(crate) fn of(&self, function: usize) -> &[Point] {
        &self.by_function[function]
    }
}

/// The stretches of a basic block from instruction `first` on.
fn stretches(survey: &Survey, first: usize, end: usize) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    let mut vector = false;
    let mut start = first;
    for (at, located) in (first..end).zip(&survey.program.insts[first.min(end)..end]) {
        vector |= !located.encoding.is_scalar();
        let last = at + 1 == end;
        if !last && !writes_exec(&survey.program, at) {
            continue;
        }
        // What does not depend on EXEC belongs to the stretch before it, or to the next one.
        match found.last_mut() {
            Some(before) if !vector => before.insts.1 = at + 1,
            _ if vector || last => {
                let from = if found.is_empty() { first } else { start };
                found.push(Stretch { insts: (from, at + 1), lanes: (start, at + 1) });
            }
            _ => {}
        }
        (start, vector) = (at + 1, false);
    }
    found
}

/// Of instructions that run alike, one before which SCC is dead; the first if there is none. If possible, one
/// before which vector instructions do what they say.
fn quiet_place(survey: &Survey, function: usize, block: usize, (first, end): (usize, usize)) -> usize {
    // Behind that there are no vector registers to count in.
    let last = survey.program.last_with_registers(&survey.program.functions[function].blocks[block]);
    let (first, end) = (first.min(last), end.min(last + 1));
    let live = |at: usize| survey.liveness.around(&survey.program, function, block, at).0.contains(Reg::SCC);
    let plain = |at: &usize| survey.modes.before(&survey.program, function, block, *at).is_none();
    if !survey.modes.concerns(function) {
        // Most often the first will do.
        return (first..end).find(|&at| !live(at)).unwrap_or(first);
    }
    let quiet = (first..end).filter(plain).find(|&at| !live(at));
    quiet.or_else(|| (first..end).find(plain)).unwrap_or(first)
}
