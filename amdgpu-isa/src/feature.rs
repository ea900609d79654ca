//! What some processors have and others of their generation have not.

/// A property of processors that code asks for by name. Where LLVM has a name for it, that is given in
/// brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Feature {
    /// Accumulation VGPRs and matrix instructions (`FeatureMAIInsts`).
    AccumulationVgprs,
    /// VGPRs and AGPRs are parts of one register file; memory instructions reach either
    /// (`FeatureGFX90AInsts`).
    UnifiedRegisterFile,
    /// Tuples of vector registers begin at even ones (`FeatureRequiresAlignedVGPRs`).
    AlignedTuples,
    /// Work-item ids arrive packed in `v0`, ten bits each, instead of in `v0`, `v1`, `v2`
    /// (`FeaturePackedTID`).
    PackedWorkItemIds,
    /// Kernel arguments can be loaded into SGPRs before a wave starts (`FeatureKernargPreload`).
    KernargPreload,
    /// `v_pk_mov_b32` and packed single precision (`FeaturePackedFP32Ops`).
    PackedSingles,
    /// Memory instructions have the SCC bit: coherence beyond the agent.
    SystemCoherenceBit,
    /// DPP moves pairs of registers, by `row_newbcast` alone (`FeatureDPALU_DPP`).
    DppPairs,
    /// A global data share beside global wave sync (`FeatureGDS`).
    GlobalDataShare,
    /// LDS_DIRECT is a source of vector instructions.
    LdsDirect,
    /// Buffer and image instructions report failed accesses (TFE).
    FailStatus,
    /// FLAT_SCRATCH is set up by hardware for each wave: no register gives the wave's place in scratch
    /// (`FeatureArchitectedFlatScratch`).
    ArchitectedFlatScratch,
    /// Cache policy is by scope, in the bits sc0, sc1 and nt (`FeatureGFX940Insts`).
    ScopedCachePolicy,
    /// Loads of GLOBAL and SCRATCH move to LDS by opcode and not by a bit; scratch has a bit for its vector
    /// address in that place.
    LdsLoadsByOpcode,
    /// Several accelerator dies: XCC_ID and the registers of the performance snapshot.
    Dies,
    /// Packed dot products take each half of a source from its own place only.
    FixedDotHalves,
    /// BLGP negates the sources of double-precision matrices.
    NegatedDoubleMatrices,
    /// MODE's FP16_OVFL clamps results of matrix instructions.
    ClampedMatrices,
    /// Matrix instructions of single precision keep subnormal results.
    MatrixSubnormals,
    /// Dot products of halves flush subnormal addends and sums, and add in the order that the manual gives.
    DefinedDotProducts,
    /// `v_dot2_f32_f16` and `v_dot2c_f32_f16` take subnormal halves for zero, in every mode
    /// (`dot2UnconditionalFlush`).
    DotFlushesHalves,
    /// `s_max_i32` and `s_max_u32` of equal sources select the first one, which SCC tells of.
    FirstOfEqualMaxima,
    /// Single-precision atomic additions in memory keep subnormals
    /// (`FeatureMemoryAtomicFAddF32DenormalSupport`).
    AtomicAddSubnormals,
    /// SRAM error correction: it may be on, and is on the accelerators that have it (`FeatureSRAMECC`).
    SramEcc,
    /// LDS beyond 64 KiB, which M0 addresses with 18 bits.
    LdsAddressBits18,
    /// Float atomics of buffers and FLAT return the old value.
    ReturningFloatAtomics,
    /// Float atomics have the SCC bit as well.
    FloatAtomicCoherenceBit,
    /// Matrices of small floats with scales: instructions of four dwords.
    ScaledMatrices,
    /// FP8 and BF8 as the Open Compute Project has them.
    OcpFloats,
    /// Loads of 96 and 128 bits reach LDS.
    WideLdsLoads,
    /// A matrix accumulator is no constant, and `v_accvgpr_write_b32` takes no scalar register (an erratum).
    NoMatrixConstants,
    /// Wait states around moves of accumulation registers, and before vector instructions in general (the
    /// first matrix cores).
    AccumulatorMoveHazards,
    /// Wait states behind dot products that another opcode follows (`hasGFX90AInsts`, DOT hazards).
    DotHazards,
    /// Wait states behind scalar results of vector instructions, transcendentals and partly written registers
    /// (`hasVDecCoExecHazard` …).
    ForwardingHazards,
    /// The longest matrix instruction takes one wait state more.
    LongerMatrices,
    /// Between dependent instructions wait states must stand; later ones wait by themselves
    /// (`!hasNoDataDepHazard`).
    ManualWaitStates,
    /// A vector instruction may read a register too soon behind a transcendental one that writes it
    /// (`hasVALUTransUseHazard`).
    TransUseHazard,
    /// In waves of 64 lanes, a vector instruction may get the wrong one of two results between which EXEC was
    /// written (`hasVALUPartialForwardingHazard`).
    PartialForwardingHazard,
    /// In waves of 64 lanes, an SGPR that vector instructions read as a mask may be written too soon
    /// (`hasVALUMaskWriteHazard`).
    MaskWriteHazard,
    /// A scalar instruction may write a register that memory instructions still read
    /// (`hasVMEMtoScalarWriteHazard`).
    MemoryReadHazard,
    /// A vector instruction may write an SGPR that a scalar load still reads (`hasSMEMtoVectorWriteHazard`).
    ScalarLoadHazard,
    /// A comparison may write EXEC while instructions that are no vector ALU still read it
    /// (`hasVcmpxExecWARHazard`).
    CompareExecHazard,
    /// Behind a branch, LDS and memory instructions may overtake each other (`hasLdsBranchVmemWARHazard`).
    LdsBranchHazard,
    /// A branch over 63 dwords goes elsewhere (`hasOffset3fBug`).
    BranchOver63Bug,
    /// Stores are counted apart from loads (`FeatureVscnt`).
    StoreCounter,
    /// Scalar arithmetic on floats (`FeatureSALUFloatInsts`).
    ScalarFloats,
    /// The second source of DPP may be scalar (`FeatureDPPSrc1SGPR`).
    DppScalarSource,
    /// A register counts cycles of the shader, and `s_waitcnt_depctr` has a count that holds
    /// (`FeatureShaderCyclesRegister`, `FeatureGFX10_BEncoding`).
    ShaderCycles,
    /// SCRATCH needs no address at all (`hasFlatScratchSTMode`).
    ScratchWithoutAddress,
    /// Accesses that fault can be replayed (`FeatureSupportsXNACK`).
    Xnack,
    /// The ids of a workgroup arrive in trap temporaries: x in TTMP9, y and z in TTMP7
    /// (`FeatureArchitectedSGPRs`).
    WorkgroupIdsInTtmps,
    /// Once a vector instruction has read an SGPR, a later write to its pair may be read too soon
    /// (`hasVALUReadSGPRHazard`).
    ScalarReadHazard,
    /// `s_getpc_b64` leaves the highest 16 bits zero (`hasGetPCZeroExtension`).
    ShortProgramCounter,
    /// Scalar memory adds a register and an immediate.
    TwoScalarOffsets,
    /// Coordinates of images may be halves (`FeatureR128A16`, `FeatureA16`).
    HalfCoordinates,
    /// `ds_swizzle_b32` rotates lanes, and exchanges those of a Fourier transform.
    SwizzleModes,
    /// Where LDS and scratch are among flat addresses is a source of instructions (`FeatureApertureRegs`).
    ApertureRegisters,
    /// Immediate offsets of FLAT instructions (`FeatureFlatInstOffsets`).
    FlatOffsets,
    /// M0 says how large LDS is to instructions that access it (`ldsRequiresM0Init`).
    LdsLimitInM0,
    /// Each half that buffers and images load or store takes a register (`FeatureUnpackedD16VMem`).
    UnpackedHalves,
}

/// A set of features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Features(u64);

impl Features {
    const fn of<const N: usize>(features: [Feature; N]) -> Self {
        Self(0).and(features)
    }

    const fn and<const N: usize>(mut self, features: [Feature; N]) -> Self {
        let mut index = 0;
        while index < N {
            self.0 |= 1 << features[index] as u8;
            index += 1;
        }
        self
    }

    const fn without<const N: usize>(self, features: [Feature; N]) -> Self {
        Self(self.0 & !Self::of(features).0)
    }

    pub(crate) const fn has(self, feature: Feature) -> bool {
        self.0 >> feature as u8 & 1 != 0
    }
}

use Feature as F;

/// gfx802, gfx803 and gfx805.
pub(crate) const GFX803: Features = Features::of([
    F::GlobalDataShare,
    F::LdsDirect,
    F::FailStatus,
    F::ManualWaitStates,
    F::LdsLimitInM0,
    F::UnpackedHalves,
]);
/// gfx801.
pub(crate) const GFX801: Features = GFX803.and([F::Xnack]);
/// gfx810.
pub(crate) const GFX810: Features = GFX801.without([F::UnpackedHalves]);
/// gfx900, gfx902, gfx904, gfx909, gfx90c.
pub(crate) const GFX900: Features = Features::of([
    F::TwoScalarOffsets,
    F::HalfCoordinates,
    F::FlatOffsets,
    F::ApertureRegisters,
    F::SwizzleModes,
    F::Xnack,
    F::GlobalDataShare,
    F::LdsDirect,
    F::FailStatus,
    F::ReturningFloatAtomics,
    F::ManualWaitStates,
]);
/// gfx906.
pub(crate) const GFX906: Features = GFX900.and([F::SramEcc]);
/// gfx908.
pub(crate) const GFX908: Features = GFX906
    .and([F::AccumulationVgprs, F::NoMatrixConstants, F::AccumulatorMoveHazards])
    .without([F::ReturningFloatAtomics]);
/// gfx90a.
pub(crate) const GFX90A: Features = Features::of([
    F::TwoScalarOffsets,
    F::HalfCoordinates,
    F::FlatOffsets,
    F::ApertureRegisters,
    F::SwizzleModes,
    F::Xnack,
    F::SramEcc,
    F::AccumulationVgprs,
    F::ReturningFloatAtomics,
    F::UnifiedRegisterFile,
    F::AlignedTuples,
    F::PackedWorkItemIds,
    F::KernargPreload,
    F::PackedSingles,
    F::SystemCoherenceBit,
    F::DppPairs,
    F::DefinedDotProducts,
    F::DotFlushesHalves,
    F::DotHazards,
    F::ManualWaitStates,
]);
/// gfx942.
pub(crate) const GFX942: Features = GFX90A.without([F::DotFlushesHalves]).and([
    F::FirstOfEqualMaxima,
    F::ArchitectedFlatScratch,
    F::ScopedCachePolicy,
    F::LdsLoadsByOpcode,
    F::Dies,
    F::FixedDotHalves,
    F::NegatedDoubleMatrices,
    F::ClampedMatrices,
    F::MatrixSubnormals,
    F::AtomicAddSubnormals,
    F::LdsAddressBits18,
    F::FloatAtomicCoherenceBit,
    F::ForwardingHazards,
]);
/// gfx950.
pub(crate) const GFX950: Features =
    GFX942.and([F::ScaledMatrices, F::OcpFloats, F::WideLdsLoads, F::LongerMatrices]);
/// gfx9-generic: error correction is off on gfx906.
pub(crate) const GFX9_GENERIC: Features = GFX900;
/// gfx9-4-generic: what either has to wait for.
pub(crate) const GFX9_4_GENERIC: Features = GFX942.and([F::LongerMatrices]);
/// gfx1010 to gfx1013.
pub(crate) const GFX1010: Features = Features::of([
    F::TwoScalarOffsets,
    F::HalfCoordinates,
    F::FlatOffsets,
    F::ApertureRegisters,
    F::SwizzleModes,
    F::Xnack,
    F::GlobalDataShare,
    F::LdsDirect,
    F::FailStatus,
    F::ReturningFloatAtomics,
    F::StoreCounter,
    F::MemoryReadHazard,
    F::ScalarLoadHazard,
    F::CompareExecHazard,
    F::LdsBranchHazard,
    F::BranchOver63Bug,
]);
/// gfx1030 to gfx1036.
pub(crate) const GFX1030: Features = GFX1010.and([F::ShaderCycles, F::ScratchWithoutAddress]).without([
    F::Xnack,
    F::MemoryReadHazard,
    F::ScalarLoadHazard,
    F::CompareExecHazard,
    F::LdsBranchHazard,
    F::BranchOver63Bug,
]);
/// gfx1100 to gfx1103.
pub(crate) const GFX1100: Features = Features::of([
    F::TwoScalarOffsets,
    F::HalfCoordinates,
    F::FlatOffsets,
    F::ApertureRegisters,
    F::SwizzleModes,
    F::PackedWorkItemIds,
    F::GlobalDataShare,
    F::FailStatus,
    F::ReturningFloatAtomics,
    F::ArchitectedFlatScratch,
    F::AtomicAddSubnormals,
    F::StoreCounter,
    F::ShaderCycles,
    F::ScratchWithoutAddress,
    F::TransUseHazard,
    F::PartialForwardingHazard,
    F::MaskWriteHazard,
]);
/// gfx1150 to gfx1153.
pub(crate) const GFX1150: Features =
    GFX1100.and([F::ScalarFloats, F::DppScalarSource, F::FirstOfEqualMaxima]).without([F::TransUseHazard]);
/// gfx1200 and gfx1201.
pub(crate) const GFX1200: Features = GFX1150
    .and([F::WorkgroupIdsInTtmps, F::OcpFloats, F::ScalarReadHazard, F::ShortProgramCounter])
    .without([F::GlobalDataShare, F::PartialForwardingHazard, F::MaskWriteHazard]);
