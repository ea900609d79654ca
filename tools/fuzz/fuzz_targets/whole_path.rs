#![no_main]

use differential::dice::Dice;
use differential::hostile::check::whole_path;
use differential::hostile::mutate::mutate;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|input: &[u8]| {
    if let Err(what) = whole_path(input) {
        panic!("{what}");
    }
});

// Of five mutants, four are made by what knows code objects, one by what knows nothing.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut dice = Dice::new(seed.into(), 0);
    if dice.one_in(5) {
        return fuzzer_mutate(data, size, max_size);
    }
    let mut bytes = data[..size].to_vec();
    mutate(&mut bytes, &mut dice);
    let size = bytes.len().min(max_size).min(data.len());
    data[..size].copy_from_slice(&bytes[..size]);
    size
});
