//! Debug information of instrumented code objects: the same lines, scopes and variables, where the code went.

use amdgpu_object::CodeObject;
use amdgpu_object::lines::SourceMap;
use amdgpu_object::rewrite::DebugInfo;
use amdinst_core::instrument::{Counters, Home, Instrumented, Options, apply, plan};

use crate::require_tools;
use crate::symbolized::{NESTED, compare};
use crate::tools::{HIP, hip, inspect, link};

fn instrumented(object: &CodeObject, counters: Counters) -> Instrumented {
    let options = Options { counters, ..Options::default() };
    let plan = plan(object, &options).expect("a plan");
    apply(object, plan).expect("it can be instrumented")
}

/// Every instruction of the new code, inserted ones too, has the frames of the old one that it belongs to.
fn check_frames(old: &CodeObject, instrumented: &Instrumented) -> usize {
    let new = CodeObject::parse(instrumented.bytes.clone()).expect("it parses");
    let old_map = SourceMap::new(old).expect("sound debug information");
    let new_map = SourceMap::new(&new).expect("sound debug information");
    let kernels = new.kernels.iter().map(|kernel| &kernel.code);
    let mut compared = 0;
    for code in kernels.chain(new.functions.iter().map(|function| &function.code)) {
        for pc in code.clone().step_by(4) {
            let Some(old_pc) = instrumented.map.original_pc(pc) else { continue };
            assert_eq!(new_map.frames(pc), old_map.frames(old_pc), "{pc:#x}, once {old_pc:#x}");
            compared += 1;
        }
    }
    compared
}

/// What `llvm-dwarfdump` finds wrong, and how many entries, locations and ranges it shows.
fn dump(bytes: &[u8]) -> (bool, [usize; 6]) {
    let (verdict, _) = inspect(bytes, "llvm-dwarfdump-22", &["--verify", "--quiet", "FILE"]);
    let (text, warnings) = inspect(bytes, "llvm-dwarfdump-22", &["FILE"]);
    assert_eq!(warnings, "");
    let count = |what: &str| text.matches(what).count();
    let counts =
        ["DW_TAG_", "DW_AT_location", "DW_AT_decl_file", "DW_AT_ranges", "DW_AT_call_file", "DW_AT_high_pc"]
            .map(count);
    (!verdict.contains("error"), counts)
}

#[test]
fn lines_and_variables_follow_the_code() {
    require_tools!("clang-22", "llvm-symbolizer-22", "llvm-dwarfdump-22");
    let all: [&[&str]; 7] = [
        &["-O2"],
        &["-O0"],
        &["-O3", "-gdwarf-4"],
        &["-O1", "-gdwarf-5", "-gz=zlib"],
        &["-gz=zstd"],
        &["-g1"],
        &["-O2", "-ffunction-sections", "-gdwarf-4"],
    ];
    for options in all {
        for source in [HIP, NESTED] {
            let object = CodeObject::parse(hip(source, "gfx90a", 5, options)).expect("it parses");
            for home in Home::ALL {
                let new = instrumented(&object, Counters::from(home));
                assert_eq!(new.debug_info, DebugInfo::Carried, "{options:?}");
                assert!(check_frames(&object, &new) > 50, "{options:?}");
                assert!(compare(&new.bytes) > 50, "{options:?}");
                assert_eq!(dump(&new.bytes), dump(&object.bytes), "{options:?}");
            }
        }
    }
}

#[test]
fn variables_are_where_they_were() {
    require_tools!("clang-22", "llvm-dwarfdump-22");
    // Registers of the ranges, in order; ranges themselves are the code's.
    let registers = |bytes: &[u8]| -> Vec<String> {
        let (text, _) = inspect(bytes, "llvm-dwarfdump-22", &["--debug-info", "FILE"]);
        let ranges = text.lines().filter(|line| line.trim_start().starts_with("[0x"));
        ranges.filter_map(|line| Some(line.split_once("):")?.1.trim().to_owned())).collect()
    };
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let object = CodeObject::parse(hip(NESTED, "gfx90a", 5, &["-O2", version])).expect("it parses");
        let old = registers(&object.bytes);
        assert!(old.len() > 10, "{version}: {old:?}");
        assert_eq!(registers(&instrumented(&object, Counters::Auto).bytes), old, "{version}");
    }
}

#[test]
fn functions_that_the_linker_discarded_stay_discarded() {
    require_tools!("clang-22", "llvm-symbolizer-22", "ld.lld-22");
    let source = format!(
        "{NESTED}\n__device__ __attribute__((used, noinline)) int waste(volatile int *a) {{ return a[0] * a[1]; }}"
    );
    let unlinked = hip(&source, "gfx90a", 5, &["-c", "-fgpu-rdc", "-Xclang", "-emit-llvm-bc"]);
    let object = CodeObject::parse(link(&unlinked, &["--gc-sections", "--plugin-opt=mcpu=gfx90a"]))
        .expect("it parses");
    let new = instrumented(&object, Counters::Auto);
    assert_eq!(new.debug_info, DebugInfo::Carried);
    assert!(check_frames(&object, &new) > 50);
    assert!(compare(&new.bytes) > 50);
}

#[test]
fn without_debug_information_there_is_none() {
    require_tools!("clang-22");
    let object = CodeObject::parse(hip(HIP, "gfx90a", 5, &["-g0"])).expect("it parses");
    assert_eq!(instrumented(&object, Counters::Auto).debug_info, DebugInfo::Absent);
}
