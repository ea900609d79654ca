//! The 64-byte kernel descriptor (AMDGPU user guide, "Kernel Descriptor").
//!
//! Kept as its raw words with accessors, so that what is not understood survives a rewrite.

use amdgpu_isa::{Arch, Feature, Limits, WaveSize};

/// A kernel descriptor as it stands in `.rodata`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelDescriptor {
    /// The 64 bytes.
    pub bytes: [u8; 64],
}

/// Initial rounding mode of floating-point instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FloatRound {
    /// To nearest, ties to even.
    NearEven = 0,
    /// Toward positive infinity.
    PlusInfinity = 1,
    /// Toward negative infinity.
    MinusInfinity = 2,
    /// Toward zero.
    Zero = 3,
}

/// Initial treatment of denormals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FloatDenorm {
    /// Flush those of sources and destinations.
    FlushSourceDestination = 0,
    /// Flush those of destinations.
    FlushDestination = 1,
    /// Flush those of sources.
    FlushSource = 2,
    /// Keep them.
    FlushNone = 3,
}

/// More registers than a wave can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{asked} {kind}s were asked for, a wave has at most {limit}: use fewer, or spill")]
pub struct RegisterLimit {
    /// `SGPR` or `VGPR`.
    pub kind: &'static str,
    /// How many were asked for.
    pub asked: u32,
    /// How many there are.
    pub limit: u32,
}

/// The vector registers that a descriptor allots to each wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorRegisters {
    /// VGPRs addressable as `v0`…
    pub vgprs: u32,
    /// AGPRs addressable as `a0`…
    pub agprs: u32,
}

/// Bit position of each register word.
const RSRC3: u32 = 352;
const RSRC1: u32 = 384;
const RSRC2: u32 = 416;
/// Bit position of `INST_PREF_SIZE`.
const PREFETCH: u32 = RSRC3 + 4;
/// Bit position of `KERNEL_CODE_PROPERTIES`.
const PROPERTIES: u32 = 448;
/// Bit position of `KERNARG_PRELOAD`.
const PRELOAD: u32 = 464;

/// Accessors of single bits: getter, setter and bit position.
macro_rules! flags {
    ($($(#[$doc:meta])* $get:ident, $set:ident = $bit:expr;)*) => {$(
        $(#[$doc])*
        pub fn $get(&self) -> bool {
            self.bits($bit, 1) != 0
        }

        #[doc = concat!("Sets [`Self::", stringify!($get), "`].")]
        pub fn $set(&mut self, on: bool) {
            self.set_bits($bit, 1, u32::from(on));
        }
    )*};
}

/// Accessors of whole words: getter, setter and bit position.
macro_rules! words {
    ($($(#[$doc:meta])* $get:ident, $set:ident = $bit:expr;)*) => {$(
        $(#[$doc])*
        pub fn $get(&self) -> u32 {
            self.bits($bit, 32)
        }

        #[doc = concat!("Sets [`Self::", stringify!($get), "`].")]
        pub fn $set(&mut self, value: u32) {
            self.set_bits($bit, 32, value);
        }
    )*};
}

/// Accessors of the two-bit float modes: getter, setter, type and bit position.
macro_rules! modes {
    ($($(#[$doc:meta])* $get:ident, $set:ident, $type:ident = $bit:expr;)*) => {$(
        $(#[$doc])*
        pub fn $get(&self) -> $type {
            $type::from_bits(self.bits($bit, 2))
        }

        #[doc = concat!("Sets [`Self::", stringify!($get), "`].")]
        pub fn $set(&mut self, mode: $type) {
            self.set_bits($bit, 2, mode as u32);
        }
    )*};
}

impl KernelDescriptor {
    words! {
        /// Static LDS, bytes a workgroup (`GROUP_SEGMENT_FIXED_SIZE`).
        group_segment_fixed_size, set_group_segment_fixed_size = 0;
        /// Scratch, bytes a work-item (`PRIVATE_SEGMENT_FIXED_SIZE`).
        private_segment_fixed_size, set_private_segment_fixed_size = 32;
        /// Bytes of the kernarg segment; 0 in code objects of compilers that did not write it.
        kernarg_size, set_kernarg_size = 64;
        /// The word for the hardware register `COMPUTE_PGM_RSRC3` (gfx90a and later).
        compute_pgm_rsrc3, set_compute_pgm_rsrc3 = RSRC3;
        /// The word for the hardware register `COMPUTE_PGM_RSRC1`.
        compute_pgm_rsrc1, set_compute_pgm_rsrc1 = RSRC1;
        /// The word for the hardware register `COMPUTE_PGM_RSRC2`.
        compute_pgm_rsrc2, set_compute_pgm_rsrc2 = RSRC2;
    }

    modes! {
        /// Rounding of 32-bit floats (`FLOAT_ROUND_MODE_32`).
        float_round_mode_32, set_float_round_mode_32, FloatRound = RSRC1 + 12;
        /// Rounding of 16- and 64-bit floats (`FLOAT_ROUND_MODE_16_64`).
        float_round_mode_16_64, set_float_round_mode_16_64, FloatRound = RSRC1 + 14;
        /// Denormals of 32-bit floats (`FLOAT_DENORM_MODE_32`).
        float_denorm_mode_32, set_float_denorm_mode_32, FloatDenorm = RSRC1 + 16;
        /// Denormals of 16- and 64-bit floats (`FLOAT_DENORM_MODE_16_64`).
        float_denorm_mode_16_64, set_float_denorm_mode_16_64, FloatDenorm = RSRC1 + 18;
    }

    flags! {
        /// Clamp turns NaN into zero (`ENABLE_DX10_CLAMP`).
        enable_dx10_clamp, set_enable_dx10_clamp = RSRC1 + 21;
        /// Signalling NaNs are quieted as IEEE 754-2008 says (`ENABLE_IEEE_MODE`).
        enable_ieee_mode, set_enable_ieee_mode = RSRC1 + 23;
        /// Overflow of 16-bit floats clamps to the largest finite value (`FP16_OVFL`).
        fp16_overflow, set_fp16_overflow = RSRC1 + 26;
        /// Scratch is set up; before gfx940 this also passes the wave's scratch offset in a system SGPR
        /// (`ENABLE_PRIVATE_SEGMENT`, formerly `ENABLE_SGPR_PRIVATE_SEGMENT_WAVEFRONT_OFFSET`).
        enable_private_segment, set_enable_private_segment = RSRC2;
        /// The workgroup's id in x is passed in a system SGPR.
        enable_sgpr_workgroup_id_x, set_enable_sgpr_workgroup_id_x = RSRC2 + 7;
        /// The workgroup's id in y is passed in a system SGPR.
        enable_sgpr_workgroup_id_y, set_enable_sgpr_workgroup_id_y = RSRC2 + 8;
        /// The workgroup's id in z is passed in a system SGPR.
        enable_sgpr_workgroup_id_z, set_enable_sgpr_workgroup_id_z = RSRC2 + 9;
        /// The workgroup's information word is passed in a system SGPR.
        enable_sgpr_workgroup_info, set_enable_sgpr_workgroup_info = RSRC2 + 10;
        /// Waves of a workgroup may run on different compute units (`TG_SPLIT`, gfx90a and later).
        tg_split, set_tg_split = RSRC3 + 16;
        /// Waves of a workgroup spread over both compute units of a work-group processor (`WGP_MODE`, GFX10
        /// and later).
        wgp_mode, set_wgp_mode = RSRC1 + 29;
        /// Waves have 32 lanes (`ENABLE_WAVEFRONT_SIZE32`, GFX10 and later).
        enable_wavefront_size32, set_enable_wavefront_size32 = PROPERTIES + 10;
        /// The stack may grow at run time (`USES_DYNAMIC_STACK`, code object version 5 and later).
        uses_dynamic_stack, set_uses_dynamic_stack = PROPERTIES + 11;
    }

    /// Initial rounding and denormal modes of all floats, as the hardware register MODE has them
    /// (`FLOAT_MODE`).
    pub fn float_mode(&self) -> u8 {
        self.bits(RSRC1 + 12, 8) as u8
    }

    /// Exceptions that call the trap handler, as the hardware register MODE has them (`ENABLE_EXCEPTION_*`).
    pub fn exceptions(&self) -> u8 {
        self.bits(RSRC2 + 24, 7) as u8
    }

    /// Byte offset from the descriptor to the kernel's first instruction (`KERNEL_CODE_ENTRY_BYTE_OFFSET`).
    pub fn entry_offset(&self) -> i64 {
        let (low, high) = (self.bits(128, 32), self.bits(160, 32));
        (u64::from(high) << 32 | u64::from(low)) as i64
    }

    /// Sets [`Self::entry_offset`].
    pub fn set_entry_offset(&mut self, offset: i64) {
        self.set_bits(128, 32, offset as u32);
        self.set_bits(160, 32, (offset >> 32) as u32);
    }

    /// Highest dimension whose work-item id is passed in a VGPR: 0 x, 1 y, 2 z (`ENABLE_VGPR_WORKITEM_ID`).
    /// 3 is undefined in the user guide.
    pub fn enable_vgpr_workitem_id(&self) -> u8 {
        self.bits(RSRC2 + 11, 2) as u8
    }

    /// Sets [`Self::enable_vgpr_workitem_id`] to 0, 1 or 2; larger values count as 2.
    pub fn set_enable_vgpr_workitem_id(&mut self, dimension: u8) {
        self.set_bits(RSRC2 + 11, 2, u32::from(dimension.min(2)));
    }

    /// SGPRs that the command processor fills (`USER_SGPR_COUNT`); system SGPRs follow them.
    pub fn user_sgpr_count(&self) -> u8 {
        self.bits(RSRC2 + 1, 5) as u8
    }

    pub(super) fn set_user_sgpr_count(&mut self, count: u8) {
        self.set_bits(RSRC2 + 1, 5, u32::from(count));
    }

    /// The kernarg dwords that are passed in user SGPRs: (first dword of the kernarg segment, how many)
    /// (`KERNARG_PRELOAD`, gfx90a and later).
    pub fn kernarg_preload(&self) -> (u16, u8) {
        (self.bits(PRELOAD + 7, 9) as u16, self.bits(PRELOAD, 7) as u8)
    }

    /// An `ENABLE_SGPR_*` bit of the kernel code properties.
    pub(super) fn property(&self, bit: u32) -> bool {
        self.bits(PROPERTIES + bit, 1) != 0
    }

    pub(super) fn set_property(&mut self, bit: u32, on: bool) {
        self.set_bits(PROPERTIES + bit, 1, u32::from(on));
    }

    /// The size of the waves (`ENABLE_WAVEFRONT_SIZE32`, where a processor has two).
    pub fn wave_size(&self, arch: Arch) -> WaveSize {
        match arch.generation().wave_sizes() {
            [only] => *only,
            _ if self.enable_wavefront_size32() => WaveSize::Wave32,
            _ => WaveSize::Wave64,
        }
    }

    /// SGPRs allotted to a wave, VCC, FLAT_SCRATCH and XNACK_MASK included: a multiple of 16, or all that
    /// there are.
    pub fn sgpr_count(&self, arch: Arch) -> u32 {
        if arch.limits().fixed_sgprs {
            return arch.limits().most_sgprs;
        }
        // GFX9 counts blocks of 8 and allots blocks of 16, and compilers write odd block counts too.
        (self.bits(RSRC1 + 6, 4) / 2 + 1) * 16
    }

    /// Allots at least `count` SGPRs, VCC, FLAT_SCRATCH and XNACK_MASK included.
    ///
    /// # Errors
    /// [`RegisterLimit`] above 112, or what there is.
    pub fn set_sgpr_count(&mut self, arch: Arch, count: u32) -> Result<(), RegisterLimit> {
        let limit = arch.limits().most_sgprs;
        if count > limit {
            return Err(RegisterLimit { kind: "SGPR", asked: count, limit });
        }
        if arch.limits().fixed_sgprs {
            return Ok(());
        }
        self.set_bits(RSRC1 + 6, 4, 2 * (count.div_ceil(16).max(1) - 1));
        Ok(())
    }

    /// Vector registers allotted to a wave: a multiple of 4, from gfx90a on of 8, in waves of 32 lanes of 8.
    /// On accelerators VGPRs and AGPRs share it.
    pub fn vgpr_count(&self, arch: Arch) -> u32 {
        (self.bits(RSRC1, 6) + 1) * self.vgpr_block(arch)
    }

    /// Allots at least `count` vector registers; from gfx90a on VGPRs and AGPRs together.
    ///
    /// # Errors
    /// [`RegisterLimit`] above 256, from gfx90a on above 512.
    pub fn set_vgpr_count(&mut self, arch: Arch, count: u32) -> Result<(), RegisterLimit> {
        let limits = arch.limits();
        let limit =
            if arch.has(Feature::UnifiedRegisterFile) { limits.vgprs_per_simd } else { limits.most_vgprs };
        if count > limit {
            return Err(RegisterLimit { kind: "VGPR", asked: count, limit });
        }
        self.set_bits(RSRC1, 6, count.div_ceil(self.vgpr_block(arch)).max(1) - 1);
        Ok(())
    }

    /// Where the AGPRs start in the unified register file: a multiple of 4 from 4 to 256. `None` before
    /// gfx90a.
    pub fn accum_offset(&self, arch: Arch) -> Option<u32> {
        arch.has(Feature::UnifiedRegisterFile).then(|| (self.bits(RSRC3, 6) + 1) * 4)
    }

    /// Lets the AGPRs start at least `offset` registers into the unified file. Code that uses AGPRs keeps its
    /// registers only if [`Self::set_vgpr_count`] grows by as much.
    ///
    /// # Errors
    /// [`RegisterLimit`] above 256, and above 0 before gfx90a.
    pub fn set_accum_offset(&mut self, arch: Arch, offset: u32) -> Result<(), RegisterLimit> {
        let limit = if arch.has(Feature::UnifiedRegisterFile) { arch.limits().most_vgprs } else { 0 };
        if offset > limit {
            return Err(RegisterLimit { kind: "VGPR", asked: offset, limit });
        }
        if limit != 0 {
            self.set_bits(RSRC3, 6, offset.div_ceil(4).max(1) - 1);
        }
        Ok(())
    }

    /// Lines of the kernel's code that are fetched before a wave starts (`INST_PREF_SIZE`), and the most that
    /// can be; none where descriptors do not tell.
    fn prefetched_lines(&self, arch: Arch) -> Option<(u32, u32)> {
        let width = arch.limits().prefetch_bits;
        (width > 0).then(|| (self.bits(PREFETCH, width), mask(width)))
    }

    /// If all of the kernel's code, of so many bytes, is fetched before a wave starts, or as much as can be:
    /// has that be so of more.
    pub fn prefetch_as_much(&mut self, arch: Arch, before: u64, after: u64) {
        let Some((lines, most)) = self.prefetched_lines(arch) else { return };
        let all = |bytes: u64| bytes.div_ceil(Limits::CODE_LINE_BYTES).min(most.into()) as u32;
        if lines > 0 && lines >= all(before) {
            self.set_bits(PREFETCH, arch.limits().prefetch_bits, all(after).max(lines));
        }
    }

    /// How the allotted vector registers split into VGPRs and AGPRs.
    pub fn vector_registers(&self, arch: Arch) -> VectorRegisters {
        let total = self.vgpr_count(arch);
        match self.accum_offset(arch) {
            Some(offset) => {
                let vgprs = total.min(offset);
                VectorRegisters { vgprs, agprs: total - vgprs }
            }
            // gfx908 has two files of the same allotted size.
            None => VectorRegisters {
                vgprs: total,
                agprs: if arch.has(Feature::AccumulationVgprs) { total } else { 0 },
            },
        }
    }

    /// Vector registers are counted in blocks of this many (`GRANULATED_WORKITEM_VGPR_COUNT`).
    fn vgpr_block(&self, arch: Arch) -> u32 {
        arch.limits().vgpr_block_for(self.wave_size(arch))
    }

    /// Bits that do not cross a 32-bit word.
    fn bits(&self, bit: u32, width: u32) -> u32 {
        let at = (bit / 32 * 4) as usize;
        let word =
            u32::from_le_bytes([self.bytes[at], self.bytes[at + 1], self.bytes[at + 2], self.bytes[at + 3]]);
        word >> (bit % 32) & mask(width)
    }

    fn set_bits(&mut self, bit: u32, width: u32, value: u32) {
        let at = (bit / 32 * 4) as usize;
        let shift = bit % 32;
        let word = self.bits(bit / 32 * 32, 32) & !(mask(width) << shift) | (value & mask(width)) << shift;
        self.bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
}

const fn mask(width: u32) -> u32 {
    u32::MAX >> (32 - width)
}

impl FloatRound {
    fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            0 => Self::NearEven,
            1 => Self::PlusInfinity,
            2 => Self::MinusInfinity,
            _ => Self::Zero,
        }
    }
}

impl FloatDenorm {
    fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            0 => Self::FlushSourceDestination,
            1 => Self::FlushDestination,
            2 => Self::FlushSource,
            _ => Self::FlushNone,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LLVM's `.amdhsa_inst_pref_size`: bits 9:4 of COMPUTE_PGM_RSRC3 on GFX11, bits 11:4 on GFX12.
    #[test]
    fn code_that_is_fetched_ahead_stays_so_when_it_grows() {
        let grown = |arch, lines: u32, before, after| {
            let mut descriptor = KernelDescriptor { bytes: [0; 64] };
            descriptor.set_compute_pgm_rsrc3(lines << 4);
            descriptor.prefetch_as_much(arch, before, after);
            descriptor.compute_pgm_rsrc3() >> 4
        };
        for (arch, most) in [(Arch::Gfx1100, 63), (Arch::Gfx1201, 255)] {
            assert_eq!(grown(arch, 2, 256, 1000), 8, "{arch}: all of it");
            assert_eq!(grown(arch, 2, 257, 1000), 2, "{arch}: a part is");
            assert_eq!(grown(arch, 0, 256, 1000), 0, "{arch}: nothing is");
            assert_eq!(grown(arch, 3, 256, 300), 3, "{arch}: more than it has");
            assert_eq!(grown(arch, 2, 256, 1 << 20), most, "{arch}: more than can be");
            assert_eq!(grown(arch, most, 1 << 20, 2 << 20), most, "{arch}: as much as can be");
        }
        assert_eq!(grown(Arch::Gfx1030, 2, 256, 1000), 2, "it is no such count there");
    }
}
