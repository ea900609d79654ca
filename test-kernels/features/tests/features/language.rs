//! Each feature of the language, in a kernel and on the host.

use features::language::{self, kernels};
use harness::{Device, Launch as _, TestResult};

macro_rules! tests {
    ($($name:ident)*) => {$(
        #[harness::test]
        fn $name(device: &Device) -> TestResult {
            let input: Vec<u32> = (0..130).collect();
            let mut output = device.zeroed(input.len());
            kernels::$name.launch_1d(device, 130, (&device.buffer(&input), &mut output))?;
            for (x, found) in input.iter().zip(output.to_vec()) {
                assert_eq!(found, language::$name(*x), "of {x}");
            }
            Ok(())
        }
    )*};
}

features::for_each_feature!(tests);
