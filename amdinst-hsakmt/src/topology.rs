//! The machine as the driver describes it in files: node 0 is the host, each GPU has a node behind it.
//!
//! Programs read these under `/sys`, find out by them that the driver is there, and look for the device files
//! beside them. The names of files and properties are the kernel's. What is not asked for is not there.

use crate::profile::Profile;
use crate::settings::Settings;

/// Bits of a GPU's capabilities.
mod capability {
    pub(super) const QUEUE_SIZE_POWER_OF_TWO: u32 = 1 << 3;
    pub(super) const QUEUE_SIZE_32_BIT: u32 = 1 << 4;
    /// Doorbells take 64-bit packet numbers.
    pub(super) const DOORBELL_AQL: u32 = 2 << 12;
    pub(super) const MEMORY_ECC: u32 = 1 << 20;
    pub(super) const SRAM_ECC: u32 = 1 << 26;
}

/// Kinds of memory.
mod heap {
    pub(super) const SYSTEM: u64 = 0;
    /// Device memory that the host's loads and stores reach. Runtimes take it for that wherever the host has
    /// a link to the GPU, and copy a little of it themselves.
    pub(super) const DEVICE: u64 = 1;
}

/// PCI vendor of AMD.
const AMD: u32 = 0x1002;
/// Firmware that the newest checks of the runtime are content with.
const FIRMWARE: u32 = 900;
/// Bits of a cache's type.
const DATA_OF_GPU: u32 = 1 | 1 << 3;
const DATA_OF_CPU: u32 = 1 | 1 << 2;
/// A link's type.
const PCI_EXPRESS: u32 = 2;
/// Counters of global wave sync.
pub(crate) const GLOBAL_SYNCS: u32 = 64;
/// Addresses of the range of LDS, and of that of scratch memory.
pub(crate) const APERTURE: u64 = 4 << 30;
/// What the number of a GPU begins with.
const GPU: u32 = 0xa000;
/// Number of the first render node.
const FIRST_RENDER: u32 = 128;
/// Where the driver's description is.
const TOPOLOGY: &str = "sys/devices/virtual/kfd/kfd/topology";

/// The file by which libdrm knows the names of products, here one for the emulated.
pub(crate) const NAMES: &str = "amdgpu.ids";

/// A file: its path below the root, and what is in it.
pub(crate) type Described = (String, String);

/// The driver's number of a node's GPU.
pub(crate) fn gpu_of(settings: &Settings, node: u32) -> u32 {
    if (1..=settings.gpus).contains(&node) { GPU + node } else { 0 }
}

/// The node of a GPU by the driver's number.
pub(crate) fn node_of(settings: &Settings, gpu: u32) -> Option<u32> {
    gpu.checked_sub(GPU).filter(|node| (1..=settings.gpus).contains(node))
}

/// The number of a GPU's render node.
pub(crate) const fn render_of(node: u32) -> u32 {
    FIRST_RENDER - 1 + node
}

/// The GPU's node whose render node has that number.
pub(crate) fn node_of_render(settings: &Settings, render: u32) -> Option<u32> {
    render.checked_sub(FIRST_RENDER - 1).filter(|node| (1..=settings.gpus).contains(node))
}

/// All files of a machine.
pub(crate) fn files(settings: &Settings) -> Vec<Described> {
    let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let mut files = vec![
        file("dev/kfd", ""),
        file("sys/module/amdgpu/initstate", "live\n"),
        file("proc/modules", "amdgpu 0 0 - Live 0x0000000000000000\n"),
        (NAMES.to_owned(), names(settings.profile)),
        (format!("{TOPOLOGY}/generation_id"), "1\n".to_owned()),
        (
            format!("{TOPOLOGY}/system_properties"),
            properties(&[("platform_oem", 0), ("platform_id", 0), ("platform_rev", 0)]),
        ),
    ];
    for node in 0..=settings.gpus {
        files.extend(of_node(settings, node));
    }
    for node in 1..=settings.gpus {
        files.extend(of_graphics(settings.profile, node));
    }
    // The same files by the other name that they have in a system.
    let class = files.iter().filter_map(|(path, text)| {
        let rest = path.strip_prefix("sys/devices/virtual/kfd/")?;
        Some((format!("sys/class/kfd/{rest}"), text.clone()))
    });
    let class: Vec<Described> = class.collect();
    files.extend(class);
    files
}

/// Lines of a name and a value each.
fn properties(all: &[(&str, u64)]) -> String {
    all.iter().map(|(name, value)| format!("{name} {value}\n")).collect()
}

/// A version, then device, revision and name of each product.
fn names(profile: &Profile) -> String {
    format!("1.0.0\n{:X},\t00,\t{}\n", profile.device_id, profile.name)
}

/// The files of a node.
fn of_node(settings: &Settings, node: u32) -> Vec<Described> {
    let profile = (node != 0).then_some(settings.profile);
    let at = |path: String, text| (format!("{TOPOLOGY}/nodes/{node}/{path}"), text);
    let (banks, caches, links) = (memory(profile), caches(profile, node), links(settings, node));
    let mut own = match profile {
        None => host(settings),
        Some(profile) => gpu(profile, node),
    };
    own.extend([
        ("mem_banks_count", 1),
        ("caches_count", caches.len() as u64),
        ("io_links_count", links.len() as u64),
        ("p2p_links_count", 0),
    ]);
    let name = profile.map_or("", |profile| profile.chip);
    let mut files = vec![
        at("gpu_id".into(), format!("{}\n", gpu_of(settings, node))),
        at("name".into(), format!("{name}\n")),
        at("properties".into(), properties(&own)),
        at("mem_banks/0/properties".into(), banks),
    ];
    for (kind, all) in [("caches", caches), ("io_links", links)] {
        let numbered = all.into_iter().enumerate();
        files.extend(numbered.map(|(index, text)| at(format!("{kind}/{index}/properties"), text)));
    }
    files
}

/// What is said of the host.
fn host(settings: &Settings) -> Vec<(&'static str, u64)> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    vec![("cpu_cores_count", cores), ("simd_count", 0), ("num_gpus", settings.gpus.into())]
}

/// What is said of a GPU.
fn gpu(profile: &Profile, node: u32) -> Vec<(&'static str, u64)> {
    let limits = profile.arch.limits();
    let mut capabilities =
        capability::QUEUE_SIZE_POWER_OF_TWO | capability::QUEUE_SIZE_32_BIT | capability::DOORBELL_AQL;
    if profile.sramecc {
        capabilities |= capability::SRAM_ECC | capability::MEMORY_ECC;
    }
    let (major, minor, stepping) = profile.version;
    let words = [
        ("cpu_cores_count", 0),
        ("simd_count", profile.cus * limits.simds),
        ("cpu_core_id_base", 0),
        ("simd_id_base", first_simd(node)),
        ("max_waves_per_simd", limits.waves_per_simd),
        ("lds_size_in_kb", limits.lds_bytes >> 10),
        ("gds_size_in_kb", 0),
        ("num_gws", GLOBAL_SYNCS),
        ("wave_front_size", profile.arch.default_wave().lanes()),
        ("array_count", profile.arrays),
        ("simd_arrays_per_engine", profile.arrays_per_engine),
        ("cu_per_simd_array", profile.cus.div_ceil(profile.arrays)),
        ("simd_per_cu", limits.simds),
        ("max_slots_scratch_cu", 32),
        ("gfx_target_version", major * 10_000 + minor * 100 + stepping),
        ("vendor_id", AMD),
        ("device_id", profile.device_id.into()),
        ("location_id", (2 + node) << 8),
        ("domain", 0),
        ("drm_render_minor", render_of(node)),
        // The GPU copies with kernels.
        ("num_sdma_engines", 0),
        ("num_sdma_xgmi_engines", 0),
        ("num_sdma_queues_per_engine", 0),
        ("num_cp_queues", 24),
        ("max_engine_clk_fcompute", profile.clock_mhz),
        ("max_engine_clk_ccompute", 0),
        ("fw_version", FIRMWARE),
        ("sdma_fw_version", FIRMWARE),
        ("capability", capabilities),
        ("debug_prop", 0),
        ("num_xcc", profile.dies),
    ];
    let mut all: Vec<_> = words.map(|(name, value)| (name, u64::from(value))).into();
    all.extend([
        ("local_mem_size", profile.memory),
        ("hive_id", 0),
        ("unique_id", 0xa3d1_0000_0000_0000 + u64::from(node)),
    ]);
    all
}

/// The memory of a node.
fn memory(profile: Option<&Profile>) -> String {
    let (kind, bytes, width, clock) = match profile {
        None => (heap::SYSTEM, crate::host_memory::physical_bytes(), 64, 1600),
        Some(profile) => (heap::DEVICE, profile.memory, profile.bus_width, profile.memory_clock_mhz),
    };
    properties(&[
        ("heap_type", kind),
        ("size_in_bytes", bytes),
        ("flags", 0),
        ("width", width.into()),
        ("mem_clk_max", clock.into()),
    ])
}

/// The first two levels of caches. The runtime insists on some for the host too; they are typical.
fn caches(profile: Option<&Profile>, node: u32) -> Vec<String> {
    let line = profile.map_or(64, |profile| profile.arch.limits().l2_line_bytes);
    let (processor, kind) = match profile {
        None => (0, DATA_OF_CPU),
        Some(_) => (first_simd(node), DATA_OF_GPU),
    };
    let cache = |level: u32, size: u32| {
        let words = [
            ("processor_id_low", processor),
            ("level", level),
            ("size", size),
            ("cache_line_size", line),
            ("cache_lines_per_tag", 1),
            ("association", 16),
            ("latency", 0),
            ("type", kind),
        ];
        properties(&words.map(|(name, value)| (name, u64::from(value)))) + "sibling_map 1\n"
    };
    match profile {
        Some(profile) => vec![cache(1, 16), cache(2, profile.l2)],
        None => vec![cache(1, 32), cache(2, 1024)],
    }
}

/// The number of a GPU's first SIMD among the processors of the machine.
fn first_simd(node: u32) -> u32 {
    0x8000_0000 + (node << 16)
}

/// The links of a node: every GPU is linked to the host.
fn links(settings: &Settings, node: u32) -> Vec<String> {
    let link = |from: u32, to: u32| {
        let words = [
            ("type", PCI_EXPRESS),
            ("version_major", 0),
            ("version_minor", 0),
            ("node_from", from),
            ("node_to", to),
            ("weight", 20),
            ("min_latency", 0),
            ("max_latency", 0),
            ("min_bandwidth", 0),
            ("max_bandwidth", 0),
            ("recommended_transfer_size", 0),
            ("flags", 1),
        ];
        properties(&words.map(|(name, value)| (name, u64::from(value))))
    };
    match node {
        0 => (1..=settings.gpus).map(|gpu| link(0, gpu)).collect(),
        _ => vec![link(node, 0)],
    }
}

/// What the graphics driver has of a GPU.
fn of_graphics(profile: &Profile, node: u32) -> Vec<Described> {
    let (card, render) = (format!("card{}", node - 1), format!("renderD{}", render_of(node)));
    let slot = format!("0000:{:02x}:00.0", 2 + node);
    let text = [
        ("vendor", format!("{AMD:#06x}\n")),
        ("device", format!("{:#06x}\n", profile.device_id)),
        ("subsystem_vendor", format!("{AMD:#06x}\n")),
        ("subsystem_device", format!("{:#06x}\n", profile.device_id)),
        ("revision", "0x00\n".to_owned()),
        ("uevent", format!("DRIVER=amdgpu\nPCI_SLOT_NAME={slot}\n")),
    ];
    let mut files = Vec::new();
    for (name, minor) in [(&card, node - 1), (&render, render_of(node))] {
        files.push((format!("dev/dri/{name}"), String::new()));
        for place in [format!("sys/dev/char/226:{minor}/device"), format!("sys/class/drm/{name}/device")] {
            files.extend(text.iter().map(|(file, text)| (format!("{place}/{file}"), text.clone())));
            for (other, number) in [(&card, node - 1), (&render, render_of(node))] {
                files.push((format!("{place}/drm/{other}/dev"), format!("226:{number}\n")));
            }
        }
    }
    files
}
