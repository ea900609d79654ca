//! Kernels compiled by clang at every optimisation level, their results compared with the host's.

mod support;

use support::{Device, random, targets, tools};

const PRELUDE: &str = r"
#define ID (__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x())
#define LOCAL __builtin_amdgcn_workitem_id_x()
#define BARRIER __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, \x22workgroup\x22); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, \x22workgroup\x22)
";

/// Run a kernel with the arguments (out, a, b, n) for every target, with two workgroups of 192 and a
/// part of a wave left over, and compare.
fn check_as(
    body: &str,
    a: &[u64],
    b: &[u64],
    wide: bool,
    expected: &dyn Fn(u64, u64) -> u64,
    equal: &dyn Fn(u64, u64) -> bool,
) {
    let test = std::thread::current().name().unwrap_or("kernels").to_owned();
    if !tools(&test) {
        return;
    }
    let source = format!("{}{body}", PRELUDE.replace("\\x22", "\""));
    for ((cpu, lanes), level) in targets() {
        let mut device = Device::of_lanes(&source, (cpu, lanes), level);
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
        let result = device.launch("k", grid, 192, &[out, left, right, n as u64]);
        let execution = result.unwrap_or_else(|fault| panic!("{test} {cpu} wave{lanes} {level}: {fault}"));
        assert_eq!(execution.waves, u64::from(grid * 192 / lanes));
        let results =
            if wide { device.u64s(out, n) } else { device.u32s(out, n).into_iter().map(u64::from).collect() };
        for (index, result) in results.into_iter().enumerate() {
            let want = expected(a[index], b[index]);
            assert!(
                equal(result, want),
                "{test} {cpu} wave{lanes} {level}: [{index}] of {:#x}, {:#x} is {result:#x}, not {want:#x}",
                a[index],
                b[index],
            );
        }
    }
}

fn check32(expression: &str, a: &[u64], b: &[u64], expected: impl Fn(u32, u32) -> u32) {
    let body = format!(
        "kernel void k(global uint *out, global uint *a, global uint *b, int n) {{
            uint i = ID; if (i < n) {{ uint x = a[i], y = b[i]; out[i] = {expression}; }} }}"
    );
    check_as(&body, a, b, false, &|a, b| u64::from(expected(a as u32, b as u32)), &|a, b| a == b);
}

fn check64(expression: &str, a: &[u64], b: &[u64], expected: impl Fn(u64, u64) -> u64) {
    let body = format!(
        "kernel void k(global ulong *out, global ulong *a, global ulong *b, int n) {{
            uint i = ID; if (i < n) {{ ulong x = a[i], y = b[i]; out[i] = {expression}; }} }}"
    );
    check_as(&body, a, b, true, &expected, &|a, b| a == b);
}

fn check_f32(expression: &str, a: &[u64], b: &[u64], expected: impl Fn(f32, f32) -> f32) {
    let body = format!(
        "kernel void k(global float *out, global float *a, global float *b, int n) {{
            uint i = ID; if (i < n) {{ float x = a[i], y = b[i]; out[i] = {expression}; }} }}"
    );
    let of = |bits: u64| f32::from_bits(bits as u32);
    check_as(&body, a, b, false, &|a, b| u64::from(expected(of(a), of(b)).to_bits()), &|a, b| {
        a == b || of(a).is_nan() && of(b).is_nan()
    });
}

fn check_f64(expression: &str, a: &[u64], b: &[u64], expected: impl Fn(f64, f64) -> f64) {
    let body = format!(
        "kernel void k(global double *out, global double *a, global double *b, int n) {{
            uint i = ID; if (i < n) {{ double x = a[i], y = b[i]; out[i] = {expression}; }} }}"
    );
    let of = f64::from_bits;
    check_as(&body, a, b, true, &|a, b| expected(of(a), of(b)).to_bits(), &|a, b| {
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
    check32("x + y", &a, &b, u32::wrapping_add);
}

#[test]
fn divide_u32() {
    let (a, b) = ints32();
    check32("y ? x / y ^ x % y : 7", &a, &b, |x, y| {
        x.checked_div(y).map_or(7, |quotient| quotient ^ (x % y))
    });
}

#[test]
fn divide_i32() {
    let (a, b) = ints32();
    check32("(int)y > 0 ? (uint)((int)x / (int)y ^ (int)x % (int)y) : 7", &a, &b, |x, y| {
        let (x, y) = (x as i32, y as i32);
        if y > 0 { ((x / y) ^ (x % y)) as u32 } else { 7 }
    });
}

#[test]
fn shifts_32() {
    let (a, b) = ints32();
    check32("(x << (y & 31)) ^ (x >> (y & 31)) ^ (uint)((int)x >> (y & 31))", &a, &b, |x, y| {
        let y = y & 31;
        (x << y) ^ (x >> y) ^ (x as i32 >> y) as u32
    });
}

#[test]
fn bits_32() {
    let (a, b) = ints32();
    check32(
        "__builtin_popcount(x) + (y ? __builtin_clz(y) : 99) * 64 + (x ? __builtin_ctz(x) : 77) * 8192 + (__builtin_bitreverse32(y) & 1 << 30)",
        &a,
        &b,
        |x, y| {
            let clz = if y == 0 { 99 } else { y.leading_zeros() };
            let ctz = if x == 0 { 77 } else { x.trailing_zeros() };
            x.count_ones() + clz * 64 + ctz * 8192 + (y.reverse_bits() & 1 << 30)
        },
    );
}

#[test]
fn bytes_and_shorts() {
    let (a, b) = ints32();
    check32(
        "(uint)((char)x * (short)y) ^ (uint)(uchar)(x >> 8) ^ ((uint)(ushort)(x + y) << 7)",
        &a,
        &b,
        |x, y| {
            let product = i32::from(x as i8) * i32::from(y as i16);
            product as u32 ^ u32::from((x >> 8) as u8) ^ u32::from(x.wrapping_add(y) as u16) << 7
        },
    );
}

#[test]
fn multiply_64() {
    let (a, b) = ints64();
    check64("x * y + __builtin_elementwise_abs((long)x)", &a, &b, |x, y| {
        x.wrapping_mul(y).wrapping_add((x as i64).wrapping_abs() as u64)
    });
}

#[test]
fn divide_u64() {
    let (a, b) = ints64();
    check64("y ? x / y ^ x % y : 7", &a, &b, |x, y| {
        x.checked_div(y).map_or(7, |quotient| quotient ^ (x % y))
    });
}

#[test]
fn divide_i64() {
    let (a, b) = ints64();
    check64("(long)y > 0 ? (ulong)((long)x / (long)y ^ (long)x % (long)y) : 7", &a, &b, |x, y| {
        let (x, y) = (x as i64, y as i64);
        if y > 0 { ((x / y) ^ (x % y)) as u64 } else { 7 }
    });
}

#[test]
fn shifts_64() {
    let (a, b) = ints64();
    check64("(x << (y & 63)) ^ (x >> (y & 63)) ^ (ulong)((long)x >> (y & 63))", &a, &b, |x, y| {
        let y = y & 63;
        (x << y) ^ (x >> y) ^ (x as i64 >> y) as u64
    });
}

#[test]
fn add_mul_f32() {
    let (a, b) = floats32();
    check_f32("(x + y) * x - y", &a, &b, |x, y| (x + y) * x - y);
}

#[test]
fn fma_f32() {
    let (a, b) = floats32();
    check_f32("__builtin_fmaf(x, y, -x)", &a, &b, |x, y| x.mul_add(y, -x));
}

#[test]
fn divide_f32() {
    let (a, b) = floats32();
    check_f32("x / y", &a, &b, |x, y| x / y);
}

#[test]
fn sqrt_f32() {
    let (a, b) = floats32();
    check_f32("__builtin_sqrtf(x)", &a, &b, |x, _| x.sqrt());
}

#[test]
fn round_f32() {
    let (a, b) = floats32();
    check_f32(
        "__builtin_floorf(x) + __builtin_ceilf(y) + __builtin_truncf(x) + __builtin_rintf(y)",
        &a,
        &b,
        |x, y| x.floor() + y.ceil() + x.trunc() + y.round_ties_even(),
    );
}

#[test]
fn compare_f32() {
    let (a, b) = floats32();
    check_f32(
        "(x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * (x > y) + 32 * !(x >= y)",
        &a,
        &b,
        |x, y| {
            let bits =
                [x < y, x <= y, x == y, x != y, x > y, !matches!(x.partial_cmp(&y), Some(o) if o.is_ge())];
            bits.iter().enumerate().map(|(bit, set)| f32::from(u8::from(*set)) * (1 << bit) as f32).sum()
        },
    );
}

#[test]
fn convert_f32() {
    let (a, b) = floats32();
    check_f32(
        "(x > -2e9f && x < 2e9f ? (float)(int)x : 3) + (y > 0 && y < 4e9f ? (float)(uint)y : 5)",
        &a,
        &b,
        |x, y| {
            let first = if x > -2e9 && x < 2e9 { x as i32 as f32 } else { 3.0 };
            first + if y > 0.0 && y < 4e9 { y as u32 as f32 } else { 5.0 }
        },
    );
}

#[test]
fn min_max_f32() {
    let (a, b) = floats32();
    check_f32("__builtin_fminf(x, 2.5f) + __builtin_fmaxf(y, -1.5f)", &a, &b, |x, y| {
        x.min(2.5) + y.max(-1.5)
    });
}

#[test]
fn arithmetic_f64() {
    let (a, b) = floats64();
    check_f64("(x + y) * x - __builtin_fma(x, y, -y)", &a, &b, |x, y| (x + y) * x - x.mul_add(y, -y));
}

#[test]
fn divide_f64() {
    let (a, b) = floats64();
    check_f64("x / y", &a, &b, |x, y| x / y);
}

#[test]
fn sqrt_f64() {
    let (a, b) = floats64();
    check_f64("__builtin_sqrt(x)", &a, &b, |x, _| x.sqrt());
}

#[test]
fn convert_f64() {
    let (a, b) = floats64();
    check_f64(
        "(x > -9e18 && x < 9e18 ? (double)(long)x : 3) + (y > 0 && y < 1.8e19 ? (double)(ulong)y : 5) + (double)(float)x",
        &a,
        &b,
        |x, y| {
            let first = if x > -9e18 && x < 9e18 { x as i64 as f64 } else { 3.0 };
            first + if y > 0.0 && y < 1.8e19 { y as u64 as f64 } else { 5.0 } + f64::from(x as f32)
        },
    );
}

#[test]
fn collatz_loop() {
    let (a, b) = ints32();
    let body = "uint steps = 0; ulong v = (x & 0xffff) + 1; while (v != 1 && steps < 500) { v = v & 1 ? 3 * v + 1 : v / 2; ++steps; }";
    check32(&format!("({{ {body} steps; }})"), &a, &b, |x, _| {
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
    let body = "uint t[16]; for (int j = 0; j < 16; ++j) t[j] = x * j + y; uchar c[32]; for (int j = 0; j < 32; ++j) c[(j * 7) & 31] = x + j;
        uint r = 0; for (int j = 0; j < 8; ++j) { switch ((x >> j) & 7) {
            case 0: r += t[y & 15]; break; case 1: r ^= t[j]; break; case 2: r -= c[y & 31]; break; case 3: r *= 3; break;
            case 4: r += c[j]; case 5: r <<= 1; break; default: t[(r + j) & 15] = r; } }";
    check32(&format!("({{ {body} r + t[x & 15]; }})"), &a, &b, |x, y| {
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
    let source = "
        __attribute__((noinline)) static uint leaf(uint x, uint y) { return x * 31 + y; }
        __attribute__((noinline)) static uint middle(uint x, uint y) {
            uint t[4] = { x, y, x ^ y, 1 }; uint l = leaf(t[y & 3], x);
            if (l & 1) l += leaf(l, t[x & 3]); return l ^ t[l & 3]; }
        __attribute__((noinline)) static uint top(uint x, uint y) { return middle(x, y) + 5 * middle(y, x); }
        kernel void k(global uint *out, global uint *a, global uint *b, int n) {
            uint i = ID; if (i < n) { out[i] = top(a[i], b[i]); } }";
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
    check_as(source, &a, &b, false, &|a, b| u64::from(top(a as u32, b as u32)), &|a, b| a == b);
}

#[test]
fn lds_reduction() {
    let a: Vec<u64> = random(192 * 3, 7).iter().map(|value| value & 0xffff_ffff).collect();
    let source = "
        kernel void k(global uint *out, global uint *a, global uint *b, int n) {
            local uint t[256]; uint l = LOCAL; t[l] = a[ID]; if (l < 64) t[192 + l] = 0; BARRIER;
            for (uint s = 128; s > 0; s >>= 1) { if (l < s) t[l] += t[l + s]; BARRIER; }
            out[ID] = t[0] + t[0] * l; }";
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
    check_as(source, &a, &b, false, &want, &|a, b| a == b);
}

#[test]
fn global_atomics() {
    if !tools("global_atomics") {
        return;
    }
    let source = format!(
        "{PRELUDE}
        kernel void k(global uint *bins, global ulong *wide, global int *low, global uint *order, int n) {{
            uint i = ID; if (i >= n) return;
            __opencl_atomic_fetch_add((global atomic_uint *)&bins[i % 7], i, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
            __opencl_atomic_fetch_xor((global atomic_ulong *)wide, (ulong)i << 20, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
            __opencl_atomic_fetch_min((global atomic_int *)low, -(int)i, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
            if (order) order[__opencl_atomic_fetch_add((global atomic_uint *)&bins[7], 1, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE)] = i; }}"
    )
    .replace("\\x22", "\"");
    for (target, level) in targets() {
        let mut device = Device::of_lanes(&source, target, level);
        let n = 500u32;
        let bins = device.buffer("bins", &[0u32; 8]);
        let wide = device.buffer("wide", &[0u64]);
        let low = device.buffer("low", &[0u32]);
        let order = device.buffer("order", &vec![0u32; n as usize]);
        device
            .launch("k", 4, 128, &[bins, wide, low, order, u64::from(n)])
            .unwrap_or_else(|fault| panic!("{target:?} {level}: {fault}"));
        let mut want = [0u32; 8];
        (0..n).for_each(|i| want[i as usize % 7] += i);
        want[7] = n;
        assert_eq!(device.u32s(bins, 8), want, "{target:?} {level}");
        assert_eq!(
            device.u64s(wide, 1),
            [(0..u64::from(n)).fold(0, |x, i| x ^ i << 20)],
            "{target:?} {level}"
        );
        assert_eq!(device.u32s(low, 1), [(-(n as i32 - 1)) as u32], "{target:?} {level}");
        // Lanes take their turns in order, and so do waves and workgroups.
        assert_eq!(device.u32s(order, n as usize), (0..n).collect::<Vec<_>>(), "{target:?} {level}");
    }
}
