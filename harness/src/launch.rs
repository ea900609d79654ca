//! Launching a kernel.

use std::time::Duration;

use amdinst_device::__private::Written;
use amdinst_device::{Kernel, NamedKernel, Probe};
use amdinst_format::interface::{LaunchRequest, LaunchTiming, Launched};

use amdinst_format::printed::{Printed, PrintedLine};

use crate::arguments::{Arguments, Reach, Value, Values};
use crate::device::Device;
use crate::dim3::Dim3;
use crate::error::LaunchError;
use crate::report::Report;
use crate::runner::recorder;

/// Launches a kernel. In scope, every function with `#[kernel]`, and every [`Kernel`], has these methods.
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
    /// What `#[kernel]` knows of it.
    #[doc(hidden)]
    fn written(&self) -> Written;

    /// Runs the kernel on `grid` workgroups of `block` work-items each and waits for its end.
    ///
    /// `arguments` is a tuple with one value for each parameter: numbers, arrays and structures by value,
    /// `&Buffer<T>` for `&[T]` and `*const T`, `&mut Buffer<T>` for `PerItem<T>` and `*mut T`. A wrong number
    /// or type does not compile.
    ///
    /// A buffer with elements for which there is no work-item is told of: in the test's output, and by
    /// [`Run::warnings`].
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

    /// Runs the kernel on at least `n` work-items: in workgroups of 256, or of fewer, whole waves, if there
    /// are not so many. Workgroups are no larger than `#[kernel(workgroup = …)]` allows.
    ///
    /// The last workgroup may have work-items beyond the last element, for which `PerItem` has none.
    ///
    /// # Errors
    /// As [`Launch::launch`], and when `n` is 0.
    fn launch_1d<A: Arguments<P, N>>(
        &self,
        device: &Device,
        n: u32,
        arguments: A,
    ) -> Result<Run, LaunchError> {
        over(self.written(), device, [n, 1, 1], arguments)
    }

    /// Runs the kernel on at least as many work-items in x and y. Workgroups have 16 by 16 work-items, or
    /// fewer if there are fewer.
    ///
    /// # Errors
    /// As [`Launch::launch`], and when a size is 0.
    fn launch_2d<A: Arguments<P, N>>(
        &self,
        device: &Device,
        (x, y): (u32, u32),
        arguments: A,
    ) -> Result<Run, LaunchError> {
        over(self.written(), device, [x, y, 1], arguments)
    }

    /// Runs the kernel on at least as many work-items in x, y and z. Workgroups have 8 by 8 by 4 work-items,
    /// or fewer if there are fewer.
    ///
    /// # Errors
    /// As [`Launch::launch`], and when a size is 0.
    fn launch_3d<A: Arguments<P, N>>(
        &self,
        device: &Device,
        (x, y, z): (u32, u32, u32),
        arguments: A,
    ) -> Result<Run, LaunchError> {
        over(self.written(), device, [x, y, z], arguments)
    }

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
    ) -> Result<Run, LaunchError> {
        let mut values = Values::default();
        arguments.push_all(&mut values);
        launch(self.written(), device, [grid.into(), block.into()], lds, &values)
    }

    /// Lanes of a wave of the kernel, as it was built for the device: 64 on GFX9, 32 or 64 on GFX11
    /// (`--wave-size`).
    ///
    /// # Errors
    /// When the kernel is not built for the device's processor.
    fn wave_size(&self, device: &Device) -> Result<u32, LaunchError> {
        let written = self.written();
        Ok(device.wave_size(written.package, &path(written))?)
    }

    /// As [`Kernel::name`].
    fn name(&self) -> &'static str {
        self.written().name
    }

    /// As [`Kernel::module`].
    fn module(&self) -> &'static str {
        self.written().module
    }

    /// As [`Kernel::parameters`].
    fn parameters(&self) -> &'static [&'static str] {
        self.written().parameters
    }

    /// As [`Kernel::package`].
    fn package(&self) -> &'static str {
        self.written().package
    }

    /// As [`Kernel::features`].
    fn features(&self) -> Option<&'static str> {
        self.written().features
    }

    /// As [`Kernel::file`].
    fn file(&self) -> &'static str {
        self.written().file
    }

    /// As [`Kernel::line`].
    fn line(&self) -> u32 {
        self.written().line
    }

    /// As [`Kernel::column`].
    fn column(&self) -> u32 {
        self.written().column
    }

    /// As [`Kernel::probes`].
    fn probes(&self) -> &'static [Probe] {
        self.written().probes
    }
}

impl<P> Launch<P> for Kernel<P> {
    fn written(&self) -> Written {
        Kernel::written(self)
    }
}

impl<P, N> Launch<P, N> for NamedKernel<P, N> {
    fn written(&self) -> Written {
        Kernel::written(self)
    }
}

/// A kernel as it is named: the function that gives its handle.
#[diagnostic::do_not_recommend]
impl<P, N, F: Fn() -> NamedKernel<P, N>> Launch<P, N> for F {
    fn written(&self) -> Written {
        Kernel::written(&self())
    }
}

/// Launches a kernel on at least as many work-items as `sizes` say.
fn over<P, N, A: Arguments<P, N>>(
    kernel: Written,
    device: &Device,
    sizes: [u32; 3],
    arguments: A,
) -> Result<Run, LaunchError> {
    let mut values = Values::default();
    arguments.push_all(&mut values);
    if sizes.contains(&0) {
        return Err(LaunchError::NoWorkItems { kernel: kernel.name.to_owned() });
    }
    launch(kernel, device, workgroups(sizes, kernel.workgroup).map(Dim3), 0, &values)
}

/// What is told of buffers with elements for which a launch has no work-item.
fn left_over(kernel: Written, [grid, block]: [Dim3; 2], values: &Values) -> Vec<String> {
    let reached = values.iter().filter_map(|value| Some((value, value.reach?)));
    let text = |(value, reach): (&Value, Reach)| {
        let left = reach.left_over(grid, block);
        let items = block.items() * grid.items();
        (left > 0).then(|| {
            format!(
                "kernel `{}`: {left} of {} elements of `{}` have no work-item in a launch of {items}, so that nothing writes them",
                kernel.name,
                reach.elements,
                value.name(kernel)
            )
        })
    };
    reached.filter_map(text).collect()
}

/// How many workgroups of how many work-items there are for at least as many work-items as `sizes` say, if a
/// workgroup has no more than `most`.
fn workgroups(sizes: [u32; 3], most: Option<u32>) -> [[u32; 3]; 2] {
    /// As many lanes as the greatest wave has.
    const WAVE: u32 = 64;
    let most = most.unwrap_or(u32::MAX);
    let mut block = match sizes {
        [x, 1, 1] => [x.min(256).next_multiple_of(WAVE).min(most), 1, 1],
        [x, y, 1] => [x.min(16), y.min(16), 1],
        [x, y, z] => [x.min(8), y.min(8), z.min(4)],
    };
    // What is next to each other in x stays so.
    for axis in [2, 1, 0] {
        let others: u32 = (0..3).filter(|other| *other != axis).map(|other| block[other]).product();
        block[axis] = block[axis].min((most / others).max(1));
    }
    [std::array::from_fn(|axis| sizes[axis].div_ceil(block[axis])), block]
}

/// Dimensions in which a launch has more than one work-item.
fn launched_dimensions([grid, block]: [Dim3; 2]) -> usize {
    (0..3).rev().find(|&axis| grid.0[axis] > 1 || block.0[axis] > 1).map_or(1, |axis| axis + 1)
}

/// The kernel's path in its crate, as the runtime looks for it.
pub(crate) fn path(kernel: Written) -> String {
    let modules = kernel.module.split_once("::").map(|(_, modules)| format!("{modules}::"));
    modules.unwrap_or_default() + kernel.name
}

fn launch(
    kernel: Written,
    device: &Device,
    [grid, block]: [Dim3; 2],
    lds: u32,
    values: &Values,
) -> Result<Run, LaunchError> {
    let of_kernel = || kernel.name.to_owned();
    let parameter = |value: &Value| value.name(kernel).to_owned();
    if let Some(value) = values.iter().find(|value| value.device.is_some_and(|id| id != device.id())) {
        return Err(LaunchError::OtherDevice { kernel: of_kernel(), parameter: parameter(value) });
    }
    if let Some((value, reach)) = values
        .iter()
        .filter_map(|value| Some((value, value.reach?)))
        .find(|(_, reach)| launched_dimensions([grid, block]) > reach.dimensions())
    {
        let (kernel, parameter, dimensions) = (of_kernel(), parameter(value), reach.dimensions());
        return Err(LaunchError::Dimensions { kernel, parameter, dimensions });
    }
    let request = LaunchRequest {
        package: kernel.package.to_owned(),
        features: kernel
            .features
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
    let warnings = left_over(kernel, [grid, block], values);
    for warning in &warnings {
        recorder::record_warning(warning);
    }
    let Launched { report, profile, wave_instructions, timing, elapsed, printed, .. } = launched;
    Ok(Run { report, wave_instructions, elapsed, timing, profile, warnings, printed })
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

    /// The cargo profile that the kernel was built with: at another `opt-level` the compiler may keep a
    /// branch or make a select of it.
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

    /// How long the GPU took for the instrumented kernel, by the runtime's events; the original is faster.
    /// `None` on the emulator.
    pub const fn elapsed(&self) -> Option<Duration> {
        self.elapsed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workgroups_hold_all_work_items() {
        let of = |sizes| workgroups(sizes, None);
        assert_eq!(of([1000, 1, 1]), [[4, 1, 1], [256, 1, 1]]);
        assert_eq!(of([1, 1, 1]), [[1, 1, 1], [64, 1, 1]]);
        assert_eq!(of([100, 3, 1]), [[7, 1, 1], [16, 3, 1]]);
        assert_eq!(of([9, 9, 9]), [[2, 2, 3], [8, 8, 4]]);
        assert_eq!(of([u32::MAX, 1, 1])[0], [1 << 24, 1, 1]);
    }

    #[test]
    fn workgroups_are_no_larger_than_a_kernel_takes() {
        let of = |sizes, most| workgroups(sizes, Some(most));
        assert_eq!(of([1000, 1, 1], 128), [[8, 1, 1], [128, 1, 1]]);
        assert_eq!(of([1000, 1, 1], 100), [[10, 1, 1], [100, 1, 1]]);
        assert_eq!(of([5, 1, 1], 32), [[1, 1, 1], [32, 1, 1]]);
        assert_eq!(of([1000, 1, 1], 1024), workgroups([1000, 1, 1], None));
        assert_eq!(of([100, 100, 1], 64), [[7, 25, 1], [16, 4, 1]]);
        assert_eq!(of([100, 100, 1], 8), [[13, 100, 1], [8, 1, 1]]);
        assert_eq!(of([9, 9, 9], 64), [[2, 2, 9], [8, 8, 1]]);
        assert_eq!(of([9, 9, 9], 1), [[9, 9, 9], [1, 1, 1]]);
    }
}
