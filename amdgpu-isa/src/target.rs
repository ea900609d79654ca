//! The processors, what each has, and how a code object names its target.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::feature::{self, Feature, Features};
use crate::limits::Limits;

/// A generation of instruction sets: processors of one share encodings, operand codes and launch ABI, up to
/// their [features](Feature).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Generation {
    /// GCN 3 and 4: gfx801 to gfx810.
    Gfx8,
    /// Vega and CDNA: gfx900 to gfx950.
    Gfx9,
    /// RDNA 1 and 2: gfx1010 to gfx1036.
    Gfx10,
    /// RDNA 3 and 3.5: gfx1100 to gfx1153.
    Gfx11,
    /// RDNA 4: gfx1200 and gfx1201.
    Gfx12,
}

impl Generation {
    /// How many there are.
    pub(crate) const COUNT: usize = Self::Gfx12 as usize + 1;

    /// LLVM's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gfx8 => "GFX8",
            Self::Gfx9 => "GFX9",
            Self::Gfx10 => "GFX10",
            Self::Gfx11 => "GFX11",
            Self::Gfx12 => "GFX12",
        }
    }

    /// Whether instructions tell of others that follow them (`s_clause`, `s_delay_alu`).
    pub const fn announces(self) -> bool {
        match self {
            Self::Gfx8 | Self::Gfx9 => false,
            Self::Gfx10 | Self::Gfx11 | Self::Gfx12 => true,
        }
    }

    /// The sizes of waves that it runs, LLVM's default first.
    pub const fn wave_sizes(self) -> &'static [WaveSize] {
        match self {
            Self::Gfx8 | Self::Gfx9 => &[WaveSize::Wave64],
            Self::Gfx10 | Self::Gfx11 | Self::Gfx12 => &[WaveSize::Wave32, WaveSize::Wave64],
        }
    }
}

/// How many work-items a wave holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaveSize {
    /// 32 lanes: a lane mask is one SGPR.
    Wave32,
    /// 64 lanes: a lane mask is a pair of SGPRs.
    Wave64,
}

impl WaveSize {
    /// How many there are.
    pub(crate) const COUNT: usize = Self::Wave64 as usize + 1;

    /// Lanes of a wave.
    pub const fn lanes(self) -> u32 {
        match self {
            Self::Wave32 => 32,
            Self::Wave64 => 64,
        }
    }

    /// SGPRs that a lane mask takes.
    pub const fn mask_sgprs(self) -> u8 {
        match self {
            Self::Wave32 => 1,
            Self::Wave64 => 2,
        }
    }

    /// The size with so many lanes, if there is one.
    pub const fn from_lanes(lanes: u32) -> Option<Self> {
        match lanes {
            32 => Some(Self::Wave32),
            64 => Some(Self::Wave64),
            _ => None,
        }
    }

    /// LLVM's feature that code is compiled with for it.
    pub const fn llvm_feature(self) -> &'static str {
        match self {
            Self::Wave32 => "wavefrontsize32",
            Self::Wave64 => "wavefrontsize64",
        }
    }

    /// The mask of all lanes.
    pub const fn all_lanes(self) -> u64 {
        match self {
            Self::Wave32 => u32::MAX as u64,
            Self::Wave64 => u64::MAX,
        }
    }
}

/// One line a processor: its variant, what it is, LLVM's name, `EF_AMDGPU_MACH`, generation, the first
/// processor that has the same instructions, features and limits. Of a generic one then: the processors that
/// its code runs on.
macro_rules! processors {
    ($($(#[$doc:meta])* $variant:ident $name:literal $mach:literal $generation:ident $instructions:ident $features:ident $limits:ident $(of $($member:ident)*)?;)*) => {
        /// A processor. Names and `EF_AMDGPU_MACH` values are those of LLVM's AMDGPU user guide, "Processors"
        /// and "Generic Processors".
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum Arch {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        /// What is known of each processor, in the order of [`Arch`].
        const PROCESSORS: &[Processor] = &[$(
            Processor {
                arch: Arch::$variant,
                name: $name,
                mach: $mach,
                generation: Generation::$generation,
                instructions: Arch::$instructions,
                features: feature::$features,
                limits: &Limits::$limits,
                members: &[$($(Arch::$member),*)?],
            },
        )*];
    };
}

/// How many are instrumented.
const INSTRUMENTED: usize = {
    let (mut index, mut count) = (0, 0);
    while index < PROCESSORS.len() {
        count += PROCESSORS[index].arch.is_instrumented() as usize;
        index += 1;
    }
    count
};

/// How many are executed.
const EXECUTED: usize = {
    let (mut index, mut count) = (0, 0);
    while index < PROCESSORS.len() {
        count += PROCESSORS[index].arch.is_executed() as usize;
        index += 1;
    }
    count
};

/// What is known of a processor.
struct Processor {
    arch: Arch,
    name: &'static str,
    mach: u8,
    generation: Generation,
    instructions: Arch,
    features: Features,
    limits: &'static Limits,
    members: &'static [Arch],
}

processors! {
    /// Carrizo APU.
    Gfx801 "gfx801" 0x28 Gfx8 Gfx801 GFX801 GCN;
    /// Tonga (R9 285, R9 380).
    Gfx802 "gfx802" 0x29 Gfx8 Gfx803 GFX803 TONGA;
    /// Fiji (R9 Fury) and Polaris (RX 470 to RX 590).
    Gfx803 "gfx803" 0x2a Gfx8 Gfx803 GFX803 GCN;
    /// Tonga Pro (FirePro S7150).
    Gfx805 "gfx805" 0x3c Gfx8 Gfx803 GFX803 TONGA;
    /// Stoney Ridge APU.
    Gfx810 "gfx810" 0x2b Gfx8 Gfx810 GFX810 GCN;
    /// Vega 10 (MI25).
    Gfx900 "gfx900" 0x2c Gfx9 Gfx900 GFX900 GCN;
    /// Raven Ridge APU.
    Gfx902 "gfx902" 0x2d Gfx9 Gfx900 GFX900 GCN;
    /// Vega 12.
    Gfx904 "gfx904" 0x2e Gfx9 Gfx904 GFX900 GCN;
    /// Vega 20 (MI50, MI60).
    Gfx906 "gfx906" 0x2f Gfx9 Gfx906 GFX906 GCN;
    /// CDNA 1 (MI100).
    Gfx908 "gfx908" 0x30 Gfx9 Gfx908 GFX908 GCN;
    /// Raven 2 APU.
    Gfx909 "gfx909" 0x31 Gfx9 Gfx900 GFX900 GCN;
    /// CDNA 2 (MI210, MI250, MI250X).
    Gfx90a "gfx90a" 0x3f Gfx9 Gfx90a GFX90A CDNA2;
    /// Renoir APU.
    Gfx90c "gfx90c" 0x32 Gfx9 Gfx900 GFX900 GCN;
    /// CDNA 3 (MI300A, MI300X).
    Gfx942 "gfx942" 0x4c Gfx9 Gfx942 GFX942 CDNA3;
    /// CDNA 4 (MI350).
    Gfx950 "gfx950" 0x4f Gfx9 Gfx950 GFX950 CDNA4;
    /// Navi 10 (RX 5700, RX 5600).
    Gfx1010 "gfx1010" 0x33 Gfx10 Gfx1010 GFX1010 RDNA;
    /// Navi 12 (Radeon Pro V520).
    Gfx1011 "gfx1011" 0x34 Gfx10 Gfx1011 GFX1010 RDNA;
    /// Navi 14 (RX 5500).
    Gfx1012 "gfx1012" 0x35 Gfx10 Gfx1011 GFX1010 RDNA;
    /// Cyan Skillfish APU.
    Gfx1013 "gfx1013" 0x42 Gfx10 Gfx1013 GFX1010 RDNA;
    /// Navi 21 (RX 6900, RX 6800).
    Gfx1030 "gfx1030" 0x36 Gfx10 Gfx1030 GFX1030 RDNA2;
    /// Navi 22 (RX 6700).
    Gfx1031 "gfx1031" 0x37 Gfx10 Gfx1030 GFX1030 RDNA2;
    /// Navi 23 (RX 6600).
    Gfx1032 "gfx1032" 0x38 Gfx10 Gfx1030 GFX1030 RDNA2;
    /// Van Gogh APU (Steam Deck).
    Gfx1033 "gfx1033" 0x39 Gfx10 Gfx1030 GFX1030 RDNA2;
    /// Navi 24 (RX 6500, RX 6400).
    Gfx1034 "gfx1034" 0x3e Gfx10 Gfx1030 GFX1030 RDNA2;
    /// Rembrandt APU (680M).
    Gfx1035 "gfx1035" 0x3d Gfx10 Gfx1030 GFX1030 RDNA2;
    /// Raphael APU (610M).
    Gfx1036 "gfx1036" 0x45 Gfx10 Gfx1030 GFX1030 RDNA2;
    /// Navi 31 (RX 7900).
    Gfx1100 "gfx1100" 0x41 Gfx11 Gfx1100 GFX1100 RDNA3_LARGE;
    /// Navi 32 (RX 7800, RX 7700).
    Gfx1101 "gfx1101" 0x46 Gfx11 Gfx1100 GFX1100 RDNA3_LARGE;
    /// Navi 33 (RX 7600).
    Gfx1102 "gfx1102" 0x47 Gfx11 Gfx1100 GFX1100 RDNA3;
    /// Phoenix APU (780M).
    Gfx1103 "gfx1103" 0x44 Gfx11 Gfx1100 GFX1100 RDNA3;
    /// Strix Point APU (890M).
    Gfx1150 "gfx1150" 0x43 Gfx11 Gfx1150 GFX1150 RDNA3;
    /// Strix Halo APU (8060S).
    Gfx1151 "gfx1151" 0x4a Gfx11 Gfx1150 GFX1150 RDNA3_LARGE;
    /// Krackan Point APU.
    Gfx1152 "gfx1152" 0x55 Gfx11 Gfx1150 GFX1150 RDNA3;
    /// Krackan Point 2 APU.
    Gfx1153 "gfx1153" 0x58 Gfx11 Gfx1150 GFX1150 RDNA3;
    /// Navi 44 (RX 9060).
    Gfx1200 "gfx1200" 0x48 Gfx12 Gfx1200 GFX1200 RDNA4;
    /// Navi 48 (RX 9070).
    Gfx1201 "gfx1201" 0x4e Gfx12 Gfx1200 GFX1200 RDNA4;
    /// What Vega GPUs and APUs have in common.
    Gfx9Generic "gfx9-generic" 0x51 Gfx9 Gfx9Generic GFX9_GENERIC GCN of Gfx900 Gfx902 Gfx904 Gfx906 Gfx909 Gfx90c;
    /// What CDNA 3 and CDNA 4 have in common, without instructions for FP8 and BF8.
    Gfx9_4Generic "gfx9-4-generic" 0x5f Gfx9 Gfx9_4Generic GFX9_4_GENERIC CDNA3 of Gfx942 Gfx950;
    /// What RDNA 1 has in common: no dot products, no rays.
    Gfx10_1Generic "gfx10-1-generic" 0x52 Gfx10 Gfx1010 GFX1010 RDNA of Gfx1010 Gfx1011 Gfx1012 Gfx1013;
    /// RDNA 2.
    Gfx10_3Generic "gfx10-3-generic" 0x53 Gfx10 Gfx1030 GFX1030 RDNA2
        of Gfx1030 Gfx1031 Gfx1032 Gfx1033 Gfx1034 Gfx1035 Gfx1036;
    /// What RDNA 3 and 3.5 have in common: no scalar floats, and the smaller number of VGPRs.
    Gfx11Generic "gfx11-generic" 0x54 Gfx11 Gfx1100 GFX1100 RDNA3
        of Gfx1100 Gfx1101 Gfx1102 Gfx1103 Gfx1150 Gfx1151 Gfx1152 Gfx1153;
    /// RDNA 4.
    Gfx12Generic "gfx12-generic" 0x59 Gfx12 Gfx1200 GFX1200 RDNA4 of Gfx1200 Gfx1201;
}

impl Arch {
    /// Every processor whose code objects are instrumented.
    pub const ALL: [Self; INSTRUMENTED] = {
        let mut all = [Self::Gfx900; INSTRUMENTED];
        let (mut index, mut found) = (0, 0);
        while index < PROCESSORS.len() {
            if PROCESSORS[index].arch.is_instrumented() {
                all[found] = PROCESSORS[index].arch;
                found += 1;
            }
            index += 1;
        }
        all
    };

    /// Every processor that kernels are built for: those whose code the emulator executes.
    pub const BUILT: [Self; EXECUTED] = {
        let mut all = [Self::Gfx900; EXECUTED];
        let (mut index, mut found) = (0, 0);
        while index < PROCESSORS.len() {
            if PROCESSORS[index].arch.is_executed() {
                all[found] = PROCESSORS[index].arch;
                found += 1;
            }
            index += 1;
        }
        all
    };

    /// Every processor whose code objects are read: those of [`Self::BUILT`], and others.
    pub const KNOWN: [Self; PROCESSORS.len()] = {
        let mut all = [Self::Gfx900; PROCESSORS.len()];
        let mut index = 0;
        while index < all.len() {
            all[index] = PROCESSORS[index].arch;
            assert!(all[index] as usize == index, "the table is in the order of the processors");
            index += 1;
        }
        all
    };

    const fn is_instrumented(self) -> bool {
        match self.generation() {
            Generation::Gfx8 => false,
            Generation::Gfx9 | Generation::Gfx10 | Generation::Gfx11 | Generation::Gfx12 => true,
        }
    }

    const fn is_executed(self) -> bool {
        match self.generation() {
            Generation::Gfx8
            | Generation::Gfx9
            | Generation::Gfx10
            | Generation::Gfx11
            | Generation::Gfx12 => true,
        }
    }

    /// This processor, if code for it is instrumented.
    ///
    /// # Errors
    /// [`NotInstrumented`] if it is not.
    pub const fn to_instrument(self) -> Result<Self, NotInstrumented> {
        if self.is_instrumented() { Ok(self) } else { Err(NotInstrumented(self)) }
    }

    /// This processor, if the emulator executes its code.
    ///
    /// # Errors
    /// [`NotExecuted`] if it does not.
    pub const fn to_execute(self) -> Result<Self, NotExecuted> {
        if self.is_executed() { Ok(self) } else { Err(NotExecuted(self)) }
    }

    /// The processor of a name, among all whose code is read.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::KNOWN.into_iter().find(|arch| arch.name() == name)
    }

    const fn processor(self) -> &'static Processor {
        &PROCESSORS[self as usize]
    }

    /// LLVM's processor name (`gfx90a`).
    pub const fn name(self) -> &'static str {
        self.processor().name
    }

    /// The `EF_AMDGPU_MACH` field of `e_flags` (low 8 bits).
    pub const fn mach(self) -> u8 {
        self.processor().mach
    }

    /// The processor of an `EF_AMDGPU_MACH` value, if it is a known one.
    pub fn from_mach(mach: u8) -> Option<Self> {
        Self::KNOWN.into_iter().find(|arch| arch.mach() == mach)
    }

    /// The generation that it belongs to.
    pub const fn generation(self) -> Generation {
        self.processor().generation
    }

    /// The size of waves that code is for where nothing says it: LLVM's default.
    pub const fn default_wave(self) -> WaveSize {
        self.generation().wave_sizes()[0]
    }

    /// The first processor that has the same instructions: what stands for all of them in look-ups.
    pub(crate) const fn instructions(self) -> Self {
        self.processor().instructions
    }

    /// Whether the processor has a feature.
    pub const fn has(self, feature: Feature) -> bool {
        self.processor().features.has(feature)
    }

    /// What waves and workgroups share, and how much of it there is. Of a generic processor: the least that
    /// each of [`Self::members`] has.
    pub const fn limits(self) -> &'static Limits {
        self.processor().limits
    }

    /// The processors that code for a generic one runs on; none where the processor is no generic one.
    pub const fn members(self) -> &'static [Self] {
        self.processor().members
    }

    /// Whether it stands for several: no device is one.
    pub const fn is_generic(self) -> bool {
        !self.members().is_empty()
    }

    /// Whether a device that is this processor runs code for another: its own, and that of a generic one that
    /// it belongs to.
    pub fn runs(self, code: Self) -> bool {
        self == code || code.members().contains(&self)
    }

    /// The generic processor whose code it runs, if there is one.
    pub fn generic(self) -> Option<Self> {
        Self::KNOWN.into_iter().find(|generic| generic.members().contains(&self))
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A processor whose code is read, and neither built nor executed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("code for {0} is read (`inspect`, `disasm`, `isa`), but not built or executed yet")]
pub struct NotExecuted(pub Arch);

/// A processor whose code is not instrumented yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("code for {0} is read and run, but not instrumented yet")]
pub struct NotInstrumented(pub Arch);

/// A processor name that is not one of [`Arch::BUILT`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownArch {
    /// Known to be none.
    #[error(
        "`{0}` is not a processor this tool knows (gfx801 … gfx810, gfx900 … gfx950, gfx1010 … gfx1036, gfx1100 … gfx1153, gfx1200, gfx1201, and generic ones, as gfx11-generic)"
    )]
    Unknown(String),
    /// Known, but its code is read alone.
    #[error(transparent)]
    NotExecuted(#[from] NotExecuted),
}

impl FromStr for Arch {
    type Err = UnknownArch;

    fn from_str(name: &str) -> Result<Self, UnknownArch> {
        let known = Self::from_name(name).ok_or_else(|| UnknownArch::Unknown(name.to_owned()))?;
        Ok(known.to_execute()?)
    }
}

/// A processor, and the size of the waves that code is for: lane masks are as wide. A processor alone stands
/// for its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The processor.
    pub arch: Arch,
    /// The size of its waves.
    pub wave: WaveSize,
}

impl From<Arch> for Target {
    fn from(arch: Arch) -> Self {
        Self { arch, wave: arch.default_wave() }
    }
}

/// The state of a target feature (XNACK replay, SRAM ECC) in `e_flags` or a target id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FeatureState {
    /// The processor has no such feature.
    #[default]
    Unsupported,
    /// The code runs with the feature on or off.
    Any,
    /// The code needs the feature off.
    Off,
    /// The code needs the feature on.
    On,
}

/// A processor with its feature states: what a code object was built for (`gfx90a:sramecc+:xnack-`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TargetId {
    /// The processor.
    pub arch: Arch,
    /// XNACK replay.
    pub xnack: FeatureState,
    /// SRAM error correction.
    pub sramecc: FeatureState,
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.arch.name())?;
        for (name, state) in [("sramecc", self.sramecc), ("xnack", self.xnack)] {
            match state {
                FeatureState::On => write!(f, ":{name}+")?,
                FeatureState::Off => write!(f, ":{name}-")?,
                FeatureState::Any | FeatureState::Unsupported => {}
            }
        }
        Ok(())
    }
}
