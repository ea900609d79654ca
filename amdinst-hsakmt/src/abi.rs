//! The types that cross the library's border, laid out as `hsakmttypes.h` of ROCm 5.2 has them: packed to 4
//! bytes.

use std::ffi::c_void;

/// `HSAKMT_STATUS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Status {
    Success = 0,
    Error = 1,
    InvalidParameter = 3,
    InvalidHandle = 4,
    InvalidNodeUnit = 5,
    NoMemory = 6,
    NotSupported = 11,
    OutOfResources = 13,
    NotOpened = 20,
    WaitTimeout = 31,
    MemoryAlreadyRegistered = 35,
    MemoryNotRegistered = 36,
}

/// What the functions of the library give, before the border.
pub(crate) type Outcome = Result<(), Status>;

/// `HsaVersionInfo`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct VersionInfo {
    pub(crate) major: u32,
    pub(crate) minor: u32,
}

/// `HsaSystemProperties`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct SystemProperties {
    pub(crate) nodes: u32,
    pub(crate) platform_oem: u32,
    pub(crate) platform_id: u32,
    pub(crate) platform_revision: u32,
}

/// Units of a name in [`NodeProperties`].
pub(crate) const NAME: usize = 64;

/// `HsaNodeProperties`.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(crate) struct NodeProperties {
    pub(crate) cpu_cores: u32,
    /// SIMDs of all CUs.
    pub(crate) simds: u32,
    pub(crate) memory_banks: u32,
    pub(crate) caches: u32,
    pub(crate) io_links: u32,
    pub(crate) cpu_id: u32,
    pub(crate) simd_id: u32,
    pub(crate) capability: u32,
    pub(crate) waves_per_simd: u32,
    pub(crate) lds_kib: u32,
    pub(crate) gds_kib: u32,
    pub(crate) wavefront: u32,
    /// Shader arrays, of all shader engines.
    pub(crate) arrays: u32,
    pub(crate) arrays_per_engine: u32,
    pub(crate) cus_per_array: u32,
    pub(crate) simds_per_cu: u32,
    pub(crate) scratch_slots_per_cu: u32,
    pub(crate) engine_id: u32,
    pub(crate) vendor_id: u16,
    pub(crate) device_id: u16,
    pub(crate) location_id: u32,
    pub(crate) local_memory: u64,
    pub(crate) gpu_clock_mhz: u32,
    pub(crate) cpu_clock_mhz: u32,
    pub(crate) render_minor: i32,
    pub(crate) marketing_name: [u16; NAME],
    pub(crate) amd_name: [u8; NAME],
    pub(crate) sdma_version: u32,
    pub(crate) debug_properties: u64,
    pub(crate) hive_id: u64,
    pub(crate) sdma_engines: u32,
    pub(crate) sdma_xgmi_engines: u32,
    pub(crate) sdma_queues_per_engine: u8,
    pub(crate) compute_queues: u8,
    pub(crate) gws: u8,
    pub(crate) reserved2: u8,
    pub(crate) domain: u32,
    pub(crate) unique_id: u64,
    pub(crate) vgpr_bytes_per_cu: u32,
    pub(crate) sgpr_bytes_per_cu: u32,
    pub(crate) reserved: [u8; 12],
}

impl Default for NodeProperties {
    fn default() -> Self {
        // SAFETY: integers only.
        unsafe { std::mem::zeroed() }
    }
}

/// `HsaMemoryProperties`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, packed(4))]
pub(crate) struct MemoryProperties {
    pub(crate) heap: u32,
    pub(crate) bytes: u64,
    pub(crate) flags: u32,
    /// Bits of the bus.
    pub(crate) width: u32,
    pub(crate) clock_mhz: u32,
    pub(crate) base: u64,
}

/// Values of [`MemoryProperties::heap`].
pub(crate) mod heap {
    pub(crate) const SYSTEM: u32 = 0;
    /// Device memory that the host's loads and stores do not reach.
    pub(crate) const DEVICE: u32 = 2;
    pub(crate) const LDS: u32 = 4;
    pub(crate) const SCRATCH: u32 = 5;
}

/// `HsaCacheProperties`.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(crate) struct CacheProperties {
    pub(crate) processor: u32,
    pub(crate) level: u32,
    /// KiB.
    pub(crate) size: u32,
    pub(crate) line: u32,
    pub(crate) lines_per_tag: u32,
    pub(crate) associativity: u32,
    pub(crate) latency: u32,
    /// Bits: data, instructions, CPU, GPU.
    pub(crate) kind: u32,
    pub(crate) siblings: [u32; 256],
}

/// `HsaIoLinkProperties`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, packed(4))]
pub(crate) struct IoLinkProperties {
    pub(crate) kind: u32,
    pub(crate) major: u32,
    pub(crate) minor: u32,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) weight: u32,
    pub(crate) latency: [u32; 2],
    pub(crate) bandwidth: [u32; 2],
    pub(crate) transfer_size: u32,
    pub(crate) flags: u32,
}

/// `HSA_IOLINKTYPE_PCIEXPRESS`.
pub(crate) const PCI_EXPRESS: u32 = 2;

/// `HsaMemFlags`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub(crate) struct MemoryFlags(pub(crate) u32);

impl MemoryFlags {
    pub(crate) const fn host_access(self) -> bool {
        self.0 & 1 << 6 != 0
    }

    pub(crate) const fn gds(self) -> bool {
        self.0 & 1 << 8 != 0
    }

    pub(crate) const fn scratch(self) -> bool {
        self.0 & 1 << 9 != 0
    }

    pub(crate) const fn fixed_address(self) -> bool {
        self.0 & 1 << 15 != 0
    }
}

/// `HsaMemoryAccessFault`, padded to the union that it stands in.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, packed(4))]
pub(crate) struct MemoryAccessFault {
    pub(crate) node: u32,
    pub(crate) address: u64,
    /// Bits: not present, read-only, …
    pub(crate) failure: u32,
    pub(crate) flags: u32,
}

impl MemoryAccessFault {
    pub(crate) const NOT_PRESENT: u32 = 1;
    pub(crate) const READ_ONLY: u32 = 2;
    /// `HSA_EVENTID_MEMORY_FATAL_PROCESS`.
    pub(crate) const FATAL_PROCESS: u32 = 1;
}

/// `HsaEvent`.
#[derive(Debug)]
#[repr(C, packed(4))]
pub(crate) struct Event {
    pub(crate) id: u32,
    pub(crate) kind: u32,
    pub(crate) data: MemoryAccessFault,
    pub(crate) hw_data1: u64,
    pub(crate) hw_data2: u64,
    pub(crate) hw_data3: u32,
}

/// Values of [`Event::kind`].
pub(crate) mod event_kind {
    pub(crate) const MEMORY: u32 = 8;
}

/// `HsaEventDescriptor`.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(crate) struct EventDescriptor {
    pub(crate) kind: u32,
    pub(crate) node: u32,
    pub(crate) variable: u64,
    pub(crate) variable_size: u64,
}

/// `HsaQueueResource`.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(crate) struct QueueResource {
    pub(crate) id: u64,
    pub(crate) doorbell: u64,
    pub(crate) write_pointer: u64,
    pub(crate) read_pointer: u64,
    pub(crate) error_reason: u64,
}

/// `HSA_QUEUE_COMPUTE_AQL`.
pub(crate) const QUEUE_AQL: u32 = 21;

/// `HsaClockCounters`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct ClockCounters {
    pub(crate) gpu: u64,
    pub(crate) cpu: u64,
    pub(crate) system: u64,
    pub(crate) system_hz: u64,
}

/// `HsaPointerInfo`.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(crate) struct PointerInfo {
    pub(crate) kind: u32,
    pub(crate) node: u32,
    pub(crate) flags: MemoryFlags,
    pub(crate) cpu_address: u64,
    pub(crate) gpu_address: u64,
    pub(crate) bytes: u64,
    pub(crate) registered_nodes: u32,
    pub(crate) mapped_nodes: u32,
    pub(crate) registered: *const u32,
    pub(crate) mapped: *const u32,
    pub(crate) user_data: *mut c_void,
}

/// Values of [`PointerInfo::kind`].
pub(crate) mod pointer_kind {
    pub(crate) const UNKNOWN: u32 = 0;
    pub(crate) const ALLOCATED: u32 = 1;
    pub(crate) const REGISTERED: u32 = 2;
}

/// `HsaGpuTileConfig`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct TileConfig {
    pub(crate) tiles: *mut u32,
    pub(crate) macro_tiles: *mut u32,
    pub(crate) tile_count: u32,
    pub(crate) macro_tile_count: u32,
    pub(crate) address_config: u32,
    pub(crate) banks: u32,
    pub(crate) ranks: u32,
    pub(crate) reserved: [u32; 7],
}

// What `sizeof` and `offsetof` say in C.
const _: () = {
    use std::mem::{offset_of, size_of};
    assert!(size_of::<NodeProperties>() == 356);
    assert!(offset_of!(NodeProperties, local_memory) == 80);
    assert!(offset_of!(NodeProperties, marketing_name) == 100);
    assert!(offset_of!(NodeProperties, amd_name) == 228);
    assert!(offset_of!(NodeProperties, hive_id) == 304);
    assert!(offset_of!(NodeProperties, gws) == 322);
    assert!(offset_of!(NodeProperties, unique_id) == 328);
    assert!(size_of::<MemoryProperties>() == 32);
    assert!(size_of::<CacheProperties>() == 1056);
    assert!(size_of::<IoLinkProperties>() == 48);
    assert!(size_of::<EventDescriptor>() == 24);
    assert!(size_of::<Event>() == 48);
    assert!(offset_of!(Event, data) == 8);
    assert!(offset_of!(Event, hw_data1) == 28);
    assert!(size_of::<MemoryAccessFault>() == 20);
    assert!(size_of::<QueueResource>() == 40);
    assert!(size_of::<ClockCounters>() == 32);
    assert!(size_of::<PointerInfo>() == 68);
    assert!(offset_of!(PointerInfo, registered) == 44);
    assert!(offset_of!(PointerInfo, user_data) == 60);
    assert!(size_of::<TileConfig>() == 64);
    assert!(size_of::<SystemProperties>() == 16);
};
