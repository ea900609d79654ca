//! Calls of the driver, by the descriptors of its files.

use std::ffi::{CStr, c_int, c_ulong, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::real::{Real, before};
use super::{fail, result};
use crate::device_file::Identity;
use crate::driver::{self, Driver, Node};
use crate::drm;
use crate::errno::Errno;
use crate::kfd::{self, Request};

/// Which file a descriptor is of, by the system itself.
pub(super) fn identity(descriptor: c_int) -> Option<Identity> {
    // SAFETY: a structure that the system fills.
    unsafe {
        let mut about = std::mem::zeroed::<libc::stat>();
        let found = libc::syscall(libc::SYS_fstat, descriptor, &raw mut about) == 0;
        found.then_some(Identity { device: about.st_dev, inode: about.st_ino })
    }
}

/// Answers a call; `None` if it is not for the driver.
fn answer(descriptor: c_int, request: Request, argument: u64) -> Option<Result<i32, Errno>> {
    if ![kfd::LETTER, drm::LETTER].contains(&request.letter()) {
        return None;
    }
    let (driver, node) = driver::of_file(identity(descriptor)?)?;
    let call = AssertUnwindSafe(|| call(driver, node, request, argument));
    Some(catch_unwind(call).unwrap_or(Err(Errno::Gone)).map(|()| 0))
}

fn call(driver: &'static Driver, node: Node, request: Request, argument: u64) -> Result<(), Errno> {
    if !driver.is_own() {
        return Err(Errno::BadFile);
    }
    match node {
        Node::Kfd if request.letter() == kfd::LETTER => kfd::call(driver, request, argument),
        Node::Render(node) if request.letter() == drm::LETTER => drm::call(driver, node, request, argument),
        _ => Err(Errno::NoSuchCall),
    }
}

before! {
    /// Makes a call of a driver. The argument is passed whether there is one or not, as the processor passes
    /// it.
    fn ioctl(descriptor: c_int, request: c_ulong, argument: *mut c_void) -> c_int, or -1;
    |real| {
        // The system itself looks at 32 bits.
        let number = Request(request & 0xffff_ffff);
        match answer(descriptor, number, argument.expose_provenance() as u64) {
            Some(outcome) => result(outcome),
            None => real(descriptor, request, argument),
        }
    }
}
