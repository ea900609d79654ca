//! The machine code of a kernel, for tests that pin what the compiler made of it.

use amdinst_device::{Kernel, NamedKernel};

use crate::device::Device;
use crate::error::LaunchError;
use crate::launch::path;

/// Shows a kernel's code. In scope, every function with `#[kernel]`, and every [`Kernel`], has this method.
pub trait Listing {
    /// The instructions of the kernel as it was built, before any probe, one a line and as LLVM writes them.
    /// Without addresses, so that a snapshot of it changes only when the code does.
    ///
    /// # Errors
    /// When the kernel is not built for the device's processor, or a word of it is no instruction.
    fn listing(&self, device: &Device) -> Result<String, LaunchError>;
}

impl<P> Listing for Kernel<P> {
    fn listing(&self, device: &Device) -> Result<String, LaunchError> {
        let written = self.written();
        Ok(device.listing(written.package, &path(written))?)
    }
}

#[diagnostic::do_not_recommend]
impl<P, N, F: Fn() -> NamedKernel<P, N>> Listing for F {
    fn listing(&self, device: &Device) -> Result<String, LaunchError> {
        Kernel::listing(&self(), device)
    }
}
