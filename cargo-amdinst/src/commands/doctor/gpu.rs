//! GPUs, as the kernel's driver (KFD) shows them, and whether this user may use them.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use amdgpu_isa::Arch;

use super::{Area, Check};
use crate::gpus;

pub(super) const DEVICES: &str = "gpu";
const ACCESS: &str = "gpu access";
const GROUPS: &str = "`sudo usermod --append --groups render,video \"$USER\"`, then log in again";

/// What there is below `root`, which is `/` but for tests. More than one check if there is a GPU.
pub(super) fn checks(root: &Path) -> Vec<Check> {
    let processors: Vec<String> = gpus::found(root).into_iter().map(|gpu| gpu.processor).collect();
    if processors.is_empty() {
        return vec![if has_amd_hardware(root) {
            Check::error(
                Area::Gpu,
                DEVICES,
                "the PCI bus has an AMD GPU, which the driver amdgpu does not show (/sys/class/kfd)",
                "`sudo modprobe amdgpu`; `sudo dmesg | grep amdgpu` says why it does not start",
            )
        } else {
            Check::ok(Area::Gpu, DEVICES, "none: tests run in the emulator")
        }];
    }
    let found = processors.join(", ");
    let known = |name: &String| name.parse::<Arch>().is_ok();
    let devices = if processors.iter().any(known) {
        Check::ok(Area::Gpu, DEVICES, found)
    } else {
        let known = Arch::BUILT.map(Arch::name).join(", ");
        let help = format!("tests run in the emulator; processors that are supported: {known}");
        Check::warning(Area::Gpu, DEVICES, format!("{found}: not supported"), help)
    };
    vec![devices, access(root)]
}

/// Whether the PCI bus has a display controller or processing accelerator of AMD's (vendor 1002; classes 03
/// and 12).
fn has_amd_hardware(root: &Path) -> bool {
    let is = |device: &Path, file: &str, starts: &[&str]| {
        fs::read_to_string(device.join(file))
            .is_ok_and(|text| starts.iter().any(|start| text.trim().starts_with(start)))
    };
    gpus::entries(&root.join("sys/bus/pci/devices"))
        .iter()
        .any(|device| is(device, "vendor", &["0x1002"]) && is(device, "class", &["0x03", "0x12"]))
}

/// Whether the driver's device and a render node may be opened: the runtime needs both.
fn access(root: &Path) -> Check {
    let kfd = root.join("dev/kfd");
    let mut nodes = gpus::entries(&root.join("dev/dri"));
    nodes.retain(|path| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("renderD"))
    });
    nodes.sort();
    if let Err(check) = usable(&kfd) {
        return check;
    }
    let failures: Vec<_> = nodes.iter().filter_map(|node| usable(node).err()).collect();
    match failures.first() {
        Some(check) if failures.len() == nodes.len() => check.clone(),
        _ if nodes.is_empty() => {
            let found = format!("there is no {}", root.join("dev/dri/renderD*").display());
            Check::error(Area::Gpu, ACCESS, found, container("/dev/dri"))
        }
        _ => {
            let usable = format!("{} of {} render nodes", nodes.len() - failures.len(), nodes.len());
            Check::ok(Area::Gpu, ACCESS, format!("{} and {usable}", kfd.display()))
        }
    }
}

/// Whether a device may be opened for reading and writing; else what to say.
fn usable(path: &Path) -> Result<(), Check> {
    let Err(error) = fs::OpenOptions::new().read(true).write(true).open(path) else { return Ok(()) };
    let help = match error.kind() {
        ErrorKind::PermissionDenied => GROUPS.to_owned(),
        _ => container("/dev/kfd"),
    };
    Err(Check::error(Area::Gpu, ACCESS, format!("{}: {error}", path.display()), help))
}

fn container(device: &str) -> String {
    format!("in a container, give it {device}: `--device /dev/kfd --device /dev/dri`")
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::*;

    fn file(root: &Path, name: &str, text: &str) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn node(root: &Path, number: u32, properties: &str) {
        file(root, &format!("sys/class/kfd/kfd/topology/nodes/{number}/properties"), properties);
    }

    #[test]
    fn no_gpu_is_well() {
        let root = tempfile::tempdir().unwrap();
        node(root.path(), 0, "cpu_cores_count 8\ngfx_target_version 0\n");
        // Another vendor's GPU, and AMD's host bridge.
        for (device, vendor, class) in
            [("00:1", "0x10de\n", "0x030200\n"), ("00:2", "0x1002\n", "0x060000\n")]
        {
            file(root.path(), &format!("sys/bus/pci/devices/{device}/vendor"), vendor);
            file(root.path(), &format!("sys/bus/pci/devices/{device}/class"), class);
        }
        let checks = checks(root.path());
        assert_eq!((checks.len(), checks[0].status), (1, Status::Ok));
    }

    #[test]
    fn hardware_without_a_driver() {
        let root = tempfile::tempdir().unwrap();
        file(root.path(), "sys/bus/pci/devices/a/vendor", "0x1002\n");
        file(root.path(), "sys/bus/pci/devices/a/class", "0x120000\n");
        let checks = checks(root.path());
        assert_eq!((checks.len(), checks[0].status), (1, Status::Error));
        assert!(checks[0].help.as_ref().unwrap().contains("modprobe amdgpu"));
    }

    #[test]
    fn consumer_cards_are_known() {
        let root = tempfile::tempdir().unwrap();
        node(root.path(), 1, "gfx_target_version 110000\n");
        node(root.path(), 2, "gfx_target_version 110501\n");
        let found = &checks(root.path())[0];
        assert_eq!((found.status, &*found.found), (Status::Ok, "gfx1100, gfx1151"));
    }

    #[test]
    fn other_processors_are_left_to_the_emulator() {
        let root = tempfile::tempdir().unwrap();
        node(root.path(), 1, "gfx_target_version 70001\n");
        let checks = checks(root.path());
        assert_eq!(checks[0].status, Status::Warning);
        assert_eq!(checks[0].found, "gfx701: not supported");
    }

    #[test]
    fn both_devices_have_to_open() {
        let root = tempfile::tempdir().unwrap();
        let help = |check: Check| (check.status, check.help.unwrap_or_default());
        let (status, text) = help(access(root.path()));
        assert!(status == Status::Error && text.contains("--device /dev/kfd"), "{text}");
        file(root.path(), "dev/kfd", "");
        let (status, text) = help(access(root.path()));
        assert!(status == Status::Error && text.contains("give it /dev/dri"), "{text}");
        // A directory cannot be opened for writing, whoever asks; a file without permissions can, by root.
        fs::create_dir_all(root.path().join("dev/dri/renderD128")).unwrap();
        assert_eq!(access(root.path()).status, Status::Error);
        file(root.path(), "dev/dri/renderD129", "");
        file(root.path(), "dev/dri/card0", "");
        let check = access(root.path());
        assert_eq!(check.status, Status::Ok);
        assert!(check.found.ends_with("dev/kfd and 1 of 2 render nodes"), "{}", check.found);
    }
}
