//! Code objects of an archive, loaded on both machines.

use std::collections::HashMap;
use std::sync::Arc;

use amdgpu_isa::Arch;
use amdgpu_object::{CodeObject, Kernel, container};
use amdinst_core::analysis::early::Suspects;
use amdinst_core::instrument::{self, KernelProbes, Options, ProbeMap, Reason, probe_specs};
use amdinst_core::names;
use amdinst_emu::Program;

use super::machines::Machines;
use crate::calls::{Call, DataName};
use crate::hash::ContentHash;
use crate::process::Process;

/// A code object on both machines.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) object: Arc<CodeObject>,
    pub(super) program: Program,
    /// What runs on the second machine.
    pub(super) twin: Option<Twin>,
    /// Kernels that waits may be missing in.
    pub(super) early: Suspects,
}

/// The form of a code object that runs on the second machine: instrumented if that can be.
#[derive(Debug)]
pub(super) struct Twin {
    pub(super) program: Program,
    pub(super) map: Result<ProbeMap, String>,
}

impl Twin {
    /// The probes of a kernel, or why it has none.
    pub(super) fn probes(&self, kernel: &str) -> Result<(&ProbeMap, &KernelProbes), String> {
        let map = self.map.as_ref().map_err(String::clone)?;
        let probes = map.kernel(kernel).ok_or("it was not instrumented")?;
        if probes.is_instrumented() {
            return Ok((map, probes));
        }
        match probes.refusals.first() {
            Some(refusal) => Err(refusal.detail.clone()),
            None => Err("it has no branch that can diverge".to_owned()),
        }
    }
}

/// The kernel of a name: its symbol, or with what Rust's kernels end with.
pub(super) fn kernel_of<'a>(object: &'a CodeObject, name: &str) -> Option<&'a Kernel> {
    object.kernel(name).or_else(|| object.kernel(&format!("{name}{}", names::GPU_KERNEL)))
}

/// All code objects that have been asked for.
#[derive(Debug, Default)]
pub(super) struct Codes {
    known: HashMap<DataName, Result<Arc<Code>, String>>,
    /// Modules that are loaded now, by their handles, in order.
    modules: Vec<(u64, DataName)>,
}

impl Codes {
    pub(super) fn load(&mut self, module: u64, code: &DataName) {
        self.modules.push((module, code.clone()));
    }

    pub(super) fn unload(&mut self, module: u64) {
        self.modules.retain(|(known, _)| *known != module);
    }

    /// The name of a module's code.
    pub(super) fn of_module(&self, module: u64) -> Option<DataName> {
        self.modules.iter().rev().find(|(known, _)| *known == module).map(|(_, code)| code.clone())
    }

    /// A code object, loaded if it is not yet.
    pub(super) fn get(
        &mut self,
        name: &DataName,
        loader: &Loader<'_>,
        machines: &mut Machines,
    ) -> Result<Arc<Code>, String> {
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        let loaded = loader.load(name, machines).map(Arc::new);
        self.known.insert(name.clone(), loaded.clone());
        loaded
    }

    /// The code object that has a kernel: the one named, else the last one loaded that has it.
    pub(super) fn of_kernel(
        &mut self,
        (named, kernel): (Option<&DataName>, &str),
        loader: &Loader<'_>,
        machines: &mut Machines,
    ) -> Result<(Arc<Code>, String), String> {
        let mut problem = None;
        let modules: Vec<DataName> = self.modules.iter().rev().map(|(_, name)| name.clone()).collect();
        for name in named.into_iter().chain(&modules) {
            match self.get(name, loader, machines) {
                Ok(code) => {
                    if let Some(found) = kernel_of(&code.object, kernel) {
                        let name = found.name.clone();
                        return Ok((code, name));
                    }
                }
                Err(error) => problem = problem.or(Some(error)),
            }
        }
        Err(problem.unwrap_or_else(|| format!("no code object of the archive has a kernel `{kernel}`")))
    }
}

/// How code objects of a process are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loader<'a> {
    pub(super) process: &'a Process,
    pub(super) instrument: Option<&'a Options>,
    pub(super) arch: Arch,
}

impl Loader<'_> {
    fn load(&self, name: &DataName, machines: &mut Machines) -> Result<Code, String> {
        let object = read(self.process, name, Some(self.arch))?;
        let program = machines.original.load(&object).map_err(|error| error.to_string())?;
        let twin = match (&mut machines.twin, self.instrument) {
            (Some(twin), Some(options)) => {
                let kernels = launched(self.process, &object);
                let (form, map) = match instrumented(&object, options, kernels) {
                    Ok((form, map)) => (form, Ok(map)),
                    Err(why) => (object.clone(), Err(why)),
                };
                let program = twin.load(&form).map_err(|error| format!("its instrumented form: {error}"))?;
                Some(Twin { program, map })
            }
            _ => None,
        };
        Ok(Code { object: Arc::new(object), program, twin, early: Suspects::default() })
    }
}

/// Reads a code object: the file's only one, or that of it for a processor.
pub(super) fn read(process: &Process, name: &DataName, arch: Option<Arch>) -> Result<CodeObject, String> {
    let file = name.file();
    let bytes = process.folder.read(&file).map_err(|error| error.to_string())?;
    if name.hash().is_some_and(|hash| hash != ContentHash::of(&bytes)) {
        let path = process.folder.file(&file);
        return Err(crate::folder::FolderError::Damaged { path }.to_string());
    }
    let told = |problem: String| format!("{}: {problem}", process.folder.file(&file).display());
    let embedded = container::open(&bytes).map_err(|error| told(error.to_string()))?;
    let recorded_on: Option<Arch> = process.recorded_on.iter().find_map(|name| name.parse().ok());
    let wanted = arch.or(recorded_on);
    let of = |one: &&container::Embedded<'_>| {
        let processor = one.target_id().split(':').next().unwrap_or_default();
        let processor: Option<Arch> = processor.parse().ok();
        processor.is_some_and(|processor| wanted.is_none_or(|wanted| wanted.runs(processor)))
    };
    let one = embedded.iter().find(of).ok_or_else(|| {
        let targets: Vec<String> = embedded.iter().map(|one| one.target.clone()).collect();
        let wanted = wanted.map_or_else(|| "a known processor".to_owned(), |wanted| wanted.to_string());
        told(format!("it has no code object for {wanted}, it has {}", amdinst_text::listed(&targets, 8)))
    })?;
    let object = CodeObject::parse(one.bytes.to_vec()).map_err(|error| told(error.to_string()))?;
    object.target.arch.to_execute().map_err(|error| told(error.to_string()))?;
    Ok(object)
}

/// The kernels of a code object that a process launches.
fn launched(process: &Process, object: &CodeObject) -> Vec<String> {
    let mut kernels: Vec<String> = Vec::new();
    for event in &process.events {
        if let Call::Launch(launch) = &event.call
            && let Some(kernel) = kernel_of(object, &launch.kernel)
            && !kernels.contains(&kernel.name)
        {
            kernels.push(kernel.name.clone());
        }
    }
    kernels
}

/// The instrumented form of a code object, or why there is none.
fn instrumented(
    object: &CodeObject,
    options: &Options,
    kernels: Vec<String>,
) -> Result<(CodeObject, ProbeMap), String> {
    object.target.arch.to_instrument().map_err(|error| error.to_string())?;
    let probes = probe_specs(object).map_err(|error| error.to_string())?;
    let options = Options { probes, kernels: Some(kernels), ..options.clone() };
    let failed = |error: instrument::InstrumentError| error.to_string();
    let mut plan = instrument::plan(object, &options).map_err(failed)?;
    // What other kernels call, too, is counted only if these are instrumented. No others run here.
    let mut refusals = plan.kernels().iter().flat_map(|kernel| &kernel.refusals);
    if refusals.any(|refusal| refusal.reason == Reason::SharedFunction) {
        plan = instrument::plan(object, &Options { kernels: None, ..options }).map_err(failed)?;
    }
    if !plan.kernels().iter().any(KernelProbes::is_instrumented) {
        let refusal = plan.kernels().iter().flat_map(|kernel| &kernel.refusals).next();
        return Err(refusal.map_or_else(
            || "it has no branch that can diverge".to_owned(),
            |refusal| refusal.detail.clone(),
        ));
    }
    let applied = instrument::apply(object, plan).map_err(failed)?;
    let form = CodeObject::parse(applied.bytes).map_err(|error| format!("its instrumented form: {error}"))?;
    Ok((form, applied.map))
}
