//! Spills that code shows are those that LLVM tells.

use amdinst_core::analysis::program::Program;
use amdinst_core::analysis::spills::{Spilled, spilled};

use super::{compile_source, tools};

const SOURCE: &str = include_str!("spilling.c");

#[test]
fn code_shows_as_many_spills_as_the_compiler_tells() {
    if !tools("code_shows_as_many_spills_as_the_compiler_tells") {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    for cpu in ["gfx900", "gfx908", "gfx90a", "gfx942", "gfx1010", "gfx1030", "gfx1100", "gfx1201"] {
        let object = compile_source(directory.path(), SOURCE, cpu, &["-O2"]);
        let program = Program::new(&object);
        let of = |name: &str| {
            let kernel = object.kernel(name).expect(name);
            let has_scratch = kernel.metadata.private_segment_fixed_size > 0;
            let shown = spilled(&program, kernel.code.start, has_scratch).expect(name);
            let told = (kernel.metadata.sgpr_spill_count, kernel.metadata.vgpr_spill_count);
            assert_eq!((Some(shown.sgprs), Some(shown.vgprs)), told, "{name} on {cpu}");
            shown
        };
        assert!(of("vectors").vgprs > 0 && of("scalars").sgprs > 0, "{cpu}");
        assert_eq!(of("neither"), Spilled::default(), "{cpu}");
    }
}
