//! What `inspect` shows, as plain data: its JSON form (`schema` 1), and what the text for people is made
//! from.

use amdgpu_object::{CodeObject, Kernel, KernelArg};
use amdgpu_object::{Occupancy, OccupancyTables, Resources, occupancy};
use amdinst_core::instrument::{self, Home, KernelProbes, Places, Refusal, Site, SiteKind, UniformBranch};
use amdinst_core::report::{self, Location};
use amdinst_format::report::waits::MissingWait;
use serde::Serialize;

/// Version of the JSON form.
pub const SCHEMA: u32 = 1;

/// A file.
#[derive(Clone, Debug, Serialize)]
pub struct FileView {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Its path, as given.
    pub file: String,
    /// Its code objects, in the order of the file.
    pub code_objects: Vec<ObjectView>,
    /// The code objects that were found and cannot be read.
    pub skipped: Vec<SkippedView>,
}

impl FileView {
    /// A file of that name.
    pub fn new(file: &str, code_objects: Vec<ObjectView>, skipped: Vec<SkippedView>) -> Self {
        Self { schema: SCHEMA, file: file.to_owned(), code_objects, skipped }
    }
}

/// A code object that this version cannot read.
#[derive(Clone, Debug, Serialize)]
pub struct SkippedView {
    /// Its target, as the container names it.
    pub target: String,
    /// Why.
    pub reason: String,
}

/// One code object.
#[derive(Clone, Debug, Serialize)]
pub struct ObjectView {
    /// Its target.
    pub target: String,
    /// Code object version.
    pub version: u8,
    /// Of code for a generic processor: which ones it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generic: Option<GenericView>,
    /// Where it stands in the file.
    pub offset: u64,
    /// Its number in the file, from 0, as `--object` takes it.
    pub object: usize,
    /// Bytes.
    pub size: u64,
    /// Its kernels, in order of entry address.
    pub kernels: Vec<KernelView>,
}

/// What a generic processor stands for. Registers, occupancy and other limits are the least of its
/// processors'.
#[derive(Clone, Debug, Serialize)]
pub struct GenericView {
    /// Its version that the code was built for.
    pub version: u8,
    /// The processors that run the code.
    pub processors: Vec<&'static str>,
}

impl GenericView {
    /// That of a code object, if it is for one.
    pub fn of(object: &CodeObject) -> Option<Self> {
        let members = object.target.arch.members().iter();
        Some(Self {
            version: object.generic_version()?,
            processors: members.map(|arch| arch.name()).collect(),
        })
    }
}

/// One kernel.
#[derive(Clone, Debug, Serialize)]
pub struct KernelView {
    /// Its name.
    pub name: String,
    /// Address of its first instruction.
    pub address: u64,
    /// Bytes of code, without the functions it calls.
    pub code_bytes: u64,
    /// SGPRs, specials included.
    pub sgprs: u32,
    /// VGPRs (gfx90a and later: with the AGPRs).
    pub vgprs: u32,
    /// AGPRs.
    pub agprs: u32,
    /// Spilled SGPRs; nothing if the note does not tell.
    pub sgpr_spills: Option<u32>,
    /// Spilled VGPRs; nothing if the note does not tell.
    pub vgpr_spills: Option<u32>,
    /// The size of its waves, where the processor has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waves: Option<WavesView>,
    /// Static LDS, bytes a workgroup.
    pub lds_bytes: u32,
    /// Scratch, bytes a work-item.
    pub scratch_bytes: u32,
    /// Scratch may grow at run time.
    pub dynamic_stack: bool,
    /// Most work-items a workgroup.
    pub max_workgroup_size: u32,
    /// The workgroup size it needs, if it needs one.
    pub required_workgroup_size: Option<[u32; 3]>,
    /// Bytes of the kernarg segment.
    pub kernarg_bytes: u32,
    /// Arguments in order, hidden ones included.
    pub args: Vec<ArgView>,
    /// How many waves fit. A compute unit stands for a work-group processor where a workgroup spreads over
    /// one.
    pub occupancy: Occupancy,
    /// Waves by each resource alone, for the workgroup size that `occupancy` is for.
    pub occupancy_tables: OccupancyTables,
    /// How many waves fit once it is instrumented; nothing if it cannot be, or has no branches to count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instrumented: Option<InstrumentedView>,
    /// Its branches were not looked for: that it has none is not said.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub branches_unknown: bool,
    /// Branches that can diverge, in order of address.
    pub sites: Vec<SiteView>,
    /// Branches that cannot.
    pub uniform: Vec<UniformView>,
    /// What could not be instrumented, and why.
    pub refusals: Vec<Refusal>,
    /// Registers that are used before a load has surely brought them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing_waits: Vec<MissingWait>,
}

/// What instrumentation would make of a kernel, in the counter home that is chosen for it.
#[derive(Clone, Debug, Serialize)]
pub struct InstrumentedView {
    /// Where the counters live.
    pub counter_storage: Home,
    /// Waves a SIMD, before and after.
    pub occupancy: instrument::Occupancy,
}

/// What waves a kernel is made of.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct WavesView {
    /// Lanes of a wave.
    pub lanes: u32,
    /// The waves of a workgroup spread over both compute units of a work-group processor.
    pub workgroup_processor_mode: bool,
}

/// One argument.
#[derive(Clone, Debug, Serialize)]
pub struct ArgView {
    /// Source name, if known.
    pub name: Option<String>,
    /// Offset in the kernarg segment.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// The note's `.value_kind`.
    pub kind: String,
    /// The note's `.address_space`.
    pub address_space: Option<String>,
}

/// A branch that can diverge.
#[derive(Clone, Debug, Serialize)]
pub struct SiteView {
    /// Its number in the kernel's records.
    pub id: u32,
    /// Its kind.
    pub kind: SiteKind,
    /// Address of the narrowing instruction.
    pub pc: u64,
    /// The site's instruction, as LLVM writes it.
    pub instruction: String,
    /// Where it stands in the source.
    #[serde(flatten)]
    pub location: Location,
    /// Its probe's name.
    pub name: Option<String>,
    /// Symbol of the kernel or function it stands in.
    pub function: String,
}

impl SiteView {
    /// A site, with the place of its innermost frame.
    pub fn new(site: &Site, places: &Places) -> Self {
        Self {
            id: site.id,
            kind: site.kind,
            pc: site.pc,
            instruction: (*site.instruction).to_owned(),
            location: report::location(&places.frames(site.place)),
            name: site.name.clone(),
            function: (*site.function).to_owned(),
        }
    }
}

/// A branch that cannot diverge.
#[derive(Clone, Debug, Serialize)]
pub struct UniformView {
    /// Its address.
    pub pc: u64,
    /// The branch.
    pub instruction: String,
    /// Where it stands in the source.
    #[serde(flatten)]
    pub location: Location,
}

impl KernelView {
    /// A kernel, with the sites that the instrumenter would find in it: none, if they were not asked for.
    /// Waits that are missing in it are given.
    pub fn new(
        object: &CodeObject,
        kernel: &Kernel,
        probes: Option<&KernelProbes>,
        missing_waits: Vec<MissingWait>,
    ) -> Self {
        let metadata = &kernel.metadata;
        let resources = Resources::of(object.target.arch, metadata);
        let sites = probes.map_or_else(Vec::new, |probes| {
            probes.sites.iter().map(|site| SiteView::new(site, &probes.places)).collect()
        });
        let uniform = probes.map_or_else(Vec::new, |probes| {
            let view = |branch: &UniformBranch| UniformView {
                pc: branch.pc,
                instruction: (*branch.instruction).to_owned(),
                location: report::location(&probes.frames(branch.place)),
            };
            probes.uniform.iter().map(view).collect()
        });
        Self {
            name: kernel.name.clone(),
            address: kernel.code.start,
            code_bytes: kernel.code.end.saturating_sub(kernel.code.start),
            sgprs: metadata.sgpr_count,
            vgprs: metadata.vgpr_count,
            agprs: metadata.agpr_count,
            sgpr_spills: metadata.sgpr_spill_count,
            vgpr_spills: metadata.vgpr_spill_count,
            waves: (object.target.arch.generation().wave_sizes().len() > 1).then_some(WavesView {
                lanes: resources.wave.lanes(),
                workgroup_processor_mode: resources.wgp_mode,
            }),
            lds_bytes: metadata.group_segment_fixed_size,
            scratch_bytes: metadata.private_segment_fixed_size,
            dynamic_stack: metadata.uses_dynamic_stack,
            max_workgroup_size: metadata.max_flat_workgroup_size,
            required_workgroup_size: metadata.reqd_workgroup_size,
            kernarg_bytes: metadata.kernarg_segment_size,
            args: metadata.args.iter().map(ArgView::new).collect(),
            occupancy: occupancy(object.target.arch, &resources),
            occupancy_tables: OccupancyTables::new(object.target.arch, &resources),
            instrumented: probes.filter(|probes| probes.is_instrumented()).and_then(|probes| {
                Some(InstrumentedView { counter_storage: probes.home?, occupancy: probes.cost.occupancy })
            }),
            branches_unknown: probes.is_none(),
            sites,
            uniform,
            refusals: probes.map_or_else(Vec::new, |probes| probes.refusals.clone()),
            missing_waits,
        }
    }
}

impl ArgView {
    fn new(arg: &KernelArg) -> Self {
        Self {
            name: arg.name.clone(),
            offset: arg.offset,
            size: arg.size,
            kind: arg.value_kind.clone(),
            address_space: arg.address_space.clone(),
        }
    }
}
