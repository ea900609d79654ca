//! Each crate gives the same bytes in a kernel as on the host.

use crates::kernels;
use harness::{Device, Launch as _, TestResult};

/// Bytes of a generator (xorshift).
fn random(seed: usize, n: usize) -> Vec<u8> {
    let step = |state: &u64| {
        let next = *state ^ *state << 13;
        let next = next ^ next >> 7;
        Some(next ^ next << 17)
    };
    let states = std::iter::successors(Some(0x9e37_79b9_7f4a_7c15 ^ seed as u64), step);
    states.skip(8).map(|state| (state >> 24) as u8).take(n).collect()
}

/// Bytes that repeat, as packers like it.
fn page(i: usize) -> Vec<u8> {
    let words = random(i, 512);
    (0..512)
        .map(|at| if words[at / 9] < 150 { b"the quick brown fox"[at % 19] } else { words[at % 71 * 7] })
        .collect()
}

/// The messages for a crate.
fn messages(name: &str) -> Vec<Vec<u8>> {
    let float = |i: usize| f64::from_bits(u64::from_le_bytes(random(i, 8).try_into().unwrap()));
    let message = |i: usize| match name {
        "inflate" => miniz_oxide::deflate::compress_to_vec(&page(i), (i % 10) as u8),
        "lz4" => lz4_flex::block::compress(&page(i)),
        "parse" => format!("{:e}", float(i)).into_bytes(),
        _ => random(i, 61 * i % 1500),
    };
    (0..100).map(message).collect()
}

macro_rules! tests {
    ($($name:ident)*) => {$(
        #[harness::test]
        fn $name(device: &Device) -> TestResult {
            let messages = messages(stringify!($name));
            let mut end = 0;
            let ends: Vec<u32> = messages.iter().map(|message| { end += message.len() as u32; end }).collect();
            let mut output = device.zeroed(64 * messages.len());
            let arguments = (&device.buffer(&messages.concat()), &device.buffer(&ends), &mut output);
            kernels::$name.launch_1d(device, messages.len() as u32, arguments)?;
            for (i, (message, found)) in messages.iter().zip(output.to_vec().chunks(64)).enumerate() {
                assert_eq!(found, crates::$name(message), "message {i}");
            }
            Ok(())
        }
    )*};
}

crates::for_each_crate!(tests);

harness::main!();
