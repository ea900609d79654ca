//! Time on one core, as Linux counts it: what other processes take is not in it.

use std::time::Instant;

/// Seconds that the calling thread has been on a core (the first number of `schedstat`, in nanoseconds).
fn on_core() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<u64>().ok()? as f64 / 1e9)
}

/// Seconds that the calling thread spends in `f`: on a core where the system tells that, else by the wall's clock.
pub(crate) fn one_thread<T>(f: impl FnOnce() -> T) -> (T, f64) {
    let (started, before) = (Instant::now(), on_core());
    let result = f();
    let wall = started.elapsed().as_secs_f64();
    let on_core = before.and_then(|before| Some(on_core()? - before)).filter(|seconds| *seconds > 0.0);
    (result, on_core.unwrap_or(wall))
}

/// Seconds by the wall's clock.
pub(crate) fn wall<T>(f: impl FnOnce() -> T) -> (T, f64) {
    let started = Instant::now();
    let result = f();
    (result, started.elapsed().as_secs_f64())
}
