//! Launching a kernel.

use amdinst_device::Kernel;
use amdinst_format::interface::{LaunchRequest, LaunchTiming, Launched};

use crate::arguments::{Arguments, Value, Values};
use crate::device::Device;
use crate::error::LaunchError;
use crate::report::Report;
use crate::runner::recorder;

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

    /// Launches the kernel with `lds` bytes of dynamic LDS for each workgroup, after the kernel's own.
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

    /// Lanes of a wave of the kernel, as it was built for the device: 64 on GFX9, 32 or 64 on GFX11 (`--wave-size`).
    ///
    /// # Errors
    /// When the kernel is not built for the device's processor.
    fn wave_size(&self, device: &Device) -> Result<u32, LaunchError>;
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
        let request = LaunchRequest {
            package: self.package().to_owned(),
            features: self
                .features()
                .map(|names| names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()),
            kernel: self.name().to_owned(),
            grid: grid.into().0,
            block: block.into().0,
            lds,
            arguments: bytes(self.name(), device, &values)?,
        };
        let launched = device.launch(&request).inspect_err(|failure| {
            if let Some(fault) = failure.fault() {
                recorder::record_fault(fault.clone());
            }
        })?;
        recorder::record(&launched);
        let Launched { report, profile, wave_instructions, timing, .. } = launched;
        Ok(Run { report: Report::new(report), wave_instructions, timing, profile })
    }

    fn wave_size(&self, device: &Device) -> Result<u32, LaunchError> {
        Ok(device.wave_size(self.package(), self.name())?)
    }
}

/// The bytes of each argument.
fn bytes(kernel: &str, device: &Device, values: &Values) -> Result<Vec<Vec<u8>>, LaunchError> {
    let one = |(argument, value): (usize, &Value)| match value.device {
        Some(id) if id != device.id() => {
            Err(LaunchError::OtherDevice { kernel: kernel.to_owned(), argument })
        }
        _ => Ok(value.bytes.clone()),
    };
    (1..).zip(values.iter()).map(one).collect()
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
