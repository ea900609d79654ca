//! Writes the instrumented code object.

use super::map::{ProbeMap, SCHEMA};
use super::plan::Plan;
use super::refusal::InstrumentError;
use crate::object::CodeObject;
use crate::object::rewrite::{Edit, rewrite};

/// An instrumented code object.
#[derive(Clone, Debug)]
pub struct Instrumented {
    /// The whole ELF file.
    pub bytes: Vec<u8>,
    /// What its counters mean.
    pub map: ProbeMap,
}

/// Carries out a plan made for `object`.
///
/// # Errors
/// When the plan instruments nothing, or the rewriter refuses the code object.
pub fn apply(object: &CodeObject, plan: &Plan) -> Result<Instrumented, InstrumentError> {
    let Some(relocated) = &plan.relocated else {
        let mut reasons: Vec<String> = plan
            .kernels
            .iter()
            .map(|kernel| match kernel.refusals.iter().find(|refusal| refusal.pc.is_none()) {
                Some(refusal) => format!("`{}`: {}", kernel.name, refusal.detail),
                None => format!("`{}` has no branch that can diverge", kernel.name),
            })
            .collect();
        if reasons.is_empty() {
            reasons.push("it has no kernel".to_owned());
        }
        return Err(InstrumentError::NothingInstrumented(reasons.join("; ")));
    };
    let address_map = |old, edge| relocated.place(old, edge);
    let edit =
        Edit { text: relocated.text().to_vec(), address_map: &address_map, kernels: plan.edits.clone() };
    let bytes = rewrite(object, &edit).map_err(|error| InstrumentError::Rewrite(error.to_string()))?;
    let map = ProbeMap {
        schema: SCHEMA,
        target: object.target.to_string(),
        kernels: plan.kernels.clone(),
        addresses: plan.addresses(),
    };
    Ok(Instrumented { bytes, map })
}
