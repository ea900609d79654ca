//! Writes the instrumented code object.

use std::collections::HashMap;

use amdgpu_object::rewrite::{
    DebugInfo, Edge, Edit, KernelEdit, NewSection, NewVariable, RewriteError, Rewritten, rewrite,
};
use amdgpu_object::verify::contradiction;
use amdgpu_object::{Bytes, CodeObject};
use amdinst_format::probes::{KernelProbes, ProbeMap, SCHEMA};

use super::emit::entry::VARIABLE_OFFSET;
use super::options::{Abi, BUFFER_SYMBOL};
use super::pair::{MAP_SECTION, digest, map_digest, unknown};
use super::plan::Plan;
use super::refusal::InstrumentError;
use crate::counters::HEADER_BYTES;

/// An instrumented code object.
#[derive(Clone, Debug)]
pub struct Instrumented {
    /// The whole ELF file.
    pub bytes: Bytes,
    /// What its counters mean.
    pub map: ProbeMap,
    /// The map's file, whose hash the code object has.
    pub map_file: Vec<u8>,
    /// What became of its debug information.
    pub debug_info: DebugInfo,
}

/// Carries out a plan made for `object`.
///
/// # Errors
/// When the plan instruments nothing, descriptor and metadata of a kernel contradict each other, or the
/// rewriter refuses the code object.
pub fn apply(object: &CodeObject, plan: Plan) -> Result<Instrumented, InstrumentError> {
    let Plan { kernels, mut edits, relocated, abi, .. } = plan;
    let Some(relocated) = relocated else {
        return Err(InstrumentError::NothingInstrumented(why_nothing(object, &kernels)));
    };
    consistent(object, &edits)?;
    let fetches_ahead = object.target.arch.limits().prefetch_bits > 0;
    for edit in edits.iter_mut().filter(|_| fetches_ahead) {
        let kernel = object.kernel(&edit.kernel).ok_or_else(|| InstrumentError::Internal {
            kernel: edit.kernel.clone(),
            pc: None,
            what: "it is edited, and the code object has none of that name".to_owned(),
        })?;
        let code = kernel.code.clone();
        let place = |old, edge| relocated.place(old, edge);
        if let (Some(start), Some(end)) = (place(code.start, Edge::Start), place(code.end, Edge::End)) {
            let after = end.saturating_sub(start);
            edit.descriptor.prefetch_as_much(object.target.arch, code.end - code.start, after);
        }
    }
    // An empty buffer of one record, as large as any.
    let record = kernels.iter().filter(|kernel| kernel.is_instrumented()).map(|kernel| kernel.record_stride);
    let variable = (abi == Abi::Global).then(|| NewVariable {
        name: BUFFER_SYMBOL,
        size: 8,
        offset: VARIABLE_OFFSET.into(),
        memory: (HEADER_BYTES + record.max().unwrap_or(0)).into(),
    });
    let nothing = unknown();
    let mut map = ProbeMap {
        schema: SCHEMA,
        target: object.target.to_string(),
        original: digest(&object.bytes),
        code_object: Some(unknown()),
        kernels,
        addresses: relocated.map(),
    };
    let mut map_file = map.to_json().map_err(|error| InstrumentError::Rewrite(error.to_string()))?;
    let of_map = map_digest(&map_file, &nothing);
    let edit = Edit {
        text: relocated.text().into(),
        keeps_code: relocated.keeps_code(),
        kernels: edits,
        variable,
        section: Some(NewSection { name: MAP_SECTION, contents: of_map.as_bytes() }),
        data: relocated.data().clone(),
    };
    let rewritten = rewrite(object, &edit, |old, edge| relocated.place(old, edge));
    let Rewritten { bytes, debug_info } = rewritten.map_err(|error| match error {
        RewriteError::Inconsistent(problem) => InstrumentError::Inconsistent(problem.to_string()),
        error @ RewriteError::Damaged(_) => InstrumentError::Damaged(error.to_string()),
        error => InstrumentError::Rewrite(error.to_string()),
    })?;
    let code_object = digest(&bytes);
    replace(&mut map_file, &nothing, &code_object);
    map.code_object = Some(code_object);
    Ok(Instrumented { bytes, map, map_file, debug_info })
}

/// Puts a text into a file in the place of the first one of its length.
fn replace(file: &mut [u8], old: &str, new: &str) {
    if let Some(at) = file.windows(old.len()).position(|part| part == old.as_bytes()) {
        file[at..at + old.len()].copy_from_slice(new.as_bytes());
    }
}

/// Kernels that a message names, at most, for each reason.
const NAMED: usize = 3;

/// Why none of the kernels is instrumented: each reason once, in the order of the kernels, before it the
/// first of those that it holds for.
fn why_nothing(object: &CodeObject, kernels: &[KernelProbes]) -> String {
    let is_empty = |name: &str| object.kernel(name).is_some_and(|kernel| kernel.code.is_empty());
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for kernel in kernels {
        let reason = match kernel.refusals.iter().find(|refusal| refusal.pc.is_none()) {
            Some(refusal) => refusal.detail.as_str(),
            None if !kernel.left_out.is_empty() => {
                "none of its branches was asked for, or they are of code that formats text (`--formatting`)"
            }
            None if is_empty(&kernel.name) => "it has no instructions",
            None => "no branch that can diverge",
        };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(&kernel.name),
            None => reasons.push((reason, vec![&kernel.name])),
        }
    }
    let told = reasons.iter().map(|(reason, names)| {
        let named = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let more = match names.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{named}{more}: {reason}")
    });
    let told = told.collect::<Vec<_>>().join("; ");
    if told.is_empty() { "it has no kernel".to_owned() } else { told }
}

/// Descriptor and metadata of every kernel must agree, or the instrumented ones would not either; those that
/// are edited also in registers, as far as the edit does not give the kernel what its metadata says.
fn consistent(object: &CodeObject, edits: &[KernelEdit]) -> Result<(), InstrumentError> {
    let arch = object.target.arch;
    let edits: HashMap<&str, &KernelEdit> = edits.iter().map(|edit| (edit.kernel.as_str(), edit)).collect();
    for kernel in &object.kernels {
        let edit = edits.get(kernel.name.as_str());
        let too_many = || {
            let (descriptor, metadata) = (&edit?.descriptor, &kernel.metadata);
            let counts = [
                ("SGPRs", descriptor.sgpr_count(arch), metadata.sgpr_count),
                ("VGPRs", descriptor.vgpr_count(arch), metadata.vgpr_count),
            ];
            let (what, room, count) = counts.into_iter().find(|&(_, room, count)| count > room)?;
            Some(format!("{count} {what} in its metadata, room for {room} in its descriptor"))
        };
        if let Some(problem) = contradiction(kernel, arch).or_else(too_many) {
            return Err(InstrumentError::Contradiction { kernel: kernel.name.clone(), problem });
        }
    }
    Ok(())
}
