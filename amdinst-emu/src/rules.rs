//! What the waves of a generation do in their own way, as data.
//!
//! Functions ask for a rule by its name, and none asks which generation it runs. What differs between processors of one generation
//! is a [`Feature`](amdgpu_isa::Feature), and what there is so much of stands in [`Limits`](amdgpu_isa::Limits). How many lanes a
//! wave has is its kernel's: see [`Wave::lanes`](crate::wave::Wave::lanes).

use amdgpu_isa::{Generation, WaveSize, scalar};

/// What the waves of a generation do in their own way.
#[derive(Debug)]
pub(crate) struct Rules {
    /// SGPRs that a wave may have, VCC and the other special ones apart.
    pub(crate) sgprs: u8,
    /// The number of the scalar register that says where the wave's scratch memory is.
    pub(crate) flat_scratch: u8,
    /// The bit of MODE that turns VGPR indexing on, as a mask; 0 if there is none.
    pub(crate) gpr_index: u32,
    /// The bit of MODE that has vector instructions skipped, as a mask; 0 if there is none.
    pub(crate) vskip: u32,
    /// Vector results of 16 bits leave the other half of their register as it is. Else only those of some opcodes do.
    pub(crate) keeps_halves: bool,
    /// `ds_permute_b32` and `ds_bpermute_b32` exchange between as many lanes as a wave of this size has; a larger one is several such
    /// waves to them.
    pub(crate) exchanges_within: WaveSize,
    /// Where `v_div_scale_*` leaves the manual's pseudocode open.
    pub(crate) div_scale: DivScale,
    /// `v_dot2_f32_f16` adds its third source last.
    pub(crate) dot_adds_last: bool,
    /// Devices add the terms of a dot product of floats at once, in a way that no manual tells.
    pub(crate) fused_dots: bool,
    /// What buffer resources say.
    pub(crate) buffers: Buffers,
    /// The hardware registers by number.
    pub(crate) hardware_registers: &'static [(u16, HardwareRegister)],
    /// The bit of STATUS that says that the wave has scratch memory, as a mask; 0 if there is none.
    pub(crate) scratch_enabled: u32,
    /// A kernel says where its scratch memory is, by `s_setreg_b32`.
    pub(crate) sets_scratch: bool,
}

/// How a buffer resource says what its elements are, and what is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buffers {
    /// A format of data and one of numbers; the range goes by whether there is an index.
    TwoFormats,
    /// One format; the range goes by OOB_SELECT.
    OneFormat,
    /// As that, and swizzling keeps together as many bytes as is told.
    SizedElements,
}

/// What `v_div_scale_*` does at the ends of its range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DivScale {
    /// The lane's bit is set where a source is zero.
    pub(crate) marks_zeros: bool,
    /// The largest biased exponent of a quotient that counts as subnormal.
    pub(crate) small: i32,
}

/// What `s_getreg_b32` and `s_setreg_b32` reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HardwareRegister {
    Mode,
    Status,
    TrapStatus,
    /// HW_ID: where the wave runs.
    Id,
    /// HW_ID1: where the wave runs.
    Id1,
    /// HW_ID2: which queue it came from.
    Id2,
    /// GPR_ALLOC.
    Registers,
    /// LDS_ALLOC, in units of 64 dwords.
    Lds,
    /// IB_STS: what is outstanding.
    Outstanding,
    /// SH_MEM_BASES: the apertures.
    Apertures,
    /// TBA and TMA, of the trap handler.
    TrapHandler,
    /// XCC_ID: which of several dies.
    Die,
    /// FLAT_SCRATCH's low half.
    ScratchLow,
    /// FLAT_SCRATCH's high half.
    ScratchHigh,
    /// SHADER_CYCLES: a clock of 20 bits.
    Cycles,
    /// A snapshot of performance counters.
    Snapshot,
}

use HardwareRegister as R;

/// Vega ISA, section 3.5, and CDNA3 ISA, section 3.5.
const GFX9: Rules = Rules {
    sgprs: scalar::FLAT_SCRATCH,
    flat_scratch: scalar::FLAT_SCRATCH,
    gpr_index: 1 << 27,
    vskip: 1 << 28,
    keeps_halves: false,
    exchanges_within: WaveSize::Wave64,
    div_scale: DivScale { marks_zeros: false, small: 0 },
    dot_adds_last: false,
    fused_dots: false,
    buffers: Buffers::TwoFormats,
    hardware_registers: &[
        (1, R::Mode),
        (2, R::Status),
        (3, R::TrapStatus),
        (4, R::Id),
        (5, R::Registers),
        (6, R::Lds),
        (7, R::Outstanding),
        (15, R::Apertures),
        (16, R::TrapHandler),
        (17, R::TrapHandler),
        (18, R::TrapHandler),
        (19, R::TrapHandler),
        (20, R::Die),
        (21, R::Snapshot),
        (22, R::Snapshot),
        (23, R::Snapshot),
        (24, R::Snapshot),
    ],
    scratch_enabled: 1 << 28,
    sets_scratch: false,
};

/// RDNA2 ISA, chapter 3 (kernel state), table 16 (hardware registers) and section 8.1.8 (buffer resource); what it leaves open is as on
/// GFX11. LLVM has it that vector results of 16 bits keep the other half (`zeroesHigh16BitsOfDest`).
const GFX10: Rules = Rules {
    hardware_registers: &[
        (1, R::Mode),
        (2, R::Status),
        (3, R::TrapStatus),
        (5, R::Registers),
        (6, R::Lds),
        (7, R::Outstanding),
        (15, R::Apertures),
        (16, R::TrapHandler),
        (17, R::TrapHandler),
        (18, R::TrapHandler),
        (19, R::TrapHandler),
        (20, R::ScratchLow),
        (21, R::ScratchHigh),
        (23, R::Id1),
        (24, R::Id2),
        (29, R::Cycles),
    ],
    buffers: Buffers::OneFormat,
    scratch_enabled: 0,
    sets_scratch: true,
    ..GFX11
};

/// RDNA3 ISA, chapter 3 (registers), section 7.2 (OPSEL); numbers of hardware registers by
/// LLVM's `SIDefines.h`.
const GFX11: Rules = Rules {
    sgprs: scalar::VCC,
    flat_scratch: SCRATCH_BASE,
    gpr_index: 0,
    vskip: 0,
    keeps_halves: true,
    // Section 12.5.2: a wave64 is "as if were two independent wave32's". (The pseudocode of both instructions has the lanes of both
    // halves take part in the lower half; it contradicts the section.)
    exchanges_within: WaveSize::Wave32,
    // As measured on a gfx1100 (tinygrad's `test/amd/hw/test_vop3.py`).
    div_scale: DivScale { marks_zeros: true, small: 1 },
    dot_adds_last: true,
    fused_dots: true,
    buffers: Buffers::SizedElements,
    hardware_registers: &[
        (1, R::Mode),
        (2, R::Status),
        (3, R::TrapStatus),
        (5, R::Registers),
        (6, R::Lds),
        (7, R::Outstanding),
        (15, R::Apertures),
        (20, R::ScratchLow),
        (21, R::ScratchHigh),
        (23, R::Id1),
        (24, R::Id2),
        (27, R::Snapshot),
        (28, R::Snapshot),
        (29, R::Cycles),
    ],
    scratch_enabled: 1 << 29,
    sets_scratch: false,
};

/// RDNA 4 ISA, chapter 3 (kernel state) and table "Hardware Register Values"; numbers by LLVM's `SIDefines.h`. What it leaves open is as
/// on GFX11.
const GFX12: Rules = Rules { hardware_registers: &[(1, R::Mode)], scratch_enabled: 0, ..GFX11 };

/// Takes scalar results that nobody wants (NULL): a pair of numbers that kernels cannot name, for they are a trap handler's.
pub(crate) const NULL_RESULT: u8 = scalar::TTMP + scalar::TTMPS - 4;

/// Where a wave has the base of its scratch memory that is no register of the kernel's: a pair of a trap handler's numbers.
const SCRATCH_BASE: u8 = scalar::TTMP + scalar::TTMPS - 2;

impl Rules {
    /// Those of a generation.
    pub(crate) const fn of(generation: Generation) -> &'static Self {
        match generation {
            Generation::Gfx9 => &GFX9,
            Generation::Gfx10 => &GFX10,
            Generation::Gfx11 => &GFX11,
            Generation::Gfx12 => &GFX12,
        }
    }

    /// The hardware register of a number; `None` if it is reserved.
    pub(crate) fn hardware_register(&self, number: u16) -> Option<HardwareRegister> {
        let found = self.hardware_registers.iter().find(|(known, _)| *known == number);
        found.map(|&(_, register)| register)
    }
}
