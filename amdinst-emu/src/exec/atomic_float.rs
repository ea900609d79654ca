//! Float atomics (CDNA3 ISA manual, "Float Memory Atomics"): rounding to nearest even, and rules of their own
//! for NaN, zeros and subnormals, which are not those of the vector ALU.
//!
//! The operand in memory is the first one, the instruction's data the second.

use amdgpu_isa::{Arch, AtomicOp, Feature};

use super::half;
use crate::wave::{Half, Wave};

/// What a float atomic does with subnormals and NaNs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FloatRules {
    /// Subnormal operands become zero of their sign.
    pub(super) flush_inputs: bool,
    /// Subnormal results do.
    pub(super) flush_results: bool,
    /// Minima and maxima are IEEE 754-2019's minimumNumber and maximumNumber: every NaN loses against a
    /// number.
    pub(super) numbers: bool,
}

impl FloatRules {
    /// For an atomic on LDS: as MODE says ("Denorm Handling Rules for Memory Ops"), except that additions of
    /// doubles never flush.
    pub(super) fn in_lds(op: AtomicOp, bytes: u8, w: &Wave) -> Self {
        let (mode, numbers) = (w.mode, w.rules.fixed_ieee_mode);
        // FP_DENORM is MODE[7:4]: two bits for single precision, two for half and double.
        let field = match op {
            AtomicOp::FAdd if bytes == 8 => return Self { numbers, ..Self::default() },
            AtomicOp::PkAddF16 | AtomicOp::PkAddBf16 => mode >> 6,
            _ if bytes == 8 => mode >> 6,
            _ => mode >> 4,
        };
        Self { flush_inputs: field & 1 == 0, flush_results: field & 2 == 0, numbers }
    }

    /// For an atomic that the second-level cache executes: single-precision additions flush. From gfx940 on
    /// they keep subnormals: so LLVM's `memory-atomic-fadd-f32-denormal-support` has it, on which compiled
    /// code relies, although the manuals repeat the older rule. Minima, maxima and comparisons keep them, or
    /// go by MODE as those of LDS do.
    pub(super) fn in_memory(op: AtomicOp, bytes: u8, arch: Arch, w: &Wave) -> Self {
        let numbers = w.rules.fixed_ieee_mode;
        if matches!(op, AtomicOp::FMin | AtomicOp::FMax | AtomicOp::FCmpSwap) {
            let by_mode =
                if w.rules.memory_obeys_mode { Self::in_lds(op, bytes, w) } else { Self::default() };
            return Self { numbers, ..by_mode };
        }
        let flush = op == AtomicOp::FAdd && bytes == 4 && !arch.has(Feature::AtomicAddSubnormals);
        Self { flush_inputs: flush, flush_results: flush, numbers }
    }
}

/// A binary format by the widths of its fields.
struct Format {
    fraction: u32,
    sign: u64,
    /// The exponent field, all ones: infinity.
    exponent: u64,
}

impl Format {
    const fn new(bits: u32, fraction: u32) -> Self {
        let sign = 1 << (bits - 1);
        Self { fraction, sign, exponent: sign - (1 << fraction) }
    }

    fn quiet_bit(&self) -> u64 {
        1 << (self.fraction - 1)
    }

    fn magnitude(&self, value: u64) -> u64 {
        value & (self.sign - 1)
    }

    fn is_nan(&self, value: u64) -> bool {
        self.magnitude(value) > self.exponent
    }

    fn is_signalling(&self, value: u64) -> bool {
        self.is_nan(value) && value & self.quiet_bit() == 0
    }

    fn quiet(&self, value: u64) -> u64 {
        value | self.quiet_bit()
    }

    fn flushed(&self, value: u64, flush: bool) -> u64 {
        let subnormal = value & self.exponent == 0;
        if flush && subnormal { value & self.sign } else { value }
    }

    /// A number's place in the order -inf, ..., -0, +0, ..., +inf.
    fn rank(&self, value: u64) -> i64 {
        let magnitude = self.magnitude(value) as i64;
        if value & self.sign != 0 { -1 - magnitude } else { magnitude }
    }

    /// "FP Min Selection Rules" and "FP Max Selection Rules": quiet NaNs lose against every number. Or the
    /// "MINNUM" and "MAXNUM" ones of RDNA4's ISA, section 13.3, whose operands are flushed and not only
    /// compared so.
    fn select(&self, old: u64, data: u64, largest: bool, rules: FloatRules) -> u64 {
        let flush = rules.numbers && rules.flush_inputs;
        let (old, data) = (self.flushed(old, flush), self.flushed(data, flush));
        if rules.numbers && self.is_nan(old) && self.is_nan(data) {
            return self.quiet(old);
        }
        if !rules.numbers && self.is_signalling(old) {
            return self.quiet(old);
        }
        if !rules.numbers && self.is_signalling(data) {
            return self.quiet(data);
        }
        let take = match (self.is_nan(old), self.is_nan(data)) {
            (_, true) => false,
            (true, false) => true,
            (false, false) => {
                // Only the comparison sees flushed values.
                let rank = |value| self.rank(self.flushed(value, rules.flush_inputs));
                if largest { rank(data) > rank(old) } else { rank(data) < rank(old) }
            }
        };
        if take { data } else { old }
    }

    /// "FP Compare Swap": zeros of both signs are equal, NaN equals nothing.
    fn swap_if_equal(&self, old: u64, compare: u64, new: u64, rules: FloatRules) -> u64 {
        let flush = rules.flush_inputs;
        let (a, b) = (self.flushed(old, flush), self.flushed(compare, flush));
        let zeros = self.magnitude(a) == 0 && self.magnitude(b) == 0;
        let equal = !self.is_nan(a) && !self.is_nan(b) && (a == b || zeros);
        // "CompareStore flushes the result when input denormal flushing occurs."
        self.flushed(if equal { new } else { old }, flush)
    }

    /// "Float Add rules", around an addition of numbers.
    fn add(&self, old: u64, data: u64, rules: FloatRules, sum: impl Fn(u64, u64) -> u64) -> u64 {
        if self.is_nan(old) {
            return self.quiet(old);
        }
        if self.is_nan(data) {
            return self.quiet(data);
        }
        let flush = rules.flush_inputs;
        let result = sum(self.flushed(old, flush), self.flushed(data, flush));
        if self.is_nan(result) {
            // Infinities of opposite signs.
            return self.exponent | self.quiet_bit();
        }
        self.flushed(result, rules.flush_results)
    }
}

const HALF: Format = Format::new(16, 10);
const BRAIN: Format = Format::new(16, 7);
const SINGLE: Format = Format::new(32, 23);
const DOUBLE: Format = Format::new(64, 52);

fn format_of(bytes: u8) -> Format {
    if bytes == 8 { DOUBLE } else { SINGLE }
}

/// memory + data.
pub(super) fn add(bytes: u8, old: u64, data: u64, rules: FloatRules) -> u64 {
    if bytes == 8 {
        DOUBLE.add(old, data, rules, |a, b| (f64::from_bits(a) + f64::from_bits(b)).to_bits())
    } else {
        let single = |bits: u64| f32::from_bits(bits as u32);
        SINGLE.add(old, data, rules, |a, b| u64::from((single(a) + single(b)).to_bits()))
    }
}

/// The smaller of memory and data.
pub(super) fn min(bytes: u8, old: u64, data: u64, rules: FloatRules) -> u64 {
    format_of(bytes).select(old, data, false, rules)
}

/// The larger of memory and data.
pub(super) fn max(bytes: u8, old: u64, data: u64, rules: FloatRules) -> u64 {
    format_of(bytes).select(old, data, true, rules)
}

/// `new` if memory equals `compare` as a number, else memory.
pub(super) fn swap_if_equal(bytes: u8, old: u64, compare: u64, new: u64, rules: FloatRules) -> u64 {
    format_of(bytes).swap_if_equal(old, compare, new, rules)
}

/// Two halves added, each by itself. The sum of two halves in single precision, rounded once more, is the sum
/// rounded once: single precision has more than twice a half's digits.
pub(super) fn packed_add_f16(old: u64, data: u64, rules: FloatRules) -> u64 {
    packed(old, data, |a, b| {
        HALF.add(a, b, rules, |a, b| {
            let sum = half::value(Half(a as u16)) + half::value(Half(b as u16));
            u64::from(half::from_f64(f64::from(sum), 0).0)
        })
    })
}

/// Two brain floats added, each by itself; rounded once by the same argument.
pub(super) fn packed_add_bf16(old: u64, data: u64, rules: FloatRules) -> u64 {
    packed(old, data, |a, b| {
        BRAIN.add(a, b, rules, |a, b| u64::from(half::to_bf16(half::bf16(a as u16) + half::bf16(b as u16))))
    })
}

fn packed(old: u64, data: u64, f: impl Fn(u64, u64) -> u64) -> u64 {
    f(old & 0xffff, data & 0xffff) | f(old >> 16 & 0xffff, data >> 16 & 0xffff) << 16
}
