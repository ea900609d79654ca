//! Kernels compiled by clang at every optimisation level, their results compared with the host's.

mod support;

use amdinst_emu::Config;
use support::{Device, compile_for, random, targets, tools};

const SOURCE: &str = include_str!("sources/kernels.cl");

/// For each target its name in messages, the lanes of a wave, and a device that has the kernels. They are one
/// source, since starting a compiler takes longer than compiling one of them.
fn devices() -> impl Iterator<Item = (String, u32, Device)> {
    targets().map(|((cpu, lanes), level)| {
        let device = Device::with(&compile_for(SOURCE, (cpu, lanes), level), Config::default());
        (format!("{cpu} wave{lanes} {level}"), lanes, device)
    })
}

/// What is compared: the results of work-items, and what they are computed from.
#[derive(Clone, Copy)]
struct Values<'a> {
    a: &'a [u64],
    b: &'a [u64],
    /// Whether they have 64 bits.
    wide: bool,
}

/// Runs a kernel with the arguments (out, a, b, n) for every target, in workgroups of 192 with a part of a
/// wave left over, and compares its results.
fn check_as(
    kernel: &str,
    Values { a, b, wide }: Values<'_>,
    expected: &dyn Fn(u64, u64) -> u64,
    equal: &dyn Fn(u64, u64) -> bool,
) {
    if !tools(kernel) {
        return;
    }
    for (target, lanes, mut device) in devices() {
        let n = a.len();
        let narrow = |values: &[u64]| values.iter().map(|value| *value as u32).collect::<Vec<_>>();
        let (out, left, right) = if wide {
            (device.buffer("out", &vec![0u64; n]), device.buffer("a", a), device.buffer("b", b))
        } else {
            (
                device.buffer("out", &vec![0u32; n]),
                device.buffer("a", &narrow(a)),
                device.buffer("b", &narrow(b)),
            )
        };
        let grid = n.div_ceil(192) as u32;
        let result = device.launch(kernel, grid, 192, &[out, left, right, n as u64]);
        let execution = result.unwrap_or_else(|fault| panic!("{kernel} {target}: {fault}"));
        assert_eq!(execution.waves, u64::from(grid * 192 / lanes));
        let results =
            if wide { device.u64s(out, n) } else { device.u32s(out, n).into_iter().map(u64::from).collect() };
        for (index, result) in results.into_iter().enumerate() {
            let want = expected(a[index], b[index]);
            assert!(
                equal(result, want),
                "{kernel} {target}: [{index}] of {:#x}, {:#x} is {result:#x}, not {want:#x}",
                a[index],
                b[index],
            );
        }
    }
}

fn check32(kernel: &str, a: &[u64], b: &[u64], expected: impl Fn(u32, u32) -> u32) {
    let values = Values { a, b, wide: false };
    check_as(kernel, values, &|a, b| u64::from(expected(a as u32, b as u32)), &|a, b| a == b);
}

fn check64(kernel: &str, a: &[u64], b: &[u64], expected: impl Fn(u64, u64) -> u64) {
    check_as(kernel, Values { a, b, wide: true }, &expected, &|a, b| a == b);
}

fn check_f32(kernel: &str, a: &[u64], b: &[u64], expected: impl Fn(f32, f32) -> f32) {
    let of = |bits: u64| f32::from_bits(bits as u32);
    let values = Values { a, b, wide: false };
    check_as(kernel, values, &|a, b| u64::from(expected(of(a), of(b)).to_bits()), &|a, b| {
        a == b || of(a).is_nan() && of(b).is_nan()
    });
}

fn check_f64(kernel: &str, a: &[u64], b: &[u64], expected: impl Fn(f64, f64) -> f64) {
    let of = f64::from_bits;
    check_as(kernel, Values { a, b, wide: true }, &|a, b| expected(of(a), of(b)).to_bits(), &|a, b| {
        a == b || of(a).is_nan() && of(b).is_nan()
    });
}

const EDGES32: [u32; 10] = [0, 1, 2, 31, 32, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff, 0x1_0000];
const EDGES64: [u64; 10] =
    [0, 1, 63, 64, i64::MAX as u64, i64::MIN as u64, u64::MAX, 0xffff_ffff, 0x1_0000_0000, 0x8000_0000];
const FLOATS32: [u32; 18] = [
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x7f7f_ffff,
    0x0080_0000,
    0x007f_ffff,
    1,
    0x8000_0001,
    0x4b80_0001,
    0x3f7f_ffff,
    0x5f00_0000,
    0xcf00_0000,
    0x7f00_0000,
    0x4049_0fdb,
];
const FLOATS64: [u64; 16] = [
    0,
    1 << 63,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x000f_ffff_ffff_ffff,
    1,
    0x4340_0000_0000_0001,
    0x7fe0_0000_0000_0000,
    0x4009_21fb_5444_2d18,
    0x8000_0000_0000_0001,
    0x3fef_ffff_ffff_ffff,
];

/// All pairs of edge values, then random ones.
fn pairs(edges: &[u64], more: usize, seed: u64) -> (Vec<u64>, Vec<u64>) {
    let mut a: Vec<u64> = edges.iter().flat_map(|edge| vec![*edge; edges.len()]).collect();
    let mut b: Vec<u64> = edges.iter().cycle().take(a.len()).copied().collect();
    a.extend(random(more, seed));
    b.extend(random(more, seed + 1));
    (a, b)
}

fn ints32() -> (Vec<u64>, Vec<u64>) {
    pairs(&EDGES32.map(u64::from), 100, 1)
}

fn ints64() -> (Vec<u64>, Vec<u64>) {
    pairs(&EDGES64, 100, 2)
}

fn floats32() -> (Vec<u64>, Vec<u64>) {
    let (mut a, mut b) = pairs(&FLOATS32.map(u64::from), 700, 3);
    // Operands of like magnitude, too: random bits hardly ever meet.
    for (a, b) in a.iter_mut().zip(&mut b).skip(FLOATS32.len().pow(2) + 350) {
        *a = *a & 0x807f_ffff | 0x3f80_0000;
        *b = *b & 0x80ff_ffff | 0x3f00_0000;
    }
    (a, b)
}

fn floats64() -> (Vec<u64>, Vec<u64>) {
    let (mut a, mut b) = pairs(&FLOATS64, 700, 4);
    for (a, b) in a.iter_mut().zip(&mut b).skip(FLOATS64.len().pow(2) + 350) {
        *a = *a & 0x800f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000;
        *b = *b & 0x801f_ffff_ffff_ffff | 0x3fe0_0000_0000_0000;
    }
    (a, b)
}

#[test]
fn add_u32() {
    let (a, b) = ints32();
    check32("add_u32", &a, &b, u32::wrapping_add);
}

#[test]
fn divide_u32() {
    let (a, b) = ints32();
    check32("divide_u32", &a, &b, |x, y| x.checked_div(y).map_or(7, |quotient| quotient ^ (x % y)));
}

#[test]
fn divide_i32() {
    let (a, b) = ints32();
    check32("divide_i32", &a, &b, |x, y| {
        let (x, y) = (x as i32, y as i32);
        if y > 0 { ((x / y) ^ (x % y)) as u32 } else { 7 }
    });
}

#[test]
fn shifts_32() {
    let (a, b) = ints32();
    check32("shifts_32", &a, &b, |x, y| {
        let y = y & 31;
        (x << y) ^ (x >> y) ^ (x as i32 >> y) as u32
    });
}

#[test]
fn bits_32() {
    let (a, b) = ints32();
    check32("bits_32", &a, &b, |x, y| {
        let clz = if y == 0 { 99 } else { y.leading_zeros() };
        let ctz = if x == 0 { 77 } else { x.trailing_zeros() };
        x.count_ones() + clz * 64 + ctz * 8192 + (y.reverse_bits() & 1 << 30)
    });
}

#[test]
fn bytes_and_shorts() {
    let (a, b) = ints32();
    check32("bytes_and_shorts", &a, &b, |x, y| {
        let product = i32::from(x as i8) * i32::from(y as i16);
        product as u32 ^ u32::from((x >> 8) as u8) ^ u32::from(x.wrapping_add(y) as u16) << 7
    });
}

#[test]
fn multiply_64() {
    let (a, b) = ints64();
    check64("multiply_64", &a, &b, |x, y| x.wrapping_mul(y).wrapping_add((x as i64).wrapping_abs() as u64));
}

#[test]
fn divide_u64() {
    let (a, b) = ints64();
    check64("divide_u64", &a, &b, |x, y| x.checked_div(y).map_or(7, |quotient| quotient ^ (x % y)));
}

#[test]
fn divide_i64() {
    let (a, b) = ints64();
    check64("divide_i64", &a, &b, |x, y| {
        let (x, y) = (x as i64, y as i64);
        if y > 0 { ((x / y) ^ (x % y)) as u64 } else { 7 }
    });
}

#[test]
fn shifts_64() {
    let (a, b) = ints64();
    check64("shifts_64", &a, &b, |x, y| {
        let y = y & 63;
        (x << y) ^ (x >> y) ^ (x as i64 >> y) as u64
    });
}

#[test]
fn add_mul_f32() {
    let (a, b) = floats32();
    check_f32("add_mul_f32", &a, &b, |x, y| (x + y) * x - y);
}

#[test]
fn fma_f32() {
    let (a, b) = floats32();
    check_f32("fma_f32", &a, &b, |x, y| x.mul_add(y, -x));
}

#[test]
fn divide_f32() {
    let (a, b) = floats32();
    check_f32("divide_f32", &a, &b, |x, y| x / y);
}

#[test]
fn sqrt_f32() {
    let (a, b) = floats32();
    check_f32("sqrt_f32", &a, &b, |x, _| x.sqrt());
}

#[test]
fn round_f32() {
    let (a, b) = floats32();
    check_f32("round_f32", &a, &b, |x, y| x.floor() + y.ceil() + x.trunc() + y.round_ties_even());
}

#[test]
fn compare_f32() {
    let (a, b) = floats32();
    check_f32("compare_f32", &a, &b, |x, y| {
        let bits = [x < y, x <= y, x == y, x != y, x > y, !matches!(x.partial_cmp(&y), Some(o) if o.is_ge())];
        bits.iter().enumerate().map(|(bit, set)| f32::from(u8::from(*set)) * (1 << bit) as f32).sum()
    });
}

#[test]
fn convert_f32() {
    let (a, b) = floats32();
    check_f32("convert_f32", &a, &b, |x, y| {
        let first = if x > -2e9 && x < 2e9 { x as i32 as f32 } else { 3.0 };
        first + if y > 0.0 && y < 4e9 { y as u32 as f32 } else { 5.0 }
    });
}

#[test]
fn min_max_f32() {
    let (a, b) = floats32();
    check_f32("min_max_f32", &a, &b, |x, y| x.min(2.5) + y.max(-1.5));
}

#[test]
fn arithmetic_f64() {
    let (a, b) = floats64();
    check_f64("arithmetic_f64", &a, &b, |x, y| (x + y) * x - x.mul_add(y, -y));
}

#[test]
fn divide_f64() {
    let (a, b) = floats64();
    check_f64("divide_f64", &a, &b, |x, y| x / y);
}

#[test]
fn sqrt_f64() {
    let (a, b) = floats64();
    check_f64("sqrt_f64", &a, &b, |x, _| x.sqrt());
}

#[test]
fn convert_f64() {
    let (a, b) = floats64();
    check_f64("convert_f64", &a, &b, |x, y| {
        let first = if x > -9e18 && x < 9e18 { x as i64 as f64 } else { 3.0 };
        first + if y > 0.0 && y < 1.8e19 { y as u64 as f64 } else { 5.0 } + f64::from(x as f32)
    });
}

#[test]
fn collatz_loop() {
    let (a, b) = ints32();
    check32("collatz_loop", &a, &b, |x, _| {
        let (mut steps, mut v) = (0, u64::from(x & 0xffff) + 1);
        while v != 1 && steps < 500 {
            v = if v & 1 == 1 { 3 * v + 1 } else { v / 2 };
            steps += 1;
        }
        steps
    });
}

#[test]
fn scratch_array_and_switch() {
    let (a, b) = ints32();
    check32("scratch_array_and_switch", &a, &b, |x, y| {
        let mut t: [u32; 16] = std::array::from_fn(|j| x.wrapping_mul(j as u32).wrapping_add(y));
        let mut c = [0u8; 32];
        for j in 0..32u32 {
            c[(j as usize * 7) & 31] = x.wrapping_add(j) as u8;
        }
        let mut r = 0u32;
        for j in 0..8usize {
            match (x >> j) & 7 {
                0 => r = r.wrapping_add(t[y as usize & 15]),
                1 => r ^= t[j],
                2 => r = r.wrapping_sub(u32::from(c[y as usize & 31])),
                3 => r = r.wrapping_mul(3),
                4 => r = r.wrapping_add(u32::from(c[j])) << 1,
                5 => r <<= 1,
                _ => t[r.wrapping_add(j as u32) as usize & 15] = r,
            }
        }
        r.wrapping_add(t[x as usize & 15])
    });
}

#[test]
fn calls_in_calls() {
    let (a, b) = ints32();
    fn leaf(x: u32, y: u32) -> u32 {
        x.wrapping_mul(31).wrapping_add(y)
    }
    fn middle(x: u32, y: u32) -> u32 {
        let t = [x, y, x ^ y, 1];
        let mut l = leaf(t[y as usize & 3], x);
        if l & 1 == 1 {
            l = l.wrapping_add(leaf(l, t[x as usize & 3]));
        }
        l ^ t[l as usize & 3]
    }
    fn top(x: u32, y: u32) -> u32 {
        middle(x, y).wrapping_add(middle(y, x).wrapping_mul(5))
    }
    check32("calls_in_calls", &a, &b, top);
}

#[test]
fn lds_reduction() {
    let a: Vec<u64> = random(192 * 3, 7).iter().map(|value| value & 0xffff_ffff).collect();
    let sums: Vec<u32> = a
        .chunks(192)
        .map(|part| part.iter().fold(0u32, |sum, value| sum.wrapping_add(*value as u32)))
        .collect();
    // The expected value depends on the place: pass the place in.
    let b: Vec<u64> = (0..a.len() as u64).collect();
    let want = |_: u64, place: u64| {
        let sum = sums[place as usize / 192];
        u64::from(sum.wrapping_add(sum.wrapping_mul(place as u32 % 192)))
    };
    let values = Values { a: &a, b: &b, wide: false };
    check_as("lds_reduction", values, &want, &|a, b| a == b);
}

#[test]
fn global_atomics() {
    if !tools("global_atomics") {
        return;
    }
    for (target, _, mut device) in devices() {
        let n = 500u32;
        let bins = device.buffer("bins", &[0u32; 8]);
        let wide = device.buffer("wide", &[0u64]);
        let low = device.buffer("low", &[0u32]);
        let order = device.buffer("order", &vec![0u32; n as usize]);
        device
            .launch("global_atomics", 4, 128, &[bins, wide, low, order, u64::from(n)])
            .unwrap_or_else(|fault| panic!("{target}: {fault}"));
        let mut want = [0u32; 8];
        (0..n).for_each(|i| want[i as usize % 7] += i);
        want[7] = n;
        assert_eq!(device.u32s(bins, 8), want, "{target}");
        assert_eq!(device.u64s(wide, 1), [(0..u64::from(n)).fold(0, |x, i| x ^ i << 20)], "{target}");
        assert_eq!(device.u32s(low, 1), [(-(n as i32 - 1)) as u32], "{target}");
        // Lanes take their turns in order, and so do waves and workgroups.
        assert_eq!(device.u32s(order, n as usize), (0..n).collect::<Vec<_>>(), "{target}");
    }
}
