//! Damaged debug information of rewritten code objects. What is sound is held against LLVM's tools where
//! there is an instrumenter to insert code: `amdinst-core/tests/carried/`.

use amdgpu_object::CodeObject;
use amdgpu_object::rewrite::{DebugInfo, Edge, Edit, rewrite, text_address};
use proptest::prelude::*;

use crate::lines::{damaged, overwrite};
use crate::require_tools;
use crate::symbolized::NESTED;
use crate::tools::hip;

#[test]
fn damaged_debug_information_is_carried_or_left_out() {
    require_tools!("clang-22");
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let seed = hip(NESTED, "gfx90a", 5, &[version]);
        let object = CodeObject::parse(seed.clone()).expect("it parses");
        let start = object.segments.iter().map(|segment| segment.range.end).max().expect("a segment");
        let edits = prop::collection::vec(overwrite(), 1..6);
        let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) };
        proptest!(config, |(edits in edits)| {
            if let Ok(object) = CodeObject::parse(damaged(&seed, start, edits)) {
                let distance = text_address(&object) - object.text.address;
                let map = |old: u64, _: Edge| old.checked_add(distance);
                let text = object.text_bytes().to_vec();
                let edit = Edit { text: text.into(), keeps_code: false, kernels: Vec::new(), variable: None, section: None, data: Default::default() };
                if let Ok(new) = rewrite(&object, &edit, map) {
                    prop_assert!(CodeObject::parse(new.bytes).is_ok());
                    prop_assert!(new.debug_info != DebugInfo::LeftOut(String::new()));
                }
            }
        });
    }
}
