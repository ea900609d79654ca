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
    /// Stepping of the target's version 9.0.
    pub(crate) stepping: u32,
    pub(crate) cus: u32,
    pub(crate) shader_engines: u32,
    pub(crate) waves_per_simd: u32,
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

/// MI25, MI50, MI100 and MI210.
static PROFILES: [Profile; 4] = [
    Profile {
        arch: Arch::Gfx900,
        name: "AMD Radeon Instinct MI25 (emulated)",
        chip: "vega10",
        device_id: 0x6860,
        stepping: 0,
        cus: 64,
        shader_engines: 4,
        waves_per_simd: 10,
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
        stepping: 6,
        cus: 60,
        shader_engines: 4,
        waves_per_simd: 10,
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
        stepping: 8,
        cus: 120,
        shader_engines: 8,
        waves_per_simd: 10,
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
        stepping: 10,
        cus: 104,
        shader_engines: 8,
        waves_per_simd: 8,
        clock_mhz: 1700,
        memory: 64 << 30,
        bus_width: 4096,
        memory_clock_mhz: 1600,
        l2: 8 << 10,
        vgpr_kib_per_cu: 512,
        sramecc: true,
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
