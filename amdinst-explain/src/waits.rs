//! Waits that are missing in the text of kernels, in the terms of their source.

use std::collections::{BTreeMap, BTreeSet};

use amdgpu_isa::Way;
use amdgpu_object::CodeObject;
use amdgpu_object::lines::SourceMap;
use amdinst_core::analysis::early::{self, EarlyUse};
use amdinst_core::analysis::program::Program;
use amdinst_core::report::Location;
use amdinst_format::report::waits::MissingWait;

use super::fault::{frames, nearest_frame};

/// The waits that are missing in the text of a code object, by kernel: in its own code, and in that of the
/// functions that it may call. What FLAT instructions may bring from LDS is left out: they seldom do.
pub fn missing_waits(object: &CodeObject) -> BTreeMap<String, Vec<MissingWait>> {
    let program = Program::new(object);
    let kernels = program.functions.iter().enumerate().filter(|(_, function)| function.kernel.is_some());
    let kernels: Vec<usize> = kernels.map(|(number, _)| number).collect();
    let mut uses = early::uses(&program, kernels.iter().copied()).uses;
    uses.retain(|early| early.way != Way::FlatLds);
    if uses.is_empty() {
        return BTreeMap::new();
    }
    let lines = SourceMap::new(object).unwrap_or_default();
    let told = |early: &EarlyUse| {
        let at = |index: usize| (program.insts[index].pc, program.text(index).to_string());
        let ((pc, instruction), (load_pc, load)) = (at(early.index), at(early.load));
        let location = nearest_frame(&frames(&lines, std::iter::once(pc), None)).map(Location::from);
        MissingWait {
            wait: early.wait().text(program.target()),
            always: early.is_certain,
            register: early.register.to_string(),
            reads: early.reads,
            pc,
            instruction,
            location: location.unwrap_or_default(),
            load_pc,
            load,
        }
    };
    let mut by_kernel = BTreeMap::new();
    for kernel in kernels {
        let reached = reached(&program, kernel);
        let in_reach = |early: &&EarlyUse| {
            program.function_at(program.insts[early.index].pc).is_some_and(|of| reached.contains(&of))
        };
        let found: Vec<MissingWait> = uses.iter().filter(in_reach).map(told).collect();
        if !found.is_empty() {
            by_kernel.insert(program.functions[kernel].name.to_string(), found);
        }
    }
    by_kernel
}

/// The functions that one may call, and itself.
fn reached(program: &Program, function: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::from([function]);
    let mut open = vec![function];
    while let Some(function) = open.pop() {
        open.extend(program.functions[function].callees.iter().filter(|callee| reached.insert(**callee)));
    }
    reached
}
