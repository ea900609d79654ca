//! Time on one core, as the system counts it: what other processes take is not in it.

use std::time::{Duration, Instant};

/// Time that the calling thread has been on a core.
#[cfg(unix)]
fn on_core() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

#[cfg(not(unix))]
fn on_core() -> Option<Duration> {
    None
}

/// Seconds that the calling thread spends in `f`: on a core where the system tells that, else by the wall's clock.
pub(crate) fn one_thread<T>(f: impl FnOnce() -> T) -> (T, f64) {
    let (started, before) = (Instant::now(), on_core());
    let result = f();
    let wall = started.elapsed();
    let on_core = before.and_then(|before| on_core()?.checked_sub(before));
    (result, on_core.unwrap_or(wall).as_secs_f64())
}

/// Seconds by the wall's clock.
pub(crate) fn wall<T>(f: impl FnOnce() -> T) -> (T, f64) {
    let started = Instant::now();
    let result = f();
    (result, started.elapsed().as_secs_f64())
}
