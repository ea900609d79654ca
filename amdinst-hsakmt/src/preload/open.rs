//! Opening files and folders.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use super::real::{Real, before};
use super::{Way, fail, result, way};
use crate::driver;
use crate::errno::Errno;

/// Opens a device, or what `real` opens: the file in the tree, or the path itself.
///
/// # Safety
/// The path is null or ends with zero.
unsafe fn opened(path: *const c_char, flags: c_int, real: impl FnOnce(*const c_char) -> c_int) -> c_int {
    // SAFETY: the caller's.
    match unsafe { way(path) } {
        None => real(path),
        Some(Way { path, device: None }) => real(path.as_ptr()),
        Some(Way { device: Some(node), .. }) => result(driver::open().and_then(|driver| {
            let file = driver.file(node).ok_or(Errno::NoDevice)?;
            file.open(flags & libc::O_CLOEXEC != 0).map_err(|_| Errno::NoMemory)
        })),
    }
}

/// The path that a path leads to.
///
/// # Safety
/// The path is null or ends with zero.
unsafe fn led<T>(path: *const c_char, real: impl FnOnce(*const c_char) -> T) -> T {
    // SAFETY: the caller's.
    match unsafe { way(path) } {
        None => real(path),
        Some(way) => real(way.path.as_ptr()),
    }
}

before! {
    /// Opens a file. The mode is passed whether there is one or not, as the processor passes it.
    fn open(path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int, or -1;
    |real| opened(path, flags, |path| real(path, flags, mode))

    /// The same.
    fn open64(path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int, or -1;
    |real| opened(path, flags, |path| real(path, flags, mode))

    /// The same, of programs that are built with checks.
    fn __open_2(path: *const c_char, flags: c_int) -> c_int, or -1;
    |real| opened(path, flags, |path| real(path, flags))

    /// The same.
    fn __open64_2(path: *const c_char, flags: c_int) -> c_int, or -1;
    |real| opened(path, flags, |path| real(path, flags))

    /// Opens a file, in a folder unless the path begins at the root.
    fn openat(at: c_int, path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int, or -1;
    |real| opened(path, flags, |path| real(at, path, flags, mode))

    /// The same.
    fn openat64(at: c_int, path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int, or -1;
    |real| opened(path, flags, |path| real(at, path, flags, mode))

    /// The same, of programs that are built with checks.
    fn __openat_2(at: c_int, path: *const c_char, flags: c_int) -> c_int, or -1;
    |real| opened(path, flags, |path| real(at, path, flags))

    /// The same.
    fn __openat64_2(at: c_int, path: *const c_char, flags: c_int) -> c_int, or -1;
    |real| opened(path, flags, |path| real(at, path, flags))

    /// Opens a file as a stream.
    fn fopen(path: *const c_char, mode: *const c_char) -> *mut c_void, or ptr::null_mut();
    |real| led(path, |path| real(path, mode))

    /// The same.
    fn fopen64(path: *const c_char, mode: *const c_char) -> *mut c_void, or ptr::null_mut();
    |real| led(path, |path| real(path, mode))

    /// Opens a folder.
    fn opendir(path: *const c_char) -> *mut c_void, or ptr::null_mut();
    |real| led(path, |path| real(path))

    /// Whether a file may be used.
    fn access(path: *const c_char, mode: c_int) -> c_int, or -1;
    |real| led(path, |path| real(path, mode))

    /// The same.
    fn faccessat(at: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int, or -1;
    |real| led(path, |path| real(at, path, mode, flags))

    /// Where a link leads.
    fn readlink(path: *const c_char, into: *mut c_char, room: usize) -> isize, or -1;
    |real| led(path, |path| real(path, into, room))

    /// The same.
    fn readlinkat(at: c_int, path: *const c_char, into: *mut c_char, room: usize) -> isize, or -1;
    |real| led(path, |path| real(at, path, into, room))
}
