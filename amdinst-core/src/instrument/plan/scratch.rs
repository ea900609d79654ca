//! Private memory for what sites borrow when there is no other way.

use super::Planner;
use super::groups::Group;
use crate::instrument::layout::ScratchSlots;
use crate::instrument::refusal::Reason;
use crate::instrument::site_code::MAX_OFFSET;

impl Planner<'_> {
    /// Two dwords a work-item behind all that the kernels of a group have.
    ///
    /// That is possible where scratch memory needs no register to be addressed: from gfx940 on, whose hardware sets
    /// FLAT_SCRATCH for each wave ("architected flat scratch"), so that enabling it shifts no SGPR either.
    pub(super) fn scratch_slots(&self, group: &Group) -> Result<ScratchSlots, (Reason, String)> {
        let arch = self.object.target.arch;
        let refuse =
            |detail: String| Err((Reason::NoFreeVgpr, format!("every VGPR is in use, and {detail}")));
        if !arch.is_gfx940_plus() {
            return refuse(format!("{} addresses scratch memory by registers", arch.name()));
        }
        let mut kept = 0u32;
        for &kernel in &group.kernels {
            let kernel = self.kernel(kernel);
            let (descriptor, metadata) = (&kernel.descriptor, &kernel.metadata);
            if metadata.uses_dynamic_stack || descriptor.uses_dynamic_stack() {
                return refuse("how much scratch memory it has is known at its launch only".to_owned());
            }
            kept = kept.max(descriptor.private_segment_fixed_size()).max(metadata.private_segment_fixed_size);
        }
        let kept = kept.min(MAX_OFFSET).next_multiple_of(4);
        let slots = ScratchSlots { kept, image: kept + 4, end: kept + 8 };
        if slots.end > MAX_OFFSET {
            return refuse(format!("{MAX_OFFSET} bytes of its scratch memory are, too"));
        }
        Ok(slots)
    }
}
