//! Source lines of every instruction, held against llvm-symbolizer's.

use std::collections::HashMap;

use amdgpu_object::CodeObject;
use amdgpu_object::lines::SourceMap;

use crate::tools::inspect;

/// Instructions have equal frames where they have equal spots, and equal spots in the addresses that go with
/// one.
pub(crate) fn spots_agree(map: &SourceMap, pcs: impl Iterator<Item = u64>) {
    let mut known = HashMap::new();
    let mut last = None;
    for pc in pcs {
        let (spot, around) = map.spot(pc);
        assert!(around.contains(&pc), "{pc:#x} is not in {around:x?}");
        let frames = map.frames(pc);
        let first = known.entry(spot).or_insert_with(|| frames.clone());
        assert_eq!(*first, frames, "{pc:#x}");
        if let Some((before, around)) = last.replace((spot, around))
            && around.contains(&pc)
        {
            assert_eq!(before, spot, "{pc:#x} is in {around:x?}");
        }
    }
}

/// Every instruction of a code object, with llvm-symbolizer's frames: function, file, line, column.
pub(crate) fn compare(bytes: &[u8]) -> usize {
    let object = CodeObject::parse(bytes.to_vec()).expect("it parses");
    let map = SourceMap::new(&object).expect("sound debug information");
    let end = object.text.address + object.text.range.len() as u64;
    let addresses: Vec<u64> = (object.text.address..end).step_by(4).collect();
    spots_agree(&map, addresses.iter().copied());
    let arguments: Vec<String> = addresses.iter().map(|address| format!("{address:#x}")).collect();
    let mut options = vec!["--obj", "FILE", "--output-style=JSON", "--no-demangle", "--functions=linkage"];
    options.extend(arguments.iter().map(String::as_str));
    let (output, _) = inspect(bytes, "llvm-symbolizer-22", &options);
    let answers: Vec<serde_json::Value> = serde_json::from_str(&output).expect("JSON");
    assert_eq!(answers.len(), addresses.len());
    let mut compared = 0;
    for (address, answer) in addresses.into_iter().zip(answers) {
        let expected = answer["Symbol"].as_array().cloned().unwrap_or_default();
        let ours = map.frames(address);
        if ours.is_empty() {
            assert!(expected.iter().all(|frame| frame["FileName"] == ""), "{address:#x}: {answer}");
            continue;
        }
        assert_eq!(ours.len(), expected.len(), "{address:#x}: {ours:?} {answer}");
        for (ours, expected) in ours.iter().zip(&expected) {
            if !ours.approximate {
                let place = (&expected["FileName"], &expected["Line"], &expected["Column"]);
                let file = serde_json::Value::from(&*ours.file);
                let (line, column) = (ours.line.into(), ours.column.into());
                assert_eq!((&file, &line, &column), place, "{address:#x}");
            }
            let name = ours.linkage_name.as_ref().or(ours.function.as_ref()).map(|name| &**name);
            assert_eq!(Some(name.unwrap_or("")), expected["FunctionName"].as_str(), "{address:#x}");
            compared += 1;
        }
    }
    compared
}

/// Calls inlined twice over, loops, and code that the optimiser moves about.
pub(crate) const NESTED: &str = include_str!("../sources/nested.hip");
