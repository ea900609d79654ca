//! Functions in software, bit for bit; the hardware's own, within a tolerance.

use features::math::{
    FAST, RESULTS, ROUNDED, compute, compute_fast, exact, hardware, round_exactly, software,
};
use harness::{Device, Launch as _, TestResult};

/// From tiny to huge, of both signs; and what is no number.
const VALUES: [f64; 23] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    3.25,
    -7.75,
    1e-10,
    -1e-40,
    1e10,
    12345.678,
    -0.999,
    88.0,
    -103.0,
    700.0,
    std::f64::consts::PI,
    1e30,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    2.0,
    -2.5,
];

macro_rules! bit_for_bit {
    ($($name:ident $kernel:ident::<$float:ty> $function:ident $results:ident;)*) => {$(
        #[harness::test]
        fn $name(device: &Device) -> TestResult {
            let values = VALUES.map(|value| value as $float);
            let mut output = device.zeroed($results * (VALUES.len() - 1));
            $kernel::<$float>().launch(device, 1, 64, (&device.buffer(&values), &mut output))?;
            for (pair, found) in values.windows(2).zip(output.to_vec().chunks($results)) {
                for (function, (found, expected)) in found.iter().zip($function(pair[0], pair[1])).enumerate() {
                    let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
                    assert!(same, "function {function} of {pair:?} is {found:?}, not {expected:?}");
                }
            }
            Ok(())
        }
    )*};
}

bit_for_bit! {
    software_of_floats compute::<f32> software RESULTS;
    software_of_doubles compute::<f64> software RESULTS;
    rounding_of_floats round_exactly::<f32> exact ROUNDED;
    rounding_of_doubles round_exactly::<f64> exact ROUNDED;
}

/// Within 2⁻²⁰ of the value or of one, for values of moderate size.
#[harness::test]
fn of_the_hardware(device: &Device) -> TestResult {
    let values: Vec<f32> = (1..100).map(|i| i as f32 * 0.07).collect();
    let mut output = device.zeroed(FAST * (values.len() - 1));
    compute_fast.launch(device, 2, 64, (&device.buffer(&values), &mut output))?;
    for (pair, found) in values.windows(2).zip(output.to_vec().chunks(FAST)) {
        for (function, (found, expected)) in found.iter().zip(hardware(pair[0], pair[1])).enumerate() {
            let error = (found - expected).abs() / expected.abs().max(1.0);
            // The last one's error grows with the exponent.
            let limit = if function == FAST - 1 { 1e-4 } else { 1e-6 };
            assert!(error < limit, "function {function} of {pair:?} is {found}, not {expected}: {error:e}");
        }
    }
    Ok(())
}
