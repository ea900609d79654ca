//! Arithmetic of floats in the modes that x86-64 has as well: its MXCSR rounds and flushes subnormals as MODE
//! does.
//!
//! A row is done in one piece of assembly, since MXCSR must be as the compiler knows it wherever the
//! compiler's own code runs.
//!
//! The host flushes what would be too small with an exponent of any size, MODE what is subnormal after
//! rounding. A product just below the smallest normal number may be either's. So where the host says that it
//! has flushed one, the row is done once more without that, and vector code flushes.

use super::{Directed, in_mode as operation};
use crate::fast::mode::FloatMode;

/// MXCSR as Rust has it: exceptions masked, to the nearest number, subnormals kept.
pub(super) const DEFAULT: u32 = 0x1f80;
/// A result was too small.
pub(super) const UNDERFLOW: u32 = 1 << 4;
/// Subnormal sources are zeros.
const ZERO_SOURCES: u32 = 1 << 6;
/// Results that are too small become zeros.
pub(super) const ZERO_RESULTS: u32 = 1 << 15;

/// MXCSR for a mode.
#[inline(always)]
pub(super) fn mxcsr(mode: FloatMode) -> u32 {
    // MXCSR numbers down before up.
    let round = match mode.directed {
        None => 0,
        Some(Directed::Down) => 1,
        Some(Directed::Up) => 2,
        Some(Directed::ToZero) => 3,
    };
    let sources = if mode.flushes_sources { ZERO_SOURCES } else { 0 };
    let results = if mode.flushes_results { ZERO_RESULTS } else { 0 };
    DEFAULT | round << 13 | sources | results
}

/// Whether what the host flushes is what MODE flushes, for sure: sums that are subnormal are exact.
pub(super) const fn is_sure(operation: u8) -> bool {
    matches!(operation, operation::ADD_F32 | operation::SUB_F32 | operation::ADD_F64)
}

/// Whether the host flushes results of it at all; it passes a source on otherwise.
pub(super) const fn is_flushed(operation: u8) -> bool {
    !matches!(operation, operation::MIN_F32 | operation::MAX_F32)
}

/// Defines `host_in_mode` for vectors of a kind.
macro_rules! host_in_mode {
    ($features:literal, $vector:ty, $register:ident, $bytes:literal) => {
        /// An operation of [`operation`] on as many vectors of each source as a wave has; whether results are
        /// still to be flushed.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn host_in_mode<const OPERATION: u8, const VECTORS: usize>(
            mode: FloatMode,
            sources: [*const $vector; 3],
            result: *mut $vector,
        ) -> bool {
            let mxcsr = host_mode::mxcsr(mode);
            let tells = mode.flushes_results && !host_mode::is_sure(OPERATION);
            // SAFETY: the caller's.
            unsafe {
                let after = row_with::<OPERATION, VECTORS>(mxcsr, tells, sources, result);
                if !host_mode::is_flushed(OPERATION) {
                    return mode.flushes_results && !mode.flushes_sources;
                }
                let is_doubtful = tells && after & host_mode::UNDERFLOW != 0;
                if is_doubtful {
                    row_with::<OPERATION, VECTORS>(mxcsr & !host_mode::ZERO_RESULTS, false, sources, result);
                }
                is_doubtful
            }
        }

        /// The row with an MXCSR; if it `tells`, MXCSR behind it.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn row_with<const OPERATION: u8, const VECTORS: usize>(
            mxcsr: u32,
            tells: bool,
            [a, b, c]: [*const $vector; 3],
            result: *mut $vector,
        ) -> u32 {
            let mut registers = [mxcsr, host_mode::DEFAULT];
            macro_rules! each {
                ($lines:literal) => {
                    asm!(
                        "ldmxcsr [{registers}]",
                        ".rept {vectors}",
                        "vmovups {x}, [{a} + {at}]",
                        "/* {b} {c} {y} {z} */",
                        $lines,
                        "vmovups [{result} + {at}], {x}",
                        concat!("add {at}, ", $bytes),
                        ".endr",
                        "test {tells:e}, {tells:e}",
                        "jz 3f",
                        "stmxcsr [{registers}]",
                        "3:",
                        "ldmxcsr [{registers} + 4]",
                        registers = in(reg) registers.as_mut_ptr(),
                        tells = in(reg) u32::from(tells),
                        vectors = const VECTORS,
                        a = in(reg) a,
                        b = in(reg) b,
                        c = in(reg) c,
                        result = in(reg) result,
                        at = inout(reg) 0usize => _,
                        x = out($register) _,
                        y = out($register) _,
                        z = out($register) _,
                        options(nostack),
                    )
                };
            }
            // SAFETY: the loops run over the vectors of the sources, and MXCSR's control bits are in the end
            // as they were.
            unsafe {
                match OPERATION {
                    operation::ADD_F32 => each!("vaddps {x}, {x}, [{b} + {at}]"),
                    operation::SUB_F32 => each!("vsubps {x}, {x}, [{b} + {at}]"),
                    operation::MUL_F32 => each!("vmulps {x}, {x}, [{b} + {at}]"),
                    operation::FMA_F32 => {
                        each!("vmovups {y}, [{b} + {at}]\nvfmadd213ps {x}, {y}, [{c} + {at}]")
                    }
                    operation::MUL_ADD_F32 => {
                        each!("vmulps {x}, {x}, [{b} + {at}]\nvaddps {x}, {x}, [{c} + {at}]")
                    }
                    operation::MIN_F32 => each!(
                        "vmovups {y}, [{b} + {at}]\nvminps {z}, {x}, {y}\nvminps {x}, {y}, {x}\nvorps {x}, {x}, {z}"
                    ),
                    operation::MAX_F32 => each!(
                        "vmovups {y}, [{b} + {at}]\nvmaxps {z}, {x}, {y}\nvmaxps {x}, {y}, {x}\nvandps {x}, {x}, {z}"
                    ),
                    operation::FROM_SIGNED => each!("vcvtdq2ps {x}, {x}"),
                    operation::ADD_F64 => each!("vaddpd {x}, {x}, [{b} + {at}]"),
                    operation::MUL_F64 => each!("vmulpd {x}, {x}, [{b} + {at}]"),
                    _ => each!("vmovups {y}, [{b} + {at}]\nvfmadd213pd {x}, {y}, [{c} + {at}]"),
                }
            }
            registers[0]
        }
    };
}
pub(super) use host_in_mode;
