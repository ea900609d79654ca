//! Attributes for Rust GPU kernels: [`macro@kernel`], [`macro@probe`], [`macro@test`] and [`shared!`].
//!
//! Kernel crates use them through `amdinst_device`, which the expansions name by its absolute path; tests use
//! [`macro@test`] through `harness`. Everything here runs on stable Rust: inner `#[probe]` attributes on
//! expressions are consumed by the attribute of the function around them, so that the compiler never sees
//! them.

#![forbid(unsafe_code)]

mod derive;
mod features;
mod instances;
mod kernel;
mod location;
mod probe;
mod record;
mod shared;
mod symbol;
mod test_attribute;
mod workgroup;

use proc_macro::TokenStream;

/// Makes a function a kernel.
///
/// On the device (`target_arch = "amdgpu"`) the function becomes an entry point with the `gpu-kernel` ABI
/// whose symbol is its name; of several kernels of one name in a package, each has its path (`scan::sum`). On
/// the host a function of the same name takes its place, which a test launches: `saxpy.launch(…)`. Called, it
/// gives an `amdinst_device::NamedKernel`, which derefs to `amdinst_device::Kernel<(…)>`, whose type
/// parameter is the tuple of the parameters' types. The body is type-checked on the host too, and never runs
/// there.
///
/// Parameters are what `amdinst_device::KernelArg` lists: scalars, raw pointers, slices, arrays, structures
/// with `#[derive(KernelArg)]`, and `PerItem` and its kin, which say what a work-item may write. A kernel
/// with a raw pointer is an `unsafe fn`. A return type, `async` and other references are refused. A parameter
/// with `#[shared]` is an array in LDS (`amdinst_device::Lds`), for which a launch passes nothing.
///
/// A generic kernel lists what its parameters stand for. A test names an instance:
/// `scale::<f32, 16>.launch(…)`, or `scale::<f32, 16>().launch(…)`. Reports call that one `scale<f32,16>`.
///
/// ```ignore
/// #[kernel(T = [f32, f64], N = [16, 32])]
/// pub fn scale<T: Copy + Mul<Output = T>, const N: usize>(by: T, mut values: PerItem<T, N>) {
///     for value in values.chunk() {
///         *value = *value * by;
///     }
/// }
/// ```
///
/// ```ignore
/// #[kernel]
/// pub unsafe fn saxpy(n: u32, a: f32, x: *const f32, y: *mut f32) {
///     let i = global_id_x();
///     #[probe("tail")]
///     if i < n {
///         let i = i as usize;
///         unsafe { *y.add(i) += a * *x.add(i) };
///     }
/// }
/// ```
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Lets kernels take a structure by value: one with `#[repr(C)]` whose fields are numbers, `bool`, raw
/// pointers, arrays of such, or other structures with this attribute. It is `Copy`.
///
/// Buffers hold such structures as well, if there is no padding and no `bool` in them: then any bytes are a
/// value.
///
/// ```ignore
/// #[derive(Clone, Copy, KernelArg)]
/// #[repr(C)]
/// pub struct Camera {
///     pub position: [f32; 3],
///     pub zoom: f64,
///     pub mirrored: bool,
/// }
/// ```
///
/// A kernel that takes a structure with a raw pointer is an `unsafe fn`.
#[proc_macro_derive(KernelArg)]
pub fn kernel_arg(item: TokenStream) -> TokenStream {
    derive::expand(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Names a branch, so that tests and reports can ask for it.
///
/// `#[probe]` or `#[probe("name")]` stands on an `if`, `match`, `while`, `for` or `loop`. The function around
/// it carries `#[kernel]` or `#[probe]` itself. It can also stand on such a function. On a function it covers
/// every branch in it. Names are unique in a function.
///
/// `#[probe("leader", expect)]` or `#[probe(expect)]` says that divergence there is meant: it is counted,
/// reports call it expected, and nothing warns of it.
///
/// rustc ignores `#[inline(never)]` for GPUs. On a device function that carries `#[probe]` as well, the link
/// step sees to it.
///
/// A probe adds no code: its name and its place in the source go to the section `.amdinst.probes` of the code
/// object, one line a probe.
#[proc_macro_attribute]
pub fn probe(arguments: TokenStream, item: TokenStream) -> TokenStream {
    probe::expand(arguments.into(), item.into()).into()
}

/// Makes a function with one `&Device` parameter a kernel test that the harness runs.
///
/// Use it by path (`#[harness::test]`) in a test target with `harness = false`, so that it stands beside the
/// standard `#[test]`. `#[ignore]` works as it does there.
///
/// The emulator looks for data races, barriers that some work-items do not reach, and results that depend on
/// uninitialized values. `#[harness::test(check = "barriers,uninitialized")]` leaves races out,
/// `check = "none"` all three.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    test_attribute::expand(arguments.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Declares variables in the local data share (LDS), one copy a workgroup, uninitialized at the start of a
/// kernel.
///
/// ```ignore
/// shared! { static TILE: [f32; 256]; }
/// let tile: *mut f32 = TILE.as_mut_ptr();
/// ```
///
/// A slice (`static TILE: [f32];`) has the size that the launch gives (`launch_with_lds`); it becomes an
/// `amdinst_device::DynamicShared<T, _>`.
///
/// Each other one becomes a constant of type `amdinst_device::Shared<T, _>`. The type must be sized and known
/// where the macro stands: it cannot name a generic parameter of the function around it.
#[proc_macro]
pub fn shared(input: TokenStream) -> TokenStream {
    shared::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
