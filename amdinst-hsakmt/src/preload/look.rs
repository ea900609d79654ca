//! Looking at files. Device files are the character devices that programs expect.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use super::control::identity;
use super::real::{Real, before};
use super::{fail, way};
use crate::driver::{self, Node};
use crate::topology;

/// Numbers of the devices: the driver's has no fixed one, the graphics driver's has.
const KFD: (u32, u32) = (511, 0);
const GRAPHICS: u32 = 226;
/// Everyone may read and write them.
const MODE: u32 = libc::S_IFCHR | 0o666;

const fn numbers(node: Node) -> (u32, u32) {
    match node {
        Node::Kfd => KFD,
        Node::Render(node) => (GRAPHICS, topology::render_of(node)),
    }
}

/// What is told of a file.
trait About {
    /// It is a device.
    fn set_device(&mut self, numbers: (u32, u32));
}

impl About for libc::stat {
    fn set_device(&mut self, (major, minor): (u32, u32)) {
        (self.st_mode, self.st_rdev, self.st_size) = (MODE, libc::makedev(major, minor), 0);
    }
}

impl About for libc::statx {
    fn set_device(&mut self, (major, minor): (u32, u32)) {
        (self.stx_mode, self.stx_size) = (MODE as u16, 0);
        (self.stx_rdev_major, self.stx_rdev_minor) = (major, minor);
    }
}

/// Looks at a path.
///
/// # Safety
/// The path is null or ends with zero; a `real` that succeeds has filled `about`.
unsafe fn at<T: About>(
    path: *const c_char,
    about: *mut T,
    real: impl FnOnce(*const c_char) -> c_int,
) -> c_int {
    // SAFETY: the caller's.
    let Some(way) = (unsafe { way(path) }) else { return real(path) };
    let result = real(way.path.as_ptr());
    if let Some(node) = way.device.filter(|_| result == 0) {
        // SAFETY: the caller's.
        unsafe { (*about).set_device(numbers(node)) };
    }
    result
}

/// Looks at an open file.
///
/// # Safety
/// A `real` that succeeds has filled `about`.
unsafe fn of<T: About>(descriptor: c_int, about: *mut T, real: impl FnOnce() -> c_int) -> c_int {
    let result = real();
    let file = (result == 0).then(|| identity(descriptor)).flatten();
    if let Some((_, node)) = file.and_then(driver::of_file) {
        // SAFETY: the caller's.
        unsafe { (*about).set_device(numbers(node)) };
    }
    result
}

/// Looks at a path, or at an open file if the path is empty.
///
/// # Safety
/// See [`at`].
unsafe fn either<T: About>(
    descriptor: c_int,
    path: *const c_char,
    about: *mut T,
    real: impl FnOnce(*const c_char) -> c_int,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        if path.is_null() || *path == 0 {
            of(descriptor, about, || real(path))
        } else {
            at(path, about, real)
        }
    }
}

before! {
    /// Looks at a path.
    fn stat(path: *const c_char, about: *mut libc::stat) -> c_int, or -1;
    |real| at(path, about, |path| real(path, about))

    /// The same.
    fn stat64(path: *const c_char, about: *mut libc::stat) -> c_int, or -1;
    |real| at(path, about, |path| real(path, about))

    /// The same, of a link itself.
    fn lstat(path: *const c_char, about: *mut libc::stat) -> c_int, or -1;
    |real| at(path, about, |path| real(path, about))

    /// The same.
    fn lstat64(path: *const c_char, about: *mut libc::stat) -> c_int, or -1;
    |real| at(path, about, |path| real(path, about))

    /// Looks at a path, as older programs do it.
    fn __xstat(version: c_int, path: *const c_char, about: *mut libc::stat) -> c_int, or -1;
    |real| at(path, about, |path| real(version, path, about))

    /// The same.
    fn __xstat64(version: c_int, path: *const c_char, about: *mut libc::stat) -> c_int, or -1;
    |real| at(path, about, |path| real(version, path, about))

    /// The same, of a link itself.
    fn __lxstat(version: c_int, path: *const c_char, about: *mut libc::stat) -> c_int, or -1;
    |real| at(path, about, |path| real(version, path, about))

    /// The same.
    fn __lxstat64(version: c_int, path: *const c_char, about: *mut libc::stat) -> c_int, or -1;
    |real| at(path, about, |path| real(version, path, about))

    /// Looks at an open file.
    fn fstat(descriptor: c_int, about: *mut libc::stat) -> c_int, or -1;
    |real| of(descriptor, about, || real(descriptor, about))

    /// The same.
    fn fstat64(descriptor: c_int, about: *mut libc::stat) -> c_int, or -1;
    |real| of(descriptor, about, || real(descriptor, about))

    /// Looks at an open file, as older programs do it.
    fn __fxstat(version: c_int, descriptor: c_int, about: *mut libc::stat) -> c_int, or -1;
    |real| of(descriptor, about, || real(version, descriptor, about))

    /// The same.
    fn __fxstat64(version: c_int, descriptor: c_int, about: *mut libc::stat) -> c_int, or -1;
    |real| of(descriptor, about, || real(version, descriptor, about))

    /// Looks at a path in a folder, or at an open file.
    fn fstatat(folder: c_int, path: *const c_char, about: *mut libc::stat, flags: c_int) -> c_int, or -1;
    |real| either(folder, path, about, |path| real(folder, path, about, flags))

    /// The same.
    fn fstatat64(folder: c_int, path: *const c_char, about: *mut libc::stat, flags: c_int) -> c_int, or -1;
    |real| either(folder, path, about, |path| real(folder, path, about, flags))

    /// The same, with more that may be asked.
    fn statx(folder: c_int, path: *const c_char, flags: c_int, mask: c_uint, about: *mut libc::statx) -> c_int, or -1;
    |real| either(folder, path, about, |path| real(folder, path, flags, mask, about))
}
