//! Whether a launch's buffers fit into this machine's memory. Linux promises more memory than it has, and kills without a
//! word whoever takes it at its word; so this is asked before anything is allocated.

use std::fs;
use std::path::{Path, PathBuf};

/// How often a run holds its buffers, at most: what they begin with, what each of the two kernels works on, and what is
/// compared.
const COPIES: u64 = 4;

/// Bytes that there are to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room(u64);

/// Buffers that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no room for {size} bytes: a run holds its buffers up to {COPIES} times, {needed} bytes so far, and {available} bytes of memory \
     are available"
)]
pub struct NoRoom {
    /// Bytes of the buffer.
    size: u64,
    /// Bytes of all copies of it and of the buffers before it.
    needed: u128,
    /// Bytes that there are.
    available: u64,
}

impl Room {
    /// What this machine has, and what the control group leaves of it that this process is in; without end where the system
    /// does not tell.
    pub fn here() -> Self {
        let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| of_machine(&text));
        let group = fs::read_to_string("/proc/self/cgroup").ok().and_then(|text| {
            groups(&text, Path::new("/sys/fs/cgroup")).iter().filter_map(|group| of_group(group)).min()
        });
        Self(machine.into_iter().chain(group).min().unwrap_or(u64::MAX))
    }

    /// Looks whether buffers of these sizes fit together.
    ///
    /// # Errors
    /// They do not: the place in `sizes` of the first that does not, and why.
    pub fn check(self, sizes: impl IntoIterator<Item = u64>) -> Result<(), (usize, NoRoom)> {
        let mut needed = 0;
        for (index, size) in sizes.into_iter().enumerate() {
            needed += u128::from(size) * u128::from(COPIES);
            if needed > u128::from(self.0) {
                return Err((index, NoRoom { size, needed, available: self.0 }));
            }
        }
        Ok(())
    }
}

/// Bytes that programs can take without others being swapped out, and the free swap space, of `/proc/meminfo`.
fn of_machine(text: &str) -> Option<u64> {
    let kilobytes = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim_end_matches("kB").trim().parse::<u64>().ok()
    };
    // Linux has it since 3.14.
    let bytes = 1024 * (kilobytes("MemAvailable:")? + kilobytes("SwapFree:").unwrap_or(0));
    Some(bytes)
}

/// The directories of the control groups (version 2) that `/proc/self/cgroup` names, the innermost first; each limits those in
/// it. In a container the root is the container's own.
fn groups(text: &str, root: &Path) -> Vec<PathBuf> {
    let Some(path) = text.lines().find_map(|line| line.strip_prefix("0::/")) else { return Vec::new() };
    let innermost = root.join(path);
    innermost.ancestors().take_while(|group| group.starts_with(root)).map(Path::to_owned).collect()
}

/// Bytes that a control group still gives: its limit without what cannot be dropped. Files that were read count against the
/// limit, too, but go when there is need.
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
    fn the_first_that_does_not_fit_is_told() {
        let room = Room(4000);
        assert_eq!(room.check([600, 0, 400]), Ok(()));
        let (index, error) = room.check([600, 401, 1]).unwrap_err();
        assert_eq!(index, 1);
        assert_eq!(
            error.to_string(),
            "no room for 401 bytes: a run holds its buffers up to 4 times, 4004 bytes so far, and 4000 bytes of memory are \
             available"
        );
        assert_eq!(room.check([u64::MAX, u64::MAX]).unwrap_err().0, 0);
        assert_eq!(Room(u64::MAX).check([u64::MAX / 4, 4]).unwrap_err().0, 1);
    }

    #[test]
    fn a_machine_gives_what_is_available_and_swap() {
        let text = "MemTotal:       24684084 kB\nMemFree:        18076836 kB\nMemAvailable:   21372624 kB\nSwapFree:            16 kB\n";
        assert_eq!(of_machine(text), Some(1024 * 21_372_640));
        assert_eq!(of_machine("MemTotal: 5 kB\n"), None);
        assert!(Room::here().0 > 0);
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
