//! The launches of a test on another processor, too: the first that leaves other values there is told, with
//! the instructions where the two executions part.
//!
//! The machine of the other processor is kept in step with the original's until then. `cargo amdinst test
//! --gpus` runs a test so that passes on one GPU and fails on another.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use amdgpu_object::CodeObject;
use amdinst_emu::{Config, Machine, MemoryError, Program, Snapshot};
use amdinst_explain::origin::{Lost, Parting, Rerun, parting};
use amdinst_format::interface::Settings;
use amdinst_format::report::parting::{BesideRequest, PartedElement, PartedLaunch};

use super::DeviceError;
use super::element::ElementType;
use super::variables::{empty_heap, forget_lines};
use crate::request::Request;
use crate::source::workspace_root;

/// The machine of the other processor.
#[derive(Debug)]
pub(super) struct Beside {
    asked: BesideRequest,
    machine: Machine,
    /// Code objects by package, with what the machine made of each.
    objects: BTreeMap<String, (CodeObject, Arc<Program>)>,
    /// Nothing is compared any more.
    is_over: bool,
}

/// A launch that the test has made, and the memory before it.
pub(super) struct Done<'a> {
    pub(super) request: &'a Request<'a>,
    pub(super) program: &'a Program,
    pub(super) wave_instructions: u64,
    pub(super) before: &'a Snapshot,
    /// Bytes and label of each buffer, by address.
    pub(super) buffers: &'a BTreeMap<u64, (usize, String)>,
}

impl Beside {
    /// The machine that the settings ask for, if they do.
    ///
    /// # Errors
    /// The request, or a code object that it names, cannot be read.
    pub(super) fn asked(settings: &Settings, config: &Config) -> Result<Option<Self>, DeviceError> {
        let Some(path) = &settings.beside else { return Ok(None) };
        let failed = |path: &Path, error: &dyn std::fmt::Display| {
            DeviceError::Beside(format!("{}: {error}", path.display()))
        };
        let text = std::fs::read(path).map_err(|error| failed(path, &error))?;
        let asked: BesideRequest = serde_json::from_slice(&text).map_err(|error| failed(path, &error))?;
        let mut objects = Vec::new();
        for (package, path) in &asked.code_objects {
            let bytes = std::fs::read(path).map_err(|error| failed(path, &error))?;
            let object = CodeObject::parse(bytes).map_err(|error| failed(path, &error))?;
            objects.push((package.clone(), path, object));
        }
        let Some((_, _, first)) = objects.first() else { return Ok(None) };
        let mut config = config.clone();
        config.check_races = false;
        // Of a test that fails in another order, this is the usual one.
        config.schedule = None;
        let mut machine = Machine::for_code(first.target.arch, config);
        let mut loaded = BTreeMap::new();
        for (package, path, object) in objects {
            let program = machine.load(&object).map_err(|error| failed(path, &error))?;
            loaded.insert(package, (object, Arc::new(program)));
        }
        Ok(Some(Self { asked, machine, objects: loaded, is_over: false }))
    }

    /// Allocates what the test's machine has allocated.
    pub(super) fn allocate(&mut self, bytes: u64, alignment: u64, label: &str) -> Result<u64, MemoryError> {
        self.machine.alloc(bytes, alignment, label)
    }

    /// Writes what the host has written.
    pub(super) fn write(&mut self, address: u64, from: &[u8]) -> Result<(), MemoryError> {
        self.machine.write(address, from)
    }

    pub(super) fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        self.machine.free(address)
    }

    /// Whether launches are compared.
    pub(super) const fn compares(&self) -> bool {
        !self.is_over
    }

    /// Launches what the test has launched. If that leaves other values, they are told, and nothing is
    /// compared from then on. `original` is as after the launch, and stays so.
    pub(super) fn launch(&mut self, original: &mut Machine, done: &Done<'_>) {
        let request = done.request;
        // Until both are found to leave the same.
        self.is_over = true;
        let Some((object, program)) = self.objects.get(&request.built.package) else { return };
        let launch = request.emulated(request.kernarg.clone());
        empty_heap(&mut self.machine, program);
        forget_lines(&mut self.machine, program);
        let before = self.machine.snapshot();
        let Ok(execution) = self.machine.launch(program, &launch) else { return };
        let Some(differs) = Differs::find(original, &self.machine, done.buffers) else {
            self.is_over = false;
            return;
        };
        let (after, root) = (original.snapshot(), workspace_root());
        let own = (done.wave_instructions, done.before);
        let here = Rerun::new(original, done.program, &request.built.original, &launch, own);
        let other = (execution.wave_instructions, &before);
        let there = Rerun::new(&mut self.machine, program, object, &launch, other);
        let found = here.and_then(|here| {
            let (mut here, mut there) = (here.in_workspace(root), there?.in_workspace(root));
            parting(&mut here, &mut there, differs.dword)
        });
        original.restore_all(&after);
        let told = differs.told(request.kernel, found);
        if let Ok(text) = serde_json::to_vec(&told) {
            // Whoever asked sees that there is nothing.
            let _ = std::fs::write(&self.asked.report, text);
        }
    }
}

/// The first element that differs.
struct Differs {
    /// The dword that differs, by its address.
    dword: u64,
    element: PartedElement,
    elements: u64,
}

impl Differs {
    fn find(here: &Machine, there: &Machine, buffers: &BTreeMap<u64, (usize, String)>) -> Option<Self> {
        let mut found: Option<Self> = None;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for (&address, (size, label)) in buffers {
            ours.clear();
            ours.resize(*size, 0);
            theirs.clone_from(&ours);
            let read = here.read(address, &mut ours).and(there.read(address, &mut theirs));
            debug_assert!(read.is_ok(), "{read:?}");
            let ty = ElementType::of(label);
            for (index, (own, other)) in ours.chunks(ty.bytes()).zip(theirs.chunks(ty.bytes())).enumerate() {
                let Some(byte) = own.iter().zip(other).position(|(own, other)| own != other) else {
                    continue;
                };
                let first = found.get_or_insert_with(|| Self {
                    dword: (address + (index * ty.bytes() + byte) as u64) & !3,
                    element: PartedElement {
                        buffer: label.clone(),
                        index: index as u64,
                        here: ty.shown(own),
                        there: ty.shown(other),
                        ulp: ty.ulp(own, other),
                    },
                    elements: 0,
                });
                first.elements += 1;
            }
        }
        found
    }

    fn told(self, kernel: &str, found: Result<Parting, Lost>) -> PartedLaunch {
        let Self { element, elements, .. } = self;
        let kernel = kernel.to_owned();
        match found {
            Ok(Parting { here, there, suspect }) => {
                PartedLaunch { kernel, element, elements, here, there, suspect, lost: None }
            }
            Err(lost) => {
                let lost = Some(lost.to_string());
                PartedLaunch { kernel, element, elements, here: None, there: None, suspect: None, lost }
            }
        }
    }
}
