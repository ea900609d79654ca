//! The files that describe the machine, as a tree that programs are led into.
//!
//! A tree stands in a folder of its own, named by what is in it, and is written once: other processes, and
//! those of later days, use it as it is. It comes into being whole, by a change of its name.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

use crate::settings::Settings;
use crate::topology::{self, Described};

/// The variable that names the folder of all trees. Without it no path leads into one.
pub(crate) const VARIABLE: &str = "AMDINST_GPU_FILES";

/// What paths begin with that lead into the tree, if it has them: folders, without a slash at the end.
pub(crate) const PLACES: [&str; 7] = [
    "/dev/kfd",
    "/dev/dri",
    "/sys/class/kfd",
    "/sys/devices/virtual/kfd",
    "/sys/module/amdgpu",
    "/sys/class/drm",
    "/proc/modules",
];
/// The character devices of graphics drivers, by number.
pub(crate) const GRAPHICS: &str = "/sys/dev/char/226:";

/// The tree of a machine in the folder of all trees, written if it was not there.
pub(crate) fn tree(folder: &Path, settings: &Settings) -> io::Result<PathBuf> {
    let files = topology::files(settings);
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    let (cpu, gpus) = (settings.profile.arch.name(), settings.gpus);
    let tree = folder.join(format!("{cpu}-{gpus}-{:016x}", hasher.finish()));
    if !tree.is_dir() {
        let fresh = tree.with_extension(std::process::id().to_string());
        write(&fresh, &files)?;
        let moved = std::fs::rename(&fresh, &tree);
        if moved.is_err() {
            std::fs::remove_dir_all(&fresh)?;
        }
        // Another process may have been first.
        if !tree.is_dir() {
            moved?;
        }
    }
    Ok(tree)
}

fn write(root: &Path, files: &[Described]) -> io::Result<()> {
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(root))?;
        std::fs::write(path, text)?;
    }
    Ok(())
}

/// Where in the tree a path leads; `None` if it does not lead there.
pub(crate) fn inside(path: &[u8]) -> Option<&[u8]> {
    let below = |place: &str| {
        let rest = path.strip_prefix(place.as_bytes());
        rest.is_some_and(|rest| rest.first().is_none_or(|byte| *byte == b'/'))
    };
    // Most paths are decided by how they begin.
    let is_place = [b"/sys/", b"/dev/", &b"/proc/"[..]].iter().any(|start| path.starts_with(start))
        && (path.starts_with(GRAPHICS.as_bytes()) || PLACES.iter().any(|place| below(place)));
    if is_place {
        return path.strip_prefix(b"/");
    }
    // Wherever libdrm is installed, it has the names of products beside it.
    path.ends_with(b"/libdrm/amdgpu.ids").then_some(topology::NAMES.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_driver_lead_in_and_no_others() {
        for path in
            ["/dev/kfd", "/dev/dri/renderD128", "/sys/class/kfd/kfd/topology", "/sys/dev/char/226:128"]
        {
            assert_eq!(inside(path.as_bytes()), Some(&path.as_bytes()[1..]));
        }
        for path in
            ["/dev/kfdx", "/dev/null", "/sys/class", "dev/kfd", "", "/sys/class/net", "/sys/dev/char/1:3"]
        {
            assert_eq!(inside(path.as_bytes()), None, "{path}");
        }
        assert_eq!(inside(b"/usr/share/libdrm/amdgpu.ids"), Some(topology::NAMES.as_bytes()));
    }

    #[test]
    fn a_tree_is_written_once_and_names_each_gpu() {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings::read(|name| (name == "AMDINST_GPUS").then(|| "2".to_owned())).unwrap();
        let root = tree(folder.path(), &settings).unwrap();
        assert_eq!(tree(folder.path(), &settings).unwrap(), root);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let nodes = root.join("sys/devices/virtual/kfd/kfd/topology/nodes");
        let read = |path: &str| std::fs::read_to_string(nodes.join(path)).unwrap();
        assert_eq!(["0/gpu_id", "1/gpu_id", "2/gpu_id"].map(read), ["0\n", "40961\n", "40962\n"]);
        assert!(read("2/properties").contains("\ngfx_target_version 90010\n"));
        assert!(root.join("dev/dri/renderD129").is_file());
    }
}
