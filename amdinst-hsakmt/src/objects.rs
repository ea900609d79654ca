//! The code objects that the program has given to the runtime's loader, and their instrumented forms.
//!
//! They are told by [`crate::tools`]. What is loaded is found again by its code, which nothing changes on the
//! way.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use amdgpu_object::{CodeObject, Kernel, verify};
use amdinst_core::instrument::{self, Abi, Counters, KernelProbes, Options, ProbeMap, probe_specs};
use amdinst_emu::Machine;
use amdinst_explain::missing_waits;
use amdinst_format::report::waits::MissingWait;

use crate::image::Image;
use crate::sources::sources;
use crate::tell::tell;

/// Kernels of HIP's own, which copy and fill.
const RUNTIME_KERNELS: &str = "__amd_rocclr_";
/// Bytes of code that are compared before the rest.
const FIRST: usize = 4096;

/// A code object.
#[derive(Debug)]
pub(crate) struct Object {
    original: CodeObject,
    rewritten: Option<(CodeObject, ProbeMap)>,
    /// What the plan says of each kernel; empty if there was none.
    planned: Vec<KernelProbes>,
    /// By kernel, the waits that are missing in its text, once they are asked for.
    missing_waits: OnceLock<BTreeMap<String, Vec<MissingWait>>>,
}

impl Object {
    /// Read a code object and, if asked for, instrument it. What cannot be instrumented stays as it is.
    fn new(bytes: &[u8], counters: Option<Counters>) -> Option<Self> {
        let original = CodeObject::parse(bytes.to_vec()).ok()?;
        let own = original.kernels.iter().all(|kernel| kernel.name.starts_with(RUNTIME_KERNELS));
        let mut object =
            Self { original, rewritten: None, planned: Vec::new(), missing_waits: OnceLock::new() };
        if let Some(counters) = counters.filter(|_| !own)
            && let Err(error) = object.instrument(counters)
        {
            tell(format_args!("a code object stays as it is: {error}"));
        }
        Some(object)
    }

    fn instrument(&mut self, counters: Counters) -> Result<(), String> {
        let original = &self.original;
        let probes = probe_specs(original).map_err(|error| error.to_string())?;
        let options = Options { abi: Abi::Global, counters, probes, ..Options::default() };
        let plan = instrument::plan(original, &options).map_err(|error| error.to_string())?;
        self.planned = plan.kernels().to_vec();
        if self.planned.iter().any(KernelProbes::is_instrumented) {
            let made = instrument::apply(original, plan).map_err(|error| error.to_string())?;
            let rewritten = CodeObject::parse(made.bytes).map_err(|error| error.to_string())?;
            let (mut map, sources) = (made.map, sources());
            map.kernels.iter_mut().for_each(|kernel| sources.place(kernel));
            self.rewritten = Some((rewritten, map));
        }
        Ok(())
    }

    /// The file that is to be loaded in place of the original; `None` for the original.
    pub(crate) fn replacement(&self) -> Option<&[u8]> {
        self.rewritten.as_ref().map(|(object, _)| &*object.bytes)
    }

    /// What is loaded.
    fn loaded(&self) -> &CodeObject {
        self.rewritten.as_ref().map_or(&self.original, |(object, _)| object)
    }

    /// A kernel of what is loaded.
    pub(crate) fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.loaded().kernel(name)
    }

    /// What a kernel's descriptor says in two ways ([`verify::contradiction`]).
    pub(crate) fn contradiction(&self, kernel: &str) -> Option<String> {
        verify::contradiction(self.kernel(kernel)?, self.original.target.arch)
    }

    /// Its target (`gfx90a:xnack-`).
    pub(crate) fn target(&self) -> String {
        self.original.target.to_string()
    }

    /// The probes of a kernel.
    pub(crate) fn probes(&self, kernel: &str) -> Option<&KernelProbes> {
        let rewritten = self.rewritten.as_ref().and_then(|(_, map)| map.kernel(kernel));
        rewritten.or_else(|| self.planned.iter().find(|probes| probes.name == kernel))
    }

    /// The waits that are missing in the text of a kernel.
    pub(crate) fn missing_waits(&self, kernel: &str) -> &[MissingWait] {
        let known = self.missing_waits.get_or_init(|| missing_waits(&self.original));
        known.get(kernel).map_or(&[], Vec::as_slice)
    }

    /// LDS bytes that a kernel's instrumented form needs besides the original's.
    pub(crate) fn more_lds(&self, kernel: &str) -> u32 {
        let size = |object: &CodeObject| {
            object.kernel(kernel).map_or(0, |kernel| kernel.metadata.group_segment_fixed_size)
        };
        size(self.loaded()).saturating_sub(size(&self.original))
    }

    /// The code object as the compiler made it.
    pub(crate) fn original(&self) -> &CodeObject {
        &self.original
    }

    /// The address in the original of an instruction of what is loaded.
    pub(crate) fn original_pc(&self, pc: u64) -> Option<u64> {
        match &self.rewritten {
            Some((_, map)) => map.original_pc(pc),
            None => Some(pc),
        }
    }

    /// Whether an image is this code object.
    fn is(&self, machine: &Machine, image: &Image) -> bool {
        let object = self.loaded();
        let Some(text) = object.bytes.get(object.text.range.clone()) else { return false };
        let same = |text: &[u8]| {
            let mut loaded = vec![0; text.len()];
            machine.read(image.start.wrapping_add(object.text.address), &mut loaded).is_ok() && loaded == text
        };
        same(&text[..text.len().min(FIRST)]) && same(text)
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Objects(Mutex<Vec<Arc<Object>>>);

impl Objects {
    /// Take note of a code object, whose instrumented form is made if `counters` are told. `None` if it is
    /// none, or none of a GPU that is emulated.
    pub(crate) fn note(&self, bytes: &[u8], counters: Option<Counters>) -> Option<Arc<Object>> {
        let known = |object: &&Arc<Object>| &*object.original.bytes == bytes;
        if let Some(object) = self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().find(known) {
            return Some(object.clone());
        }
        let object = Arc::new(Object::new(bytes, counters)?);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(object.clone());
        Some(object)
    }

    /// The code object that has been loaded there; the latest of several that are the same.
    pub(crate) fn loaded(&self, machine: &Machine, image: &Image) -> Option<Arc<Object>> {
        let objects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        objects.iter().rev().find(|object| object.is(machine, image)).cloned()
    }
}
