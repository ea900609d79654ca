//! An unmodified library of AMD's: rocRAND's host API.

use crate::support::{Program, good, tools};

const LIBRARY: (&str, &str) = ("/usr/lib/x86_64-linux-gnu/librocrand.so.1", "librocrand1");

#[test]
fn rocrands_numbers_are_those_of_the_algorithm() {
    if !tools("rocrand", &[LIBRARY]) {
        return;
    }
    let program = Program::new("rocrand.c", &[], &["-lamdhip64", "-l:librocrand.so.1"]);
    for cpu in ["gfx90a", "gfx1030"] {
        let gpu = ("AMDINST_TARGET_CPU", cpu);
        assert_eq!(good(&program.run(&[], &[gpu])), "100000 numbers, 0 wrong\n");

        // And instrumented as they are loaded.
        let output = program.run(&[], &[gpu, ("AMDINST_INSTRUMENT", "report")]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "100000 numbers, 0 wrong\n", "{text}");
        let told = format!(" on {cpu}");
        let is_report = |line: &str| {
            line.starts_with("amdinst: 1 launch; ")
                && line.contains("generate_kernel<")
                && line.contains(&told)
        };
        assert!(text.lines().any(is_report), "{text}");
    }
}
