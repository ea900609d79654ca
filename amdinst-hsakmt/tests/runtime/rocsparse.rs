//! An unmodified library of AMD's: rocSPARSE's product of a sparse matrix and a vector.
//!
//! It has 1.3 GB, and instrumenting its kernels takes a while: `AMDINST_ROCSPARSE=1` asks for it.

use crate::support::{Program, good, tools};

const LIBRARY: (&str, &str) = ("/usr/lib/x86_64-linux-gnu/librocsparse.so.0", "librocsparse0");

#[test]
fn a_product_of_rocsparse_is_the_hosts() {
    if std::env::var_os("AMDINST_ROCSPARSE").is_none_or(|value| value != "1")
        || !tools("rocsparse", &[LIBRARY])
    {
        return;
    }
    let program = Program::new("rocsparse.c", &[], &["-lamdhip64", "-l:librocsparse.so.0"]);
    let printed = "143999 entries, 3000 rows, 0 wrong\n";
    assert_eq!(good(&program.run(&[], &[])), printed);

    // And instrumented as it is loaded.
    let output = program.run(&[], &[("AMDINST_INSTRUMENT", "report")]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), printed, "{text}");
    assert!(text.lines().any(|line| line.starts_with("amdinst: 1 launch; csrmvn_general_kernel<")), "{text}");
    println!("{text}");
}
