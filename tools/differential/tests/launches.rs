//! Kernels with made-up arguments, as they are and instrumented.

use std::path::Path;

use amdgpu_object::CodeObject;
use differential::hostile::launches::{Launched, Ways, launch};

const BUDGET: u64 = 1 << 18;

fn fixture() -> CodeObject {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cargo-amdinst/tests/fixtures/branches.elf");
    CodeObject::parse(std::fs::read(file).unwrap()).unwrap()
}

fn all(object: &CodeObject, ways: &Ways) -> Vec<Launched> {
    object.kernels.iter().map(|kernel| launch(object, kernel, ways, BUDGET)).collect()
}

#[test]
fn instrumented_kernels_do_as_they_did() {
    let object = fixture();
    let launched = all(&object, &Ways::of(&object).unwrap());
    assert!(launched.len() >= 2);
    for one in launched {
        assert_eq!((one.fault, one.differences), (None, Vec::new()));
        assert_eq!(one.ways.len(), 4);
        for (home, way) in one.ways {
            assert_eq!((way.equal, way.refused, way.none, way.by_chance), (1, 0, 0, 0), "{home}");
            assert!(way.executions > 0, "{home}");
        }
    }
}

/// Instrumented forms of a file in which one bit of the code is another.
#[test]
fn what_does_otherwise_is_found() {
    let object = fixture();
    let text = object.text.range.clone();
    let found = text.step_by(4).find_map(|at| {
        let mut bytes = object.bytes.to_vec();
        bytes[at] ^= 1;
        let ways = Ways::of(&CodeObject::parse(bytes).ok()?).ok()?;
        all(&object, &ways)
            .into_iter()
            .flat_map(|one| one.differences)
            .find(|one| one.contains("memory differs"))
    });
    assert!(found.is_some(), "some bit makes a difference in memory");
}
