//! `e_ident` and `e_flags`: the target and the version of a code object (AMDGPU user guide, "Header").

use amdgpu_isa::{Arch, Feature, FeatureState, TargetId};

use super::{ObjectError, elf::Elf, note};

/// `ELFOSABI_AMDGPU_HSA`.
const OS_ABI_HSA: u8 = 64;
/// `EF_AMDGPU_MACH`.
const MACH: u32 = 0xff;

/// The target and the code object version of a file.
pub(crate) fn identify(elf: &Elf, bytes: &[u8]) -> Result<(TargetId, u8), ObjectError> {
    if elf.os_abi != OS_ABI_HSA {
        return Err(ObjectError::OsAbi { os_abi: elf.os_abi });
    }
    let version = match elf.abi_version {
        0 => return Ok((version_2(elf, bytes)?, 2)),
        abi @ 1..=4 => abi + 2,
        abi_version => return Err(ObjectError::AbiVersion { abi_version }),
    };
    let mach = (elf.flags & MACH) as u8;
    let arch =
        Arch::from_mach(mach).ok_or_else(|| ObjectError::Processor { mach, name: other_processor(mach) })?;
    let (xnack, sramecc) = if version == 3 {
        (
            v3_feature(arch.has(Feature::Xnack), elf.flags & 0x100 != 0),
            v3_feature(arch.has(Feature::SramEcc), elf.flags & 0x200 != 0),
        )
    } else {
        (feature(elf.flags >> 8), feature(elf.flags >> 10))
    };
    Ok((TargetId { arch, xnack, sramecc }, version))
}

/// The target of code object version 2: `e_flags` as in version 3 where compilers wrote the processor there, else the ISA
/// version note, whose stepping is odd where addresses can be replayed.
fn version_2(elf: &Elf, bytes: &[u8]) -> Result<TargetId, ObjectError> {
    let mach = (elf.flags & MACH) as u8;
    let (arch, xnack, sramecc) = if let Some(arch) = Arch::from_mach(mach) {
        (arch, elf.flags & 0x100 != 0, elf.flags & 0x200 != 0)
    } else {
        let unknown = || ObjectError::Processor { mach, name: other_processor(mach) };
        // User guide, "NT_AMD_HSA_ISA_VERSION".
        let [9, 0, stepping] = note::isa_version(elf, bytes)?.ok_or_else(unknown)? else {
            return Err(unknown());
        };
        let arch = match stepping {
            0 | 1 => Arch::Gfx900,
            2 | 3 => Arch::Gfx902,
            4 | 5 => Arch::Gfx904,
            6 | 7 => Arch::Gfx906,
            12 => Arch::Gfx90c,
            _ => return Err(unknown()),
        };
        (arch, stepping % 2 == 1, false)
    };
    if !matches!(arch, Arch::Gfx900 | Arch::Gfx902 | Arch::Gfx904 | Arch::Gfx906 | Arch::Gfx90c) {
        return Err(ObjectError::Unsupported {
            part: "ELF header".to_owned(),
            feature: "code object version 2 for a processor that came after it",
            advice: "rebuild with -mcode-object-version=4 or newer",
        });
    }
    Ok(TargetId {
        arch,
        xnack: v3_feature(true, xnack),
        sramecc: v3_feature(arch.has(Feature::SramEcc), sramecc),
    })
}

/// `EF_AMDGPU_FEATURE_*_V4`: two bits a feature.
fn feature(bits: u32) -> FeatureState {
    match bits & 3 {
        0 => FeatureState::Unsupported,
        1 => FeatureState::Any,
        2 => FeatureState::Off,
        _ => FeatureState::On,
    }
}

/// `EF_AMDGPU_FEATURE_*_V3`: one bit a feature, so there is no "any".
fn v3_feature(exists: bool, on: bool) -> FeatureState {
    match (exists, on) {
        (_, true) => FeatureState::On,
        (true, false) => FeatureState::Off,
        (false, false) => FeatureState::Unsupported,
    }
}

/// LLVM's names of the processors outside GFX9, for the error message.
fn other_processor(mach: u8) -> Option<&'static str> {
    Some(match mach {
        0x01..=0x10 => "an R600 family GPU",
        0x20 => "gfx600",
        0x21 => "gfx601",
        0x22 => "gfx700",
        0x23 => "gfx701",
        0x24 => "gfx702",
        0x25 => "gfx703",
        0x26 => "gfx704",
        0x28 => "gfx801",
        0x29 => "gfx802",
        0x2a => "gfx803",
        0x2b => "gfx810",
        0x33 => "gfx1010",
        0x34 => "gfx1011",
        0x35 => "gfx1012",
        0x36 => "gfx1030",
        0x37 => "gfx1031",
        0x38 => "gfx1032",
        0x39 => "gfx1033",
        0x3a => "gfx602",
        0x3b => "gfx705",
        0x3c => "gfx805",
        0x3d => "gfx1035",
        0x3e => "gfx1034",
        0x40 => "gfx940",
        0x41 => "gfx1100",
        0x42 => "gfx1013",
        0x43 => "gfx1150",
        0x44 => "gfx1103",
        0x45 => "gfx1036",
        0x46 => "gfx1101",
        0x47 => "gfx1102",
        0x48 => "gfx1200",
        0x49 => "gfx1250",
        0x4a => "gfx1151",
        0x4b => "gfx941",
        0x4e => "gfx1201",
        0x51 => "gfx9-generic",
        0x52 => "gfx10-1-generic",
        0x53 => "gfx10-3-generic",
        0x54 => "gfx11-generic",
        0x55 => "gfx1152",
        0x58 => "gfx1153",
        0x59 => "gfx12-generic",
        0x5a => "gfx1251",
        0x5f => "gfx9-4-generic",
        _ => return None,
    })
}
