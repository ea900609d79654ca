//! `cargo amdinst doctor` beside toolchains made of shell scripts. GPUs are looked for on the machine that
//! runs this; what is said of them is tested where it is made.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const HOST: &str = "x86_64-unknown-linux-gnu";

/// A toolchain for kernels of LLVM 99, complete to the eye.
struct Toolchain(tempfile::TempDir);

impl Toolchain {
    fn new() -> Self {
        let toolchain = Self(tempfile::tempdir().unwrap());
        let root = toolchain.0.path().display().to_string();
        toolchain.script(
            "bin/rustc",
            &format!(
                "case $1 in -vV) printf 'release: 9.9.0\\nhost: {HOST}\\nLLVM version: 99.1.0\\n';; \
                 *) echo {root};; esac"
            ),
        );
        toolchain.script("bin/cargo", "true");
        fs::create_dir_all(toolchain.sources().parent().unwrap()).unwrap();
        fs::write(toolchain.sources(), "").unwrap();
        for tool in ["opt", "llc", "llvm-link", "llvm-dis", "ld.lld"] {
            toolchain.script(
                &format!("lib/rustlib/{HOST}/bin/{tool}"),
                // Of a kernel, whatever it is: code that reads 16 bits of memory twice, and spills nothing in
                // its loop.
                "case $1 in --version) echo 'LLVM version 99.1.0'; echo '  amdgcn - AMD GCN GPUs';; \
                 *) cat >/dev/null; printf 'global_load_ushort v0\\n.LBB0_1:\\nglobal_load_ushort v1\\nv_xor_b32 v1\\nv_perm_b32 v1\\nv_perm_b32 v2\\nchange:\\n%%new = 1\\n';; esac",
            );
        }
        toolchain
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// What tells that the component `rust-src` is there.
    fn sources(&self) -> PathBuf {
        self.path("lib/rustlib/src/rust/library/Cargo.lock")
    }

    fn script(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn doctor(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
        command.args(["--color", "never", "doctor"]).args(arguments);
        command.env("AMDINST_TOOLCHAIN", self.path("bin/rustc"));
        command
    }
}

fn checks(command: &mut Command) -> (Output, Vec<Value>) {
    let output = command.args(["--format", "json"]).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], 1);
    let checks = document["checks"].as_array().unwrap().clone();
    (output, checks)
}

fn check<'a>(checks: &'a [Value], name: &str) -> &'a Value {
    checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{name}: {checks:#?}"))
}

#[test]
fn a_complete_toolchain_part_by_part() {
    let toolchain = Toolchain::new();
    let (output, checks) = checks(&mut toolchain.doctor(&[]));
    // 10 on a machine with a GPU that this user may not open.
    assert!(matches!(output.status.code(), Some(0 | 10)), "{output:?}");
    for name in ["rust", "kernels", "target", "llvm", "lld", "emulator", "gpu", "hip"] {
        check(&checks, name);
    }
    let found = |name: &str| check(&checks, name)["found"].as_str().unwrap();
    let rustc = toolchain.path("bin/rustc").display().to_string();
    assert_eq!(found("kernels"), format!("rustc 9.9.0 (LLVM 99.1.0), {rustc} (AMDINST_TOOLCHAIN)"));
    assert!(found("lld").ends_with("/ld.lld"));
    for check in checks.iter().filter(|check| check["area"] == "toolchain") {
        assert_eq!(check["status"], "ok", "{check}");
    }
}

#[test]
fn an_llvm_that_compiles_wrongly_is_told() {
    let toolchain = Toolchain::new();
    let llc = format!("lib/rustlib/{HOST}/bin/llc");
    let version = "echo 'LLVM version 99.1.0'; echo '  amdgcn - AMD GCN GPUs'";
    let with = |otherwise: &str| {
        let script = format!(
            "case \"$*\" in --version) {version};; {otherwise} *) cat >/dev/null; echo s_endpgm;; esac"
        );
        toolchain.script(&llc, &script);
        checks(&mut toolchain.doctor(&[]))
    };
    let right = "printf 'global_load_ushort v0\\n.LBB0_1:\\nglobal_load_ushort v1\\nv_xor_b32 v1\\nv_perm_b32 v1\\nv_perm_b32 v2\\n'";
    let (output, found) = with(&format!(
        "*--opt-disable=slsr* | *--optimize-regalloc* | *-mattr=-real-true16* | *-mattr=-dot7-insts*) cat >/dev/null; {right};;"
    ));
    assert!(matches!(output.status.code(), Some(0 | 10)), "{output:?}");
    let told = check(&found, "llvm faults");
    assert_eq!(told["status"], "ok");
    let lines: Vec<&str> = told["found"].as_str().unwrap().lines().collect();
    assert_eq!(lines.len(), 6, "{told}");
    assert!(lines[0].ends_with("built with `--opt-disable=slsr`"), "{told}");
    assert!(lines[1].ends_with("built with `--optimize-regalloc`"), "{told}");
    assert!(lines[2].ends_with("built with `-mattr=-real-true16`"), "{told}");
    assert!(lines[3].ends_with("built with `-mattr=-real-true16`"), "{told}");
    assert!(lines[4].ends_with("built with `-mattr=-dot7-insts`"), "{told}");
    assert!(lines[5].ends_with("built in two steps, with empty blocks between them"), "{told}");
    let (output, found) = with(&format!("*--opt-disable=slsr*) cat >/dev/null; {right};;"));
    assert_eq!(output.status.code(), Some(3));
    let told = check(&found, "llvm faults");
    assert_eq!(told["status"], "error");
    let lines: Vec<&str> = told["found"].as_str().unwrap().lines().collect();
    assert!(lines[4].ends_with("nothing keeps that away"), "{told}");
    let (output, found) = with("");
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(check(&found, "llvm faults")["status"], "error");
    // The value stays in the block that makes it, too.
    let stays = "printf 'change:\\n%%new = add\\n'";
    let (_, found) = with(&format!("*) cat >/dev/null; {right}; {stays};;"));
    assert!(found.iter().all(|check| check["name"] != "llvm faults"), "{found:?}");
}

#[test]
fn what_is_missing_is_an_error_with_a_way_out() {
    let toolchain = Toolchain::new();
    fs::remove_file(toolchain.sources()).unwrap();
    let output = toolchain.doctor(&[]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find(|line| line.starts_with("error    kernels ")).unwrap();
    assert!(line.ends_with("  no toolchain here can build kernels"), "{text}");
    assert!(text.contains("lacks the standard library's sources (`rust-src`)"), "{text}");
    assert!(text.contains("help: name another with AMDINST_TOOLCHAIN, or none"), "{text}");

    let toolchain = Toolchain::new();
    fs::remove_file(toolchain.path(&format!("lib/rustlib/{HOST}/bin/llc"))).unwrap();
    let (output, found) = checks(&mut toolchain.doctor(&[]));
    assert_eq!(output.status.code(), Some(3));
    assert!(check(&found, "kernels")["found"].as_str().unwrap().contains("/* lacks llc"), "{found:#?}");
}

#[test]
fn an_old_compiler_and_none() {
    let toolchain = Toolchain::new();
    toolchain.script("old/rustc", "echo 'rustc 1.70.0 (x 2023-06-01)'");
    let (output, found) = checks(toolchain.doctor(&[]).env("RUSTC", toolchain.path("old/rustc")));
    assert_eq!(output.status.code(), Some(3));
    let rust = check(&found, "rust");
    assert_eq!(rust["status"], "error");
    assert!(rust["help"].as_str().unwrap().contains("rustup update stable"), "{rust}");

    let (output, found) = checks(
        toolchain.doctor(&[]).env("PATH", toolchain.path("old")).env_remove("CARGO").env_remove("RUSTC"),
    );
    assert_eq!(output.status.code(), Some(3));
    assert!(
        check(&found, "rust")["found"].as_str().unwrap().starts_with("cargo does not run: "),
        "{found:#?}"
    );
}

#[test]
fn the_schema_knows_every_word() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas/doctor.v1.json");
    let schema: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let properties = schema["$defs"]["check"]["properties"].as_object().unwrap();
    let (_, checks) = checks(&mut Toolchain::new().doctor(&[]));
    for check in &checks {
        for (name, value) in check.as_object().unwrap() {
            let property = &properties[name];
            match property["enum"].as_array() {
                Some(words) => assert!(words.contains(value), "{check}"),
                None => assert!(property["type"] == "string" && value.is_string(), "{check}"),
            }
        }
        assert_eq!(check["status"] != "ok", check.get("help").is_some(), "{check}");
    }
}
