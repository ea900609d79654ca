//! The processors that tests run on, and the sizes of their waves.

use amdgpu_isa::{Arch, Generation, Target, WaveSize};

/// GFX8 and GFX9.
pub(crate) const PROCESSORS: [Arch; 7] =
    [Arch::Gfx803, Arch::Gfx900, Arch::Gfx906, Arch::Gfx908, Arch::Gfx90a, Arch::Gfx942, Arch::Gfx950];

/// RDNA, a processor of each instruction set, in waves of both sizes.
pub(crate) const RDNA: [Target; 10] = [
    narrow(Arch::Gfx1010),
    wide(Arch::Gfx1010),
    narrow(Arch::Gfx1030),
    wide(Arch::Gfx1030),
    narrow(Arch::Gfx1100),
    wide(Arch::Gfx1100),
    narrow(Arch::Gfx1150),
    wide(Arch::Gfx1150),
    narrow(Arch::Gfx1201),
    wide(Arch::Gfx1201),
];

/// All of them.
pub(crate) const TARGETS: [Target; PROCESSORS.len() + RDNA.len()] = {
    let mut targets = [wide(Arch::Gfx900); PROCESSORS.len() + RDNA.len()];
    let mut at = 0;
    while at < targets.len() {
        targets[at] = if at < PROCESSORS.len() { wide(PROCESSORS[at]) } else { RDNA[at - PROCESSORS.len()] };
        at += 1;
    }
    targets
};

const fn narrow(arch: Arch) -> Target {
    Target { arch, wave: WaveSize::Wave32 }
}

const fn wide(arch: Arch) -> Target {
    Target { arch, wave: WaveSize::Wave64 }
}

/// Whether a target's processor is of GFX8 or GFX9.
pub(crate) fn is_gcn(target: Target) -> bool {
    matches!(target.arch.generation(), Generation::Gfx8 | Generation::Gfx9)
}

/// Whether a target's processor is of GFX12.
pub(crate) fn is_gfx12(target: Target) -> bool {
    target.arch.generation() == Generation::Gfx12
}

/// Whether names are those that GFX11 brought.
pub(crate) fn has_new_names(target: Target) -> bool {
    matches!(target.arch.generation(), Generation::Gfx11 | Generation::Gfx12)
}
