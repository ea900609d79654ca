//! The machine as the runtime sees it: node 0 is the host, each GPU has a node behind it.

use amdinst_emu::{PRIVATE_APERTURE, SHARED_APERTURE};

use crate::abi::{
    CacheProperties, IoLinkProperties, MemoryProperties, NAME, NodeProperties, PCI_EXPRESS, Status,
    SystemProperties, heap,
};
use crate::profile::Profile;
use crate::settings::Settings;

/// Bits of `HSA_CAPABILITY`.
mod capability {
    pub(super) const QUEUE_SIZE_POWER_OF_TWO: u32 = 1 << 3;
    pub(super) const QUEUE_SIZE_32_BIT: u32 = 1 << 4;
    /// Doorbells take 64-bit packet numbers.
    pub(super) const DOORBELL_AQL: u32 = 2 << 12;
    pub(super) const MEMORY_ECC: u32 = 1 << 20;
    pub(super) const SRAM_ECC: u32 = 1 << 26;
}

/// PCI vendor of AMD.
const AMD: u16 = 0x1002;
/// Firmware that the newest checks of the runtime are content with.
const FIRMWARE: u32 = 900;
/// Bits of `HsaCacheType`.
const DATA_OF_GPU: u32 = 1 | 1 << 3;
const DATA_OF_CPU: u32 = 1 | 1 << 2;
/// Counters of global wave sync.
pub(crate) const GLOBAL_SYNCS: u8 = 64;
/// Addresses of one aperture.
const APERTURE: u64 = 4 << 30;

/// The nodes, and how many.
pub(crate) fn system(settings: &Settings) -> SystemProperties {
    SystemProperties { nodes: 1 + settings.gpus, platform_oem: 0, platform_id: 0, platform_revision: 0 }
}

/// The GPU of a node; `None` for the host.
fn gpu(settings: &Settings, node: u32) -> Result<Option<&'static Profile>, Status> {
    match node {
        0 => Ok(None),
        _ if node <= settings.gpus => Ok(Some(settings.profile)),
        _ => Err(Status::InvalidNodeUnit),
    }
}

/// `hsaKmtGetNodeProperties`.
pub(crate) fn node(settings: &Settings, node: u32) -> Result<NodeProperties, Status> {
    let Some(profile) = gpu(settings, node)? else {
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as u32;
        return Ok(NodeProperties {
            cpu_cores: cores,
            memory_banks: 1,
            caches: caches(settings, node)?.len() as u32,
            io_links: settings.gpus,
            marketing_name: utf16("host"),
            amd_name: ascii("host"),
            ..NodeProperties::default()
        });
    };
    let mut capabilities =
        capability::QUEUE_SIZE_POWER_OF_TWO | capability::QUEUE_SIZE_32_BIT | capability::DOORBELL_AQL;
    if profile.sramecc {
        capabilities |= capability::SRAM_ECC | capability::MEMORY_ECC;
    }
    let (major, minor, stepping) = profile.version;
    Ok(NodeProperties {
        simds: profile.cus * profile.arch.limits().simds,
        memory_banks: memory(settings, node)?.len() as u32,
        caches: caches(settings, node)?.len() as u32,
        io_links: 1,
        simd_id: first_simd(node),
        capability: capabilities,
        waves_per_simd: profile.arch.limits().waves_per_simd,
        lds_kib: profile.arch.limits().lds_bytes >> 10,
        wavefront: profile.arch.default_wave().lanes(),
        arrays: profile.arrays,
        arrays_per_engine: profile.arrays_per_engine,
        cus_per_array: profile.cus.div_ceil(profile.arrays),
        simds_per_cu: profile.arch.limits().simds,
        scratch_slots_per_cu: 32,
        // Microcode, then the target's version.
        engine_id: FIRMWARE | major << 10 | minor << 16 | stepping << 24,
        vendor_id: AMD,
        device_id: profile.device_id,
        location_id: (2 + node) << 8,
        local_memory: profile.memory,
        gpu_clock_mhz: profile.clock_mhz,
        cpu_clock_mhz: 0,
        render_minor: 127 + node as i32,
        marketing_name: utf16(profile.name),
        amd_name: ascii(profile.chip),
        sdma_version: FIRMWARE,
        compute_queues: 24,
        gws: GLOBAL_SYNCS,
        unique_id: 0xa3d1_0000_0000_0000 + u64::from(node),
        vgpr_bytes_per_cu: profile.vgpr_kib_per_cu << 10,
        sgpr_bytes_per_cu: 16 << 10,
        ..NodeProperties::default()
    })
}

/// `hsaKmtGetNodeMemoryProperties`.
pub(crate) fn memory(settings: &Settings, node: u32) -> Result<Vec<MemoryProperties>, Status> {
    let Some(profile) = gpu(settings, node)? else {
        return Ok(vec![MemoryProperties {
            heap: heap::SYSTEM,
            bytes: crate::host_memory::physical_bytes(),
            width: 64,
            clock_mhz: 1600,
            ..MemoryProperties::default()
        }]);
    };
    Ok(vec![
        MemoryProperties {
            heap: heap::DEVICE,
            bytes: profile.memory,
            width: profile.bus_width,
            clock_mhz: profile.memory_clock_mhz,
            ..MemoryProperties::default()
        },
        MemoryProperties {
            heap: heap::LDS,
            bytes: u64::from(profile.arch.limits().lds_bytes),
            base: SHARED_APERTURE,
            ..MemoryProperties::default()
        },
        MemoryProperties {
            heap: heap::SCRATCH,
            bytes: APERTURE,
            base: PRIVATE_APERTURE,
            ..MemoryProperties::default()
        },
    ])
}

/// `hsaKmtGetNodeCacheProperties`: the first two levels. The runtime insists on some for the host too; they
/// are typical.
pub(crate) fn caches(settings: &Settings, node: u32) -> Result<Vec<CacheProperties>, Status> {
    let profile = gpu(settings, node)?;
    let line = profile.map_or(64, |profile| profile.arch.limits().l2_line_bytes);
    let cache = |level, size| CacheProperties {
        processor: if profile.is_some() { first_simd(node) } else { 0 },
        level,
        size,
        line,
        lines_per_tag: 1,
        associativity: 16,
        latency: 0,
        kind: if profile.is_some() { DATA_OF_GPU } else { DATA_OF_CPU },
        siblings: [0; 256],
    };
    Ok(match profile {
        Some(profile) => vec![cache(1, 16), cache(2, profile.l2)],
        None => vec![cache(1, 32), cache(2, 1024)],
    })
}

/// The number of a GPU's first SIMD among the processors of the machine.
fn first_simd(node: u32) -> u32 {
    0x8000_0000 + (node << 16)
}

/// `hsaKmtGetNodeIoLinkProperties`: every GPU is linked to the host.
pub(crate) fn links(settings: &Settings, node: u32) -> Result<Vec<IoLinkProperties>, Status> {
    let link = |from, to| IoLinkProperties {
        kind: PCI_EXPRESS,
        from,
        to,
        weight: 20,
        ..IoLinkProperties::default()
    };
    Ok(match gpu(settings, node)? {
        None => (1..=settings.gpus).map(|gpu| link(0, gpu)).collect(),
        Some(_) => vec![link(node, 0)],
    })
}

fn utf16(name: &str) -> [u16; NAME] {
    let mut units = [0; NAME];
    for (unit, of_name) in units.iter_mut().zip(name.encode_utf16().take(NAME - 1)) {
        *unit = of_name;
    }
    units
}

fn ascii(name: &str) -> [u8; NAME] {
    let mut bytes = [0; NAME];
    for (byte, of_name) in bytes.iter_mut().zip(name.bytes().take(NAME - 1)) {
        *byte = of_name;
    }
    bytes
}
