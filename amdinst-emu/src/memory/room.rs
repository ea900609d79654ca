//! How much memory this machine gives. Linux promises more than it has, and ends without a word whoever takes
//! it at its word. So this is asked before anything large is allocated.

use std::fs;
use std::path::{Path, PathBuf};

/// Bytes that there are to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Room(u64);

impl Room {
    /// The least of three figures: the machine's free memory, the rest of the process's control group, and
    /// the limit of `ulimit -v`. A figure that the system does not tell is infinite.
    pub fn here() -> Self {
        let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| of_machine(&text));
        let group = fs::read_to_string("/proc/self/cgroup").ok().and_then(|text| {
            groups(&text, Path::new("/sys/fs/cgroup")).iter().filter_map(|group| of_group(group)).min()
        });
        let read = |name: &str| fs::read_to_string(Path::new("/proc/self").join(name)).ok();
        let process =
            read("limits").zip(read("status")).and_then(|(limits, status)| of_process(&limits, &status));
        let least = [machine, group, process].into_iter().flatten().min();
        Self(least.unwrap_or(u64::MAX))
    }

    /// So many bytes.
    pub const fn of(bytes: u64) -> Self {
        Self(bytes)
    }

    /// How many bytes there are.
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

/// The number of kilobytes that a line of `/proc/meminfo` or `/proc/self/status` has behind a name, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(1024 * line.trim_end_matches("kB").trim().parse::<u64>().ok()?)
}

/// Bytes that programs can take without others being swapped out, and the free swap space, of
/// `/proc/meminfo`.
fn of_machine(text: &str) -> Option<u64> {
    // Linux has the first since 3.14.
    Some(kilobytes(text, "MemAvailable:")? + kilobytes(text, "SwapFree:").unwrap_or(0))
}

/// Bytes of address space that a process may still map: its soft limit in `/proc/self/limits`, less what it
/// has.
fn of_process(limits: &str, status: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    // `unlimited` is no limit.
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(kilobytes(status, "VmSize:")?))
}

/// The directories of the control groups (version 2) that `/proc/self/cgroup` names, the innermost first;
/// each limits those in it. In a container the root is the container's own.
fn groups(text: &str, root: &Path) -> Vec<PathBuf> {
    let Some(path) = text.lines().find_map(|line| line.strip_prefix("0::/")) else { return Vec::new() };
    let innermost = root.join(path);
    innermost.ancestors().take_while(|group| group.starts_with(root)).map(Path::to_owned).collect()
}

/// Bytes that a control group still gives: its limit without what cannot be dropped. Files that were read
/// count against the limit, too, but go when there is need.
fn of_group(group: &Path) -> Option<u64> {
    let read = |name| fs::read_to_string(group.join(name)).ok();
    // `max` is no limit.
    let limit: u64 = read("memory.max")?.trim().parse().ok()?;
    let statistics = read("memory.stat")?;
    let taken = |name: &str| {
        let lines = statistics.lines().filter_map(|line| line.split_once(' '));
        lines.filter(|(key, _)| *key == name).find_map(|(_, value)| value.trim().parse::<u64>().ok())
    };
    Some(limit.saturating_sub(taken("anon")? + taken("shmem").unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_gives_what_is_available_and_swap() {
        let text = "MemTotal:       24684084 kB\nMemFree:        18076836 kB\nMemAvailable:   21372624 kB\nSwapFree:            16 kB\n";
        assert_eq!(of_machine(text), Some(1024 * 21_372_640));
        assert_eq!(of_machine("MemTotal: 5 kB\n"), None);
        assert!(Room::here().bytes() > 0);
    }

    #[test]
    fn a_process_gives_its_limit_without_what_it_has() {
        let line = |limit: &str| {
            format!("Limit  Soft\nMax address space         {limit}   unlimited   bytes     \n")
        };
        let status = "Name:\tx\nVmPeak:\t    9000 kB\nVmSize:\t    1000 kB\n";
        assert_eq!(of_process(&line("2048000"), status), Some(1_024_000));
        assert_eq!(of_process(&line("1000"), status), Some(0));
        assert_eq!(of_process(&line("unlimited"), status), None);
    }

    #[test]
    fn a_control_group_gives_its_limit_without_what_is_taken() {
        let root = tempfile::tempdir().unwrap();
        let found = groups("4:memory:/old\n0::/pod/box\n", root.path());
        assert_eq!(found, [root.path().join("pod/box"), root.path().join("pod"), root.path().to_owned()]);
        assert!(groups("4:memory:/old\n", root.path()).is_empty());
        fs::create_dir_all(&found[0]).unwrap();
        let write = |name, text| fs::write(found[0].join(name), text).unwrap();
        assert_eq!(of_group(&found[0]), None);
        write("memory.max", "max\n");
        write("memory.stat", "anon 300\nfile 90000\nshmem 50\n");
        assert_eq!(of_group(&found[0]), None);
        write("memory.max", "1000\n");
        assert_eq!(of_group(&found[0]), Some(650));
    }
}
