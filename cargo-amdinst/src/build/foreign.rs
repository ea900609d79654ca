//! Kernel packages that are written for other tools: those of the crates `gpu-kernel` and
//! `amdgpu-device-libs`.

use cargo_metadata::{DependencyKind, Package};

use super::selection::DEVICE_CRATE;

/// Its kernels are functions of a program, and the feature `gpu` tells its two sides apart.
const GPU_KERNEL: &str = "gpu-kernel";
/// Prints and allocates for plain Rust kernels; `gpu-kernel` depends on it.
const DEVICE_LIBS: &str = "amdgpu-device-libs";
/// Names AMD's device libraries to the linker.
const DEVICE_LIBS_BUILD: &str = "amdgpu-device-libs-build";
/// The feature that `gpu-kernel` activates for the device, if a package has it.
const GPU_FEATURE: &str = "gpu";

/// Whether a package depends on one of these crates.
fn depends(package: &Package, names: &[&str]) -> bool {
    let of_build = |kind| matches!(kind, DependencyKind::Normal | DependencyKind::Build);
    let mut dependencies = package.dependencies.iter().filter(|other| of_build(other.kind));
    dependencies.any(|other| names.contains(&other.name.as_str()))
}

/// Whether a package's kernels are those of one of these crates.
pub(super) fn has_kernels(package: &Package) -> bool {
    depends(package, &[GPU_KERNEL, DEVICE_LIBS])
}

/// Whether a package is one of `gpu-kernel`.
pub(super) fn is_of_gpu_kernel(package: &Package) -> bool {
    depends(package, &[GPU_KERNEL])
}

/// The feature that tells the device's side of a package of `gpu-kernel`, if it has that.
pub(super) fn own_feature(package: &Package) -> Option<String> {
    let has_it = is_of_gpu_kernel(package) && package.features.contains_key(GPU_FEATURE);
    has_it.then(|| GPU_FEATURE.to_owned())
}

/// Whether a build script of a package may look for AMD's device libraries.
pub(super) fn uses_device_libraries(package: &Package) -> bool {
    depends(package, &[GPU_KERNEL, DEVICE_LIBS, DEVICE_LIBS_BUILD])
}

/// Whether a package's kernels allocate: it asks `amdinst-device` for that, or one of these crates does it.
pub(super) fn allocates(package: &Package) -> bool {
    let asks = |other: &cargo_metadata::Dependency| {
        other.name == DEVICE_CRATE && other.features.iter().any(|feature| feature == "alloc")
    };
    has_kernels(package) || package.dependencies.iter().any(asks)
}
