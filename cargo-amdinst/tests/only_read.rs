//! Code objects for processors whose code is read and executed alone: what shows and runs them, and what the other commands say.

mod support;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// A kernel with a branch that can diverge, in memory that each work-item has its element of.
const SOURCE: &str = "\
kernel void halve(global int *a, int n) {
    int i = __builtin_amdgcn_workitem_id_x();
    if (i < n) { a[i] /= 2; }
}
";

const REASON: &str = "is read and executed (`inspect`, `disasm`, `isa`, `run`), but not built or instrumented yet: that is done for \
                      GFX9 (gfx900 … gfx950)";

fn amdinst(directory: &Path, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    command.current_dir(directory).env("NO_COLOR", "1").env_remove("CARGO_TERM_COLOR");
    command.args(words.split_whitespace()).output().unwrap()
}

/// What a command prints that ends well.
fn stdout(directory: &Path, words: &str) -> String {
    let output = amdinst(directory, words);
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn rdna_is_shown_and_run_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let source = directory.join("halve.cl");
    std::fs::write(&source, SOURCE).unwrap();
    let wide = directory.join("wide.elf");
    if !support::compile_with(&source, &directory.join("narrow.elf"), &["-mcpu=gfx1100"]) {
        return;
    }
    support::compile_with(&source, &wide, &["-mcpu=gfx1151", "-mwavefrontsize64", "-mcumode"]);

    let narrow = stdout(directory, "inspect narrow.elf");
    assert!(narrow.starts_with("gfx1100: code object V6, 1 kernel, "), "{narrow}");
    assert!(
        narrow.contains("  waves       32 lanes; those of a workgroup share a work-group processor\n"),
        "{narrow}"
    );
    assert!(narrow.contains("  occupancy   16 of 16 waves a SIMD, limited by "), "{narrow}");
    assert!(narrow.contains("SGPRs     64 waves a work-group processor up to 108\n"), "{narrow}");
    assert!(narrow.ends_with("  sites       not known\n"), "{narrow}");
    let text = stdout(directory, "inspect wide.elf --format json");
    let view: Value = serde_json::from_str(&text).unwrap();
    let kernel = &view["code_objects"][0]["kernels"][0];
    assert_eq!(kernel["waves"]["lanes"], 64);
    assert_eq!(kernel["waves"]["workgroup_processor_mode"], false);
    assert_eq!(kernel["occupancy"]["waves_per_cu"], 32);

    // A mask of lanes is as wide as a wave.
    let narrow = stdout(directory, "disasm narrow.elf -S");
    assert!(narrow.contains("vcc_lo, s2, v0"), "{narrow}");
    assert!(narrow.contains("; kernel void halve"), "{narrow}");
    let wide = stdout(directory, "disasm wide.elf");
    assert!(wide.contains("vcc, s2, v0") && !wide.contains("vcc_lo, s2, v0"), "{wide}");

    for file in ["narrow.elf", "wide.elf"] {
        let words = "--grid 1 --block 64 --arg i32:[9,8,-7,6] --arg i32:3 --print 1";
        let text = stdout(directory, &format!("run {file} {words}"));
        assert!(text.contains("[4, 4, -3, 6]"), "{text}");
    }

    for words in [
        "instrument narrow.elf -o out.elf",
        "instrument narrow.elf --plan",
        "run narrow.elf --grid 1 --block 64 --arg buf:256 --arg i32:64 --report",
    ] {
        let output = amdinst(directory, words);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(8), "{words}: {message}");
        assert_eq!(message, format!("error: narrow.elf: code for gfx1100 {REASON}\n"), "{words}");
    }
    assert!(!directory.join("out.elf").exists());
}

#[test]
fn opcodes_of_rdna_are_listed_with_their_fidelity() {
    let directory = tempfile::tempdir().unwrap();
    let text =
        stdout(directory.path(), "isa --target-cpu gfx1100 v_wmma_i32_16x16x16_iu8 image_load s_add_u32");
    assert!(
        text.contains("image_load                         unsupported  images are not supported\n"),
        "{text}"
    );
    assert!(text.ends_with("gfx1100: 3 opcodes, 2 exact, 0 approximate, 1 unsupported\n"), "{text}");
}
