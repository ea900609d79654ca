//! `e_ident` and `e_flags`: the target and the version of a code object (AMDGPU user guide, "Header").

use std::ops::Range;

use amdgpu_isa::{Arch, Feature, FeatureState, Generation, TargetId};

use super::{ObjectError, elf::Elf, note};

/// `ELFOSABI_AMDGPU_HSA`.
const OS_ABI_HSA: u8 = 64;
/// `EF_AMDGPU_MACH`.
const MACH: u32 = 0xff;
/// Where `EF_AMDGPU_GENERIC_VERSION` begins, eight bits.
const GENERIC_VERSION_SHIFT: u32 = 24;
/// The code object version from which on there are generic processors.
const GENERIC_SINCE: u8 = 6;
/// Where `e_flags` stands in a file.
pub(crate) const FLAGS: Range<usize> = 0x30..0x34;

/// The version of a generic processor that a file was built for; `None` if it is for one that is no generic
/// one.
pub(crate) fn generic_version(arch: Arch, flags: u32) -> Option<u8> {
    arch.is_generic().then_some((flags >> GENERIC_VERSION_SHIFT) as u8)
}

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
    check_generic(arch, version, elf.flags)?;
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

/// Looks whether a file for a generic processor is of a version that knows these, and gives a version of that
/// processor. Any will do: today's members were there from the first on (user guide, "Generic Processor
/// Versioning").
fn check_generic(arch: Arch, version: u8, flags: u32) -> Result<(), ObjectError> {
    let Some(of_generic) = generic_version(arch, flags) else { return Ok(()) };
    let problem = match of_generic {
        _ if version < GENERIC_SINCE => {
            format!(
                "is of code object version {version}, and generic processors came with version {GENERIC_SINCE}"
            )
        }
        0 => "gives no version of that generic processor".to_owned(),
        _ => return Ok(()),
    };
    Err(ObjectError::malformed("ELF header", FLAGS.start as u64, format!("it is for {arch} and {problem}")))
}

/// The target of code object version 2: `e_flags` as in version 3 where compilers wrote the processor there,
/// else the ISA version note, whose stepping is odd on GFX9 where addresses can be replayed.
fn version_2(elf: &Elf, bytes: &[u8]) -> Result<TargetId, ObjectError> {
    let mach = (elf.flags & MACH) as u8;
    let (arch, xnack, sramecc) = if let Some(arch) = Arch::from_mach(mach) {
        (arch, elf.flags & 0x100 != 0, elf.flags & 0x200 != 0)
    } else {
        let unknown = || ObjectError::Processor { mach, name: other_processor(mach) };
        // User guide, "NT_AMD_HSA_ISA_VERSION".
        let (arch, xnack) = match note::isa_version(elf, bytes)?.ok_or_else(unknown)? {
            [8, 0, 1] => (Arch::Gfx801, true),
            [8, 0, 2] => (Arch::Gfx802, false),
            [8, 0, 3] => (Arch::Gfx803, false),
            [8, 0, 5] => (Arch::Gfx805, false),
            [8, 1, 0] => (Arch::Gfx810, true),
            [9, 0, stepping @ (0 | 1)] => (Arch::Gfx900, stepping == 1),
            [9, 0, stepping @ (2 | 3)] => (Arch::Gfx902, stepping == 3),
            [9, 0, stepping @ (4 | 5)] => (Arch::Gfx904, stepping == 5),
            [9, 0, stepping @ (6 | 7)] => (Arch::Gfx906, stepping == 7),
            [9, 0, 12] => (Arch::Gfx90c, false),
            _ => return Err(unknown()),
        };
        (arch, xnack, false)
    };
    let is_older = arch.generation() == Generation::Gfx8;
    let is_of_its_time =
        matches!(arch, Arch::Gfx900 | Arch::Gfx902 | Arch::Gfx904 | Arch::Gfx906 | Arch::Gfx90c);
    if !is_older && !is_of_its_time {
        return Err(ObjectError::Unsupported {
            part: "ELF header".to_owned(),
            feature: "code object version 2 for a processor that came after it",
            advice: "rebuild with -mcode-object-version=4 or newer",
        });
    }
    Ok(TargetId {
        arch,
        xnack: v3_feature(arch.has(Feature::Xnack), xnack),
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

/// LLVM's names of the processors whose code is not read, for the error message.
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
        0x3a => "gfx602",
        0x3b => "gfx705",
        0x40 => "gfx940",
        0x49 => "gfx1250",
        0x4b => "gfx941",
        0x5a => "gfx1251",
        _ => return None,
    })
}
