//! Finite singles rounded other than to the nearest, by a double: where the host has no instructions that do.
//!
//! A double holds a product of two singles. A sum it holds but for an error that is known exactly (Knuth's two-sum), whose sign says
//! on which side of the double the sum lies.

/// a × b.
#[inline(always)]
pub(crate) fn product(a: f32, b: f32, round: u32) -> f32 {
    narrow(f64::from(a) * f64::from(b), 0.0, round)
}

/// a + b, of numbers that a single, or a product of two, can be.
#[inline(always)]
pub(crate) fn sum(a: f64, b: f64, round: u32) -> f32 {
    let sum = a + b;
    let from_b = sum - a;
    let error = (a - (sum - from_b)) + (b - from_b);
    let result = narrow(sum, error, round);
    // A sum that is zero is a negative one if it is rounded down, unless it is that of positive zeros.
    let positive = a.to_bits() | b.to_bits() == 0;
    if round == DOWN && sum == 0.0 && !positive { -0.0 } else { result }
}

/// As MODE.FP_ROUND has it.
const UP: u32 = 1;
const DOWN: u32 = 2;

/// `near + rest`, of which `near` is the nearest double.
#[inline(always)]
fn narrow(near: f64, rest: f64, round: u32) -> f32 {
    let result = near as f32;
    let back = f64::from(result);
    // Exact, but for its magnitude where there is a rest.
    let beyond = (near - back) + rest;
    let (up, down) = match round {
        UP => (beyond > 0.0, false),
        DOWN => (false, beyond < 0.0),
        _ => (back < 0.0 && beyond > 0.0, back > 0.0 && beyond < 0.0),
    };
    if up {
        result.next_up()
    } else if down {
        result.next_down()
    } else {
        result
    }
}
