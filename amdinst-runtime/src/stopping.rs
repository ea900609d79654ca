//! Launches that a signal ends: Ctrl-C, TERM or HUP.
//!
//! The emulator asks between time slices, so a kernel that never ends is gone within milliseconds, and the
//! user is told where it was. The signal is raised again when that is done, so the process ends by it as it
//! would have. A second one of its kind ends it at once. Signals that the program takes itself, or ignores,
//! are left to it.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use amdinst_emu::StopFlag;
use amdinst_hsakmt::signals;

/// Launches under way.
static RUNNING: AtomicUsize = AtomicUsize::new(0);
/// The signal that came first, or zero.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// One came.
static STOP: AtomicBool = AtomicBool::new(false);
/// The process whose launches these are. One that is forked from it has none of its threads.
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// Takes the signals from now on.
pub fn catch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: no pointers.
        PROCESS.store(unsafe { libc::getpid() }, SeqCst);
        signals::take(caught);
    });
}

extern "C" fn caught(signal: i32) {
    _ = SIGNAL.compare_exchange(0, signal, SeqCst, SeqCst);
    STOP.store(true, SeqCst);
    // SAFETY: no pointers; both may be called in a handler. A forked process has none of its parent's
    // threads.
    unsafe {
        if RUNNING.load(SeqCst) == 0 || libc::getpid() != PROCESS.load(SeqCst) {
            // It is held back until this handler has returned.
            libc::raise(signal);
        }
    }
}

/// What ends launches, for their machines' configurations.
pub const fn flag() -> StopFlag {
    StopFlag::new(&STOP)
}

/// The signal that came, if one did.
pub fn signal() -> Option<i32> {
    Some(SIGNAL.load(SeqCst)).filter(|signal| *signal != 0)
}

/// Its name.
pub fn asked() -> Option<&'static str> {
    let came = signal()?;
    signals::ENDING.iter().find(|(signal, _)| *signal == came).map(|(_, name)| *name)
}

/// Ends the process by the signal that came, if one did.
pub fn end_if_asked() {
    if let Some(signal) = signal() {
        // SAFETY: no pointers. The handler is the system's own again.
        unsafe { libc::raise(signal) };
    }
}

/// A launch under way, or other work to finish before a signal ends the process.
#[derive(Debug)]
pub struct Running(());

impl Running {
    /// From now until this is dropped. Does not return if the process is about to end.
    pub fn begin() -> Self {
        RUNNING.fetch_add(1, SeqCst);
        if SIGNAL.load(SeqCst) != 0 {
            drop(Self(()));
            wait_for_the_end();
        }
        Self(())
    }

    /// Its stop has been reported: ends the process as soon as the others have reported theirs.
    pub fn end(self) -> ! {
        drop(self);
        wait_for_the_end()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The handler sets the signal first and counts then, so one of the two sees the other.
        if RUNNING.fetch_sub(1, SeqCst) == 1 && SIGNAL.load(SeqCst) != 0 {
            // SAFETY: no pointers. The handler is the system's own again.
            unsafe { libc::kill(libc::getpid(), SIGNAL.load(SeqCst)) };
        }
    }
}

fn wait_for_the_end() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}
