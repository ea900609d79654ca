//! The process's peak memory, as Linux counts it.

/// A field of `/proc/self/status`, in bytes.
fn field(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// By how many bytes resident memory grows at most while `f` runs. `None`: the system does not tell.
pub(crate) fn growth<T>(f: impl FnOnce() -> T) -> (T, Option<u64>) {
    // Writing 5 sets the high-water mark to what is resident now (proc(5)).
    let reset = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    let before = field("VmRSS").filter(|_| reset);
    let result = f();
    (result, before.and_then(|before| Some(field("VmHWM")?.saturating_sub(before))))
}
