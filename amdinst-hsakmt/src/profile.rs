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
    /// KiB of vector registers of a CU.
    pub(crate) vgpr_kib_per_cu: u32,
    /// SRAM is protected by ECC: the target's name has `sramecc+`.
    pub(crate) sramecc: bool,
}

/// MI25, MI50, MI100, MI210, RX 5700 XT and RX 6900 XT.
static PROFILES: [Profile; 6] = [
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
        vgpr_kib_per_cu: 256,
        sramecc: false,
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
        vgpr_kib_per_cu: 256,
        sramecc: true,
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
        vgpr_kib_per_cu: 512,
        sramecc: true,
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
        vgpr_kib_per_cu: 512,
        sramecc: true,
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
        vgpr_kib_per_cu: 256,
        sramecc: false,
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
        vgpr_kib_per_cu: 256,
        sramecc: false,
    },
];

impl Profile {
    /// The profile of a target; `None` if no runtime that this library fits knows it.
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
