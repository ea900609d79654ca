//! Launching a kernel.

use std::sync::Arc;

use amdinst_core::counters::Layout;
use amdinst_core::instrument::KernelProbes;
use amdinst_core::object::KernelArg;
use amdinst_core::report::{self, SCHEMA};
use amdinst_device::Kernel;

use crate::arguments::{Arguments, Values};
use crate::artifacts::{self, Built};
use crate::device::Device;
use crate::error::LaunchError;
use crate::report::Report;
use crate::runner::recorder;
use crate::source;
use crate::timing::LaunchTiming;

/// Sizes in x, y and z: `64`, `(16, 4)` or `(8, 4, 2)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3(pub [u32; 3]);

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Self([x, 1, 1])
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Self([x, y, 1])
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self([x, y, z])
    }
}

impl From<[u32; 3]> for Dim3 {
    fn from(sizes: [u32; 3]) -> Self {
        Self(sizes)
    }
}

/// Launches a kernel. In scope, every [`Kernel`] has these methods.
///
/// ```no_run
/// use amdinst_device::{global_id_x, kernel};
/// use harness::{Device, Launch as _, LaunchError};
///
/// /// # Safety
/// /// `out` is to as many elements as there are work-items.
/// #[kernel]
/// pub unsafe fn fill(value: f32, out: *mut f32) {
///     unsafe { *out.add(global_id_x() as usize) = value };
/// }
///
/// fn test(device: &Device) -> Result<(), LaunchError> {
///     let mut out = device.zeroed(128);
///     let run = fill.launch(device, 2, 64, (1.5, &mut out))?;
///     assert_eq!(out.to_vec(), [1.5; 128]);
///     assert!(run.report().sites.is_empty());
///     Ok(())
/// }
/// # fn main() {}
/// ```
///
/// A kernel that writes takes its buffer by `&mut`, arguments are as many as parameters, and of their types:
///
/// ```compile_fail,E0277
/// # use amdinst_device::kernel;
/// # use harness::{Device, Launch as _};
/// # #[kernel]
/// # pub unsafe fn fill(value: f32, out: *mut f32) {}
/// # fn test(device: &Device) {
/// let out = device.zeroed::<f32>(128);
/// let _ = fill.launch(device, 2, 64, (1.5_f32, &out));
/// # }
/// # fn main() {}
/// ```
///
/// ```compile_fail,E0277
/// # use amdinst_device::kernel;
/// # use harness::{Device, Launch as _};
/// # #[kernel]
/// # pub unsafe fn fill(value: f32, out: *mut f32) {}
/// # fn test(device: &Device) {
/// let mut out = device.zeroed::<f32>(128);
/// let _ = fill.launch(device, 2, 64, (&mut out,));
/// # }
/// # fn main() {}
/// ```
///
/// ```compile_fail,E0277
/// # use amdinst_device::kernel;
/// # use harness::{Device, Launch as _};
/// # #[kernel]
/// # pub unsafe fn fill(value: f32, out: *mut f32) {}
/// # fn test(device: &Device) {
/// let mut out = device.zeroed::<f32>(128);
/// let _ = fill.launch(device, 2, 64, (1.5_f64, &mut out));
/// # }
/// # fn main() {}
/// ```
pub trait Launch<P> {
    /// Runs the kernel on `grid` workgroups of `block` work-items each and waits for its end.
    ///
    /// `arguments` is a tuple with one value for each parameter: scalars by value, `&Buffer<T>` for `*const T`,
    /// `&mut Buffer<T>` for `*mut T`. A wrong number or type does not compile.
    ///
    /// # Errors
    /// See [`LaunchError`]: kernels not built, a fault in the kernel, or a difference that the probes made.
    fn launch<A: Arguments<P>>(
        &self,
        device: &Device,
        grid: impl Into<Dim3>,
        block: impl Into<Dim3>,
        arguments: A,
    ) -> Result<Run, LaunchError> {
        self.launch_with_lds(device, grid, block, 0, arguments)
    }

    /// As [`Launch::launch`], with `lds` bytes of dynamic LDS for each workgroup, after the kernel's own.
    ///
    /// # Errors
    /// As [`Launch::launch`].
    fn launch_with_lds<A: Arguments<P>>(
        &self,
        device: &Device,
        grid: impl Into<Dim3>,
        block: impl Into<Dim3>,
        lds: u32,
        arguments: A,
    ) -> Result<Run, LaunchError>;
}

impl<P> Launch<P> for Kernel<P> {
    fn launch_with_lds<A: Arguments<P>>(
        &self,
        device: &Device,
        grid: impl Into<Dim3>,
        block: impl Into<Dim3>,
        lds: u32,
        arguments: A,
    ) -> Result<Run, LaunchError> {
        let mut values = Values::default();
        arguments.push_all(&mut values);
        let built = artifacts::find(device.settings(), self.package(), device.cpu())?;
        let kernarg = kernarg(&built, self.name(), device, &values)?;
        let request = Request {
            built: &built,
            kernel: self.name(),
            grid: grid.into().0,
            block: block.into().0,
            lds,
            kernarg,
        };
        let outcome = device.launch(&request).inspect_err(|error| {
            if let Some(fault) = error.fault() {
                recorder::record_fault(fault.into());
            }
        })?;
        let mut report = outcome.report;
        if let Some(root) = source::workspace_root() {
            report.relative_to(root);
        }
        recorder::record(&report);
        let timing = outcome.timing.map(|modelled| {
            let told = modelled.told.clone();
            recorder::record_timing(modelled);
            told
        });
        Ok(Run {
            report: Report::new(report),
            wave_instructions: outcome.wave_instructions,
            timing,
            profile: built.profile.clone(),
        })
    }
}

/// A launch that ended well.
#[derive(Clone, Debug)]
pub struct Run {
    report: Report,
    wave_instructions: Option<u64>,
    timing: Option<LaunchTiming>,
    profile: String,
}

impl Run {
    /// How long it takes on the device that `AMDINST_TIMING` names: modelled.
    pub const fn timing(&self) -> Option<&LaunchTiming> {
        self.timing.as_ref()
    }

    /// The cargo profile that the kernel was built with: at another level of optimisation the compiler may keep a branch
    /// or make a select of it.
    pub fn profile(&self) -> &str {
        &self.profile
    }

    /// How the kernel's branches diverged.
    pub const fn report(&self) -> &Report {
        &self.report
    }

    /// Instructions that the original executed, summed over waves; `None` on a GPU.
    pub const fn wave_instructions(&self) -> Option<u64> {
        self.wave_instructions
    }
}

/// A launch, checked against the code object.
pub(crate) struct Request<'a> {
    pub(crate) built: &'a Arc<Built>,
    pub(crate) kernel: &'a str,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) lds: u32,
    /// The explicit arguments, at their offsets.
    pub(crate) kernarg: Vec<u8>,
}

impl Request<'_> {
    /// The emulator's form of the launch.
    pub(crate) fn emulated(&self, kernarg: Vec<u8>) -> amdinst_emu::Launch {
        let mut launch = amdinst_emu::Launch::new(self.kernel);
        launch.grid = self.grid;
        launch.block = self.block;
        launch.dynamic_lds = self.lds;
        launch.kernarg = kernarg;
        launch
    }

    /// The arguments with that of the counter buffer at an address appended.
    pub(crate) fn instrumented_kernarg(
        &self,
        probes: &KernelProbes,
        layout: &Layout,
        buffer: u64,
    ) -> Result<Vec<u8>, LaunchError> {
        let mut bytes = self.kernarg.clone();
        let set = probes.set_argument(&mut bytes, layout, buffer);
        set.map_err(|error| self.counters(error.to_string()))?;
        Ok(bytes)
    }

    /// A report without counters: of a kernel that has no site, or was refused.
    pub(crate) fn empty_report(&self, probes: Option<&KernelProbes>) -> report::Report {
        let launch = probes.map(|probes| report::Launch {
            probes,
            target: &self.built.probes.target,
            grid: self.grid,
            block: self.block,
            records: &[],
            seconds: None,
        });
        launch.and_then(|launch| report::Report::new(&launch).ok()).unwrap_or_else(|| report::Report {
            schema: SCHEMA,
            kernel: self.kernel.to_owned(),
            demangled: None,
            target: self.built.probes.target.clone(),
            probe: amdinst_core::counters::Probe::Branches,
            home: "none".to_owned(),
            grid: self.grid,
            block: self.block,
            waves: Layout::new(self.grid, self.block, 0).waves(),
            unfinished: Vec::new(),
            memory_equal: None,
            oracle_equal: None,
            blocks: Vec::new(),
            time: None,
            sites: Vec::new(),
            probes: Vec::new(),
            left_out: Vec::new(),
            uniform: Vec::new(),
            refusals: vec!["the kernel is not in the probe map".to_owned()],
        })
    }

    pub(crate) fn counters(&self, message: String) -> LaunchError {
        LaunchError::Counters { kernel: self.kernel.to_owned(), message }
    }
}

/// The explicit arguments at the offsets that the code object's note gives them.
fn kernarg(built: &Built, kernel: &str, device: &Device, values: &Values) -> Result<Vec<u8>, LaunchError> {
    let found = built.kernel(kernel)?;
    let explicit: Vec<&KernelArg> = found.metadata.args.iter().filter(|arg| !arg.is_hidden()).collect();
    let stale =
        |what: String| LaunchError::Stale { kernel: kernel.to_owned(), package: built.package.clone(), what };
    if explicit.len() != values.iter().len() {
        return Err(stale(format!(
            "it takes {} arguments there and {} here",
            explicit.len(),
            values.iter().len()
        )));
    }
    let mut bytes = Vec::new();
    for (number, (argument, value)) in (1..).zip(explicit.iter().zip(values.iter())) {
        if argument.size as usize != value.bytes.len() {
            let (there, here) = (argument.size, value.bytes.len());
            return Err(stale(format!("argument {number} has {there} bytes there and {here} here")));
        }
        if value.device.is_some_and(|id| id != device.id()) {
            return Err(LaunchError::OtherDevice { kernel: kernel.to_owned(), argument: number });
        }
        let start = argument.offset as usize;
        bytes.resize(bytes.len().max(start + value.bytes.len()), 0);
        bytes[start..start + value.bytes.len()].copy_from_slice(&value.bytes);
    }
    Ok(bytes)
}
