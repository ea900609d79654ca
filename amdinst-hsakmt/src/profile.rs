//! What the GPUs are that can be emulated: the figures of one product of each target.

use amdgpu_isa::Arch;

/// A GPU's figures, as the driver tells them.
#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) arch: Arch,
    /// The product's name.
    pub(crate) name: &'static str,
    /// The driver's name of the chip.
    pub(crate) chip: &'static str,
    pub(crate) device_id: u16,
    /// Of the target: major, minor, stepping.
    pub(crate) version: (u32, u32, u32),
    pub(crate) cus: u32,
    /// Shader arrays, of all shader engines.
    pub(crate) arrays: u32,
    /// Of one shader engine.
    pub(crate) arrays_per_engine: u32,
    pub(crate) clock_mhz: u32,
    /// Bytes of device memory.
    pub(crate) memory: u64,
    /// Bits of its bus.
    pub(crate) bus_width: u32,
    pub(crate) memory_clock_mhz: u32,
    /// KiB.
    pub(crate) l2: u32,
    /// SRAM is protected by ECC: the target's name has `sramecc+`.
    pub(crate) sramecc: bool,
    /// Dies that share its work.
    pub(crate) dies: u32,
    /// The graphics driver's number of its family, and of the chip there.
    pub(crate) family: (u32, u32),
    /// `GB_ADDR_CONFIG`: how memory is spread over channels, for images.
    pub(crate) address_config: u32,
}

/// MI25, MI50, MI100, MI210, MI300X, RX 5700 XT, RX 6900 XT, RX 7900 XTX and RX 9070 XT.
static PROFILES: [Profile; 9] = [
    Profile {
        arch: Arch::Gfx900,
        name: "AMD Radeon Instinct MI25 (emulated)",
        chip: "vega10",
        device_id: 0x6860,
        version: (9, 0, 0),
        cus: 64,
        arrays: 4,
        arrays_per_engine: 1,
        clock_mhz: 1500,
        memory: 16 << 30,
        bus_width: 2048,
        memory_clock_mhz: 945,
        l2: 4 << 10,
        sramecc: false,
        dies: 1,
        family: (141, 0x1),
        address_config: 0x2a11_4042,
    },
    Profile {
        arch: Arch::Gfx906,
        name: "AMD Radeon Instinct MI50 (emulated)",
        chip: "vega20",
        device_id: 0x66a1,
        version: (9, 0, 6),
        cus: 60,
        arrays: 4,
        arrays_per_engine: 1,
        clock_mhz: 1725,
        memory: 16 << 30,
        bus_width: 4096,
        memory_clock_mhz: 1000,
        l2: 4 << 10,
        sramecc: true,
        dies: 1,
        family: (141, 0x28),
        address_config: 0x2a11_4042,
    },
    Profile {
        arch: Arch::Gfx908,
        name: "AMD Instinct MI100 (emulated)",
        chip: "arcturus",
        device_id: 0x738c,
        version: (9, 0, 8),
        cus: 120,
        arrays: 8,
        arrays_per_engine: 1,
        clock_mhz: 1502,
        memory: 32 << 30,
        bus_width: 4096,
        memory_clock_mhz: 1200,
        l2: 8 << 10,
        sramecc: true,
        dies: 1,
        family: (141, 0x32),
        address_config: 0x2a11_4042,
    },
    Profile {
        arch: Arch::Gfx90a,
        name: "AMD Instinct MI210 (emulated)",
        chip: "aldebaran",
        device_id: 0x740f,
        version: (9, 0, 10),
        cus: 104,
        arrays: 8,
        arrays_per_engine: 1,
        clock_mhz: 1700,
        memory: 64 << 30,
        bus_width: 4096,
        memory_clock_mhz: 1600,
        l2: 8 << 10,
        sramecc: true,
        dies: 1,
        family: (141, 0x3c),
        address_config: 0x2a11_4042,
    },
    Profile {
        arch: Arch::Gfx942,
        name: "AMD Instinct MI300X (emulated)",
        chip: "aqua_vanjaram",
        device_id: 0x74a1,
        version: (9, 4, 2),
        cus: 304,
        arrays: 32,
        arrays_per_engine: 1,
        clock_mhz: 2100,
        memory: 192 << 30,
        bus_width: 8192,
        memory_clock_mhz: 1300,
        l2: 4 << 10,
        sramecc: true,
        dies: 8,
        family: (141, 0x46),
        address_config: 0x2a11_4042,
    },
    Profile {
        arch: Arch::Gfx1010,
        name: "AMD Radeon RX 5700 XT (emulated)",
        chip: "navi10",
        device_id: 0x731f,
        version: (10, 1, 0),
        cus: 40,
        arrays: 4,
        arrays_per_engine: 2,
        clock_mhz: 1905,
        memory: 8 << 30,
        bus_width: 256,
        memory_clock_mhz: 875,
        l2: 4 << 10,
        sramecc: false,
        dies: 1,
        family: (143, 0x1),
        address_config: 0x44,
    },
    Profile {
        arch: Arch::Gfx1030,
        name: "AMD Radeon RX 6900 XT (emulated)",
        chip: "sienna_cichlid",
        device_id: 0x73bf,
        version: (10, 3, 0),
        cus: 80,
        arrays: 8,
        arrays_per_engine: 2,
        clock_mhz: 2250,
        memory: 16 << 30,
        bus_width: 256,
        memory_clock_mhz: 1000,
        l2: 4 << 10,
        sramecc: false,
        dies: 1,
        family: (143, 0x28),
        address_config: 0x444,
    },
    Profile {
        arch: Arch::Gfx1100,
        name: "AMD Radeon RX 7900 XTX (emulated)",
        chip: "gfx1100",
        device_id: 0x744c,
        version: (11, 0, 0),
        cus: 96,
        arrays: 12,
        arrays_per_engine: 2,
        clock_mhz: 2304,
        memory: 24 << 30,
        bus_width: 384,
        memory_clock_mhz: 1249,
        l2: 6 << 10,
        sramecc: false,
        dies: 1,
        family: (145, 0x1),
        address_config: 0x545,
    },
    Profile {
        arch: Arch::Gfx1201,
        name: "AMD Radeon RX 9070 XT (emulated)",
        chip: "gfx1201",
        device_id: 0x7550,
        version: (12, 0, 1),
        cus: 64,
        arrays: 8,
        arrays_per_engine: 2,
        clock_mhz: 2400,
        memory: 16 << 30,
        bus_width: 256,
        memory_clock_mhz: 1258,
        l2: 8 << 10,
        sramecc: false,
        dies: 1,
        family: (152, 0x50),
        address_config: 0x444,
    },
];

impl Profile {
    /// The profile of a target; `None` if there is none.
    pub(crate) fn of(arch: Arch) -> Option<&'static Self> {
        PROFILES.iter().find(|profile| profile.arch == arch)
    }

    /// gfx90a.
    pub(crate) fn default() -> &'static Self {
        &PROFILES[3]
    }

    /// All there are.
    pub(crate) fn all() -> impl Iterator<Item = &'static Self> {
        PROFILES.iter()
    }
}
