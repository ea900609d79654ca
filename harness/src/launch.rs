//! Launching a kernel.

use std::time::Duration;

use amdinst_device::{Kernel, NamedKernel};
use amdinst_format::interface::{LaunchRequest, LaunchTiming, Launched};

use amdinst_format::printed::{Printed, PrintedLine};

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
pub trait Launch<P, N = ()> {
    /// Runs the kernel on `grid` workgroups of `block` work-items each and waits for its end.
    ///
    /// `arguments` is a tuple with one value for each parameter: numbers, arrays and structures by value, `&Buffer<T>` for `&[T]` and
    /// `*const T`, `&mut Buffer<T>` for `PerItem<T>` and `*mut T`. A wrong number or type does not compile.
    ///
    /// # Errors
    /// See [`LaunchError`]: kernels not built, a fault in the kernel, or a difference that the probes made.
    fn launch<A: Arguments<P, N>>(
        &self,
        device: &Device,
        grid: impl Into<Dim3>,
        block: impl Into<Dim3>,
        arguments: A,
    ) -> Result<Run, LaunchError> {
        self.launch_with_lds(device, grid, block, 0, arguments)
    }

    /// Runs the kernel on at least `n` work-items: in workgroups of 256, or of fewer, whole waves, if there are not so many.
    ///
    /// The last workgroup may have work-items beyond the last element, for which `PerItem` has none. A buffer with elements for which
    /// there is no work-item is told of: in the test's output, and by [`Run::warnings`].
    ///
    /// # Errors
    /// As [`Launch::launch`], and when `n` is 0.
    fn launch_1d<A: Arguments<P, N>>(
        &self,
        device: &Device,
        n: u32,
        arguments: A,
    ) -> Result<Run, LaunchError>;

    /// Runs the kernel on at least as many work-items in x and y. Workgroups have 16 by 16 work-items, or fewer if
    /// there are fewer.
    ///
    /// # Errors
    /// As [`Launch::launch`], and when a size is 0.
    fn launch_2d<A: Arguments<P, N>>(
        &self,
        device: &Device,
        sizes: (u32, u32),
        arguments: A,
    ) -> Result<Run, LaunchError>;

    /// Runs the kernel on at least as many work-items in x, y and z. Workgroups have 8 by 8 by 4 work-items, or fewer
    /// if there are fewer.
    ///
    /// # Errors
    /// As [`Launch::launch`], and when a size is 0.
    fn launch_3d<A: Arguments<P, N>>(
        &self,
        device: &Device,
        sizes: (u32, u32, u32),
        arguments: A,
    ) -> Result<Run, LaunchError>;

    /// Launches the kernel with `lds` bytes of dynamic LDS for each workgroup, after the kernel's own.
    ///
    /// # Errors
    /// As [`Launch::launch`].
    fn launch_with_lds<A: Arguments<P, N>>(
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

/// The launches of a kernel, with the names of its parameters or without.
macro_rules! launches {
    ($($names:ident)?) => {
        fn launch_with_lds<A: Arguments<P $(, $names)?>>(
            &self,
            device: &Device,
            grid: impl Into<Dim3>,
            block: impl Into<Dim3>,
            lds: u32,
            arguments: A,
        ) -> Result<Run, LaunchError> {
            let mut values = Values::default();
            arguments.push_all(&mut values);
            launch(self, device, [grid.into(), block.into()], lds, &values)
        }

        fn launch_1d<A: Arguments<P $(, $names)?>>(&self, device: &Device, n: u32, arguments: A) -> Result<Run, LaunchError> {
            over(self, device, [n, 1, 1], arguments)
        }

        fn launch_2d<A: Arguments<P $(, $names)?>>(
            &self,
            device: &Device,
            (x, y): (u32, u32),
            arguments: A,
        ) -> Result<Run, LaunchError> {
            over(self, device, [x, y, 1], arguments)
        }

        fn launch_3d<A: Arguments<P $(, $names)?>>(
            &self,
            device: &Device,
            (x, y, z): (u32, u32, u32),
            arguments: A,
        ) -> Result<Run, LaunchError> {
            over(self, device, [x, y, z], arguments)
        }
    };
}

impl<P> Launch<P> for Kernel<P> {
    launches!();

    fn wave_size(&self, device: &Device) -> Result<u32, LaunchError> {
        Ok(device.wave_size(self.package(), &path(self))?)
    }
}

impl<P, N> Launch<P, N> for NamedKernel<P, N> {
    launches!(N);

    fn wave_size(&self, device: &Device) -> Result<u32, LaunchError> {
        Launch::wave_size(&**self, device)
    }
}

/// Launches a kernel on at least as many work-items as `sizes` say.
fn over<P, N, A: Arguments<P, N>>(
    kernel: &Kernel<P>,
    device: &Device,
    sizes: [u32; 3],
    arguments: A,
) -> Result<Run, LaunchError> {
    let mut values = Values::default();
    arguments.push_all(&mut values);
    if sizes.contains(&0) {
        return Err(LaunchError::NoWorkItems { kernel: kernel.name().to_owned() });
    }
    let [grid, block] = workgroups(sizes);
    let mut run = launch(kernel, device, [Dim3(grid), Dim3(block)], 0, &values)?;
    let product = |sizes: [u32; 3]| sizes.iter().map(|&size| u64::from(size)).product::<u64>();
    let (groups, items) = (product(grid), product(grid) * product(block));
    for (value, reach) in values.iter().filter_map(|value| Some((value, value.reach?))) {
        let left = reach.left_over(items, groups);
        if left > 0 {
            let (name, of) = (kernel.name(), reach.elements);
            let parameter = kernel.parameters().get(value.parameter).unwrap_or(&"_");
            let text = format!(
                "kernel `{name}`: {left} of {of} elements of `{parameter}` have no work-item in a launch of {items}, so that nothing writes them"
            );
            recorder::record_warning(&text);
            run.warnings.push(text);
        }
    }
    Ok(run)
}

/// How many workgroups of how many work-items there are for at least as many work-items as `sizes` say.
fn workgroups(sizes: [u32; 3]) -> [[u32; 3]; 2] {
    /// As many lanes as the greatest wave has.
    const WAVE: u32 = 64;
    let block = match sizes {
        [x, 1, 1] => [x.min(256).next_multiple_of(WAVE), 1, 1],
        [x, y, 1] => [x.min(16), y.min(16), 1],
        [x, y, z] => [x.min(8), y.min(8), z.min(4)],
    };
    [std::array::from_fn(|axis| sizes[axis].div_ceil(block[axis])), block]
}

/// The kernel's path in its crate, as the runtime looks for it.
pub(crate) fn path<P>(kernel: &Kernel<P>) -> String {
    let modules = kernel.module().split_once("::").map(|(_, modules)| format!("{modules}::"));
    modules.unwrap_or_default() + kernel.name()
}

fn launch<P>(
    kernel: &Kernel<P>,
    device: &Device,
    [grid, block]: [Dim3; 2],
    lds: u32,
    values: &Values,
) -> Result<Run, LaunchError> {
    let parameter =
        |value: &Value| kernel.parameters().get(value.parameter).copied().unwrap_or("_").to_owned();
    let of_kernel = || kernel.name().to_owned();
    if let Some(value) = values.iter().find(|value| value.device.is_some_and(|id| id != device.id())) {
        return Err(LaunchError::OtherDevice { kernel: of_kernel(), parameter: parameter(value) });
    }
    let is_linear = [grid, block].iter().all(|sizes| sizes.0[1..] == [1, 1]);
    if let Some(value) = values.iter().find(|value| value.reach.is_some() && !is_linear) {
        return Err(LaunchError::Dimensions { kernel: of_kernel(), parameter: parameter(value) });
    }
    let request = LaunchRequest {
        package: kernel.package().to_owned(),
        features: kernel
            .features()
            .map(|names| names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()),
        kernel: path(kernel),
        grid: grid.0,
        block: block.0,
        lds,
        arguments: values.iter().map(|value| value.bytes.clone()).collect(),
        parameters: values.iter().map(parameter).collect(),
    };
    let launched = device.launch(&request).inspect_err(|failure| {
        if let Some(fault) = failure.fault() {
            recorder::record_fault(fault.clone());
        }
    })?;
    recorder::record(&launched);
    let Launched { report, profile, wave_instructions, timing, elapsed, printed, .. } = launched;
    Ok(Run {
        report: Report::new(report),
        wave_instructions,
        elapsed,
        timing,
        profile,
        warnings: Vec::new(),
        printed,
    })
}

/// A launch that ended well.
#[derive(Clone, Debug)]
pub struct Run {
    report: Report,
    wave_instructions: Option<u64>,
    elapsed: Option<Duration>,
    timing: Option<LaunchTiming>,
    profile: String,
    warnings: Vec<String>,
    printed: Printed,
}

impl Run {
    /// How long it takes on the device that `AMDINST_TIMING` names, by a model.
    pub const fn timing(&self) -> Option<&LaunchTiming> {
        self.timing.as_ref()
    }

    /// The cargo profile that the kernel was built with: at another `opt-level` the compiler may keep a branch
    /// or make a select of it.
    pub fn profile(&self) -> &str {
        &self.profile
    }

    /// What looks like a mistake in how it was launched.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Lines that the kernel printed: by workgroup, and those of one workgroup in their order.
    pub fn printed(&self) -> &[PrintedLine] {
        &self.printed.lines
    }

    /// How the kernel's branches diverged.
    pub const fn report(&self) -> &Report {
        &self.report
    }

    /// Instructions that the original executed, summed over waves; `None` on a GPU.
    pub const fn wave_instructions(&self) -> Option<u64> {
        self.wave_instructions
    }

    /// How long the GPU took for the instrumented kernel, by the runtime's events; the original is faster. `None` on the emulator.
    pub const fn elapsed(&self) -> Option<Duration> {
        self.elapsed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workgroups_hold_all_work_items() {
        assert_eq!(workgroups([1000, 1, 1]), [[4, 1, 1], [256, 1, 1]]);
        assert_eq!(workgroups([1, 1, 1]), [[1, 1, 1], [64, 1, 1]]);
        assert_eq!(workgroups([100, 3, 1]), [[7, 1, 1], [16, 3, 1]]);
        assert_eq!(workgroups([9, 9, 9]), [[2, 2, 3], [8, 8, 4]]);
        assert_eq!(workgroups([u32::MAX, 1, 1])[0], [1 << 24, 1, 1]);
    }
}
