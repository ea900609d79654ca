//! Launches on a GPU, through the HIP runtime.

mod error;
mod runtime;
mod timer;

use std::collections::HashMap;
use std::ffi::{CString, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use amdgpu_isa::Arch;
use amdinst_core::counters;
use amdinst_core::heap;
use amdinst_core::panics;
use amdinst_core::printed::{self, Printed};
use amdinst_core::report::{self, Report};
use amdinst_format::interface::{LaunchFailure, Settings};
use hip_sys::version::Version;
use hip_sys::{hipDeviceptr_t, hipFunction_t, hipMemcpyKind, hipModule_t, hipStream_t};
use timer::Timer;

use super::memory::{Allocation, DeviceMemory};
use super::{DeviceError, Outcome};
use crate::artifacts;
use crate::fault;
use crate::request::Request;
use runtime::{Runtime, call};

pub(crate) use error::HipError;
pub(in crate::device) use error::short_reason;

/// A GPU.
pub(crate) struct Gpu {
    runtime: &'static Runtime,
    ordinal: c_int,
    target: String,
    settings: Settings,
    /// Loaded code objects by path.
    modules: Mutex<HashMap<PathBuf, Module>>,
    /// Streams that nothing uses now. Each launch and each copy has one for itself, so that those of several
    /// threads need not wait for each other.
    streams: Mutex<Vec<Stream>>,
    /// Held from when a code object's variable is set until the launch that it is set for has ended.
    variable: Mutex<()>,
}

/// A loaded code object.
#[derive(Clone, Copy)]
struct Module(hipModule_t);

// SAFETY: a handle of the runtime, which may be used from any thread.
unsafe impl Send for Module {}

/// A stream of the runtime, which orders itself with the null stream.
struct Stream(hipStream_t);

// SAFETY: a handle of the runtime, which may be used from any thread.
unsafe impl Send for Stream {}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gpu")
            .field("ordinal", &self.ordinal)
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

impl Gpu {
    /// The GPU whose number is asked for, else the first one that the kernels were built for.
    ///
    /// # Errors
    /// No runtime, no GPU, none of that number, or none of the kernels' targets.
    pub(crate) fn open(settings: &Settings) -> Result<Self, DeviceError> {
        let runtime = Runtime::get()?;
        let targets = runtime.targets()?;
        let built = match &settings.target_cpu {
            Some(cpu) => vec![cpu.clone()],
            None => artifacts::built_cpus(settings),
        };
        let fits =
            |target: &&String| built.is_empty() || built.iter().any(|cpu| runs(processor(target), cpu));
        let index = match settings.gpu {
            Some(number) if number as usize >= targets.len() => {
                return Err(HipError::NoSuchGpu { number, devices: targets }.into());
            }
            Some(number) => Some(number as usize).filter(|index| fits(&&targets[*index])),
            None => targets.iter().position(|target| fits(&target)),
        };
        let Some(index) = index else {
            return Err(HipError::OtherTarget { devices: targets, built }.into());
        };
        Ok(Self {
            runtime,
            ordinal: index as c_int,
            target: targets[index].clone(),
            settings: settings.clone(),
            modules: Mutex::default(),
            streams: Mutex::default(),
            variable: Mutex::default(),
        })
    }

    /// Its number, as the runtime counts.
    pub(crate) const fn ordinal(&self) -> i32 {
        self.ordinal
    }

    /// Its target, as the runtime spells it (`gfx90a:sramecc+:xnack-`).
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    pub(crate) fn cpu(&self) -> &str {
        processor(&self.target)
    }

    pub(crate) const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The runtime, with this GPU current on the calling thread.
    fn current(&self) -> Result<&'static Runtime, HipError> {
        // SAFETY: a device number that the runtime gave.
        unsafe { call!(self.runtime, hipSetDevice(self.ordinal)) }.map(|()| self.runtime)
    }

    /// Do something in a stream, and wait for it.
    fn in_stream(
        &self,
        work: impl FnOnce(&'static Runtime, hipStream_t) -> Result<(), HipError>,
    ) -> Result<(), HipError> {
        let runtime = self.current()?;
        let free = self.streams.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let stream = match free {
            Some(stream) => stream,
            None => {
                let mut stream: hipStream_t = std::ptr::null_mut();
                // SAFETY: the pointer is valid for a write.
                unsafe { call!(runtime, hipStreamCreate(&raw mut stream)) }?;
                Stream(stream)
            }
        };
        // SAFETY: a stream of this GPU's.
        let done =
            work(runtime, stream.0).and_then(|()| unsafe { call!(runtime, hipStreamSynchronize(stream.0)) });
        // What has failed in it would fail what comes next: an error leaves the stream to the runtime.
        if done.is_ok() {
            self.streams.lock().unwrap_or_else(PoisonError::into_inner).push(stream);
        }
        done
    }

    /// Zeroed device memory.
    pub(super) fn allocate(&self, bytes: usize) -> Result<u64, HipError> {
        let runtime = self.current()?;
        let mut pointer: *mut c_void = std::ptr::null_mut();
        // SAFETY: the pointer is valid for a write, and what it then points to has that many bytes.
        unsafe {
            call!(runtime, hipMalloc(&raw mut pointer, bytes.max(1)))?;
            call!(runtime, hipMemset(pointer, 0, bytes.max(1)))?;
        }
        Ok(pointer as u64)
    }

    /// Sets the 8-byte variable of a loaded code object.
    fn set_variable(&self, path: &Path, name: &str, value: u64) -> Result<(), LaunchFailure> {
        match self.variable(path, name)? {
            Some(address) => Ok(self.write(address, &value.to_le_bytes())?),
            None => Ok(()),
        }
    }

    /// Empties the memory that kernels of a loaded code object allocate from.
    fn empty_heap(&self, path: &Path, request: &Request<'_>) -> Result<(), LaunchFailure> {
        let allocates = request.has_variable(heap::SYMBOL);
        if let Some(address) = allocates.then(|| self.variable(path, heap::SYMBOL)).transpose()?.flatten() {
            self.write(address, &[0; heap::HEAD])?;
        }
        Ok(())
    }

    /// Has waves of a loaded code object end where they panic, if its panics say why: a trap would end this
    /// program.
    fn end_panics(&self, path: &Path, request: &Request<'_>) -> Result<(), LaunchFailure> {
        if request.has_variable(panics::ENDS) {
            self.set_variable(path, panics::ENDS, 1)?;
        }
        Ok(())
    }

    /// What a loaded code object has printed since the last time, which is then forgotten.
    ///
    /// # Errors
    /// That of a panic.
    fn printed(&self, path: &Path, request: &Request<'_>) -> Result<Printed, LaunchFailure> {
        let printed = self.lines(path, request, printed::SYMBOL)?;
        let panics = request.panics(&self.lines(path, request, panics::SYMBOL)?);
        match panics.first() {
            Some(panic) => Err(fault::after_printing(fault::of_ended(panic, request), &printed)),
            None => Ok(printed),
        }
    }

    /// The lines of a buffer of a loaded code object, which are then forgotten.
    fn lines(&self, path: &Path, request: &Request<'_>, symbol: &str) -> Result<Printed, LaunchFailure> {
        let is_there = request.has_variable(symbol);
        let Some(address) = is_there.then(|| self.variable(path, symbol)).transpose()?.flatten() else {
            return Ok(Printed::default());
        };
        let lines = Printed::at(address, |address, bytes| self.read(address, bytes))?;
        self.write(address, &[0; printed::HEAD])?;
        Ok(lines)
    }

    /// The address of a variable of a loaded code object; none if it is not loaded.
    fn variable(&self, path: &Path, name: &str) -> Result<Option<u64>, LaunchFailure> {
        let runtime = self.current()?;
        let module = self.modules.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied();
        let Some(module) = module else { return Ok(None) };
        let name = CString::new(name).unwrap_or_default();
        let mut address: hipDeviceptr_t = std::ptr::null_mut();
        let mut size = 0;
        // SAFETY: valid places for two writes, a loaded module and a NUL-terminated name.
        unsafe {
            call!(runtime, hipModuleGetGlobal(&raw mut address, &raw mut size, module.0, name.as_ptr()))
        }?;
        Ok(Some(address as u64))
    }

    fn function(&self, path: &Path, bytes: &[u8], kernel: &str) -> Result<hipFunction_t, LaunchFailure> {
        let runtime = self.current()?;
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let module = match modules.get(path) {
            Some(module) => *module,
            None => {
                let mut module: hipModule_t = std::ptr::null_mut();
                // SAFETY: a whole code object, which the runtime copies.
                unsafe { call!(runtime, hipModuleLoadData(&raw mut module, bytes.as_ptr().cast())) }
                    .map_err(|error| LaunchFailure::Load {
                        path: path.display().to_string(),
                        message: self.refusal(&error, bytes),
                    })?;
                modules.insert(path.to_owned(), Module(module));
                Module(module)
            }
        };
        let name = CString::new(kernel).unwrap_or_default();
        let mut function: hipFunction_t = std::ptr::null_mut();
        // SAFETY: a loaded module and a NUL-terminated name.
        unsafe { call!(runtime, hipModuleGetFunction(&raw mut function, module.0, name.as_ptr())) }?;
        Ok(function)
    }

    /// Why the runtime does not load a code object, and what to do if that is known.
    fn refusal(&self, error: &HipError, bytes: &[u8]) -> String {
        let library = self.runtime.library;
        let message = format!("{error} on {}", self.target);
        let newest = library.version.map(Version::newest_code_object);
        match (code_object_version(bytes), newest) {
            (Some(version), Some(newest)) if version > newest => format!(
                "{message}\n  it is a code object of version {version}, and {library} reads versions up to {newest}: run `cargo \
                 amdinst test --code-object-version {newest}`"
            ),
            (Some(version), None) => {
                format!("{message}\n  it is a code object of version {version}; {library} may be older")
            }
            _ => message,
        }
    }

    /// Runs a kernel to its end, and tells how long the GPU took. The runtime fills in the hidden arguments.
    fn run(
        &self,
        request: &Request<'_>,
        function: hipFunction_t,
        kernarg: &mut [u8],
    ) -> Result<Duration, HipError> {
        let timer = Timer::new(self.current()?)?;
        let mut size = kernarg.len();
        let mut extra = [
            hip_sys::HIP_LAUNCH_PARAM_BUFFER_POINTER,
            kernarg.as_mut_ptr().cast(),
            hip_sys::HIP_LAUNCH_PARAM_BUFFER_SIZE,
            (&raw mut size).cast(),
            hip_sys::HIP_LAUNCH_PARAM_END,
        ];
        let ([gx, gy, gz], [bx, by, bz]) = (request.grid, request.block);
        let parameters = std::ptr::null_mut();
        // SAFETY: `extra` describes a buffer with every explicit argument; it and what it points to outlive
        // the call, which copies them. The kernel's own accesses are its author's responsibility, as
        // `unsafe fn` of a kernel says.
        self.in_stream(|runtime, stream| unsafe {
            timer.start(stream)?;
            call!(
                runtime,
                hipModuleLaunchKernel(
                    function,
                    gx,
                    gy,
                    gz,
                    bx,
                    by,
                    bz,
                    request.lds,
                    stream,
                    parameters,
                    extra.as_mut_ptr()
                )
            )?;
            timer.stop(stream)
        })?;
        timer.elapsed()
    }

    /// An error for a kernel that crashes the runtime.
    fn check_hidden_arguments(&self, request: &Request<'_>) -> Result<(), HipError> {
        let library = self.runtime.library;
        let kernel = request.built.original.kernel(request.kernel);
        let mut arguments = kernel.into_iter().flat_map(|kernel| kernel.metadata.args.iter());
        let has_action = arguments.any(|arg| arg.value_kind == "hidden_completion_action");
        match library.version {
            Some(version) if has_action && !version.takes_completion_actions() => {
                Err(HipError::CompletionAction { library })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn launch(self: &Arc<Self>, request: &Request<'_>) -> Result<Outcome, LaunchFailure> {
        self.check_hidden_arguments(request)?;
        let built = request.built;
        let probes = built.probes_of(request.kernel);
        let instrumented = probes.filter(|probes| probes.is_instrumented()).zip(built.instrumented.as_ref());
        let Some((probes, form)) = instrumented else {
            let function = self.function(&built.original_path, &built.original.bytes, request.kernel)?;
            self.empty_heap(&built.original_path, request)?;
            self.end_panics(&built.original_path, request)?;
            let elapsed = self.run(request, function, &mut request.kernarg.clone())?;
            return Ok(Outcome {
                report: request.empty_report(probes)?,
                wave_instructions: None,
                elapsed: Some(elapsed),
                timing: None,
                memory: None,
                doubts: Vec::new(),
                sampled: Vec::new(),
                printed: self.printed(&built.original_path, request)?,
            });
        };
        let function = self.function(&form.path, &form.object.bytes, request.kernel)?;
        let layout = probes.layout(request.grid, request.block);
        let mut records = layout.initial_buffer();
        let buffer = Allocation::new(self.clone(), self.allocate(records.len())?);
        buffer.write(&records)?;
        let _alone = match &probes.buffer_symbol {
            Some(symbol) => {
                let alone = self.variable.lock().unwrap_or_else(PoisonError::into_inner);
                self.set_variable(&form.path, symbol, buffer.address())?;
                Some(alone)
            }
            None => None,
        };
        let mut kernarg = request.instrumented_kernarg(probes, &layout, buffer.address())?;
        self.empty_heap(&form.path, request)?;
        self.end_panics(&form.path, request)?;
        let start = Instant::now();
        let elapsed = self.run(request, function, &mut kernarg)?;
        let seconds = start.elapsed().as_secs_f64();
        let printed = self.printed(&form.path, request)?;
        buffer.read(&mut records)?;
        let records = counters::decode(&records).map_err(|error| request.counters(error.to_string()))?;
        let demangled = request.demangled();
        let launch = report::Launch {
            probes,
            demangled: demangled.as_deref(),
            target: &built.probes.target,
            grid: request.grid,
            block: request.block,
            records: &records,
            seconds: Some(seconds),
        };
        let report = Report::new(&launch).map_err(|error| request.counters(error.to_string()))?;
        Ok(Outcome {
            report,
            wave_instructions: None,
            elapsed: Some(elapsed),
            timing: None,
            memory: None,
            doubts: Vec::new(),
            sampled: Vec::new(),
            printed,
        })
    }
}

/// The version of a code object: the ELF header's ABI version says it, counted from 2.
fn code_object_version(bytes: &[u8]) -> Option<u32> {
    const ABI_VERSION: usize = 8;
    bytes.get(ABI_VERSION).map(|abi| u32::from(*abi) + 2)
}

/// The processor of a target id.
fn processor(target: &str) -> &str {
    target.split(':').next().unwrap_or(target)
}

/// Whether a GPU runs what was built for a processor.
fn runs(gpu: &str, cpu: &str) -> bool {
    let known = || Some(Arch::from_name(gpu)?.runs(Arch::from_name(cpu)?));
    gpu == cpu || known().unwrap_or(false)
}

impl DeviceMemory for Gpu {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        let kind = hipMemcpyKind::hipMemcpyDeviceToHost;
        let (to, from) = (into.as_mut_ptr().cast(), address as *const c_void);
        // SAFETY: both ranges are as long; the device's is checked by the runtime. They outlive the copy,
        // which is waited for.
        let copy = |runtime: &'static Runtime, stream| unsafe {
            call!(runtime, hipMemcpyAsync(to, from, into.len(), kind, stream))
        };
        Ok(self.in_stream(copy)?)
    }

    fn write(&self, address: u64, from: &[u8]) -> Result<(), DeviceError> {
        let kind = hipMemcpyKind::hipMemcpyHostToDevice;
        // SAFETY: as for `read`.
        let copy = |runtime: &'static Runtime, stream| unsafe {
            call!(
                runtime,
                hipMemcpyAsync(address as *mut c_void, from.as_ptr().cast(), from.len(), kind, stream)
            )
        };
        Ok(self.in_stream(copy)?)
    }

    fn free(&self, address: u64) {
        if let Ok(runtime) = self.current() {
            // SAFETY: an address that `hipMalloc` gave, freed once. What the runtime says then helps nobody.
            let _ = unsafe { call!(runtime, hipFree(address as *mut c_void)) };
        }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        let modules = self.modules.get_mut().unwrap_or_else(PoisonError::into_inner);
        for module in modules.values() {
            // SAFETY: loaded by us and unloaded once; no launch is under way, for each is waited for.
            let _ = unsafe { call!(self.runtime, hipModuleUnload(module.0)) };
        }
        for stream in self.streams.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // SAFETY: created by us and destroyed once; nothing is under way in it.
            let _ = unsafe { call!(self.runtime, hipStreamDestroy(stream.0)) };
        }
    }
}

#[cfg(test)]
mod tests;
