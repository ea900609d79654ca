//! Integers of 128 bits, between floats, and powers: LLVM makes calls of a C library of some of it. Each function is one that a kernel
//! calls for its element, and that the test calls on the host.

use amdinst_device::{PerItem, global_id_x, kernel};

/// A power with a whole exponent: the standard library's on the host, where `core` has none.
macro_rules! powi {
    ($float:ident, $x:expr, $n:expr) => {{
        #[cfg(target_arch = "amdgpu")]
        let power = core::$float::math::powi($x, $n);
        #[cfg(not(target_arch = "amdgpu"))]
        let power = $float::powi($x, $n);
        power
    }};
}

/// What a float becomes, and what becomes of that: results as bits.
macro_rules! of_float {
    ($name:ident, $kernel:ident, $float:ident, $bits:ident) => {
        /// Results of a float, given as its bits.
        pub fn $name(bits: $bits, other: $bits, n: i32) -> [u128; 8] {
            let (x, y) = ($float::from_bits(bits), $float::from_bits(other));
            let (unsigned, signed) = (x as u128, x as i128);
            [
                unsigned,
                signed as u128,
                (unsigned as $float).to_bits().into(),
                (signed as $float).to_bits().into(),
                ((unsigned >> 3) as $float).to_bits().into(),
                ((signed / 7) as $float).to_bits().into(),
                (x % y).to_bits().into(),
                powi!($float, x, n).to_bits().into(),
            ]
        }

        /// Those of as many floats as there are.
        #[kernel]
        pub fn $kernel(input: &[$bits], others: &[$bits], exponents: &[i32], mut output: PerItem<u64, 16>) {
            let i = global_id_x() as usize;
            if i < input.len() {
                let results = $name(input[i], others[i], exponents[i]);
                for (output, result) in output.chunk().chunks_exact_mut(2).zip(results) {
                    output.copy_from_slice(&[result as u64, (result >> 64) as u64]);
                }
            }
        }
    };
}

of_float!(of_f32, kernel_of_f32, f32, u32);
of_float!(of_f64, kernel_of_f64, f64, u64);

/// Results of two integers of 128 bits.
pub fn of_integers(a: u128, b: u128) -> [u128; 12] {
    let (x, y) = (a as i128, b as i128);
    [
        a.wrapping_mul(b),
        a.checked_div(b).unwrap_or(1),
        a.checked_rem(b).unwrap_or(2),
        x.checked_div(y).unwrap_or(3) as u128,
        x.checked_rem(y).unwrap_or(4) as u128,
        a.checked_mul(b).unwrap_or(5),
        x.checked_mul(y).unwrap_or(6) as u128,
        a.saturating_add(b),
        x.saturating_sub(y) as u128,
        u128::from((a as f32).to_bits()) << 64 | u128::from((x as f32).to_bits()),
        u128::from((a as f64).to_bits()) << 64 | u128::from((x as f64).to_bits()),
        u128::from(((a as u64) as f32).to_bits()) << 64 | u128::from(((x as i64) as f32).to_bits()),
    ]
}

/// Products, and quotients with a sign, of integers that buffers hold.
#[kernel]
pub fn products(a: &[u128], b: &[i128], mut products: PerItem<u128>, mut quotients: PerItem<[i128; 2]>) {
    let i = global_id_x() as usize;
    if let (Some(product), Some(quotient)) = (products.get(), quotients.get()) {
        *product = a[i].wrapping_mul(b[i] as u128);
        *quotient = [(a[i] as i128).checked_div(b[i]).unwrap_or(0), b[i]];
    }
}

/// Integers of 128 bits as two of 64, the low one first.
#[kernel]
pub fn kernel_of_integers(a: &[u64], b: &[u64], mut output: PerItem<u64, 24>) {
    let i = global_id_x() as usize;
    if 2 * i < a.len() {
        let whole = |parts: &[u64]| u128::from(parts[2 * i]) | u128::from(parts[2 * i + 1]) << 64;
        for (output, result) in output.chunk().chunks_exact_mut(2).zip(of_integers(whole(a), whole(b))) {
            output.copy_from_slice(&[result as u64, (result >> 64) as u64]);
        }
    }
}
