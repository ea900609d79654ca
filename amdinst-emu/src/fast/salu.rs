//! Scalar arithmetic and branches. Results go to scalar registers, those of EXEC among them.

use super::{Body, Operands, exec_written, mask};
use crate::program::{Context, Hot};
use crate::wave::{EXEC, VCC, Wave};

/// What happens to SCC.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scc {
    /// SCC stays as it is.
    Keeps,
    /// Set if the result is not zero.
    NonZero,
    /// Set by the operation.
    Sets,
}

/// A 32-bit operation: result and, if it sets it, SCC.
pub(super) trait Scalar32 {
    const SCC: Scc;
    fn apply(a: u32, b: u32, scc: bool) -> (u32, bool);
}

/// A 64-bit operation; shift counts are the low half of `b`.
pub(super) trait Scalar64 {
    const SCC: Scc;
    fn apply(a: u64, b: u64, scc: bool) -> u64;
}

macro_rules! operations {
    ($trait:ident, $type:ty, $result:ty; $($scc:ident $name:ident = |$level:ident, $a:ident, $b:ident, $c:ident| $body:expr;)*) => {$(
        pub(super) struct $name;
        impl $trait for $name {
            const SCC: Scc = Scc::$scc;
            #[inline(always)]
            fn apply($a: $type, $b: $type, $c: bool) -> $result {
                $body
            }
        }
    )*};
}

#[inline(always)]
fn wide(value: u64) -> (u32, bool) {
    (value as u32, value >> 32 != 0)
}

#[inline(always)]
fn signed((value, overflow): (i32, bool)) -> (u32, bool) {
    (value as u32, overflow)
}

operations! { Scalar32, u32, (u32, bool);
    Keeps Move = |level, a, _b, _c| (a, false);
    NonZero Not = |level, a, _b, _c| (!a, false);
    Keeps Reverse = |level, a, _b, _c| (a.reverse_bits(), false);
    NonZero CountOnes = |level, a, _b, _c| (a.count_ones(), false);
    Sets AddUnsigned = |level, a, b, _c| a.overflowing_add(b);
    Sets SubUnsigned = |level, a, b, _c| a.overflowing_sub(b);
    Sets AddSigned = |level, a, b, _c| signed((a as i32).overflowing_add(b as i32));
    Sets SubSigned = |level, a, b, _c| signed((a as i32).overflowing_sub(b as i32));
    Sets AddCarry = |level, a, b, c| wide(u64::from(a) + u64::from(b) + u64::from(c));
    Sets SubBorrow = |level, a, b, c| {
        let borrow = u32::from(c);
        (a.wrapping_sub(b).wrapping_sub(borrow), u64::from(b) + u64::from(borrow) > u64::from(a))
    };
    Sets MinSigned = |level, a, b, _c| ((a as i32).min(b as i32) as u32, (a as i32) < b as i32);
    Sets MinUnsigned = |level, a, b, _c| (a.min(b), a < b);
    Sets MaxSigned = |level, a, b, _c| ((a as i32).max(b as i32) as u32, a as i32 > b as i32);
    Sets MaxUnsigned = |level, a, b, _c| (a.max(b), a > b);
    Sets MaxSignedOrEqual = |level, a, b, _c| ((a as i32).max(b as i32) as u32, a as i32 >= b as i32);
    Sets MaxUnsignedOrEqual = |level, a, b, _c| (a.max(b), a >= b);
    Keeps Choose = |level, a, b, c| (if c { a } else { b }, false);
    NonZero And = |level, a, b, _c| (a & b, false);
    NonZero Or = |level, a, b, _c| (a | b, false);
    NonZero Xor = |level, a, b, _c| (a ^ b, false);
    NonZero AndNot = |level, a, b, _c| (a & !b, false);
    NonZero ShiftLeft = |level, a, b, _c| (a << (b & 31), false);
    NonZero ShiftRight = |level, a, b, _c| (a >> (b & 31), false);
    NonZero ShiftRightSigned = |level, a, b, _c| (((a as i32) >> (b & 31)) as u32, false);
    Keeps Multiply = |level, a, b, _c| (a.wrapping_mul(b), false);
    Keeps MultiplyHigh = |level, a, b, _c| (((u64::from(a) * u64::from(b)) >> 32) as u32, false);
    Sets Shift1Add = |level, a, b, _c| wide((u64::from(a) << 1) + u64::from(b));
    Sets Shift2Add = |level, a, b, _c| wide((u64::from(a) << 2) + u64::from(b));
    Sets Shift3Add = |level, a, b, _c| wide((u64::from(a) << 3) + u64::from(b));
    Sets Shift4Add = |level, a, b, _c| wide((u64::from(a) << 4) + u64::from(b));
}

operations! { Scalar64, u64, u64;
    Keeps Move64 = |level, a, _b, _c| a;
    NonZero Not64 = |level, a, _b, _c| !a;
    Keeps Choose64 = |level, a, b, c| if c { a } else { b };
    NonZero And64 = |level, a, b, _c| a & b;
    NonZero Or64 = |level, a, b, _c| a | b;
    NonZero Xor64 = |level, a, b, _c| a ^ b;
    NonZero AndNot64 = |level, a, b, _c| a & !b;
    NonZero OrNot64 = |level, a, b, _c| a | !b;
    NonZero Nand64 = |level, a, b, _c| !(a & b);
    NonZero Nor64 = |level, a, b, _c| !(a | b);
    NonZero Xnor64 = |level, a, b, _c| !(a ^ b);
    NonZero ShiftLeft64 = |level, a, b, _c| a << (b & 63);
    NonZero ShiftRight64 = |level, a, b, _c| a >> (b & 63);
    NonZero ShiftRightSigned64 = |level, a, b, _c| ((a as i64) >> (b & 63)) as u64;
}

/// A scalar pair, or a constant, sign-extended.
#[inline(always)]
fn scalar64(w: &Wave, hot: &Hot, slot: usize) -> u64 {
    let source = hot.src[slot];
    if source.is_constant() { hot.imm[slot] as i32 as i64 as u64 } else { w.s64(source.register()) }
}

/// See [`Scalar32`]; `TO_EXEC` if the result is a half of EXEC.
pub(super) struct Do32<O, const TO_EXEC: bool>(std::marker::PhantomData<O>);

impl<O: Scalar32, const TO_EXEC: bool> Body for Do32<O, TO_EXEC> {
    #[inline(always)]
    fn run<L: super::Level>(_: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let (a, b) = (Operands::of(w).scalar(hot, 0), Operands::of(w).scalar(hot, 1));
        let (value, scc) = O::apply(a, b, w.scc);
        match O::SCC {
            Scc::Keeps => {}
            Scc::NonZero => w.scc = value != 0,
            Scc::Sets => w.scc = scc,
        }
        w.set_s32(hot.sdst as u8, value);
        if TO_EXEC {
            exec_written::<L>(context, hot);
        }
        hot.next
    }
}

/// See [`Scalar64`]; `TO_EXEC` if the result is EXEC.
pub(super) struct Do64<O, const TO_EXEC: bool>(std::marker::PhantomData<O>);

impl<O: Scalar64, const TO_EXEC: bool> Body for Do64<O, TO_EXEC> {
    #[inline(always)]
    fn run<L: super::Level>(_: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let (a, b) = (scalar64(w, hot, 0), scalar64(w, hot, 1));
        let value = O::apply(a, b, w.scc);
        if O::SCC == Scc::NonZero {
            w.scc = value != 0;
        }
        w.set_s64(hot.sdst as u8, value);
        if TO_EXEC {
            exec_written::<L>(context, hot);
        }
        hot.next
    }
}

/// `s_*_saveexec_b64`: EXEC becomes `O` of the source and EXEC; the destination gets the old one.
pub(super) struct SaveExec<O>(std::marker::PhantomData<O>);

impl<O: Scalar64> Body for SaveExec<O> {
    #[inline(always)]
    fn run<L: super::Level>(_: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let (a, old) = (scalar64(w, hot, 0), w.exec);
        let value = O::apply(a, old, false);
        w.scc = value != 0;
        w.set_s64(EXEC, value);
        w.set_s64(hot.sdst as u8, old);
        exec_written::<L>(context, hot);
        hot.next
    }
}

/// `s_*_saveexec_b32` in waves of 32 lanes, as [`SaveExec`].
pub(super) struct SaveExec32<O>(std::marker::PhantomData<O>);

impl<O: Scalar32> Body for SaveExec32<O> {
    #[inline(always)]
    fn run<L: super::Level>(_: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let (a, old) = (Operands::of(w).scalar(hot, 0), w.exec as u32);
        let (value, _) = O::apply(a, old, false);
        w.scc = value != 0;
        w.set_s32(EXEC, value);
        w.set_s32(hot.sdst as u8, old);
        exec_written::<L>(context, hot);
        hot.next
    }
}

/// Comparisons of 32 bits, to SCC; as `CMP` numbers them.
pub(super) struct Compare<const CMP: u8>;

pub(super) mod cmp {
    pub(in crate::fast) const EQ: u8 = 0;
    pub(in crate::fast) const LG: u8 = 1;
    pub(in crate::fast) const GT_SIGNED: u8 = 2;
    pub(in crate::fast) const GE_SIGNED: u8 = 3;
    pub(in crate::fast) const LT_SIGNED: u8 = 4;
    pub(in crate::fast) const LE_SIGNED: u8 = 5;
    pub(in crate::fast) const GT_UNSIGNED: u8 = 6;
    pub(in crate::fast) const GE_UNSIGNED: u8 = 7;
    pub(in crate::fast) const LT_UNSIGNED: u8 = 8;
    pub(in crate::fast) const LE_UNSIGNED: u8 = 9;
    pub(in crate::fast) const BIT_CLEAR: u8 = 10;
    pub(in crate::fast) const BIT_SET: u8 = 11;
}

impl<const CMP: u8> Body for Compare<CMP> {
    #[inline(always)]
    fn run<L: super::Level>(_: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let (a, b) = (Operands::of(w).scalar(hot, 0), Operands::of(w).scalar(hot, 1));
        w.scc = match CMP {
            cmp::EQ => a == b,
            cmp::LG => a != b,
            cmp::GT_SIGNED => a as i32 > b as i32,
            cmp::GE_SIGNED => a as i32 >= b as i32,
            cmp::LT_SIGNED => (a as i32) < b as i32,
            cmp::LE_SIGNED => a as i32 <= b as i32,
            cmp::GT_UNSIGNED => a > b,
            cmp::GE_UNSIGNED => a >= b,
            cmp::LT_UNSIGNED => a < b,
            cmp::LE_UNSIGNED => a <= b,
            cmp::BIT_CLEAR => a >> (b & 31) & 1 == 0,
            _ => a >> (b & 31) & 1 != 0,
        };
        hot.next
    }
}

/// Comparison of 64 bits for equality, to SCC.
pub(super) struct Compare64<const EQUAL: bool>;

impl<const EQUAL: bool> Body for Compare64<EQUAL> {
    #[inline(always)]
    fn run<L: super::Level>(_: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let (a, b) = (scalar64(w, hot, 0), scalar64(w, hot, 1));
        w.scc = (a == b) == EQUAL;
        hot.next
    }
}

/// Nothing: waits for counters, and hints.
pub(super) struct Nothing;

impl Body for Nothing {
    #[inline(always)]
    fn run<L: super::Level>(_: L, _: &mut Context<'_>, hot: &Hot) -> u32 {
        hot.next
    }
}

/// What a [`Branch`] asks.
pub(super) mod condition {
    pub(in crate::fast) const ALWAYS: u8 = 0;
    pub(in crate::fast) const SCC0: u8 = 1;
    pub(in crate::fast) const SCC1: u8 = 2;
    pub(in crate::fast) const VCCZ: u8 = 3;
    pub(in crate::fast) const VCCNZ: u8 = 4;
    pub(in crate::fast) const EXECZ: u8 = 5;
    pub(in crate::fast) const EXECNZ: u8 = 6;
}

/// A branch to a step.
pub(super) struct Branch<const CONDITION: u8>;

impl<const CONDITION: u8> Body for Branch<CONDITION> {
    #[inline(always)]
    fn run<L: super::Level>(_: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &*context.wave;
        let taken = match CONDITION {
            condition::ALWAYS => true,
            condition::SCC0 => !w.scc,
            condition::SCC1 => w.scc,
            condition::VCCZ => mask::<L>(w, VCC) == 0,
            condition::VCCNZ => mask::<L>(w, VCC) != 0,
            condition::EXECZ => w.exec == 0,
            _ => w.exec != 0,
        };
        if taken { hot.target } else { hot.next }
    }
}
