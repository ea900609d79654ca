//! The GPUs of this machine, as the kernel's driver (KFD) lists them in its topology. No runtime is needed
//! for that, nor the right to use them.

use std::fs;
use std::path::{Path, PathBuf};

/// A GPU in the driver's topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gpu {
    /// Its processor by LLVM's name (`gfx1100`), whether it is known here or not.
    pub(crate) processor: String,
    /// How many SIMDs it has; 0 if that is not said.
    pub(crate) simds: u32,
}

/// The GPUs below `root`, which is `/` but for tests, by their nodes' numbers. CPUs are nodes, too, of
/// version 0.
pub(crate) fn found(root: &Path) -> Vec<Gpu> {
    let mut nodes = entries(&root.join("sys/class/kfd/kfd/topology/nodes"));
    nodes.sort_by_key(|path| {
        path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok()).unwrap_or(u32::MAX)
    });
    nodes.iter().filter_map(|node| gpu(&fs::read_to_string(node.join("properties")).ok()?)).collect()
}

/// The GPU that a node's properties describe, a name and a number a line; `None` of a CPU.
fn gpu(properties: &str) -> Option<Gpu> {
    let property = |name: &str| -> Option<u32> {
        properties.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
    };
    let version = property("gfx_target_version").filter(|version| *version != 0)?;
    Some(Gpu { processor: processor(version), simds: property("simd_count").unwrap_or_default() })
}

/// `gfx_target_version` has two decimal digits each for minor version and stepping: 90010 is gfx90a.
fn processor(version: u32) -> String {
    let (major, minor, stepping) = (version / 10_000, version / 100 % 100, version % 100);
    format!("gfx{major}{minor:x}{stepping:x}")
}

/// What is in a directory; nothing, where there is none.
pub(crate) fn entries(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_by_the_drivers_numbers() {
        let root = tempfile::tempdir().unwrap();
        let node = |number: u32, properties: &str| {
            let node = root.path().join(format!("sys/class/kfd/kfd/topology/nodes/{number}"));
            fs::create_dir_all(&node).unwrap();
            fs::write(node.join("properties"), properties).unwrap();
        };
        node(0, "cpu_cores_count 8\nsimd_count 0\ngfx_target_version 0\n");
        // Values of the driver's table (kfd_device.c): Vega 20, Arcturus, Aldebaran, MI300.
        for (number, version) in [(10, 90_402), (2, 90_010), (3, 90_006), (1, 90_008)] {
            node(number, &format!("simd_count {number}\ngfx_target_version {version}\n"));
        }
        let found: Vec<(String, u32)> =
            found(root.path()).into_iter().map(|gpu| (gpu.processor, gpu.simds)).collect();
        let expected = [("gfx908", 1), ("gfx90a", 2), ("gfx906", 3), ("gfx942", 10)];
        assert_eq!(found, expected.map(|(processor, simds)| (processor.to_owned(), simds)));
    }
}
