#![no_main]

#[expect(dead_code, reason = "each target uses one of the checks")]
#[path = "../../../amdinst-core/tests/readers/checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|input: &str| checks::assembly(input));
