//! What the waves of a compute unit share: registers, wave slots, LDS.

use crate::{LdsBanks, WaveSize};

/// How much of each resource there is, and in which steps it is given out.
///
/// Sources: the ISA manuals, chapters "Register allocation" and "LDS allocation"; AMD's slides "CDNA2 Memory
/// Hierarchy". For RDNA: its manuals (RDNA 3: sections 3.3.2 and 3.3.4), and LLVM's `AMDGPUBaseInfo.cpp`
/// (registers, slots, SIMDs by mode) and `GCNSubtarget.h` (scratch memory). A test compares occupancy with
/// the compiler's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// SIMDs of a compute unit.
    pub simds: u32,
    /// Compute units that the waves of a workgroup spread over where they may: two where there are work-group
    /// processors.
    pub joined_units: u32,
    /// Waves that a SIMD has slots for.
    pub waves_per_simd: u32,
    /// VGPRs that a lane of a SIMD has, for waves of 64 lanes. Where VGPRs and AGPRs are one file, both
    /// together.
    pub vgprs_per_simd: u32,
    /// VGPRs that an allotment to a wave of 64 lanes is a multiple of.
    pub vgpr_granule: u32,
    /// VGPRs of a wave of 64 lanes that a kernel descriptor counts as one.
    pub vgpr_block: u32,
    /// VGPRs that a wave may have at most, AGPRs apart.
    pub most_vgprs: u32,
    /// SGPRs that a wave may have at most, VCC and the other specials included.
    pub most_sgprs: u32,
    /// Every wave has them all, whatever it asks for.
    pub fixed_sgprs: bool,
    /// Up to so many SGPRs a wave (VCC and the other specials included), so many waves a SIMD, in ascending
    /// order; the vendor's table.
    pub waves_by_sgprs: &'static [(u32, u32)],
    /// Bytes of LDS that a workgroup may use: all that a compute unit has.
    pub lds_bytes: u32,
    /// Bytes of LDS that a workgroup is allotted at a time.
    pub lds_granule: u32,
    /// Bytes of scratch memory that a work-item of a wave of 64 lanes may have: what a wave may have
    /// (`COMPUTE_TMPRING_SIZE.WAVESIZE`, on GFX9 13 bits of 256 dwords), by its lanes.
    pub scratch_bytes: u32,
    /// Workgroups of several waves that a compute unit has barriers for; one of a single wave takes none
    /// (`getMaxWorkGroupsPerCU`).
    pub barriers: u32,
    /// Work-items that a workgroup may have.
    pub most_work_items: u32,
    /// Bytes of a line of the second-level cache.
    pub l2_line_bytes: u32,
    /// Bytes of a line of the cache that vector memory instructions of a compute unit go through: vL1D, or on
    /// RDNA the first level ("RDNA Architecture" white paper; CDNA 3: its white paper).
    pub vector_line_bytes: u32,
    /// The banks of LDS.
    pub lds_banks: LdsBanks,
    /// Bits of a kernel descriptor's count of lines of code, [`Self::CODE_LINE_BYTES`] each, that are fetched
    /// before a wave starts (`INST_PREF_SIZE`); 0 where there is none.
    pub prefetch_bits: u32,
}

/// 800 SGPRs a SIMD in granules of 16, less what a trap handler gets.
const SGPRS: &[(u32, u32)] = &[(80, 10), (88, 9), (100, 8), (u32::MAX, 7)];

impl Limits {
    /// GFX8, and GFX9 up to gfx908.
    pub(crate) const GCN: Self = Self {
        simds: 4,
        joined_units: 1,
        waves_per_simd: 10,
        vgprs_per_simd: 256,
        vgpr_granule: 4,
        vgpr_block: 4,
        most_vgprs: 256,
        most_sgprs: 112,
        fixed_sgprs: false,
        waves_by_sgprs: SGPRS,
        lds_bytes: 64 << 10,
        lds_granule: 512,
        scratch_bytes: ((1 << 13) - 1) * 256 * 4 / 64,
        barriers: 16,
        most_work_items: 1024,
        l2_line_bytes: 64,
        vector_line_bytes: 64,
        lds_banks: LdsBanks::GCN,
        prefetch_bits: 0,
    };

    /// gfx802 and gfx805: a wave that has another number of SGPRs than this one may find others' in its place
    /// (LLVM's `FeatureSGPRInitBug`).
    pub(crate) const TONGA: Self =
        Self { most_sgprs: 96, fixed_sgprs: true, waves_by_sgprs: &[(u32::MAX, 8)], ..Self::GCN };

    /// gfx90a.
    pub(crate) const CDNA2: Self = Self {
        waves_per_simd: 8,
        vgprs_per_simd: 512,
        vgpr_granule: 8,
        vgpr_block: 8,
        l2_line_bytes: 128,
        ..Self::GCN
    };

    /// gfx942.
    pub(crate) const CDNA3: Self = Self { vector_line_bytes: 128, lds_banks: LdsBanks::CDNA3, ..Self::CDNA2 };

    /// gfx950.
    pub(crate) const CDNA4: Self =
        Self { lds_bytes: 160 << 10, lds_granule: 1280, lds_banks: LdsBanks::CDNA4, ..Self::CDNA3 };

    /// RDNA 1: 1024 VGPRs of 32 lanes a SIMD.
    pub(crate) const RDNA: Self = Self {
        waves_per_simd: 20,
        vgpr_granule: 4,
        waves_by_sgprs: &[(u32::MAX, 20)],
        lds_granule: 512,
        // 13 bits of 256 dwords a wave (`GCNSubtarget::getMaxWaveScratchSize`).
        scratch_bytes: ((1 << 13) - 1) * 256 * 4 / 64,
        lds_banks: LdsBanks::RDNA,
        prefetch_bits: 0,
        ..Self::RDNA3
    };

    /// RDNA 2.
    pub(crate) const RDNA2: Self = Self {
        waves_per_simd: 16,
        vgpr_granule: 8,
        waves_by_sgprs: &[(u32::MAX, 16)],
        lds_granule: 1024,
        ..Self::RDNA
    };

    /// RDNA 3 with 1024 VGPRs of 32 lanes a SIMD.
    pub(crate) const RDNA3: Self = Self {
        simds: 2,
        joined_units: 2,
        waves_per_simd: 16,
        vgprs_per_simd: 512,
        vgpr_granule: 8,
        vgpr_block: 4,
        most_vgprs: 256,
        // s0 to s105, and VCC.
        most_sgprs: 108,
        fixed_sgprs: true,
        waves_by_sgprs: &[(u32::MAX, 16)],
        lds_bytes: 64 << 10,
        lds_granule: 1024,
        // 15 bits of 64 dwords a wave (`GCNSubtarget::getMaxWaveScratchSize`).
        scratch_bytes: ((1 << 15) - 1) * 64 * 4 / 64,
        barriers: 16,
        most_work_items: 1024,
        l2_line_bytes: 128,
        vector_line_bytes: 128,
        lds_banks: LdsBanks::RDNA3,
        prefetch_bits: 6,
    };

    /// RDNA 3 with 1536 VGPRs of 32 lanes a SIMD (LLVM's `Feature1_5xVGPRs`).
    pub(crate) const RDNA3_LARGE: Self = Self { vgprs_per_simd: 768, vgpr_granule: 12, ..Self::RDNA3 };

    /// RDNA 4: 1536 VGPRs of 32 lanes a SIMD, and 18 bits of 64 dwords of scratch a wave
    /// (`GCNSubtarget::getMaxWaveScratchSize`).
    pub(crate) const RDNA4: Self = Self {
        scratch_bytes: ((1 << 18) - 1) * 64 * 4 / 64,
        lds_banks: LdsBanks::RDNA4,
        prefetch_bits: 8,
        ..Self::RDNA3_LARGE
    };

    /// Bytes of a line of code that is fetched ahead (LLVM's `getInstCacheLineSize`).
    pub const CODE_LINE_BYTES: u64 = 128;

    /// VGPRs that a lane of a SIMD has for waves of a size: a wave of 32 lanes takes half the room.
    pub const fn vgprs_for(&self, wave: WaveSize) -> u32 {
        self.vgprs_per_simd * half_waves(wave)
    }

    /// VGPRs that an allotment to a wave of a size is a multiple of.
    pub const fn vgpr_granule_for(&self, wave: WaveSize) -> u32 {
        self.vgpr_granule * half_waves(wave)
    }

    /// VGPRs of a wave of a size that a kernel descriptor counts as one.
    pub const fn vgpr_block_for(&self, wave: WaveSize) -> u32 {
        self.vgpr_block * half_waves(wave)
    }
}

/// Waves that have the room of one of 64 lanes.
const fn half_waves(wave: WaveSize) -> u32 {
    match wave {
        WaveSize::Wave32 => 2,
        WaveSize::Wave64 => 1,
    }
}
