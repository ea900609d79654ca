//! A built code object with its instrumented form.

use std::path::PathBuf;

use amdgpu_isa::{Arch, WaveSize};
use amdgpu_object::{CodeObject, Kernel};
use amdinst_core::analysis::early::Suspects;
use amdinst_core::instrument::{AddressMap, KernelProbes, ProbeMap, SCHEMA, digest};
use amdinst_format::interface::LaunchFailure;

/// A code object with its instrumented form, in memory.
#[derive(Debug)]
pub(crate) struct Built {
    /// The package that it was built from.
    pub(crate) package: String,
    /// The cargo profile that it was built with.
    pub(crate) profile: String,
    pub(crate) original: CodeObject,
    pub(crate) original_path: PathBuf,
    /// `None` when no kernel could or had to be instrumented.
    pub(crate) instrumented: Option<InstrumentedForm>,
    pub(crate) probes: ProbeMap,
    /// Kernels of the original that waits may be missing in.
    pub(crate) early: Suspects,
}

/// An instrumented code object.
#[derive(Debug)]
pub(crate) struct InstrumentedForm {
    pub(crate) object: CodeObject,
    pub(crate) path: PathBuf,
}

impl Built {
    /// Kernels that run as they were compiled: nothing of them was asked to be counted.
    pub(crate) fn as_compiled(
        package: &str,
        profile: &str,
        original: CodeObject,
        original_path: PathBuf,
    ) -> Self {
        let target = original.target.to_string();
        let probes = ProbeMap {
            schema: SCHEMA,
            target,
            original: digest(&original.bytes),
            code_object: None,
            kernels: Vec::new(),
            addresses: AddressMap::default(),
        };
        Self {
            package: package.to_owned(),
            profile: profile.to_owned(),
            original,
            original_path,
            instrumented: None,
            probes,
            early: Suspects::default(),
        }
    }

    /// What the code object calls the kernel of that path in its crate (`scan::sum`): by the path if it has
    /// several of that name.
    pub(crate) fn name<'a>(&self, path: &'a str) -> &'a str {
        let generic = path.find('<').unwrap_or(path.len());
        let own = path[..generic].rfind("::").map_or(path, |at| &path[at + 2..]);
        if self.original.kernel(path).is_some() { path } else { own }
    }

    /// A kernel of the original.
    pub(crate) fn kernel(&self, name: &str) -> Result<&Kernel, LaunchFailure> {
        self.original.kernel(name).ok_or_else(|| LaunchFailure::NoSuchKernel {
            kernel: name.to_owned(),
            path: self.original_path.display().to_string(),
            known: self.original.kernels.iter().map(|kernel| kernel.name.clone()).collect(),
        })
    }

    /// The size of the waves of a kernel.
    pub(crate) fn wave_size(&self, name: &str) -> Result<WaveSize, LaunchFailure> {
        Ok(self.kernel(name)?.descriptor.wave_size(self.original.target.arch))
    }

    /// A kernel's part of the probe map.
    pub(crate) fn probes_of(&self, kernel: &str) -> Option<&KernelProbes> {
        self.probes.kernel(kernel)
    }
}

/// What there is for a processor, else what there is for the generic one that it belongs to: the order that
/// HIP has, too.
pub(crate) fn code_for<T>(cpu: &str, built: impl Fn(&str) -> Option<T>) -> Option<T> {
    let generic = || built(Arch::from_name(cpu)?.generic()?.name());
    built(cpu).or_else(generic)
}
