//! Readers of foreign input: whatever they are given ends in a value or an error, and what they accept is
//! consistent.
//!
//! The same checks are the fuzz targets in `tools/fuzz/`. What those once found is in `regressions/`, a
//! directory for each.

mod checks;

use std::path::Path;

use proptest::prelude::*;

fn regressions(of: &str, check: impl Fn(&[u8])) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readers/regressions").join(of);
    let Ok(entries) = std::fs::read_dir(&directory) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        eprintln!("{}", path.display());
        check(&std::fs::read(path).unwrap());
    }
}

#[test]
fn what_the_fuzzers_found() {
    regressions("code_object", checks::code_object);
    regressions("instruction", checks::instruction);
    regressions("assembly", |bytes| checks::assembly(&String::from_utf8_lossy(bytes)));
    regressions("records", checks::records);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn any_bytes_of_an_instruction(input in prop::collection::vec(any::<u8>(), 0..24)) {
        checks::instruction(&input);
    }

    #[test]
    fn any_line_of_text(arch in "[a-j]", mnemonic in prop::sample::select(vec!["v_add_f32", "s_waitcnt", "ds_read2_b32", "v_mov_b32_dpp", "global_load_dword", "s_load_dword", "v_pk_fma_f16"]), rest in "[ ,\\[\\]:vsa0-9x.()|-]{0,24}( [a-z0-9_]{1,8}(:[\\[\\]0-9,]{1,8})?){0,2}") {
        checks::assembly(&format!("{arch}{mnemonic} {rest}"));
    }

    #[test]
    fn any_counter_buffer(words in prop::collection::vec(0..40u32, 14), records in prop::collection::vec(any::<u32>(), 0..64)) {
        let header = [amdinst_core::counters::MAGIC, amdinst_core::counters::LAYOUT_VERSION];
        let bytes: Vec<u8> = header.iter().chain(&words).chain(&records).flat_map(|word| word.to_le_bytes()).collect();
        checks::records(&bytes);
    }
}
