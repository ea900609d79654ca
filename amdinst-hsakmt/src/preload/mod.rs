//! Functions of the C library, before the system's own: programs that are started with this library
//! preloaded find the driver's files through them.
//!
//! A path of the driver's leads into a tree of files (`sysfs`), and a device file opens memory
//! (`device_file`) by whose descriptor calls of the driver are known. Descriptors are told by what
//! they are of, so duplicates and those of a child process need no list. Whatever else a program does with
//! them is the system's: mapping, polling, closing.
//!
//! The functions have the C library's names with the feature `preload`; without it they are called by nobody.
//!
//! Everything else goes on to the next library that has the function. Without the variable
//! `AMDINST_GPU_FILES` that is everything.
//!
//! The callers vouch for their pointers as the functions' manuals ask.

mod control;
mod look;
mod open;
mod real;

pub use control::*;
pub use look::*;
pub use open::*;

use std::ffi::{CStr, CString, OsStr, c_char};
use std::os::unix::ffi::OsStrExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::driver::Node;
use crate::errno::Errno;
use crate::settings::Settings;
use crate::sysfs;
use crate::tell::tell;
use crate::topology;

/// Where a path of the driver's leads.
struct Way {
    /// The file in the tree.
    path: CString,
    /// The device that it stands for.
    device: Option<Node>,
}

/// Where a path leads; `None` if it is not one of the driver's.
///
/// # Safety
/// The path is null or ends with zero.
unsafe fn way(path: *const c_char) -> Option<Way> {
    if path.is_null() {
        return None;
    }
    // SAFETY: the caller's.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    // Before anything else that could open a file itself.
    let inside = sysfs::inside(path)?;
    catch_unwind(AssertUnwindSafe(|| front().as_ref()?.way(inside))).ok().flatten()
}

/// What paths lead to.
struct Front {
    tree: PathBuf,
    settings: Settings,
}

/// Nothing if no GPU is asked for, or its files cannot be written.
fn front() -> &'static Option<Front> {
    static FRONT: OnceLock<Option<Front>> = OnceLock::new();
    FRONT.get_or_init(|| {
        let folder = std::env::var_os(sysfs::VARIABLE).filter(|folder| !folder.is_empty())?;
        let settings = Settings::read(|name| std::env::var(name).ok()).map_err(tell).ok()?;
        let tree = sysfs::tree(Path::new(&folder), &settings);
        let failed = |error| {
            let folder = folder.to_string_lossy();
            tell(format_args!("the files of the emulated GPU cannot be written to {folder}: {error}"));
        };
        Some(Front { tree: tree.map_err(failed).ok()?, settings })
    })
}

impl Front {
    fn way(&self, inside: &[u8]) -> Option<Way> {
        let device = match inside {
            b"dev/kfd" => Some(Node::Kfd),
            _ => self.render(inside).map(Node::Render),
        };
        let path = self.tree.join(OsStr::from_bytes(inside));
        let path = CString::new(path.as_os_str().as_bytes()).ok()?;
        Some(Way { path, device })
    }

    fn render(&self, inside: &[u8]) -> Option<u32> {
        let number = inside.strip_prefix(b"dev/dri/renderD")?;
        let number = std::str::from_utf8(number).ok()?.parse().ok()?;
        topology::node_of_render(&self.settings, number)
    }
}

/// Says why a function failed, as the C library's do: gives -1.
fn fail(error: i32) -> i32 {
    // SAFETY: this thread's own.
    unsafe { *libc::__errno_location() = error };
    -1
}

/// The result of a call.
fn result(outcome: Result<i32, Errno>) -> i32 {
    outcome.unwrap_or_else(|error| fail(error as i32))
}
