//! Kernels that share their code from the first instruction on.
//!
//! One entry may have several names, and of functions that are equal a linker keeps one (`--icf`). Such
//! kernels are planned as one and share their probes, if all their waves start alike: their
//! descriptors are equal, and so are the layout of their arguments and the limits in their metadata.

use std::collections::{BTreeMap, HashMap};

use amdgpu_object::rewrite::KernelEdit;
use amdgpu_object::{CodeObject, Kernel};
use amdinst_format::probes::KernelProbes;

use super::Plan;
use crate::instrument::refusal::{Reason, Refusal};

/// By kernel that shares its code, by index: the others.
pub(super) struct Aliases(BTreeMap<usize, Vec<usize>>);

impl Aliases {
    pub(super) fn of(object: &CodeObject) -> Self {
        let mut starts: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (index, kernel) in object.kernels.iter().enumerate().filter(|(_, kernel)| !kernel.code.is_empty())
        {
            starts.entry(kernel.code.start).or_default().push(index);
        }
        let mut aliases = BTreeMap::new();
        for all in starts.values().filter(|all| all.len() > 1) {
            for &one in all {
                aliases.insert(one, all.iter().copied().filter(|&other| other != one).collect());
            }
        }
        Self(aliases)
    }

    /// The others that start where a kernel does.
    pub(super) fn others(&self, kernel: usize) -> &[usize] {
        self.0.get(&kernel).map_or(&[], Vec::as_slice)
    }

    /// Why a kernel cannot be instrumented together with these.
    pub(super) fn obstacle(&self, object: &CodeObject, kernel: usize) -> Option<Refusal> {
        let this = &object.kernels[kernel];
        let mut others = self.others(kernel).iter().map(|&other| &object.kernels[other]);
        let other = others.find(|other| !start_alike(this, other))?;
        let detail = format!(
            "it shares its code with kernel `{}`, whose descriptor or arguments differ, so no probe is right for both",
            other.name
        );
        Some(Refusal::of_kernel(Reason::SharedFunction, detail))
    }
}

/// Whether their waves start with the same, and have as much.
fn start_alike(one: &Kernel, other: &Kernel) -> bool {
    let bytes = |kernel: &Kernel| {
        // From where the descriptor stands, the distance to the entry differs.
        let mut descriptor = kernel.descriptor;
        descriptor.set_entry_offset(0);
        descriptor.bytes
    };
    let layout = |kernel: &Kernel| {
        let metadata = &kernel.metadata;
        let kinds: Vec<_> =
            metadata.args.iter().map(|arg| (arg.offset, arg.size, arg.value_kind.clone())).collect();
        let sizes = (metadata.kernarg_segment_size, metadata.group_segment_fixed_size);
        let scratch = (metadata.private_segment_fixed_size, metadata.uses_dynamic_stack);
        (kinds, sizes, scratch, metadata.max_flat_workgroup_size, metadata.reqd_workgroup_size)
    };
    bytes(one) == bytes(other) && layout(one) == layout(other)
}

impl Plan {
    /// Gives the kernels that start where planned ones do the same probes and edits.
    pub(super) fn add_aliases(&mut self, object: &CodeObject, aliases: &Aliases) {
        if aliases.0.is_empty() {
            return;
        }
        let indices: HashMap<&str, usize> =
            object.kernels.iter().enumerate().map(|(index, kernel)| (kernel.name.as_str(), index)).collect();
        let names = |name: &str| {
            let others = indices.get(name).map_or(&[][..], |&kernel| aliases.others(kernel));
            others.iter().map(|&other| object.kernels[other].name.clone()).collect::<Vec<_>>()
        };
        for probes in std::mem::take(&mut self.kernels) {
            let copies = names(&probes.name).into_iter().map(|name| KernelProbes { name, ..probes.clone() });
            let copies: Vec<_> = copies.collect();
            self.kernels.push(probes);
            self.kernels.extend(copies);
        }
        for edit in std::mem::take(&mut self.edits) {
            let copies = names(&edit.kernel).into_iter().map(|kernel| KernelEdit { kernel, ..edit.clone() });
            let copies: Vec<_> = copies.collect();
            self.edits.push(edit);
            self.edits.extend(copies);
        }
    }
}
