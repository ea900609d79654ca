//! One emulated GPU: the memory that it sees, and the kernels it has decoded.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use amdinst_core::Arch;
use amdinst_emu::{Config, Dispatch, Execution, Fault, LoadError, Machine, MemoryError, Program, Resident};

use crate::image::Image;

/// Why a packet was not run to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DispatchError {
    /// There is no kernel where the packet says.
    #[error("the packet's kernel at {address:#x} cannot be read: {error}")]
    NoKernel {
        /// `kernel_object`.
        address: u64,
        /// Why.
        error: LoadError,
    },
    /// The kernel faulted.
    #[error("{0}")]
    Fault(Box<Fault>),
}

/// A GPU. Launches run on the memory as it was mapped when they began.
#[derive(Debug)]
pub(crate) struct Gpu {
    /// Its node.
    pub(crate) node: u32,
    machine: RwLock<Arc<Machine>>,
    /// Decoded kernels, by the address of their descriptor.
    programs: Mutex<HashMap<u64, Arc<Program>>>,
}

impl Gpu {
    /// A GPU that sees no memory yet.
    pub(crate) fn new(node: u32, arch: Arch, strict_barriers: bool) -> Self {
        let mut config = Config::default();
        config.strict_barriers = strict_barriers;
        Self { node, machine: RwLock::new(Arc::new(Machine::new(arch, config))), programs: Mutex::default() }
    }

    /// The GPU as it is now.
    pub(crate) fn machine(&self) -> Arc<Machine> {
        self.machine.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Let the GPU see memory.
    ///
    /// # Safety
    /// As [`Machine::map_host`] asks.
    pub(crate) unsafe fn map(
        &self,
        address: u64,
        size: u64,
        label: &str,
        keep: Arc<dyn Any + Send + Sync>,
    ) -> Result<(), MemoryError> {
        let mut machine = self.machine.write().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the caller's.
        unsafe { Arc::make_mut(&mut machine).map_host(address, size, label, keep) }
    }

    /// Hide the memory that begins there.
    pub(crate) fn unmap(&self, address: u64) {
        let mut machine = self.machine.write().unwrap_or_else(PoisonError::into_inner);
        // What is not there is hidden already.
        let _ = Arc::make_mut(&mut machine).free(address);
    }

    /// Run a dispatch packet whose kernel's descriptor is at `kernel`.
    pub(crate) fn dispatch(&self, kernel: u64, dispatch: &Dispatch) -> Result<Execution, DispatchError> {
        let machine = self.machine();
        let program = self
            .program(&machine, kernel)
            .map_err(|error| DispatchError::NoKernel { address: kernel, error })?;
        machine.dispatch(&program, dispatch).map_err(|fault| DispatchError::Fault(Box::new(fault)))
    }

    /// The kernel, decoded now unless its code is what it was the last time.
    fn program(&self, machine: &Machine, kernel: u64) -> Result<Arc<Program>, LoadError> {
        let known = self.programs.lock().unwrap_or_else(PoisonError::into_inner).get(&kernel).cloned();
        if let Some(program) = known.filter(|program| machine.is_current(program)) {
            return Ok(program);
        }
        let image = Image::around(machine, kernel);
        let name = image.as_ref().and_then(|image| image.kernel_name(machine, kernel));
        let name = name.unwrap_or_else(|| format!("kernel at {kernel:#x}"));
        let bias = image.as_ref().map_or(0, |image| image.start);
        let code = image.and_then(|image| image.code);
        let resident = Resident { descriptor: kernel, name: &name, bias, code };
        let program = Arc::new(machine.program_at(&resident)?);
        self.programs.lock().unwrap_or_else(PoisonError::into_inner).insert(kernel, program.clone());
        Ok(program)
    }
}
