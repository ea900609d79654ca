//! One emulated GPU: the memory that it sees, and the kernels it has decoded.

use std::any::Any;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};
use std::time::Duration;

use amdgpu_isa::Arch;
use amdinst_core::instrument::BUFFER_SYMBOL;
use amdinst_core::names;
use amdinst_emu::{
    Config, Dispatch, Execution, LoadError, Machine, MemoryError, OutOfRange, Program, Resident, Stop,
    Unmarked,
};

use crate::cells::Cell64;
use crate::counting::{Counted, Reports, Shape};
use crate::dispatch_error::DispatchError;
use crate::fault::report;
use crate::host_memory::Mapping;
use crate::image::Image;
use crate::kept::Kept;
use crate::objects::{Object, Objects};
use crate::settings::Settings;
use crate::sources::told;
use crate::tell::tell;
use crate::variables::{Sharing, Variables};

/// A kernel, decoded, with what is known of its code object.
#[derive(Debug)]
struct Ready {
    program: Program,
    object: Option<Arc<Object>>,
    counted: Option<Counted>,
    variables: Variables,
    /// What may be a race and has been told: addresses of the two instructions.
    warned: Mutex<HashSet<(Option<u64>, Option<u64>)>>,
}

/// A GPU. Launches run on the memory as it was mapped when they began.
#[derive(Debug)]
pub(crate) struct Gpu {
    /// Its node.
    pub(crate) node: u32,
    machine: RwLock<Arc<Machine>>,
    /// It is told if waits are missing in the text of a kernel that is launched.
    tells_missing_waits: bool,
    /// Decoded kernels, by the address of their descriptor.
    kernels: Mutex<Kept<Ready>>,
    /// Held by a launch that counts: the variable that it counts by is the code object's.
    counting: Mutex<()>,
    /// Launches that print or allocate.
    sharing: Sharing,
}

/// What launches use besides the GPU.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    /// The code objects that have been seen.
    pub(crate) objects: &'a Objects,
    /// Where what was counted goes, if anywhere.
    pub(crate) reports: Option<&'a Reports>,
    /// Whether the launch is to end.
    pub(crate) stop: &'a Stop<'a>,
}

/// How memory of a GPU is called.
pub(crate) const DEVICE_MEMORY: &str = "device memory";

/// Bytes that decoded kernels take, at most.
const MOST_DECODED: u64 = 512 << 20;

/// Pauses between looks at a lock.
const PAUSE: Duration = Duration::from_micros(100);

impl Gpu {
    /// A GPU that sees no memory yet.
    pub(crate) fn new(node: u32, arch: Arch, settings: &Settings) -> Self {
        let mut config = Config::default();
        config.strict_barriers = settings.checks.barriers;
        config.check_races = settings.checks.races;
        config.schedule = settings.schedule;
        config.unmarked = Unmarked::checked(settings.checks.atomicity);
        config.allowed.clone_from(&settings.allowed);
        config.uninitialised = settings.uninitialised;
        config.out_of_range = settings.out_of_range;
        Self {
            node,
            machine: RwLock::new(Arc::new(Machine::new(arch, config))),
            tells_missing_waits: settings.checks.waits,
            kernels: Mutex::new(Kept::new(MOST_DECODED)),
            counting: Mutex::default(),
            sharing: Sharing::default(),
        }
    }

    /// The GPU as it is now.
    pub(crate) fn machine(&self) -> Arc<Machine> {
        self.machine.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Let the GPU see memory of the host's at `host`.
    ///
    /// # Safety
    /// As [`Machine::map_host`] asks.
    pub(crate) unsafe fn map(
        &self,
        address: u64,
        host: u64,
        size: u64,
        label: &str,
        keep: Arc<dyn Any + Send + Sync>,
    ) -> Result<(), MemoryError> {
        let host = std::ptr::with_exposed_provenance(host as usize);
        let mut machine = self.machine.write().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the caller's.
        unsafe { Arc::make_mut(&mut machine).map_host(address, host, size, label, keep) }
    }

    /// Hide the memory that begins there.
    pub(crate) fn unmap(&self, address: u64) {
        let mut machine = self.machine.write().unwrap_or_else(PoisonError::into_inner);
        // What is not there is hidden already.
        let _ = Arc::make_mut(&mut machine).free(address);
    }

    /// Run a dispatch packet whose kernel's descriptor is at `kernel`.
    pub(crate) fn dispatch(
        &self,
        around: Around<'_>,
        kernel: u64,
        shape: Shape,
        dispatch: &Dispatch,
    ) -> Result<Execution, DispatchError> {
        let machine = self.machine();
        let ready = self
            .ready(around.objects, &machine, kernel)
            .map_err(|error| DispatchError::NoKernel { address: kernel, error })?;
        if let Some(counted) = ready.counted.as_ref().filter(|counted| counted.more_lds > 0) {
            // SAFETY: a packet's fourth word, private and group segment sizes; the packet is this launch's
            // alone by now.
            let sizes = unsafe { Cell64::at(dispatch.packet + 24) };
            sizes.store(sizes.load().wrapping_add(u64::from(counted.more_lds) << 32));
        }
        if let (Some(counted), Some(reports)) = (&ready.counted, around.reports) {
            return self.count(reports, &ready, counted, shape, dispatch, around.stop);
        }
        self.run(&ready, &machine, shape, dispatch, around.stop)
    }

    /// Run a kernel, and show what it printed.
    fn run(
        &self,
        ready: &Ready,
        machine: &Machine,
        shape: Shape,
        dispatch: &Dispatch,
        stop: &Stop<'_>,
    ) -> Result<Execution, DispatchError> {
        self.sharing.during(machine, ready.variables, || ready.run(machine, shape, dispatch, stop))
    }

    /// Run a kernel that counts, and add what it counted to the reports. One at a time.
    fn count(
        &self,
        reports: &Reports,
        ready: &Ready,
        counted: &Counted,
        shape: Shape,
        dispatch: &Dispatch,
        stop: &Stop<'_>,
    ) -> Result<Execution, DispatchError> {
        let failed = |reason: String| {
            let kernel = ready.program.kernels().next().unwrap_or_default().to_owned();
            DispatchError::Counters { kernel, reason }
        };
        let _alone = self.alone(stop).ok_or(DispatchError::NotBegun)?;
        let mut records = counted.layout(shape).map(|layout| layout.initial_buffer()).unwrap_or_default();
        let no_room = || failed(format!("there is no memory for {} bytes of counters", records.len()));
        let buffer = Arc::new(Mapping::holding(&records).ok_or_else(no_room)?);
        // SAFETY: pages of its own, which the machine keeps.
        unsafe {
            self.map(buffer.address(), buffer.address(), buffer.size(), "counter buffer", buffer.clone())
        }
        .map_err(|error| failed(error.to_string()))?;
        let machine = self.machine();
        // `ready` found the variable in the loaded code object, whose pages this machine has.
        let set = |address: u64| machine.patch(counted.variable, &address.to_ne_bytes());
        set(buffer.address()).map_err(|error| failed(error.to_string()))?;
        let outcome = self.run(ready, &machine, shape, dispatch, stop);
        let _ = set(0);
        self.unmap(buffer.address());
        let execution = outcome?;
        machine.read(buffer.address(), &mut records).map_err(|error| failed(error.to_string()))?;
        reports.add(counted.report(shape, &records).map_err(failed)?);
        Ok(execution)
    }

    /// Wait for another launch that counts; `None` if this one is to end.
    fn alone(&self, stop: &Stop<'_>) -> Option<MutexGuard<'_, ()>> {
        loop {
            match self.counting.try_lock() {
                Ok(alone) => return Some(alone),
                Err(TryLockError::Poisoned(alone)) => return Some(alone.into_inner()),
                Err(TryLockError::WouldBlock) if stop() => return None,
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            }
        }
    }

    /// The kernel, decoded now unless its code is what it was the last time.
    fn ready(&self, objects: &Objects, machine: &Machine, kernel: u64) -> Result<Arc<Ready>, LoadError> {
        let known = self.kernels.lock().unwrap_or_else(PoisonError::into_inner).get(kernel);
        if let Some(ready) = known.filter(|ready| ready.is_current(machine, kernel)) {
            return Ok(ready);
        }
        let image = Image::around(machine, kernel);
        let name = image.as_ref().and_then(|image| image.kernel_name(machine, kernel));
        let object = image.as_ref().and_then(|image| objects.loaded(machine, image));
        let variable = image.as_ref().and_then(|image| image.symbol(machine, BUFFER_SYMBOL));
        let variables = image.as_ref().map(|image| Variables::of(image, machine)).unwrap_or_default();
        let counted = match (&object, variable, &name) {
            (Some(object), Some(variable), Some(name)) if variable.is_multiple_of(8) => {
                Counted::new(object.clone(), name, variable)
            }
            _ => None,
        };
        let symbol = name.clone();
        let name = name.map_or_else(|| format!("kernel at {kernel:#x}"), |name| names::short(&name));
        let bias = image.as_ref().map_or(0, |image| image.start);
        let code = image.and_then(|image| image.code);
        let known = object.as_ref().zip(symbol.as_ref());
        let is_empty = known
            .and_then(|(object, symbol)| object.kernel(symbol))
            .is_some_and(|kernel| kernel.code.is_empty());
        let elsewhere = || elsewhere(machine, kernel);
        let resident =
            Resident { descriptor: kernel, name: &name, bias, code, elsewhere: &elsewhere, is_empty };
        let program = machine.program_at(&resident)?;
        let contradiction = known.and_then(|(object, symbol)| object.contradiction(symbol));
        if let Some(problem) = contradiction {
            return Err(LoadError::Contradiction { kernel: name, problem });
        }
        if let Some((object, symbol)) = known.filter(|_| self.tells_missing_waits) {
            let missing = object.missing_waits(symbol);
            for missing in missing.iter().take(MOST_MISSING) {
                tell(format_args!("warning: kernel `{name}`: {missing}"));
            }
            if missing.len() > MOST_MISSING {
                let more = missing.len() - MOST_MISSING;
                tell(format_args!("note: `cargo amdinst inspect` shows {more} more of these"));
            }
        }
        let bytes = program.bytes();
        let ready = Arc::new(Ready { program, object, counted, variables, warned: Mutex::default() });
        self.kernels.lock().unwrap_or_else(PoisonError::into_inner).insert(kernel, ready.clone(), bytes);
        Ok(ready)
    }
}

/// Missing waits of a kernel that are told.
const MOST_MISSING: usize = 4;

/// Bytes of other code objects that a kernel may call functions of, at most: they are decoded with it. The
/// smaller code objects come first, for functions that a program gives to a library are small.
const MOST_ELSEWHERE: u64 = 4 << 20;

/// Where the code of other code objects than a kernel's is: in the GPU's memory, where runtimes load them.
/// Memory that the program has registered may go while it is looked at, as no kernel uses it.
fn elsewhere(machine: &Machine, kernel: u64) -> Vec<Range<u64>> {
    let own = machine.allocation_around(kernel).map(|(start, ..)| start);
    let is_of_device =
        |start: &u64| machine.allocation_around(*start).is_some_and(|(_, _, label)| label == DEVICE_MEMORY);
    let others = machine.allocation_starts().filter(|start| Some(*start) != own).filter(is_of_device);
    let mut found: Vec<_> = others.filter_map(|start| Image::around(machine, start)?.code).collect();
    found.sort_by_key(|code| code.end - code.start);
    let mut left = MOST_ELSEWHERE;
    found.retain(|code| {
        let fits = code.end - code.start <= left;
        left = left.saturating_sub(code.end - code.start);
        fits
    });
    found.sort_by_key(|code| code.start);
    found
}

impl Ready {
    /// Whether all that it was made of is in memory as it was.
    fn is_current(&self, machine: &Machine, kernel: u64) -> bool {
        machine.is_current(&self.program)
            && (!self.program.calls_by_pointer() || self.program.elsewhere().eq(elsewhere(machine, kernel)))
    }

    /// Lanes of a wave. The kernels of one link have as many.
    fn lanes(&self) -> u32 {
        let object = self.object.as_deref().map(Object::original);
        let one = object.and_then(|object| Some((object.kernels.first()?, object.target.arch)));
        one.map_or(0, |(kernel, arch)| kernel.descriptor.wave_size(arch).lanes())
    }

    fn run(
        &self,
        machine: &Machine,
        shape: Shape,
        dispatch: &Dispatch,
        stop: &Stop<'_>,
    ) -> Result<Execution, DispatchError> {
        let execution = machine.dispatch_until(&self.program, dispatch, stop).map_err(|fault| {
            let panics = self.variables.panics(machine, shape.block, self.lanes());
            let report = report(&fault, self.object.as_deref(), &panics);
            DispatchError::Fault { fault: Box::new(fault), report: Box::new(report) }
        })?;
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        for doubt in execution.doubts.iter().chain(&execution.missing_lanes) {
            // Each pair of instructions once.
            if warned.insert((doubt.pc, doubt.earlier.as_ref().map(|earlier| earlier.pc))) {
                tell(format_args!("warning: {}", told(&report(doubt, self.object.as_deref(), &[]))));
            }
        }
        for fault in &execution.out_of_range {
            if warned.insert((fault.pc, None)) {
                let told = told(&report(fault, self.object.as_deref(), &[]));
                tell(format_args!("warning: {told}\nnote: {}", OutOfRange::TOLD));
            }
        }
        Ok(execution)
    }
}
