//! Processors: compute units, registers, LDS and scratch.

use amdgpu_isa::{Arch, Generation, WaveSize};

#[test]
fn a_generic_processor_has_what_each_of_its_members_has() {
    let generic: Vec<Arch> = Arch::KNOWN.into_iter().filter(|arch| arch.is_generic()).collect();
    assert_eq!(generic.len(), 6);
    for arch in generic {
        let least = arch.members().iter().map(|member| member.compute_units()).min();
        assert_eq!(Some(arch.compute_units()), least, "{arch}");
        for member in arch.members() {
            let (all, own) = (arch.limits(), member.limits());
            assert!(member.runs(arch) && !arch.runs(*member) && member.generic() == Some(arch), "{arch}");
            assert_eq!(member.generation(), arch.generation(), "{arch}");
            assert!(all.vgprs_per_simd <= own.vgprs_per_simd && all.lds_bytes <= own.lds_bytes, "{arch}");
            assert!(all.waves_per_simd <= own.waves_per_simd, "{arch}");
            assert!(all.scratch_bytes <= own.scratch_bytes, "{arch}");
            assert_eq!(
                all.vgpr_block, own.vgpr_block,
                "{arch}: the kernel descriptor counts in other blocks"
            );
        }
    }
}

/// (VGPRs a SIMD, granule, block of the descriptor), in waves of 32 and of 64 lanes.
fn vgprs(arch: Arch) -> [(u32, u32, u32); 2] {
    let limits = arch.limits();
    [WaveSize::Wave32, WaveSize::Wave64]
        .map(|wave| (limits.vgprs_for(wave), limits.vgpr_granule_for(wave), limits.vgpr_block_for(wave)))
}

/// RDNA 1 and RDNA 2 ISA, "LDS allocation": "blocks of 128 Dwords", "of 256 Dwords"; of registers what LLVM
/// has (`getVGPRAllocGranule`, `getMaxWavesPerEU`).
#[test]
fn rdna_1_and_2_have_what_their_manuals_say() {
    for arch in Arch::KNOWN.into_iter().filter(|arch| arch.generation() == Generation::Gfx10) {
        let is_first = ["gfx101", "gfx10-1"].iter().any(|first| arch.name().starts_with(first));
        let (granule, waves, lds) = if is_first { (8, 20, 512) } else { (16, 16, 1024) };
        assert_eq!(vgprs(arch), [(1024, granule, 8), (512, granule / 2, 4)], "{arch}");
        let limits = arch.limits();
        assert_eq!(
            (limits.waves_per_simd, limits.lds_bytes, limits.lds_granule),
            (waves, 65536, lds),
            "{arch}"
        );
        assert_eq!(limits.scratch_bytes * 64, ((1 << 13) - 1) * 1024, "{arch}");
    }
}

/// RDNA 3 ISA, section 3.3.2.1: "blocks of 16 for wave32 or 8 for wave64"; "1536 VGPRs per SIMD allocate in
/// blocks of 24 for wave32 and 12 for wave64". Which these are: LLVM's `Feature1_5xVGPRs`. Section 3.3.4: LDS
/// "in blocks of 1024 bytes", up to 64 kB.
#[test]
fn rdna_3_has_what_its_manual_says() {
    for arch in Arch::KNOWN.into_iter().filter(|arch| arch.generation() == Generation::Gfx11) {
        let has_more = ["gfx1100", "gfx1101", "gfx1151"].contains(&arch.name());
        let expected = if has_more { [(1536, 24, 8), (768, 12, 4)] } else { [(1024, 16, 8), (512, 8, 4)] };
        assert_eq!(vgprs(arch), expected, "{arch}");
        let limits = arch.limits();
        assert_eq!((limits.lds_bytes, limits.lds_granule), (65536, 1024), "{arch}");
        assert_eq!((limits.waves_per_simd, limits.simds * limits.joined_units), (16, 4), "{arch}");
        assert_eq!(limits.scratch_bytes * 64, ((1 << 15) - 1) * 256, "{arch}");
    }
}
