//! Time on one core, as the system counts it: what other processes take is not in it.

use std::time::{Duration, Instant};

/// Whose time on cores is asked for.
#[derive(Clone, Copy)]
enum Whose {
    /// The calling thread's.
    Thread,
    /// All threads' of this process, together.
    Process,
}

/// Time on cores so far.
#[cfg(unix)]
fn on_core(whose: Whose) -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(match whose {
        Whose::Thread => ClockId::ThreadCPUTime,
        Whose::Process => ClockId::ProcessCPUTime,
    });
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

#[cfg(not(unix))]
fn on_core(_: Whose) -> Option<Duration> {
    None
}

/// Seconds that the calling thread spends in `f`: on a core where the system tells that, else by the wall's
/// clock.
pub(crate) fn one_thread<T>(f: impl FnOnce() -> T) -> (T, f64) {
    of(Whose::Thread, f)
}

/// Seconds that all threads of this process spend while `f` runs, summed: as above.
pub(crate) fn all_threads<T>(f: impl FnOnce() -> T) -> (T, f64) {
    of(Whose::Process, f)
}

fn of<T>(whose: Whose, f: impl FnOnce() -> T) -> (T, f64) {
    let (started, before) = (Instant::now(), on_core(whose));
    let result = f();
    let wall = started.elapsed();
    let on_core = before.and_then(|before| on_core(whose)?.checked_sub(before));
    (result, on_core.unwrap_or(wall).as_secs_f64())
}

/// Seconds by the wall's clock.
pub(crate) fn wall<T>(f: impl FnOnce() -> T) -> (T, f64) {
    let started = Instant::now();
    let result = f();
    (result, started.elapsed().as_secs_f64())
}
