//! What the kernels of a file take: registers, spills, LDS, scratch memory, occupancy, bytes of code.
//!
//! A [`ResourceTable`] has a row a kernel and code object. [`ResourceDiff`] sets two of them side by side,
//! [`ResourceLimit`] says whether one keeps a limit, [`render`] shows both.

mod diff;
mod limit;
mod metric;
pub mod render;

pub use diff::{Figure, KernelChange, ResourceDiff};
pub use limit::{ResourceLimit, ResourceLimitError, ResourceViolation};
pub use metric::Metric;

use amdgpu_object::{CodeObject, Kernel, Occupancy, Resources, occupancy};
use amdinst_core::analysis::spills::{CodeSpills, Spilled};
use amdinst_core::names;
use amdinst_core::report::Location;
use amdinst_format::probes::Limiter;
use amdinst_format::schema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Version of the JSON of a table, and of a comparison.
pub const SCHEMA: u32 = 1;

/// The resources of all kernels of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResourceTable {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The file, as it was named.
    #[serde(deserialize_with = "amdinst_text::deserialize")]
    pub file: String,
    /// In the order of the file.
    pub kernels: Vec<KernelResources>,
    /// Code objects that cannot be read.
    pub skipped: Vec<SkippedObject>,
}

/// A code object whose kernels are not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedObject {
    /// Its target, as the container names it.
    #[serde(deserialize_with = "amdinst_text::deserialize")]
    pub target: String,
    /// Why.
    #[serde(deserialize_with = "amdinst_text::deserialize")]
    pub reason: String,
}

/// Not a table of resources.
#[derive(Debug, Error)]
pub enum TableError {
    /// Another version than [`SCHEMA`].
    #[error("it has schema {found}, and this version reads schema {SCHEMA}")]
    Schema {
        /// Its version.
        found: u32,
    },
    /// No such document.
    #[error("it is not what `cargo amdinst inspect --resources --format json` prints")]
    Json(#[from] serde_json::Error),
}

impl ResourceTable {
    /// Reads a table's JSON.
    ///
    /// # Errors
    /// Another version, or no table.
    pub fn from_json(bytes: &[u8]) -> Result<Self, TableError> {
        schema::read(bytes, SCHEMA)?.map_err(|found| TableError::Schema { found })
    }

    /// Leaves only the kernels with these names; all if there are no names.
    ///
    /// # Errors
    /// The first of the names that no kernel has.
    pub fn retain_named<'n>(&mut self, names: &'n [String]) -> Result<(), &'n str> {
        let is_here = |name: &str| self.kernels.iter().any(|kernel| kernel.is_named(name));
        if let Some(unknown) = names.iter().find(|name| !is_here(name)) {
            return Err(unknown);
        }
        if !names.is_empty() {
            self.kernels.retain(|kernel| names.iter().any(|name| kernel.is_named(name)));
        }
        Ok(())
    }
}

/// The resources of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelResources {
    /// Symbol.
    #[serde(deserialize_with = "amdinst_text::deserialize")]
    pub name: String,
    /// The target of its code object: a processor with its features, as `gfx90a:xnack-`.
    #[serde(deserialize_with = "amdinst_text::deserialize")]
    pub target: String,
    /// The kernel's line in the source, if its code object has debug information.
    #[serde(flatten)]
    pub location: Location,
    /// Lanes of its waves.
    pub lanes: u32,
    /// VGPRs (gfx90a and later: with the AGPRs).
    pub vgprs: u32,
    /// AGPRs.
    pub agprs: u32,
    /// SGPRs, specials included.
    pub sgprs: u32,
    /// Spilled VGPRs and SGPRs; nothing where neither the note nor the code tells.
    pub spills: Option<Spills>,
    /// Static LDS, bytes a workgroup.
    pub lds_bytes: u32,
    /// Scratch, bytes a work-item.
    pub scratch_bytes: u32,
    /// Scratch may grow at run time.
    pub dynamic_stack: bool,
    /// Work-items a workgroup that `occupancy` is for: as many as it needs, or may have.
    pub workgroup: u32,
    /// Waves a SIMD.
    pub occupancy: u32,
    /// Waves a SIMD could hold if the kernel needed nothing.
    pub max_occupancy: u32,
    /// What limits that.
    pub limiter: Limiter,
    /// Bytes of code, without the functions that it calls.
    pub code_bytes: u64,
}

/// Registers that the compiler had to keep elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spills {
    /// VGPRs, in scratch memory.
    pub vgprs: u32,
    /// SGPRs, in lanes of VGPRs.
    pub sgprs: u32,
    /// Who tells.
    pub by: SpillSource,
}

/// Who tells how many registers were spilled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpillSource {
    /// The compiler, in the code object's note; functions that the kernel calls spill nothing.
    #[default]
    Note,
    /// The code, of called functions at least: at most so many.
    Code,
}

impl Spills {
    fn by(by: SpillSource, Spilled { sgprs, vgprs }: Spilled) -> Self {
        Self { vgprs, sgprs, by }
    }
}

impl KernelResources {
    /// Its name in the source, with template arguments.
    pub fn title(&self) -> String {
        names::demangled(&self.name).unwrap_or_else(|| names::in_source(&self.name).to_owned())
    }

    /// Whether that is its symbol, or its name in the source.
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name || self.title() == name
    }

    /// A kernel of a code object. `in_code` looks for spills in its code, which is asked where the note does
    /// not tell: of functions that are called, it never does. These need a stack to spill.
    pub fn new(
        object: &CodeObject,
        kernel: &Kernel,
        location: Location,
        in_code: impl FnOnce() -> Option<CodeSpills>,
    ) -> Self {
        let metadata = &kernel.metadata;
        let resources = Resources::of(object.target.arch, metadata);
        let Occupancy { waves_per_simd, max_waves_per_simd, limiter, .. } =
            occupancy(object.target.arch, &resources);
        let may_call = metadata.has_scratch() && !object.functions.is_empty();
        let told = metadata.vgpr_spill_count.zip(metadata.sgpr_spill_count);
        let told = told.map(|(vgprs, sgprs)| Spilled { sgprs, vgprs });
        let spills = match (told, may_call) {
            (Some(own), false) => Some(Spills::by(SpillSource::Note, own)),
            (told, _) => in_code().map(|code| match told {
                Some(own) if code.callees == Spilled::default() => Spills::by(SpillSource::Note, own),
                told => Spills::by(SpillSource::Code, told.unwrap_or(code.own) + code.callees),
            }),
        };
        Self {
            name: kernel.name.clone(),
            target: object.target.to_string(),
            location,
            lanes: resources.wave.lanes(),
            vgprs: metadata.vgpr_count,
            agprs: metadata.agpr_count,
            sgprs: metadata.sgpr_count,
            spills,
            lds_bytes: metadata.group_segment_fixed_size,
            scratch_bytes: metadata.private_segment_fixed_size,
            dynamic_stack: metadata.uses_dynamic_stack,
            workgroup: resources.workgroup_size,
            occupancy: waves_per_simd,
            max_occupancy: max_waves_per_simd,
            limiter: amdinst_core::limiter(limiter),
            code_bytes: kernel.code.end.saturating_sub(kernel.code.start),
        }
    }
}
