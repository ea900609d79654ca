//! Kernels that are stopped before their end: their queue is destroyed, the program ends, or a signal is to
//! end it (Ctrl-C, TERM, HUP).
//!
//! The emulator asks between time slices, so a kernel that never ends is gone within milliseconds, and the
//! user is told where it was. A signal is taken only where the program leaves it to the system: it is raised
//! again as soon as the kernel has stopped, so that the program ends by it as it would have. A second one
//! ends it at once.
//!
//! The emulator's side is [`Machine::dispatch_until`](amdinst_emu::Machine::dispatch_until). A program that
//! ends still has its GPU until this library itself ends, after every destructor that could use the GPU.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use crate::signals;

/// Why a kernel is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// The runtime destroys its queue.
    Destroyed,
    /// By a signal.
    Interrupted,
    /// The program ends.
    Exit,
}

impl Why {
    /// `when its queue was destroyed`.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Destroyed => "when its queue was destroyed",
            Self::Interrupted => "when the program was interrupted",
            Self::Exit => "when the program ended",
        }
    }
}

/// Launches under way.
static RUNNING: AtomicUsize = AtomicUsize::new(0);
/// A signal that has come, and not been raised again; else zero.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// The program ends.
static EXITING: AtomicBool = AtomicBool::new(false);
/// The process whose kernels these are. One that is forked from it has none of its threads.
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// What the whole process asks of launches.
pub(crate) fn asked() -> Option<Why> {
    if SIGNAL.load(SeqCst) != 0 {
        Some(Why::Interrupted)
    } else if EXITING.load(SeqCst) {
        Some(Why::Exit)
    } else {
        None
    }
}

/// A launch under way.
#[derive(Debug)]
pub(crate) struct Running {
    /// When it began.
    pub(crate) since: Instant,
}

impl Running {
    /// From now until this is dropped.
    pub(crate) fn begin() -> Self {
        RUNNING.fetch_add(1, SeqCst);
        Self { since: Instant::now() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The handler sets the signal first and counts then, so one of the two sees the other.
        if RUNNING.fetch_sub(1, SeqCst) == 1 {
            let signal = SIGNAL.swap(0, SeqCst);
            if signal != 0 {
                // SAFETY: no pointers. The handler is the system's own again.
                unsafe { libc::kill(libc::getpid(), signal) };
            }
        }
    }
}

/// The last that the program does with this library: what uses the GPU at the program's end, as destructors
/// may, depends on the library and has run before. Whatever runs still would go without a word.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_THE_END: extern "C" fn() = end_all;

/// Stop all launches, and wait until they have told, but not for long. A forked process has none, though the
/// count came along.
extern "C" fn end_all() {
    const LONGEST: Duration = Duration::from_secs(2);
    // SAFETY: no pointers.
    if unsafe { libc::getpid() } != PROCESS.load(SeqCst) {
        return;
    }
    EXITING.store(true, SeqCst);
    let begin = Instant::now();
    while RUNNING.load(SeqCst) > 0 && begin.elapsed() < LONGEST {
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// From now on kernels are this process's, and so are signals that end it.
pub(crate) fn begin() {
    // SAFETY: no pointers.
    PROCESS.store(unsafe { libc::getpid() }, SeqCst);
    signals::take(interrupted);
}

extern "C" fn interrupted(signal: i32) {
    SIGNAL.store(signal, SeqCst);
    // SAFETY: no pointers; both may be called in a handler. A forked process has none of its parent's
    // threads.
    unsafe {
        if RUNNING.load(SeqCst) == 0 || libc::getpid() != PROCESS.load(SeqCst) {
            // It is held back until this handler has returned.
            libc::raise(signal);
        }
    }
}
