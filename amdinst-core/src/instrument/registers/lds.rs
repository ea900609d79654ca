//! Where the waves of a workgroup keep their counters in LDS.
//!
//! Each wave has an image of its record there: zeroed at entry, added to at sites, copied to memory before
//! `s_endpgm`. Nobody else touches it, so no barrier is needed.
//!
//! The images stand at the *end* of what the workgroup is allotted. Dynamic LDS (`extern __shared__`) starts
//! where the static LDS that the kernel was compiled with ends, which the code knows as a constant, so
//! nothing can stand there. How much is allotted is in the dispatch packet: `group_segment_size`, static and
//! dynamic together (HSA Platform System Architecture, "Kernel dispatch packet"). A kernel that reaches no
//! LDS itself needs no look at the packet: its images start at the end of its static LDS.
//!
//! Pointers to dynamic LDS that the launcher makes (OpenCL's `local` arguments) start after the static LDS of
//! the *instrumented* kernel instead. That leaves no place that is right for both, so such kernels are
//! refused.
//!
//! LDS addresses are checked against the workgroup's allotment alone: M0 needs no limit in it ("Vega" ISA
//! manual, "LDS Access": the clamp in M0 ended with GFX8).
//!
//! Kernels that read from a hardware register how much LDS they have are refused as well.

use amdgpu_object::Kernel;

use crate::counters::Probe;
use crate::instrument::find::survey::Survey;
use crate::instrument::refusal::Reason;

/// Byte of the dispatch packet with `group_segment_size`.
pub(crate) const PACKET_GROUP_SEGMENT_SIZE: u32 = 28;
/// A DS instruction's offset has 16 bits.
const DS_REACH: u32 = 1 << 16;
/// Most work-items of a workgroup where the note is silent.
const LARGEST_WORKGROUP: u32 = 1024;

/// The images of one kernel's workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LdsImages {
    /// Bytes of one wave's image.
    pub(crate) image_bytes: u32,
    /// Images of a workgroup.
    pub(crate) waves: u32,
    /// Where the first stands.
    pub(crate) start: Start,
    /// Static LDS of the instrumented kernel, bytes.
    pub(crate) group_segment_size: u32,
}

/// Where the first image stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// At this byte of LDS.
    At(u32),
    /// So that the last image ends where the workgroup's LDS ends, down to a multiple of four.
    AtEnd,
}

impl LdsImages {
    /// Places the images, of `image_bytes` each, of `sites` counted sites in the LDS of `kernel`, which is
    /// `function` of the survey.
    pub(crate) fn place(
        survey: &Survey,
        function: usize,
        kernel: &Kernel,
        (probe, sites): (Probe, u32),
        image_bytes: u32,
    ) -> Result<Self, (Reason, String)> {
        let arch = survey.program.arch;
        let (descriptor, metadata) = (&kernel.descriptor, &kernel.metadata);
        let refuse = |detail: String| Err((Reason::LdsPlacement, detail));
        if descriptor.tg_split() {
            return refuse("its waves may run on different compute units, so it has no LDS".to_owned());
        }
        let uses = survey.lds_use(function);
        if uses.reads_size {
            return refuse("it reads how much LDS it has, which counters there would change".to_owned());
        }
        if let Some(argument) =
            metadata.args.iter().position(|arg| arg.value_kind == "dynamic_shared_pointer")
        {
            return refuse(format!("argument {} points to LDS that the launcher places", argument + 1));
        }
        let required = metadata.reqd_workgroup_size.map(|[x, y, z]| x.saturating_mul(y).saturating_mul(z));
        let work_items = match required.unwrap_or(metadata.max_flat_workgroup_size) {
            0 => LARGEST_WORKGROUP,
            stated => stated.min(LARGEST_WORKGROUP),
        };
        let waves = work_items.div_ceil(survey.program.wave_size().lanes());
        let fixed = descriptor.group_segment_fixed_size().max(metadata.group_segment_fixed_size);
        let limit = arch.limits().lds_bytes;
        // What asks for more than there is is refused below.
        let kept = fixed.min(limit).next_multiple_of(4);
        let images = image_bytes.saturating_mul(waves);
        let (start, slack) = match uses.accesses {
            // Dynamic LDS may end anywhere: up to three bytes are lost to alignment.
            true => (Start::AtEnd, 4),
            false => (Start::At(kept), 0),
        };
        let size = kept.saturating_add(images).saturating_add(slack);
        if fixed > limit || size > limit || image_bytes > DS_REACH {
            return Err((
                Reason::LdsLimit,
                format!(
                    "counters for {waves} waves of {sites} {} take {images} bytes of LDS beside the kernel's {fixed}; {} has {limit}",
                    probe.things(),
                    arch.name()
                ),
            ));
        }
        Ok(Self { image_bytes, waves, start, group_segment_size: size })
    }
}
