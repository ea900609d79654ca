//! Spills that code shows are those that LLVM tells.

use amdinst_core::analysis::program::Program;
use amdinst_core::analysis::spills::{CodeSpills, Spilled, spills};

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
            let CodeSpills { own: shown, callees } =
                spills(&program, kernel.code.start, kernel.metadata.has_scratch()).expect(name);
            let told = (kernel.metadata.sgpr_spill_count, kernel.metadata.vgpr_spill_count);
            assert_eq!((Some(shown.sgprs), Some(shown.vgprs)), told, "{name} on {cpu}");
            (shown, callees)
        };
        let nothing = Spilled::default();
        let [vectors, scalars] = ["vectors", "scalars"].map(of);
        assert!(vectors.0.vgprs > 0 && scalars.0.sgprs > 0, "{cpu}");
        assert_eq!([vectors.1, scalars.1], [nothing; 2], "{cpu}");
        assert_eq!(of("neither"), (nothing, nothing), "{cpu}");
        // The note is of the kernel alone, and the function that it calls saves registers.
        let (own, callees) = of("calls");
        assert!(own == nothing && callees.vgprs > 0, "{cpu}: {own:?} {callees:?}");
    }
}
