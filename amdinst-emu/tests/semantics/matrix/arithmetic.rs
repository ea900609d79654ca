//! What is rounded when: the models of MMA-Sim (arXiv 2511.10909), written down as the paper defines them.

use amdgpu_isa::Arch;
use amdinst_emu::WaveState;

use super::oracle::{self, Matrices};
use super::{ARCHS, Random, Shape, element_formats, instructions, run};
use crate::formats::{self, Format};

/// Significand and exponent, the latter not below the format's smallest.
fn parts(value: f64, least: i32) -> (f64, i32) {
    if value == 0.0 {
        return (0.0, -126);
    }
    let exponent = (value.abs().log2().floor() as i32).max(least);
    (value / f64::from(exponent).exp2(), exponent)
}

fn power(n: i32) -> f64 {
    f64::from(n).exp2()
}

/// Terms cut off 24 bits below the largest exponent.
fn truncated(terms: &[(f64, i32)]) -> (f64, i32) {
    let largest = terms.iter().map(|term| term.1).max().unwrap();
    let cut = |(s, e): &(f64, i32)| (s * power(24 + e - largest)).trunc() * power(-24);
    (terms.iter().map(cut).sum(), largest)
}

/// A sum of products and the old value, the latter dropped if its exponent is too far below.
fn add(s: f64, e: i32, c: f32, drops: bool) -> f32 {
    let (sc, ec) = parts(f64::from(c), -126);
    let largest = e.max(ec);
    let s = (s * power(31 + e - largest)).floor() * power(-31);
    let c =
        if drops && ec < largest - 25 { 0.0 } else { (sc * power(24 + ec - largest)).floor() * power(-24) };
    ((s + c) * power(largest)) as f32
}

fn terms(factors: &[(f64, f64)], [a, b]: [Format; 2]) -> Vec<(f64, i32)> {
    let term = |(x, y): &(f64, f64)| {
        let ((sx, ex), (sy, ey)) = (parts(*x, a.least_exponent()), parts(*y, b.least_exponent()));
        (sx * sy, ex + ey)
    };
    factors.iter().map(term).collect()
}

/// The arithmetic of a processor for a format, of one element.
fn expected(arch: Arch, shape: &Shape, formats: [Format; 2], factors: &[(f64, f64)], c: f32) -> f32 {
    let groups = |length: usize| factors.chunks(length.min(shape.depth));
    match (shape.a, arch) {
        ("f32", _) => factors.iter().fold(c, |sum, (x, y)| (*x as f32).mul_add(*y as f32, sum)),
        ("f16", Arch::Gfx908) => groups(4).fold(c, exactly),
        ("bf16", Arch::Gfx908) => groups(2).fold(c, exactly),
        ("f16" | "bf16", Arch::Gfx90a) => {
            let pairs = shape.a == "bf16" && !shape.name.ends_with("_1k");
            groups(if pairs { 2 } else { 4 }).fold(zeroed(c), |sum, group| {
                let products: Vec<f32> = group
                    .iter()
                    .map(|(x, y)| flushed(least(*x, formats[0]) * least(*y, formats[1])))
                    .collect();
                let two: Vec<f32> = products.chunks(2).map(|two| flushed(two[0] + two[1])).collect();
                let all = if let [low, high] = two[..] { flushed(low + high) } else { two[0] };
                flushed(sum + all)
            })
        }
        ("f16" | "bf16", _) => groups(8).fold(c, |sum, group| {
            let (s, e) = truncated(&terms(group, formats));
            add(s, e, sum, false)
        }),
        ("xf32", _) => groups(4).fold(c, |sum, group| {
            let (s, e) = truncated(&terms(group, formats));
            add(s, e, sum, false)
        }),
        _ => groups(16).fold(c, |sum, group| {
            let all = terms(group, formats);
            let half =
                |first: usize| truncated(&all.iter().skip(first).step_by(2).copied().collect::<Vec<_>>());
            let (even, odd) = (half(0), half(1));
            let largest = even.1.max(odd.1);
            let down = |(s, e): (f64, i32)| (s * power(24 + e - largest)).floor() * power(-24);
            add(down(even) + down(odd), largest, sum, true)
        }),
    }
}

/// The products and the old value as one integer in units of 2^-100, rounded to single precision by hand.
fn exactly(c: f32, group: &[(f64, f64)]) -> f32 {
    let unit = |value: f64| {
        let scaled = value * power(100);
        assert_eq!(scaled.fract(), 0.0);
        scaled as i128
    };
    let sum: i128 = unit(f64::from(c)) + group.iter().map(|(x, y)| unit(x * y)).sum::<i128>();
    let magnitude = sum.unsigned_abs();
    let extra = (128 - magnitude.leading_zeros()).saturating_sub(24);
    let (kept, lost) = (magnitude >> extra, magnitude & ((1 << extra) - 1));
    let half = if extra == 0 { 1 } else { 1 << (extra - 1) };
    let up = lost > half || lost == half && kept & 1 == 1;
    let value = (kept + u128::from(up)) as f64 * power(extra as i32 - 100);
    if sum < 0 { -value as f32 } else { value as f32 }
}

fn flushed(value: f32) -> f32 {
    if value.abs() < f32::MIN_POSITIVE { 0f32.copysign(value) } else { value }
}

fn zeroed(value: f32) -> f32 {
    if value.abs() < f32::MIN_POSITIVE { 0.0 } else { value }
}

/// A factor, a subnormal of its format as zero.
fn least(value: f64, format: Format) -> f32 {
    if value.abs() < power(format.least_exponent()) { 0.0 } else { value as f32 }
}

/// Random codes: numbers of a spread of exponents, zeros and subnormals among them.
fn codes(format: Format, spread: u64) -> impl FnMut(&mut Random) -> u64 {
    move |random| {
        let sign = random.below(2) << (format.bits() - 1);
        match format {
            Format::Float { exponent, mantissa, bias, .. } => {
                let top = (1u64 << exponent) - 2;
                let spread = spread.min(top);
                let low = (bias as u64).saturating_sub(spread / 2).min(top - spread);
                let field = match random.below(12) {
                    0 => 0,
                    _ => low + random.below(spread + 1),
                };
                let rest = if random.below(12) == 0 { 0 } else { random.next() & ((1 << mantissa) - 1) };
                // Negative zero may be a NaN.
                if field == 0 && rest == 0 { 0 } else { sign | field << mantissa | rest }
            }
            _ => sign | (120 + random.below(14)) << 23 | random.next() & 0x7f_ffff,
        }
    }
}

#[test]
pub(crate) fn sums_are_rounded_as_measured() {
    let mut random = Random(3);
    let mut compared = 0;
    for arch in ARCHS {
        for (inst, shape) in instructions(arch) {
            if ["i8", "f64", "f8f6f4"].contains(&shape.a) {
                continue;
            }
            for spread in [4, 14, 30] {
                // The integers of `exactly` hold 2^±27, and its smallest products.
                let spread = if arch == Arch::Gfx908 { spread.min(20) } else { spread };
                let formats = element_formats(arch, &inst, &shape);
                let c = |random: &mut Random| match random.below(10) {
                    0 => 0,
                    _ => random.below(2) << 31 | (115 + random.below(24)) << 23 | random.next() & 0x7f_ffff,
                };
                let no_subnormals = arch == Arch::Gfx908 && shape.a == "bf16";
                let code = |format: Format| {
                    let mut any = codes(format, spread);
                    move |random: &mut Random| {
                        let code = any(random);
                        let is_zero = no_subnormals && format.value(code).abs() < power(-40);
                        if is_zero { 0 } else { code }
                    }
                };
                let matrices = Matrices::new(&shape, &mut random, code(formats[0]), code(formats[1]), c);
                let mut state = WaveState::default();
                matrices.write(&inst, &shape, formats, &mut state);
                let after = run(arch, &inst, &state).unwrap_or_else(|fault| panic!("{arch}: {fault}"));
                compared += compare(arch, &inst, &shape, formats, &matrices, &after);
            }
        }
    }
    println!("{compared} sums");
}

fn compare(
    arch: Arch,
    inst: &amdgpu_isa::Inst,
    shape: &Shape,
    formats: [Format; 2],
    matrices: &Matrices,
    after: &WaveState,
) -> usize {
    let mut compared = 0;
    for block in 0..shape.blocks {
        for (i, j) in (0..shape.size).flat_map(|i| (0..shape.size).map(move |j| (i, j))) {
            let factors: Vec<(f64, f64)> = matrices
                .factors(shape, (block, i, j))
                .iter()
                .map(|(x, y)| (formats[0].value(*x), formats[1].value(*y)))
                .collect();
            let c = f32::from_bits(matrices.c[block][i][j] as u32);
            let expected = expected(arch, shape, formats, &factors, c);
            let bits = oracle::read_item(inst, 0, oracle::output(shape, i, j, block), 32, after) as u32;
            let found = f32::from_bits(bits);
            // Zeros of either sign are the same here.
            assert!(
                found == expected,
                "{arch}: {}: {found:e} for {expected:e}: {factors:?} + {c:e}",
                shape.name
            );
            compared += 1;
        }
    }
    compared
}

/// One element, all others zero.
fn one(arch: Arch, name: &str, a: &[f64], b: &[f64], c: f32) -> f32 {
    let (inst, shape) = instructions(arch).into_iter().find(|(_, shape)| shape.name == name).unwrap();
    let formats = element_formats(arch, &inst, &shape);
    let zero = |_: &mut Random| 0;
    let mut matrices = Matrices::new(&shape, &mut Random(0), zero, zero, zero);
    for (k, value) in a.iter().enumerate() {
        matrices.a[0][0][k] = formats[0].code(*value);
    }
    for (k, value) in b.iter().enumerate() {
        matrices.b[0][k][0] = formats[1].code(*value);
    }
    matrices.c[0][0][0] = u64::from(c.to_bits());
    let mut state = WaveState::default();
    matrices.write(&inst, &shape, formats, &mut state);
    let after = run(arch, &inst, &state).unwrap();
    f32::from_bits(oracle::read_item(&inst, 0, oracle::output(&shape, 0, 0, 0), 32, &after) as u32)
}

/// Figures worked out by hand, where the processors differ.
#[test]
pub(crate) fn processors_differ_as_published() {
    let tiny = power(-24);
    // Half subnormals: only CDNA2 loses them.
    assert_eq!(one(Arch::Gfx908, "v_mfma_f32_32x32x8f16", &[tiny], &[1.0], 0.0), tiny as f32);
    assert_eq!(one(Arch::Gfx90a, "v_mfma_f32_32x32x8f16", &[tiny], &[1.0], 0.0), 0.0);
    assert_eq!(one(Arch::Gfx942, "v_mfma_f32_32x32x8_f16", &[tiny], &[1.0], 0.0), tiny as f32);
    // 2^11 + 2^-14 - 2^11: CDNA2 rounds each pair in turn, CDNA1 once, CDNA3 cuts off 24 bits below the
    // largest.
    let (large, small) = (2048.0, power(-14));
    let sum = |arch, name| one(arch, name, &[large, small, -large], &[1.0, 1.0, 1.0], 0.0);
    assert_eq!(sum(Arch::Gfx908, "v_mfma_f32_32x32x8f16"), small as f32);
    assert_eq!(sum(Arch::Gfx90a, "v_mfma_f32_32x32x8f16"), 0.0);
    assert_eq!(sum(Arch::Gfx942, "v_mfma_f32_32x32x8_f16"), 0.0);
    // A small negative sum pulls a large old value down on CDNA3, which rounds down before it rounds to
    // nearest: 2^-40 below 1 is 2^-31 below, still nearest to 1.
    let below = one(Arch::Gfx942, "v_mfma_f32_32x32x8_f16", &[-power(-20)], &[power(-20)], 1.0);
    assert_eq!(below, 1.0);
    // xf32 cuts its factors to ten bits of mantissa.
    let factor = f64::from(f32::from_bits(1f32.to_bits() + 0x1fff));
    assert_eq!(one(Arch::Gfx942, "v_mfma_f32_16x16x8_xf32", &[factor], &[1.0], 0.0), 1.0);
}

/// Infinities and NaNs.
#[test]
pub(crate) fn what_is_not_finite_stays_so() {
    for (arch, name) in [
        (Arch::Gfx908, "v_mfma_f32_32x32x8f16"),
        (Arch::Gfx90a, "v_mfma_f32_32x32x8f16"),
        (Arch::Gfx942, "v_mfma_f32_32x32x8_f16"),
        (Arch::Gfx950, "v_mfma_f32_32x32x8_f16"),
        (Arch::Gfx942, "v_mfma_f32_16x16x4_f32"),
    ] {
        let inf = f64::INFINITY;
        assert_eq!(one(arch, name, &[inf], &[2.0], 1.0), f32::INFINITY, "{arch}");
        assert_eq!(one(arch, name, &[-inf], &[2.0], 1.0), f32::NEG_INFINITY, "{arch}");
        assert!(one(arch, name, &[inf, inf], &[1.0, -1.0], 0.0).is_nan(), "{arch}");
        assert!(one(arch, name, &[inf], &[0.0], 0.0).is_nan(), "{arch}");
        assert_eq!(one(arch, name, &[1.0], &[1.0], f32::INFINITY), f32::INFINITY, "{arch}");
        assert!(one(arch, name, &[1.0], &[1.0], f32::NAN).is_nan(), "{arch}");
        assert!(one(arch, name, &[-inf], &[1.0], f32::INFINITY).is_nan(), "{arch}");
    }
    let huge = f64::from(f32::MAX);
    assert_eq!(one(Arch::Gfx942, "v_mfma_f32_16x16x4_f32", &[huge], &[2.0], 0.0), f32::INFINITY);
    let bf16 = formats::BF16.value(0x7f7f);
    assert_eq!(one(Arch::Gfx942, "v_mfma_f32_32x32x8_bf16", &[bf16], &[2.0], 0.0), f32::INFINITY);
    assert_eq!(
        one(Arch::Gfx942, "v_mfma_f32_32x32x8_bf16", &[bf16, bf16], &[2.0, 0.0], f32::MIN),
        f32::INFINITY
    );
}
