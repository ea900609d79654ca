//! What the waves of a generation do in their own way, as data.
//!
//! Functions ask for a rule by its name, and none asks which generation it runs. What differs between
//! processors of one generation is a [`Feature`](amdgpu_isa::Feature), and what there is so much of stands in
//! [`Limits`](amdgpu_isa::Limits). How many lanes a wave has is its kernel's: see
//! [`Wave::lanes`](crate::wave::Wave::lanes).

use std::ops::Range;

use amdgpu_isa::{Generation, WaveSize, scalar};

/// What the waves of a generation do in their own way.
#[derive(Debug)]
pub(crate) struct Rules {
    /// SGPRs that a wave may have, VCC and the other special ones apart.
    pub(crate) sgprs: u8,
    /// The number of the scalar register that says where the wave's scratch memory is.
    pub(crate) flat_scratch: u8,
    /// FLAT_SCRATCH is the size of a work-item's scratch memory, and an offset in steps of 256 bytes to the
    /// wave's. Else it is an address.
    pub(crate) scratch_by_offset: bool,
    /// M0 says how many bytes of LDS instructions reach.
    pub(crate) lds_limit_in_m0: bool,
    /// The bit of MODE that turns VGPR indexing on, as a mask; 0 if there is none.
    pub(crate) gpr_index: u32,
    /// The bit of MODE that has vector instructions skipped, as a mask; 0 if there is none.
    pub(crate) vskip: u32,
    /// Vector results of 16 bits leave the other half of their register as it is. Else only those of some
    /// opcodes do.
    pub(crate) keeps_halves: bool,
    /// `ds_permute_b32` and `ds_bpermute_b32` exchange between as many lanes as a wave of this size has; a
    /// larger one is several such waves to them.
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
    /// The bit of STATUS that says that the wave has 64 lanes, as a mask; 0 if there is none.
    pub(crate) wave64: u32,
    /// A kernel says where its scratch memory is, by `s_setreg_b32`.
    pub(crate) sets_scratch: bool,
    /// Waves signal a barrier by one instruction and wait at it by another.
    pub(crate) split_barriers: bool,
    /// STATUS has SCC.
    pub(crate) status_has_scc: bool,
    /// Numbers of the trap handler's registers that kernels read: a launch puts there which workgroup and
    /// wave it is.
    pub(crate) launch_registers: Range<u8>,
    /// MODE has neither DX10_CLAMP nor IEEE. NaNs clamp to zero; minima and maxima are those of IEEE
    /// 754-2019.
    pub(crate) fixed_ieee_mode: bool,
    /// An output modifier applies where subnormals are kept, and flushes those of its results. Else it is
    /// ignored there.
    pub(crate) omod_flushes: bool,
    /// Minima, maxima and comparisons of floats in memory flush subnormals as MODE says.
    pub(crate) memory_obeys_mode: bool,
    /// Float atomics of FLAT on LDS keep subnormals whatever MODE says. Else they do as those of DS.
    pub(crate) flat_keeps_subnormals: bool,
    /// What an access to LDS that is in part out of range does.
    pub(crate) partly_out: PartlyOut,
    /// The first bit of the byte that each value of OP_SEL selects of a source of conversions.
    pub(crate) source_bytes: [u8; 4],
    /// How lanes hold the elements of matrices.
    pub(crate) matrices: Matrices,
}

/// What an access to LDS that is in part out of range does, where hardware lets it pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartlyOut {
    /// A load returns zero, a store writes nothing.
    Nothing,
    /// Each dword of a load, and each byte of a store, counts by itself.
    EachPart,
}

/// How lanes hold the elements of WMMA's matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matrices {
    /// Each group of 16 lanes has all of A and B; rows of C and D go round the groups.
    Repeated,
    /// Each element is in one lane.
    Once,
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
    /// As that. Strides have a scale, and an offset in a scalar register is swizzled with the others.
    ScaledStride,
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
    /// IB_STS: the outstanding operations.
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
    /// SHADER_CYCLES_LO: the low half of a clock of 64 bits.
    CyclesLow,
    /// SHADER_CYCLES_HI: its high half.
    CyclesHigh,
    /// STATE_PRIV: what a trap handler may write.
    State,
    /// EXCP_FLAG_USER: exceptions that have occurred.
    Exceptions,
    /// EXCP_FLAG_PRIV and TRAP_CTRL: exceptions of a trap handler.
    TrapControl,
    /// SCHED_MODE: how instructions are issued.
    Scheduling,
    /// A snapshot of performance counters.
    Snapshot,
}

use HardwareRegister as R;

/// GCN 3 ISA, section 3.4 (state of a wave), and chapters 8 to 11 (memory).
const GFX8: Rules = Rules {
    scratch_by_offset: true,
    lds_limit_in_m0: true,
    hardware_registers: &[
        (1, R::Mode),
        (2, R::Status),
        (3, R::TrapStatus),
        (4, R::Id),
        (5, R::Registers),
        (6, R::Lds),
        (7, R::Outstanding),
    ],
    scratch_enabled: 0,
    ..GFX9
};

/// Vega ISA, section 3.5, and CDNA3 ISA, section 3.5.
const GFX9: Rules = Rules {
    sgprs: scalar::FLAT_SCRATCH,
    flat_scratch: scalar::FLAT_SCRATCH,
    scratch_by_offset: false,
    lds_limit_in_m0: false,
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
    wave64: 0,
    sets_scratch: false,
    split_barriers: false,
    status_has_scc: true,
    launch_registers: 0..0,
    fixed_ieee_mode: false,
    omod_flushes: false,
    memory_obeys_mode: false,
    flat_keeps_subnormals: false,
    partly_out: PartlyOut::Nothing,
    source_bytes: [0, 8, 16, 24],
    matrices: Matrices::Repeated,
};

/// RDNA2 ISA, chapter 3 (kernel state), table 16 (hardware registers) and section 8.1.8 (buffer resource);
/// what it leaves open is as on GFX11. LLVM has it that vector results of 16 bits keep the other half
/// (`zeroesHigh16BitsOfDest`).
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
    // Section 12.5.2: a wave64 is "as if were two independent wave32's". (The pseudocode of both instructions
    // has the lanes of both halves take part in the lower half; it contradicts the section.)
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
    // Section 13.2.
    memory_obeys_mode: true,
    ..GFX9
};

/// RDNA4 ISA, chapter 3 (wave state) and its table of registers, sections 3.3.5.1 (LDS out of range), 7.2.3.1
/// (output modifiers), 7.12.2 (matrices), 9.6 (buffer resource), 12.5.2 (permutations of lanes) and 13.2
/// (float atomics); numbers of hardware registers by LLVM's `SIDefines.h`. What it leaves open is as on
/// GFX11.
const GFX12: Rules = Rules {
    exchanges_within: WaveSize::Wave64,
    buffers: Buffers::ScaledStride,
    hardware_registers: &[
        (1, R::Mode),
        (2, R::Status),
        (4, R::State),
        (5, R::Registers),
        (6, R::Lds),
        (7, R::Outstanding),
        (10, R::Snapshot),
        (11, R::Snapshot),
        (12, R::Snapshot),
        (15, R::Snapshot),
        (16, R::Snapshot),
        (17, R::TrapControl),
        (18, R::Exceptions),
        (19, R::TrapControl),
        (20, R::ScratchLow),
        (21, R::ScratchHigh),
        (23, R::Id1),
        (24, R::Id2),
        (26, R::Scheduling),
        (28, R::Outstanding),
        (29, R::CyclesLow),
        (30, R::CyclesHigh),
        (31, R::Registers),
        (32, R::Registers),
    ],
    scratch_enabled: 0,
    wave64: 1 << 29,
    split_barriers: true,
    status_has_scc: false,
    launch_registers: LAUNCH_Y_Z..LAUNCH_X + 1,
    fixed_ieee_mode: true,
    omod_flushes: true,
    memory_obeys_mode: false,
    flat_keeps_subnormals: true,
    partly_out: PartlyOut::EachPart,
    // "Byte select bits are reversed" (`V_CVT_F32_FP8`).
    source_bytes: [0, 16, 8, 24],
    matrices: Matrices::Once,
    ..GFX11
};

/// TTMP9: the id of a wave's workgroup in x.
pub(crate) const LAUNCH_X: u8 = scalar::TTMP + 9;
/// TTMP8: the number of a wave in its workgroup, from bit 25 on.
pub(crate) const LAUNCH_WAVE: u8 = scalar::TTMP + 8;
/// TTMP7: the ids of a wave's workgroup in y and z, 16 bits each.
pub(crate) const LAUNCH_Y_Z: u8 = scalar::TTMP + 7;

/// Takes scalar results that nobody wants (NULL): a pair of numbers that kernels cannot name, for they are a
/// trap handler's.
pub(crate) const NULL_RESULT: u8 = scalar::TTMP + scalar::TTMPS - 4;

/// Where a wave has the base of its scratch memory that is no register of the kernel's: a pair of a trap
/// handler's numbers.
const SCRATCH_BASE: u8 = scalar::TTMP + scalar::TTMPS - 2;

impl Rules {
    /// Those of a generation.
    pub(crate) const fn of(generation: Generation) -> &'static Self {
        match generation {
            Generation::Gfx8 => &GFX8,
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
