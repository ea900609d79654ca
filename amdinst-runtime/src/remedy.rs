//! What mends a fault, where only tests can do it.

use amdinst_emu::{Fault, FaultKind};

use crate::request::Request;

/// Of a launch whose sizes are none: which arguments these are, and what they may be.
pub(crate) fn of_shape(fault: &Fault, request: &Request<'_>) -> Option<String> {
    let FaultKind::BadDispatch(_) = fault.kind else { return None };
    let most = request.built.original.kernel(request.kernel)?.metadata.max_flat_workgroup_size;
    let size = request.block.iter().map(|&size| u64::from(size)).product::<u64>();
    let is_none = request.grid.contains(&0) || request.block.contains(&0);
    (is_none || size > u64::from(most)).then(|| {
        format!(
            "`launch(device, workgroups, work_items, …)` has the number of workgroups, at least 1, and that of the work-items of each, from 1 \
             to {most}; `launch_1d(device, n, …)` divides `n` work-items into workgroups itself"
        )
    })
}
