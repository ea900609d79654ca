//! Ctrl-C, TERM and HUP while another program does the work: they are passed on, and what it started is
//! waited for, so that what it has to tell comes before the command ends.

use std::io;
use std::process::{Command, ExitStatus};
use std::sync::Once;
use std::time::{Duration, Instant};

use amdinst_runtime::stopping::{self, Running};

/// Pauses between two looks at the program.
const PAUSE: Duration = Duration::from_millis(5);
/// How long those that the program has left behind are waited for.
const LONGEST: Duration = Duration::from_secs(5);

/// Runs a program to its end. If a signal comes meanwhile, then until all that it started has ended, too;
/// `None` then.
///
/// # Errors
/// It cannot be started.
pub(crate) fn status(command: &mut Command) -> io::Result<Option<ExitStatus>> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // What a signal stops is told first.
        std::mem::forget(Running::begin());
        stopping::catch();
        // SAFETY: no pointers. Without it, those whose parent has ended are not waited for.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1 as libc::c_ulong) };
    });
    let mut child = command.spawn()?;
    let mut passed_on = false;
    let ended = loop {
        if let Some(ended) = child.try_wait()? {
            break ended;
        }
        if let Some(signal) = stopping::signal().filter(|_| !passed_on) {
            // SAFETY: no pointers; the child has not been waited for.
            unsafe { libc::kill(child.id() as i32, signal) };
            passed_on = true;
        }
        std::thread::sleep(PAUSE);
    };
    if stopping::signal().is_none() {
        return Ok(Some(ended));
    }
    let begin = Instant::now();
    while begin.elapsed() < LONGEST {
        // SAFETY: no place for a status.
        match unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } {
            0 => std::thread::sleep(PAUSE),
            -1 => break,
            _ => {}
        }
    }
    Ok(None)
}
