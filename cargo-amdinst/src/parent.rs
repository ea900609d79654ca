//! Ending when the process that started this one does.
//!
//! `exec` becomes the program, and so dies with it. Programs outlive who started them, unless
//! `--die-with-parent` is given. The tests of `cargo amdinst test` die with the command: its cargo by the
//! system's parent-death signal, and the test program, which cargo starts, by one of its own (`runner/parent`
//! of the harness).

use std::io;

/// Have the system kill this process when its parent ends, which is `parent`. It stays so for the program
/// that this process becomes, and not for what is forked from it. The system watches the parent's thread that
/// started this process.
///
/// # Errors
/// The system refuses, or the parent has ended already.
pub(crate) fn die_with(parent: u32) -> io::Result<()> {
    // SAFETY: no pointers. It may be called between fork and exec.
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // It may have ended before the system knew.
    if std::os::unix::process::parent_id() != parent {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}
