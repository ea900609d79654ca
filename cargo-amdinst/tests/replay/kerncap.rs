//! Folders of kerncap.

use std::fs;
use std::path::Path;

use super::archive::words;
use super::{A, B, C, fixture, json, replay, text};

/// The launch of `add` that adds 100 numbers.
fn folder(root: &Path) {
    fs::create_dir_all(root.join("memory")).unwrap();
    let dispatch = serde_json::json!({"mangled_name": "add", "demangled_name": "add", "grid": [128, 1, 1], "block": [64, 1, 1],
        "group_segment_size": 0, "private_segment_size": 0, "kernarg_size": 28, "isa_name": "amdgcn-amd-amdhsa--gfx90a:sramecc+"});
    fs::write(root.join("dispatch.json"), dispatch.to_string()).unwrap();
    fs::write(root.join("kernel.hsaco"), fixture("branches.elf")).unwrap();
    let mut kernarg = Vec::new();
    [C, A, B].iter().for_each(|address| kernarg.extend(address.to_le_bytes()));
    kernarg.extend(100_u32.to_le_bytes());
    fs::write(root.join("kernarg.bin"), kernarg).unwrap();
    let mut regions = Vec::new();
    for at in [A, B, C] {
        regions.push(serde_json::json!({"base": at, "size": 400, "is_pool": true}));
        fs::write(root.join(format!("memory/region_{at:x}.bin")), words(0..100)).unwrap();
    }
    fs::write(root.join("memory_regions.json"), serde_json::json!({ "regions": regions }).to_string())
        .unwrap();
}

#[test]
fn a_launch_with_its_memory_is_replayed() {
    let place = tempfile::tempdir().unwrap();
    folder(place.path());
    let view = json(place.path(), "", 0);
    assert_eq!((view["recorder"].as_str(), view["summary"]["ok"].as_u64()), (Some("kerncap"), Some(1)));
    assert_eq!(view["launches"][0]["grid"], serde_json::json!([2, 1, 1]));
    assert_eq!(view["launches"][0]["diverged"].as_array().unwrap().len(), 1);
    let output = replay(place.path(), "--list");
    assert!(text(&output.stdout).contains("gfx90a  1200"), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("nothing to compare its result with"));
}

#[test]
fn what_is_missing_is_told() {
    let place = tempfile::tempdir().unwrap();
    folder(place.path());
    fs::write(place.path().join("memory").join(format!("region_{A:x}.bin")), "short").unwrap();
    let variables =
        serde_json::json!({"variables": [{"name": "x", "size": 4, "blob": "../../etc/hostname"}]});
    fs::write(place.path().join("module_variables.json"), variables.to_string()).unwrap();
    let told = text(&replay(place.path(), "").stdout);
    assert!(told.contains("has 5 bytes, and 400 are asked for"), "{told}");
    assert!(told.contains("leads out of"), "{told}");
    fs::write(place.path().join("dispatch.json"), r#"{"grid": [0], "block": [64]}"#).unwrap();
    let output = replay(place.path(), "");
    assert_eq!(output.status.code(), Some(5));
    assert!(text(&output.stderr).contains("`grid` is [0]"), "{}", text(&output.stderr));
}
