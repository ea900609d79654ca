//! Code for generic processors: shown, instrumented, and run by itself or as one of the processors that it is
//! for.

mod support;

use amdgpu_isa::Arch;
use serde_json::Value;
use support::{HALVE, amdinst, stdout};

const LAUNCH: &str = "--grid 1 --block 64 --arg i32:[9,8,-7,6] --arg i32:3 --print 1";

fn is_right(text: &str) {
    let printed: Vec<&str> = text.split_whitespace().collect();
    assert!(printed.ends_with(&["0:", "4", "4", "-3", "6"]), "{text}");
}

#[test]
fn code_for_a_generic_processor_is_shown_and_runs_as_each_of_its_processors() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let source = directory.join("halve.cl");
    std::fs::write(&source, HALVE).unwrap();
    for generic in Arch::KNOWN.into_iter().filter(|arch| arch.is_generic()) {
        let file = directory.join(format!("{generic}.elf"));
        if !support::compile_with(&source, &file, &[&format!("-mcpu={generic}")]) {
            return;
        }
        let shown = stdout(directory, &format!("inspect {generic}.elf"));
        assert!(shown.starts_with(&format!("{generic}: code object V6, 1 kernel, ")), "{shown}");
        let members: Vec<&str> = generic.members().iter().map(|member| member.name()).collect();
        let told =
            format!("\ngeneric version 1, for {}; limits are the least of these\n", members.join(", "));
        assert!(shown.contains(&told), "{shown}");
        let view: Value =
            serde_json::from_str(&stdout(directory, &format!("inspect {generic}.elf --format json")))
                .unwrap();
        let object = &view["code_objects"][0];
        assert_eq!(object["generic"]["version"], 1);
        assert_eq!(object["generic"]["processors"].as_array().unwrap().len(), members.len());
        assert!(stdout(directory, &format!("disasm {generic}.elf")).contains("s_endpgm"));
        assert!(stdout(directory, &format!("isa --target-cpu {generic} s_endpgm")).contains("s_endpgm"));

        is_right(&stdout(directory, &format!("run {generic}.elf {LAUNCH}")));
        for member in members {
            is_right(&stdout(directory, &format!("run {generic}.elf --target-cpu {member} {LAUNCH}")));
        }
        let other = amdinst(directory, &format!("run {generic}.elf --target-cpu gfx90a {LAUNCH}"));
        let told = String::from_utf8(other.stderr).unwrap();
        assert!(
            told.contains("holds no code object for gfx90a\nnote: it holds amdgcn-amd-amdhsa--gfx"),
            "{told}"
        );
        if generic.to_instrument().is_ok() {
            let report = stdout(directory, &format!("run {generic}.elf {LAUNCH} --report"));
            assert!(report.contains("equal; counters and the emulator's own: equal"), "{report}");
            stdout(directory, &format!("instrument {generic}.elf -o {generic}.inst.elf"));
            let again = stdout(directory, &format!("inspect {generic}.inst.elf"));
            assert!(again.starts_with(&format!("{generic}: code object V6, 1 kernel, ")), "{again}");
        }
    }
}

/// Of a bundle, as HIP chooses: code for the processor itself, else that for the generic one.
#[test]
fn a_bundle_has_code_for_a_processor_by_its_name_first() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let compiled = |cpu: &'static str, divisor: &str| {
        let (source, file) = (directory.join("halve.cl"), directory.join(format!("{cpu}.elf")));
        std::fs::write(&source, HALVE.replace("/= 2", &format!("/= {divisor}"))).unwrap();
        let made = support::compile_with(&source, &file, &[&format!("-mcpu={cpu}")]);
        made.then(|| (cpu, std::fs::read(file).unwrap()))
    };
    let parts = [("gfx11-generic", "3"), ("gfx1100", "2"), ("gfx9-4-generic", "2"), ("gfx12-generic", "2")];
    let parts = parts.map(|(cpu, divisor)| compiled(cpu, divisor)).into_iter().collect::<Option<Vec<_>>>();
    let Some(parts) = parts else { return };
    std::fs::write(directory.join("fat.bundle"), support::bundle(&parts)).unwrap();
    let first = |cpu: &str| {
        let words =
            format!("run fat.bundle --target-cpu {cpu} --grid 1 --block 64 --arg i32:[12] --arg i32:1");
        let text = stdout(directory, &format!("{words} --print 1"));
        text.split_whitespace().last().unwrap().to_owned()
    };
    assert_eq!(["gfx1100", "gfx1101", "gfx1151", "gfx11-generic"].map(first), ["6", "4", "4", "4"]);
    assert_eq!(["gfx942", "gfx950", "gfx1200", "gfx1201"].map(first), ["6"; 4]);
}

/// Code object versions before 6 have none, which is told before anything is compiled.
#[test]
fn an_older_code_object_version_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    std::fs::create_dir(directory.join("src")).unwrap();
    std::fs::write(directory.join("src/lib.rs"), "#![no_std]\n").unwrap();
    let package = "[package]\nname = \"halve\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n";
    std::fs::write(directory.join("Cargo.toml"), package).unwrap();
    let output = amdinst(directory, "build -p halve --target-cpu gfx10-3-generic --code-object-version 5");
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(
        told.contains("code object version 5 does not support gfx10-3-generic: generic processors need 6"),
        "{told}"
    );
    assert!(told.contains("or build for one of its processors: gfx1030, gfx1031,"), "{told}");
}
