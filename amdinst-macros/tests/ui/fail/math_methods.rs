// What the compiler proposes in a kernel that calls `x.sin()`. On the host, that is the standard library's.
use amdinst_device::math::FunctionsNotMethods;

pub fn wave(x: f32, y: f64) -> (f32, f64) {
    (FunctionsNotMethods::sin(x), FunctionsNotMethods::powf(y, 2.0))
}

fn main() {}
