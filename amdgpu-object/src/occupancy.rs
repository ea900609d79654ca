//! How many waves a compute unit can hold, and what limits it.
//!
//! Theoretical occupancy, from what a kernel allocates. Sources: "CDNA2 Memory Hierarchy" (AMD, slides
//! "Occupancy: limiting factors"), the "Vega" and "CDNA" ISA manuals, chapter "Register allocation";
//! [`Limits`](amdgpu_isa::Limits) for RDNA.
//!
//! A compute unit stands for what the waves of a workgroup share: in WGP mode, a work-group processor, which
//! is two of them.

use amdgpu_isa::{Arch, Feature, WaveSize};
use serde::{Deserialize, Serialize};

use crate::KernelMetadata;

/// What a kernel allocates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// The size of the waves.
    pub wave: WaveSize,
    /// Waves of a workgroup spread over both compute units of a work-group processor.
    pub wgp_mode: bool,
    /// SGPRs a wave, VCC and the other specials included.
    pub sgprs: u32,
    /// VGPRs a wave; from gfx90a on, VGPRs and AGPRs together.
    pub vgprs: u32,
    /// AGPRs a wave; they count of their own on gfx908 only, which has a second register file for them.
    pub agprs: u32,
    /// LDS in bytes a workgroup, static and dynamic.
    pub lds_bytes: u32,
    /// Work-items a workgroup.
    pub workgroup_size: u32,
}

impl Resources {
    /// Nothing of anything, in waves of a processor's default size.
    pub fn nothing(arch: Arch) -> Self {
        let wave = arch.default_wave();
        Self { wave, wgp_mode: false, sgprs: 0, vgprs: 0, agprs: 0, lds_bytes: 0, workgroup_size: 0 }
    }

    /// The resources that a kernel's note states. The workgroup is the required one, else the largest that
    /// the kernel allows.
    pub fn of(arch: Arch, metadata: &KernelMetadata) -> Self {
        let required = metadata.reqd_workgroup_size.map(|[x, y, z]| x.saturating_mul(y).saturating_mul(z));
        let mut sizes = arch.generation().wave_sizes().iter().copied();
        // One that the processor has not would be refused when it is launched.
        let size = sizes.find(|size| size.lanes() == metadata.wavefront_size);
        Self {
            wave: size.unwrap_or(arch.default_wave()),
            wgp_mode: metadata.workgroup_processor_mode,
            sgprs: metadata.sgpr_count,
            vgprs: metadata.vgpr_count,
            agprs: metadata.agpr_count,
            lds_bytes: metadata.group_segment_fixed_size,
            workgroup_size: required.unwrap_or(metadata.max_flat_workgroup_size),
        }
    }

    /// SIMDs that the waves of a workgroup spread over.
    pub fn simds(&self, arch: Arch) -> u32 {
        arch.limits().simds * units(arch, self)
    }
}

/// What keeps more waves from fitting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limiter {
    /// Nothing of the kernel's: the SIMD's wave slots.
    #[default]
    Hardware,
    /// Vector registers.
    Vgprs,
    /// Scalar registers.
    Sgprs,
    /// Local data share.
    Lds,
    /// Barriers, of which each workgroup of several waves takes one.
    Barriers,
}

/// How many waves fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupancy {
    /// Waves a compute unit.
    pub waves_per_cu: u32,
    /// Waves a SIMD: of the fullest one, where the waves of a compute unit do not spread evenly.
    pub waves_per_simd: u32,
    /// Waves a SIMD could hold if the kernel needed nothing.
    pub max_waves_per_simd: u32,
    /// What limits it.
    pub limiter: Limiter,
    /// Waves a SIMD that the vector registers alone would allow, wave slots aside.
    pub by_vgprs: u32,
    /// Waves a SIMD that the scalar registers alone would allow, wave slots aside.
    pub by_sgprs: u32,
    /// Waves a compute unit that LDS alone would allow, wave slots aside. `None` if the kernel uses none.
    pub by_lds: Option<u32>,
    /// Waves a compute unit that barriers alone would allow, wave slots aside. `None` if a workgroup is one
    /// wave.
    pub by_barriers: Option<u32>,
}

/// Waves a SIMD that the vector registers allow.
fn by_vgprs(arch: Arch, resources: &Resources) -> u32 {
    let limits = arch.limits();
    // Where AGPRs are a file of their own, it is as large.
    let wanted = if arch.has(Feature::UnifiedRegisterFile) {
        resources.vgprs
    } else {
        resources.vgprs.max(resources.agprs)
    };
    let file = limits.vgprs_for(resources.wave);
    file / wanted.clamp(1, file).next_multiple_of(limits.vgpr_granule_for(resources.wave))
}

/// Waves a SIMD that the scalar registers allow.
fn by_sgprs(arch: Arch, resources: &Resources) -> u32 {
    let table = arch.limits().waves_by_sgprs;
    let fits = table.iter().find(|(most, _)| resources.sgprs <= *most);
    fits.or(table.last()).map_or(u32::MAX, |&(_, waves)| waves)
}

/// Waves a compute unit that LDS allows: as many whole workgroups as fit.
fn by_lds(arch: Arch, resources: &Resources) -> Option<u32> {
    let limits = arch.limits();
    let granule = limits.lds_granule;
    let wanted = resources.lds_bytes.div_ceil(granule);
    let shared = limits.lds_bytes * units(arch, resources);
    Some((shared / granule).checked_div(wanted)? * waves_per_workgroup(arch, resources))
}

/// Waves a compute unit that barriers allow.
fn by_barriers(arch: Arch, resources: &Resources) -> Option<u32> {
    let waves = waves_per_workgroup(arch, resources);
    (waves > 1).then(|| arch.limits().barriers * units(arch, resources) * waves)
}

/// Waves of a workgroup.
fn waves_per_workgroup(arch: Arch, resources: &Resources) -> u32 {
    resources.workgroup_size.clamp(1, arch.limits().most_work_items).div_ceil(resources.wave.lanes())
}

/// Compute units that the waves of a workgroup share.
fn units(arch: Arch, resources: &Resources) -> u32 {
    if resources.wgp_mode { arch.limits().joined_units } else { 1 }
}

/// The occupancy of a kernel.
pub fn occupancy(arch: Arch, resources: &Resources) -> Occupancy {
    occupancy_in_slots(arch, resources, arch.limits().waves_per_simd)
}

/// The occupancy on a device whose SIMDs have `slots` slots for waves, instead of
/// [`waves_per_simd`](amdgpu_isa::Limits::waves_per_simd).
pub fn occupancy_in_slots(arch: Arch, resources: &Resources, slots: u32) -> Occupancy {
    let (max_waves_per_simd, simds) = (slots, resources.simds(arch));
    let (by_vgprs, by_sgprs) = (by_vgprs(arch, resources), by_sgprs(arch, resources));
    let (by_lds, by_barriers) = (by_lds(arch, resources), by_barriers(arch, resources));
    let mut waves_per_simd = max_waves_per_simd;
    let mut limiter = Limiter::Hardware;
    for (waves, kind) in [(by_vgprs, Limiter::Vgprs), (by_sgprs, Limiter::Sgprs)] {
        if waves < waves_per_simd {
            (waves_per_simd, limiter) = (waves, kind);
        }
    }
    let mut waves_per_cu = waves_per_simd * simds;
    for (waves, kind) in [(by_lds, Limiter::Lds), (by_barriers, Limiter::Barriers)] {
        if let Some(waves) = waves.filter(|&waves| waves < waves_per_cu) {
            (waves_per_cu, waves_per_simd, limiter) = (waves, waves.div_ceil(simds), kind);
        }
    }
    Occupancy {
        waves_per_cu,
        waves_per_simd,
        max_waves_per_simd,
        limiter,
        by_vgprs,
        by_sgprs,
        by_lds,
        by_barriers,
    }
}

/// Workgroups that the largest product of a processor holds at a time.
pub fn workgroups_at_a_time(arch: Arch, resources: &Resources) -> u32 {
    let fitting = occupancy(arch, resources).waves_per_cu / waves_per_workgroup(arch, resources);
    fitting.max(1) * (arch.compute_units() / units(arch, resources))
}

/// A line of an occupancy table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OccupancyStep {
    /// Up to so many registers a wave, or bytes of LDS a workgroup, …
    pub most: u32,
    /// … so many waves a compute unit fit.
    pub waves_per_cu: u32,
}

/// Waves a compute unit by one resource alone, for every amount that it comes in: the vendor's tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OccupancyTables {
    /// By VGPRs a wave (from gfx90a on, AGPRs included).
    pub vgprs: Vec<OccupancyStep>,
    /// By SGPRs a wave.
    pub sgprs: Vec<OccupancyStep>,
    /// By bytes of LDS a workgroup of this size.
    pub lds: Vec<OccupancyStep>,
}

impl OccupancyTables {
    /// The tables of a processor, for workgroups, waves and a mode as these.
    pub fn new(arch: Arch, like: &Resources) -> Self {
        let limits = arch.limits();
        let vectors =
            if arch.has(Feature::UnifiedRegisterFile) { limits.vgprs_per_simd } else { limits.most_vgprs };
        let nothing = Resources { sgprs: 0, vgprs: 0, agprs: 0, lds_bytes: 0, ..*like };
        Self {
            vgprs: table(arch, 1..=vectors, |vgprs| Resources { vgprs, ..nothing }),
            sgprs: table(arch, 1..=limits.most_sgprs, |sgprs| Resources { sgprs, ..nothing }),
            lds: table(arch, (0..=arch.limits().lds_bytes).step_by(128), |lds_bytes| Resources {
                lds_bytes,
                ..nothing
            }),
        }
    }
}

/// Of amounts in ascending order, the largest of each run that gives the same number of waves.
fn table(
    arch: Arch,
    amounts: impl Iterator<Item = u32>,
    resources: impl Fn(u32) -> Resources,
) -> Vec<OccupancyStep> {
    let mut steps: Vec<OccupancyStep> = Vec::new();
    for most in amounts {
        let waves_per_cu = occupancy(arch, &resources(most)).waves_per_cu;
        match steps.last_mut().filter(|step| step.waves_per_cu == waves_per_cu) {
            Some(step) => step.most = most,
            None => steps.push(OccupancyStep { most, waves_per_cu }),
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arch: Arch, sgprs: u32, vgprs: u32, lds_bytes: u32, workgroup_size: u32) -> (u32, Limiter) {
        let resources = Resources { sgprs, vgprs, lds_bytes, workgroup_size, ..Resources::nothing(arch) };
        let occupancy = occupancy(arch, &resources);
        (occupancy.waves_per_cu, occupancy.limiter)
    }

    /// The vendor's table for CDNA2: VGPRs (AGPRs included) to waves a compute unit.
    #[test]
    fn vgprs_on_cdna2() {
        let table = [(64, 32), (72, 28), (80, 24), (96, 20), (128, 16), (168, 12), (256, 8), (512, 4)];
        let mut least = 1;
        for (most, waves) in table {
            for vgprs in [least, most] {
                assert_eq!(of(Arch::Gfx90a, 16, vgprs, 0, 64).0, waves, "{vgprs} VGPRs");
            }
            least = most + 1;
        }
    }

    #[test]
    fn sgprs_on_cdna2() {
        assert_eq!(of(Arch::Gfx90a, 100, 16, 0, 64), (32, Limiter::Hardware));
        assert_eq!(of(Arch::Gfx90a, 101, 16, 0, 64), (28, Limiter::Sgprs));
        assert_eq!(of(Arch::Gfx90a, 112, 74, 0, 64), (24, Limiter::Vgprs));
    }

    /// The worked example of the same slides: a batched matrix-vector product, versions 0 to 2.
    #[test]
    fn lds_on_cdna2() {
        assert_eq!(of(Arch::Gfx90a, 22, 42, 65536, 128), (2, Limiter::Lds));
        assert_eq!(of(Arch::Gfx90a, 22, 42, 65536, 256), (4, Limiter::Lds));
        assert_eq!(of(Arch::Gfx90a, 22, 42, 2048, 128), (32, Limiter::Hardware));
    }

    /// The vendor's tables as they are printed, made from the same rules.
    #[test]
    fn tables_on_cdna2() {
        let plain = |steps: &[OccupancyStep]| -> Vec<(u32, u32)> {
            steps.iter().map(|step| (step.most, step.waves_per_cu)).collect()
        };
        let like = Resources { workgroup_size: 128, ..Resources::nothing(Arch::Gfx90a) };
        let tables = OccupancyTables::new(Arch::Gfx90a, &like);
        let vgprs = [(64, 32), (72, 28), (80, 24), (96, 20), (128, 16), (168, 12), (256, 8), (512, 4)];
        assert_eq!(plain(&tables.vgprs), vgprs);
        assert_eq!(plain(&tables.sgprs), [(100, 32), (112, 28)]);
        // Whole workgroups of two waves in 64 KiB.
        assert_eq!(plain(&tables.lds)[..3], [(4096, 32), (4608, 28), (5120, 24)]);
        assert_eq!(tables.lds.last(), Some(&OccupancyStep { most: 65536, waves_per_cu: 2 }));
    }

    #[test]
    fn vega_has_ten_slots_and_half_the_registers() {
        assert_eq!(of(Arch::Gfx906, 16, 24, 0, 64), (40, Limiter::Hardware));
        assert_eq!(of(Arch::Gfx906, 16, 25, 0, 64), (36, Limiter::Vgprs));
        assert_eq!(of(Arch::Gfx906, 88, 16, 0, 64), (36, Limiter::Sgprs));
        assert_eq!(of(Arch::Gfx906, 16, 256, 0, 64), (4, Limiter::Vgprs));
    }

    /// "AMD OpenCL Optimization Guide", "Work-group size": 16 workgroups of several waves a compute unit.
    #[test]
    fn workgroups_of_several_waves_take_barriers() {
        assert_eq!(of(Arch::Gfx906, 16, 24, 0, 64), (40, Limiter::Hardware));
        assert_eq!(of(Arch::Gfx906, 16, 24, 0, 128), (32, Limiter::Barriers));
        assert_eq!(of(Arch::Gfx906, 16, 24, 0, 192), (40, Limiter::Hardware));
        assert_eq!(of(Arch::Gfx90a, 16, 24, 0, 128), (32, Limiter::Hardware));
    }

    #[test]
    fn nonsense_is_bounded() {
        assert_eq!(of(Arch::Gfx90a, 0, 0, 0, 0), (32, Limiter::Hardware));
        assert_eq!(of(Arch::Gfx90a, u32::MAX, u32::MAX, u32::MAX, u32::MAX).0, 0);
    }
}
