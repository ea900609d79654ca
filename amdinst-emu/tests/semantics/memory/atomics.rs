//! Atomics, in LDS, in device memory by every kind of address, and scalar ones.
//!
//! Float rules: CDNA3 ISA, RDNA3 ISA and RDNA4 ISA, "Float Memory Atomics".

use amdgpu_isa::{Arch, Feature, Generation, Target};
use amdinst_emu::WaveState;

use super::buffers::{resource, structured};
use super::{Bench, Random, active, exists, number, whole};
use crate::coverage::is_recording;
use crate::targets::{TARGETS, is_gfx12};

/// What a value is made of.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Integer,
    F32,
    F64,
    F16x2,
    Bf16x2,
}

/// One operation: DS's name (with its type), the name after `global_atomic_`, bytes, and the new value from
/// old, data and second data.
struct Case {
    ds: &'static str,
    memory: &'static str,
    bytes: usize,
    kind: Kind,
    new: fn(&Values) -> u64,
}

/// What an operation sees. Values are as wide as the operation.
struct Values {
    old: u64,
    data: u64,
    second: u64,
    bits: u32,
    flush: Flush,
}

/// What becomes of subnormals and NaNs.
#[derive(Clone, Copy, Default)]
struct Flush {
    inputs: bool,
    results: bool,
    /// Minima and maxima are minimumNumber and maximumNumber, of operands that have been flushed.
    numbers: bool,
}

impl Values {
    fn modulus(&self) -> u128 {
        1 << self.bits
    }

    fn signed(&self, value: u64) -> i128 {
        let value = i128::from(value);
        if value >= 1 << (self.bits - 1) { value - self.modulus() as i128 } else { value }
    }

    fn wrapped(&self, value: i128) -> u64 {
        value.rem_euclid(self.modulus() as i128) as u64
    }
}

macro_rules! case {
    ($ds:literal, $memory:literal, $bytes:literal, $kind:ident, $v:ident => $new:expr) => {
        Case { ds: $ds, memory: $memory, bytes: $bytes, kind: Kind::$kind, new: |$v: &Values| $new }
    };
}

macro_rules! both_widths {
    ($($ds32:literal $ds64:literal, $memory:literal $memory64:literal, $v:ident => $new:expr;)*) => {
        vec![$(
            case!($ds32, $memory, 4, Integer, $v => $new),
            case!($ds64, $memory64, 8, Integer, $v => $new),
        )*]
    };
}

fn cases() -> Vec<Case> {
    let mut cases = both_widths! {
        "add_u32" "add_u64", "add" "add_x2", v => v.wrapped(i128::from(v.old) + i128::from(v.data));
        "sub_u32" "sub_u64", "sub" "sub_x2", v => v.wrapped(i128::from(v.old) - i128::from(v.data));
        "rsub_u32" "rsub_u64", "" "", v => v.wrapped(i128::from(v.data) - i128::from(v.old));
        "inc_u32" "inc_u64", "inc" "inc_x2", v => if v.old < v.data { v.old + 1 } else { 0 };
        "dec_u32" "dec_u64", "dec" "dec_x2", v => match v.old {
            0 => v.data,
            old if old > v.data => v.data,
            old => old - 1,
        };
        "min_i32" "min_i64", "smin" "smin_x2", v => v.wrapped(v.signed(v.old).min(v.signed(v.data)));
        "max_i32" "max_i64", "smax" "smax_x2", v => v.wrapped(v.signed(v.old).max(v.signed(v.data)));
        "min_u32" "min_u64", "umin" "umin_x2", v => if v.data < v.old { v.data } else { v.old };
        "max_u32" "max_u64", "umax" "umax_x2", v => if v.data > v.old { v.data } else { v.old };
        "and_b32" "and_b64", "and" "and_x2", v => v.old & v.data;
        "or_b32" "or_b64", "or" "or_x2", v => v.old | v.data;
        "xor_b32" "xor_b64", "xor" "xor_x2", v => v.old ^ v.data;
        "mskor_b32" "mskor_b64", "" "", v => (v.old & !v.data) | v.second;
        "cmpst_b32" "cmpst_b64", "cmpswap" "cmpswap_x2", v => if v.old == v.data { v.second } else { v.old };
        "wrxchg_rtn_b32" "wrxchg_rtn_b64", "swap" "swap_x2", v => v.data;
    };
    cases.extend([
        case!("wrap_rtn_b32", "", 4, Integer, v => {
            if v.old >= v.data { v.old - v.data } else { v.wrapped(i128::from(v.old) + i128::from(v.second)) }
        }),
        case!("condxchg32_rtn_b64", "", 8, Integer, v => {
            let part = |old: u64, data: u64| if data & 0x8000_0000 != 0 { data & 0x7fff_ffff } else { old };
            part(v.old & 0xffff_ffff, v.data & 0xffff_ffff) | part(v.old >> 32, v.data >> 32) << 32
        }),
        case!("sub_clamp_u32", "csub", 4, Integer, v => v.old.saturating_sub(v.data)),
        case!("cond_sub_u32", "cond_sub_u32", 4, Integer, v => if v.old >= v.data { v.old - v.data } else { v.old }),
        case!("add_f32", "add_f32", 4, F32, v => float_add(&SINGLE, v, v.old, v.data)),
        case!("min_f32", "min_f32", 4, F32, v => float_select(&SINGLE, v, false)),
        case!("max_f32", "max_f32", 4, F32, v => float_select(&SINGLE, v, true)),
        case!("cmpst_f32", "cmpswap_f32", 4, F32, v => float_compare(&SINGLE, v)),
        case!("add_f64", "add_f64", 8, F64, v => float_add(&DOUBLE, v, v.old, v.data)),
        case!("min_f64", "min_f64", 8, F64, v => float_select(&DOUBLE, v, false)),
        case!("max_f64", "max_f64", 8, F64, v => float_select(&DOUBLE, v, true)),
        case!("cmpst_f64", "cmpswap_f64", 8, F64, v => float_compare(&DOUBLE, v)),
        case!("pk_add_f16", "pk_add_f16", 4, F16x2, v => halves(v, &HALF)),
        case!("pk_add_bf16", "pk_add_bf16", 4, Bf16x2, v => halves(v, &BRAIN)),
    ]);
    cases
}

/// A float format, read with the arithmetic of `f64`.
struct Float {
    fraction: i32,
    exponent: i32,
}

const SINGLE: Float = Float { fraction: 23, exponent: 8 };
const DOUBLE: Float = Float { fraction: 52, exponent: 11 };
const HALF: Float = Float { fraction: 10, exponent: 5 };
const BRAIN: Float = Float { fraction: 7, exponent: 8 };

/// A class of values.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Class {
    Quiet,
    Signalling,
    Infinite,
    Subnormal,
    Other,
}

impl Float {
    fn bias(&self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    fn fields(&self, bits: u64) -> (bool, u64, u64) {
        let exponent = bits >> self.fraction & ((1 << self.exponent) - 1);
        (bits >> (self.fraction + self.exponent) & 1 == 1, exponent, bits & ((1 << self.fraction) - 1))
    }

    fn class(&self, bits: u64) -> Class {
        let (_, exponent, fraction) = self.fields(bits);
        let quiet = fraction >> (self.fraction - 1) == 1;
        match (exponent, fraction) {
            (0, 0) => Class::Other,
            (0, _) => Class::Subnormal,
            (all, 0) if all + 1 == 1 << self.exponent => Class::Infinite,
            (all, _) if all + 1 == 1 << self.exponent => {
                if quiet {
                    Class::Quiet
                } else {
                    Class::Signalling
                }
            }
            _ => Class::Other,
        }
    }

    fn is_nan(&self, bits: u64) -> bool {
        matches!(self.class(bits), Class::Quiet | Class::Signalling)
    }

    fn quieted(&self, bits: u64) -> u64 {
        bits | 1 << (self.fraction - 1)
    }

    fn flushed(&self, bits: u64) -> u64 {
        let (sign, ..) = self.fields(bits);
        if self.class(bits) == Class::Subnormal {
            u64::from(sign) << (self.fraction + self.exponent)
        } else {
            bits
        }
    }

    /// The number as a double: exact.
    fn value(&self, bits: u64) -> f64 {
        if self.fraction == 52 {
            return f64::from_bits(bits);
        }
        let (sign, exponent, fraction) = self.fields(bits);
        let unit = 2f64.powi(exponent.max(1) as i32 - self.bias() - self.fraction);
        let magnitude = match self.class(bits) {
            Class::Infinite => f64::INFINITY,
            _ => (fraction + if exponent > 0 { 1 << self.fraction } else { 0 }) as f64 * unit,
        };
        if sign { -magnitude } else { magnitude }
    }

    /// The nearest value, ties to the even one; the sum of two values of up to 32 bits has lost nothing that
    /// matters in a double, which has more than twice their digits.
    fn rounded(&self, value: f64) -> u64 {
        if self.fraction == 52 {
            return value.to_bits();
        }
        let sign = u64::from(value.is_sign_negative()) << (self.fraction + self.exponent);
        let infinity = ((1u64 << self.exponent) - 1) << self.fraction;
        let magnitude = value.abs();
        // By bisection: the largest code whose value is not above.
        let (mut low, mut high) = (0u64, infinity);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if self.value(middle) <= magnitude { low = middle } else { high = middle }
        }
        if magnitude.is_infinite() {
            return sign | infinity;
        }
        // One step beyond the largest number stands for infinity in rounding.
        let above = if high == infinity { 2f64.powi(self.bias() + 1) } else { self.value(high) };
        let (down, up) = (magnitude - self.value(low), above - magnitude);
        let code = if down < up || down == up && low % 2 == 0 { low } else { high };
        sign | code
    }
}

fn float_add(float: &Float, v: &Values, old: u64, data: u64) -> u64 {
    for operand in [old, data] {
        if float.is_nan(operand) {
            return float.quieted(operand);
        }
    }
    let operand = |bits| if v.flush.inputs { float.flushed(bits) } else { bits };
    let sum = float.value(operand(old)) + float.value(operand(data));
    if sum.is_nan() {
        // "-INF + INF = QNAN (mantissa is all zeros except MSB)"
        return ((1 << (float.exponent + 1)) - 1) << (float.fraction - 1);
    }
    let result = float.rounded(sum);
    if v.flush.results { float.flushed(result) } else { result }
}

fn float_select(float: &Float, v: &Values, largest: bool) -> u64 {
    if v.flush.numbers {
        return number_select(float, v, largest);
    }
    for operand in [v.old, v.data] {
        if float.class(operand) == Class::Signalling {
            return float.quieted(operand);
        }
    }
    // "-inf, -float, -denorm, -0, +0, +denorm, +float, +inf", quiet NaN below all for max, above all for min.
    let order = |bits: u64| {
        let bits = if v.flush.inputs { float.flushed(bits) } else { bits };
        if float.is_nan(bits) {
            return (if largest { f64::NEG_INFINITY } else { f64::INFINITY }, if largest { -2 } else { 2 });
        }
        let value = float.value(bits);
        (
            value,
            if value != 0.0 {
                0
            } else if value.is_sign_negative() {
                -1
            } else {
                1
            },
        )
    };
    let (old, data) = (order(v.old), order(v.data));
    let take = if largest { data > old } else { data < old };
    if take { v.data } else { v.old }
}

/// MINNUM and MAXNUM (RDNA4 ISA, section 13.3): a NaN of either kind only comes of two NaNs, the first of
/// which it is.
fn number_select(float: &Float, v: &Values, largest: bool) -> u64 {
    let [old, data] = [v.old, v.data].map(|bits| if v.flush.inputs { float.flushed(bits) } else { bits });
    match (float.is_nan(old), float.is_nan(data)) {
        (true, true) => return float.quieted(old),
        (true, false) => return data,
        (false, true) => return old,
        (false, false) => {}
    }
    // "-0 < +0".
    let order = |bits: u64| (float.value(bits), i32::from(!float.value(bits).is_sign_negative()));
    let take = if largest { order(data) > order(old) } else { order(data) < order(old) };
    if take { data } else { old }
}

fn float_compare(float: &Float, v: &Values) -> u64 {
    let operand = |bits| if v.flush.inputs { float.flushed(bits) } else { bits };
    let nan = float.is_nan(v.old) || float.is_nan(v.data);
    let equal = !nan && float.value(operand(v.old)) == float.value(operand(v.data));
    let result = if equal { v.second } else { v.old };
    operand(result)
}

fn halves(v: &Values, float: &Float) -> u64 {
    let part = |shift: u32| float_add(float, v, v.old >> shift & 0xffff, v.data >> shift & 0xffff) << shift;
    part(0) | part(16)
}

/// Numbers with a likelihood of being special.
fn value(random: &mut Random, kind: Kind, bits: u32) -> u64 {
    let special: &[u64] = match kind {
        Kind::Integer => &[0, 1, 2, 5, u64::MAX, 1 << 31, 1 << 63, (1 << 31) - 1, 0x8000_0000_8000_0001],
        Kind::F32 => &[
            0,
            1 << 31,
            1,
            0x8000_0001,
            0x7f_ffff,
            0x80_0000,
            0x8080_0000,
            0x80_0001,
            0x3f80_0000,
            0xbf80_0000,
            0x7f7f_ffff,
            0xff7f_ffff,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_1234,
            0xffc0_0000,
            0x7f80_0001,
            0xffa5_5555,
        ],
        Kind::F64 => &[
            0,
            1 << 63,
            1,
            (1 << 63) + 1,
            0x000f_ffff_ffff_ffff,
            0x0010_0000_0000_0000,
            0x0010_0000_0000_0001,
            0x3ff0_0000_0000_0000,
            0xbff0_0000_0000_0000,
            0x7fef_ffff_ffff_ffff,
            0x7ff0_0000_0000_0000,
            0xfff0_0000_0000_0000,
            0x7ff8_0000_0000_1234,
            0x7ff0_0000_0000_0001,
            0xfff4_0000_0000_0000,
        ],
        Kind::F16x2 => &[
            0x8000_0000,
            0x3c00_bc00,
            0x7bff_fbff,
            0x7c00_fc00,
            0xfc00_7c00,
            0x7e01_7c01,
            0x0001_8001,
            0x03ff_0400,
            0x0400_8401,
        ],
        Kind::Bf16x2 => &[
            0x8000_0000,
            0x3f80_bf80,
            0x7f7f_ff7f,
            0x7f80_ff80,
            0xff80_7f80,
            0x7fc1_7f81,
            0x0001_8001,
            0x007f_0080,
            0x0080_8081,
        ],
    };
    let value = match random.below(3) {
        0 => random.next(),
        _ => special[random.below(special.len() as u64) as usize],
    };
    if bits == 64 { value } else { value & 0xffff_ffff }
}

/// Lanes' operands: places of their own, in an order that is not the lanes'.
struct Operands {
    state: WaveState,
    memory: Vec<u8>,
    places: [usize; 64],
    data: Vec<u64>,
    second: Vec<u64>,
}

impl Operands {
    fn new(random: &mut Random, case: &Case, target: Target) -> Self {
        let bits = 8 * case.bytes as u32;
        let mut values = || (0..64).map(|_| value(random, case.kind, bits)).collect::<Vec<u64>>();
        let (old, data, second) = (values(), values(), values());
        let mut state = WaveState { exec: random.exec(target), ..WaveState::default() };
        let places: [usize; 64] = std::array::from_fn(|lane| (lane * 37 % 64) * case.bytes);
        let mut memory = vec![0xee; 64 * 8];
        let mut data = data;
        for lane in 0..64 {
            // Comparisons that hold, now and then.
            if random.below(3) == 0 {
                data[lane] = old[lane];
            }
            memory[places[lane]..places[lane] + case.bytes]
                .copy_from_slice(&old[lane].to_le_bytes()[..case.bytes]);
        }
        for register in 0..16 {
            state.set_vgpr(register, random.register());
        }
        Self { state, memory, places, data, second }
    }

    /// The operands of an atomic on memory, from v4 on: the new value comes first, then what to compare with.
    fn put_for_memory(&mut self, bytes: usize, compares: bool) {
        let (data, second) = (self.data.clone(), self.second.clone());
        if compares {
            self.put(4, bytes, &second);
            self.put(4 + bytes / 4, bytes, &data);
        } else {
            self.put(4, bytes, &data);
        }
    }

    fn put(&mut self, register: usize, bytes: usize, values: &[u64]) {
        let values: [u64; 64] = std::array::from_fn(|lane| values[lane]);
        if bytes == 8 {
            self.state.set_vgpr_pair(register, values);
        } else {
            self.state.set_vgpr(register, values.map(|value| value as u32));
        }
    }

    /// Memory and the state afterwards, with the old values in v10 or v[10:11].
    fn expected(&self, case: &Case, returns: bool, flush: Flush) -> (Vec<u8>, WaveState) {
        let (mut memory, mut state) = (self.memory.clone(), self.state.clone());
        for lane in active(self.state.exec) {
            let at = self.places[lane];
            let old = number(&memory[at..at + case.bytes]);
            let values = Values {
                old,
                data: self.data[lane],
                second: self.second[lane],
                bits: 8 * case.bytes as u32,
                flush,
            };
            memory[at..at + case.bytes].copy_from_slice(&(case.new)(&values).to_le_bytes()[..case.bytes]);
            if returns {
                state.vgprs[10][lane] = old as u32;
                if case.bytes == 8 {
                    state.vgprs[11][lane] = (old >> 32) as u32;
                }
            }
        }
        (memory, state)
    }
}

fn register(first: usize, bytes: usize) -> String {
    if bytes == 4 { format!("v{first}") } else { format!("v[{first}:{}]", first + bytes / 4 - 1) }
}

/// What LDS does with subnormals under MODE.FP_DENORM.
fn flush_in_lds(case: &Case, mode: u32, target: Target) -> Flush {
    let field = match case.kind {
        Kind::F64 if case.ds == "add_f64" => 3,
        Kind::F32 => mode >> 4 & 3,
        _ => mode >> 6 & 3,
    };
    Flush { inputs: field & 1 == 0, results: field & 2 == 0, numbers: is_gfx12(target) }
}

#[test]
pub(crate) fn in_lds() {
    let mut random = Random(20);
    let mut covered = 0;
    for case in cases() {
        for target in TARGETS {
            // FP_DENORM takes every value of its two halves.
            let rounds = match case.kind {
                _ if is_recording() => 1,
                Kind::Integer => 3,
                _ => 6,
            };
            for round in 0..rounds {
                let names = match case.ds.split_once("_rtn_") {
                    Some(_) => vec![(format!("ds_{}", case.ds), true)],
                    None => {
                        let (name, ty) = case.ds.rsplit_once('_').expect("a type");
                        vec![(format!("ds_{name}_rtn_{ty}"), true), (format!("ds_{}", case.ds), false)]
                    }
                };
                for (name, returns) in names {
                    let two = ["mskor", "cmpst", "wrap"].iter().any(|start| case.ds.starts_with(start));
                    let mut text = format!("{name} ");
                    if returns {
                        text += &format!("{}, ", register(10, case.bytes));
                    }
                    text += &format!("v0, {}", register(4, case.bytes));
                    if two {
                        text += &format!(", {}", register(6, case.bytes));
                    }
                    text += " offset:16";
                    if !exists(target, &text) {
                        continue;
                    }
                    covered += 1;
                    let mut operands = Operands::new(&mut random, &case, target);
                    operands.state.mode = WaveState::KERNEL_MODE & !0xf0 | (round * 5 % 16) << 4;
                    let places = operands.places;
                    operands.state.set_vgpr(0, places.map(|place| place as u32 + 8));
                    let (data, second) = (operands.data.clone(), operands.second.clone());
                    operands.put(4, case.bytes, &data);
                    if two {
                        operands.put(6, case.bytes, &second);
                    }
                    let around = |memory: &[u8]| [&[7; 24], memory, &[9; 8]].concat();
                    operands.state.lds = around(&operands.memory);
                    let after = Bench::new(target, &[0]).good(&text, &operands.state);
                    let (memory, mut expected) =
                        operands.expected(&case, returns, flush_in_lds(&case, operands.state.mode, target));
                    expected.lds = around(&memory);
                    compare(&format!("{target:?} {text}"), &operands, &after, &expected);
                }
            }
        }
    }
    assert!(covered > 1500 || is_recording(), "{covered}");
}

fn compare(what: &str, operands: &Operands, after: &WaveState, expected: &WaveState) {
    if after == expected {
        return;
    }
    for lane in 0..64 {
        let at = operands.places[lane] + 24;
        let part = |state: &WaveState| state.lds.get(at..at + 8).map(number);
        assert_eq!(
            (part(after), after.vgpr(10)[lane]),
            (part(expected), expected.vgpr(10)[lane]),
            "{what}: lane {lane}, old {:x?}, data {:#x}, second {:#x}",
            operands.memory.get(operands.places[lane]..operands.places[lane] + 8).map(number),
            operands.data[lane],
            operands.second[lane]
        );
    }
    assert_eq!(after, expected, "{what}");
}

/// What the cache that executes atomics on device memory does with subnormals.
///
/// Of RDNA 3, LLVM has it that additions keep them (`memory-atomic-fadd-f32-denormal-support`), and its
/// manual's section 13.2 that minima, maxima and comparisons go by MODE.
fn flush_in_memory(case: &Case, mode: u32, target: Target) -> Flush {
    let field = if case.kind == Kind::F64 { mode >> 6 } else { mode >> 4 };
    let by_mode = field & 1 == 0;
    let adds = case.memory.starts_with("add");
    let (inputs, results) = match (target.arch, target.arch.generation()) {
        (Arch::Gfx942 | Arch::Gfx950, _) | (_, Generation::Gfx12) => (false, false),
        (_, Generation::Gfx9) => (case.kind == Kind::F32, case.kind == Kind::F32),
        _ => (!adds && by_mode, false),
    };
    Flush { inputs, results, numbers: is_gfx12(target) }
}

#[test]
pub(crate) fn in_device_memory() {
    let mut random = Random(21);
    let mut covered = 0;
    for case in cases().into_iter().filter(|case| !case.memory.is_empty()) {
        for target in TARGETS {
            for way in ["global", "global saddr", "flat", "buffer", "buffer idxen"] {
                for returns in [true, false] {
                    let compares = case.memory.starts_with("cmpswap");
                    // The new value comes first, then what to compare with; the result of a buffer atomic
                    // goes there too.
                    let data = register(4, if compares { 2 * case.bytes } else { case.bytes });
                    let result =
                        if returns { format!("{}, ", register(10, case.bytes)) } else { String::new() };
                    let glc = if returns { " glc" } else { "" };
                    let name = case.memory;
                    let has_offset = way != "flat" || target.arch.has(Feature::FlatOffsets);
                    let offset = if has_offset { 16 } else { 0 };
                    let text = match way {
                        "global" => {
                            format!("global_atomic_{name} {result}v[0:1], {data}, off offset:16{glc}")
                        }
                        "global saddr" => {
                            format!("global_atomic_{name} {result}v2, {data}, s[2:3] offset:-16{glc}")
                        }
                        "flat" => format!("flat_atomic_{name} {result}v[0:1], {data} offset:{offset}{glc}"),
                        "buffer" => {
                            format!("buffer_atomic_{name} {data}, v2, s[4:7], s8 offen offset:16{glc}")
                        }
                        _ => format!("buffer_atomic_{name} {data}, v3, s[12:15], 0 idxen offset:16{glc}"),
                    };
                    if !exists(target, &text) {
                        continue;
                    }
                    covered += 1;
                    let mut operands = Operands::new(&mut random, &case, target);
                    let mut bench = Bench::new(target, &[&[7; 16], &operands.memory[..], &[9; 16]].concat());
                    let (buffer, places) = (bench.buffer, operands.places);
                    operands.state.mode = WaveState::KERNEL_MODE & !0xf0 | (random.below(16) as u32) << 4;
                    operands.state.set_vgpr_pair(0, places.map(|place| buffer + place as u64 + 16 - offset));
                    let start = if way == "global saddr" { 32 } else { 0 };
                    operands.state.set_vgpr(2, places.map(|place| (place + start) as u32));
                    operands.state.set_vgpr(3, places.map(|place| (place / case.bytes) as u32));
                    operands.state.set_sgpr_pair(2, buffer);
                    // Raw, with 24 bytes of SOFFSET taken from its base; and structured.
                    operands.state.set_sgpr_pair(4, buffer - 24);
                    operands.state.set_sgpr_pair(6, resource(target, 0x400));
                    operands.state.sgprs[8] = 24;
                    operands.state.set_sgpr_pair(12, buffer | (case.bytes as u64) << 48);
                    operands.state.set_sgpr_pair(14, structured(target, 0x40));
                    operands.put_for_memory(case.bytes, compares);
                    let after = bench.good(&text, &operands.state);
                    let (memory, mut expected) = operands.expected(
                        &case,
                        returns,
                        flush_in_memory(&case, operands.state.mode, target),
                    );
                    if way.starts_with("buffer") && returns {
                        // The result is where the data were.
                        let old = [expected.vgpr(10), expected.vgpr(11)];
                        for (index, old) in old.iter().take(case.bytes / 4).enumerate() {
                            for lane in active(expected.exec) {
                                expected.vgprs[4 + index][lane] = old[lane];
                            }
                        }
                        expected.vgprs[10] = operands.state.vgpr(10);
                        expected.vgprs[11] = operands.state.vgpr(11);
                    }
                    let contents = bench.contents();
                    assert_eq!(contents[16..528], memory, "{target:?} {text}");
                    assert_eq!(
                        (&contents[..16], &contents[528..]),
                        (&[7; 16][..], &[9; 16][..]),
                        "{target:?} {text}"
                    );
                    assert_eq!(after, expected, "{target:?} {text}");
                }
            }
        }
    }
    assert!(covered > 1200, "{covered}");
}

/// By flat addresses in the shared aperture. Floats are those of DS, but on RDNA 4, which keeps subnormals
/// there whatever MODE says (RDNA4 ISA, section 13.2).
#[test]
pub(crate) fn in_lds_by_flat_addresses() {
    let mut random = Random(24);
    let mut covered = 0;
    for case in cases().into_iter().filter(|case| !case.memory.is_empty()) {
        for target in TARGETS {
            let compares = case.memory.starts_with("cmpswap");
            let data = register(4, if compares { 2 * case.bytes } else { case.bytes });
            let result = register(10, case.bytes);
            let atomic = format!("flat_atomic_{} {result}, v[0:1], {data} offset:16 glc", case.memory);
            if !exists(target, &atomic) {
                continue;
            }
            covered += 1;
            let text = format!("s_mov_b64 s[0:1], src_shared_base\nv_mov_b32 v1, s1\n{atomic}");
            let mut operands = Operands::new(&mut random, &case, target);
            let mode = WaveState::KERNEL_MODE & !0xf0 | (random.below(16) as u32) << 4;
            operands.state.mode = mode;
            operands.state.set_vgpr(0, operands.places.map(|place| place as u32));
            operands.put_for_memory(case.bytes, compares);
            let around = |memory: &[u8]| [&[7; 16], memory].concat();
            operands.state.lds = around(&operands.memory);
            let after = Bench::new(target, &[0]).good(&text, &operands.state);
            let by_mode = flush_in_lds(&case, mode, target);
            let keeps = Flush { inputs: false, results: false, ..by_mode };
            let (memory, mut expected) =
                operands.expected(&case, true, if is_gfx12(target) { keeps } else { by_mode });
            expected.lds = around(&memory);
            expected.vgprs[1] = after.vgpr(1);
            expected.sgprs = after.sgprs;
            assert_eq!(after, expected, "{target:?} {text}, mode {mode:#x}");
        }
    }
    assert!(covered > 300, "{covered}");
}

#[test]
pub(crate) fn scalar() {
    let mut random = Random(22);
    let mut covered = 0;
    for case in cases().into_iter().filter(|case| case.kind == Kind::Integer && !case.memory.is_empty()) {
        for target in TARGETS {
            for (way, returns) in [("s_atomic", true), ("s_atomic", false), ("s_buffer_atomic", true)] {
                let compares = case.memory.starts_with("cmpswap");
                let dwords = case.bytes / 4 * if compares { 2 } else { 1 };
                let data = if dwords == 1 { "s16".to_owned() } else { format!("s[16:{}]", 15 + dwords) };
                let base = if way == "s_atomic" { "s[2:3]" } else { "s[4:7]" };
                let glc = if returns { " glc" } else { "" };
                let text = format!("{way}_{} {data}, {base}, 0x10{glc}", case.memory);
                if !exists(target, &text) {
                    continue;
                }
                covered += 1;
                let bits = 8 * case.bytes as u32;
                let mut state = whole(target);
                let [old, data, second] = [(); 3].map(|()| value(&mut random, Kind::Integer, bits));
                let data = if random.below(2) == 0 { data } else { old };
                let mut memory = random.bytes(64);
                memory[16..16 + case.bytes].copy_from_slice(&old.to_le_bytes()[..case.bytes]);
                let mut bench = Bench::new(target, &memory);
                state.set_sgpr_pair(2, bench.buffer);
                state.set_sgpr_pair(4, bench.buffer);
                state.set_sgpr_pair(6, resource(target, 16 + case.bytes as u64));
                let mut put = |first: usize, value: u64| {
                    state.sgprs[first] = value as u32;
                    if case.bytes == 8 {
                        state.sgprs[first + 1] = (value >> 32) as u32;
                    }
                };
                if compares {
                    put(16, second);
                    put(16 + case.bytes / 4, data);
                } else {
                    put(16, data);
                }
                let after = bench.good(&text, &state);
                let v = Values { old, data, second, bits, flush: Flush::default() };
                memory[16..16 + case.bytes].copy_from_slice(&(case.new)(&v).to_le_bytes()[..case.bytes]);
                let mut expected = state.clone();
                if returns {
                    expected.sgprs[16] = old as u32;
                    if case.bytes == 8 {
                        expected.sgprs[17] = (old >> 32) as u32;
                    }
                }
                assert_eq!(bench.contents(), memory, "{target:?} {text}: old {old:#x}, data {data:#x}");
                assert_eq!(after, expected, "{target:?} {text}");
            }
        }
    }
    assert!(covered > 100, "{covered}");
}

/// `ds_*_src2_*`: `A = op(A, B)` with B's place from the offset or from the address register's upper bits.
#[test]
pub(crate) fn with_data_in_lds() {
    let mut random = Random(23);
    let mut covered = 0;
    let mut cases = cases();
    cases.push(case!("write_b32", "", 4, Integer, v => v.data));
    cases.push(case!("write_b64", "", 8, Integer, v => v.data));
    for case in cases {
        let Some((name, ty)) = case.ds.rsplit_once('_') else { continue };
        for target in TARGETS {
            for by_register in [false, true] {
                let distance = random.below(40) as i32 * 2 - 40;
                let offset = if by_register { 0x8000 } else { (distance as u32) & 0x7fff };
                let text = format!("ds_{name}_src2_{ty} v0 offset:{offset}");
                if !exists(target, &text) || case.ds.contains("cmpst") {
                    continue;
                }
                covered += 1;
                let mut state =
                    WaveState { lds: random.bytes(4096), exec: random.exec(target), ..WaveState::default() };
                let bits = 8 * case.bytes as u32;
                for chunk in state.lds.chunks_exact_mut(case.bytes) {
                    chunk.copy_from_slice(&value(&mut random, case.kind, bits).to_le_bytes()[..case.bytes]);
                }
                let place = |lane: usize| 1024 + 16 * lane;
                let upper = if by_register { (distance as u32) << 17 } else { 0 };
                state.set_vgpr(0, std::array::from_fn(|lane| place(lane) as u32 | upper));
                let after = Bench::new(target, &[0]).good(&text, &state);
                let flush = flush_in_lds(&case, state.mode, target);
                let mut expected = state.clone();
                for lane in active(state.exec) {
                    let from = (place(lane) as i32 + 4 * distance) as usize;
                    let at = place(lane);
                    let (old, data) = (
                        number(&expected.lds[at..at + case.bytes]),
                        number(&expected.lds[from..from + case.bytes]),
                    );
                    let v = Values { old, data, second: 0, bits, flush };
                    expected.lds[at..at + case.bytes]
                        .copy_from_slice(&(case.new)(&v).to_le_bytes()[..case.bytes]);
                }
                assert_eq!(after, expected, "{target:?} {text}");
            }
        }
    }
    assert!(covered > 150, "{covered}");
}
